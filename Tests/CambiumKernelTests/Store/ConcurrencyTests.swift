import CambiumKernel
import CambiumTesting
import Synchronization
import Testing

/// Work that is divided among threads, and the parts of trees that they go through.
@Suite struct ConcurrencyTests {
  private static func store(_ threads: Int) throws -> Store {
    var options = StoreOptions()
    options.maximumThreads = threads
    return try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(processors: 4), options: options)
  }

  /// An error with a number.
  private static func error(_ n: Int) -> StoreError { .noSuchTree(TreeID(rawValue: UInt32(truncatingIfNeeded: n))) }

  @Test(arguments: [1, 2, 4]) func eachNumberIsCalledOnce(threads: Int) throws {
    let store = try Self.store(threads)
    #expect(store.threadCount == threads)
    let counts = Locked([Int](repeating: 0, count: 1_000))
    let used = Locked(Set<Int>())
    try store.concurrently(1_000) { (n, thread) throws(StoreError) in
      counts.withLock { $0[n] += 1 }
      _ = used.withLock { $0.insert(thread) }
    }
    #expect(counts.withLock { $0 } == [Int](repeating: 1, count: 1_000))
    #expect(used.withLock { $0.allSatisfy { $0 >= 0 && $0 < threads } })
    try store.concurrently(0) { (_, _) throws(StoreError) in Issue.record("there is nothing to do") }
    try store.concurrently(-5) { (_, _) throws(StoreError) in Issue.record("there is nothing to do") }
  }

  @Test(arguments: [1, 2, 4]) func theFirstErrorIsThrownAndEndsIt(threads: Int) throws {
    let store = try Self.store(threads)
    let begun = Atomic<Int>(0)
    #expect(throws: Self.error(3)) {
      try store.concurrently(100_000) { (n, _) throws(StoreError) in
        begun.wrappingAdd(1, ordering: .relaxed)
        if n >= 3 { throw Self.error(n) }
      }
    }
    #expect(begun.load(ordering: .relaxed) < 100)
  }

  @Test(arguments: [1, 2, 4], [1, 7, 500]) func whatIsMadeIsUsedInOrder(threads: Int, count: Int) throws {
    let store = try Self.store(threads)
    var used: [Int] = []
    var spares = 0
    let handedBack = Atomic<Int>(0)
    try store.inOrder(
      count,
      make: { (n, spare: Int?) throws(StoreError) in
        if spare != nil { handedBack.wrappingAdd(1, ordering: .relaxed) }
        return n
      },
      use: { (n) throws(StoreError) in
        used.append(n)
        spares += 1
      })
    #expect(used == Array(0..<count))
    // Nearly all are made of what was used.
    #expect(handedBack.load(ordering: .relaxed) >= count - threads - 4)
  }

  @Test(arguments: [1, 2, 4], [true, false]) func errorsEndTheLine(threads: Int, inMake: Bool) throws {
    let store = try Self.store(threads)
    var used: [Int] = []
    let made = Atomic<Int>(0)
    #expect(throws: Self.error(5)) {
      try store.inOrder(
        10_000,
        make: { (n, _: Int?) throws(StoreError) in
          made.wrappingAdd(1, ordering: .relaxed)
          if inMake, n == 5 { throw Self.error(n) }
          return n
        },
        use: { (n) throws(StoreError) in
          if !inMake, n == 5 { throw Self.error(n) }
          used.append(n)
        })
    }
    #expect(used.count <= 5 && used == Array(0..<used.count))
    #expect(made.load(ordering: .relaxed) < 50)
  }

  @Test func thereMayBeNoThreadsToBeHad() throws {
    var options = StoreOptions()
    options.maximumThreads = 8
    let store = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(processors: 8, hasThreads: false),
      options: options)
    #expect(store.threadCount == 8)
    let sum = Atomic<Int>(0)
    try store.concurrently(100) { (n, _) throws(StoreError) in sum.wrappingAdd(n, ordering: .relaxed) }
    #expect(sum.load(ordering: .relaxed) == 4_950)
    var used: [Int] = []
    try store.inOrder(
      100, make: { (n, _: Int?) throws(StoreError) in n }, use: { (n) throws(StoreError) in used.append(n) })
    #expect(used == Array(0..<100))
  }

  /// A device without a lock is used by the calling thread alone; so is the one of a host without threads.
  @Test func threadsAreUsedWhereTheyMayBe() throws {
    let alone = try Store.create(on: MemoryDevice(), environment: TestEnvironment(processors: 4))
    #expect(alone.threadCount == 1)
    let single = try Store.create(on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment())
    #expect(single.threadCount == 1)
    let several = try Store.create(on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(processors: 4))
    #expect(several.threadCount == 4)
    #expect(try Self.store(3).threadCount == 3 && Self.store(9).threadCount == 4 && Self.store(-1).threadCount == 4)
  }

  // MARK: Parts

  /// All entries, part by part.
  private static func entries(_ view: TreeView, _ parts: TreeParts) throws -> [[UInt64: [UInt8]]] {
    var result: [[UInt64: [UInt8]]] = []
    for number in 0..<parts.count {
      var found: [UInt64: [UInt8]] = [:]
      var last: UInt64?
      try view.forEachRun(parts, number) { (run) throws(StoreError) in
        for i in run.indices {
          if let last, run.key(i) <= last { throw .misuse("not in order") }
          last = run.key(i)
          found[run.key(i)] = Array(run.value(i))
        }
        return true
      }
      result.append(found)
    }
    return result
  }

  /// Whatever the parts are, each entry is in one of them, in their order, wherever it lies: in pages, in changes, with
  /// deletions and large values, in a snapshot or as a transaction sees it.
  @Test(arguments: [1, 10, 100, 1_000, 100_000]) func partsMakeUpTheTree(entries: UInt64) throws {
    let seed = testSeed(8_080)
    var random = SplitMix64(seed: seed)
    print("parts of trees: seed \(seed)")
    let store = try Self.store(2)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    var model: [UInt64: [UInt8]] = [:]
    func compare(_ view: TreeView) throws {
      let parts = try view.parts(of: tree, entries: entries)
      let found = try Self.entries(view, parts)
      var all: [UInt64: [UInt8]] = [:]
      var last: UInt64 = 0
      for part in found {
        guard let least = part.keys.min(), let most = part.keys.max() else { continue }
        #expect(all.isEmpty || least > last)
        last = most
        all.merge(part) { _, new in new }
      }
      #expect(all == model)
      #expect(found.reduce(0) { $0 + $1.count } == model.count)
    }
    try compare(try store.snapshot())
    for round in 0..<4 {
      t = try store.beginWrite()
      for _ in 0..<(round == 0 ? 6_000 : 500) {
        let key = random.oneIn(50) ? [0, UInt64.max][random.below(2)] : UInt64(random.below(30_000))
        if random.oneIn(4) {
          try t.delete(tree, key)
          model[key] = nil
        } else {
          let value = [UInt8](repeating: 7, count: random.oneIn(60) ? 5_000 : random.below(40))
          try t.put(tree, key, value)
          model[key] = value
        }
      }
      try compare(t)
      try t.commit()
      try compare(try store.snapshot())
      if round % 2 == 0 { try store.checkpoint() }
      try compare(try store.snapshot())
    }
    if entries <= 1_000 { #expect(try store.snapshot().parts(of: tree, entries: entries).count > 4) }
    #expect(throws: StoreError.noSuchTree(TreeID(rawValue: 999))) {
      _ = try store.snapshot().parts(of: TreeID(rawValue: 999), entries: 1)
    }
  }

  /// Threads go through parts of one snapshot while a writer commits and takes checkpoints.
  @Test func partsAreReadBesideAWriter() throws {
    let store = try Self.store(4)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for n in 0..<UInt64(20_000) { try t.put(tree, n, [UInt8](repeating: 1, count: 20)) }
    try t.commit()
    try store.checkpoint()
    for round in 0..<5 {
      let view = try store.snapshot()
      let parts = try view.parts(of: tree, entries: 500)
      #expect(parts.count > 10)
      t = try store.beginWrite()
      for n in 0..<UInt64(2_000) { try t.put(tree, n * 7, [2]) }
      try t.commit()
      let sum = Atomic<Int>(0)
      try store.concurrently(parts.count + 1) { (n, _) throws(StoreError) in
        if n == 0 { return try store.checkpoint() }
        try view.forEachRun(parts, n - 1) { (run) throws(StoreError) in
          sum.wrappingAdd(run.indices.count, ordering: .relaxed)
          return true
        }
      }
      #expect(sum.load(ordering: .relaxed) == 20_000, "round \(round)")
    }
  }
}
