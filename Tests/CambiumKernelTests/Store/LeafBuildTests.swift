import CambiumTesting
import Testing

@testable import CambiumKernel

/// Trees of keys that are built from nothing: what several threads make is what one would.
@Suite struct LeafBuildTests {
  private static func options(_ threads: Int) -> StoreOptions {
    var options = StoreOptions()
    options.maximumThreads = threads
    options.deltaBytes = 64 << 10
    options.cacheBytes = 256 << 10
    return options
  }

  private static func store(_ threads: Int) throws -> Store {
    try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(processors: 4), options: options(threads))
  }

  /// Batches, of which each key is in any number, and put or deleted. `shape` says how alike the keys are.
  private static func batches(_ shape: Int, _ counts: [Int], _ random: inout SplitMix64) -> [ChangeBatch] {
    counts.enumerated().map { number, count in
      let batch = ChangeBatch()
      for n in 0..<count {
        var key = random.bytes(4)
        switch shape {
        case 0: break
        // All agree in what decides most comparisons.
        case 1: key = Array("the same beginning".utf8) + key
        // Few different ones, many times.
        case 2: key = [UInt8(random.below(250)), UInt8(random.below(256))]
        // In order already.
        case 3: key = (0..<4).map { UInt8(truncatingIfNeeded: n >> (24 - 8 * $0)) }
        // Each batch wholly before the one that came before it, and keys that others begin with.
        case 5: key = [UInt8(250 - number)] + key.prefix(random.below(5))
        // Now and then a long one.
        default: if random.oneIn(50) { key += [UInt8](repeating: key[0], count: random.below(900)) }
        }
        #expect(batch.add(key, isPut: !random.oneIn(8)) != nil)
      }
      return batch
    }
  }

  private static func keys(_ view: TreeView, _ tree: TreeID) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    let cursor = try view.cursor(tree)
    var more = try cursor.seekFirst()
    while more {
      found.append(Array(cursor.key))
      more = try cursor.next()
    }
    return found
  }

  @Test(arguments: 0..<6) func threadsMakeWhatOneMakes(shape: Int) throws {
    // Half of them for each shape in a short run.
    let all = [[40_000], [20_000, 30_000], [50_000, 1, 0, 300], [12_000, 12_000, 12_000]]
    for (n, counts) in all.enumerated() where isFullLength || (n + shape) % 2 == 0 {
      var found: [[[UInt8]]] = []
      for threads in [1, 2, 4] {
        var random = SplitMix64(seed: testSeed(411))
        let batches = Self.batches(shape, counts, &random)
        let store = try Self.store(threads)
        let t = try store.beginWrite()
        let tree = try t.createTree(.bytes)
        try t.apply(batches, to: tree)
        // What is the same in one batch is there once.
        if shape != 2, shape != 5 { #expect((LeafBuild(batches, store) != nil) == (threads > 1)) }
        #expect(t.spilled[tree] != nil)
        let keys = try Self.keys(t, tree)
        #expect(try t.count(tree) == UInt64(keys.count))
        // Changes behind it, one by one and many.
        try t.put(tree, [0xFF, 0xFF, 0xFF], [])
        try t.apply(Self.batches(0, [9_000], &random), to: tree)
        try t.commit()
        #expect(try store.check().problems.isEmpty)
        found.append(keys)
        found.append(try Self.keys(store.snapshot(), tree))
        try store.close()
      }
      #expect(found[0].count > 500)
      for n in 1..<3 {
        #expect(found[2 * n] == found[0], "shape \(shape), \(counts)")
        #expect(found[2 * n + 1] == found[1], "shape \(shape), \(counts)")
      }
    }
  }

  /// Of the changes of a key those of the last batch count; where none puts anything, there is an empty tree.
  @Test func laterBatchesCount() throws {
    let store = try Self.store(2)
    let batches = (0..<2).map { _ in ChangeBatch() }
    for n in 0..<UInt32(40_000) {
      let key = n.bigEndianBytes
      #expect(batches[0].add(key, isPut: true) != nil)
      if n % 3 == 0 { #expect(batches[1].add(key, isPut: false) != nil) }
    }
    let t = try store.beginWrite()
    let (tree, empty) = (try t.createTree(.bytes), try t.createTree(.bytes))
    try t.apply(batches, to: tree)
    let deletions = ChangeBatch()
    for n in 0..<UInt32(40_000) { #expect(deletions.add(n.bigEndianBytes, isPut: false) != nil) }
    try t.apply([deletions], to: empty)
    try t.commit()
    let view = try store.snapshot()
    #expect(try Self.keys(view, tree) == (0..<UInt32(40_000)).filter { $0 % 3 != 0 }.map(\.bigEndianBytes))
    #expect(try view.count(empty) == 0)
    #expect(try Self.keys(view, empty).isEmpty)
    #expect(try store.check().problems.isEmpty)
  }

  /// A fault of each operation on the disk leaves the store as it was.
  @Test func faultsLeaveTheStoreAsItWas() throws {
    var random = SplitMix64(seed: testSeed(412))
    let batches = Self.batches(1, [30_000, 20_000], &random)
    var failures = 0
    for operation in 0..<200 {
      let memory = MemoryDevice(lock: ThreadLock())
      let device = FaultDevice(memory)
      let store = try Store.create(
        on: device, environment: TestEnvironment(processors: 2), options: Self.options(2))
      let before = try StoreContent.hash(of: store.snapshot())
      let t = try store.beginWrite()
      let tree = try t.createTree(.bytes)
      device.plan(FaultDevice.Fault(at: device.operationCount + operation))
      do throws(StoreError) { try t.apply(batches, to: tree) } catch {
        if t.failure != nil {
          failures += 1
          #expect(throws: StoreError.self) { try t.commit() }
        }
        t.rollBack()
        try? store.close()
        let again = try Store.open(
          on: MemoryDevice(copying: memory.contents()), environment: TestEnvironment(), options: Self.options(1))
        #expect(try StoreContent.hash(of: again.snapshot()) == before, "operation \(operation)")
        #expect(try again.check().problems.isEmpty, "operation \(operation)")
        continue
      }
      t.rollBack()
      break
    }
    #expect(failures > 0)
  }
}

extension UInt32 {
  fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
