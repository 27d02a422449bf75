import Synchronization

/// A commit that is kept although newer ones superseded it: the state before a migration, a running backup, time
/// travel.
public struct RetainedCommit: Sendable, Equatable {
  /// Names it.
  public var id: UInt64
  /// The commit.
  public var sequence: UInt64
  /// Why it is kept, as given.
  public var reason: String
  /// When it was made, in milliseconds since 1970.
  public var made: UInt64
  /// When it lapses, in milliseconds since 1970; nil for never.
  public var expires: UInt64?
  /// How many bytes it may hold back before it lapses; nil for any number.
  public var limitBytes: UInt64?
  /// Bytes of segments that only retained commits still need, this one among them.
  public var heldBytes: UInt64
}

extension Store {
  /// Keeps the present state until it is released, lapses at `expires` (milliseconds since 1970), or holds back more
  /// than `limitBytes`. Takes a checkpoint of exactly this commit, and returns when that is durable.
  ///
  /// - Throws: What ``checkpoint()`` throws; ``StoreError/misuse(_:)`` for a reason longer than 1,024 bytes.
  public func retain(
    reason: String, expires: UInt64? = nil, limitBytes: UInt64? = nil
  ) throws(StoreError) -> RetainedCommit {
    try takeTurn()
    defer { endTurn() }
    return try retainWithTurn(reason: reason, expires: expires, limitBytes: limitBytes)
  }

  /// The same, with the turn.
  func retainWithTurn(
    reason: String, expires: UInt64?, limitBytes: UInt64?
  ) throws(StoreError) -> RetainedCommit {
    let text = Array(reason.utf8)
    guard text.count <= 1024 else { throw .misuse("the reason is longer than 1,024 bytes") }
    try requireSession()
    try settleCheckpoints()
    var id: UInt64 = 1
    for entry in retained where entry.id >= id { id = entry.id + 1 }
    // This handle does not use released identifiers again. Others may: a sequence tells such commits apart.
    if !isPlanted(.retainedIdentifierReused) { id = max(id, lastRetainedID + 1) }
    lastRetainedID = id
    let sequence = appendedSequence
    let entry = RetainedEntry(
      id: id, sequence: sequence, publication: nextPublication, made: UInt64(clamping: environment.nowMilliseconds()),
      expires: expires ?? 0, limit: limitBytes ?? 0, reason: text)
    try beginCheckpoint(retain: entry)
    try finishCheckpoint()
    return describe(entry)
  }

  /// The retained commits, the oldest first. Waits for the turn to write, unless the store is open for reading only.
  public func retainedCommits() throws(StoreError) -> [RetainedCommit] {
    try beginLooking()
    defer { endLooking() }
    return retained.filter { !hasLapsed($0) }.map { describe($0) }
  }

  /// Whether the time of a retained commit has come, after which nobody is given it any more. What it holds is given up
  /// by the next checkpoint.
  func hasLapsed(_ entry: RetainedEntry) -> Bool {
    entry.expires != 0
      && entry.expires + (isPlanted(.retainedLapsesLate) ? 1 : 0) <= UInt64(clamping: environment.nowMilliseconds())
  }

  /// Lets a retained commit go. Its room is free when this returns, as far as nothing else needs it.
  ///
  /// - Parameter sequence: If given, the commit has to be this one: identifiers that were released are used again.
  /// - Throws: ``StoreError/snapshotExpired`` when there is no such commit.
  public func release(retained id: UInt64, sequence: UInt64? = nil) throws(StoreError) {
    try takeTurn()
    defer { endTurn() }
    guard retained.contains(where: { $0.id == id && $0.sequence == sequence ?? $0.sequence }) else {
      throw .snapshotExpired
    }
    try requireSession()
    try settleCheckpoints()
    let before = retained
    retained.removeAll { $0.id == id }
    do throws(StoreError) {
      try beginCheckpoint()
      try finishCheckpoint()
    } catch {
      // The file still says that it is retained.
      if !isPlanted(.failedReleaseForgetsCommit) { retained = before }
      throw error
    }
  }

  /// A view of a retained commit.
  ///
  /// - Throws: ``StoreError/snapshotExpired`` when there is no such commit;
  ///   ``StoreError/corrupt(place:offset:detail:)``.
  public func snapshot(retained id: UInt64) throws(StoreError) -> Snapshot {
    if share == nil || !options.isReadOnly { return try pinnedSnapshot(retained: id) }
    // Others may let it go before its pin is locked, and use its room again: it has to be there behind that as well.
    let before = try retainedEntry(id)
    let snapshot: Snapshot
    do throws(StoreError) { snapshot = try pinnedSnapshot(retained: id) } catch {
      if case .corrupt = error, try !isRetained(before) { throw .snapshotExpired }
      throw error
    }
    guard snapshot.sequence == before.sequence, try isRetained(before) else { throw .snapshotExpired }
    return snapshot
  }

  private func retainedEntry(_ id: UInt64) throws(StoreError) -> RetainedEntry {
    try beginLooking()
    defer { endLooking() }
    guard let entry = retained.first(where: { $0.id == id }), !hasLapsed(entry) else { throw .snapshotExpired }
    return entry
  }

  private func isRetained(_ entry: RetainedEntry) throws(StoreError) -> Bool {
    try beginLooking()
    defer { endLooking() }
    return retained.contains {
      $0.id == entry.id && $0.sequence == entry.sequence && $0.publication == entry.publication
    }
  }

  private func pinnedSnapshot(retained id: UInt64) throws(StoreError) -> Snapshot {
    try beginLooking()
    defer { endLooking() }
    guard let entry = retained.first(where: { $0.id == id }), !hasLapsed(entry) else { throw .snapshotExpired }
    let (directory, _) = try Store.readDirectory(superblock, entry.directory, entry.directoryBytes, device)
    let generation = Generation(
      number: entry.publication, trees: directory.trees, active: DeltaTable(largestChunk: options.largestDeltaChunk),
      frozen: nil)
    lock.lock()
    defer { lock.unlock() }
    if isClosed { throw .closed }
    guard pinShared(entry.publication) else {
      throw .device(operation: .lock, offset: StoreLockPlace.pin(entry.publication).lowerBound, code: 0)
    }
    snapshotCounter &+= 1
    if !isPlanted(.retainedViewNotPinned) { pins[entry.publication, default: 0] += 1 }
    return Snapshot(
      core: self, generation: generation, upTo: entry.sequence, hint: snapshotCounter,
      suspensions: suspensions.load(ordering: .relaxed))
  }

  /// Bytes of segments that the newest state does not need, but the retained commit does.
  func heldBytes(_ entry: RetainedEntry) -> UInt64 {
    var sum: UInt64 = 0
    for s in space.table.segments where s.dead != 0 && s.born <= entry.publication && entry.publication < s.dead {
      sum += UInt64(s.length)
    }
    return sum
  }

  private func describe(_ entry: RetainedEntry) -> RetainedCommit {
    RetainedCommit(
      id: entry.id, sequence: entry.sequence, reason: String(decoding: entry.reason, as: UTF8.self), made: entry.made,
      expires: entry.expires == 0 ? nil : entry.expires, limitBytes: entry.limit == 0 ? nil : entry.limit,
      heldBytes: heldBytes(entry))
  }
}
