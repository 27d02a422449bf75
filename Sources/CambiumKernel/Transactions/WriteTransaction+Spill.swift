// A transaction whose changes outgrow memory takes them into pages of its own, which nothing else reaches until it
// commits: for each tree that it changed, its own changes and the whole delta, since the pages stand in for both.

extension WriteTransaction {
  func spillIfLarge() throws(StoreError) {
    if own.bytes > core.options.deltaBytes { try spill() }
  }

  /// Takes the transaction's changes into pages.
  func spill() throws(StoreError) {
    try prepareToMerge()
    guard let context else { return }
    do throws(StoreError) { try spill(context) } catch {
      failure = error
      throw error
    }
  }

  private func spill(_ context: MergeContext) throws(StoreError) {
    let last = DeltaNode.void - 1
    let fresh = DeltaTable()
    var kept: [DeltaNode] = []
    for tree in own.trees.sorted() {
      guard let list = own.list(tree) else { continue }
      guard let access = find(tree) else {
        // Dropped: the large values that only the transaction knows of go with it.
        freeValues(of: list, context)
        continue
      }
      if tree == .extents {
        // These are few; they stay in memory until the commit.
        let copy = fresh.makeList(tree, .integer)
        for node in journal where node.sequence != DeltaNode.void && list.contains(node) {
          kept.append(
            fresh.add(
              copy, sequence: node.sequence, key: node.key, value: node.value, op: node.op, effect: node.effect))
        }
        continue
      }
      let (source, committed) = mergeSource(tree, access.kind)
      let merge = TreeMerge(
        context: context, tree: tree, source: source, changes: ChangeStream([(list, 0, last)] + committed))
      var budget = Int.max
      _ = try merge.step(budget: &budget)
      spilled[tree] = merge.result
    }
    // The cache may drop these pages at once: from here on they are read from the device.
    try context.flush()
    kept += takeExtents(context, into: fresh)
    forgetKnown()
    own = fresh
    journal = kept
  }

  /// Notes in a table of changes the extents of values that went out of line with pages; answers the changes.
  func takeExtents(_ context: MergeContext, into table: DeltaTable) -> [DeltaNode] {
    let (made, source) = context.takeExtentChanges()
    if made.isEmpty { return [] }
    var nodes: [DeltaNode] = []
    let extents = table.makeList(.extents, .integer)
    for node in made {
      step += 1
      nodes.append(
        table.add(extents, sequence: step, key: node.key, value: node.value, op: node.op, effect: node.effect))
      figures[.extents, default: Figures(kind: .integer)].count += Int64(node.effect)
    }
    withExtendedLifetime(source) {}
    return nodes
  }

  /// The pages of a tree as the transaction has them, and what has to be merged into them beside its own changes: the
  /// deltas, unless its pages hold them already.
  func mergeSource(_ tree: TreeID, _ kind: TreeKind) -> (source: TreeState, lists: [ChangeStream.Window]) {
    if let t = spilled[tree] { return (t, []) }
    var lists: [ChangeStream.Window] = []
    if let access = committed(tree) {
      if let l = access.active { lists.append((l, access.after, access.upTo)) }
      if let l = access.frozen { lists.append((l, access.after, access.upTo)) }
    }
    return (generation.trees[tree] ?? TreeState(kind: kind), lists)
  }

  private func freeValues(of list: DeltaList, _ context: MergeContext) {
    list.forEachChange { n in
      if n.op == .putStub, n.sequence != DeltaNode.void, let stub = LargeValueStub(n.value) {
        context.freeValue(stub.id)
      }
    }
  }

  /// Finishes the checkpoint under way, since its outcome and this transaction's pages would not know of one another,
  /// and notes what a rollback has to restore.
  func prepareToMerge() throws(StoreError) {
    if context != nil { return }
    try core.requireSession()
    try core.settleCheckpoints()
    core.lock.lock()
    let now = core.current
    core.pins[now.number, default: 0] += 1
    core.lock.unlock()
    generation = now
    forgetKnown()
    pinned.append(now.number)
    if savedTable == nil { savedTable = savedValueTable ?? core.space.table }
    core.pageWriter.begin(born: core.nextPublication)
    if savedValueTable == nil {
      savedValueTable = savedTable
      core.valueWriter.begin(born: core.nextPublication)
    }
    context = MergeContext(
      space: core.space, cache: core.cache, pageSize: core.pageSize, generation: core.nextPublication,
      pages: core.pageWriter, values: core.valueWriter,
      valueIDs: core.valueIDs)
  }
}

extension DeltaList {
  /// Whether `node` belongs to this list: its key leads to it.
  func contains(_ node: DeltaNode) -> Bool {
    var n = find(node.key, after: 0, upTo: DeltaNode.void)
    while let candidate = n {
      if candidate.p == node.p { return true }
      n = candidate.older
    }
    return false
  }
}
