// Checkpoints: begun when the log or the delta has grown enough, taken a few pages further by every commit, and
// published by the rule of two syncs. See Checkpoint for the phases, and Specs for the argument.

extension Store {
  /// Takes everything committed so far into pages and publishes it. Returns when that is durable.
  ///
  /// - Throws: What the device throws; ``StoreError/poisoned``, ``StoreError/readOnly``, ``StoreError/closed``.
  public func checkpoint() throws(StoreError) {
    try takeTurn()
    defer { endTurn() }
    try requireSession()
    try publishEverything()
  }

  /// Finishes what is under way, and publishes what is committed and not published yet. With the turn, in a session.
  func publishEverything() throws(StoreError) {
    try settleCheckpoints()
    if hasUnpublishedCommits {
      try beginCheckpoint()
      try finishCheckpoint()
    }
  }

  /// Does up to about `pages` pages' worth of pending work (a checkpoint that is due or under way). Answers whether
  /// more is left. For hosts that want this done at idle time instead of by commits.
  @discardableResult
  public func maintain(pages: Int) throws(StoreError) -> Bool {
    try takeTurn()
    defer { endTurn() }
    if checkpointUnderWay == nil, !isCheckpointDue { return false }
    try requireSession()
    if checkpointUnderWay == nil { try beginCheckpoint() }
    var budget = pages
    try stepCheckpoint(budget: &budget)
    if let checkpoint = checkpointUnderWay {
      switch checkpoint.phase {
      case .firstSync, .secondSync:
        try syncNow()
        try stepCheckpoint(budget: &budget)
      default: break
      }
    }
    if hasOtherWriters { try finishCheckpoint() }
    try finishPublishing()
    return checkpointUnderWay != nil
  }

  /// Whether the newest superblock's directory lacks a commit. One that came to nothing, such as the making and
  /// dropping of a tree, leaves no trace in the delta, and still has a number.
  var hasUnpublishedCommits: Bool {
    if current.active.nodeCount > 0 || !current.active.trees.isEmpty { return true }
    guard let first = superblock.pieces.first?.firstSequence else { return false }
    return appendedSequence >= first && !isPlanted(.emptyCommitUnpublished)
  }

  var isCheckpointDue: Bool {
    log.length >= UInt64(options.logBytes) || current.active.bytes >= options.deltaBytes
      || superblock.pieces.count > Superblock.maxPieces - 4
  }

  /// Called by every commit with the turn: begins a checkpoint that is due, and takes one that is under way further. If
  /// commits outrun it, it is finished at once.
  func advanceCheckpoint() throws(StoreError) {
    if checkpointUnderWay == nil {
      if isCheckpointDue {
        try beginCheckpoint()
      } else if let plan = try planForRoom() {
        try beginCheckpoint(plan: plan)
      } else {
        return
      }
    } else if isCheckpointDue {
      try finishCheckpoint()
      return
    } else if checkpointUnderWay?.conversion?.isDriven ?? false {
      return
    }
    // What is merged between turns is lost when another process has one.
    if hasOtherWriters { return try finishCheckpoint() }
    var budget = options.logBytes <= 1 << 20 ? 64 : 16
    try stepCheckpoint(budget: &budget)
    try finishPublishing()
  }

  /// If others share the file, a checkpoint that has come to publishing is published within the turn.
  private func finishPublishing() throws(StoreError) {
    guard share != nil, let checkpoint = checkpointUnderWay else { return }
    if case .merging = checkpoint.phase { return }
    try finishCheckpoint()
  }

