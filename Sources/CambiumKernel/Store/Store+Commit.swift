// Committing: one record, one write, one sync; or, for a transaction that is too large for a record, a checkpoint.

import Synchronization

extension Store {
  func commit(_ t: WriteTransaction, waits: Bool) throws(StoreError) -> UInt64 {
    if t.isEmpty {
      let sequence = t.upTo
      t.rollBack()
      return sequence
    }
    let sequence: UInt64
    do throws(StoreError) {
      lock.lock()
      let refusal = isPoisoned ? refusalLocked : nil
      sequence = appendedSequence + 1
      lock.unlock()
      if let refusal { throw refusal }
      try requireSession()
      try t.settleTail()
      if t.spilled.isEmpty, t.context == nil, try commitByRecord(t, sequence) {
        nextTree = t.nextTree
        counters.commits += 1
        t.end()
        // What a checkpoint meets does not concern this commit, which is in the log; the next checkpoint meets it
        // again.
        do throws(StoreError) { try advanceCheckpoint() } catch { noteMaintenanceFailure(error) }
        // No sync follows such a commit, so no other call would look at the file.
        let looksAtFile = counters.commits % Self.commitsBetweenFileLooks == 0 || space.loss != nil
        endTurn()
        switch options.durability {
        case .full, .strict: if waits, !isPlanted(.commitDoesNotWait) { try waitDurable(sequence) }
        case .normal, .none: if looksAtFile || isFileLost { try requireFile() }
        }
        return sequence
      }
    } catch {
      t.rollBack()
      throw error
    }
    // Too large for a record.
    do throws(StoreError) {
      try t.settle()
      try t.prepareToMerge()
      try beginCheckpoint(transaction: t)
      try writingBehind { () throws(StoreError) in try self.finishCheckpoint() }
    } catch {
      t.rollBack()
      throw error
    }
    let committed = appendedSequence
    nextTree = t.nextTree
    counters.commits += 1
    // Going back to a retained commit is quick, whatever it gives up: that is for the commits behind it to move.
    let restores = t.restoring != nil
    t.end()
    endTurn()
    // What it superseded, it does not hold itself any more.
    if !restores { settleRoom() }
    return committed
  }

  /// Whether an earlier look, such as that of a checkpoint's sync, found the file lost.
  private var isFileLost: Bool {
    lock.lock()
    defer { lock.unlock() }
    return fileLoss != nil
  }

  func noteMaintenanceFailure(_ error: StoreError) {
    lastMaintenanceError = error
  }

  /// Changes that take more memory are not tried to be put into one record.
  var largestOfRecords: Int {
    // On a machine of 32 bits, four times the option may be more than `Int` holds.
    let (bytes, isTooMuch) = options.maxRecordBytes.multipliedReportingOverflow(by: 4)
    return isTooMuch ? .max : bytes
  }

  /// Commits `t` by one record; answers false, having done nothing, if that is not possible.
  private func commitByRecord(_ t: WriteTransaction, _ sequence: UInt64) throws(StoreError) -> Bool {
    if t.own.bytes > largestOfRecords { return false }
    let dropped = try t.dropSupersededValues()
    coming.removeAll(keepingCapacity: true)
    defer { coming.removeAll(keepingCapacity: true) }
    let adding = buildRecord(t)
    if recordBuilder.length > options.maxRecordBytes {
      recordBuilder.trim()
      return false
    }
    do throws(StoreError) {
      try requireReserve(adding: adding)
    } catch {
      guard case .reserveExhausted = error, t.valueBytes.isEmpty else { throw error }
      // What earlier commits hold in reserve becomes pages, and what these supersede becomes free.
      try checkpointBeside(t)
      try requireReserve(adding: adding)
    }
    if !t.valueBytes.isEmpty {
      // What the record refers to has to be durable before the record can be.
      try valueWriter.flush()
      if options.durability != .none, !isPlanted(.recordBeforeItsValues) { try syncNow() }
    }
    guard try appendRecord(sequence: sequence) else { return false }
    for extent in dropped where !isPlanted(.supersededExtentsKept) {
      space.release(extent.address, extent.storedLength)
    }
    apply(t, sequence)
    return true
  }

  /// Takes a checkpoint while `t` waits to be committed by a record. The transaction reads nothing any more, so that
  /// what it could still see need not be kept.
  private func checkpointBeside(_ t: WriteTransaction) throws(StoreError) {
    for number in t.pinned { unpin(number) }
    t.pinned = []
    try publishEverything()
    // The accounts of before are not to be gone back to; nothing of the transaction is in them.
    t.savedValueTable = nil
    lock.lock()
    t.generation = current
    pins[current.number, default: 0] += 1
    t.pinned = [current.number]
    lock.unlock()
  }

