// Syncs: one at a time, each for all commits that were appended before it began.

extension Store {
  /// Waits until a sync that was begun after the append of commit `sequence` has returned. Commits that wait together
  /// share one sync. Closing syncs what was committed before.
  func waitDurable(_ sequence: UInt64) throws(StoreError) {
    lock.lock()
    while durableSequence < sequence { try waitForSyncLocked(gathers: true) }
    lock.unlock()
  }

  /// Runs a sync that begins after the call.
  func syncNow() throws(StoreError) {
    lock.lock()
    let needed = isSyncing && isPlanted(.syncNowJoinsRunningSync) ? syncsStarted : syncsStarted + 1
    while syncsCompleted < needed { try waitForSyncLocked(gathers: false) }
    lock.unlock()
  }

  /// Waits for something that happens while a sync is on its way, or runs one; called and left with the lock held. On
  /// failure the lock is given up.
  ///
  /// - Parameter gathers: Whether one that is run may wait for others that are about to commit: not with the turn.
  private func waitForSyncLocked(gathers: Bool) throws(StoreError) {
    // Aside: turns that end meanwhile are nothing to wake up for.
    if !isPoisoned, isSyncing { return lock.waitAside() }
    if isPoisoned || isClosed {
      let error: StoreError = isPoisoned ? refusalLocked : .closed
      lock.unlock()
      throw error
    }
    isSyncing = true
    if gathers { gatherLocked() }
    try syncLocked()
  }

  /// Lets those who waited for the sync before commit once more, so that one sync is for all of them: they were woken
  /// by its end, and would all wait twice as long if half of them came just behind the beginning of this one. Called
  /// and left with the lock held, which is given up meanwhile.
  ///
  /// Who commits alone waits for nobody. The others are given up when none of them has come for a while.
  private func gatherLocked() {
    var newest = appendedSequence
    var idle = 0
    while newest &- durableSequence < committersExpected, idle < Self.mostIdle {
      lock.unlock()
      environment.letOthersRun()
      lock.lock()
      idle = appendedSequence == newest ? idle + 1 : 0
      newest = appendedSequence
    }
  }

  /// So many times others are let run without a commit.
  private static let mostIdle = 16
  /// More are not waited for: by then a sync costs each of them little.
  private static let mostExpected: UInt64 = 64

  /// Runs one sync, which ``isSyncing`` tells of already; called and left with the lock held, which is given up
  /// meanwhile. On failure the store is poisoned and the lock given up.
  private func syncLocked() throws(StoreError) {
    syncsStarted += 1
    let ticket = syncsStarted
    var covers = appendedSequence
    let needed = neededLength
    lock.unlock()
    var hasFailed = false
    if options.durability != .none {
      do throws(StoreError) { try device.sync() } catch { hasFailed = true }
    }
    // A sync succeeds even if somebody has deleted the file. All commits that share this sync share this look.
    let loss = hasFailed ? nil : self.loss(of: needed)
    lock.lock()
    if isPlanted(.groupCommitCoversLaterAppends) { covers = appendedSequence }
    isSyncing = false
    if hasFailed && !isPlanted(.failedSyncIgnored) || loss != nil {
      if let loss { noteLossLocked(loss) } else { isPoisoned = true }
      let error = refusalLocked
      lock.wakeAll()
      lock.wakeAllAside()
      lock.unlock()
      throw error
    }
    syncsCompleted = ticket
    // Those that it is for, and those that came meanwhile.
    committersExpected = min(appendedSequence &- min(durableSequence, appendedSequence), Self.mostExpected)
    if durableSequence < covers { durableSequence = covers }
    if visibleSequence < covers { visibleSequence = covers }
    // Who closes waits for its end with the others.
    lock.wakeAll()
    lock.wakeAllAside()
  }

  /// The number that ``syncsCompleted`` reaches when a sync begun from now on has returned.
  func syncTicket() -> UInt64 {
    lock.lock()
    defer { lock.unlock() }
    if isSyncing, isPlanted(.ticketOfRunningSync) { return syncsStarted }
    return syncsStarted + 1
  }

  func hasSynced(_ ticket: UInt64) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    return syncsCompleted >= ticket
  }
}
