// Copying a store while others write to it. A retained commit stays where it is in the file as long as it is retained,
// so its segments are copied as they lie, without a turn being held:
//
//   the directory of the retained commit -> its segments, byte by byte, to the same places -> is it still retained?
//   -> a log, a new directory and a superblock, as when a store is made -> synced, cleanly closed
//
// Pages refer to each other by their places and by checksums that are seeded with the store's UUID, which the copy
// keeps: nothing has to be read as what it is.

extension Store {
  /// How far a copy has come.
  public struct CopyProgress: Sendable, Equatable {
    /// Bytes copied.
    public var copiedBytes: UInt64
    /// Bytes to copy in all.
    public var totalBytes: UInt64
  }

  /// Makes `target`, whose content is overwritten, a store of its own with exactly the state of a retained commit and
  /// with the same UUID, cleanly closed. Others read and write meanwhile; the turn to write is held for a moment at
  /// both ends. What else is retained is not copied, and neither is room that the commit does not use: where the file
  /// system knows holes, the copy has them.
  ///
  /// - Parameters:
  ///   - id: The retained commit.
  ///   - target: The device, which stays open and is the caller's.
  ///   - progress: Called after each 4 MiB or so, and when everything is copied; the copy ends without a result if it
  ///     answers false.
  /// - Returns: Whether the copy is whole.
  /// - Throws: ``StoreError/snapshotExpired`` if there is no such retained commit, or it lapsed while it was copied;
  ///   what either device throws.
  public func copy(
    retained id: UInt64, to target: any StorageDevice, progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) -> Bool {
    let (entry, template, found, pages) = try retainedDirectory(id)
    var directory = found
    // What is dead is there for other retained commits.
    directory.segments.removeAll { $0.dead != 0 }
    directory.retained = []
    var state = CopyProgress(copiedBytes: 0, totalBytes: 0)
    for s in directory.segments { state.totalBytes += UInt64(s.used) }
    try target.resize(to: 0)
    try target.resize(to: UInt64(Superblock.regionSize))
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: options.bufferLength, alignment: 16)
    defer { chunk.deallocate() }
    var told: UInt64 = 0
    for s in directory.segments.dropLast(isPlanted(.copyMissesLastSegment) ? 1 : 0) {
      // What was cut off behind what is used is left out.
      var offset = 0
      while offset < Int(s.used) {
        let count = min(Int(s.used) - offset, chunk.count)
        let part = UnsafeMutableRawBufferPointer(rebasing: chunk[0..<count])
        let got = try device.read(at: s.address + UInt64(offset), into: part)
        try target.write(UnsafeRawBufferPointer(rebasing: part[0..<got]), at: s.address + UInt64(offset))
        if got < count { break }
        offset += count
      }
      state.copiedBytes += UInt64(s.used)
      if state.copiedBytes - told >= 4 << 20 {
        told = state.copiedBytes
        if !progress(state) { return false }
      }
    }
    if told != state.copiedBytes, !progress(state) { return false }
    let (now, _, _, _) = try retainedDirectory(id)
    guard now.sequence == entry.sequence, now.publication == entry.publication else { throw .snapshotExpired }
    try finishCopy(of: entry, directory, pages, template, on: target)
    return true
  }

  private func retainedDirectory(
    _ id: UInt64
  ) throws(StoreError) -> (RetainedEntry, Superblock, Directory, [PageRef]) {
    try beginLooking()
    defer { endLooking() }
    guard let entry = retained.first(where: { $0.id == id || isPlanted(.copyTakesLapsedCommit) }) else {
      throw .snapshotExpired
    }
    let (directory, pages) = try Store.readDirectory(superblock, entry.directory, entry.directoryBytes, device)
    return (entry, superblock, directory, pages)
  }

  /// Makes a store of copied segments.
  private func finishCopy(
    of entry: RetainedEntry, _ directory: Directory, _ pages: [PageRef], _ template: Superblock,
    on target: any StorageDevice
  ) throws(StoreError) {
    var superblock = template
    superblock.publication = entry.publication
    superblock.generation = entry.publication
    superblock.directory = entry.directory
    superblock.directoryBytes = entry.directoryBytes
    superblock.durableSequence = entry.sequence
    superblock.session = environment.randomBits() | 1
    superblock.logNumber = environment.randomBits()
    superblock.isClean = false
    superblock.pieces = []
    var options = options
    options.isReadOnly = false
    options.cacheBytes = min(options.cacheBytes, 1 << 20)
    let space = FileSpace(device: target, storeSeed: superblock.storeSeed)
    space.session = superblock.session
    space.durablePublication = superblock.publication
    for s in directory.segments where !space.table.insert(s) {
      throw .corrupt(place: .segment, offset: s.address, detail: "segments of a retained commit overlap")
    }
    try target.resize(to: UInt64(space.table.usedUnits) * UInt64(SegmentTable.unitSize))
    space.table.fileUnits = space.table.usedUnits
    let cache = PageCache(
      device: target, environment: environment, pageSize: Int(superblock.pageSize), bytes: options.cacheBytes,
      storeSeed: superblock.storeSeed, bufferBytes: options.bufferLength)
    let generation = Generation(
      number: superblock.generation, trees: directory.trees,
      active: DeltaTable(largestChunk: options.largestDeltaChunk), frozen: nil)
    let copy = Store(
      device: target, environment: environment, options: options, superblock: superblock, space: space, cache: cache,
      log: LogWriter(), generation: generation, sequence: directory.sequence, directory: directory,
      directoryPages: pages, nextValueID: directory.nextValueID, nextTree: directory.nextTree)
    copy.deviceGivenUp = true
    defer {
      copy.lock.lock()
      copy.isClosed = true
      copy.lock.unlock()
    }
    for (id, t) in directory.trees { copy.reserveEstimate.setPages(id, t.pages) }
    copy.log.session = superblock.session
    let first = try copy.prepareLogSegment()
    let second = try copy.prepareLogSegment()
    copy.enterLogSegment(first, next: second)
    try copy.beginCheckpoint()
    try copy.finishCheckpoint()
    try copy.markClean()
  }
}
