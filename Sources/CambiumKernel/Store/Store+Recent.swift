import Synchronization

/// The snapshot that was handed out last, kept for who asks next.
///
/// To take a snapshot and to give it up takes a lock twice, and memory for it; applications that read one row in a view
/// of its own pay that for each row. As long as nothing was committed they may have the same one. It lies in one word
/// that is taken out and put back whole, so that nobody waits: who finds the word empty takes a snapshot of their own.
///
/// The snapshot in the word holds its generation, as every view does, and the store. ``Store/ownPins()`` gives the
/// snapshot up before it looks what views hold. So does the store when it is closed, and the caller of
/// ``Store/giveUpRecentSnapshot()``.
final class RecentSnapshot: Sendable {
  #if _pointerBitWidth(_64)
    private let word = Atomic<UInt>(0)
    /// Grows with whatever changes what a new view sees.
    private let clock = Atomic<UInt>(1)

    var now: UInt { clock.load(ordering: .sequentiallyConsistent) }

    /// What was handed out before is not to be handed out again.
    @inline(__always)
    func advance() { clock.wrappingAdd(1, ordering: .sequentiallyConsistent) }

    /// The snapshot, if a new one would see the same.
    @inline(__always)
    func current() -> Snapshot? {
      let taken = word.exchange(0, ordering: .acquiring)
      guard let pointer = UnsafeRawPointer(bitPattern: taken) else { return nil }
      let parked = Unmanaged<Snapshot>.fromOpaque(pointer)
      let snapshot = parked.takeUnretainedValue()
      if snapshot.moment == now {
        put(snapshot, parked)
        return snapshot
      }
      parked.release()
      return nil
    }

    func put(_ snapshot: Snapshot) { put(snapshot, Unmanaged.passRetained(snapshot)) }

    /// Puts a snapshot into the word, counted once for it; what another thread has put there meanwhile is as good.
    @inline(__always)
    private func put(_ snapshot: Snapshot, _ counted: Unmanaged<Snapshot>) {
      let new = UInt(bitPattern: counted.toOpaque())
      if !word.compareExchange(expected: 0, desired: new, ordering: .sequentiallyConsistent).exchanged {
        return counted.release()
      }
      // Who has changed something since may have found the word empty.
      if snapshot.moment != now { giveUp() }
    }

    /// Not with the state lock.
    func giveUp() {
      if word.load(ordering: .sequentiallyConsistent) == 0 { return }
      guard let pointer = UnsafeRawPointer(bitPattern: word.exchange(0, ordering: .acquiring)) else { return }
      Unmanaged<Snapshot>.fromOpaque(pointer).release()
    }

    deinit { giveUp() }
  #else
    // A word does not hold a count that never comes round again.
    var now: UInt { 0 }
    func advance() {}
    func current() -> Snapshot? { nil }
    func put(_ snapshot: Snapshot) {}
    func giveUp() {}
  #endif
}

extension Store {
  /// A view of the newest visible commit, as ``snapshot()``, but perhaps one that others have as well. O(1); waits for
  /// nothing as long as nothing is committed.
  ///
  /// Who calls this has to call ``giveUpRecentSnapshot()`` before letting go of the store: the store keeps the
  /// snapshot, and the snapshot the store.
  ///
  /// - Throws: As ``snapshot()``.
  public func recentSnapshot() throws(StoreError) -> Snapshot {
    // What other processes have committed is not known here.
    if share != nil { return try snapshot() }
    if let known = recent.current() { return known }
    let made = try snapshot()
    recent.put(made)
    return made
  }

  /// Lets go of the snapshot that ``recentSnapshot()`` keeps. It stays as it is for those who have it.
  public func giveUpRecentSnapshot() { recent.giveUp() }
}
