/// A point within a write transaction that it can be rolled back to.
///
/// It stays good until the transaction rolls back to an earlier one, or ends.
public struct Savepoint {
  let transaction: ObjectIdentifier
  let step: UInt64
  let own: DeltaTable
  /// The accounts of that time, once the transaction has changed them.
  let table: SegmentTable?
  let spilled: [TreeID: TreeState]
  let runs: [TreeID: [SpilledRun]]
  let figures: FigureTable
  let valueBytes: [UInt32: UInt32]
  let freedValues: Int
  /// Keeps the pages of that time where they are.
  let hold: PageHold?
}

extension WriteTransaction {
  /// Notes the present state. O(number of trees changed).
  ///
  /// If the transaction's changes outgrow memory afterwards, the savepoint keeps those before it in memory.
  public func savepoint() -> Savepoint {
    keepTail()
    return Savepoint(
      transaction: ObjectIdentifier(self), step: step, own: own,
      table: savedTable == nil && savedValueTable == nil ? nil : core.space.table,
      spilled: spilled, runs: runs, figures: figures, valueBytes: valueBytes,
      freedValues: context?.freedValues.count ?? 0, hold: context == nil ? nil : holdPages())
  }

  /// Undoes what was done after `savepoint`, which stays good. O(number of changes undone).
  ///
  /// - Throws: ``StoreError/misuse(_:)`` for a savepoint of another transaction or one that an earlier rollback undid.
  public func rollBack(to savepoint: Savepoint) throws(StoreError) {
    try requireOpen()
    guard savepoint.transaction == ObjectIdentifier(self), savepoint.step <= step else {
      throw .misuse("the savepoint belongs to another transaction or was undone")
    }
    // All of it came after the savepoint.
    if !isPlanted(.savepointKeepsTail) { tail = nil }
    if savepoint.own !== own {
      // The changes since then went to pages: the table of that time is taken up again. The pages written since are not
      // reached any more; their room comes back with the next checkpoint.
      own = savepoint.own
      journal = []
      var nodes: [DeltaNode] = []
      for tree in own.trees {
        own.list(tree)?.forEachChange { n in if n.sequence != DeltaNode.void { nodes.append(n) } }
      }
      journal = nodes.sorted { $0.sequence < $1.sequence }
    }
    forgetKnown()
    while let last = journal.last, last.sequence > savepoint.step - (isPlanted(.savepointUndoesOneMore) ? 1 : 0) {
      last.makeVoid()
      journal.removeLast()
    }
    // Pages that spilling has replaced since are reached again; the ones it made are not.
    if let then = savepoint.table ?? savedTable ?? savedValueTable {
      for i in core.space.table.segments.indices {
        let start = core.space.table[i].start
        let live = then.index(start: start).map { then[$0].live } ?? 0
        core.space.table[i].live = live
        if live == 0 { core.space.noteEmptied(core.space.table[i]) }
      }
    }
    context?.rollBack(freedCount: savepoint.freedValues)
    spilled = savepoint.spilled
    runs = savepoint.runs
    if !isPlanted(.savepointKeepsCounts) { figures = savepoint.figures }
    // The room stays used, and so the segments stay named.
    for start in valueBytes.keys { valueBytes[start] = savepoint.valueBytes[start] ?? 0 }
  }
}
