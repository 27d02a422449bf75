// A transaction whose changes outgrow memory takes them into pages of its own, which nothing else reaches until it
// commits: for each tree that it changed, its own changes and the whole delta, since the pages stand in for both. Puts
// that fall all over a large tree go to pages apart, and are taken into the tree's later, together.

extension WriteTransaction {
  func spillIfLarge() throws(StoreError) {
    if ownBytes > core.options.deltaBytes { try spill() }
  }

  /// Takes the transaction's changes into pages: into those of the trees, or, where that is `wholly` left open, some
  /// into runs.
  func spill(wholly: Bool = false) throws(StoreError) {
    try prepareToMerge()
    guard let context else { return }
    defer { context.replaced?.giveUp() }
    do throws(StoreError) {
      try core.writingBehind { () throws(StoreError) in try self.spill(context, wholly: wholly) }
    } catch {
      breakOff(error)
      throw error
    }
  }

  private func spill(_ context: MergeContext, wholly: Bool) throws(StoreError) {
    let last = DeltaNode.void - 1
    let fresh = DeltaTable(largestChunk: core.options.largestDeltaChunk)
    var kept: [DeltaNode] = []
    for tree in Set(own.trees).union(runs.keys).ordered() {
      let list = own.list(tree)
      let earlier = runs[tree] ?? []
      if list == nil, earlier.isEmpty || !wholly { continue }
      guard let access = find(tree) else {
        // Dropped: the large values that only the transaction knows of go with it.
        if let list { freeValues(of: list, context) }
        continue
      }
      if tree == .extents, let list {
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
      var mine: [ChangeStream.Window] = []
      if let list { mine.append((list, 0, last)) }
      var budget = Int.max
      if !wholly, let list {
        let parts = try runParts(list, tree, source, earlier, context)
        if !parts.isEmpty {
          var made = earlier
          // No key is in both.
          for part in parts {
            let run = TreeMerge(
              context: context, tree: tree, source: TreeState(kind: access.kind), changes: ChangeStream(mine),
              part: part)
            _ = try run.step(budget: &budget)
            made.append(SpilledRun(state: run.result, isDeletions: part == .deletions))
          }
          runs[tree] = made
          continue
        }
      }
      let changes =
        earlier.isEmpty
        ? ChangeStream(mine + committed)
        : ChangeStream(mine, runs: earlier.reversed().map { RunCursor(context, tree, $0) }, committed)
      let merge = TreeMerge(context: context, tree: tree, source: source, changes: changes)
      _ = try merge.step(budget: &budget)
      spilled[tree] = merge.result
      if earlier.isEmpty { continue }
      runs[tree] = nil
      // What the puts found is known only now.
      let before = self.committed(tree).map { committedCount($0) } ?? 0
      figures[tree, default: Figures(kind: access.kind)].count = Int64(clamping: merge.result.count) - before
    }
    // The cache may drop these pages at once: from here on they are read from the device.
    try context.flush()
    kept += takeExtents(context, into: fresh)
    forgetKnown()
    own = fresh
    journal = kept
  }

  /// So many runs of a tree, and it takes them in: each costs time when they are, and memory of two or three pages,
  /// which a store with a small cache does not have.
  private var mostRuns: Int { min(64, max(1, core.cache.capacity - PageCache.leastFrames)) }

  /// After runs were taken in so often for a look, the transaction makes none any more.
  static let mostLooks = 8

  /// Of what the changes in a list should go to runs: of all, where they fall into so many leaves of a tree that is
  /// larger than themselves that taking them in would write most of it again, else of none. There is a list behind
  /// every run of a tree.
  private func runParts(
    _ list: DeltaList, _ tree: TreeID, _ source: TreeState, _ earlier: [SpilledRun], _ context: MergeContext
  ) throws(StoreError) -> [RunPart] {
    if earlier.count >= mostRuns || earlier.isEmpty && looks >= Self.mostLooks { return [] }
    if earlier.isEmpty, source.bytes < 2 * UInt64(own.bytes) { return [] }
    var cursor = DeltaCursor(list, after: 0, upTo: DeltaNode.void - 1)
    cursor.seekFirst()
    guard let first = cursor.node else { return [] }
    var newest = first
    var puts: UInt64 = 0
    var deletions: UInt64 = 0
    while let node = cursor.node {
      if node.op == .delete { deletions += 1 } else { puts += 1 }
      newest = node
      cursor.next()
    }
    if earlier.isEmpty {
      let low = try context.entries(before: first.key, of: source, tree)
      let high = try context.entries(before: newest.key, of: source, tree)
      // Those of the leaves that the first and the last key fall into are not counted right.
      let uncertain = 2 * (source.count / max(1, source.pages))
      guard high > low, high - low > 2 * (puts + deletions) + uncertain else { return [] }
    }
    return (puts > 0 ? [.puts] : []) + (deletions > 0 ? [.deletions] : [])
  }

  /// What the newest of a tree's runs that has `key` says: whether it was put, and not deleted; nil if none has it.
  func isPutInRuns(_ access: TreeAccess, _ key: TreeKey) throws(StoreError) -> Bool? {
    guard let made = runs[access.id] else { return nil }
    let slot = core.cache.slots.enter(hint)
    defer { core.cache.slots.leave(slot) }
    for run in made.reversed() where !run.state.root.isNone {
      let found = try TreeDescent.find(
        key, root: run.state.root, level: run.state.level, tree: access.id, kind: access.kind, core.cache)
      if found != nil { return !run.isDeletions }
    }
    return nil
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
    defer { allowReuse() }
    if context != nil { return }
    try core.requireSession()
    try core.settleCheckpoints()
    try moveToNewestGeneration()
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
    context?.replaced = ReplacedPages(core)
    context?.ahead = core.ahead
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
