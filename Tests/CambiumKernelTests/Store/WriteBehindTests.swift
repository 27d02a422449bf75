import CambiumTesting
import Dispatch
import Foundation
import Testing

@testable import CambiumKernel

/// Pages that another thread writes: they are on the device when what relies on them is, and failures reach who made them.
@Suite struct WriteBehindTests {
  /// Delays writes a little, now and then: as if a thread waited for the processor.
  private static func dawdle(_ seed: UInt64) -> @Sendable () -> Void {
    let random = Locked(SplitMix64(seed: seed))
    return { if random.withLock({ $0.oneIn(3) }) { usleep(200) } }
  }

  private static func environment(_ seed: UInt64, hasThreads: Bool = true) -> TestEnvironment {
    TestEnvironment(seed: seed, processors: 2, hasThreads: hasThreads)
  }

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 256 << 10
    options.deltaBytes = 200 << 10
    options.logBytes = 64 << 10
    return options
  }

  private static func rows(_ store: Store, _ tree: TreeID) throws -> [UInt64: [UInt8]] {
    var rows: [UInt64: [UInt8]] = [:]
    let cursor = try store.snapshot().cursor(tree)
    var more = try cursor.seekFirst()
    while more {
      rows[cursor.integerKey] = try cursor.value()
      more = try cursor.next()
    }
    return rows
  }

  /// A transaction that goes to pages: puts in any order, and a batch of rows behind them.
  private static func grow(
    _ store: Store, _ tree: TreeID, _ model: inout [UInt64: [UInt8]], _ random: inout SplitMix64
  ) throws {
    var fresh = model
    let t = try store.beginWrite()
    do {
      for _ in 0..<2500 {
        let key = UInt64(random.below(5000))
        let value = random.bytes(60 + random.below(100))
        try t.put(tree, key, value)
        fresh[key] = value
      }
      let batch = RowBatch()
      for key in 10_000..<(10_000 + 12_000) as Range<UInt64> {
        let value = random.bytes(100)
        try value.withUnsafeBytesTyped { (bytes) throws(StoreError) in try batch.add(key, bytes) }
        fresh[key] = value
      }
      try t.apply(batch, to: tree)
      try t.commit()
    } catch {
      t.rollBack()
      throw error
    }
    model = fresh
  }

  private static func convert(_ store: Store, _ tree: TreeID, _ model: inout [UInt64: [UInt8]]) throws {
    // Each byte of a value one more: what is converted twice or not at all shows.
    let conversion = ValueConversion(tree, from: 0, maximum: .max) { (_, bytes, value) throws(StoreError) in
      let other = bytes.map { $0 &+ 1 }
      other.withUnsafeBytes { value.set($0) }
      return true
    }
    guard try store.convert({ _ in conversion }) != nil else { throw StoreError.misuse("nothing was converted") }
    #expect(conversion.next == nil && conversion.left.isEmpty)
    model = model.mapValues { $0.map { $0 &+ 1 } }
  }

  @Test(arguments: [true, false]) func whatIsDurableIsThereAfterAPowerCut(hasThreads: Bool) throws {
    for seed in 1...(CrashTests.isOptimized ? 12 : 3) as ClosedRange<UInt64> {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      let disk = SimulatedDisk()
      let device = ConcurrentDevice(disk, delay: Self.dawdle(seed))
      let store = try Store.create(
        on: device, environment: Self.environment(seed, hasThreads: hasThreads), options: Self.options())
      let t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      try t.commit()
      var model: [UInt64: [UInt8]] = [:]
      for step in 0..<4 {
        if step % 2 == 0 {
          try Self.grow(store, tree, &model, &random)
        } else {
          try Self.convert(store, tree, &model)
        }
        var images = disk.crashImages(at: disk.operationCount, limit: 4, seed: seed).makeIterator()
        while let image = images.next() {
          let found = try Store.open(
            on: SimulatedDisk(image: image), environment: TestEnvironment(seed: seed), options: Self.options())
          #expect(try Self.rows(found, tree) == model, "seed \(seed), step \(step)")
          #expect(try found.check().problems.isEmpty)
        }
      }
      #expect((device.counts.writesElsewhere > 10) == hasThreads, "\(device.counts)")
      #expect(device.counts.begunSyncs > 10)
      try store.close()
    }
  }

  /// Each write fails once, whichever thread makes it: who made the page is told, nothing is changed, and the next one succeeds.
  @Test func aWriteThatFailsIsTold() throws {
    var told = 0
    for index in 0..<(CrashTests.isOptimized ? 60 : 24) {
      var random = SplitMix64(seed: CrashTests.seed)
      let faults = FaultDevice(SimulatedDisk())
      let device = ConcurrentDevice(faults)
      let store = try Store.create(on: device, environment: Self.environment(3), options: Self.options())
      let t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      try t.commit()
      var model: [UInt64: [UInt8]] = [:]
      try Self.grow(store, tree, &model, &random)
      faults.reset()
      faults.plan(.init(.write, at: index, error: .deviceFull(bytes: 1)))
      do {
        if index % 2 == 0 {
          try Self.grow(store, tree, &model, &random)
        } else {
          try Self.convert(store, tree, &model)
        }
      } catch let error as StoreError {
        guard case .deviceFull = error else { throw error }
        told += 1
        faults.reset()
        #expect(try Self.rows(store, tree) == model, "write \(index)")
        try Self.convert(store, tree, &model)
        try Self.grow(store, tree, &model, &random)
      }
      #expect(try Self.rows(store, tree) == model, "write \(index)")
      #expect(try store.check().problems.isEmpty)
      try store.close()
    }
    #expect(told > 10)
  }

  /// What is on its way when a store is closed does not come behind that, and the content is that of before.
  @Test func closingEndsAConversion() throws {
    var ended = 0
    for seed in 1...(CrashTests.isOptimized ? 30 : 8) as ClosedRange<UInt64> {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      let disk = SimulatedDisk()
      let device = ConcurrentDevice(disk, delay: Self.dawdle(seed))
      let store = try Store.create(on: device, environment: Self.environment(seed), options: Self.options())
      let t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      try t.commit()
      var model: [UInt64: [UInt8]] = [:]
      try Self.grow(store, tree, &model, &random)
      let group = DispatchGroup()
      group.enter()
      let isEnded = Locked(false)
      let before = model
      Thread.detachNewThread {
        defer { group.leave() }
        var converted = before
        do { try Self.convert(store, tree, &converted) } catch { isEnded.withLock { $0 = true } }
      }
      usleep(UInt32(random.below(6000)))
      try store.close()
      group.wait()
      if isEnded.withLock({ $0 }) { ended += 1 }
      #expect(device.counts.writesAfterClose == 0)
      let found = try Store.open(on: disk, environment: TestEnvironment(seed: seed), options: Self.options())
      let rows = try Self.rows(found, tree)
      #expect(rows.count == model.count)
      // Values are in either form: what was converted before the store was closed was published with it.
      for (key, value) in rows { #expect(value == model[key] || value.map { $0 &- 1 } == model[key]) }
      #expect(try found.check().problems.isEmpty)
    }
    #expect(ended > 0)
  }
}
