import CambiumTesting
import Foundation
import Testing

@testable import CambiumKernel

/// Several processes on one store, on a simulated disk.
@Suite struct SharedWorkloadTests {
  static let seed = CrashTests.seed
  static var runs: Int { testCount("CAMBIUM_SHARED_RUNS", short: 1, full: 60) }

  private func run(
    _ durability: Durability, killing: Bool, seed: UInt64, steps: Int, readsInBetween: Bool = false,
    failsSyncs: Bool = false
  ) throws -> SharedWorkload {
    let w = SharedWorkload(options: CrashScenario.commits.options(durability), engines: 2, seed: seed)
    w.readsInBetween = readsInBetween
    do {
      try w.create()
      try w.makeTrees(w.engine(0))
      if !failsSyncs { _ = try w.openReader() }
      w.failsSyncs = failsSyncs
      for _ in 0..<steps { try w.randomStep(killing: killing) }
    } catch {
      Issue.record("\(durability), seed \(seed): \(error); \(w.story.suffix(12).joined(separator: "; "))")
    }
    return w
  }

  @Test(arguments: [Durability.full, .strict, .normal, .none])
  func twoEnginesAgreeWithTheModel(_ durability: Durability) throws {
    print("shared: seed \(Self.seed)")
    for n in 0..<UInt64(Self.runs) {
      _ = try run(durability, killing: false, seed: Self.seed &+ n, steps: isFullLength ? 60 : 25)
    }
  }

  @Test(arguments: [Durability.full, .strict, .normal])
  func readersInBetweenSeeCommitsOnly(_ durability: Durability) throws {
    print("shared: seed \(Self.seed)")
    var looks = 0
    for n in 0..<UInt64(max(1, Self.runs / 3)) {
      let w = try run(
        durability, killing: n % 2 == 0, seed: Self.seed &+ 500 &+ n, steps: isFullLength ? 40 : 10,
        readsInBetween: true)
      looks += w.looks
    }
    print("shared: \(looks) looks in between")
    #expect(looks > 0)
  }

  @Test(arguments: [Durability.full, .strict])
  func deathsLoseNothing(_ durability: Durability) throws {
    print("shared: seed \(Self.seed)")
    var deaths = 0
    for n in 0..<UInt64(Self.runs) {
      let w = try run(durability, killing: true, seed: Self.seed &+ n, steps: isFullLength ? 80 : 40)
      deaths += w.deaths
    }
    print("shared: \(deaths) deaths")
    #expect(deaths > 0)
  }

  @Test(arguments: [Durability.full, .strict])
  func powerCutsAfterDeathsLoseNothing(_ durability: Durability) throws {
    print("shared: seed \(Self.seed)")
    let tearing: Tearing = durability == .full ? .byteRange : .sector(bytes: 4096)
    for n in 0..<UInt64(max(2, Self.runs)) {
      let seed = Self.seed &+ 1000 &+ n
      let w = try run(
        durability, killing: n % 3 == 0, seed: seed, steps: isFullLength ? 40 : 20, failsSyncs: n % 3 == 1)
      var random = SplitMix64(seed: seed)
      for _ in 0..<(isFullLength ? 60 : 4) {
        let point = random.below(w.point + 1)
        for image in w.shared.disk.crashImages(at: point, limit: 6, tearing: tearing, seed: random.next()) {
          let device = MemoryDevice(copying: image.bytes, lock: ThreadLock())
          do {
            let store = try Store.open(
              on: device, environment: TestEnvironment(seed: random.next()),
              options: CrashScenario.commits.options(durability))
            let view = try store.snapshot()
            if let wrong = w.history.judge(view.sequence, try StoreContent.hash(of: view), at: point) {
              Issue.record("\(durability), seed \(seed): \(image): \(wrong)")
              return
            }
            if let problem = try store.check().problems.first {
              Issue.record("\(durability), seed \(seed): \(image): check: \(problem)")
              return
            }
          } catch {
            guard w.history.mustExist(at: point) else { continue }
            Issue.record("\(durability), seed \(seed): \(image): opening threw \(error)")
            return
          }
        }
      }
    }
  }
}

