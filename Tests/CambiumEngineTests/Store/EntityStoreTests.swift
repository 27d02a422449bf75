import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

@Suite struct EntityStoreTests {
  static func schema() throws -> Schema {
    let location = CompositeSchema(
      "Location", elements: [AttributeSchema("latitude", .double), AttributeSchema("longitude", .double)])
    let place = CompositeSchema(
      "Place", elements: [AttributeSchema("timeZone", .string), AttributeSchema("location", composite: "Location")])
    let airport = EntitySchema(
      "Airport",
      attributes: [
        AttributeSchema("code", .string, optional: false), AttributeSchema("name", .string),
        AttributeSchema("place", composite: "Place"),
      ],
      relationships: [
        RelationshipSchema("departures", toMany: "Flight", inverse: "origin"),
        RelationshipSchema("partners", toMany: "Airport", inverse: "partners"),
      ],
      indexes: [IndexSchema("byLatitude", [IndexElement("place.location.latitude")])], unique: [["code"]])
    let flight = EntitySchema(
      "Flight",
      attributes: [
        AttributeSchema("number", .integer32), AttributeSchema("delay", .double), AttributeSchema("date", .date),
      ],
      relationships: [
        RelationshipSchema("origin", to: "Airport", inverse: "departures"),
        RelationshipSchema("stops", toMany: "Airport", ordered: true),
      ],
      indexes: [
        IndexSchema("byDate", [IndexElement("date", ascending: false), IndexElement("number")]),
        IndexSchema("late", [IndexElement("delay")], partialPredicate: "delay > 60"),
      ])
    let charter = EntitySchema("Charter", parent: "Flight", attributes: [AttributeSchema("client", .string)])
    return try Schema(SchemaDefinition([airport, flight, charter], composites: [location, place]))
  }

  struct Fixture {
    let device = MemoryDevice()
    let environment = TestEnvironment(seed: 5)
    var store: EntityStore

    init() throws {
      store = try EntityStore.create(
        in: try Store.create(on: device, environment: environment), schema: try EntityStoreTests.schema())
    }

    mutating func reopen() throws {
      try store.close()
      store = try EntityStore.open(try Store.open(on: device, environment: environment))
    }

    func entity(_ name: String) throws -> EntitySchema { try #require(store.schema.entity(named: name)) }

    func fetch(_ entity: String, _ format: String, _ arguments: Value...) throws -> [UInt64] {
      let predicate = try Predicate(format: format, arguments: arguments.map(PredicateArgument.value))
      return try store.view().fetch(EngineFetch(try self.entity(entity), predicate: predicate)).map(\.row)
    }
  }

  /// 20 airports on a diagonal, 400 flights from them.
  static func filled() throws -> (Fixture, [ObjectReference], [ObjectReference]) {
    let f = try Fixture()
    let airport = try f.entity("Airport")
    let flight = try f.entity("Flight")
    let charter = try f.entity("Charter")
    var airports: [ObjectReference] = []
    var flights: [ObjectReference] = []
    try f.store.write { (t) throws(EngineError) in
      for i in 0..<20 {
        let r = try t.reserveReference(airport)
        airports.append(r)
        var v = RowValues()
        v.set("code", .string("A\(i)"))
        v.set("name", i % 3 == 0 ? .null : .string("Airport \(i)"))
        v.set(
          "place",
          .composite([
            "timeZone": i < 10 ? "West" : "East",
            "location": .composite(["latitude": .double(Double(i)), "longitude": .double(-Double(i))]),
          ]))
        try t.insert(r, v)
      }
      for i in 0..<400 {
        let r = try t.reserveReference(i % 4 == 0 ? charter : flight)
        flights.append(r)
        var v = RowValues()
        v.set("number", .integer(Int64(i % 50)))
        v.set("delay", i % 7 == 0 ? .null : .double(Double(i % 120)))
        v.set("date", .date(Double(i / 10) * 86400))
        if i % 4 == 0 { v.set("client", .string("c\(i)")) }
        v.set(toOne: "origin", i % 11 == 0 ? nil : airports[i % 20])
        v.set(toMany: "stops", [airports[(i + 1) % 20], airports[i % 20]])
        try t.insert(r, v)
      }
    }
    return (f, airports, flights)
  }

