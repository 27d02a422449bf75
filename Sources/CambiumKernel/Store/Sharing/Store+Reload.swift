// Another process has published something: everything is read anew, as at opening, and takes the place of what is in
// memory. Views that are open keep what they see.

extension Store {
  /// How often reading is tried again when the file changes meanwhile.
  private static let mostAttempts = 100

  /// How often it is, if others do nothing but publish.
  private static let mostOutrun = 16

  /// How often the same damage has to be found in a row to be believed: what only seems to be damage moves on with what
  /// others append and publish.
  private static let attemptsThatProveDamage = 3

  /// Reads what the file holds without the turn, which others may be using: what is read may not fit together, and is
  /// then read again. The pin of the generation is locked when this returns.
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
        // A record is seen in part while it is written, or its successor when it was not there yet; a superseded directory
        // may be overwritten.
        let now = try readSuperblock(device, readOnly: options.isReadOnly).0.publication
        let times = damage.map { $0.error == error && $0.publication == now ? $0.times : 0 } ?? 0
        damage = (error, now, times + 1)
        if attempt >= mostAttempts || times + 1 >= attemptsThatProveDamage { throw error }
        continue
      }
      if loaded.store.superblock.publication == before.publication {
        let newest = try readSuperblock(device, readOnly: options.isReadOnly).0
        // Where others have published meanwhile, they may have used room of the log again that was still to be read. They
        // have not if what was read reaches to where theirs begins. Who is outrun again and again takes what he has read.
        if newest.publication == before.publication || attempt >= mostOutrun { return loaded }
        let first = newest.pieces.first?.firstSequence ?? .max
        if loaded.store.appendedSequence >= max(newest.durableSequence, first &- 1) { return loaded }
      }
      if attempt >= mostAttempts { throw .busy }
    }
  }

  /// Reads everything anew. With the state taken.
  func reload(_ share: StoreShare, holdingTurn: Bool) throws(StoreError) {
    share.mustReload = true
    var small = options
    small.cacheBytes = 0
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
    // What was read back is durable only now, the superblock included; see the specification on failed syncs.
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
    // At durabilities below, what was appended is shown at once.
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
