import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Which rows a range of an index holds, and which rows a scan finds: every bound, with nulls, in both directions.
@Suite struct IndexRangeTests {
  private static func store() throws -> EntityStore {
    let flight = EntitySchema(
      "Flight", attributes: [AttributeSchema("delay", .integer32), AttributeSchema("hours", .integer32)],
      indexes: [
        IndexSchema("byDelay", [IndexElement("delay")]),
        IndexSchema("byHours", [IndexElement("hours", ascending: false)]),
      ])
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([flight])))
    let entity = try #require(store.schema.entity(named: "Flight"))
    try store.write { (t) throws(EngineError) in
      for i in 0..<rows {
        var row = RowValues()
        row.set("delay", value(i))
        row.set("hours", value(i))
        try t.insert(try t.reserveReference(entity), row)
      }
    }
    return store
  }

  private static let rows = 900

  /// The value of the row at a place: null in every seventh.
  private static func value(_ i: Int) -> Value { i % 7 == 6 ? .null : .integer(Int64(i % 10) - 4) }

  @Test(arguments: ["delay", "hours"], [true, false]) func everyBoundIsRight(_ name: String, _ inPages: Bool) throws {
    let store = try Self.store()
    if inPages { try store.kernel.checkpoint() }
    let entity = try #require(store.schema.entity(named: "Flight"))
    let questions: [(String, (Int64) -> Bool)] = [
      ("\(name) > -2", { $0 > -2 }), ("\(name) >= -2", { $0 >= -2 }), ("\(name) < 3", { $0 < 3 }),
      ("\(name) <= 3", { $0 <= 3 }), ("\(name) BETWEEN {-1, 2}", { (-1...2).contains($0) }),
      ("\(name) > -3 AND \(name) < 1", { $0 > -3 && $0 < 1 }), ("\(name) IN {-4, 0, 5}", { [-4, 0, 5].contains($0) }),
      ("\(name) != nil", { _ in true }), ("\(name) == 5", { $0 == 5 }), ("\(name) >= -4", { _ in true }),
    ]
    let view = try store.view()
    for (text, holds) in questions {
      let expected = (0..<Self.rows).filter {
        if case .integer(let number) = Self.value($0) { holds(number) } else { false }
      }.count
      var fetch = EngineFetch.preferringIndexes(entity, try Predicate(format: text))
      #expect(try view.fetch(fetch).count == expected, "\(text), by the index")
      #expect(try view.count(fetch) == expected, "\(text), counted by the index")
      fetch.usesIndexes = false
      #expect(try view.fetch(fetch).count == expected, "\(text), by a scan")
      #expect(try view.count(fetch) == expected, "\(text), counted by a scan")
    }
  }
}