  /// Freezes the active delta, unless a frozen one is still waiting, and begins to merge it.
  func beginCheckpoint(
    transaction: WriteTransaction? = nil, plan: RelocationPlan? = nil, retain: RetainedEntry? = nil,
    conversion: ValueConversion? = nil
  ) throws(StoreError) {
    if let transaction, transaction.restoring != nil { return try beginRestoring(transaction) }
    var base = current
    let sequence: UInt64
    if base.frozen == nil {
      lock.lock()
      sequence = appendedSequence
      lock.unlock()
      frozenMark = log.piece(firstSequence: sequence + 1)
      frozenSequence = sequence
      if !isPlanted(.freezeForgetsNextTree) { frozenNextTree = nextTree }
      base = Generation(
        number: base.number, trees: base.trees, active: DeltaTable(largestChunk: options.largestDeltaChunk),
        frozen: base.active)
      install(base)
      log.length = 0
      reserveEstimate.freeze()
    } else {
      sequence = isPlanted(.frozenSequenceOfNow) ? appendedSequence : frozenSequence
    }
    let number = nextPublication
    let saved = transaction?.savedTable ?? space.table
    let context: MergeContext
    if let c = transaction?.context {
      context = c
    } else {
      pageWriter.begin(born: number)
      valueWriter.begin(born: number)
      context = MergeContext(
        space: space, cache: cache, pageSize: pageSize, generation: number, pages: pageWriter, values: valueWriter,
        valueIDs: valueIDs)
      context.ahead = ahead
    }
    let input = transaction.map {
      Checkpoint.Input(own: $0.own, spilled: $0.spilled, figures: $0.figures, transaction: $0)
    }
    let chosen: RelocationPlan
    if let plan { chosen = plan } else { chosen = try planRelocation(transaction) }
    var mark = frozenMark
    // A transaction that this checkpoint commits has a sequence, but no record.
    if transaction != nil { mark.firstSequence = sequence + (isPlanted(.publicationMarkTooEarly) ? 1 : 2) }
    let checkpoint = Checkpoint(
      publication: number, sequence: transaction == nil ? sequence : sequence + 1, frozenSequence: sequence,
      base: base, context: context, input: input, plan: chosen, conversion: conversion, mark: mark,
      savedTable: saved)
    checkpoint.retain = retain
    checkpointUnderWay = checkpoint
  }

  /// Takes the checkpoint under way to its end, syncs included. What values it has not converted so far stay as they
  /// are: that need not be done while others wait.
  func finishCheckpoint() throws(StoreError) {
    checkpointUnderWay?.conversion?.stop()
    while let checkpoint = checkpointUnderWay {
      var budget = Int.max
      try stepCheckpoint(budget: &budget)
      switch checkpoint.phase {
      case .firstSync, .secondSync: try syncNow()
      default: break
      }
    }
  }

  /// Finishes the checkpoint under way, and one that was given up, so that no frozen delta is left.
  func settleCheckpoints() throws(StoreError) {
    try finishCheckpoint()
    if current.frozen != nil, !isPlanted(.frozenDeltaForgotten) {
      try beginCheckpoint()
      try finishCheckpoint()
    }
  }

  /// Takes the checkpoint under way further, as far as `budget` pages and the syncs that have happened allow.
  ///
  /// A failure before the superblock is written gives the checkpoint up without harm: its delta stays frozen, and the
  /// next one takes it in. If the device has no room for what the checkpoint moves of its own accord, the checkpoint
  /// begins again and moves nothing. A failure in writing the superblock poisons the store.
  func stepCheckpoint(budget: inout Int) throws(StoreError) {
    while let checkpoint = checkpointUnderWay {
      switch checkpoint.phase {
      case .merging:
        do throws(StoreError) {
          if try !mergeStep(checkpoint, &budget) { return }
        } catch {
          try abandonCheckpoint(checkpoint, after: error)
          continue
        }
        checkpoint.phase = .directory
      case .directory:
        do throws(StoreError) {
          try writeDirectory(checkpoint)
        } catch {
          try abandonCheckpoint(checkpoint, after: error)
          continue
        }
        checkpoint.phase = .firstSync(ticket: syncTicket() - (isPlanted(.firstSyncBeganBefore) ? 1 : 0))
      case .firstSync(let ticket):
        if !hasSynced(ticket), !isPlanted(.superblockBeforeFirstSync) { return }
        // Not before: the newest commits in it were not durable, so no view was to see them.
        if checkpoint.input == nil { installResult(of: checkpoint) }
        checkpoint.phase = .superblock
      case .superblock:
        guard let next = checkpoint.superblock else { throw .misuse("no superblock to publish") }
        try writeSuperblock(next)
        superblock = next
        checkpoint.phase = .secondSync(ticket: syncTicket() - (isPlanted(.secondSyncBeganBefore) ? 1 : 0))
      case .secondSync(let ticket):
        if !hasSynced(ticket), !isPlanted(.publishedBeforeSecondSync) { return }
        // The superblock is what commits the transaction.
        if checkpoint.input != nil { installResult(of: checkpoint) }
        publicationIsDurable(checkpoint)
        checkpoint.phase = .done
        checkpointUnderWay = nil
      case .done:
        checkpointUnderWay = nil
      }
    }
  }

