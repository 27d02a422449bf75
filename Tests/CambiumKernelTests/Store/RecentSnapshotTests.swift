import CambiumTesting
import Foundation
import Synchronization
import Testing

@testable import CambiumKernel

/// The snapshot that a store keeps for who asks next, and what snapshots know of trees.
@Suite struct RecentSnapshotTests {
  private static func store(_ device: any StorageDevice = MemoryDevice(lock: ThreadLock())) throws -> Store {
    try Store.create(on: device, environment: TestEnvironment(processors: 4), options: StoreOptions())
  }

  private static func put(_ store: Store, _ tree: TreeID, _ value: UInt8) throws {
    let t = try store.beginWrite()
    try t.put(tree, 1, [value])
    try t.commit()
  }

  private static func makeTree(_ store: Store) throws -> TreeID {
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    return tree
  }

  #if _pointerBitWidth(_64)
    @Test func oneIsSharedUntilSomethingIsCommitted() throws {
      let store = try Self.store()
      let tree = try Self.makeTree(store)
      let first = try store.recentSnapshot()
      #expect(try store.recentSnapshot() === first)
      #expect(try store.snapshot() !== first)
      try Self.put(store, tree, 7)
      let second = try store.recentSnapshot()
      #expect(second !== first)
      #expect(try first.value(tree, 1) == nil)
      #expect(try second.value(tree, 1) == [7])
      #expect(try store.recentSnapshot() === second)
      // Who wants to know whether views were begun since finds out.
      let begun = store.viewsBegun
      #expect(try store.recentSnapshot() !== second)
      #expect(store.viewsBegun == begun + 1)
      try store.close()
    }
  #endif

  @Test func whatIsKeptHoldsNothingBack() throws {
    let store = try Self.store()
    let tree = try Self.makeTree(store)
    try Self.put(store, tree, 1)
    #expect(try store.recentSnapshot().value(tree, 1) == [1])
    #expect(store.ownPins().isEmpty)
    let held = try store.recentSnapshot()
    #expect(store.ownPins() == [held.generation.number])
    #expect(try held.value(tree, 1) == [1])
    try store.close()
  }

  @Test func aStoreThatNobodyHoldsGoes() throws {
    weak var weakStore: Store?
    do {
      let store = try Self.store()
      weakStore = store
      _ = try store.recentSnapshot()
      store.giveUpRecentSnapshot()
    }
    #expect(weakStore == nil)
    do {
      let store = try Self.store()
      weakStore = store
      _ = try store.recentSnapshot()
      try store.close()
      #expect(throws: StoreError.closed) { try store.recentSnapshot() }
    }
    #expect(weakStore == nil)
  }

