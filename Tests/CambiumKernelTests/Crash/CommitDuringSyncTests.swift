import CambiumTesting
import Foundation
import Testing

@testable import CambiumKernel

/// Commits that are appended in the middle of a sync, while checkpoints go on, and power cuts from there on.
@Suite struct CommitDuringSyncTests {
  /// A commit is acknowledged, and a publication relied on, only after a sync that began behind it.
  @Test(arguments: [UInt64](1...2)) func aSyncCountsOnlyForWhatCameBeforeIt(_ seed: UInt64) throws {
    let w = try DuringSyncWorkload(seed: seed)
    while w.commits < 100 { try w.commit(durably: true) }
    let checkpoints = try w.store.statistics().checkpoints
    // Without these, the test would prove nothing.
    #expect(w.commitsDuringSyncs > 40)
    #expect(w.checkpointStepsDuringSyncs > 2)
    #expect(checkpoints > 2)
    w.disk.duringSync(nil)
    var runner = CrashRunner(
      scenario: .commits, mode: CrashRunner.Mode.all[0], seed: seed, budget: 0, stopsAtFirst: true)
    runner.cut(w.disk, w.history, from: 0, budget: 3 * (w.disk.operationCount + 1))
    #expect(runner.images > w.disk.operationCount)
    for failure in runner.failures { Issue.record("\(failure)") }
  }

  /// A record that refers to a large value is written behind a sync that began behind the value. So it is also where
  /// another thread is in the middle of a sync when the value is written.
  @Test(arguments: [false, true]) func aLargeValueIsDurableBeforeItsRecord(_ duringSync: Bool) throws {
    let disk = SimulatedDisk()
    let options = CrashScenario.largeValues.options(.full)
    let store = try Store.create(on: disk, environment: TestEnvironment(seed: 5), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    let first = disk.operationCount
    let large = [UInt8](repeating: 7, count: 20_000)
    let writer = Locked<Thread?>(nil)
    let failure = Locked<(any Error)?>(nil)
    let writeLarge: @Sendable () -> Void = {
      do {
        let t = try store.beginWrite()
        try t.put(tree, 2, large)
        try t.commit()
      } catch { failure.withLock { $0 = error } }
    }
    if duringSync {
      disk.duringSync {
        disk.duringSync(nil)
        // The other thread writes the value, and then waits for this sync: it does no more for a while.
        let before = disk.operationCount
        let thread = Thread(block: writeLarge)
        writer.withLock { $0 = thread }
        thread.start()
        while disk.operationCount == before, !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
    let other = try store.beginWrite()
    try other.put(tree, 1, [1])
    try other.commit()
    if !duringSync { writeLarge() }
    while let thread = writer.withLock({ $0 }), !thread.isFinished { Thread.sleep(forTimeInterval: 0.001) }
    #expect(failure.withLock { $0 } == nil)
    for point in first...disk.operationCount {
      for image in disk.crashImages(at: point, limit: 20, tearing: .byteRange, seed: 4) {
        let opened = try Store.open(
          on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 6), options: options)
        let value = try opened.snapshot().value(tree, 2)
        #expect(value == nil || value == large, "\(image)")
      }
    }
  }
}

/// A store whose disk appends commits in the middle of each sync that the store runs without the turn.
///
/// The commits in the middle of a sync come from the thread that syncs, and wait for nothing. So a run is the same each
/// time. One thread at a time uses it.
private final class DuringSyncWorkload: @unchecked Sendable {
  // Unchecked: the disk calls back on the thread that called the store.
  let disk = SimulatedDisk()
  let store: Store
  private(set) var history = CrashHistory()
  private(set) var commits = 0
  private(set) var commitsDuringSyncs = 0
  /// How often a checkpoint came to another phase in the middle of a sync.
  private(set) var checkpointStepsDuringSyncs = 0
  private let options: StoreOptions
  private let tree: TreeID
  private var content = StoreContent()
  private var random: SplitMix64

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    options = CrashScenario.commits.options(.full)
    store = try Store.create(on: disk, environment: TestEnvironment(seed: seed), options: options)
    // Steps that give room back need a sync of their own, for which the thread that syncs would wait forever.
    store.spareBytes = 1 << 30
    history.entries.append(CrashHistory.Entry(sequence: 0, hash: content.hash, content: content, begun: -1))
    let t = try store.beginWrite()
    tree = try t.createTree(.integer)
    content.trees[tree] = .init(kind: .integer)
    history.begin(1, content, at: disk.operationCount)
    try t.commit()
    history.acknowledge(upTo: 1, at: disk.operationCount)
    disk.duringSync { [weak self] in self?.commitDuringSync() }
  }

  func commit(durably: Bool) throws {
    let t = try store.beginWrite()
    for _ in 0..<(1 + random.below(3)) {
      let key = UInt64(random.below(30))
      let value = [UInt8](repeating: UInt8(truncatingIfNeeded: commits), count: 200 + random.below(400))
      try t.put(tree, key, value)
      content.trees[tree]?.entries.put(modelKey(key), value)
    }
    let sequence = t.sequence + 1
    // What is committed in the middle of this commit's sync builds on it.
    history.begin(sequence, content, at: disk.operationCount)
    commits += 1
    try t.commit(durably: durably)
    if durably { history.acknowledge(upTo: sequence, at: disk.operationCount) }
    // What views show must be durable as well.
    history.acknowledge(upTo: try store.snapshot().sequence, at: disk.operationCount)
  }

  private func commitDuringSync() {
    for _ in 0..<random.below(6) where mayCommit {
      let before = phase
      do { try commit(durably: false) } catch { Issue.record("a commit during a sync threw \(error)") }
      commitsDuringSyncs += 1
      if phase != before { checkpointStepsDuringSyncs += 1 }
    }
  }

  /// Whether nobody has the turn, and another commit would not finish a checkpoint at once, which takes a sync.
  private var mayCommit: Bool {
    if store.turnTaken { return false }
    return store.checkpointUnderWay == nil || store.log.length + 4096 < UInt64(options.logBytes)
  }

  private var phase: String { store.checkpointUnderWay.map { "\($0.publication) \($0.phase)" } ?? "none" }
}
