// Committing: one record, one write, one sync; or, for a transaction that is too large for a record, a checkpoint.

extension Store {
  func commit(_ t: WriteTransaction) throws(StoreError) -> UInt64 {
    if t.isEmpty {
      let sequence = t.upTo
      t.rollBack()
      return sequence
    }
    let sequence: UInt64
    do throws(StoreError) {
      lock.lock()
      let poisoned = isPoisoned
      sequence = appendedSequence + 1
      lock.unlock()
      if poisoned { throw .poisoned }
      try requireSession()
      if t.spilled.isEmpty, t.context == nil, try commitByRecord(t, sequence) {
        nextTree = t.nextTree
        counters.commits += 1
        t.end()
        // What a checkpoint meets does not concern this commit, which is in the log; the next checkpoint meets it again.
        do throws(StoreError) { try advanceCheckpoint() } catch { noteMaintenanceFailure(error) }
        endTurn()
        switch options.durability {
        case .full, .strict: try waitDurable(sequence)
        case .normal, .none: break
        }
        return sequence
      }
    } catch {
      t.rollBack()
      throw error
    }
    // Too large for a record.
    do throws(StoreError) {
      try t.prepareToMerge()
      try beginCheckpoint(transaction: t)
      try finishCheckpoint()
    } catch {
      t.rollBack()
      throw error
    }
    let committed = appendedSequence
    nextTree = t.nextTree
    counters.commits += 1
    t.end()
    endTurn()
    return committed
  }

  func noteMaintenanceFailure(_ error: StoreError) {
    lastMaintenanceError = error
  }

