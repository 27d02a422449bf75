import CambiumTesting
import Testing

@testable import CambiumKernel

/// Batches of changes against a sorted array, by way of memory and straight into pages, among other changes of the same
/// tree, savepoints, commits, rollbacks and reopenings.
@Suite struct ChangeBatchTests {
  private static func key(_ n: Int, _ random: inout SplitMix64) -> [UInt8] {
    // Some agree in their first eight bytes and more, some are prefixes of others.
    switch n % 4 {
    case 0: Array("a long beginning that many keys share/\(n)".utf8)
    case 1: [UInt8(n >> 8 & 0xFF), UInt8(n & 0xFF)]
    case 2: [UInt8](repeating: 7, count: n % 40)
    default: Array("\(n)".utf8)
    }
  }

  private func options(_ deltaBytes: Int) -> StoreOptions {
    var options = StoreOptions()
    options.deltaBytes = deltaBytes
    options.logBytes = 64 << 10
    options.cacheBytes = 128 << 10
    return options
  }

  @Test func sortsAndKeepsTheLastOfEachKey() throws {
    var random = SplitMix64(seed: 1)
    for size in [0, 1, 2, 100, 255, 256, 3000] {
      let batch = ChangeBatch()
      var model = ModelTree()
      for n in 0..<size {
        let key = Self.key(random.below(2000), &random)
        let isPut = random.oneIn(2)
        #expect(batch.add(key, isPut: isPut, mark: UInt16(n % 1000), flag: n % 3 == 0) == key.count + 16)
        model.put(key, [isPut ? 1 : 0, UInt8(n % 1000 & 0xFF), n % 3 == 0 ? 1 : 0])
      }
      batch.sort()
      var found: [(key: [UInt8], value: [UInt8])] = []
      try batch.forEach { change, key in
        found.append((Array(key), [change.isPut ? 1 : 0, UInt8(change.mark & 0xFF), change.flag ? 1 : 0]))
      }
      #expect(found.map(\.key) == model.entries.map(\.key))
      #expect(found.map(\.value) == model.entries.map(\.value))
    }
    #expect(ChangeBatch().add([UInt8](repeating: 0, count: 0x4001), isPut: true) == nil)
    #expect(ChangeBatch().add([1], isPut: true, mark: 0x8000) == nil)
  }

  @Test(arguments: [1 << 14, 1 << 20])
  func agreesWithAModel(_ deltaBytes: Int) throws {
    var merges = 0
    for seed in 0..<UInt64(isFullLength ? 60 : 6) {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      let device = MemoryDevice()
      var store = try Store.create(
        on: device, environment: TestEnvironment(seed: seed), options: options(deltaBytes))
      var t = try store.beginWrite()
      let tree = try t.createTree(.bytes)
      let other = try t.createTree(.integer)
      try t.commit()
      var committed = ModelTree()
      for _ in 0..<12 {
        t = try store.beginWrite()
        var model = committed
        var saved: (point: Savepoint, model: ModelTree)?
        for _ in 0..<(1 + random.below(6)) {
          switch random.below(8) {
          case 0..<4:
            let batch = ChangeBatch()
            let size = random.oneIn(3) ? random.below(1500) : random.below(60)
            for _ in 0..<size {
              let key = Self.key(random.below(3000), &random)
              let isPut = !random.oneIn(3)
              _ = batch.add(key, isPut: isPut)
              if isPut { model.put(key, []) } else { _ = model.delete(key) }
            }
            let before = t.spilled[tree]?.root
            try t.apply(batch, to: tree)
            if t.spilled[tree]?.root != before { merges += 1 }
          case 4:
            let key = Self.key(random.below(3000), &random)
            try t.put(tree, key, [])
            model.put(key, [])
          case 5:
            let key = Self.key(random.below(3000), &random)
            #expect(try t.delete(tree, key) == model.delete(key))
          case 6: saved = (t.savepoint(), model)
          default:
            if let saved {
              try t.rollBack(to: saved.point)
              model = saved.model
            }
          }
          try t.put(other, random.next(), random.bytes(50))
          #expect(try t.count(tree) == UInt64(model.entries.count))
          if random.oneIn(3) { try compare(t, tree, model) }
        }
        if random.oneIn(4) {
          t.rollBack()
        } else {
          try t.commit()
          committed = model
        }
        if random.oneIn(4) {
          try store.close()
          store = try Store.open(
            on: device, environment: TestEnvironment(seed: seed &+ 99), options: options(deltaBytes))
        }
        try compare(store.snapshot(), tree, committed)
      }
      let problems = try store.check().problems
      #expect(problems.isEmpty, "seed \(CrashTests.seed &+ seed): \(problems)")
      try store.close()
    }
    #expect(deltaBytes > 1 << 14 || merges > 0)
  }