  /// Builds the record, and notes in ``coming`` what it adds to each tree. Answers whether it puts anything.
  private func buildRecord(_ t: WriteTransaction) -> Bool {
    recordBuilder.begin()
    for (tree, f) in t.figures.entries {
      if f.created, !f.dropped { recordBuilder.created(tree, f.kind) }
      if f.dropped {
        if !f.created { recordBuilder.dropped(tree) }
        continue
      }
      for c in f.counters where c.value != 0 && !isPlanted(.recordLacksCounters) {
        recordBuilder.counter(tree, c.index, c.value)
      }
    }
    if !t.valueBytes.isEmpty {
      if !isPlanted(.recordLacksNextValue) { recordBuilder.nextValueID(valueIDs.next) }
      for (start, added) in t.valueBytes.ordered(by: { $0.key < $1.key }) {
        if let i = space.table.index(start: start) { recordBuilder.valueSegment(space.table[i], added: added) }
      }
    }
    var adding = false
    for tree in t.own.sortedTrees() {
      guard let list = t.own.list(tree) else { continue }
      let isDropped = t.figures.isDropped(tree)
      var nodes = 0
      var bytes = 0
      t.eachNetChange(list) { node, isNew in
        nodes += 1
        bytes += node.keyCount + node.valueCount + 24
        if node.op != .delete { adding = true }
        if isDropped { return }
        if node.op == .delete {
          recordBuilder.delete(tree, list.kind, node.key)
        } else {
          recordBuilder.put(tree, list.kind, node.key, node.value, isStub: node.op == .putStub, isNew: isNew)
        }
      }
      coming.append(ReserveEstimate.Coming(tree: tree, nodes: UInt64(nodes), bytes: UInt64(bytes)))
    }
    return adding
  }

  /// Puts the changes of a transaction whose record is in the log into the active delta.
  private func apply(_ t: WriteTransaction, _ sequence: UInt64) {
    let active = current.active
    for (tree, f) in t.figures.entries {
      if f.created && f.dropped { continue }
      let list = active.makeList(tree, f.kind)
      if f.created { active.addEvent(list, .created, sequence: sequence, total: 0) }
      if f.dropped { active.addEvent(list, .dropped, sequence: sequence, total: 0) }
      for c in f.counters where c.value != 0 {
        let total = list.counterChange(c.index, upTo: sequence) &+ c.value
        active.addCounterEvent(list, c.index, sequence: sequence, total: total)
      }
    }
    for tree in t.own.trees {
      guard let source = t.own.list(tree), !t.figures.isDropped(tree) else { continue }
      let list = active.makeList(tree, source.kind)
      var count: Int64 = 0
      t.eachNetChange(source) { node, isNew in
        let effect = node.op == .delete ? -1 : isNew ? 1 : 0
        active.add(list, sequence: sequence, key: node.key, value: node.value, op: node.op, effect: effect)
        count += Int64(effect)
      }
      if count != 0, !isPlanted(.countNotCommitted) {
        active.addEvent(
          list, .count, sequence: sequence, total: list.countChange(upTo: sequence) + count)
      }
    }
    for c in coming where !t.figures.isDropped(c.tree) { reserveEstimate.add(c) }
    lock.lock()
    appendedSequence = sequence
    let isShown = isPlanted(.visibleBeforeDurable)
    if isShown || options.durability == .normal || options.durability == .none { visibleSequence = sequence }
    noteNeededLengthLocked(publication: superblock.publication)
    lock.unlock()
  }

  // MARK: The reserve

  /// Units that the next checkpoint may need. A commit that adds anything has to leave some more, so that there is room
  /// left for the deletions that a full device calls for, and for their checkpoints.
  func reserveUnits(adding: Bool = true, coming: [ReserveEstimate.Coming] = []) -> UInt64 {
    reserveUnits(reserveEstimate, adding: adding, coming: coming)
  }

  /// The same if what is to be merged is what `estimate` tells.
  func reserveUnits(
    _ estimate: ReserveEstimate, adding: Bool = true, coming: [ReserveEstimate.Coming] = []
  ) -> UInt64 {
    let bytes = estimate.bytes(pageSize: pageSize, coming: coming, written: bytesOfFrozenWritten)
    let directory = UInt64(space.table.segments.count * Segment.encodedSize + estimate.treeCount * 72 + 8192)
    let units = (bytes + directory) / UInt64(SegmentTable.unitSize - 2 * SegmentHeader.size) + 1
    let margin =
      UInt64(space.preferredUnits) + min(8, UInt64(space.table.usedUnits) / 4) + UInt64(space.table.usedUnits) / 32
    return units + (adding ? margin : 1)
  }

  /// How much of what is frozen the checkpoint under way has written: that room need not be there a second time. What
  /// else it writes is not counted, and taken for written first.
  private var bytesOfFrozenWritten: UInt64 {
    guard let checkpoint = checkpointUnderWay, checkpoint.conversion == nil, checkpoint.input == nil else { return 0 }
    return pageWriter.bytesAppended - min(pageWriter.bytesAppended, checkpoint.plan.bytes)
  }

  /// Refuses a commit for whose checkpoint there would be no room.
  private func requireReserve(adding: Bool) throws(StoreError) {
    let units = reserveUnits(adding: adding, coming: coming)
    do throws(StoreError) {
      try space.reserve(isPlanted(.reserveNotTaken) ? 0 : units)
    } catch {
      guard case .deviceFull = error else { throw error }
      throw .reserveExhausted(neededBytes: units * UInt64(SegmentTable.unitSize))
    }
  }
}

extension WriteTransaction {
  /// What the transaction changes in `list` on the whole: for each key the last change, and whether the key is new.
  /// Keys that the transaction put and deleted again are passed over.
  func eachNetChange(_ list: DeltaList, _ body: (DeltaNode, Bool) -> Void) {
    list.forEachKey { first in
      var newest: DeltaNode?
      var sum = 0
      var node: DeltaNode? = first
      while let candidate = node {
        if candidate.sequence != DeltaNode.void {
          if newest == nil { newest = candidate }
          sum += candidate.effect
        }
        node = candidate.older
      }
      if let newest, newest.op != .delete || sum < 0 && !isPlanted(.netDeletionLost) { body(newest, sum > 0) }
    }
  }
}
