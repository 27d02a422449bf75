import Synchronization

/// A store: a page file with its log, trees and transactions.
///
/// Any thread may use it. One transaction writes at a time, any number of snapshots read beside it. The store starts no
/// thread of its own: checkpoints and reclamation are done in small steps by commits, or by ``maintain(pages:)``.
///
/// State is guarded in two ways. What is marked "turn" belongs to who has the turn to write (a transaction, a
/// checkpoint, closing). What is marked "state" is guarded by the state lock, which is held for a few instructions at a
/// time, never while the device works.
public final class Store: @unchecked Sendable {
  // `@unchecked`: guarded in the two ways that are said above.
  let device: any StorageDevice
  let environment: any StoreEnvironment
  #if hasFeature(Embedded)
    /// Always 1, so that the compiler leaves out the code that divides work among threads.
    public var threadCount: Int { 1 }
  #else
    /// How many threads the work of one call may be divided among: see ``StoreOptions/maximumThreads``.
    public let threadCount: Int
  #endif
  let options: StoreOptions
  /// Whether the store was opened for reading only.
  public var isReadOnly: Bool { options.isReadOnly }
  /// The length of a page in bytes, as the store was made.
  public let pageSize: Int
  let storeSeed: UInt64
  /// The seed of the checksums of log records.
  let logSeed: UInt64
  let cache: PageCache
  let lock: any StoreLock

  // Guarded by the state lock.
  var current: Generation { didSet { recent.advance() } }
  /// The newest commit that snapshots see.
  var visibleSequence: UInt64 { didSet { recent.advance() } }
  /// The newest commit that a finished sync covers.
  var durableSequence: UInt64
  /// The newest commit in the log.
  var appendedSequence: UInt64
  var isSyncing = false
  var syncsStarted: UInt64 = 0
  var syncsCompleted: UInt64 = 0
  /// How many commits the next sync may well be waited for by; see ``gatherLocked()``.
  var committersExpected: UInt64 = 1
  var isPoisoned = false
  /// Why the store is poisoned, if its file was deleted or cut.
  var fileLoss: FileLoss?
  /// The length that the file must have.
  @exclusivity(unchecked) var neededLength = NeededLength()
  var isClosed = false { didSet { recent.advance() } }
  var turnTaken = false
  /// Threads that wait for the turn.
  var turnWaiters = 0
  /// How often the turn was taken.
  var turnsTaken: UInt64 = 0
  /// How many turns conversions have had since anybody else had one between them, as far as that matters: until
  /// somebody has, they are alone. With the turn.
  var turnsAlone = Store.turnsUntilAlone
  @exclusivity(unchecked) var pins = PinCounts()
  var snapshotCounter = 0
  /// Not guarded.
  let recent = RecentSnapshot()

  // Belongs to the turn. Exclusive access to what every commit touches is not checked at run time: who has the turn is
  // alone.
  let space: FileSpace
  let pageWriter: SegmentWriter
  let valueWriter: SegmentWriter
  @exclusivity(unchecked) var log: LogWriter
  var superblock: Superblock
  @exclusivity(unchecked) var checkpointUnderWay: Checkpoint?
  var directoryPages: [PageRef]
  let valueIDs: ValueIDs
  @exclusivity(unchecked) var nextTree: UInt32
  var retained: [RetainedEntry]
  var lastRetainedID: UInt64 = 0
  @exclusivity(unchecked) var reserveEstimate = ReserveEstimate()
  /// What the commit under way adds to each tree.
  @exclusivity(unchecked) var coming: [ReserveEstimate.Coming] = []
  /// Where the log stood, and the newest commit, when the frozen delta was frozen.
  var frozenMark = LogWriter().piece(firstSequence: 0)
  var frozenSequence: UInt64 = 0
  /// The next tree identifier then: trees made later come out of the log.
  var frozenNextTree: UInt32 = 0
  /// The superblock on the device says that the store is in use, so that commits may be appended.
  var sessionBegun = false
  /// Whether the superblock came from the file: it is in the file's pages, but perhaps not on the medium.
  var superblockIsProven = true
  /// A copy of it that was whole.
  var wholeSuperblockCopy = 0
  let recordBuilder: LogRecordBuilder
  /// Records that are written together: while a log is recovered.
  var logBatch: LogBatch?
  /// For the next transaction.
  @exclusivity(unchecked) var spareMemory: TransactionMemory?
  /// What a transaction that has ended refers to instead of its memory. Nothing is ever in it.
  let noMemory = TransactionMemory(largestChunk: 0)
  /// What a transaction that has ended holds instead of its changes.
  let noTable = DeltaTable(bucketCount: 1, largestChunk: 0)
  /// The device was closed, or is the caller's again.
  var deviceGivenUp = false
  @exclusivity(unchecked) var counters = StoreCounters()
  var compaction = CompactionState()
  /// Whether the file may be longer than it should be; see ``noteRoom()``.
  @exclusivity(unchecked) var owesRoom = false
  /// What the file may be longer than its content asks for, in any case.
  var spareBytes: UInt64
  /// How often a commit has looked.
  @exclusivity(unchecked) var roomLooks: UInt64 = 0
  #if hasFeature(Embedded)
    /// Always nil, so that the compiler leaves out the code that shares files between processes.
    var share: StoreShare? { nil }
  #else
    /// What this store keeps track of if it shares the file with stores of other processes. Set while opening only.
    var share: StoreShare?
  #endif
  /// How often the store has been suspended.
  let suspensions = Atomic<Int>(0)
  /// What the last step of a checkpoint met when a commit took it further; the next step tries again.
  var lastMaintenanceError: StoreError?