  func abandonCheckpoint(_ checkpoint: Checkpoint) {
    checkpointUnderWay = nil
    pageWriter.abandon()
    valueWriter.abandon()
    let units = space.table.fileUnits
    // Log segments that were prepared meanwhile stay.
    let logs = space.table.segments.filter { $0.kind == .log }
    space.table = checkpoint.savedTable
    let forgets = isPlanted(.givenUpCheckpointForgetsLog)
    space.table.removeAll { $0.kind == .log && !forgets }
    for s in logs where !forgets { _ = space.table.insert(s) }
    space.table.fileUnits = units
  }

  /// Gives up a checkpoint that an error has ended, and throws the error. If the copies of what the checkpoint moves
  /// had no room on a full device, it begins again instead and moves nothing, because the reserve holds room for the
  /// merge.
  private func abandonCheckpoint(_ checkpoint: Checkpoint, after error: StoreError) throws(StoreError) {
    abandonCheckpoint(checkpoint)
    // A transaction has lost its pages. A step of a compaction has nothing to do but to move.
    guard case .deviceFull = error, checkpoint.input == nil, checkpoint.conversion == nil, space.bounds == nil,
      !checkpoint.plan.areas.isEmpty
    else { throw error }
    try beginCheckpoint(plan: RelocationPlan(), retain: checkpoint.retain)
  }

  /// Takes back the freezing of a delta that holds nothing, so that no checkpoint needs room for it. Does nothing if
  /// there is anything to publish. The caller has the turn, and no checkpoint is under way.
  func thawEmptyDelta() {
    guard let frozen = current.frozen, frozen.nodeCount == 0, frozen.trees.isEmpty,
      let first = superblock.pieces.first?.firstSequence, frozenSequence &+ 1 == first
    else { return }
    install(Generation(number: current.number, trees: current.trees, active: current.active, frozen: nil))
  }

  /// Merges some more; answers whether all trees are done.
  private func mergeStep(_ c: Checkpoint, _ budget: inout Int) throws(StoreError) -> Bool {
    while true {
      if let sweep = c.sweep {
        if try !sweep.step(budget: &budget) { return false }
        c.trees[sweep.tree] = nil
        c.sweep = nil
      }
      if let (tree, merge) = c.merge {
        if try !merge.step(budget: &budget) { return false }
        finishTree(c, tree, merge.result)
        c.merge = nil
      }
      if budget <= 0 { return false }
      if let tree = c.queue.popLast() {
        startTree(c, tree)
        continue
      }
      if !c.extentsQueued {
        c.extentsQueued = true
        try startExtents(c)
        continue
      }
      return true
    }
  }

  private func startTree(_ c: Checkpoint, _ tree: TreeID) {
    let frozen = c.base.frozen?.list(tree)
    let own = c.input?.own.list(tree)
    let figures = c.input?.figures[tree]
    let dropped = (figures?.dropped ?? false) || (frozen?.wasDropped(upTo: c.frozenSequence) ?? false)
    if dropped {
      // Large values that only the deltas know of have to be freed as well.
      for list in [frozen, own] {
        list?.forEachChange { n in
          if n.op == .putStub, n.sequence != DeltaNode.void, !isPlanted(.droppedTreeKeepsValues),
            let stub = LargeValueStub(n.value)
          {
            c.context.freeValue(stub.id)
          }
        }
      }
      if let state = c.trees[tree] { c.sweep = TreeSweep(tree: tree, state: state, context: c.context) }
      return
    }
    var lists: [(list: DeltaList, after: UInt64, upTo: UInt64)] = []
    if let own { lists.append((own, 0, DeltaNode.void - 1)) }
    if let frozen, c.input?.spilled[tree] == nil { lists.append((frozen, 0, c.frozenSequence)) }
    // A tree whose making was rolled back has left an empty list.
    guard c.trees[tree] != nil || figures?.created ?? false || frozen?.wasCreated(upTo: c.frozenSequence) ?? false
    else {
      return
    }
    guard let kind = c.trees[tree]?.kind ?? frozen?.kind ?? own?.kind ?? figures?.kind else { return }
    let source = c.trees[tree] ?? TreeState(kind: kind)
    let merge = TreeMerge(
      context: c.context, tree: tree, source: source, changes: ChangeStream(lists), relocation: c.plan.relocation(tree),
      conversion: c.conversion?.tree == tree && kind == .integer ? c.conversion : nil)
    c.merge = (tree, merge)
  }

