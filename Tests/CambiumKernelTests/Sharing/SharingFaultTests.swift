import CambiumTesting
import Testing

@testable import CambiumKernel

/// What two processes on one file could do to one another, step by step.
@Suite struct SharingFaultTests {
  private let shared = SharedDisk()

  private func options(logBytes: Int = 64 << 10) -> StoreOptions {
    var options = CrashScenario.commits.options(.full)
    options.logBytes = logBytes
    options.deltaBytes = 4 << 20
    return options
  }

  private func open(
    _ seed: UInt64, _ options: StoreOptions? = nil, environment: TestEnvironment? = nil
  ) throws -> (store: Store, handle: SharedHandle) {
    let handle = shared.open()
    let environment = environment ?? TestEnvironment(seed: seed)
    return (try Store.open(on: handle, environment: environment, options: options ?? self.options()), handle)
  }

  /// A store with a tree of `rows` rows of 200 bytes.
  private func makeStore(rows: UInt64) throws -> TreeID {
    let store = try Store.create(on: shared.disk, environment: TestEnvironment(seed: 1), options: options())
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for n in 0..<rows { try t.put(tree, n, [UInt8](repeating: UInt8(n % 251), count: 200)) }
    try t.commit()
    try store.close()
    return tree
  }

  /// Commits changes all over the tree until a checkpoint is under way, or has been finished.
  private func change(_ store: Store, _ tree: TreeID, rows: UInt64, _ fill: UInt8, until: () -> Bool) throws {
    var n: UInt64 = 0
    while !until() {
      let t = try store.beginWrite()
      for _ in 0..<8 {
        try t.put(tree, n % rows, [UInt8](repeating: fill, count: 200))
        n += 37
      }
      try t.commit()
    }
  }

  private func expectSound(_ text: String) throws {
    let image = MemoryDevice(copying: shared.disk.contents, lock: ThreadLock())
    let store = try Store.open(on: image, environment: TestEnvironment(seed: 9), options: options())
    let problems = try store.check().problems
    #expect(problems.isEmpty, "\(text): \(problems)")
    try store.close()
  }

  @Test(arguments: [Durability.full, .strict])
  func aWriterThatResumesEndsWhatAnotherHasHalfMerged(_ durability: Durability) throws {
    let tree = try makeStore(rows: 6000)
    var options = options()
    options.durability = durability
    let (a, _) = try open(2, options)
    let (b, _) = try open(3, options)
    try b.suspend()
    try change(a, tree, rows: 6000, 7) { a.checkpointUnderWay != nil }
    try b.resume()
    let t = try b.beginWrite()
    for n in 0..<UInt64(8) { try t.put(tree, 1_000_000 + n, [UInt8](repeating: 1, count: 90_000)) }
    t.rollBack()
    let checkpoints = try a.statistics().checkpoints
    try change(a, tree, rows: 6000, 8) { (try? a.statistics().checkpoints) ?? .max > checkpoints }
    try a.checkpoint()
    try expectSound("resumed")
    try a.close()
    try b.close()
  }

  @Test func maintenanceLeavesNothingHalfMergedBesideAnotherWriter() throws {
    let tree = try makeStore(rows: 6000)
    let (a, _) = try open(2, options(logBytes: 16 << 10))
    let (b, _) = try open(3, options(logBytes: 4 << 20))
    try change(b, tree, rows: 6000, 7) { (try? b.statistics().logBytes) ?? .max > 32 << 10 }
    _ = try a.snapshot()
    _ = try a.maintain(pages: 1)
    #expect(a.checkpointUnderWay == nil)
    let t = try b.beginWrite()
    for n in 0..<UInt64(8) { try t.put(tree, 1_000_000 + n, [UInt8](repeating: 1, count: 90_000)) }
    t.rollBack()
    try change(a, tree, rows: 6000, 8) { a.checkpointUnderWay == nil && a.current.active.nodeCount > 20 }
    try a.checkpoint()
    try expectSound("maintained")
    try a.close()
    try b.close()
  }

  /// Also where no mark tells that nobody else was there, what was merged in one turn is gone on with in the next.
  @Test(arguments: [Durability.full, .strict, .normal])
  func whoIsAloneMergesOverManyTurns(_ durability: Durability) throws {
    let tree = try makeStore(rows: 6000)
    var options = options()
    options.durability = durability
    let (store, _) = try open(2, options)
    try change(store, tree, rows: 6000, 7) { store.checkpointUnderWay != nil }
    let checkpoint = store.checkpointUnderWay
    var turns = 0
    while let now = store.checkpointUnderWay {
      #expect(now === checkpoint)
      turns += 1
      let t = try store.beginWrite()
      try t.put(tree, 1, [UInt8(turns & 0xFF)])
      try t.commit()
    }
    #expect(turns > 1)
    try expectSound("alone")
    try store.close()
  }

  @Test func theTurnOfTheProcessIsKeptUntilAllLocksAreGivenUp() throws {
    _ = try makeStore(rows: 10)
    let (store, handle) = try open(2)
    var kept: [Bool] = []
    nonisolated(unsafe) let keep = { kept.append(store.turnTaken) }
    nonisolated(unsafe) let isSuspending = { store.share?.isSuspended ?? false }
    handle.beforeChanges { if isSuspending() { keep() } }
    try store.suspend()
    handle.beforeChanges(nil)
    #expect(!kept.isEmpty && kept.allSatisfy { $0 })
    #expect(!store.turnTaken)
    try store.resume()
    try store.close()
  }

