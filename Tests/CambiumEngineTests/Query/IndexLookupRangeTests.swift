import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Ranges of an index find what a fetch with a predicate finds, in the order of the index.
@Suite struct IndexLookupRangeTests {
  private static func filled(ascending: Bool) throws -> (EntityStore, EntitySchema) {
    let entity = EntitySchema(
      "Measurement",
      attributes: [
        AttributeSchema("sensor", .integer32), AttributeSchema("time", .date), AttributeSchema("value", .double),
        AttributeSchema("price", .decimal), AttributeSchema("name", .string),
      ],
      indexes: [
        IndexSchema(
          "bySensor",
          [IndexElement("sensor"), IndexElement("time", ascending: ascending), IndexElement("value")]),
        IndexSchema("byTime", [IndexElement("time", ascending: ascending)]),
        IndexSchema("byValue", [IndexElement("value", ascending: ascending)]),
        IndexSchema("byPrice", [IndexElement("price", ascending: ascending)]),
        IndexSchema("byName", [IndexElement("name", ascending: ascending)]),
      ])
    let kernel = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 1), options: StoreOptions())
    let store = try EntityStore.create(in: kernel, schema: Schema(SchemaDefinition([entity])))
    let made = try #require(store.schema.entity(named: "Measurement"))
    var random = SplitMix64(seed: 20_261_130)
    try store.write { (transaction) throws(EngineError) in
      for i in 0..<400 {
        var values = RowValues()
        if !random.oneIn(9) { values.set("sensor", .integer(Int64(random.below(6)) - 2)) }
        if !random.oneIn(9) { values.set("time", .date(Double(random.below(40)) - 20)) }
        if !random.oneIn(9) { values.set("value", .double(random.oneIn(20) ? -0.0 : Double(random.below(30)) / 4 - 3)) }
        if !random.oneIn(9) { values.set("price", .decimal(DecimalValue(Int64(random.below(30)) - 9))) }
        values.set("name", .string("n\(i)"))
        try transaction.insert(try transaction.reserveReference(made), values)
      }
    }
    return (store, made)
  }

  private func expectAsFetch(
    _ store: EntityStore, _ entity: EntitySchema, by paths: [String], equalTo values: [Value], _ path: String,
    _ low: Value?, _ high: Value?
  ) throws {
    let view = try store.view()
    var parts: [Predicate] = [.compare(.keyPath(path), .notEqual, .constant(.null))]
    for (place, value) in values.enumerated() {
      parts.append(.compare(.keyPath(paths[place]), .equal, .constant(value)))
    }
    if let low { parts.append(.compare(.keyPath(path), .greaterOrEqual, .constant(low))) }
    if let high { parts.append(.compare(.keyPath(path), .less, .constant(high))) }
    var fetch = EngineFetch(entity, predicate: .and(parts))
    fetch.usesIndexes = false
    let expected = try view.fetchRows(fetch).map { $0.reference }
    var found: [ObjectReference] = []
    try view.lookup(entity, by: paths).forEach(equalTo: values, from: low, to: high) { (row) throws(EngineError) in
      found.append(row.reference)
      return true
    }
    #expect(Set(found) == Set(expected))
    #expect(found.count == expected.count)
    // The values are in the order of the index.
    var ordered: [Value] = []
    for reference in found {
      let row = try #require(try view.row(reference))
      ordered.append(try row.value(keyPath: path))
    }
    let index = try #require(entity.indexes.first { $0.elements.map { $0.path } == paths })
    let isAscending = index.elements[values.count].isAscending
    for (a, b) in zip(ordered, ordered.dropFirst()) {
      #expect(Value.sortOrder(a, b) != (isAscending ? .greater : .less))
    }
  }

  @Test(arguments: [true, false]) func agreesWithFetches(_ ascending: Bool) throws {
    let (store, entity) = try Self.filled(ascending: ascending)
    var random = SplitMix64(seed: 20_261_205)
    func bound() -> Int64? { random.oneIn(4) ? nil : Int64(random.below(50)) - 25 }
    func expectRange(_ paths: [String], equalTo values: [Value] = [], _ make: (Int64) -> Value) throws {
      let (low, high) = (bound(), bound())
      try expectAsFetch(
        store, entity, by: paths, equalTo: values, paths[values.count], low.map { make($0) }, high.map { make($0) })
    }
    for _ in 0..<40 {
      try expectRange(["time"]) { .date(Double($0)) }
      try expectRange(["value"]) { .double(Double($0) / 4) }
      try expectRange(["price"]) { .decimal(DecimalValue($0)) }
      let whole = ["sensor", "time", "value"]
      try expectRange(whole) { .integer($0) }
      let sensor = Value.integer(Int64(random.below(6)) - 2)
      try expectRange(whole, equalTo: [sensor]) { .date(Double($0)) }
      let time = Value.date(Double(random.below(40)) - 20)
      try expectRange(whole, equalTo: [sensor, time]) { .double(Double($0) / 4) }
    }
  }

  @Test func refuses() throws {
    let (store, entity) = try Self.filled(ascending: true)
    let view = try store.view()
    let byTime = try view.lookup(entity, by: ["time"])
    for (values, low) in [
      ([Value.date(1)], Value.date(1)), ([], .double(1)), ([], .string("1")), ([], .null), ([], .integer(1)),
    ] {
      #expect(throws: EngineError.self) {
        try byTime.forEach(equalTo: values, from: low, to: nil) { (_) throws(EngineError) in true }
      }
    }
    let byName = try view.lookup(entity, by: ["name"])
    #expect(throws: EngineError.self) {
      try byName.forEach(from: .string("a"), to: nil) { (_) throws(EngineError) in true }
    }
    // Searching again from within is refused, and the search goes on when the body is done.
    var refused = 0
    try byTime.forEach(from: nil, to: nil) { (_) throws(EngineError) in
      do throws(EngineError) {
        try byTime.forEach(from: nil, to: nil) { (_) throws(EngineError) in true }
      } catch { refused += 1 }
      return refused < 3
    }
    #expect(refused == 3)
  }
}