  /// What makes leaves ahead of the merges of large transactions; nil where no other thread does.
  let ahead: PatchesAhead?

  init(
    device: any StorageDevice, environment: any StoreEnvironment, options: StoreOptions, superblock: Superblock,
    space: FileSpace, cache: PageCache, log: LogWriter, generation: Generation, sequence: UInt64,
    directory: Directory, directoryPages: [PageRef], nextValueID: UInt64, nextTree: UInt32
  ) {
    self.device = device
    self.environment = environment
    let threads = Self.threadCount(device, environment, options)
    #if !hasFeature(Embedded)
      threadCount = threads
    #endif
    self.options = options
    self.superblock = superblock
    uuid = superblock.uuid
    self.space = space
    self.cache = cache
    self.log = log
    pageSize = min(Int(superblock.pageSize), PageRef.longestPage)
    storeSeed = superblock.storeSeed
    logSeed = superblock.logSeed
    lock = environment.makeLock()
    current = generation
    visibleSequence = sequence
    durableSequence = sequence
    appendedSequence = sequence
    self.directoryPages = directoryPages
    valueIDs = ValueIDs(next: nextValueID)
    self.nextTree = nextTree
    retained = directory.retained
    spareBytes = UInt64(max(0, options.spareBytes))
    let alignment = options.durability == .strict ? LogWriter.strictBlock : 16
    recordBuilder = LogRecordBuilder(
      isStrict: options.durability == .strict, capacity: min(4096, options.bufferLength))
    let pieceSize = max(options.bufferLength, Int(superblock.pageSize))
    let isHelped = threads > 1 && device.allowsConcurrentWrites
    pageWriter = SegmentWriter(
      space: space, kind: .pages, bufferSize: pieceSize, alignment: alignment,
      beginsSyncs: options.durability != .none,
      behind: isHelped
        ? WriteBehind(
          device, environment.makeLock(), pieceSize: pieceSize, beginsSyncs: options.durability != .none) : nil)
    ahead = isHelped ? PatchesAhead(cache, environment.makeLock(), pageSize: pageSize) : nil
    valueWriter = SegmentWriter(space: space, kind: .values, bufferSize: options.bufferLength, alignment: alignment)
  }

  deinit {
    if !deviceGivenUp { device.close() }
  }

  /// Keys are at most this long, in bytes: a quarter of a page.
  public var maxKeyLength: Int { pageSize / 4 }

  /// The store's identifier, made when it was created.
  public let uuid: (UInt64, UInt64)

  /// The environment's time, in milliseconds since 1970-01-01 00:00 UTC.
  public func nowMilliseconds() -> Int64 { environment.nowMilliseconds() }

  /// 64 random bits of the environment.
  public func randomBits() -> UInt64 { environment.randomBits() }

  /// The publication that a checkpoint begun now will make.
  var nextPublication: UInt64 { superblock.publication + 1 }

  // MARK: Snapshots

  /// A view of the newest visible commit. O(1); waits for nothing but a lock that is held for a few instructions.
  ///
  /// If the file is shared with other processes, this looks whether they have committed anything (one small read), and
  /// takes that in: O(what they have committed), and a sync.
  ///
  /// - Throws: ``StoreError/closed``. If the file is shared, also ``StoreError/suspended``, ``StoreError/forked``, and
  ///   what reading throws.
  public func snapshot() throws(StoreError) -> Snapshot {
    if let share { return try sharedSnapshot(share) }
    lock.lock()
    defer { lock.unlock() }
    if isClosed { throw .closed }
    snapshotCounter &+= 1
    if !isPlanted(.viewNotPinned) { pins.add(current.number) }
    return Snapshot(
      core: self, generation: current, upTo: visibleSequence, hint: snapshotCounter, suspensions: 0, moment: recent.now)
  }

  /// How many views were begun so far, transactions aside; those that are begun later are counted, whatever was handed
  /// out before.
  var viewsBegun: Int {
    lock.lock()
    defer { lock.unlock() }
    recent.advance()
    return snapshotCounter
  }

  func unpin(_ number: UInt64) {
    lock.lock()
    if !isPlanted(.viewNeverUnpinned), pins.remove(number) { unpinShared(number) }
    lock.unlock()
  }