  /// Commits `t` by one record; answers false, having done nothing, if that is not possible.
  private func commitByRecord(_ t: WriteTransaction, _ sequence: UInt64) throws(StoreError) -> Bool {
    if t.own.bytes > options.maxRecordBytes * 4 { return false }
    let dropped = try t.dropSupersededValues()
    buildRecord(t)
    if recordBuilder.length > options.maxRecordBytes { return false }
    do throws(StoreError) {
      try requireReserve(for: t)
    } catch {
      guard case .reserveExhausted = error, t.valueBytes.isEmpty else { throw error }
      // What earlier commits hold in reserve becomes pages, and what these supersede becomes free.
      try checkpointBeside(t)
      try requireReserve(for: t)
    }
    if !t.valueBytes.isEmpty {
      // What the record refers to has to be durable before the record can be.
      try valueWriter.flush()
      if options.durability != .none { try syncNow() }
    }
    guard try appendRecord(sequence: sequence) else { return false }
    for extent in dropped { space.release(extent.address, extent.storedLength) }
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

  private func buildRecord(_ t: WriteTransaction) {
    recordBuilder.begin()
    for (tree, f) in t.figures.sorted(by: { $0.key < $1.key }) {
      if f.created, !f.dropped { recordBuilder.created(tree, f.kind) }
      if f.dropped {
        if !f.created { recordBuilder.dropped(tree) }
        continue
      }
      for c in f.counters where c.value != 0 { recordBuilder.counter(tree, c.index, c.value) }
    }
    if !t.valueBytes.isEmpty { recordBuilder.nextValueID(valueIDs.next) }
    if !t.valueBytes.isEmpty {
      for (start, added) in t.valueBytes.sorted(by: { $0.key < $1.key }) {
        if let i = space.table.index(start: start) { recordBuilder.valueSegment(space.table[i], added: added) }
      }
    }
    for tree in t.own.trees.sorted() {
      guard let list = t.own.list(tree), !(t.figures[tree]?.dropped ?? false) else { continue }
      t.eachNetChange(list) { node, isNew in
        if node.op == .delete {
          recordBuilder.delete(tree, list.kind, node.key)
        } else {
          recordBuilder.put(tree, list.kind, node.key, node.value, isStub: node.op == .putStub, isNew: isNew)
        }
      }
    }
  }

  /// Puts the changes of a transaction whose record is in the log into the active delta.
  private func apply(_ t: WriteTransaction, _ sequence: UInt64) {
    let active = current.active
    for (tree, f) in t.figures {
      if f.created && f.dropped { continue }
      let list = active.makeList(tree, f.kind)
      if f.created { active.addEvent(list, .created, sequence: sequence, index: 0, total: 0) }
      if f.dropped { active.addEvent(list, .dropped, sequence: sequence, index: 0, total: 0) }
      for c in f.counters where c.value != 0 {
        let total = list.counterChange(c.index, upTo: sequence) &+ c.value
        active.addEvent(list, .counter, sequence: sequence, index: c.index, total: total)
      }
    }
    for tree in t.own.trees {
      guard let source = t.own.list(tree), !(t.figures[tree]?.dropped ?? false) else { continue }
      let list = active.makeList(tree, source.kind)
      var count: Int64 = 0
      var nodes = 0
      var bytes = 0
      t.eachNetChange(source) { node, isNew in
        let effect = node.op == .delete ? -1 : isNew ? 1 : 0
        active.add(list, sequence: sequence, key: node.key, value: node.value, op: node.op, effect: effect)
        count += Int64(effect)
        nodes += 1
        bytes += node.keyCount + node.valueCount + 24
      }
      if count != 0 {
        active.addEvent(
          list, .count, sequence: sequence, index: 0, total: list.countChange(upTo: sequence) + count)
      }
      reserveEstimate.add(tree, nodes: nodes, bytes: bytes)
    }
    lock.lock()
    appendedSequence = sequence
    if options.durability == .normal || options.durability == .none { visibleSequence = sequence }
    lock.unlock()
  }

  // MARK: The reserve

  /// Units that the next checkpoint may need. A commit that adds anything has to leave some more, so that there is room
  /// left for the deletions that a full device calls for, and for their checkpoints.
  func reserveUnits(adding: Bool = true, coming: [ReserveEstimate.Coming] = []) -> UInt64 {
    let bytes = reserveEstimate.bytes(pageSize: pageSize, coming: coming)
    let directory = UInt64(space.table.segments.count * Segment.encodedSize + reserveEstimate.pages.count * 72 + 8192)
    let units = (bytes + directory) / UInt64(SegmentTable.unitSize - 2 * SegmentHeader.size) + 1
    let margin =
      UInt64(space.preferredUnits) + min(8, UInt64(space.table.usedUnits) / 4) + UInt64(space.table.usedUnits) / 32
    return units + (adding ? margin : 1)
  }

  /// Refuses a commit for whose checkpoint there would be no room.
  private func requireReserve(for t: WriteTransaction) throws(StoreError) {
    var coming: [ReserveEstimate.Coming] = []
    var adding = false
    for tree in t.own.trees {
      if let list = t.own.list(tree) {
        var nodes = 0
        var bytes = 0
        t.eachNetChange(list) { node, _ in
          nodes += 1
          bytes += node.keyCount + node.valueCount + 24
          if node.op != .delete { adding = true }
        }
        coming.append(ReserveEstimate.Coming(tree: tree, nodes: UInt64(nodes), bytes: UInt64(bytes)))
      }
    }
    let units = reserveUnits(adding: adding, coming: coming)
    do throws(StoreError) {
      try space.reserve(units)
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
      if let newest, newest.op != .delete || sum < 0 { body(newest, sum > 0) }
    }
  }
}

/// How much room the next checkpoint may take: the leaves that the deltas' changes may fall into, and the changes.
struct ReserveEstimate {
  struct Pending {
    var nodes: UInt64 = 0
    var bytes: UInt64 = 0
  }

  /// What a commit would add to a tree.
  struct Coming {
    var tree: TreeID
    var nodes: UInt64
    var bytes: UInt64
  }

  /// Pages of each tree at the last publication.
  var pages: [TreeID: UInt64] = [:]
  private var active: [TreeID: Pending] = [:]
  private var frozen: [TreeID: Pending] = [:]

  mutating func add(_ tree: TreeID, nodes: Int, bytes: Int) {
    var pending = active[tree] ?? Pending()
    pending.nodes += UInt64(nodes)
    pending.bytes += UInt64(bytes)
    active[tree] = pending
  }

  mutating func freeze() {
    frozen = active
    active = [:]
  }

  mutating func published() { frozen = [:] }

  /// - Parameter coming: what a commit is about to add, one for each tree.
  func bytes(pageSize: Int, coming: [Coming] = []) -> UInt64 {
    var sum: UInt64 = 0
    func add(_ tree: TreeID, _ p: Pending) {
      let touched = min(p.nodes, pages[tree] ?? 0)
      sum += touched * UInt64(pageSize) * 9 / 8 + p.bytes * 5 / 4 + UInt64(pageSize) * 4
    }
    for (tree, p) in active {
      var all = p
      for c in coming where c.tree == tree {
        all.nodes += c.nodes
        all.bytes += c.bytes
      }
      add(tree, all)
    }
    for c in coming where active[c.tree] == nil { add(c.tree, Pending(nodes: c.nodes, bytes: c.bytes)) }
    for (tree, p) in frozen { add(tree, p) }
    return sum
  }
}