extension SharedWorkloadTests {
  /// A segment that is dead in one engine's table, and that another engine has found to be free and filled again from
  /// the same unit on.
  @Test func roomThatAnotherProcessUsesAgainIsNoDamage() throws {
    let options = CrashScenario.commits.options(.full)
    let shared = SharedDisk()
    try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1), options: options).close()
    let a = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 2), options: options)
    let b = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 3), options: options)
    var t = try a.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    var expected: [UInt64: [UInt8]] = [:]
    for round in 0..<12 {
      for n in 0..<UInt64(14) {
        t = try a.beginWrite()
        let value = [UInt8](repeating: UInt8(truncatingIfNeeded: round &+ Int(n)), count: 3000 + round)
        try t.put(tree, n, value)
        try t.commit()
        expected[n] = value
        let view = try b.snapshot()
        for (key, value) in expected { #expect(try view.value(tree, key) == value) }
      }
      try a.checkpoint()
    }
    #expect(try b.check().problems.isEmpty)
    try a.close()
    try b.close()
  }

  /// A reader that looks between any two writes of another process sees each commit when it is acknowledged: also where
  /// the log goes on in another segment, and where a commit is published.
  @Test func readersFollowTheLogIntoItsNextSegment() throws {
    var options = CrashScenario.commits.options(.full)
    options.logBytes = 1 << 20
    let shared = SharedDisk()
    try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1), options: options).close()
    let handle = shared.open()
    let writer = try Store.open(on: handle, environment: TestEnvironment(seed: 2), options: options)
    var t = try writer.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    options.isReadOnly = true
    let reader = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 3), options: options)
    options.isReadOnly = false
    let other = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 4), options: options)
    var looks = 0
    nonisolated(unsafe) let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
    count.initialize(to: 0)
    defer { count.deallocate() }
    handle.beforeChanges {
      count.pointee += 1
      _ = try? reader.snapshot()
      _ = try? other.snapshot()
    }
    for n in 0..<UInt64(60) {
      t = try writer.beginWrite()
      // Every fifth is too long for a record, and published.
      for i in 0..<UInt64(n % 5 == 4 ? 12 : 1) { try t.put(tree, n * 100 + i, [UInt8](repeating: 7, count: 1500)) }
      let sequence = try t.commit()
      for store in [reader, other] { #expect(try store.snapshot().sequence == sequence) }
      looks = count.pointee
    }
    #expect(looks > 60)
    try writer.close()
  }
}

extension SharedWorkloadTests {
  /// At each read of a process that looks at the store, or opens it, others do so much that nothing which it has read
  /// of the log before is there any more.
  @Test(arguments: [Durability.full, .normal], [false, true])
  func whoeverIsOvertakenLooksAgain(_ durability: Durability, opening: Bool) throws {
    var overtakings = 0
    // The first showed that a log read anew could be that of a newer publication.
    let kept: UInt64 = 20_262_122
    for seed in [kept] + (1...(isFullLength ? 10 : 1) as ClosedRange<UInt64>).map({ Self.seed &+ $0 }) {
      let w = SharedWorkload(options: CrashScenario.commits.options(durability), engines: 2, seed: seed)
      try w.create()
      try w.step(0, "makes trees") { try w.makeTrees($0) }
      try w.step(1, "commits") { try w.changeRows($0, 60, keys: 300, valueBytes: 200) }
      var place = 0
      var wasReached = true
      while wasReached {
        if opening { w.reader = nil }
        // Behind the others by some records of the log, by a publication, or by nothing.
        let engine = opening ? nil : try w.openReader()
        for i in 0..<(place % 4) {
          try w.step(i % 2, "commits") { try w.changeRows($0, 3, keys: 300, valueBytes: 900) }
        }
        let look = Look { n, _ in if n == place { try w.overtake() } }
        w.readerHook = { look.read(at: $0) }
        engine?.handle.beforeReads(w.readerHook)
        do { try w.compareBetween(try w.openReader()) } catch {
          Issue.record("\(durability), seed \(seed), overtaken at read \(place): \(error)")
          return
        }
        w.reader?.handle.beforeReads(nil)
        w.readerHook = nil
        if let problem = look.problem { throw problem }
        wasReached = look.reads > place
        if wasReached { overtakings += 1 }
        place += isFullLength || seed == kept ? 1 : 4
      }
      #expect(place > 4)
    }
    #expect(overtakings >= 3)
  }

