import CambiumTesting
import Testing

@testable import CambiumKernel

/// Commits that come to nothing: they have a sequence, and leave no trace in pages or deltas.
@Suite struct EmptyCommitTests {
  let device = MemoryDevice()
  let environment = TestEnvironment(seed: 3)

  /// Makes a tree and drops it in one transaction.
  private func commitNothing(_ store: Store) throws {
    let t = try store.beginWrite()
    try t.dropTree(try t.createTree(.bytes))
    try t.commit()
  }

  /// The log of a store that was closed once began behind such a commit, of which its directory did not know.
  @Test func aStoreIsClosedAfterThemAndOpened() throws {
    var store = try Store.create(on: device, environment: environment)
    for _ in 0..<3 {
      try commitNothing(store)
      let sequence = try store.snapshot().sequence
      try store.close()
      store = try Store.open(on: device, environment: environment)
      #expect(try store.snapshot().sequence == sequence)
      #expect(try store.check().problems.isEmpty)
    }
  }

  @Test func checkpointsAndCompactionTakeThemIn() throws {
    let store = try Store.create(on: device, environment: environment)
    try commitNothing(store)
    try store.checkpoint()
    try commitNothing(store)
    try store.compact()
    try commitNothing(store)
    _ = try store.retain(reason: "nothing")
    let sequence = try store.snapshot().sequence
    try store.close()
    let again = try Store.open(on: device, environment: environment)
    #expect(try again.snapshot().sequence == sequence)
    #expect(try again.retainedCommits().first?.sequence == sequence)
  }

  @Test func recoveryFindsThem() throws {
    let store = try Store.create(on: device, environment: environment)
    try commitNothing(store)
    let sequence = try store.snapshot().sequence
    let recovered = try Store.open(
      on: MemoryDevice(copying: device.contents()), environment: environment)
    #expect(try recovered.snapshot().sequence == sequence)
    try recovered.close()
    _ = store
  }
}

/// Large values that a transaction wrote and gave up again, after it outgrew memory.
@Suite struct DroppedValueTests {
  @Test(arguments: [false, true]) func aDroppedTreeLeavesNoExtents(_ rollsBack: Bool) throws {
    var options = StoreOptions()
    options.deltaBytes = 16 << 10
    options.logValueLimit = 2000
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 3), options: options)
    let t = try store.beginWrite()
    let rows = try t.createTree(.integer)
    let other = try t.createTree(.integer)
    let large = [UInt8](repeating: 7, count: 2600)
    try t.put(other, UInt64(1), large)
    let savepoint = t.savepoint()
    try t.dropTree(other)
    // Outgrows the memory for changes.
    for key in UInt64(0)..<400 { try t.put(rows, key, [UInt8](repeating: 1, count: 130)) }
    if rollsBack { try t.rollBack(to: savepoint) }
    try t.commit()
    if rollsBack { #expect(try store.snapshot().value(other, UInt64(1)) == large) }
    let problems = try store.check().problems
    #expect(problems.isEmpty, "\(problems)")
  }
}
