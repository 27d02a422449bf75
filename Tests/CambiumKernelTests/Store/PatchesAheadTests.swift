import CambiumTesting
import Dispatch
import Foundation
import Testing

@testable import CambiumKernel

/// Leaves that another thread makes while a merge goes on: whatever it has done by then, the outcome is the same.
@Suite struct PatchesAheadTests {
  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 512 << 10
    options.deltaBytes = 1 << 20
    options.logBytes = 64 << 10
    return options
  }

  private struct Model: Equatable {
    var rows: [UInt64: [UInt8]] = [:]
    var keys: Set<[UInt8]> = []
  }

  private static func key(_ n: UInt64) -> [UInt8] {
    Array("key \(n &* 0x9E37_79B9_7F4A_7C15 >> 40) \(n)\(String(repeating: "-", count: 40 + Int(n % 20)))".utf8)
  }

  /// Changes of two trees, as many as go to pages, some of them in a batch.
  private static func change(
    _ store: Store, _ rows: TreeID, _ index: TreeID, _ model: inout Model, _ random: inout SplitMix64, first: Bool
  ) throws {
    var fresh = model
    let t = try store.beginWrite()
    do {
      let batch = ChangeBatch()
      if first {
        for n in 0..<24_000 as Range<UInt64> {
          let value = random.bytes(40 + random.below(60))
          try t.put(rows, n * 3, value)
          fresh.rows[n * 3] = value
          _ = batch.add(key(n), isPut: true)
          fresh.keys.insert(key(n))
        }
      } else {
        // All over the tree, or in one part of it.
        let (low, width) = random.oneIn(3) ? (random.below(40_000), 20_000) : (0, 72_000)
        for _ in 0..<12_000 {
          let n = UInt64(low + random.below(width))
          if random.oneIn(4) {
            if try t.delete(rows, n) { fresh.rows[n] = nil }
          } else {
            let value = random.bytes(random.oneIn(200) ? 2000 : random.below(100))
            try t.put(rows, n, value)
            fresh.rows[n] = value
          }
        }
        for _ in 0..<WriteTransaction.leastMergedChanges + 1000 {
          let n = UInt64(random.below(30_000))
          let isPut = random.oneIn(2)
          _ = batch.add(key(n), isPut: isPut)
          if isPut { fresh.keys.insert(key(n)) } else { fresh.keys.remove(key(n)) }
        }
      }
      try t.apply(batch, to: index)
      try t.commit()
    } catch {
      t.rollBack()
      throw error
    }
    model = fresh
  }

  private static func content(_ store: Store, _ rows: TreeID, _ index: TreeID) throws -> Model {
    let view = try store.snapshot()
    var found = Model(rows: try ValueConversionTests.rows(view, rows))
    let cursor = try view.cursor(index)
    var more = try cursor.seekFirst()
    while more {
      found.keys.insert(Array(cursor.key))
      more = try cursor.next()
    }
    return found
  }

  private static func make(
    _ device: any StorageDevice, _ environment: TestEnvironment
  ) throws -> (store: Store, rows: TreeID, index: TreeID) {
    let store = try Store.create(on: device, environment: environment, options: options())
    let t = try store.beginWrite()
    let (rows, index) = (try t.createTree(.integer), try t.createTree(.bytes))
    try t.commit()
    return (store, rows, index)
  }

  @Test(arguments: [true, false]) func outcomesAreThoseOfOneThread(hasThreads: Bool) throws {
    var taken = 0
    for seed in 1...(isFullLength ? 8 : 2) as ClosedRange<UInt64> {
      var stores: [(store: Store, rows: TreeID, index: TreeID)] = []
      for processors in [2, 1] {
        let environment = TestEnvironment(seed: seed, processors: processors, hasThreads: hasThreads)
        stores.append(try Self.make(ConcurrentDevice(SimulatedDisk()), environment))
      }
      var models = [Model(), Model()]
      for step in 0..<5 {
        for (i, s) in stores.enumerated() {
          var random = SplitMix64(seed: CrashTests.seed &+ seed &* 16 &+ UInt64(step))
          try Self.change(s.store, s.rows, s.index, &models[i], &random, first: step == 0)
        }
        let text: Comment = "seed \(seed), step \(step)"
        #expect(models[0] == models[1], text)
        for s in stores {
          #expect(try Self.content(s.store, s.rows, s.index) == models[0], text)
          #expect(try s.store.check().problems.isEmpty, text)
        }
        for tree in [stores[0].rows, stores[0].index] {
          let states = stores.map { $0.store.current.trees[tree] }
          #expect(states[0]?.pages == states[1]?.pages && states[0]?.bytes == states[1]?.bytes, text)
          #expect(states[0]?.count == states[1]?.count && states[0]?.pages ?? 0 > 256, text)
        }
      }
      taken += stores[0].store.ahead?.takenCount ?? 0
      #expect(stores[1].store.ahead == nil)
      for s in stores { try s.store.close() }
    }
    // How many is up to the processors.
    #expect((taken > 0) == hasThreads)
  }

  /// Each read and write fails once, whichever thread asks for it: nothing is changed, nobody waits for ever, and the
  /// next transaction succeeds.
  @Test func errorsEndIt() throws {
    var told = 0
    for index in 0..<(isFullLength ? 80 : 20) {
      var random = SplitMix64(seed: CrashTests.seed)
      let faults = FaultDevice(SimulatedDisk())
      let (store, rows, keys) = try Self.make(
        ConcurrentDevice(faults), TestEnvironment(seed: 3, processors: 2))
      var model = Model()
      try Self.change(store, rows, keys, &model, &random, first: true)
      faults.reset()
      let isRead = index % 2 == 0
      faults.plan(.init(isRead ? .read : .write, at: index * (isRead ? 5 : 1), error: .deviceFull(bytes: 1)))
      do { try Self.change(store, rows, keys, &model, &random, first: false) } catch StoreError.deviceFull {
        told += 1
        faults.reset()
        #expect(try Self.content(store, rows, keys) == model, "\(index)")
        do { try store.checkpoint() } catch StoreError.poisoned {
          #expect(throws: StoreError.poisoned) { try store.close() }
          continue
        }
        try Self.change(store, rows, keys, &model, &random, first: false)
      }
      #expect(try Self.content(store, rows, keys) == model, "\(index)")
      #expect(try store.check().problems.isEmpty, "\(index)")
      try store.close()
    }
    #expect(told > 5)
  }

  /// A merge that is slow is waited for, one that ends while it is waited for is not, and nobody begins anything behind
  /// its shift.
  @Test func whoHelpsWaitsAndEnds() throws {
    var random = SplitMix64(seed: CrashTests.seed)
    let (store, rows, keys) = try Self.make(
      ConcurrentDevice(SimulatedDisk()), TestEnvironment(seed: 1, processors: 2))
    var model = Model()
    try Self.change(store, rows, keys, &model, &random, first: true)
    try store.checkpoint()
    guard let ahead = store.ahead, let source = store.current.trees[rows] else { throw StoreError.misuse("no helper") }
    let table = DeltaTable(largestChunk: Arena.usualLargest)
    let list = table.makeList(rows, .integer)
    for n in stride(from: 0, to: 72_000, by: 50) as StrideTo<UInt64> {
      [UInt8(1)].withUnsafeBytes { v in
        _ = table.add(list, sequence: n + 1, key: TreeKey(n), value: v, op: .put, effect: 0)
      }
    }
    var changes = ChangeStream([(list, 0, .max - 1)])
    changes.begin()
    // What one thread makes of the leaves.
    var expected: [(ref: PageRef, passed: Int, page: [UInt8]?)] = []
    let page = UnsafeMutableRawPointer.allocate(byteCount: store.pageSize + 16, alignment: 16)
    defer { page.deallocate() }
    let walk = LeafWalk(store.cache, pageSize: store.pageSize)
    let patch = LeafPatch(pageSize: store.pageSize, inlineLimit: store.pageSize / 4)
    var own = changes
    try walk.run(rows, source, &own, { false }) { (ref, changes, high) throws(StoreError) in
      let made = try walk.withPage(ref, rows, level: 0, .integer) {
        patch.make($0, .integer, changes, high: high, generation: 7, to: page)
      }
      expected.append((ref, changes.passed, made.map { [UInt8]($0.page) }))
      return true
    }
    #expect(expected.count > 300)
    let shift = ahead.makeShift()
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      ahead.help(shift)
      group.leave()
    }
    func begin() -> PatchesAhead.Taker {
      while true {
        if let taker = ahead.begin(rows, source, changes, generation: 7) { return taker }
        sched_yield()
      }
    }
    var round = 0
    var tries = 0
    while round < 6, tries < 200 {
      let taker = begin()
      var taken = 0
      // In half of the rounds it ends early, when the ring is full.
      for (i, leaf) in expected.enumerated() where round % 2 == 0 || i < 40 {
        if i % 100 == 30 { usleep(3000) }
        guard let made = taker.take(leaf.ref, passed: leaf.passed) else { continue }
        taken += 1
        #expect(leaf.page.map { $0 == [UInt8](made.page) } ?? made.page.isEmpty, "leaf \(i)")
      }
      if round % 2 == 1 { usleep(3000) }
      taker.end()
      #expect(taker.take(expected[0].ref, passed: 0) == nil)
      // A processor that is busy with others may not come to it in time: once more.
      if taken > 0 { round += 1 }
      tries += 1
    }
    #expect(round == 6)
    // Another leaf, or one to which other changes lead, ends it.
    for isOther in [true, false] {
      let taker = begin()
      var place = 0
      while !taker.isEnded, place < expected.count - 1 {
        let other = expected[isOther ? place + 1 : place]
        #expect(taker.take(other.ref, passed: expected[place].passed + (isOther ? 0 : 1)) == nil)
        usleep(500)
        place += 1
      }
      #expect(taker.isEnded)
      #expect(taker.take(expected[place].ref, passed: expected[place].passed) == nil)
    }
    ahead.end(shift)
    group.wait()
    #expect(ahead.begin(rows, source, changes, generation: 7) == nil)
    try store.close()
  }

  /// The ring by itself: whoever is slow, each leaf that is taken is the one asked for, and whole.
  @Test func leavesGoThroughTheRing() {
    let pageSize = 64
    var taken = 0
    for round in 0..<(isFullLength ? 40 : 8) {
      let leaves = MadeLeaves(pageSize: pageSize)
      let last = 20_000
      let group = DispatchGroup()
      group.enter()
      let begun = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        var random = SplitMix64(seed: UInt64(round))
        begun.signal()
        for n in 0..<last {
          while leaves.isFull { sched_yield() }
          if !leaves.isAhead(n) { continue }
          if round % 4 == 1, random.oneIn(500) { usleep(50) }
          leaves.room.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: n), count: pageSize)
          let page = UnsafeMutableRawBufferPointer(start: leaves.room, count: pageSize)
          let patch = PatchedLeaf(page: page, count: n, growth: 1, changeCount: 2)
          let ref = PageRef(address: UInt64(n) * 16, length: pageSize, checksum: UInt64(n))
          leaves.add(n, ref, passed: n * 2, random.oneIn(5) ? nil : patch)
        }
        group.leave()
      }
      var random = SplitMix64(seed: UInt64(round) &+ 1000)
      var whole = true
      begun.wait()
      for n in 0..<last {
        if round % 4 == 2, random.oneIn(500) { usleep(50) }
        if random.oneIn(20) { sched_yield() }
        guard let leaf = leaves.take() else { continue }
        taken += 1
        whole = whole && leaf.number == n && leaf.passed == n * 2 && leaf.ref.checksum == UInt64(n)
        if let patch = leaf.patch {
          whole = whole && patch.count == n && patch.page.allSatisfy { $0 == UInt8(truncatingIfNeeded: n) }
        }
      }
      // Who makes them may wait for room behind the last one that was asked for.
      while group.wait(timeout: .now()) == .timedOut { _ = leaves.take() }
      #expect(whole, "round \(round)")
    }
    #expect(taken > 0)
  }
}