  private func finishTree(_ c: Checkpoint, _ tree: TreeID, _ result: TreeState) {
    var state = result
    state.mergedTo = c.sequence
    if let frozen = c.base.frozen?.list(tree) {
      for index in frozen.counterIndexes(upTo: c.frozenSequence) where !isPlanted(.mergeForgetsCounters) {
        state.addToCounter(index, frozen.counterChange(index, upTo: c.frozenSequence))
      }
    }
    for counter in c.input?.figures[tree]?.counters ?? [] { state.addToCounter(counter.index, counter.value) }
    c.trees[tree] = state
  }

  /// Queues the merge of the tree of extents: what commits and the other merges changed of it.
  private func startExtents(_ c: Checkpoint) throws(StoreError) {
    let source = c.trees[.extents] ?? TreeState(kind: .integer)
    var lists: [(list: DeltaList, after: UInt64, upTo: UInt64)] = []
    if let own = c.input?.own.list(.extents) { lists.append((own, 0, DeltaNode.void - 1)) }
    if let frozen = c.base.frozen?.list(.extents) { lists.append((frozen, 0, c.frozenSequence)) }
    var freed = Set<UInt64>()
    for id in c.context.freedValues where freed.insert(id).inserted {
      try deleteExtents(c, of: id, source, lists)
    }
    for (key, extent) in c.plan.extents where !freed.contains(key >> Extent.numberBits) {
      try c.context.moveExtent(key, extent)
    }
    if let made = c.context.extentChanges.list(.extents) { lists.insert((made, 0, 2), at: 0) }
    let relocation = c.plan.relocation(.extents)
    if lists.isEmpty, relocation == nil { return }
    let merge = TreeMerge(
      context: c.context, tree: .extents, source: source, changes: ChangeStream(lists), relocation: relocation)
    c.merge = (.extents, merge)
  }

  private func deleteExtents(
    _ c: Checkpoint, of id: UInt64, _ source: TreeState,
    _ lists: [(list: DeltaList, after: UInt64, upTo: UInt64)]
  ) throws(StoreError) {
    let first = Extents.key(id, 0)
    var base = BaseCursor(
      tree: .extents, kind: .integer, root: source.root, level: source.level, cache: cache, pageSize: pageSize, hint: 0)
    try base.seek(TreeKey(first))
    while base.isValid, base.key.head >> Extent.numberBits == id {
      c.context.deleteExtent(base.key.head)
      try base.next()
    }
    for (list, after, upTo) in lists where !isPlanted(.freedValueKeepsNewExtents) {
      var cursor = DeltaCursor(list, after: after, upTo: upTo)
      cursor.seek(TreeKey(first))
      while let node = cursor.node, node.head >> Extent.numberBits == id {
        c.context.deleteExtent(node.head)
        cursor.next()
      }
    }
  }

  /// Makes the merged trees those that new views see.
  private func installResult(of c: Checkpoint) {
    lock.lock()
    // What a restoration gives up was frozen, or comes behind.
    let active =
      c.restores && !isPlanted(.restoreKeepsDelta)
      ? DeltaTable(largestChunk: options.largestDeltaChunk) : current.active
    current = Generation(number: c.publication, trees: c.trees, active: active, frozen: nil)
    if c.input != nil {
      appendedSequence = c.sequence
      durableSequence = c.sequence
      visibleSequence = c.sequence
    }
    lock.unlock()
    if c.restores {
      reserveEstimate = ReserveEstimate()
      log.length = 0
    }
    for (id, t) in c.trees { reserveEstimate.setPages(id, t.pages) }
    if let conversion = c.conversion { cache.drop(conversion.replaced) }
  }

  /// Everything that the publication superseded may be used again, as far as no view needs it.
  private func publicationIsDurable(_ c: Checkpoint) {
    lock.lock()
    if durableSequence < c.sequence { durableSequence = c.sequence }
    if visibleSequence < c.sequence { visibleSequence = c.sequence }
    lock.wakeAll()
    lock.unlock()
    directoryPages = c.directoryPages
    retained = c.retainedAfter
    space.durablePublication = c.publication
    superblockIsProven = true
    counters.checkpoints += 1
    // The log before the mark.
    while let first = log.segments.first, first != c.mark.segment.start, !isPlanted(.logBeforeMarkKept) {
      log.segments.removeFirst()
      space.table.remove(start: first)
    }
    log.pieces = superblock.pieces
    reserveEstimate.published()
    space.forgetEmptied()
    // That room could not be given back does not concern what is published, least of all a transaction that it commits:
    // the next checkpoint tries again.
    do throws(StoreError) { try releaseDeadSegments() } catch { noteMaintenanceFailure(error) }
  }
}
