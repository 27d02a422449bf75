import CambiumTesting
import Dispatch
import Foundation
import Testing

@testable import CambiumKernel

/// What happens between two steps of a call: what other processes do then, and other threads.
@Suite struct MeanwhileTests {
  private func options(_ durability: Durability = .normal, readOnly: Bool = false) -> StoreOptions {
    var options = CrashScenario.commits.options(durability)
    options.isReadOnly = readOnly
    return options
  }

  private func open(
    _ handle: SharedHandle, _ seed: UInt64, _ durability: Durability = .normal, readOnly: Bool = false
  ) throws -> Store {
    try Store.open(
      on: handle, environment: TestEnvironment(seed: seed), options: options(durability, readOnly: readOnly))
  }

  private func shared(_ durability: Durability = .normal) throws -> SharedDisk {
    let shared = SharedDisk()
    try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1), options: options(durability)).close()
    return shared
  }

  /// A disk, a process that writes, and a tree with some rows.
  private func written() throws -> (SharedDisk, Store, TreeID) {
    let shared = try shared()
    let writer = try open(shared.open(), 2)
    let t = try writer.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    try put(writer, tree, 1)
    return (shared, writer, tree)
  }

  private func put(_ store: Store, _ tree: TreeID, _ round: Int, rows: UInt64 = 300) throws {
    let t = try store.beginWrite()
    for n in 0..<rows { try t.put(tree, n, [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: 60)) }
    try t.commit()
    try store.checkpoint()
  }

  private func rows(_ view: TreeView, _ tree: TreeID) throws -> [UInt64: [UInt8]] {
    try ValueConversionTests.rows(view, tree)
  }

  /// A suspended process may be ended at any moment: what it committed is durable by then.
  @Test func suspendingSyncsWhatWasCommitted() throws {
    let (_, writer, tree) = try written()
    let t = try writer.beginWrite()
    try t.put(tree, 1, [7])
    try t.commit()
    #expect(writer.durableSequence < writer.appendedSequence)
    try writer.suspend()
    #expect(writer.durableSequence == writer.appendedSequence)
    try writer.resume()
    try writer.close()
  }

  /// A retained commit that another process lets go of while a reader takes a view of it: at each of the reader's
  /// calls.
  @Test func aRetainedCommitIsLetGoOf() throws {
    var (views, expired) = (0, 0)
    for call in 0..<40 {
      let (shared, writer, tree) = try written()
      let retained = try writer.retain(reason: "kept")
      try put(writer, tree, 2)
      let handle = shared.open()
      let reader = try open(handle, 3, readOnly: true)
      let calls = Locked(0)
      let failure = Locked<(any Error)?>(nil)
      @Sendable func meanwhile() {
        let isIt = calls.withLock { count in
          count += 1
          return count == call + 1
        }
        guard isIt else { return }
        do {
          try writer.release(retained: retained.id)
          for round in 3..<12 { try put(writer, tree, round) }
        } catch { failure.withLock { $0 = error } }
      }
      handle.beforeChanges { meanwhile() }
      handle.beforeReads { _ in meanwhile() }
      do throws(StoreError) {
        let view = try reader.snapshot(retained: retained.id)
        handle.beforeChanges(nil)
        handle.beforeReads(nil)
        for round in 20..<30 { try? put(writer, tree, round) }
        let found = try? rows(view, tree)
        #expect(found?.count == 300 && found?.values.allSatisfy { $0.first == 1 } == true, "call \(call)")
        views += 1
      } catch {
        #expect(error == .snapshotExpired, "call \(call): \(error)")
        expired += 1
      }
      handle.beforeChanges(nil)
      handle.beforeReads(nil)
      #expect(failure.withLock { $0 } == nil, "call \(call)")
      #expect(try writer.check().problems.isEmpty)
      let isDone = calls.withLock { $0 } <= call
      if isDone { break }
    }
    #expect(views > 0 && expired > 0)
  }

  /// A view that ends while its store is taken up again: nobody's pin is left.
  @Test func aViewEndsWhileItsStoreIsResumed() throws {
    var left = 0
    for call in 0..<20 {
      let shared = try written().0
      let handle = shared.open()
      let reader = try open(handle, 3, readOnly: true)
      let before = shared.lockCount
      let view = Locked<Snapshot?>(try reader.snapshot())
      try reader.suspend()
      let calls = Locked(0)
      handle.beforeChanges {
        let isIt = calls.withLock { count in
          count += 1
          return count == call + 1
        }
        if isIt { view.withLock { $0 = nil } }
      }
      try reader.resume()
      handle.beforeChanges(nil)
      let isDone = view.withLock { $0 } != nil
      view.withLock { $0 = nil }
      #expect(shared.lockCount == before, "call \(call)")
      if isDone { break }
      left += 1
    }
    #expect(left > 0)
  }

  /// A turn that another process does not give up is waited for as long as the options say, and nothing has happened
  /// then.
  @Test func aTurnIsNotWaitedForForEver() throws {
    let shared = try shared()
    let a = try open(shared.open(), 2)
    var t = try a.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    var limited = options()
    limited.turnTimeoutMilliseconds = 50
    let b = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 3), options: limited)
    t = try a.beginWrite()
    let locks = shared.lockCount
    for _ in 0..<3 {
      #expect(throws: StoreError.busy) { try b.beginWrite() }
      #expect(throws: StoreError.busy) {
        _ = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 4), options: limited)
      }
    }
    // Reading goes on, and what was tried has left nothing, but for what opening announces until its device is closed.
    #expect(try b.snapshot().count(tree) == 0)
    #expect(shared.lockCount <= locks + 6)
    try t.put(tree, 1, [1])
    try t.commit()
    t = try b.beginWrite()
    try t.put(tree, 2, [2])
    try t.commit()
    #expect(try a.snapshot().count(tree) == 2)
    for store in [a, b] { try store.close() }
  }

  /// What was committed, and not waited for, is durable when the store is closed, also if others go on with it.
  @Test(arguments: [Durability.full, .strict, .normal]) func closingSyncsWhatIsWaitedFor(_ durability: Durability)
    throws
  {
    let shared = try shared(durability)
    let handle = shared.open()
    let (a, b) = (try open(handle, 2, durability), try open(shared.open(), 3, durability))
    var t = try a.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    t = try a.beginWrite()
    try t.put(tree, 1, [1])
    let sequence = try t.commit(durably: false)
    try a.close()
    #expect(a.durableSequence >= sequence)
    try a.makeDurable()
    #expect(throws: StoreError.closed) { try a.syncNow() }
    #expect(try b.snapshot().value(tree, 1) == [1])
    try b.close()
  }

  /// The device is not given up while a commit's sync is on its way.
  @Test func closingWaitsForASync() throws {
    let shared = try shared(.full)
    let handle = shared.open()
    // Another writer, so that closing writes nothing itself.
    let other = try open(shared.open(), 2, .full)
    let store = try open(handle, 3, .full)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    t = try store.beginWrite()
    try t.put(tree, 1, [1])
    let sequence = try t.commit(durably: false)
    let (isSyncing, mayEnd, isClosed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Locked(false))
    let waits = Locked(true)
    handle.beforeChanges {
      let isFirst = waits.withLock { waits in
        defer { waits = false }
        return waits
      }
      guard isFirst else { return }
      isSyncing.signal()
      mayEnd.wait()
    }
    let group = DispatchGroup()
    let failures = Locked<[any Error]>([])
    func start(_ body: @escaping @Sendable () throws -> Void) {
      group.enter()
      Thread {
        do { try body() } catch { failures.withLock { $0.append(error) } }
        group.leave()
      }.start()
    }
    start { try store.waitDurable(sequence) }
    isSyncing.wait()
    // So that closing does not sync itself.
    try store.suspend()
    start {
      try store.close()
      isClosed.withLock { $0 = true }
    }
    Thread.sleep(forTimeInterval: 0.05)
    #expect(!isClosed.withLock { $0 })
    mayEnd.signal()
    group.wait()
    #expect(failures.withLock { $0.isEmpty } && isClosed.withLock { $0 })
    #expect(try other.snapshot().value(tree, 1) == [1])
    try other.close()
  }
}
