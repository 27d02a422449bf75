// If another process has published, this one reads everything anew, as at opening, and replaces its state in memory.
// Open views keep what they see.

extension Store {
  /// How many times reading starts again because the file changed meanwhile.
  private static let mostAttempts = 100

  /// After so many attempts, a reader that other processes outrun takes what it has read.
  private static let mostOutrun = 16

  /// How many times in a row the same damage must be found before it counts as damage. What only looks like damage
  /// changes its place as other processes append and publish.
  private static let attemptsThatProveDamage = 3

  /// Reads the file without the turn. Other processes may write meanwhile, so the parts that were read may not fit
  /// together; then everything is read again. The pin of the generation is locked when this returns.
  static func loadBesideOthers(
    on device: any StorageDevice, environment: any StoreEnvironment, options: StoreOptions,
    pin: (UInt64) throws(StoreError) -> Void
  ) throws(StoreError) -> Loaded {
    var attempt = 0
    var damage: (error: StoreError, publication: UInt64, times: Int)?
    while true {
      attempt += 1
      let before = try readSuperblock(device, readOnly: options.isReadOnly).0
      try pin(before.generation)
      let loaded: Loaded
      do throws(StoreError) {
        loaded = try load(on: device, environment: environment, options: options, use: .following)
      } catch {
        guard case .corrupt = error else { throw error }
        // A reader may see part of a record while a writer writes it. It may read a record's place too early, and its
        // successor in time. Another process may have overwritten a superseded directory.
        let now = try readSuperblock(device, readOnly: options.isReadOnly).0.publication
        let times = damage.map { $0.error == error && $0.publication == now ? $0.times : 0 } ?? 0
        damage = (error, now, times + 1)
        if attempt >= mostAttempts || times + 1 >= attemptsThatProveDamage { throw error }
        continue
      }
      if loaded.store.superblock.publication == before.publication {
        let newest = try readSuperblock(device, readOnly: options.isReadOnly).0
        // If another process published meanwhile, it may have used log room again that this reader had not read yet.
        // That is not so if the records that were read reach to where the new log begins. A reader that is outrun again
        // and again takes what it has.
        if newest.publication == before.publication || attempt >= mostOutrun { return loaded }
        let first = newest.pieces.first?.firstSequence ?? .max
        if loaded.store.appendedSequence >= max(newest.durableSequence, first &- 1) { return loaded }
      }
      if attempt >= mostAttempts { throw .busy }
    }
  }

  /// Reads everything anew. The caller has taken the state.
  func reload(_ share: StoreShare, holdingTurn: Bool) throws(StoreError) {
    share.mustReload = true
    var small = options
    small.cacheBytes = PageCache.leastFrames * FrameMemory.stride(pageSize)
    let loaded: Loaded
    if holdingTurn {
      loaded = try Store.load(
        on: device, environment: environment, options: small, use: .following)
    } else {
      do throws(StoreError) {
        loaded = try Store.loadBesideOthers(on: device, environment: environment, options: small) {
          (generation) throws(StoreError) in
          lock.lock()
          let isPinned = pinShared(generation)
          lock.unlock()
          guard isPinned else { throw .device(operation: .lock, offset: 0, code: 0) }
        }
      } catch {
        lock.lock()
        unlockIdlePins(share, but: nil)
        lock.unlock()
        throw error
      }
    }
    let fresh = loaded.store
    let isSynced = options.durability != .none && !isPoisoned
    lock.lock()
    let visible = visibleSequence
    lock.unlock()
    guard fresh.appendedSequence >= visible else {
      throw .corrupt(place: .log, offset: loaded.outcome.end, detail: "commits that were there are gone")
    }
    // This sync makes the bytes that were read durable, the superblock included (Specs/03, "Failed syncs").
    if isSynced { try syncNow() }
    takeOver(fresh, loaded, share, isSynced: isSynced)
    share.mustReload = false
  }

  private func takeOver(_ fresh: Store, _ loaded: Loaded, _ share: StoreShare, isSynced: Bool) {
    checkpointUnderWay = nil
    for writer in [pageWriter, valueWriter] {
      writer.abandon()
      writer.adopt(start: 0)
    }
    space.table = fresh.space.table
    space.durablePublication = fresh.superblock.publication
    space.session = fresh.superblock.session
    loaded.adoptWriters(pages: pageWriter, values: valueWriter)
    log = fresh.log
    superblock = fresh.superblock
    directoryPages = fresh.directoryPages
    valueIDs.skip(to: fresh.valueIDs.next)
    nextTree = fresh.nextTree
    retained = fresh.retained
    for entry in retained where entry.id > lastRetainedID { lastRetainedID = entry.id }
    reserveEstimate = fresh.reserveEstimate
    sessionBegun = !superblock.isClean
    superblockIsProven = true
    wholeSuperblockCopy = fresh.wholeSuperblockCopy
    // At durabilities below `.full`, views show appended records immediately.
    let isShown = isSynced || options.durability == .none
    lock.lock()
    current = fresh.current
    appendedSequence = fresh.appendedSequence
    share.foreignSequence = max(share.foreignSequence, fresh.appendedSequence)
    durableSequence = max(durableSequence, isSynced ? fresh.appendedSequence : fresh.durableSequence)
    visibleSequence = max(visibleSequence, isShown ? fresh.appendedSequence : fresh.durableSequence)
    share.mark = LogEndMark()
    unlockIdlePins(share, but: current.number)
    lock.wakeAll()
    lock.unlock()
  }
}
