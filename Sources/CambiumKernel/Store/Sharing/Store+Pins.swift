// Pins: who has a view that descends from a generation holds a shared lock on the generation's byte. A reader locks
// first, and then looks whether the generation still is the newest; a reclaimer publishes first, renews the mark at the
// end of the log, and then looks for locks. So one of the two sees the other.

import Synchronization

extension Store {
  /// A view of the newest commit of all processes.
  func sharedSnapshot(_ share: StoreShare) throws(StoreError) -> Snapshot {
    try requireSameProcess()
    while true {
      lock.lock()
      if isClosed || share.isSuspended {
        let error: StoreError = isClosed ? .closed : .suspended
        lock.unlock()
        throw error
      }
      let generation = current
      let upTo = visibleSequence
      let suspensions = suspensions.load(ordering: .relaxed)
      let isBehind = isBehindOthers(share)
      let hasTurn = share.hasTurn
      let mark = share.mark
      snapshotCounter &+= 1
      let hint = snapshotCounter
      guard pinShared(generation.number) else {
        lock.unlock()
        throw .device(operation: .lock, offset: StoreLockPlace.pin(generation.number).lowerBound, code: 0)
      }
      pins[generation.number, default: 0] += 1
      lock.unlock()
      do throws(StoreError) {
        // With the turn in this process, nobody else can have done anything.
        var isNewest = hasTurn
        if !isBehind, !isNewest { isNewest = try isUnchanged(since: mark) }
        if !isBehind, isNewest {
          return Snapshot(
            core: self, generation: generation, upTo: upTo, hint: hint, suspensions: suspensions)
        }
        try catchUpForReading(share)
        lock.lock()
        let isStillBehind = isBehindOthers(share)
        lock.unlock()
        // Others appended it; who shows it must know that it is durable.
        if isStillBehind, !isPlanted(.foreignCommitShownUnsynced) { try syncNow() }
      } catch {
        unpin(generation.number)
        throw error
      }
      lock.lock()
      // It was pinned before it was seen to be the newest: here, or where everything was read anew.
      let isSame = current.number == generation.number
      if isSame || share.lockedPins.contains(current.number) {
        if !isSame { pins[current.number, default: 0] += 1 }
        let snapshot = Snapshot(
          core: self, generation: current, upTo: visibleSequence, hint: hint, suspensions: suspensions)
        lock.unlock()
        if !isSame { unpin(generation.number) }
        return snapshot
      }
      lock.unlock()
      unpin(generation.number)
    }
  }

  /// Whether commits of others are known that views do not show yet. With the state lock.
  private func isBehindOthers(_ share: StoreShare) -> Bool {
    visibleSequence < min(share.foreignSequence, appendedSequence) && !isPoisoned
  }

  /// Catches up, unless this process has the turn, and so has nothing to catch up with.
  private func catchUpForReading(_ share: StoreShare) throws(StoreError) {
    lock.lock()
    while share.isStateTaken, !share.hasTurn { lock.wait() }
    if share.hasTurn || share.isSuspended || isClosed {
      lock.unlock()
      return
    }
    share.isStateTaken = true
    lock.unlock()
    defer { giveStateUp(share) }
    try catchUp(holdingTurn: false)
  }

  /// Locks the pin of a generation; answers whether it is locked. With the state lock.
  func pinShared(_ number: UInt64) -> Bool {
    guard let share, !share.isSuspended, !share.lockedPins.contains(number) else { return true }
    if isPlanted(.pinNotLocked) { return true }
    do throws(StoreError) {
      guard try share.locks.tryLock(.shared, StoreLockPlace.pin(number)) else { return false }
    } catch { return false }
    share.lockedPins.insert(number)
    return true
  }

  /// Unlocks the pin of a generation that nothing in this process needs any more. With the state lock.
  func unpinShared(_ number: UInt64) {
    // With the device all locks are given up; what is closed may be another file's by now.
    guard let share, !isClosed, share.lockedPins.contains(number) else { return }
    // A forked child shares its parent's locks: what it drops is still in use there.
    if isForked { return }
    share.lockedPins.remove(number)
    if number < share.expiredBelow, !pins.keys.contains(where: { $0 < share.expiredBelow }) {
      cache.mayBeOvertaken.store(false, ordering: .sequentiallyConsistent)
    }
    if !isPlanted(.pinNeverUnlocked) { share.locks.giveUp(StoreLockPlace.pin(number)) }
  }

  /// Unlocks pins that were locked for no view. With the state lock.
  func unlockIdlePins(_ share: StoreShare, but number: UInt64?) {
    for pin in share.lockedPins where pins[pin] == nil && pin != number { unpinShared(pin) }
  }

  /// Returns whether a view of another process holds a generation before `generation`. If the system does not tell, one
  /// does.
  func hasForeignPins(before generation: UInt64) -> Bool {
    share?.locks.hasOthers(in: StoreLockPlace.pins(before: generation)) ?? false
  }

  /// The most questions that one call of ``foreignPins(in:)`` asks. Each is a system call, and each pin takes two.
  static var mostPinQuestions: Int { 256 }

  /// Returns the generations in a range that views of other processes hold.
  ///
  /// The system names some lock in a range, not all of them. So the generations on both sides of it are asked about
  /// next. A generation that the system does not tell about counts as held, and so do those that are left after
  /// ``mostPinQuestions``.
  func foreignPins(in generations: Range<UInt64>) -> [ClosedRange<UInt64>] {
    guard let share else { return [] }
    var held: [ClosedRange<UInt64>] = []
    var left = [StoreLockPlace.pins(generations)]
    var questions = 0
    while let places = left.popLast() {
      if places.isEmpty { continue }
      let first = places.lowerBound - StoreLockPlace.pins
      let last = places.upperBound - 1 - StoreLockPlace.pins
      questions += 1
      guard questions <= Self.mostPinQuestions else {
        held.append(first...last)
        continue
      }
      let found: UInt64?
      do throws(StoreError) { found = try share.locks.othersLock(in: places) } catch {
        held.append(first...last)
        continue
      }
      guard let found else { continue }
      // A lock on several pins may begin before the range.
      let place = min(max(found, places.lowerBound), places.upperBound - 1)
      held.append(place - StoreLockPlace.pins...place - StoreLockPlace.pins)
      left.append(places.lowerBound..<place)
      left.append(place + 1..<places.upperBound)
    }
    return held
  }
}
