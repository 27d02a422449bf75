import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Fetches are planned and counted while somebody writes: what each snapshot gives fits together.
@Suite struct PlansBesideWriterTests {
  @Test func countsOfASnapshotAddUp() async throws {
    var options = StoreOptions()
    // Small, so that pages are written all the time.
    options.deltaBytes = 32 << 10
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5), options: options),
      schema: try FetchRandomTests.schema())
    let thing = try #require(store.schema.entity(named: "Thing"))
    var things: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for n in 0..<600 {
        var values = RowValues()
        values.set("small", .integer(Int64(n % 2)))
        values.set("half", .double(Double(n)))
        things.append(try t.reserveReference(thing))
        try t.insert(things[n], values)
      }
    }
    let all = things
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var random = SplitMix64(seed: 9)
        for round in 0..<150 {
          try store.write { (t) throws(EngineError) in
            for _ in 0..<20 {
              var values = RowValues()
              values.set("small", .integer(Int64(random.below(2))))
              values.set("half", .double(Double(random.below(1000))))
              try t.update(random.pick(all), values)
            }
          }
          if round % 40 == 39 { try store.kernel.checkpoint() }
        }
      }
      for reader in 0..<2 {
        group.addTask {
          for _ in 0..<150 {
            let view = try store.view()
            func count(_ format: String) throws -> Int {
              try view.count(EngineFetch(thing, predicate: try Predicate(format: format)))
            }
            #expect(try count("small == 0") + count("small == 1") == 600)
            #expect(try count("half < \(300 + reader)") + count("half >= \(300 + reader)") == 600)
            var first = EngineFetch(thing)
            first.sort = [EngineSort("half", ascending: reader == 0)]
            first.limit = 5
            var scan = first
            scan.usesIndexes = false
            #expect(try view.fetch(first) == view.fetch(scan))
            _ = try view.explain(first)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try store.check().isSound)
  }
}
