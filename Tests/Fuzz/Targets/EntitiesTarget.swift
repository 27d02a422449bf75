import CambiumEngine
import CambiumKernel
import CambiumTesting

/// The input is a list of changes to the trees of a store of objects, made below the engine's back:
///
///     seed (1) | tree (1) entry (1) kind (1) place (1) bytes ... | tree ...
enum EntitiesTarget {
  private static let file: [UInt8]? = try? makeFile()

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 64 << 10
    options.logBytes = 64 << 10
    options.deltaBytes = 256 << 10
    options.maxRecordBytes = 32 << 10
    return options
  }

  static func schema() throws -> Schema {
    let nest = CompositeSchema(
      "Nest", elements: [AttributeSchema("number", .integer32), AttributeSchema("word", .string)])
    let spot = CompositeSchema(
      "Spot", elements: [AttributeSchema("latitude", .double), AttributeSchema("longitude", .double)])
    let airport = EntitySchema(
      "Airport",
      attributes: [
        AttributeSchema("code", .string, optional: false), AttributeSchema("nest", composite: "Nest"),
        AttributeSchema("spot", composite: "Spot"),
      ],
      relationships: [
        RelationshipSchema("departures", toMany: "Flight", inverse: "origin"),
        RelationshipSchema("partners", toMany: "Airport", inverse: "partners"),
        RelationshipSchema("calls", toMany: "Flight", inverse: "stops"),
        RelationshipSchema("gates", toMany: "Flight", inverse: "gate", ordered: true),
      ],
      indexes: [
        IndexSchema("byNumber", [IndexElement("nest.number"), IndexElement("code", ascending: false)]),
        IndexSchema("bySpot", ["spot.latitude", "spot.longitude"].map { IndexElement($0, kind: .rTree) }),
      ],
      unique: [["code"]])
    let flight = EntitySchema(
      "Flight",
      attributes: [
        AttributeSchema("number", .integer32), AttributeSchema("delay", .double), AttributeSchema("price", .decimal),
        AttributeSchema("photo", .binary), AttributeSchema("token", .uuid),
      ],
      relationships: [
        RelationshipSchema("origin", to: "Airport", inverse: "departures"),
        RelationshipSchema("stops", toMany: "Airport", inverse: "calls", ordered: true),
        RelationshipSchema("gate", to: "Airport", inverse: "gates"),
        RelationshipSchema("next", to: "Flight", inverse: "before"),
        RelationshipSchema("before", to: "Flight", inverse: "next"),
      ], indexes: [IndexSchema("late", [IndexElement("delay")], partialPredicate: "delay > 60")])
    let charter = EntitySchema("Charter", parent: "Flight", attributes: [AttributeSchema("client", .string)])
    return try Schema(SchemaDefinition([airport, flight, charter], composites: [nest, spot]))
  }

  private static func makeFile() throws -> [UInt8] {
    let device = MemoryDevice()
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: TestEnvironment(seed: 5), options: options), schema: try schema())
    guard let airport = store.schema.entity(named: "Airport"), let flight = store.schema.entity(named: "Flight"),
      let charter = store.schema.entity(named: "Charter")
    else { throw StoreError.misuse("no entities") }
    try store.write { (t) throws(EngineError) in
      var airports: [ObjectReference] = []
      for n in 0..<6 {
        var values = RowValues()
        values.set("code", .string("A\(n)"))
        if n > 1 { values.set("nest", .composite(["number": .integer(Int64(n)), "word": .string("w")])) }
        values.set("spot", .composite(["latitude": .double(Double(n) * 9), "longitude": .double(Double(n * n) - 5)]))
        airports.append(try t.reserveReference(airport))
        try t.insert(airports[n], values)
      }
      var flights: [ObjectReference] = []
      for n in 0..<8 { flights.append(try t.reserveReference(n % 2 == 0 ? charter : flight)) }
      for (n, reference) in flights.enumerated() {
        var values = RowValues()
        values.set("number", .integer(Int64(n)))
        values.set("delay", n % 3 == 0 ? .null : .double(Double(n * 20)))
        values.set("price", .decimal(DecimalValue(Int64(n * 100))))
        values.set("photo", .binary([UInt8](repeating: 1, count: n * 4)))
        values.set("token", .uuid(UUIDBytes(high: 1, low: UInt64(n))))
        values.set(toOne: "origin", airports[n % 5])
        values.set(toMany: "stops", Array(airports.prefix(n % 4)))
        values.set(toOne: "gate", n < 6 ? airports[n % 2] : nil)
        if n < 7 { values.set(toOne: "next", flights[n + 1]) }
        if n > 0 { values.set(toOne: "before", flights[n - 1]) }
        if n % 2 == 0 { values.set("client", .string("c\(n)")) }
        try t.insert(reference, values)
      }
      for (n, airport) in airports.enumerated() {
        var values = RowValues()
        values.set(toMany: "partners", airports.filter { $0 != airport })
        values.set(toMany: "calls", flights.indices.filter { n < $0 % 4 }.map { flights[$0] })
        values.set(toMany: "gates", n < 2 ? (0..<6).filter { $0 % 2 == n }.map { flights[$0] } : [])
        try t.update(airport, values)
      }
    }
    // Nothing is to be found in it, so that what is found later comes from what was changed.
    let report = try store.check()
    guard report.isSound, report.relationships.isEmpty else {
      throw EngineError.misuse("the store that is to be changed is wrong")
    }
    try store.close()
    return device.contents()
  }

  static func problem(_ input: FuzzInput) -> String? {
    var input = input
    guard let file else { return "the store could not be made" }
    let seed = Int(input.byte())
    let device = MemoryDevice(copying: file, capacityBytes: 4 << 20)
    do throws(StoreError) {
      let kernel = try Store.open(on: device, environment: TestEnvironment(seed: 2), options: options)
      let t = try kernel.beginWrite()
      defer { t.rollBack() }
      let trees = t.trees()
      var edits = 0
      while !input.isAtEnd, edits < 12, !trees.isEmpty {
        edits += 1
        try change(t, trees[input.below(trees.count)], &input)
      }
      try t.commit()
      use(kernel, seed)
    } catch { return "changing the trees ended with \(error)" }
    return nil
  }

  private static func change(_ t: WriteTransaction, _ tree: TreeID, _ input: inout FuzzInput) throws(StoreError) {
    let cursor = try t.cursor(tree)
    var more = try cursor.seekFirst()
    for _ in 0..<input.below(32) where more { more = try cursor.next() }
    let kind = input.byte()
    let place = Int(input.byte())
    let bytes = input.take(Int(kind >> 4) + 1)
    let isInteger = t.kind(of: tree) == .integer
    guard more || kind & 7 == 6 else { return }
    let integer = more && isInteger ? cursor.integerKey : 0
    var key = more && !isInteger ? [UInt8](cursor.key) : []
    var value = more ? try cursor.value() ?? [] : []
    func put() throws(StoreError) {
      if isInteger { try t.put(tree, integer, value) } else { try t.put(tree, key, value) }
    }
    func delete() throws(StoreError) {
      if isInteger { try t.delete(tree, integer) } else { try t.delete(tree, key) }
    }
    switch kind & 7 {
    case 0: try delete()
    case 1, 2, 3:
      for (i, byte) in bytes.enumerated() where place + i < value.count { value[place + i] = byte }
      try put()
    case 4:
      value = Array(value.prefix(place))
      try put()
    case 5:
      value.insert(contentsOf: bytes, at: min(place, value.count))
      try put()
    case 6:
      if isInteger {
        try t.put(tree, UInt64(place), value)
      } else {
        try t.put(tree, bytes, value)
      }
    default:
      if isInteger { return try delete() }
      try delete()
      for (i, byte) in bytes.enumerated() where place + i < key.count { key[place + i] = byte }
      try put()
    }
  }

  /// Does everything with the objects. Whatever is wrong, it ends with an error or without.
  private static func use(_ kernel: Store, _ seed: Int) {
    guard let store = try? EntityStore.open(kernel) else { return }
    _ = try? store.check()
    guard let view = try? store.view() else { return }
    let formats = [
      "code == 'A3'", "nest.number > 2", "nest.word BEGINSWITH 'w'", "delay > 70", "delay == nil", "price < 300",
      "origin.code == 'A1'", "ANY departures.delay > 60", "number IN {1, 2, 3}", "ANY partners.code == 'A0'",
      "spot.latitude > 5 AND spot.longitude BETWEEN {-2, 9}",
      "distanceToLocation:fromLocation:(spot, {10, 0}) < 1000000",
    ]
    for entity in store.schema.entities {
      try? view.rows(entity: entity) { (row) throws(EngineError) in
        for attribute in entity.attributes { _ = try? row.value(attribute) }
        for relationship in entity.relationships {
          _ = try? row.reference(relationship)
          _ = try? view.related(row.reference, relationship)
          _ = try? view.relatedCount(row.reference, relationship)
        }
        return true
      }
      var fetch = EngineFetch(entity)
      fetch.sort = [EngineSort(["code", "delay", "nest.number", "price"][seed % 4], ascending: seed % 3 != 0)]
      _ = try? view.fetchRows(fetch)
      if let search = try? view.spatialSearch(entity, by: ["spot.latitude", "spot.longitude"]) {
        _ = try? search.references(in: SpatialBox(x: -10...20, y: -.infinity...10))
        _ = try? search.nearest(toX: 7, y: 3, limit: seed % 8, metric: seed % 2 == 0 ? .euclidean : .greatCircle())
      }
      for format in formats {
        guard let predicate = try? Predicate(format: format) else { continue }
        let fetch = EngineFetch(entity, predicate: predicate)
        _ = try? view.fetch(fetch)
        _ = try? view.count(fetch)
      }
    }
    try? store.write { (t) throws(EngineError) in
      for entity in store.schema.entities {
        for reference in try t.fetch(EngineFetch(entity)).prefix(6) {
          var values = RowValues()
          values.set(entity.name == "Airport" ? "code" : "client", .string("new \(reference.row)"))
          try? t.update(reference, values)
          if reference.row % 4 == UInt64(seed % 4) { try? t.delete(reference) }
        }
        if let reference = try? t.reserveReference(entity) {
          var values = RowValues()
          if entity.name == "Airport" { values.set("code", .string("A\(seed % 9)")) }
          try? t.insert(reference, values)
        }
      }
    }
    _ = try? store.check()
    try? store.close()
  }
}
