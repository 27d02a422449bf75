import CambiumKernel
import CambiumTesting
import Testing

@Suite struct RetainedCommitTests {
  let device = MemoryDevice()
  let environment = TestEnvironment(seed: 3)

  func options() -> StoreOptions {
    var options = StoreOptions()
    options.logBytes = 1 << 16
    options.deltaBytes = 1 << 18
    return options
  }

  func fill(_ store: Store, _ tree: TreeID, _ round: UInt8) throws {
    for part in 0..<20 {
      let t = try store.beginWrite()
      for i in 0..<100 { try t.put(tree, UInt64(part * 100 + i), Array(repeating: round, count: 300)) }
      try t.commit()
    }
  }

  func expect(_ view: TreeView, _ tree: TreeID, _ round: UInt8) throws {
    #expect(try view.count(tree) == 2000)
    let cursor = try view.cursor(tree)
    var more = try cursor.seekFirst()
    var n = 0
    while more {
      if try cursor.value() == Array(repeating: round, count: 300) { n += 1 }
      more = try cursor.next()
    }
    #expect(n == 2000)
  }

  @Test func olderStatesStayReadable() throws {
    var store = try Store.create(on: device, environment: environment, options: options())
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    var kept: [RetainedCommit] = []
    for round in 1...5 {
      try fill(store, tree, UInt8(round))
      if round % 2 == 1 { kept.append(try store.retain(reason: "round \(round)")) }
    }
    for _ in 0..<2 {
      try expect(try store.snapshot(), tree, 5)
      #expect(try store.retainedCommits().map(\.reason) == ["round 1", "round 3", "round 5"])
      for (i, commit) in kept.enumerated() {
        let old = try store.snapshot(retained: commit.id)
        #expect(old.sequence == commit.sequence)
        try expect(old, tree, UInt8(2 * i + 1))
      }
      #expect(try store.check().problems.isEmpty)
      // And after reopening, once closed and once not.
      if kept[0].id % 2 == 1 { try store.close() }
      store = try Store.open(on: device, environment: environment, options: options())
    }
    let held = try store.retainedCommits()[0].heldBytes
    #expect(held > 400_000)
    let before = try store.statistics().fileBytes
    for commit in kept { try store.release(retained: commit.id) }
    #expect(throws: StoreError.snapshotExpired) { try store.snapshot(retained: kept[0].id) }
    try store.compact()
    #expect(try store.statistics().fileBytes < before - held)
    try expect(try store.snapshot(), tree, 5)
  }

  @Test func theyLapse() throws {
    let store = try Store.create(on: device, environment: environment, options: options())
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    try fill(store, tree, 1)
    let now = UInt64(environment.nowMilliseconds())
    let byTime = try store.retain(reason: "an hour", expires: now + 3_600_000)
    let bySize = try store.retain(reason: "little", limitBytes: 100_000)
    try store.checkpoint()
    #expect(try store.retainedCommits().count == 2)
    for round in 2...4 { try fill(store, tree, UInt8(round)) }
    try store.checkpoint()
    #expect(try store.retainedCommits().map(\.id) == [byTime.id])
    #expect(throws: StoreError.snapshotExpired) { try store.snapshot(retained: bySize.id) }
    _ = try store.snapshot(retained: byTime.id)
    environment.advanceClock(milliseconds: 3_600_001)
    // At once, though what it holds is given up later.
    #expect(try store.retainedCommits().isEmpty)
    #expect(throws: StoreError.snapshotExpired) { try store.snapshot(retained: byTime.id) }
    try fill(store, tree, 5)
    try store.checkpoint()
    #expect(try store.retainedCommits().isEmpty)
  }

  private func makeTree(_ store: Store) throws -> TreeID {
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    return tree
  }

  /// An identifier names one commit, also after that commit was released.
  @Test func identifiersAreNotUsedAgain() throws {
    let store = try Store.create(on: device, environment: environment, options: options())
    let first = try store.retain(reason: "first")
    try store.release(retained: first.id)
    #expect(try store.retain(reason: "second").id != first.id)
  }

  @Test func theyLapseAtTheirTime() throws {
    let store = try Store.create(on: device, environment: environment, options: options())
    let now = UInt64(environment.nowMilliseconds())
    _ = try store.retain(reason: "short", expires: now + 10)
    environment.advanceClock(milliseconds: 9)
    #expect(try store.retainedCommits().count == 1)
    environment.advanceClock(milliseconds: 1)
    #expect(try store.retainedCommits().isEmpty)
  }

  /// A release that cannot be written leaves the commit retained.
  @Test func aReleaseThatFailsChangesNothing() throws {
    let faults = FaultDevice(device)
    let store = try Store.create(on: faults, environment: environment, options: options())
    let tree = try makeTree(store)
    try fill(store, tree, 1)
    let kept = try store.retain(reason: "kept")
    faults.plan(
      .init(.write, at: faults.operationCount(of: .write), error: .device(operation: .write, offset: 0, code: 5)))
    #expect(throws: StoreError.self) { try store.release(retained: kept.id) }
    faults.reset()
    #expect(try store.retainedCommits().map(\.id) == [kept.id])
    try expect(try store.snapshot(retained: kept.id), tree, 1)
  }

  /// A view of a retained commit outlives its release.
  @Test func aViewOfOneHoldsItsPages() throws {
    var options = options()
    options.cacheBytes = 64 << 10
    let store = try Store.create(on: device, environment: environment, options: options)
    let tree = try makeTree(store)
    try fill(store, tree, 1)
    let kept = try store.retain(reason: "kept")
    try fill(store, tree, 2)
    let view = try store.snapshot(retained: kept.id)
    try store.release(retained: kept.id)
    for round in UInt8(3)...5 {
      try fill(store, tree, round)
      try store.checkpoint()
    }
    try expect(view, tree, 1)
  }
}
