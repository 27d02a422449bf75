import CambiumTesting
import Synchronization
import Testing

@testable import CambiumKernel

/// Batches of changes that go to a tree's pages at once, since the transaction will not fit a record.
@Suite struct LargeBatchTests {
  private static func key(_ n: Int) -> [UInt8] { Array("key \(n)".utf8) }

  private static func content(_ view: TreeView, _ tree: TreeID) throws -> Set<[UInt8]> {
    var found: Set<[UInt8]> = []
    let cursor = try view.cursor(tree)
    var more = try cursor.seekFirst()
    while more {
      found.insert(Array(cursor.key))
      more = try cursor.next()
    }
    return found
  }

  /// Puts and deletions, of keys that are there and of some that are not.
  private static func batch(_ round: Int, _ model: inout Set<[UInt8]>) -> ChangeBatch {
    let batch = ChangeBatch()
    for n in 0..<WriteTransaction.leastMergedChanges + 500 {
      let number = (n &* 7 + round &* 13) % 40_000
      let key = key(number)
      let isPut = (number + round) % 3 == 0
      _ = batch.add(key, isPut: isPut)
      if isPut { model.insert(key) } else { model.remove(key) }
    }
    return batch
  }

  @Test(arguments: [1, 4]) func areTakenBackAndCommitted(threads: Int) throws {
    var options = StoreOptions()
    options.maximumThreads = threads
    let device = MemoryDevice(lock: ThreadLock())
    var store = try Store.create(on: device, environment: TestEnvironment(processors: 4), options: options)
    var model: Set<[UInt8]> = []
    let t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    let rows = try t.createTree(.integer)
    for n in 0..<30_000 {
      try t.put(tree, Self.key(n), [])
      model.insert(Self.key(n))
    }
    try t.commit()
    for round in 0..<4 {
      // Something of the tree is in the delta of commits as well.
      let small = try store.beginWrite()
      try small.put(tree, Self.key(50_000 + round), [])
      model.insert(Self.key(50_000 + round))
      try small.commit()
      let before = model
      let old = try store.snapshot()
      let u = try store.beginWrite()
      // More than a record holds.
      for n in 0..<20_000 { try u.put(rows, UInt64(n), [UInt8](repeating: UInt8(round), count: 40)) }
      let savepoint = u.savepoint()
      var changed = model
      let batch = Self.batch(round, &changed)
      #expect(u.spilled[tree] == nil)
      try u.apply(batch, to: tree)
      #expect(u.spilled[tree] != nil && u.own.list(tree) == nil)
      #expect(try Self.content(u, tree) == changed)
      #expect(try u.count(tree) == UInt64(changed.count))
      #expect(try Self.content(old, tree) == before)
      if round % 2 == 0 {
        try u.rollBack(to: savepoint)
        #expect(try Self.content(u, tree) == before)
        #expect(try u.count(tree) == UInt64(before.count))
        try u.apply(batch, to: tree)
      }
      // A second one of the same tree, and single changes behind it.
      _ = try u.apply(Self.batch(round + 10, &changed), to: tree)
      try u.put(tree, Self.key(60_000 + round), [])
      changed.insert(Self.key(60_000 + round))
      #expect(try Self.content(u, tree) == changed)
      if round == 3 {
        u.rollBack()
      } else {
        try u.commit()
        model = changed
      }
      #expect(try Self.content(old, tree) == before)
      let now = try store.snapshot()
      #expect(try Self.content(now, tree) == model)
      #expect(try now.count(tree) == UInt64(model.count))
      #expect(try store.check().problems.isEmpty)
    }
    try store.close()
    store = try Store.open(on: device, environment: TestEnvironment(processors: 4), options: options)
    let again = try store.snapshot()
    #expect(try Self.content(again, tree) == model)
    #expect(try again.count(tree) == UInt64(model.count))
    #expect(try store.check().problems.isEmpty)
    try store.close()
  }
}
