import CambiumTesting
import Testing

@testable import CambiumKernel

/// A view keeps everything that it sees, and no more than that, while the store beside it is written, moved and
/// published.
@Suite struct HeldViewTests {
  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.logBytes = 128 << 10
    options.deltaBytes = 512 << 10
    options.cacheBytes = 256 << 10
    options.logValueLimit = 1000
    return options
  }

  private static func makeTree(on device: any StorageDevice, _ options: StoreOptions) throws -> TreeID {
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 5), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    try store.close()
    return tree
  }

  private static func put(_ store: Store, _ tree: TreeID, _ key: UInt64, _ value: [UInt8]) throws {
    let t = try store.beginWrite()
    try t.put(tree, key, value)
    try t.commit()
  }

  private static func delete(_ store: Store, _ tree: TreeID, _ key: UInt64) throws {
    let t = try store.beginWrite()
    #expect(try t.delete(tree, key))
    try t.commit()
  }

  /// Fills room that has become free with other bytes.
  private static func overwrite(_ store: Store, _ tree: TreeID) throws {
    for round in 0..<UInt64(6) {
      let t = try store.beginWrite()
      for n in 0..<UInt64(8) { try t.put(tree, 1000 + n, [UInt8](repeating: UInt8(round), count: 9000)) }
      try t.commit()
      try store.checkpoint()
    }
  }

  private static func moveLog(_ store: Store) throws {
    try store.takeTurn()
    defer { store.endTurn() }
    try store.requireSession()
    try store.publishEverything()
    // A log that moves down finds no room in a file without holes.
    let end = store.space.table.usedUnits + 64
    try store.space.extend(to: end)
    #expect(try store.moveLog(into: SegmentTable.firstUnit..<end))
  }

  // MARK: Large values

  /// What has happened between the newest checkpoint and the commit of a large value.
  enum Before: CaseIterable, Sendable {
    case nothing
    case logMoves
    case sessions
    /// And the store takes the large value over from the log.
    case replay
  }

  @Test(arguments: Before.allCases)
  func aViewKeepsTheLargeValueThatItSeesThroughTheDelta(_ before: Before) throws {
    let device = MemoryDevice()
    let tree = try Self.makeTree(on: device, Self.options())
    func open() throws -> Store {
      try Store.open(on: device, environment: TestEnvironment(seed: 6), options: Self.options())
    }
    var store = try open()
    switch before {
    case .nothing, .replay: break
    case .logMoves: for _ in 0..<3 { try Self.moveLog(store) }
    case .sessions: for _ in 0..<3 { store = try open() }
    }
    let value = [UInt8](repeating: 7, count: 9000)
    try Self.put(store, tree, 1, value)
    if before == .replay { store = try open() }
    let view = try store.snapshot()
    try Self.delete(store, tree, 1)
    try Self.overwrite(store, tree)
    #expect(try view.value(tree, 1) == value)
    #expect(try store.check().problems.isEmpty)
  }

  /// Both the process that has committed the value and the one that has read the commit in the log have a view of it.
  @Test(arguments: [false, true], [false, true])
  func twoProcessesKeepTheLargeValue(deletesInTheOther: Bool, startsSessions: Bool) throws {
    let shared = SharedDisk()
    let tree = try Self.makeTree(on: shared.disk, Self.options())
    func open(_ seed: UInt64) throws -> (handle: SharedHandle, store: Store) {
      let handle = shared.open()
      return (
        handle, try Store.open(on: handle, environment: TestEnvironment(seed: seed), options: Self.options())
      )
    }
    let (a, b) = (try open(1), try open(2))
    if startsSessions {
      for n in 0..<UInt64(3) { try open(10 + n).handle.kill() }
    }
    let value = [UInt8](repeating: 7, count: 9000)
    try Self.put(a.store, tree, 1, value)
    let views = [try a.store.snapshot(), try b.store.snapshot()]
    let writer = deletesInTheOther ? b.store : a.store
    try Self.delete(writer, tree, 1)
    try Self.overwrite(writer, tree)
    for view in views { #expect(try view.value(tree, 1) == value) }
  }

  // MARK: Whatever happens

  /// Stores on one device, each a process of its own if there are several, and what must be read in their views.
  private final class Churn {
    struct View {
      var owner: Int
      var snapshot: Snapshot
      var content: [UInt64: [UInt8]]
    }

    let shared: SharedDisk?
    let device: any StorageDevice
    var stores: [Store] = []
    var handles: [SharedHandle] = []
    let tree: TreeID
    var random: SplitMix64
    var content: [UInt64: [UInt8]] = [:]
    var kept: [(commit: RetainedCommit, content: [UInt64: [UInt8]])] = []
    var views: [View] = []
    var reads = 0

    init(_ seed: UInt64, processes: Int) throws {
      random = SplitMix64(seed: seed)
      let shared = processes > 1 ? SharedDisk() : nil
      self.shared = shared
      device = shared?.disk ?? MemoryDevice()
      tree = try makeTree(on: device, HeldViewTests.options())
      for n in 0..<processes {
        let (store, handle) = try open()
        stores.append(store)
        if let handle { handles.append(handle) }
        #expect(stores.count == n + 1)
      }
    }

    func open() throws -> (Store, SharedHandle?) {
      let handle = shared?.open()
      let environment = TestEnvironment(seed: random.next())
      return (
        try Store.open(on: handle ?? device, environment: environment, options: HeldViewTests.options()), handle
      )
    }

    /// Begins a session: another process, or this one once more, opens the store.
    func reopen(_ i: Int) throws {
      views.removeAll { $0.owner == i }
      if shared != nil {
        handles[i].kill()
      } else if random.oneIn(2) {
        try stores[i].close()
      }
      let (store, handle) = try open()
      stores[i] = store
      if let handle { handles[i] = handle }
    }

    func change(_ t: WriteTransaction, _ content: inout [UInt64: [UInt8]]) throws {
      for _ in 0..<(1 + random.below(4)) {
        let key = UInt64(random.below(40))
        if random.oneIn(4) {
          try t.delete(tree, key)
          content[key] = nil
        } else {
          let value = random.bytes(random.oneIn(2) ? 1001 + random.below(30_000) : random.below(400))
          try t.put(tree, key, value)
          content[key] = value
        }
      }
    }

    func restore(_ store: Store) throws {
      guard let n = kept.indices.randomElement(using: &random) else { return }
      let keeps = random.oneIn(2)
      let t = try store.beginWrite(restoring: kept[n].commit.id, keepsRetained: keeps)
      var next = kept[n].content
      if random.oneIn(2) { try change(t, &next) }
      try t.commit()
      content = next
      if !keeps { kept.remove(at: n) }
    }

    func step() throws {
      let i = random.below(stores.count)
      let store = stores[i]
      switch random.below(16) {
      case 0..<6:
        let t = try store.beginWrite()
        var next = content
        try change(t, &next)
        try t.commit()
        content = next
      case 6: try store.checkpoint()
      case 7: _ = try store.compactStep(bytes: 1 << (14 + random.below(7)))
      case 8: try moveLog(store)
      case 9: try reopen(i)
      case 10, 11: views.append(View(owner: i, snapshot: try store.snapshot(), content: content))
      case 12: if views.count > 6 { views.remove(at: random.below(views.count)) }
      case 13:
        if kept.count < 3 { kept.append((try store.retain(reason: "r"), content)) }
      case 14:
        if random.oneIn(2), let last = kept.popLast() {
          try store.release(retained: last.commit.id)
        } else {
          try restore(store)
        }
      default: try verify()
      }
    }

    func verify() throws {
      for view in views {
        #expect(try view.snapshot.count(tree) == UInt64(view.content.count))
        for (key, value) in view.content {
          reads += 1
          #expect(try view.snapshot.value(tree, key) == value)
        }
      }
    }
  }

  @Test(arguments: [1, 2])
  func eachViewReadsWhatItSaw(processes: Int) throws {
    let seed = testSeed(20_261_129)
    var reads = 0
    for n in 0..<UInt64(isFullLength ? 60 : 6) {
      let churn = try Churn(seed &+ n, processes: processes)
      for _ in 0..<400 { try churn.step() }
      try churn.verify()
      churn.views = []
      #expect(try churn.stores[0].check().problems.isEmpty, "seed \(seed &+ n)")
      reads += churn.reads
    }
    print("views from seed \(seed): \(reads) values read, \(processes) processes")
    #expect(reads > 1000)
  }

  // MARK: How long the file becomes

  /// Updates rows at random while a view is held, and compares the file with what the newest state and the view reach.
  private static func churn(
    rows: Int, updates: Int, _ store: Store, _ tree: TreeID, hold: (Store) throws -> Snapshot
  ) throws {
    var random = SplitMix64(seed: testSeed(20_261_130))
    for part in 0..<10 {
      let t = try store.beginWrite()
      for n in 0..<rows / 10 { try t.put(tree, UInt64(part * (rows / 10) + n), random.bytes(500)) }
      try t.commit()
    }
    try store.checkpoint()
    let view = try hold(store)
    let hash = try StoreContent.hash(of: view)
    let reached = try OverwriteGuardTests.reached(by: store).reduce(UInt64(0)) { $0 + UInt64($1.count) }
    var (longest, most): (UInt64, UInt64) = (0, 0)
    var isTooLong = false
    for n in 0..<updates / 20 {
      let t = try store.beginWrite()
      for _ in 0..<20 { try t.put(tree, UInt64(random.below(rows)), random.bytes(500)) }
      try t.commit()
      guard n % 16 == 0, store.checkpointUnderWay == nil else { continue }
      let s = try store.statistics()
      let reserve = (store.reserveUnits() + UInt64(store.space.preferredUnits)) * UInt64(SegmentTable.unitSize)
      let bound = 2 * (s.liveBytes + reached) + s.logSegmentBytes + reserve + 1 << 20
      if s.fileBytes > longest { (longest, most) = (s.fileBytes, bound) }
      isTooLong = isTooLong || s.fileBytes > bound
    }
    print("\(updates) updates beside a view of \(reached) bytes: a file of \(longest) bytes at most, \(most) allowed")
    #expect(longest > 0 && !isTooLong)
    #expect(try StoreContent.hash(of: view) == hash)
    #expect(try store.check().problems.isEmpty)
  }

  /// 1,000,000 updates of 10 MB at full length.
  @Test func aHeldViewKeepsWhatItReachesAndNoMore() throws {
    let device = MemoryDevice()
    let rows = testCount("CAMBIUM_HELD_ROWS", short: 4000, full: 20_000)
    let updates = testCount("CAMBIUM_HELD_UPDATES", short: 60_000, full: 1_000_000)
    let tree = try Self.makeTree(on: device, Self.options())
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 6), options: Self.options())
    try Self.churn(rows: rows, updates: updates, store, tree) { try $0.snapshot() }
  }

  /// The same for a view of another process.
  @Test func aViewOfAnotherProcessKeepsWhatItReachesAndNoMore() throws {
    let shared = SharedDisk()
    let tree = try Self.makeTree(on: shared.disk, Self.options())
    func open(_ seed: UInt64) throws -> Store {
      try Store.open(on: shared.open(), environment: TestEnvironment(seed: seed), options: Self.options())
    }
    let (writer, reader) = (try open(6), try open(7))
    try Self.churn(rows: 2000, updates: 20_000, writer, tree) { _ in try reader.snapshot() }
  }
}
