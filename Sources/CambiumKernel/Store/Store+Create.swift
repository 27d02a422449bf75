extension Store {
  /// Makes a new, empty store on `device`, whose content is overwritten, and opens it. It is durable when this returns.
  ///
  /// - Throws: ``StoreError/misuse(_:)`` for a page size that is not a power of two from 4,096 to 65,536, and for a
  ///   device that other processes may have open; ``StoreError/tooLittleMemory(_:neededBytes:)``; what the device
  ///   throws.
  public static func create(
    on device: any StorageDevice, environment: any StoreEnvironment, options: StoreOptions = StoreOptions()
  ) throws(StoreError) -> Store {
    guard StoreOptions.isPageSize(options.pageSize) else {
      throw .misuse("the page size must be a power of two from 4,096 to 65,536")
    }
    try options.requireMemory(pageSize: options.pageSize)
    if options.isReadOnly { throw .readOnly }
    if device.locks != nil {
      throw .misuse("a store is not made on a shared device: make it on a device of this process alone, then open it")
    }
    var superblock = Superblock()
    superblock.uuid = options.uuid ?? (environment.randomBits(), environment.randomBits())
    superblock.pageSize = UInt32(options.pageSize)
    superblock.created = UInt64(clamping: environment.nowMilliseconds())
    superblock.logNumber = environment.randomBits()
    superblock.unicodeVersion = options.unicodeVersion
    superblock.session = environment.randomBits() | 1
    let seed = superblock.storeSeed
    let space = FileSpace(device: device, storeSeed: seed)
    space.session = superblock.session
    try device.resize(to: 0)
    try device.resize(to: UInt64(Superblock.regionSize))
    let cache = PageCache(
      device: device, environment: environment, pageSize: options.pageSize, bytes: options.cacheBytes, storeSeed: seed,
      bufferBytes: options.bufferLength)
    let generation = Generation(
      number: 0, trees: [.extents: TreeState(kind: .integer)],
      active: DeltaTable(largestChunk: options.largestDeltaChunk), frozen: nil)
    let store = Store(
      device: device, environment: environment, options: options, superblock: superblock, space: space, cache: cache,
      log: LogWriter(), generation: generation, sequence: 0, directory: Directory(), directoryPages: [],
      nextValueID: 1, nextTree: TreeID.firstFree)
    store.log.session = superblock.session
    let first = try store.prepareLogSegment()
    let second = try store.prepareLogSegment()
    store.enterLogSegment(first, next: second)
    try store.beginCheckpoint()
    try store.finishCheckpoint()
    // The log is empty and durable: a later opening need not repeat any of it.
    try store.markClean()
    return store
  }

  /// Makes a new, empty store on `device`, cleanly closed, and leaves the device open: what a file is filled with
  /// before it gets its name.
  ///
  /// - Throws: As ``create(on:environment:options:)``.
  public static func format(
    _ device: any StorageDevice, environment: any StoreEnvironment, options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    let store = try create(on: device, environment: environment, options: options)
    store.deviceGivenUp = true
    store.lock.lock()
    store.isClosed = true
    store.lock.unlock()
  }

  /// Makes a prepared segment the one that records go to.
  func enterLogSegment(_ segment: LogSegment, next: LogSegment) {
    log.present = segment
    log.next = next
    log.position = segment.firstRecord(strict: options.durability == .strict)
  }

  /// Publishes that everything is in the pages and the log ends here. Nothing may be appended until the next session
  /// has begun.
  func markClean() throws(StoreError) {
    var next = superblock
    next.publication += 1
    next.isClean = true
    next.durableSequence = appendedSequence
    next.fileUnits = UInt64(space.table.fileUnits)
    next.pieces = [log.piece(firstSequence: appendedSequence + 1)]
    try writeSuperblock(next)
    try syncNow()
    superblock = next
    space.durablePublication = next.publication
    sessionBegun = false
  }

  /// Checkpoints, marks the store as cleanly closed, and gives the device up. Snapshots that are still held must not be
  /// used afterwards. Closing twice does nothing.
  ///
  /// - Throws: The errors of the device. ``StoreError/poisoned`` if an earlier write failed, so that commits at
  ///   ``Durability/normal`` may be lost. ``StoreError/fileLost(_:)`` if the file was deleted or cut. The store is
  ///   closed in any case, and the next opening recovers it.
  public func close() throws(StoreError) { try close(keepingDevice: false) }

  /// Closes the store as ``close()`` does, but leaves the device open, which is the caller's again: for filling a file
  /// before it gets its name.
  public func detach() throws(StoreError) { try close(keepingDevice: true) }

  private func close(keepingDevice: Bool) throws(StoreError) {
    lock.lock()
    while turnTaken, !isClosed { lock.wait() }
    if isClosed {
      lock.unlock()
      return
    }
    turnTaken = true
    let refusal = isPoisoned ? refusalLocked : nil
    lock.unlock()
    defer {
      // What is still on its way belongs to a pass that nothing came of.
      // A forked child has nobody who would end it.
      if !isForked { pageWriter.behind?.discard(closing: true) }
      lock.lock()
      isClosed = true
      turnTaken = false
      lock.wakeAll()
      // Who commits waits for the sync without the turn. What comes behind is refused.
      // In a forked child nobody ends one that was begun before.
      while isSyncing, !isForked { lock.wait() }
      lock.unlock()
      recent.giveUp()
      // Views and transactions that are kept keep the store, but no memory that it worked with.
      spareMemory = nil
      recordBuilder.trim()
      cache.giveUp()
      deviceGivenUp = true
      if !keepingDevice { device.close() } else if let share, !isForked { share.locks.giveUp(StoreLockPlace.all) }
    }
    if options.isReadOnly { return }
    if let refusal { throw refusal }
    if share != nil, try !enterToClose() { return }
    if !sessionBegun { return }
    try publishEverything()
    do throws(StoreError) { try settleRoomAtEnd() } catch {
      if case .fileLost = error { throw error }
      // A store that cannot be made shorter can be closed.
      noteMaintenanceFailure(error)
      try publishEverything()
    }
    try trimFile(toEnd: true)
    try markClean()
  }
}
