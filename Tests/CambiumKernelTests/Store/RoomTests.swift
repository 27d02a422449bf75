import CambiumTesting
import Testing

@testable import CambiumKernel

/// The file stays below twice what is live, the log and a constant, whatever is done, with nobody calling anything.
@Suite struct RoomTests {
  private static let rows = 6000
  private static let valueBytes = 900

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.deltaBytes = 512 << 10
    options.logBytes = 128 << 10
    options.cacheBytes = 4 << 20
    return options
  }

  /// A key whose order is not that of the numbers.
  private static func key(_ n: Int) -> [UInt8] {
    withUnsafeBytes(of: (UInt64(n) &* 0x9E37_79B9_7F4A_7C15).bigEndian) { Array($0) }
  }

  private static func value(_ n: Int) -> [UInt8] { [UInt8](repeating: UInt8(truncatingIfNeeded: n), count: valueBytes) }

  private static func store() throws -> (store: Store, device: CountingDevice, tree: TreeID) {
    let device = CountingDevice(MemoryDevice())
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 3), options: options())
    let t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    try t.commit()
    return (store, device, tree)
  }

  private static func put(_ rows: Range<Int>, _ store: Store, _ tree: TreeID) throws {
    let t = try store.beginWrite()
    for n in rows { try t.put(tree, key(n), value(n)) }
    try t.commit()
  }

  /// Twice what is live, as much log as there may be, and a constant.
  private static func bound(_ live: UInt64) -> UInt64 {
    live * 2 + 2 * UInt64(options().logBytes) + (2 << 20)
  }

  /// - Parameters:
  ///   - before: what was live before, of which nothing can be written over until the transaction is durable.
  ///   - own: what else the transaction had in pages of its own.
  private static func expectBound(
    _ store: Store, _ device: CountingDevice, before: UInt64? = nil, own: UInt64 = 0,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let live = try store.statistics().liveBytes
    let size = try device.size()
    #expect(size <= bound(live), "a file of \(size) for \(live) that are live", sourceLocation: location)
    guard let before else { return }
    #expect(
      device.longest <= bound(max(live, before) + own), "\(device.longest) for \(before), then \(live)",
      sourceLocation: location)
    device.reset()
  }

  @Test func loadsInRandomOrder() throws {
    let (store, device, tree) = try Self.store()
    try Self.put(0..<Self.rows, store, tree)
    try Self.expectBound(store, device, before: 0)
    #expect(try store.check().problems.isEmpty)
  }

  /// The deletions outgrow the memory for changes several times, and what is left lies behind the room that becomes
  /// free.
  @Test func removalOfMost() throws {
    let (store, device, tree) = try Self.store()
    try Self.put(0..<Self.rows, store, tree)
    device.reset()
    let before = try store.statistics().liveBytes
    let t = try store.beginWrite()
    for n in 0..<Self.rows where n % 8 != 0 {
      #expect(try t.delete(tree, Self.key(n)))
      if n % 500 == 0 { #expect(try !t.delete(tree, Self.key(n / 2 | 1))) }
    }
    try t.commit()
    try Self.expectBound(store, device, before: before)
    let view = try store.snapshot()
    #expect(try view.count(tree) == UInt64(Self.rows / 8))
    for n in 0..<Self.rows { #expect(try (view.value(tree, Self.key(n)) != nil) == (n % 8 == 0)) }
    #expect(try store.check().problems.isEmpty)
  }

  @Test func everythingOverwrittenInOneTransaction() throws {
    let (store, device, tree) = try Self.store()
    try Self.put(0..<Self.rows, store, tree)
    for round in 1...3 {
      device.reset()
      let before = try store.statistics().liveBytes
      let t = try store.beginWrite()
      // Each value several times, and looked at in between, so that it is written anew each time.
      for again in 0..<3 {
        for n in 0..<Self.rows { try t.put(tree, Self.key(n), Self.value(n + round + again)) }
        #expect(try t.count(tree) == UInt64(Self.rows))
      }
      try t.commit()
      try Self.expectBound(store, device, before: before, own: before)
    }
    for n in 0..<Self.rows { #expect(try store.snapshot().value(tree, Self.key(n)) == Self.value(n + 5)) }
    #expect(try store.check().problems.isEmpty)
  }

  @Test func smallCommitsAtRandom() throws {
    let (store, device, tree) = try Self.store()
    try Self.put(0..<Self.rows / 2, store, tree)
    device.reset()
    var random = SplitMix64(seed: 9)
    for _ in 0..<150 {
      let t = try store.beginWrite()
      for _ in 0..<20 { try t.put(tree, Self.key(random.below(Self.rows / 2)), random.bytes(Self.valueBytes)) }
      try t.commit()
    }
    try Self.expectBound(store, device, before: store.statistics().liveBytes)
    #expect(try store.check().problems.isEmpty)
  }

  /// What a view held is given back by a few small commits once it is gone, or by closing.
  @Test(arguments: [false, true]) func afterAView(isClosed: Bool) throws {
    let (store, device, tree) = try Self.store()
    try Self.put(0..<Self.rows, store, tree)
    var view: Snapshot? = try store.snapshot()
    let t = try store.beginWrite()
    for n in 0..<Self.rows where n % 8 != 0 { _ = try t.delete(tree, Self.key(n)) }
    try t.commit()
    #expect(try view?.count(tree) == UInt64(Self.rows))
    #expect(try device.size() > Self.bound(store.statistics().liveBytes))
    view = nil
    let live = try store.statistics().liveBytes
    if isClosed {
      try store.close()
      #expect(try device.size() <= Self.bound(live))
      return
    }
    for n in 0..<300 { try Self.put(n * 8..<n * 8 + 1, store, tree) }
    try Self.expectBound(store, device)
    #expect(try store.check().problems.isEmpty)
  }

  /// Room that a transaction uses again is not that of pages which a cursor reads, or a savepoint leads back to.
  @Test func whatMayStillBeReadStays() throws {
    for seed in 0..<UInt64(isFullLength ? 40 : 8) {
      var random = SplitMix64(seed: testSeed(20_261_124) &+ seed)
      let (store, device, tree) = try Self.store()
      var model: [Int: Int] = [:]
      let t = try store.beginWrite()
      var cursors: [(cursor: Cursor, model: [Int: Int])] = []
      var points: [(point: Savepoint, model: [Int: Int])] = []
      for round in 0..<10 {
        for _ in 0..<400 {
          let n = random.below(1500)
          if random.oneIn(4) {
            #expect(try t.delete(tree, Self.key(n)) == (model.removeValue(forKey: n) != nil))
          } else {
            model[n] = n + round
            try t.put(tree, Self.key(n), Self.value(n + round))
          }
        }
        switch random.below(4) {
        case 0: cursors.append((try t.cursor(tree), model))
        case 1: points.append((t.savepoint(), model))
        case 2:
          if let last = points.popLast() {
            try t.rollBack(to: last.point)
            model = last.model
            // They saw changes that are undone.
            cursors = []
          }
        default:
          if !cursors.isEmpty { cursors.removeFirst() }
          if !points.isEmpty { points.removeFirst() }
          #expect(try t.count(tree) == UInt64(model.count))
        }
        for (cursor, model) in cursors { #expect(try Self.content(cursor) == Self.content(model), "seed \(seed)") }
      }
      cursors = []
      try t.commit()
      #expect(try Self.content(store.snapshot().cursor(tree)) == Self.content(model), "seed \(seed)")
      #expect(try store.check().problems.isEmpty)
      _ = device
    }
  }

  /// What crashes in it are tried on does what it is there for.
  @Test func theCrashScenarioComesToAllOfThis() throws {
    let w = CrashWorkload(options: CrashScenario.room.options(.full), seed: 20_261_124)
    var (moved, reused): (UInt64, Int) = (0, 0)
    w.onDurable = { store in
      moved = max(moved, store.counters.relocatedBytes)
      reused = max(reused, store.pageWriter.givenUp)
    }
    try CrashScenario.room.run(w)
    print("room: \(moved) bytes moved, \(reused) segments used again")
    #expect(moved > 0 && reused > 0)
    #expect(w.problems.isEmpty)
  }

  private static func content(_ model: [Int: Int]) -> [[UInt8]: UInt8] {
    var content: [[UInt8]: UInt8] = [:]
    for (n, v) in model { content[key(n)] = UInt8(truncatingIfNeeded: v) }
    return content
  }

  private static func content(_ cursor: Cursor) throws -> [[UInt8]: UInt8] {
    var content: [[UInt8]: UInt8] = [:]
    var more = try cursor.seekFirst()
    while more {
      content[Array(cursor.key)] = try cursor.value()?.first ?? 0
      more = try cursor.next()
    }
    return content
  }
}