  /// Keys that the caller knows to be new are not looked for, unless others of the batch are not so, or another batch
  /// comes with it.
  @Test(arguments: [1 << 14, 1 << 20])
  func keysKnownToBeNewAreCounted(_ deltaBytes: Int) throws {
    let store = try Store.create(
      on: MemoryDevice(), environment: TestEnvironment(seed: 3), options: options(deltaBytes))
    var t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    var model = ModelTree()
    for round in 0..<20 {
      let batches = [ChangeBatch(), ChangeBatch()]
      for n in 0..<50 {
        let key = Array("key \(round * 50 + n)".utf8)
        _ = batches[0].add(key, isPut: true, isNew: true)
        model.put(key, [])
        // Of a key that is there, or was put a moment ago.
        let other = Array("key \(round * 50 + n / 3)".utf8)
        if round % 4 == 1 { _ = batches[0].add(other, isPut: true) }
        if round % 4 == 2 { _ = batches[1].add(other, isPut: true, isNew: false) }
      }
      #expect(batches[0].isAllNew == (round % 4 != 1))
      try t.apply(round % 4 == 2 ? batches : [batches[0]], to: tree)
      #expect(try t.count(tree) == UInt64(model.entries.count))
      if round % 4 == 3 {
        // Gone, and new again.
        for key in model.entries.map(\.key).suffix(10) {
          #expect(try t.delete(tree, key))
          let again = ChangeBatch()
          _ = again.add(key, isPut: true, isNew: true)
          try t.apply(again, to: tree)
        }
        try t.commit()
        #expect(try store.check().problems.isEmpty)
        t = try store.beginWrite()
      }
      batches[0].removeAll()
      #expect(batches[0].isAllNew)
    }
    #expect(try t.count(tree) == 1000)
    t.rollBack()
    try store.close()
  }

  /// No page is read for keys that are known to be new, but for the others.
  @Test(arguments: [true, false]) func keysKnownToBeNewAreNotLookedFor(_ isNew: Bool) throws {
    let memory = MemoryDevice()
    var store = try Store.create(on: memory, environment: TestEnvironment(seed: 3))
    var t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    for n in 0..<20_000 { try t.put(tree, Array("key \(n)".utf8), []) }
    try t.commit()
    try store.close()
    let counting = CountingDevice(MemoryDevice(copying: memory.contents()))
    store = try Store.open(on: counting, environment: TestEnvironment(seed: 4))
    t = try store.beginWrite()
    counting.reset()
    let batch = ChangeBatch()
    for n in stride(from: 0, to: 20_000, by: 400) {
      _ = batch.add(Array("key \(n) and more".utf8), isPut: true, isNew: isNew)
    }
    try t.apply(batch, to: tree)
    #expect(isNew == (counting.counts.reads == 0), "\(counting.counts.reads)")
    try t.commit()
    #expect(try store.snapshot().count(tree) == 20_050)
    #expect(try store.check().problems.isEmpty)
    try store.close()
  }

