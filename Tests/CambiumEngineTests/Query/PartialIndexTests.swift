import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// A partial index is a list of the rows that its condition holds for: the condition alone finds it.
@Suite struct PartialIndexTests {
  /// Flights of which every hundredth has no aircraft, and every third of these is cancelled.
  private static func filled() throws -> (EntityStore, EntitySchema) {
    let flight = EntitySchema(
      "Flight",
      attributes: [
        AttributeSchema("number", .integer32), AttributeSchema("delay", .integer32),
        AttributeSchema("isCancelled", .boolean),
      ],
      relationships: [RelationshipSchema("aircraft", to: "Aircraft", inverse: "flights")],
      indexes: [IndexSchema("withoutAircraft", [IndexElement("number")], partialPredicate: "aircraft == nil")])
    let aircraft = EntitySchema(
      "Aircraft", attributes: [AttributeSchema("tailNumber", .string)],
      relationships: [RelationshipSchema("flights", toMany: "Flight", inverse: "aircraft")])
    let kernel = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 1), options: StoreOptions())
    let store = try EntityStore.create(in: kernel, schema: Schema(SchemaDefinition([flight, aircraft])))
    let made = try #require(store.schema.entity(named: "Flight"))
    let other = try #require(store.schema.entity(named: "Aircraft"))
    try store.write { (transaction) throws(EngineError) in
      let plane = try transaction.reserveReference(other)
      var tail = RowValues()
      tail.set("tailNumber", .string("N1"))
      try transaction.insert(plane, tail)
      for i in 0..<3_000 {
        var values = RowValues()
        values.set("number", .integer(Int64(i * 7 % 500)))
        values.set("delay", .integer(Int64(i % 90)))
        values.set("isCancelled", .boolean(i % 300 == 0))
        if i % 100 != 0 { values.set(toOne: "aircraft", plane) }
        try transaction.insert(try transaction.reserveReference(made), values)
      }
    }
    return (store, made)
  }

  @Test func conditionAloneFindsTheIndex() throws {
    let (store, flight) = try Self.filled()
    let view = try store.view()
    for (format, count) in [
      ("aircraft == nil", 30), ("aircraft == nil AND isCancelled == YES", 10), ("delay == 10 AND aircraft == nil", 4),
    ] {
      let predicate = try Predicate(format: format)
      var fetch = EngineFetch(flight, predicate: predicate)
      let explanation = try view.explain(fetch)
      #expect(explanation.kinds.contains(.partialIndex), "\(format): \(explanation)")
      let found = try view.fetch(fetch)
      #expect(found.count == count)
      #expect(try view.count(fetch) == count)
      fetch.usesIndexes = false
      #expect(try view.fetch(fetch) == found)
    }
    let others = try Predicate(format: "aircraft != nil AND delay == 10")
    let whole = try view.explain(EngineFetch(flight, predicate: others))
    #expect(!whole.kinds.contains(.partialIndex))
  }

  /// The index has the order as well, and its rows need not be asked its condition.
  @Test func conditionIsNotAskedAgain() throws {
    let (store, flight) = try Self.filled()
    let view = try store.view()
    var fetch = EngineFetch(flight, predicate: try Predicate(format: "aircraft == nil AND number < 100"))
    fetch.sort = [EngineSort("number", ascending: false)]
    let explanation = try view.explain(fetch, running: true)
    #expect(explanation.kinds.contains(.partialIndex), "\(explanation)")
    #expect(!explanation.description.contains("aircraft =="), "\(explanation)")
    let found = try view.fetch(fetch)
    fetch.usesIndexes = false
    #expect(try view.fetch(fetch) == found)
    #expect(found.count == 6)
  }
}