  /// Returns the generations that views and transactions of this process hold. Before it looks, it gives up the
  /// snapshot that ``recentSnapshot()`` keeps. Not with the state lock.
  func ownPins() -> [UInt64] {
    recent.giveUp()
    lock.lock()
    defer { lock.unlock() }
    return pins.keys
  }

  // MARK: The turn to write

  /// Waits for the turn to write and begins a transaction.
  ///
  /// - Throws: ``StoreError/readOnly``, ``StoreError/closed``, ``StoreError/poisoned``, ``StoreError/fileLost(_:)``. If
  ///   the file is shared, also ``StoreError/suspended``, ``StoreError/forked``, and the errors of reading the commits
  ///   of other processes.
  public func beginWrite() throws(StoreError) -> WriteTransaction {
    try takeTurn()
    lock.lock()
    let generation = current
    let sequence = appendedSequence
    pins[generation.number, default: 0] += 1
    lock.unlock()
    let transaction = WriteTransaction(core: self, generation: generation, upTo: sequence)
    transaction.pinned = [generation.number]
    return transaction
  }

  func takeTurn() throws(StoreError) {
    if options.isReadOnly { throw .readOnly }
    try requireSameProcess()
    lock.lock()
    turnWaiters += 1
    while turnTaken, !isClosed, !isPoisoned { lock.wait() }
    turnWaiters -= 1
    if isClosed || isPoisoned && !isPlanted(.poisonedStoreWrites) {
      let error: StoreError = isClosed ? .closed : refusalLocked
      let isLeft = !turnTaken
      lock.unlock()
      // It may have been passed on to this thread.
      if isLeft { leaveSharedTurn() }
      throw error
    }
    turnTaken = true
    turnsTaken &+= 1
    lock.unlock()
    do throws(StoreError) { try enterSharedTurn() } catch {
      endTurn()
      throw error
    }
  }

  /// Lets one of those go first who wait for the turn to write, if anybody of this process does: for work in the
  /// background, which would otherwise take the turn again before a thread that waits for it has woken up. Those who
  /// wait for a sync, and would write next, have the processor first; and what the cache takes of memory next is made
  /// ready while nobody waits for it.
  public func letOthersWrite() {
    cache.prepareMemory()
    environment.letOthersRun()
    lock.lock()
    let before = turnsTaken
    while turnWaiters > 0, turnsTaken == before, !isClosed, !isPoisoned { lock.wait() }
    lock.unlock()
  }

  /// - Parameter comesBack: Whether the caller takes the turn again, whatever happens: then other processes have it
  ///   meanwhile if one waits in the queue, and after ``StoreShare/mostHandovers`` turns.
  func endTurn(comesBack: Bool = false) {
    leaveSharedTurn(comesBack: comesBack)
    lock.lock()
    turnTaken = false
    // The turn may have met a cut when it made the file longer.
    let loss = space.loss
    if let loss { noteLossLocked(loss) }
    lock.unlock()
    if loss != nil { lock.wakeAllAside() }
    // Not before: to wake somebody takes as long as many reads, each of which takes the lock.
    lock.wakeAll()
  }

  /// Notes that a write failed that may have reached the device in part, and returns the error to throw.
  ///
  /// That error is never ``StoreError/deviceFull(bytes:)``, because that one promises that nothing was changed.
  func poisoned(by error: StoreError) -> StoreError {
    lock.lock()
    isPoisoned = true
    lock.wakeAll()
    lock.wakeAllAside()
    lock.unlock()
    if case .deviceFull = error, !isPlanted(.fullDeviceHidesPoison) { return .poisoned }
    return error
  }

  // MARK: Syncs

  /// Makes all commits so far durable. This costs one sync, or none if they are durable already. At ``Durability/none``
  /// the store syncs nothing.
  ///
  /// - Throws: ``StoreError/poisoned`` and ``StoreError/fileLost(_:)``: commits that were not durable may be lost.
  public func makeDurable() throws(StoreError) {
    lock.lock()
    let newest = appendedSequence
    lock.unlock()
    try waitDurable(newest)
  }

  /// Makes all commits so far visible to the views that are opened from then on: waits for their sync, if they need one
  /// for that and it has not returned yet. For who was told no because of a commit, and wants to look at it.
  ///
  /// - Throws: as ``makeDurable()``.
  public func makeVisible() throws(StoreError) {
    lock.lock()
    let newest = appendedSequence
    let isVisible = visibleSequence >= newest
    lock.unlock()
    if !isVisible { try waitDurable(newest) }
  }

  func install(_ generation: Generation) {
    lock.lock()
    current = generation
    lock.unlock()
  }
}

/// What has happened since the store was opened.
struct StoreCounters {
  var commits: UInt64 = 0
  var logBytes: UInt64 = 0
  var checkpoints: UInt64 = 0
  var relocatedBytes: UInt64 = 0
}
