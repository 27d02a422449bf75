import CambiumTesting
import Testing

@testable import CambiumKernel

/// A view sees nothing that is not durable yet, at no moment of a commit or checkpoint.
@Suite struct VisibilityTests {
  @Test(arguments: CrashScenario.allCases) func snapshotsTakenDuringSyncsSeeWhatWasAcknowledged(
    _ scenario: CrashScenario
  ) throws {
    let w = CrashWorkload(options: scenario.options(.full), seed: CrashTests.seed)
    nonisolated(unsafe) var wrong: [String] = []
    nonisolated(unsafe) var seen = 0
    // What a publication says that is known durable: behind one that commits a transaction there are syncs before the
    // commit returns, while room is given back.
    nonisolated(unsafe) var published: UInt64 = 0
    nonisolated(unsafe) let workload = w
    w.disk.duringSync {
      // The turn may be taken; a snapshot needs it not.
      guard let store = workload.store, let snapshot = try? store.snapshot() else { return }
      seen += 1
      if store.space.durablePublication >= store.superblock.generation { published = store.superblock.durableSequence }
      let acknowledged = workload.history.entries.last {
        ($0.acknowledged != .max || $0.sequence <= published) && $0.gone == .max
      }
      do {
        let hash = try StoreContent.hash(of: snapshot)
        if snapshot.sequence != acknowledged?.sequence || hash != acknowledged?.hash {
          wrong.append("a view of \(snapshot.sequence) during a sync, \(acknowledged?.sequence ?? 0) acknowledged")
        }
      } catch { wrong.append("\(error)") }
    }
    try scenario.run(w)
    #expect(seen > 10)
    #expect(wrong.isEmpty, "\(wrong.prefix(5))")
  }

  @Test func afterAFailedSyncViewsStayAtWhatWasAcknowledged() throws {
    for fails in 0..<40 {
      let w = CrashWorkload(options: CrashScenario.spill.options(.full), seed: CrashTests.seed)
      try w.create()
      try w.makeTrees()
      for _ in 0..<10 { try w.changeRows(5, keys: 300, valueBytes: 200) }
      let counting = FailAfter(count: fails)
      let disk = w.disk
      disk.duringSync { if counting.isDue() { disk.failSyncs() } }
      do {
        for round in 0..<30 {
          try w.changeRows(round % 6 == 5 ? 700 : 5, keys: 3000, valueBytes: 100)
          if round % 7 == 3 { try w.checkpoint() }
        }
      } catch is StoreError {}
      let store = try w.open()
      let snapshot = try store.snapshot()
      let acknowledged = try #require(w.history.entries.last { $0.acknowledged != .max })
      #expect(snapshot.sequence == acknowledged.sequence, "sync \(fails)")
      #expect(try StoreContent.hash(of: snapshot) == acknowledged.hash, "sync \(fails)")
      #expect(throws: StoreError.poisoned) { try store.beginWrite() }
      #expect(throws: StoreError.poisoned) { try store.close() }
    }
  }
}

private final class FailAfter: @unchecked Sendable {
  private var count: Int
  init(count: Int) { self.count = count }
  func isDue() -> Bool {
    count -= 1
    return count == -1
  }
}