  /// Batches merged into one hold what one batch would that had been given all of it in turn.
  @Test func mergedBatchesAreOne() throws {
    let seed = testSeed(2_112)
    var random = SplitMix64(seed: seed)
    print("merged batches: seed \(seed)")
    for round in 0..<60 {
      let whole = ChangeBatch()
      var parts: [ChangeBatch] = []
      for _ in 0..<random.below(5) {
        let part = ChangeBatch()
        for _ in 0..<[0, 1, 20, 700][random.below(4)] {
          var key: [UInt8] = (0..<random.below(4)).map { _ in UInt8(random.below(3)) }
          if random.oneIn(3) { key = [1, 2, 3, 4, 5, 6, 7, 8] + key }
          let (isPut, mark, flag) = (random.oneIn(2), UInt16(random.below(0x8000)), random.oneIn(2))
          for batch in [whole, part] { #expect(batch.add(key, isPut: isPut, mark: mark, flag: flag) != nil) }
        }
        parts.append(part)
      }
      let merged = ChangeBatch()
      #expect(merged.merge(parts))
      whole.sort()
      #expect(try content(merged) == content(whole), "seed \(seed), round \(round)")
      // Only an empty one takes others over, and what it has taken it sorts no more.
      let isMerged = merged.isEmpty
      #expect(merged.merge(parts) == isMerged)
      merged.sort()
      #expect(try content(merged) == content(whole))
      // It goes on as any other does.
      for batch in [whole, merged] {
        #expect(batch.add([1, 2, 3, 4, 5, 6, 7, 8, 9], isPut: true) != nil)
        batch.sort()
      }
      #expect(try content(merged) == content(whole))
    }
  }

  private struct Content: Equatable {
    var key: [UInt8]
    var isPut: Bool
    var mark: UInt16
    var flag: Bool
  }

  private func content(_ batch: ChangeBatch) throws -> [Content] {
    var found: [Content] = []
    try batch.forEach { (change, key) throws(StoreError) in
      found.append(Content(key: Array(key), isPut: change.isPut, mark: change.mark, flag: change.flag))
    }
    return found
  }

  /// The longest keys of the largest pages, of which many differ in their last byte only.
  @Test(arguments: [1 << 14, 64 << 20])
  func holdsTheLongestKeys(_ deltaBytes: Int) throws {
    var options = options(deltaBytes)
    options.pageSize = 65536
    options.cacheBytes = 1 << 20
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 1), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    let batch = ChangeBatch()
    var model = ModelTree()
    for n in 0..<40 {
      var key = [UInt8](repeating: 5, count: store.maxKeyLength)
      key[key.count - 1] = UInt8(n * 7 % 40)
      #expect(batch.add(key, isPut: true, mark: UInt16(key.count), flag: true) == key.count + 16)
      model.put(key, [])
    }
    batch.sort()
    try batch.forEach { change, key in
      #expect(change.isPut && change.flag && Int(change.mark) == store.maxKeyLength && key.count == store.maxKeyLength)
    }
    try t.apply(batch, to: tree)
    try compare(t, tree, model)
    try t.commit()
    try compare(store.snapshot(), tree, model)
    #expect(try store.check().problems.isEmpty)
    try store.close()
  }

  @Test func refusesWhatItCannotHold() throws {
    let store = try Store.create(
      on: MemoryDevice(), environment: TestEnvironment(seed: 1), options: options(1 << 14))
    let t = try store.beginWrite()
    let integer = try t.createTree(.integer)
    let names = try t.createTree(.bytes)
    let batch = ChangeBatch()
    for n in 0..<600 { _ = batch.add([UInt8(n & 0xFF), UInt8(n >> 8)], isPut: true) }
    #expect(throws: StoreError.wrongTreeKind(integer)) { try t.apply(batch, to: integer) }
    _ = batch.add([UInt8](repeating: 1, count: 5000), isPut: true)
    #expect(throws: StoreError.keyTooLong(length: 5000, limit: store.maxKeyLength)) { try t.apply(batch, to: names) }
    t.rollBack()
    try store.close()
  }

  private func compare(_ view: TreeView, _ tree: TreeID, _ model: ModelTree) throws {
    var keys: [[UInt8]] = []
    let cursor = try view.cursor(tree)
    var more = try cursor.seekFirst()
    while more {
      keys.append(Array(cursor.key))
      more = try cursor.next()
    }
    #expect(keys == model.entries.map(\.key))
    #expect(try view.count(tree) == UInt64(keys.count))
  }
}
