import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Fetches in a transaction, while changes of indexes wait to be made.
@Suite struct TransactionFetchTests {
  /// A scan that follows a relationship into a tree must not make the changes of that tree half-way: with little memory
  /// that would write away the rows it goes through.
  @Test func scansMeetEveryRowWhileChangesOfIndexesWait() throws {
    let seed = testSeed(31)
    var random = SplitMix64(seed: seed)
    print("fetches in a transaction: seed \(seed)")
    var options = StoreOptions()
    options.deltaBytes = 1 << 14
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 6), options: options),
      schema: try EntityStoreTests.schema())
    let airport = try #require(store.schema.entity(named: "Airport"))
    let flight = try #require(store.schema.entity(named: "Flight"))
    let fetch = EngineFetch(
      airport, predicate: try Predicate(format: "ANY departures.number == 13 AND name BEGINSWITH 'n'", arguments: []))
    try store.write { (t) throws(EngineError) in
      var airports: [ObjectReference] = []
      var expected = Set<ObjectReference>()
      for round in 0..<60 {
        for _ in 0..<random.below(6) {
          let reference = try t.reserveReference(airport)
          var v = RowValues()
          v.set("code", .string("A\(reference.row)"))
          v.set("name", .string(String(repeating: "n", count: 40)))
          try t.insert(reference, v)
          airports.append(reference)
        }
        if airports.isEmpty { continue }
        for _ in 0..<random.below(30) {
          var v = RowValues()
          let number = random.oneIn(4) ? 13 : 14
          let origin = random.pick(airports)
          v.set("number", .integer(Int64(number)))
          v.set("date", .date(Double(random.below(1000))))
          v.set(toOne: "origin", origin)
          try t.insert(try t.reserveReference(flight), v)
          if number == 13 { expected.insert(origin) }
        }
        let codes = try t.fetchRows(fetch).map { (row) throws(EngineError) in try row.value(keyPath: "code") }
        #expect(codes == expected.sorted().map { .string("A\($0.row)") }, "round \(round)")
      }
    }
    #expect(try store.check().problems == [])
  }
}
