// Going back to a retained commit, by a new one: a checkpoint whose directory takes over the roots of the retained
// commit's trees. Nothing is copied: the time depends on the number of segments, and not on what is in them.

import Synchronization

extension Store {
  /// Waits for the turn to write and begins a transaction that sees a retained commit in place of the newest one.
  /// Committing it makes the retained state, with what the transaction changes, the newest: what was committed since is
  /// given up, and can be read through snapshots only that were taken before. Sequences, identifiers of trees and those
  /// of large values go on; they are never used twice. The commit is made by a checkpoint, whatever is changed.
  ///
  /// Nothing is copied, and no row is read: O(segments of the file), whatever was committed since.
  ///
  /// - Parameter keepsRetained: Whether the commit stays retained; it is released with the commit of the transaction if
  ///   not.
  /// - Throws: ``StoreError/snapshotExpired`` if there is no such retained commit; what ``beginWrite()`` throws; what
  ///   reading the retained directory throws.
  public func beginWrite(restoring id: UInt64, keepsRetained: Bool = false) throws(StoreError) -> WriteTransaction {
    try takeTurn()
    do throws(StoreError) {
      return try restoringTransaction(id, keepsRetained: keepsRetained)
    } catch {
      endTurn()
      throw error
    }
  }

  private func restoringTransaction(_ id: UInt64, keepsRetained: Bool) throws(StoreError) -> WriteTransaction {
    guard let entry = retained.first(where: { $0.id == id }) else { throw .snapshotExpired }
    try requireSession()
    try stopMerging()
    let (directory, pages) = try Store.readDirectory(superblock, entry.directory, entry.directoryBytes, device)
    let table = try restoredTable(directory, pages)
    let generation = Generation(
      number: entry.publication, trees: directory.trees, active: DeltaTable(largestChunk: options.largestDeltaChunk),
      frozen: nil)
    let transaction = WriteTransaction(core: self, generation: generation, upTo: entry.sequence)
    transaction.restoring = Restoration(released: keepsRetained ? nil : entry.id)
    // From here on everything is counted as of the retained state; a rollback takes all of this back.
    transaction.savedTable = space.table
    transaction.savedValueTable = space.table
    pageWriter.begin(born: nextPublication)
    valueWriter.begin(born: nextPublication)
    let rounded = space.table
    space.table = table
    for writer in [pageWriter, valueWriter] {
      // Where a writer goes on, in a segment that was begun.
      guard let i = table.index(start: writer.current), let old = rounded.index(start: writer.current) else { continue }
      space.table[i].used = max(table[i].used, rounded[old].used)
    }
    transaction.context = MergeContext(
      space: space, cache: cache, pageSize: pageSize, generation: nextPublication, pages: pageWriter,
      values: valueWriter, valueIDs: valueIDs)
    return transaction
  }

  /// Gives a checkpoint up that is merging: what it merges is not needed. One that has come further is finished.
  private func stopMerging() throws(StoreError) {
    guard let checkpoint = checkpointUnderWay else { return }
    if case .merging = checkpoint.phase { return abandonCheckpoint(checkpoint) }
    try finishCheckpoint()
  }