  @Test func rowsSurviveReopening() throws {
    var (f, airports, flights) = try Self.filled()
    try f.reopen()
    let view = try f.store.view()
    #expect(try view.count(EngineFetch(try f.entity("Airport"))) == 20)
    #expect(try view.count(EngineFetch(try f.entity("Flight"))) == 400)
    #expect(try view.count(EngineFetch(try f.entity("Charter"))) == 100)
    let row = try #require(try view.row(airports[7]))
    #expect(try row.value(keyPath: "place.location.latitude") == .double(7))
    #expect(try row.value(keyPath: "place.timeZone") == "West")
    #expect(row.version == 1)
    let flight = try #require(try view.row(flights[8]))
    #expect(flight.entity.name == "Charter")
    let origin = try #require(f.store.schema.entity(named: "Flight")?.relationship(named: "origin"))
    #expect(try flight.reference(origin) == airports[8])
    let departures = try #require(f.store.schema.entity(named: "Airport")?.relationship(named: "departures"))
    let expected = flights.enumerated().filter { $0.offset % 20 == 8 && $0.offset % 11 != 0 }.map(\.element)
    #expect(try view.related(airports[8], departures) == expected)
    #expect(try view.relatedCount(airports[8], departures) == expected.count)
    let stops = try #require(f.store.schema.entity(named: "Flight")?.relationship(named: "stops"))
    #expect(try view.related(flights[8], stops) == [airports[9], airports[8]])
    #expect(try f.store.check().isSound)
  }

  @Test(arguments: [
    ("code == 'A5'", QueryExplanation.Kind.equality), ("code IN {'A5', 'A7', 'none'}", .list),
    ("code BEGINSWITH 'A1'", .prefix), ("place.location.latitude > 3 AND place.location.latitude <= 8.5", .range),
    ("place.location.latitude BETWEEN {3, 8}", .range), ("name == nil", .scan), ("name CONTAINS '1'", .scan),
    ("NOT (place.timeZone == 'West' OR code == 'A11')", .scan),
  ])
  func plansAgreeWithTheEvaluator(_ format: String, _ kind: QueryExplanation.Kind) throws {
    let (f, _, _) = try Self.filled()
    let entity = try f.entity("Airport")
    let predicate = try Predicate(format: format, arguments: [])
    let view = try f.store.view()
    #expect(try view.explain(.preferringIndexes(entity, predicate)).kinds.contains(kind))
    var expected: [UInt64] = []
    try view.rows(entity: entity) { (row) throws(EngineError) in
      let matches =
        (try? predicate.evaluate { (_: ObjectReference?, path: String) throws(EngineError) in
          try row.value(keyPath: path)
        }) ?? false
      if matches { expected.append(row.reference.row) }
      return true
    }
    #expect(try f.fetch("Airport", format) == expected)
    #expect(!expected.isEmpty && expected.count < 20)
  }

  @Test func pathsGoThroughRelationships() throws {
    let (f, airports, _) = try Self.filled()
    let west = try f.fetch("Flight", "origin.place.timeZone == 'West'").count
    #expect(west == (0..<400).filter { $0 % 11 != 0 && $0 % 20 < 10 }.count)
    #expect(try f.fetch("Flight", "origin == nil").count == (0..<400).filter { $0 % 11 == 0 }.count)
    #expect(
      try f.fetch("Flight", "origin == %@", .reference(airports[3])).count
        == (0..<400).filter { $0 % 11 != 0 && $0 % 20 == 3 }.count)
    #expect(try f.fetch("Airport", "ANY departures.number == 13").count == 2)
    #expect(throws: EngineError.self) { try f.fetch("Flight", "origin.nothing == 1") }
  }

  @Test func sortsWithLimitAndOffset() throws {
    let (f, _, _) = try Self.filled()
    var fetch = EngineFetch(try f.entity("Flight"))
    fetch.sort = [EngineSort("delay", ascending: false), EngineSort("number")]
    let all = try f.store.view().fetchRows(fetch)
    #expect(all.count == 400)
    for (a, b) in zip(all, all.dropFirst()) {
      let x = try a.value(keyPath: "delay")
      let y = try b.value(keyPath: "delay")
      #expect(y.isNull || (!x.isNull && x.compare(to: y) != .less))
    }
    fetch.offset = 10
    fetch.limit = 25
    #expect(try f.store.view().fetch(fetch) == all[10..<35].map(\.reference))
    #expect(try f.store.view().count(fetch) == 25)
  }