  /// Threads ask while one commits, and while the store is closed: nobody sees less than what was committed before.
  @Test func manyAskAtOnce() throws {
    for round in 0..<20 {
      weak var weakStore: Store?
      do {
        let store = try Self.store()
        weakStore = store
        let tree = try Self.makeTree(store)
        try Self.put(store, tree, 0)
        let committed = Atomic<Int>(0)
        let closedFor = Atomic<Int>(0)
        store.environment.runConcurrently(4) { thread in
          do {
            if thread == 0 {
              for i in 1...100 {
                try Self.put(store, tree, UInt8(i))
                committed.store(i, ordering: .releasing)
              }
              if round % 2 == 0 { try store.close() }
              return
            }
            while true {
              let before = committed.load(ordering: .acquiring)
              let view = try store.recentSnapshot()
              let value = try view.value(tree, 1) ?? []
              #expect(Int(value.first ?? 0) >= before)
              if before == 100, round % 2 == 1 { return }
            }
          } catch StoreError.closed {
            closedFor.wrappingAdd(1, ordering: .relaxed)
          } catch { Issue.record(error) }
        }
        #expect(closedFor.load(ordering: .relaxed) == (round % 2 == 0 ? 3 : 0))
        store.giveUpRecentSnapshot()
        if round % 2 == 1 { #expect(store.ownPins().isEmpty) }
      }
      // A thread may hold what it did for a moment longer.
      for _ in 0..<5_000 where weakStore != nil { Thread.sleep(forTimeInterval: 0.001) }
      #expect(weakStore == nil)
    }
  }

  /// Who reads all the time in views that are shared does not keep a compaction from giving room back: what is left is
  /// what is left where nobody reads.
  @Test func compactionBesideReaders() throws {
    #expect(try Self.sizeAfterCompaction(readers: 3) == Self.sizeAfterCompaction(readers: 0))
  }

  private static func sizeAfterCompaction(readers: Int) throws -> UInt64 {
    let device = MemoryDevice(lock: ThreadLock())
    let store = try store(device)
    let tree = try makeTree(store)
    let t = try store.beginWrite()
    for n in 0..<60_000 { try t.put(tree, UInt64(n), [UInt8](repeating: UInt8(n & 0xFF), count: 200)) }
    try t.commit()
    let before = try device.size()
    let u = try store.beginWrite()
    for n in 0..<60_000 where n % 20 != 0 { _ = try u.delete(tree, UInt64(n)) }
    try u.commit()
    let isDone = Atomic<Bool>(false)
    store.environment.runConcurrently(1 + readers) { thread in
      do {
        if thread == 0 {
          defer { isDone.store(true, ordering: .releasing) }
          return try store.compact()
        }
        while !isDone.load(ordering: .acquiring) {
          let view = try store.recentSnapshot()
          #expect(try view.value(tree, 400) == [UInt8](repeating: UInt8(400 & 0xFF), count: 200))
          #expect(try view.value(tree, 401) == nil)
        }
      } catch { Issue.record(error) }
    }
    // Nobody has a view now; what the last one has kept is given up here.
    try store.compact()
    let size = try device.size()
    // A twentieth is left.
    #expect(size < before / 10)
    #expect(store.ownPins().isEmpty)
    #expect(try store.check().problems.isEmpty)
    try store.close()
    return size
  }

  /// More trees than a snapshot has places for, some of them made, changed and dropped after it was taken.
  @Test func treesAreFoundAsTheSnapshotSeesThem() throws {
    let store = try Self.store()
    var trees: [TreeID] = []
    let t = try store.beginWrite()
    for i in 0..<50 {
      let tree = try t.createTree(i % 5 == 4 ? .bytes : .integer)
      if i % 5 == 4 { try t.put(tree, [9], [UInt8(i)]) } else { try t.put(tree, 1, [UInt8(i)]) }
      trees.append(tree)
    }
    try t.commit()
    func check(_ view: Snapshot, isOld: Bool) throws {
      for (i, tree) in trees.enumerated() {
        let isDropped = !isOld && i % 3 == 0
        let expected = isOld ? UInt8(i) : UInt8(i + 100)
        if isDropped {
          #expect(throws: StoreError.noSuchTree(tree)) { try view.value(tree, 1) }
          #expect(view.kind(of: tree) == nil)
        } else if i % 5 == 4 {
          #expect(try view.value(tree, [9]) == [expected])
          #expect(throws: StoreError.wrongTreeKind(tree)) { try view.value(tree, 1) }
        } else {
          #expect(try view.value(tree, 1) == [expected])
          #expect(try view.value(tree, 2) == nil)
          #expect(throws: StoreError.wrongTreeKind(tree)) { try view.value(tree, [9]) }
        }
      }
    }
    let old = try store.snapshot()
    try check(old, isOld: true)
    let late = try store.snapshot()
    let u = try store.beginWrite()
    let newcomer = try u.createTree(.integer)
    for (i, tree) in trees.enumerated() {
      if i % 3 == 0 {
        try u.dropTree(tree)
      } else if i % 5 == 4 {
        try u.put(tree, [9], [UInt8(i + 100)])
      } else {
        try u.put(tree, 1, [UInt8(i + 100)])
      }
    }
    try u.commit()
    let new = try store.snapshot()
    for _ in 0..<3 {
      try check(old, isOld: true)
      try check(late, isOld: true)
      try check(new, isOld: false)
      for view in [old, late] { #expect(throws: StoreError.noSuchTree(newcomer)) { try view.value(newcomer, 1) } }
      #expect(try new.value(newcomer, 1) == nil)
    }
    try store.close()
  }

  /// Reads beyond the slots are counted, and nothing is used again before the last of all has ended, in whatever order.
  @Test func moreReadsThanSlots() throws {
    let store = try Self.store()
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.put(tree, 1, [1, 2, 3])
    try t.commit()
    let view = try store.snapshot()
    func isQuiet(since retired: UInt) -> Bool { store.cache.slots.isQuiet(since: retired) }
    for isReversed in [false, true] {
      let before = store.cache.slots.retire()
      #expect(isQuiet(since: before))
      var lent: [LentValue] = []
      for _ in 0..<200 { lent.append(try view.lend(tree, 1)) }
      let retired = store.cache.slots.retire()
      if isReversed { lent.reverse() }
      for one in lent {
        #expect(!isQuiet(since: retired))
        #expect(one.bytes.map(Array.init) == [1, 2, 3])
        view.giveBack(one)
      }
      #expect(isQuiet(since: retired))
    }
    try store.close()
  }

  /// A value that is lent is given back once; one that is not there, or large, has nothing to be given back.
  @Test func whatIsLentIsGivenBack() throws {
    let store = try Self.store()
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.put(tree, 1, [1, 2, 3])
    try t.put(tree, 2, [UInt8](repeating: 5, count: 200_000))
    try t.commit()
    let view = try store.snapshot()
    // (What has no copies cannot stand in an expectation itself.)
    func isQuiet(since retired: UInt) -> Bool { store.cache.slots.isQuiet(since: retired) }
    func isQuietNow() -> Bool { isQuiet(since: store.cache.slots.retire()) }
    for _ in 0..<5 {
      let retired = store.cache.slots.retire()
      let lent = try view.lend(tree, 1)
      #expect(lent.bytes.map(Array.init) == [1, 2, 3] && !lent.isLarge)
      let none = try view.lend(tree, 3)
      #expect(none.bytes == nil && !none.isLarge)
      let large = try view.lend(tree, 2)
      #expect(large.bytes == nil && large.isLarge)
      #expect(!isQuietNow())
      view.giveBack(none)
      view.giveBack(large)
      #expect(!isQuietNow())
      view.giveBack(lent)
      #expect(isQuietNow())
      #expect(isQuiet(since: retired))
    }
    #expect(try view.value(tree, 2)?.count == 200_000)
    try store.close()
  }
}
