import CambiumTesting
import Testing

@testable import CambiumKernel

/// A file that somebody deletes or cuts while the store is open.
@Suite struct FileLossTests {
  private static func store(
    _ device: any StorageDevice, _ durability: Durability = .full, logBytes: Int = 1 << 20,
    maxRecordBytes: Int = 64 << 10
  ) throws -> (Store, TreeID) {
    var options = StoreOptions()
    options.durability = durability
    options.logBytes = logBytes
    options.maxRecordBytes = maxRecordBytes
    let store = try Store.create(on: device, environment: TestEnvironment(processors: 4), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.put(tree, 0, [7])
    try t.commit()
    return (store, tree)
  }

  private static func put(
    _ store: Store, _ tree: TreeID, _ key: UInt64, bytes: Int = 100, durably: Bool = true
  ) throws(StoreError) {
    let t = try store.beginWrite()
    try t.put(tree, key, [UInt8](repeating: 1, count: bytes))
    try t.commit(durably: durably)
  }

  /// A transaction that is too large for a record, and needs `rows` pages.
  private static func putMany(_ store: Store, _ tree: TreeID, rows: UInt64) throws(StoreError) {
    let t = try store.beginWrite()
    do throws(StoreError) {
      for key in 1...rows { try t.put(tree, key, [UInt8](repeating: 2, count: 3000)) }
      try t.commit()
    } catch {
      t.rollBack()
      throw error
    }
  }

  private static func thrown(_ body: () throws(StoreError) -> Void) -> StoreError? {
    do throws(StoreError) {
      try body()
      return nil
    } catch { return error }
  }

  /// Expects that the store refuses every write with the loss, writes nothing, and goes on reading.
  private static func expectRefusal(
    _ store: Store, _ device: LosableDevice, _ tree: TreeID, _ loss: FileLoss,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let writes = device.writes
    let error = StoreError.fileLost(loss)
    #expect(thrown { () throws(StoreError) in try put(store, tree, 90) } == error, sourceLocation: sourceLocation)
    #expect(thrown { () throws(StoreError) in try store.checkpoint() } == error, sourceLocation: sourceLocation)
    #expect(thrown { () throws(StoreError) in try store.compact() } == error, sourceLocation: sourceLocation)
    let read = try? store.snapshot().value(tree, 0)
    #expect(read == [7], sourceLocation: sourceLocation)
    #expect(thrown { () throws(StoreError) in try store.close() } == error, sourceLocation: sourceLocation)
    #expect(device.writes == writes, "\(device.writes - writes) writes", sourceLocation: sourceLocation)
  }

  @Test(arguments: [Durability.full, .strict]) func aCommitIntoADeletedFileIsRefused(_ durability: Durability) throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device, durability)
    try Self.put(store, tree, 1)
    device.delete()
    #expect(Self.thrown { () throws(StoreError) in try Self.put(store, tree, 2) } == .fileLost(.deleted))
    // Nobody was told of it, so views do not show it.
    #expect(try store.snapshot().value(tree, 1) != nil)
    #expect(try store.snapshot().value(tree, 2) == nil)
    Self.expectRefusal(store, device, tree, .deleted)
  }

  @Test func theFileIsLookedAtBehindTheSync() throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device)
    device.duringSyncs { $0.delete() }
    #expect(Self.thrown { () throws(StoreError) in try Self.put(store, tree, 1) } == .fileLost(.deleted))
    Self.expectRefusal(store, device, tree, .deleted)
  }

  /// The superblock is not written behind a first sync that met the loss, and a commit by publication is not
  /// acknowledged behind a second one.
  @Test(arguments: [1, 2], [false, true]) func aPublicationMeetsTheLoss(_ sync: Int, _ commits: Bool) throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device)
    try Self.put(store, tree, 1)
    let publication = store.superblock.publication
    let start = device.syncs
    device.duringSyncs { if $0.syncs == start + sync { $0.delete() } }
    let error = Self.thrown { () throws(StoreError) in
      if commits { try Self.putMany(store, tree, rows: 100) } else { try store.checkpoint() }
    }
    #expect(error == .fileLost(.deleted))
    #expect(device.syncs == start + sync)
    #expect(store.space.durablePublication == publication)
    let onDevice = try Store.readSuperblock(device, readOnly: true).0.publication
    #expect(onDevice == publication + UInt64(sync - 1))
    if commits { #expect(try store.snapshot().value(tree, 50) == nil) }
    Self.expectRefusal(store, device, tree, .deleted)
  }

  @Test(arguments: [Durability.full, .normal, .none]) func closingMeetsTheLoss(_ durability: Durability) throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device, durability)
    try Self.put(store, tree, 1)
    device.delete()
    #expect(Self.thrown { () throws(StoreError) in try store.close() } == .fileLost(.deleted))
    // It is closed all the same.
    #expect(Self.thrown { () throws(StoreError) in _ = try store.beginWrite() } == .closed)
  }

  /// Giving room at the end back must not lengthen a file that somebody has cut, because every later look would find it
  /// whole.
  @Test(arguments: [true, false]) func aCutFileIsNotMadeLongerByGivingRoomBack(_ closes: Bool) throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device)
    try Self.putMany(store, tree, rows: 2000)
    let t = try store.beginWrite()
    for key in 1...1000 as ClosedRange<UInt64> { try t.delete(tree, key) }
    try t.commit()
    try store.checkpoint()
    try device.cut(to: 40_000)
    let error = Self.thrown { () throws(StoreError) in if closes { try store.close() } else { try store.compact() } }
    guard case .fileLost(.cut) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try device.size() == 40_000)
  }

  @Test func commitsThatNobodyWaitedForAreRefusedByMakeDurable() throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device)
    device.delete()
    try Self.put(store, tree, 1, durably: false)
    #expect(Self.thrown { () throws(StoreError) in try store.makeDurable() } == .fileLost(.deleted))
    Self.expectRefusal(store, device, tree, .deleted)
  }

  /// One look for each sync, however many commits share it; and none of them is acknowledged once the file is lost.
  @Test func groupsOfCommitsShareALook() throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device)
    let (looks, syncs) = (device.looks - device.growths, device.syncs)
    let isLost = Locked(false)
    let acknowledgedLate = Locked(0)
    let errors = Locked<[StoreError]>([])
    device.duringSyncs { device in
      guard device.syncs == syncs + 60 else { return }
      // From here on the running sync, and all later ones, come too late.
      device.delete()
      isLost.withLock { $0 = true }
    }
    store.environment.runConcurrently(6) { thread in
      for n in 0..<100_000 as Range<UInt64> {
        do throws(StoreError) {
          let t = try store.beginWrite()
          try t.put(tree, UInt64(thread + 1) << 32 + n, [1])
          let begunLate = isLost.withLock { $0 }
          try t.commit()
          if begunLate { acknowledgedLate.withLock { $0 += 1 } }
        } catch {
          return errors.withLock { $0.append(error) }
        }
      }
    }
    #expect(errors.withLock { $0 } == [StoreError](repeating: .fileLost(.deleted), count: 6))
    #expect(acknowledgedLate.withLock { $0 } == 0)
    #expect(device.syncs - syncs == 60)
    #expect(device.looks - device.growths - looks == 60)
    Self.expectRefusal(store, device, tree, .deleted)
  }

  /// Nothing syncs such commits, so every 64th looks.
  @Test(arguments: [Durability.normal, .none]) func everySixtyFourthCommitLooks(_ durability: Durability) throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device, durability)
    // Whatever makes the file longer looks as well.
    let looks = device.looks - device.growths
    for key in 1...640 as ClosedRange<UInt64> { try Self.put(store, tree, key) }
    #expect(device.looks - device.growths == looks + 10)
    device.delete()
    var acknowledged = 0
    var error: StoreError?
    while error == nil, acknowledged < 1000 {
      error = Self.thrown { () throws(StoreError) in try Self.put(store, tree, 1000 + UInt64(acknowledged)) }
      if error == nil { acknowledged += 1 }
    }
    #expect(error == .fileLost(.deleted))
    #expect(acknowledged < 64)
    Self.expectRefusal(store, device, tree, .deleted)
  }

  /// A write behind the end lengthens a file, so the length alone does not go back to what it was.
  @Test(arguments: [Durability.full, .strict, .normal, .none]) func aCutFileIsNoticed(_ durability: Durability) throws {
    for kept in [0, 4096, 40_000] as [UInt64] {
      let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
      let (store, tree) = try Self.store(device, durability)
      try Self.put(store, tree, 1)
      let size = try device.size()
      try device.cut(to: kept)
      var error: StoreError?
      for key in 2...70 as ClosedRange<UInt64> where error == nil {
        error = Self.thrown { () throws(StoreError) in try Self.put(store, tree, key) }
      }
      guard case .fileLost(.cut(let found, let needed)) = error else {
        Issue.record("\(String(describing: error)) after a cut to \(kept)")
        continue
      }
      #expect(found < needed && needed <= size)
      Self.expectRefusal(store, device, tree, .cut(sizeBytes: found, neededBytes: needed))
    }
  }

  /// Growing the file would fill the gap with zeros, so that its length would be right again.
  @Test(arguments: [Durability.full, .normal, .none]) func growingDoesNotHideACut(_ durability: Durability) throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device, durability)
    try device.cut(to: 0)
    let error = Self.thrown { () throws(StoreError) in try Self.putMany(store, tree, rows: 2000) }
    guard case .fileLost(let loss) = error else { throw try #require(error) }
    #expect(try device.size() < 1 << 20)
    Self.expectRefusal(store, device, tree, loss)
  }

  /// A checkpoint that a commit takes further meets the cut; the commit is not acknowledged.
  @Test(arguments: [Durability.normal, .none]) func aCheckpointOnTheWayMeetsTheCut(_ durability: Durability) throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device, durability, logBytes: 64 << 10)
    for key in 1...15 as ClosedRange<UInt64> { try Self.put(store, tree, key, bytes: 3000) }
    try device.cut(to: 20_000)
    var error: StoreError?
    for key in 16...80 as ClosedRange<UInt64> where error == nil {
      error = Self.thrown { () throws(StoreError) in try Self.put(store, tree, key, bytes: 3000) }
    }
    guard case .fileLost(let loss) = error else { throw try #require(error) }
    Self.expectRefusal(store, device, tree, loss)
  }

  /// The store cuts its own file while another thread syncs.
  @Test func theStoreMayCutItsFile() throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (store, tree) = try Self.store(device)
    try Self.putMany(store, tree, rows: 2000)
    let t = try store.beginWrite()
    for key in 1...2000 as ClosedRange<UInt64> { try t.delete(tree, key) }
    try t.commit()
    let size = try device.size()
    let needed = store.neededLength
    try store.compact()
    #expect(try device.size() < size && device.size() < needed.bytes)
    // So a look that was begun before finds, with what was needed then.
    #expect(store.loss(of: needed) == nil)
    #expect(store.loss(of: store.neededLength) == nil)
    try Self.put(store, tree, 1)
    try store.close()
  }

  @Test func aStoreThatOnlyReadsDoesNotLook() throws {
    let device = LosableDevice(MemoryDevice(lock: ThreadLock()))
    let (made, tree) = try Self.store(device)
    try made.detach()
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 3), options: options)
    let looks = device.looks
    device.delete()
    #expect(try store.snapshot().value(tree, 0) == [7])
    try store.close()
    #expect(device.looks == looks)
  }

  @Test func aDeviceThatCannotTellIsTrusted() throws {
    let device = MemoryDevice(lock: ThreadLock())
    #expect(device.fileState() == nil)
    let (store, tree) = try Self.store(device)
    try Self.put(store, tree, 1)
    try store.close()
  }

  @Test func theMessageSaysWhatToDo() {
    let deleted = StoreError.fileLost(.deleted).description
    #expect(deleted.contains("was deleted while it was open") && deleted.contains("to another store"))
    let cut = StoreError.fileLost(.cut(sizeBytes: 10, neededBytes: 99)).description
    #expect(cut.contains("cut to 10 of the 99 bytes"))
    #expect(StoreError.fileLost(.deleted) != .fileLost(.cut(sizeBytes: 1, neededBytes: 2)))
  }

  // MARK: Several processes

  private static func open(_ shared: SharedDisk, seed: UInt64) throws -> Store {
    var options = StoreOptions()
    options.logBytes = 64 << 10
    return try Store.open(on: shared.open(), environment: TestEnvironment(seed: seed), options: options)
  }

  private static func sharedStore() throws -> (SharedDisk, Store, TreeID) {
    let shared = SharedDisk()
    try store(shared.disk).0.close()
    let writer = try open(shared, seed: 2)
    let t = try writer.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    return (shared, writer, tree)
  }

  /// Another process moves the log and makes the file shorter than where this one has appended, while this one syncs.
  @Test func anotherProcessMayCutTheFile() throws {
    let (shared, writer, tree) = try Self.sharedStore()
    let t = try writer.beginWrite()
    for key in 1...500 as ClosedRange<UInt64> { try t.put(tree, key, [UInt8](repeating: 3, count: 3000)) }
    try t.commit()
    // The log comes to lie behind the rows.
    for key in 1...60 as ClosedRange<UInt64> { try Self.put(writer, tree, key, bytes: 3000) }
    let deletion = try writer.beginWrite()
    for key in 1...500 as ClosedRange<UInt64> { try deletion.delete(tree, key) }
    try deletion.commit()
    let isDone = Locked(false)
    let failure = Locked<(any Error)?>(nil)
    shared.disk.duringSync {
      let isFirst = isDone.withLock { done in
        defer { done = true }
        return !done
      }
      guard isFirst else { return }
      do {
        let other = try Self.open(shared, seed: 5)
        try other.compact()
        try other.close()
      } catch { failure.withLock { $0 = error } }
    }
    let needed = Locked(NeededLength())
    try Self.put(writer, tree, 1)
    needed.withLock { $0 = writer.neededLength }
    #expect(failure.withLock { $0 } == nil)
    #expect(isDone.withLock { $0 })
    #expect(try shared.disk.size() < needed.withLock { $0.bytes })
    try Self.put(writer, tree, 2)
    #expect(try writer.snapshot().count(tree) == 2)
    try writer.close()
  }

  @Test func aCutIsNoticedBesideOthers() throws {
    let (shared, writer, tree) = try Self.sharedStore()
    let other = try Self.open(shared, seed: 4)
    try Self.put(writer, tree, 1)
    try Self.put(other, tree, 2)
    try Self.put(writer, tree, 3)
    let end = writer.log.position
    try shared.disk.resize(to: end)
    let error = Self.thrown { () throws(StoreError) in try Self.put(writer, tree, 4) }
    guard case .fileLost(.cut) = error else { throw try #require(error) }
  }
}