  @Test func updatesKeepIndexesInStep() throws {
    var (f, airports, flights) = try Self.filled()
    try f.store.write { (t) throws(EngineError) in
      for (i, r) in flights.enumerated() where i % 2 == 0 {
        var v = RowValues()
        v.set("date", .date(1e9))
        v.set(toOne: "origin", airports[1])
        try t.update(r, v)
      }
      for (i, r) in flights.enumerated() where i % 5 == 1 { try t.delete(r) }
      var v = RowValues()
      v.set(toMany: "partners", [airports[1], airports[2]])
      try t.update(airports[0], v)
    }
    #expect(try f.store.view().row(flights[2])?.version == 2)
    #expect(try f.store.view().row(flights[1]) == nil)
    #expect(
      try f.fetch("Flight", "date == %@", .date(1e9)).count == (0..<400).filter { $0 % 2 == 0 && $0 % 5 != 1 }.count)
    #expect(try f.store.check().problems == [])
    try f.reopen()
    #expect(try f.store.check().isSound && f.store.check().relationships == [])
    let partners = try #require(f.store.schema.entity(named: "Airport")?.relationship(named: "partners"))
    #expect(try f.store.view().related(airports[0], partners) == [airports[1], airports[2]])
    #expect(try f.store.view().related(airports[2], partners) == [airports[0]])
  }

  @Test func uniquenessIsCheckedAtTheEnd() throws {
    let (f, airports, _) = try Self.filled()
    // Two objects may swap their values within a transaction.
    try f.store.write { (t) throws(EngineError) in
      var v = RowValues()
      v.set("code", "A1")
      try t.update(airports[0], v)
      v.set("code", "A0")
      try t.update(airports[1], v)
    }
    #expect(try f.fetch("Airport", "code == 'A0'") == [airports[1].row])
    #expect(throws: EngineError.self) {
      try f.store.write { (t) throws(EngineError) in
        var v = RowValues()
        v.set("code", "A0")
        try t.update(airports[2], v)
      }
    }
    #expect(try f.fetch("Airport", "code == 'A2'") == [airports[2].row])
    // A long value is cut in the index; what differs behind the cut is still told apart.
    let long = String(repeating: "x", count: 3000)
    try f.store.write { (t) throws(EngineError) in
      var v = RowValues()
      v.set("code", .string(long + "1"))
      try t.update(airports[3], v)
      v.set("code", .string(long + "2"))
      try t.update(airports[4], v)
    }
    #expect(try f.fetch("Airport", "code == %@", .string(long + "2")) == [airports[4].row])
    #expect(try f.store.check().isSound)
  }

  /// What an index leaves out must follow from the row alone: nobody looks at it again when another row changes.
  @Test(arguments: [
    ("origin.code == 'A'", false), ("ANY stops.code == 'A'", false), ("delay > 1 AND NOT (origin.name == nil)", false),
    ("(origin).code == 'A'", false), ("stops.@count > 1", false),
    ("SUBQUERY(stops, $s, $s.code == 'A')[SIZE] > 0", false),
    ("now() > CAST(number, 'NSDate')", false), ("random() > 0.5", false), ("delay * 2 > number + 60", true),
    ("TERNARY(delay == nil, 0, abs(delay)) > 1", true), ("delay IN {1, 2}", true), ("origin != nil", true),
    ("origin == nil OR number > 3", true),
  ])
  func conditionsOfIndexesReadTheirOwnRowsAlone(_ condition: String, _ isGood: Bool) throws {
    let airport = EntitySchema(
      "Airport", attributes: [AttributeSchema("code", .string), AttributeSchema("name", .string)])
    let flight = EntitySchema(
      "Flight", attributes: [AttributeSchema("number", .integer32), AttributeSchema("delay", .double)],
      relationships: [
        RelationshipSchema("origin", to: "Airport"), RelationshipSchema("stops", toMany: "Airport", ordered: true),
      ], indexes: [IndexSchema("some", [IndexElement("number")], partialPredicate: condition)])
    let schema: Schema
    do throws(SchemaError) { schema = try Schema(SchemaDefinition([airport, flight])) } catch {
      #expect(!isGood)
      guard case .invalidIndex("some", entity: "Flight", let reason) = error else { throw error }
      #expect(reason.contains("which changes without the indexed object"))
      return
    }
    #expect(isGood)
    let kernel = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5))
    _ = try EntityStore.create(in: kernel, schema: schema)
  }

  @Test func typesAreChecked() throws {
    let (f, airports, _) = try Self.filled()
    for (name, value) in [("code", Value.integer(3)), ("place", "x"), ("place", .composite(["nothing": 1])), ("no", 1)]
    {
      #expect(throws: EngineError.self) {
        try f.store.write { (t) throws(EngineError) in
          var v = RowValues()
          v.set(name, value)
          try t.update(airports[0], v)
        }
      }
    }
    #expect(try f.store.view().row(airports[0])?.version == 1)
  }
}
