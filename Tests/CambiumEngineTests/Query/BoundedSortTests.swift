import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Orders with a limit, of many rows: what is kept on the way is the beginning of what a whole sort gives.
@Suite struct BoundedSortTests {
  @Test func limitsGiveTheBeginning() throws {
    var random = SplitMix64(seed: testSeed(20_261_126))
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try FetchRandomTests.schema())
    let thing = try #require(store.schema.entity(named: "Thing"))
    var generator = random
    try store.write { (t) throws(EngineError) in
      for n in 0..<2500 {
        var values = RowValues()
        for name in ["small", "half", "single", "text", "day"] {
          values.set(name, FetchRandomTests.value(name, &generator, isForRow: true))
        }
        values.set("large", .integer(Int64(n * 7919 % 2500)))
        try t.insert(try t.reserveReference(thing), values)
      }
    }
    let view = try store.view()
    for _ in 0..<60 {
      var fetch = EngineFetch(thing)
      fetch.usesIndexes = false
      fetch.sort = (0..<(1 + random.below(2))).map { _ in
        EngineSort(
          random.pick(["small", "half", "single", "text", "day", "large"]), ascending: random.oneIn(2),
          textOrder: random.pick([.scalars, .caseInsensitive, .natural]))
      }
      if random.oneIn(3) { fetch.predicate = try Predicate(format: "small > 0") }
      let all = try view.fetch(fetch)
      #expect(all.count > 500)
      fetch.limit = random.pick([1, 5, 40, 200])
      fetch.offset = random.below(20)
      let expected = Array(all.dropFirst(fetch.offset).prefix(fetch.limit ?? 0))
      #expect(try view.fetch(fetch) == expected, "\(fetch.sort)")
      #expect(try view.fetchRows(fetch).map(\.reference) == expected, "\(fetch.sort)")
    }
  }
}
