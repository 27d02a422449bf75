import CambiumTesting
import Dispatch
import Foundation
import Testing

@testable import CambiumKernel

/// Pages that another thread writes: they are on the device when what relies on them is, and failures reach who made
/// them.
@Suite struct WriteBehindTests {
  /// Delays writes a little, now and then: as if a thread waited for the processor.
  private static func dawdle(_ seed: UInt64) -> @Sendable () -> Void {
    let random = Locked(SplitMix64(seed: seed))
    return { if random.withLock({ $0.oneIn(2) }) { usleep(1000) } }
  }

  private static func environment(
    _ seed: UInt64, hasThreads: Bool = true, waitsForThreads: Bool = false
  ) -> TestEnvironment {
    TestEnvironment(seed: seed, processors: 2, hasThreads: hasThreads, waitsForThreads: waitsForThreads)
  }

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.cacheBytes = 256 << 10
    options.deltaBytes = 200 << 10
    options.logBytes = 64 << 10
    return options
  }

  private static func rows(_ store: Store, _ tree: TreeID) throws -> [UInt64: [UInt8]] {
    try ValueConversionTests.rows(try store.snapshot(), tree)
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
    var writesElsewhere = 0
    for seed in 1...(isFullLength ? 12 : 2) as ClosedRange<UInt64> {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      let disk = SimulatedDisk()
      let device = ConcurrentDevice(disk, delay: Self.dawdle(seed))
      let store = try Store.create(
        on: device,
        environment: Self.environment(seed, hasThreads: hasThreads, waitsForThreads: seed % 2 == 0),
        options: Self.options())
      let t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      try t.commit()
      var model: [UInt64: [UInt8]] = [:]
      for step in 0..<4 {
        let (before, start) = (model, disk.operationCount)
        if step % 2 == 0 {
          try Self.grow(store, tree, &model, &random)
        } else {
          try Self.convert(store, tree, &model)
        }
        // Somewhere in between, around each of the last syncs, and at the end.
        let end = disk.operationCount
        var points = [end, (start + end) / 2]
        points += stride(from: end - 1, through: max(start, end - 8), by: isFullLength ? -1 : -2)
        for point in points {
          var images = disk.crashImages(at: point, limit: isFullLength ? 4 : 3, seed: random.next()).makeIterator()
          while let image = images.next() {
            let found = try Store.open(
              on: SimulatedDisk(image: image), environment: TestEnvironment(seed: seed), options: Self.options())
            let rows = try Self.rows(found, tree)
            let text: Comment = "seed \(seed), step \(step), point \(point) of \(end)"
            #expect(rows == model || (point < end && rows == before), text)
            #expect(try found.check().problems.isEmpty, text)
          }
        }
      }
      writesElsewhere += device.counts.writesElsewhere
      #expect(device.counts.begunSyncs > 10)
      try store.close()
    }
    // How many is up to the processors; the environment sees to it that some are.
    #expect((writesElsewhere > 0) == hasThreads)
  }

  /// Each write fails once, whichever thread makes it: who made the page is told, nothing is changed, and the next one
  /// succeeds. If it was that of a superblock, nothing more is done until the store was opened again.
  @Test func aWriteThatFailsIsTold() throws {
    var (told, poisoned) = (0, 0)
    for index in 0..<(isFullLength ? 60 : 16) {
      var random = SplitMix64(seed: CrashTests.seed)
      let disk = SimulatedDisk()
      let faults = FaultDevice(disk)
      let device = ConcurrentDevice(faults)
      var store = try Store.create(on: device, environment: Self.environment(3), options: Self.options())
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
      } catch {
        switch error as? StoreError {
        case .deviceFull, .poisoned: told += 1
        default: throw error
        }
        faults.reset()
        // A conversion whose pages are durable is seen before its superblock is: both forms mean the same.
        let converted = model.mapValues { $0.map { $0 &+ 1 } }
        var rows = try Self.rows(store, tree)
        #expect(rows == model || (index % 2 == 1 && rows == converted), "write \(index)")
        do { try store.checkpoint() } catch StoreError.poisoned {
          poisoned += 1
          #expect(throws: StoreError.poisoned) { try store.close() }
          store = try Store.open(on: disk, environment: Self.environment(4), options: Self.options())
          rows = try Self.rows(store, tree)
          #expect(rows == model || (index % 2 == 1 && rows == converted), "write \(index), opened")
        }
        model = rows
        try Self.convert(store, tree, &model)
        try Self.grow(store, tree, &model, &random)
      }
      // How many writes the operation makes depends on the threads. A fault that it did not meet is not for `close`.
      faults.reset()
      #expect(try Self.rows(store, tree) == model, "write \(index)")
      #expect(try store.check().problems.isEmpty)
      try store.close()
    }
    #expect(told > 8)
    #expect(poisoned > 0 || !isFullLength)
  }

  /// What is on its way when a store is closed does not come behind that, and the content is that of before.
  @Test func closingEndsAConversion() throws {
    var ended = 0
    for seed in 1...(isFullLength ? 30 : 8) as ClosedRange<UInt64> {
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
      #expect(device.counts.callsAfterClose == 0)
      let found = try Store.open(on: disk, environment: TestEnvironment(seed: seed), options: Self.options())
      let rows = try Self.rows(found, tree)
      #expect(rows.count == model.count)
      // Values are in either form: what was converted before the store was closed was published with it.
      for (key, value) in rows { #expect(value == model[key] || value.map { $0 &- 1 } == model[key]) }
      #expect(try found.check().problems.isEmpty)
    }
    #expect(ended > 0)
  }

  /// Calls `body` until it need not wait for a lock: those of ``SharedDisk`` do not.
  private static func again<Value>(_ body: () throws -> Value) throws -> Value {
    while true {
      do { return try body() } catch StoreError.device(operation: .lock, offset: _, code: _) { usleep(100) }
    }
  }

  /// A process that comes while another one converts may use the room that the other's pages were to go to: none of
  /// them comes there once it has the turn.
  @Test func nothingComesBehindTheTurn() throws {
    for seed in 1...(isFullLength ? 20 : 3) as ClosedRange<UInt64> {
      var random = SplitMix64(seed: CrashTests.seed &+ seed)
      let shared = SharedDisk()
      try Store.create(on: shared.disk, environment: TestEnvironment(seed: seed), options: Self.options()).close()
      let device = ConcurrentDevice(shared.open(), delay: Self.dawdle(seed))
      let store = try Store.open(on: device, environment: Self.environment(seed), options: Self.options())
      let t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      let other = try t.createTree(.integer)
      try t.commit()
      var model: [UInt64: [UInt8]] = [:]
      try Self.grow(store, tree, &model, &random)
      let before = model
      let group = DispatchGroup()
      group.enter()
      Thread.detachNewThread {
        defer { group.leave() }
        var converted = before
        // One that nothing came of is no fault: the other process was faster.
        try? Self.convert(store, tree, &converted)
      }
      usleep(UInt32(random.below(8000)))
      let comer = try Self.again {
        try Store.open(on: shared.open(), environment: TestEnvironment(seed: 99), options: Self.options())
      }
      var others: [UInt64: [UInt8]] = [:]
      try Self.again { try Self.grow(comer, other, &others, &random) }
      try Self.again { try comer.checkpoint() }
      group.wait()
      for found in [store, comer] {
        #expect(try Self.rows(found, other) == others, "seed \(seed)")
        let rows = try Self.rows(found, tree)
        #expect(rows.count == model.count, "seed \(seed)")
        for (key, value) in rows { #expect(value == model[key] || value.map { $0 &- 1 } == model[key]) }
        #expect(try found.check().problems.isEmpty, "seed \(seed)")
        try found.close()
      }
    }
  }

  /// The same where the other process comes at the worst moment: what was handed over is on the device when the turn is
  /// given up.
  @Test func theTurnIsGivenUpBehindWhatWasHandedOver() throws {
    let shared = SharedDisk()
    try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1), options: Self.options()).close()
    let device = ConcurrentDevice(shared.open()) { usleep(20_000) }
    let store = try Store.open(on: device, environment: Self.environment(1), options: Self.options())
    let behind = try #require(store.pageWriter.behind)
    let shift = WriteBehind.Shift()
    let group = DispatchGroup()
    group.enter()
    Thread.detachNewThread {
      behind.help(shift)
      group.leave()
    }
    for isSuspended in [false, true] {
      try store.takeTurn()
      let place = try device.size()
      let piece = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 64)
      piece.initializeMemory(as: UInt8.self, repeating: 7, count: 4096)
      var other: UnsafeMutableRawPointer?
      // The thread may not have begun.
      while other == nil { other = try behind.take(piece, 4096, at: place) }
      other?.deallocate()
      store.endTurn(comesBack: isSuspended)
      if isSuspended { try store.suspend() }
      #expect(shared.disk.contents.suffix(4096) == [UInt8](repeating: 7, count: 4096)[...])
      #expect(shared.disk.contents.count == Int(place) + 4096)
    }
    behind.end(shift)
    group.wait()
    try store.resume()
    try store.close()
  }
}