  /// Whenever a process that opens the store reads behind the end of the log as it has seen it, the log has just grown
  /// to there: it sees records whose predecessors it has not seen.
  @Test func aLogThatGrowsWhileItIsReadIsNoDamage() throws {
    var options = CrashScenario.commits.options(.full)
    options.logBytes = 8 << 20
    options.deltaBytes = 32 << 20
    options.maxRecordBytes = 1 << 20
    let w = SharedWorkload(options: options, engines: 1, seed: Self.seed)
    try w.create()
    try w.step(0, "makes trees") { try w.makeTrees($0) }
    // In a longer file, log segments are longer than what is read of them at a time.
    try w.step(0, "grows") { try w.changeRows($0, 1200, keys: 900, valueBytes: 6000) }
    let store = try w.engine(0).store
    func commit(while isWanted: (UInt64) -> Bool) throws {
      while isWanted(store.log.position - store.log.present.address) {
        try w.step(0, "commits") { try w.changeRows($0, 14, keys: 300, valueBytes: 1900) }
      }
    }
    // Through the segments that were prepared when the file was short.
    for _ in 0..<40 { try w.step(0, "commits") { try w.changeRows($0, 14, keys: 300, valueBytes: 1900) } }
    let publication = store.superblock.publication
    var growths = 0
    let look = Look { _, offset in
      if growths == 8 { return }
      if offset < UInt64(SegmentTable.unitSize) {
        // An attempt begins: the log ends in what is read first of its segment.
        try commit { $0 > 50000 }
      } else if offset > store.log.position, offset < store.log.present.end {
        let before = store.log.position
        try commit { $0 > 64 && $0 <= 100_000 }
        if store.log.position > before { growths += 1 }
      }
    }
    w.readerHook = { look.read(at: $0) }
    try w.compareBetween(try w.openReader())
    #expect(growths == 8)
    #expect(store.superblock.publication == publication)
    if let problem = look.problem { throw problem }
  }

  /// The room of a record that was acknowledged is used again before what stands there is read for the n-th time: the
  /// mark that was there before it, its head, its body.
  @Test(arguments: 1...5) func aRecordThatIsOverwrittenWhileItIsReadIsNotMissed(_ n: Int) throws {
    var options = CrashScenario.commits.options(.full)
    let shared = SharedDisk()
    try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1), options: options).close()
    let writer = try Store.open(on: shared.open(), environment: TestEnvironment(seed: 2), options: options)
    func put(_ key: UInt64, _ tree: TreeID, _ count: Int) throws {
      let t = try writer.beginWrite()
      try t.put(tree, key, [UInt8](repeating: 7, count: count))
      try t.commit()
    }
    let t = try writer.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    options.isReadOnly = true
    let handle = shared.open()
    let reader = try Store.open(on: handle, environment: TestEnvironment(seed: 3), options: options)
    _ = try reader.snapshot()
    let (place, segment) = (reader.log.position, reader.log.present.start)
    try put(1, tree, 100)
    #expect(writer.log.present.start == segment)
    let acknowledged = writer.appendedSequence
    var reads = 0
    let look = Look { _, offset in
      guard offset == place else { return }
      reads += 1
      guard reads == n else { return }
      var key: UInt64 = 2
      while writer.log.segments.contains(segment) || key < 60 {
        try put(key, tree, 1500)
        key += 1
        if key % 8 == 0 { try writer.checkpoint() }
      }
    }
    handle.beforeReads { look.read(at: $0) }
    let seen = try reader.snapshot().sequence
    handle.beforeReads(nil)
    if let problem = look.problem { throw problem }
    #expect(reads >= n && writer.appendedSequence > acknowledged + 50)
    #expect(seen >= acknowledged)
  }

  /// Counts the reads of a process. One thread does all of it.
  private final class Look: @unchecked Sendable {
    private let body: (Int, UInt64) throws -> Void
    private(set) var reads = 0
    private(set) var problem: (any Error)?

    /// - Parameter body: called before each read, with its number and offset.
    init(_ body: @escaping (Int, UInt64) throws -> Void) { self.body = body }

    func read(at offset: UInt64) {
      let n = reads
      reads += 1
      do { try body(n, offset) } catch { problem = error }
    }
  }
}