  @Test(arguments: [false, true])
  func roomOfLargeValuesThatCameToNothingIsKnownToOthers(_ isFresh: Bool) throws {
    let tree = try makeStore(rows: 10)
    let (a, _) = try open(2)
    let (b, _) = try open(3)
    if !isFresh {
      let t = try a.beginWrite()
      try t.put(tree, 50, [UInt8](repeating: 5, count: 5000))
      try t.commit()
    }
    var t = try a.beginWrite()
    let point = t.savepoint()
    try t.put(tree, 100, [UInt8](repeating: 1, count: 9000))
    try t.rollBack(to: point)
    try t.put(tree, 101, [1])
    try t.commit()
    for round in 0..<6 {
      for store in [b, a] {
        t = try store.beginWrite()
        try t.put(tree, UInt64(200 + round), [UInt8](repeating: UInt8(round), count: 2500))
        try t.commit()
      }
    }
    #expect(try a.snapshot().value(tree, 100) == nil)
    #expect(try b.snapshot().value(tree, 203)?.count == 2500)
    try expectSound("rolled back")
    try a.close()
    try b.close()
  }

  @Test func noStoreIsMadeOnASharedDevice() throws {
    let handle = shared.open()
    let result = Result { try Store.create(on: handle, environment: TestEnvironment(seed: 1), options: options()) }
    guard case .failure(StoreError.misuse) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(try shared.disk.size() == 0)
  }

  /// A reader that looks at the mark behind the log sees each commit, also when the log has moved on to another segment
  /// and the mark lies in the former one.
  @Test func aReaderFollowsTheLogIntoItsNextSegment() throws {
    let tree = try makeStore(rows: 10)
    let (writer, _) = try open(2)
    let (reader, _) = try open(3)
    var segments: Set<UInt32> = []
    for n in 0..<UInt64(120) {
      let t = try writer.beginWrite()
      try t.put(tree, 1000 + n, [UInt8](repeating: 2, count: 700))
      try t.commit()
      segments.insert(writer.log.present.start)
      #expect(try reader.snapshot().count(tree) == 11 + n)
    }
    #expect(segments.count > 3)
    try reader.close()
    try writer.close()
  }

  /// The room of a large value is used again while it is read.
  @Test func aLargeValueThatIsOvertakenIsNoDamage() throws {
    let tree = try makeStore(rows: 10)
    let (a, handle) = try open(2)
    let (b, _) = try open(3)
    var t = try b.beginWrite()
    for n in 0..<UInt64(4) { try t.put(tree, 100 + n, [UInt8](repeating: 1, count: 60_000)) }
    try t.commit()
    try b.checkpoint()
    let view = try a.snapshot()
    #expect(try view.value(tree, 101)?.count == 60_000)
    var isDone = false
    var failure: (any Error)?
    nonisolated(unsafe) let overtake = {
      if isDone { return }
      isDone = true
      do {
        try a.suspend()
        t = try b.beginWrite()
        for n in 0..<UInt64(4) { try t.delete(tree, 100 + n) }
        try t.commit()
        for round in 0..<UInt8(4) {
          try b.checkpoint()
          t = try b.beginWrite()
          for n in 0..<UInt64(4) { try t.put(tree, 200 + n, [UInt8](repeating: round, count: 61_000)) }
          try t.commit()
        }
        try a.resume()
      } catch { failure = error }
    }
    handle.beforeReads { offset in if offset > 1 << 14 { overtake() } }
    let result = Result { try view.value(tree, 101) }
    handle.beforeReads(nil)
    if let failure { throw failure }
    #expect(isDone)
    #expect(throws: StoreError.snapshotExpired) { try result.get() }
    #expect(try a.snapshot().value(tree, 201)?.count == 61_000)
    try a.close()
    try b.close()
  }

  /// Others publish whenever a reader has just taken in what they published before; or, at every third look at the
  /// superblock, also while it does.
  @Test(arguments: [4, 3]) func aReaderThatIsOutrunTakesWhatItHasRead(_ every: Int) throws {
    let tree = try makeStore(rows: 10)
    let (writer, _) = try open(2)
    var readOnly = options()
    readOnly.isReadOnly = true
    let (reader, handle) = try open(3, readOnly)
    var publications = 0
    func publish() throws {
      let t = try writer.beginWrite()
      try t.put(tree, 5, [UInt8(publications & 0xFF)])
      try t.commit()
      try writer.checkpoint()
      publications += 1
    }
    try publish()
    var looks = 0
    var failure: (any Error)?
    nonisolated(unsafe) let hook: (UInt64) -> Void = { offset in
      guard offset == 0, publications < 300 else { return }
      looks += 1
      // The first of the four that a round takes: what was read before is not the newest any more.
      guard looks % every == 1 else { return }
      do { try publish() } catch { failure = error }
    }
    handle.beforeReads { hook($0) }
    let view = try reader.snapshot()
    handle.beforeReads(nil)
    if let failure { throw failure }
    #expect(publications > 2 && publications < (every == 4 ? 100 : 300))
    #expect(try view.value(tree, 5) != nil)
    try writer.close()
  }

  @Test func aForkedChildGivesUpNoLockOfItsParent() throws {
    let tree = try makeStore(rows: 10)
    let environment = TestEnvironment(seed: 2)
    let (store, _) = try open(2, environment: environment)
    let t = try store.beginWrite()
    try t.put(tree, 5, [5])
    let locks = shared.lockCount
    environment.setProcess(2)
    t.rollBack()
    #expect(shared.lockCount == locks)
    #expect(throws: StoreError.forked) { try store.detach() }
    #expect(shared.lockCount == locks)
  }

  @Test func noSegmentEndsBehindTheLastUnit() {
    for (start, isGood) in [(UInt32.max - 2, true), (.max - 1, false), (.max, false)] {
      #expect(LogSegment(start: start, units: 2).isPossible == isGood)
    }
  }
}
