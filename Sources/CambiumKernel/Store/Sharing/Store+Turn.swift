// The turn to write among processes: a lock on a byte, behind a queue of one, so that a process in a tight loop does
// not keep the others out.

extension Store {
  /// Takes the turn among processes, and catches up with what others did. Called with the turn of this process.
  func enterSharedTurn() throws(StoreError) {
    guard let share else { return }
    lock.lock()
    let isSuspended = share.isSuspended
    let isPassedOn = share.hasTurn
    lock.unlock()
    if isSuspended { throw .suspended }
    if isPassedOn { return }
    try waitForSharedTurn(share)
    takeState(share)
    do throws(StoreError) { try catchUp(holdingTurn: true) } catch {
      giveStateUp(share)
      share.locks.giveUp(StoreLockPlace.turn)
      throw error
    }
    lock.lock()
    share.hasTurn = true
    lock.wakeAll()
    lock.unlock()
  }

  private func waitForSharedTurn(_ share: StoreShare) throws(StoreError) {
    if !share.mustQueue, try share.locks.tryLock(.exclusive, StoreLockPlace.turn) { return }
    share.mustQueue = false
    var limit = options.turnTimeoutMilliseconds
    try share.locks.waitForLock(StoreLockPlace.queue, limit: &limit)
    do throws(StoreError) { try share.locks.waitForLock(StoreLockPlace.turn, limit: &limit) } catch {
      share.locks.giveUp(StoreLockPlace.queue)
      throw error
    }
    share.locks.giveUp(StoreLockPlace.queue)
  }

  /// Gives the turn up to the other processes, unless threads of this one wait for it, or the caller comes back for it,
  /// and nobody waits in the queue; every so often also then.
  func leaveSharedTurn(comesBack: Bool = false) {
    // A forked child shares its parent's locks, and must not give them up.
    guard let share, !isForked else { return }
    let othersWait = share.locks.hasOthers(in: StoreLockPlace.queue)
    lock.lock()
    guard share.hasTurn else {
      lock.unlock()
      return
    }
    if turnWaiters > 0 || comesBack, !othersWait, !isClosed, !isPoisoned, share.handovers < StoreShare.mostHandovers {
      share.handovers += 1
      lock.unlock()
      return
    }
    share.handovers = 0
    lock.unlock()
    // Others may take the room that it is written to. If it fails, whoever goes on with the pass is told.
    try? pageWriter.behind?.drain()
    lock.lock()
    // Where the store was poisoned meanwhile, several threads give up what was passed on.
    guard share.hasTurn else {
      lock.unlock()
      return
    }
    // Before the lock goes: as long as this is set, nobody looks for what others did.
    share.hasTurn = false
    share.isStateTaken = false
    share.mustQueue = othersWait
    lock.wakeAll()
    lock.unlock()
    share.locks.giveUp(StoreLockPlace.turn)
  }

  /// Waits until nobody else in this process changes what belongs to the turn.
  func takeState(_ share: StoreShare) {
    lock.lock()
    while share.isStateTaken { lock.wait() }
    share.isStateTaken = true
    lock.unlock()
  }

  func giveStateUp(_ share: StoreShare) {
    lock.lock()
    share.isStateTaken = false
    lock.wakeAll()
    lock.unlock()
  }

  /// Whether another process has the store open for writing.
  var hasOtherWriters: Bool { share?.locks.hasOthers(in: StoreLockPlace.writers) ?? false }

  /// Refuses a process that was forked from the one that opened the store: both would share one file and its locks.
  func requireSameProcess() throws(StoreError) {
    if isForked, !isPlanted(.forkedChildWrites) { throw .forked }
  }

  /// Whether this is a child, by fork, of the process that opened the store.
  var isForked: Bool {
    guard let share else { return false }
    return share.process != environment.processIdentifier()
  }

  /// Makes what belongs to the turn stand still, in a store that may be open for reading only: for looking at it.
  func beginLooking() throws(StoreError) {
    if !options.isReadOnly { return try takeTurn() }
    guard let share else { return }
    try requireSameProcess()
    takeState(share)
    do throws(StoreError) {
      while true {
        // Pinned before it is seen to be the newest.
        lock.lock()
        let error: StoreError? = isClosed ? .closed : share.isSuspended ? .suspended : nil
        let number = current.number
        let isPinned = pinShared(number)
        pins[number, default: 0] += 1
        share.lookedAt = number
        lock.unlock()
        do throws(StoreError) {
          if let error { throw error }
          if !isPinned { throw .device(operation: .lock, offset: StoreLockPlace.pin(number).lowerBound, code: 0) }
          try catchUp(holdingTurn: false)
        } catch {
          unpin(number)
          throw error
        }
        if current.number == number { return }
        unpin(number)
      }
    } catch {
      giveStateUp(share)
      throw error
    }
  }

  /// Ends what ``beginLooking()`` began.
  func endLooking() {
    if !options.isReadOnly { return endTurn() }
    guard let share else { return }
    unpin(share.lookedAt)
    giveStateUp(share)
  }
}

extension StoreLocks {
  /// Unlocks; that this fails would mean that the device is closed, and with it the locks are gone.
  func giveUp(_ range: Range<UInt64>) {
    do throws(StoreError) { try unlock(range) } catch {}
  }

  /// Whether others hold locks in a range. If that cannot be told, they do.
  func hasOthers(in range: Range<UInt64>) -> Bool {
    do throws(StoreError) { return try othersLock(in: range) != nil } catch { return true }
  }
}
