import CambiumTesting
import Testing

@testable import CambiumKernel

/// Commits that nobody waits for, in a store whose commits are durable.
@Suite struct UnwaitedCommitTests {
  private static func store(_ disk: SimulatedDisk) throws -> (Store, TreeID) {
    var options = StoreOptions()
    options.durability = .full
    let store = try Store.create(on: disk, environment: TestEnvironment(seed: 6), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    return (store, tree)
  }

  private static func put(_ key: UInt64, _ store: Store, _ tree: TreeID, durably: Bool) throws {
    let t = try store.beginWrite()
    try t.put(tree, key, [UInt8(key)])
    try t.commit(durably: durably)
  }

  private static func keys(_ view: TreeView, _ tree: TreeID) throws -> [UInt64] {
    try (1...9).filter { try view.value(tree, UInt64($0)) != nil }.map { UInt64($0) }
  }

  /// They are on the way, not there: writers see them, new views do not, until a sync that somebody waits for.
  @Test(arguments: [false, true]) func theyBecomeVisibleWithTheNextOne(_ byCommit: Bool) throws {
    let (store, tree) = try Self.store(SimulatedDisk())
    try Self.put(1, store, tree, durably: false)
    try Self.put(2, store, tree, durably: false)
    #expect(try Self.keys(store.snapshot(), tree) == [])
    let t = try store.beginWrite()
    #expect(try Self.keys(t, tree) == [1, 2])
    t.rollBack()
    let syncs = store.syncsCompleted
    if byCommit { try Self.put(3, store, tree, durably: true) } else { try store.makeDurable() }
    #expect(store.syncsCompleted == syncs + 1)
    #expect(try Self.keys(store.snapshot(), tree) == (byCommit ? [1, 2, 3] : [1, 2]))
    try store.makeDurable()
    #expect(store.syncsCompleted == syncs + 1)
  }

  /// After a power cut there is a beginning of them: none is there without those before it.
  @Test func aPowerCutLeavesABeginning() throws {
    let disk = SimulatedDisk()
    let (store, tree) = try Self.store(disk)
    try Self.put(1, store, tree, durably: true)
    let start = disk.operationCount
    for key: UInt64 in 2...5 { try Self.put(key, store, tree, durably: false) }
    let acknowledged = disk.operationCount
    try store.makeDurable()
    var found: Set<Int> = []
    for point in start...disk.operationCount {
      for image in disk.crashImages(at: point, limit: 8, tearing: .byteRange, seed: UInt64(point)) {
        let opened = try Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 7))
        let keys = try Self.keys(opened.snapshot(), tree)
        #expect(keys == Array(1...UInt64(max(1, keys.count))), "point \(point)")
        found.insert(keys.count)
        if point == disk.operationCount { #expect(keys.count == 5) }
      }
    }
    #expect(found.contains(1) && found.contains(5) && acknowledged > start)
  }
}