  /// The segments as they are, with what is live in them counted as of a retained commit, whose directory lies in
  /// `pages`. Everything that it reaches still lies in a segment, since that is what retaining means; of what came
  /// later nothing is live.
  private func restoredTable(_ directory: Directory, _ pages: [PageRef]) throws(StoreError) -> SegmentTable {
    var table = space.table
    for i in table.segments.indices where table[i].kind != .log && !isPlanted(.restoreKeepsNewerCounts) {
      table[i].live = 0
    }
    for s in directory.segments where s.live > 0 {
      var segment = s
      // Its end may have been cut off since, and be a segment of its own now.
      var end = s.start
      var parts: [UInt32] = []
      while end < s.end, let i = table.index(start: end), table[i].kind == s.kind {
        let part = table[i]
        parts.append(part.start)
        let offset = (part.start - s.start) * UInt32(SegmentTable.unitSize)
        if part.used > 0 { segment.used = max(segment.used, offset + part.used) }
        end = part.end
      }
      guard end >= s.start + s.usedUnits, end - s.start <= UInt32(SegmentTable.maxUnits) else {
        throw .corrupt(place: .segment, offset: s.address, detail: "a segment of a retained commit is gone")
      }
      segment.units = end - s.start
      segment.dead = 0
      if parts == [s.start], let i = table.index(start: s.start) {
        table[i] = segment
        continue
      }
      for start in parts { table.remove(start: start) }
      guard table.insert(segment) else {
        throw .corrupt(place: .segment, offset: s.address, detail: "segments of a retained commit overlap others")
      }
    }
    // The retained directory itself is not reached any more.
    for ref in pages {
      guard let i = table.index(of: ref.address) else { continue }
      let length = UInt32(clamping: ref.length)
      table[i].live -= min(table[i].live, length)
    }
    return table
  }

  /// Begins the checkpoint that commits a transaction which goes back to a retained commit. The deltas, frozen or not,
  /// and the log so far are given up with what they hold.
  func beginRestoring(_ t: WriteTransaction) throws(StoreError) {
    guard let context = t.context, let saved = t.savedTable else { throw .misuse("the transaction has ended") }
    lock.lock()
    let sequence = appendedSequence
    lock.unlock()
    checkpointUnderWay = Checkpoint(
      publication: nextPublication, sequence: sequence + 1, frozenSequence: sequence, base: t.generation,
      context: context,
      input: Checkpoint.Input(own: t.own, spilled: t.spilled, figures: t.figures, transaction: t),
      plan: RelocationPlan(), mark: log.piece(firstSequence: sequence + 2), savedTable: saved)
  }
}

/// What a transaction that goes back to a retained commit does besides.
struct Restoration {
  /// The retained commit that is released with the transaction's own, if one is.
  var released: UInt64?
}

extension WriteTransaction {
  /// A view of the newest commit as it was when the transaction began, also if it is not known durable yet. Of a
  /// transaction that goes back to a retained commit, it is what will be given up.
  ///
  /// To be called before the transaction changes anything.
  ///
  /// - Throws: ``StoreError/misuse(_:)`` if the transaction has ended; what locking a pin throws.
  public func newest() throws(StoreError) -> Snapshot {
    try requireOpen()
    core.lock.lock()
    defer { core.lock.unlock() }
    let generation = core.current
    guard core.pinShared(generation.number) else {
      throw .device(operation: .lock, offset: StoreLockPlace.pin(generation.number).lowerBound, code: 0)
    }
    core.snapshotCounter &+= 1
    core.pins[generation.number, default: 0] += 1
    return Snapshot(
      core: core, generation: generation, upTo: core.appendedSequence, hint: core.snapshotCounter,
      suspensions: core.suspensions.load(ordering: .relaxed))
  }

  /// Retains the commit that the transaction builds on, before the transaction changes anything: exactly that one,
  /// since nobody else commits meanwhile. Durable when this returns, whatever becomes of the transaction.
  ///
  /// - Throws: As ``Store/retain(reason:expires:limitBytes:)``; ``StoreError/misuse(_:)`` if something was changed.
  public func retainBase(
    reason: String, expires: UInt64? = nil, limitBytes: UInt64? = nil
  ) throws(StoreError) -> RetainedCommit {
    try requireOpen()
    guard isEmpty, context == nil, savedValueTable == nil else {
      throw .misuse("a transaction retains what it builds on before it changes anything")
    }
    defer {
      // What is in the pages now.
      forgetKnown()
      core.lock.lock()
      generation = core.current
      core.pins[generation.number, default: 0] += 1
      core.lock.unlock()
      // What cursors that were made before read stays where it is.
      pinned.append(generation.number)
    }
    return try core.retainWithTurn(reason: reason, expires: expires, limitBytes: limitBytes)
  }
}
