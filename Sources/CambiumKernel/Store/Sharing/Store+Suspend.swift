// Giving every lock up for a while: some systems end a process that is suspended with locks on a shared file.

import Synchronization

extension Store {
  /// Gives up what keeps other processes from anything: the turn to write, and the room that open snapshots hold. Waits
  /// for the transaction of this process that is under way. Until ``resume()`` nothing is read or written:
  /// ``StoreError/suspended``.
  ///
  /// Does nothing if the file is this store's alone, or if it is suspended.
  ///
  /// - Throws: ``StoreError/closed``, ``StoreError/forked``; what the device throws. Commits at ``Durability/normal``
  ///   are synced first.
  public func suspend() throws(StoreError) {
    guard let share else { return }
    try requireSameProcess()
    lock.lock()
    while turnTaken, !isClosed { lock.wait() }
    if isClosed || share.isSuspended {
      let error: StoreError? = isClosed ? .closed : nil
      lock.unlock()
      if let error { throw error }
      return
    }
    turnTaken = true
    while share.isStateTaken, !share.hasTurn { lock.wait() }
    // New views and transactions are refused from here on.
    share.isSuspended = true
    let mustSync = options.durability == .normal && !options.isReadOnly && !isPoisoned
    lock.unlock()
    defer { endSuspending(share) }
    if mustSync, !isPlanted(.suspendedCommitsUnsynced) { try syncNow() }
  }

  private func endSuspending(_ share: StoreShare) {
    try? pageWriter.behind?.drain()
    // What was merged may lie in room that others take.
    if checkpointUnderWay != nil || current.frozen != nil { share.mustReload = true }
    cache.mayBeOvertaken.store(true, ordering: .sequentiallyConsistent)
    suspensions.wrappingAdd(1, ordering: .sequentiallyConsistent)
    lock.lock()
    share.hasTurn = false
    share.isStateTaken = false
    share.handovers = 0
    share.mark.isCertain = false
    share.lockedPins = []
    lock.unlock()
    share.locks.giveUp(StoreLockPlace.all)
    // Only now: whoever resumes the store takes locks.
    releaseThreadTurn()
  }

  /// Takes a suspended store up again. Snapshots from before whose room others may have used again throw
  /// ``StoreError/snapshotExpired`` from now on; if nobody has written meanwhile, none does.
  ///
  /// - Throws: ``StoreError/busy`` if another process has taken the file for itself meanwhile: try again later, or
  ///   close the store. ``StoreError/closed``, ``StoreError/forked``; what the device throws.
  public func resume() throws(StoreError) {
    guard let share else { return }
    try requireSameProcess()
    lock.lock()
    while turnTaken, !isClosed { lock.wait() }
    if isClosed || !share.isSuspended {
      let error: StoreError? = isClosed ? .closed : nil
      lock.unlock()
      if let error { throw error }
      return
    }
    turnTaken = true
    let pinned = pins.keys.ordered()
    let mark = share.mark
    lock.unlock()
    do throws(StoreError) {
      try Store.announce(share.locks, options)
      if !options.isReadOnly, try !share.locks.tryLock(.shared, StoreLockPlace.writers) { throw .busy }
      // Pins first: what is found to be the newest then stays.
      for number in pinned where try !share.locks.tryLock(.shared, StoreLockPlace.pin(number)) { throw .busy }
      var isSame = try isUnchanged(since: mark)
      // Meanwhile others may have written that leave the mark alone.
      if isSame { isSame = try peekPublication(after: mark.publication) <= mark.publication }
      var oldest: UInt64 = 0
      if !isSame {
        oldest = try Store.readSuperblock(device, readOnly: options.isReadOnly).0.generation
        // What was prepared for the log may be another's work as well, even if nothing came of it.
        share.mustReload = true
      }
      lock.lock()
      if oldest > 0 {
        share.expiredBelow = oldest
        share.expiredUpTo = suspensions.load(ordering: .relaxed)
      }
      share.mark = LogEndMark()
      share.lockedPins = Set(pinned)
      share.isSuspended = false
      share.mustAnnounce = !options.isReadOnly
      // Views that ended meanwhile had nothing to unlock yet.
      unlockIdlePins(share, but: nil)
      let isOvertaken = pins.keys.contains { $0 < share.expiredBelow }
      cache.mayBeOvertaken.store(isOvertaken, ordering: .sequentiallyConsistent)
    } catch {
      share.locks.giveUp(StoreLockPlace.all)
      releaseThreadTurn()
      throw error
    }
    lock.unlock()
    releaseThreadTurn()
  }

  private func releaseThreadTurn() {
    lock.lock()
    turnTaken = false
    lock.wakeAll()
    lock.unlock()
  }

  /// Refuses a view from before a suspension that others have overtaken. `suspensions` is how many there had been when
  /// the view was made.
  func requireUnexpired(_ generation: Generation, since suspensions: Int) throws(StoreError) {
    guard let share else { return }
    lock.lock()
    let error: StoreError? =
      share.isSuspended
      ? .suspended
      : suspensions < share.expiredUpTo && generation.number < share.expiredBelow ? .snapshotExpired : nil
    lock.unlock()
    if let error { throw error }
  }
}
