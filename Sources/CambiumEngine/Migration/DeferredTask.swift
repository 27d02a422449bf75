import CambiumKernel

/// Work that a migration put off.
public struct DeferredTask: Sendable, Equatable {
  /// What there is to do.
  public enum Kind: Sendable, Equatable {
    /// The rows of an entity still hold values of attributes that are gone, which are not read, but take room; or have values and
    /// links elsewhere than the model does, which takes longer to read. So it is until every row was written again.
    case rewriteRows
    /// An index is not built yet. Fetches do without it.
    case buildIndex
  }

  /// What there is to do.
  public var kind: Kind
  /// The entity; for an index the one that declares it.
  public var entity: String
  /// The index.
  public var index: String?
  /// The rows of its hierarchy, to go through.
  public var rows: UInt64
  /// The pages that they are in, as of the last checkpoint.
  public var pages: UInt64
  /// The bytes of these; where rows are rewritten, some of them will be freed.
  public var bytes: UInt64
  /// The row that the task goes on at; 0 if it has not begun.
  public var nextRow: UInt64

  /// One line: what there is to do.
  public var description: String {
    let what: String
    switch kind {
    case .rewriteRows: what = "rewrite the rows of \(entity), which are as an earlier model had them"
    case .buildIndex: what = "build index \(entity).\(index ?? "")"
    }
    return what + " (\(rows) rows, \(bytes) bytes" + (nextRow > 0 ? ", begun)" : ")")
  }

  /// Whether both are the same task, however far it has come.
  public func isSame(as other: DeferredTask) -> Bool {
    kind == other.kind && entity == other.entity && index == other.index
  }
}

extension EntityStore {
  /// What migrations have put off and nobody has done yet, in the order in which it is done. Any process may do it.
  public func deferredTasks() throws(EngineError) -> [DeferredTask] {
    let view = try view()
    let catalogue = try Catalogue(view.trees)
    var tasks: [DeferredTask] = []
    func add(_ kind: DeferredTask.Kind, _ entity: EntitySchema, _ index: String?, _ next: UInt64) throws(EngineError) {
      let tree = try plan(entity.id).rows
      let statistics = try storing { () throws(StoreError) in try view.trees.statistics(tree) }
      tasks.append(
        DeferredTask(
          kind: kind, entity: entity.name, index: index, rows: statistics.entries, pages: statistics.pages,
          bytes: statistics.pageBytes, nextRow: next))
    }
    for (id, next) in catalogue.building.sorted(by: { $0.key < $1.key }) {
      let (entity, index, _) = try building(id, catalogue)
      try add(.buildIndex, entity, index.name, next)
    }
    for (id, next) in catalogue.deferred.sorted(by: { $0.key < $1.key }) {
      guard let entity = schema.entity(id: id) else { throw .corrupt("a task of an unknown entity \(id)") }
      try add(.rewriteRows, entity, nil, next)
    }
    return tasks
  }

  /// An index that is not whole, the entity that declares it, and its tree.
  private func building(
    _ id: UInt32, _ catalogue: Catalogue
  ) throws(EngineError) -> (EntitySchema, IndexSchema, TreeID) {
    for entity in schema.entities {
      if let index = entity.indexes.first(where: { $0.id == id }), let tree = catalogue.indexes[id] {
        return (entity, index, tree)
      }
    }
    throw .corrupt("a task of an unknown index \(id)")
  }

  /// Does a part of the first task, in a commit of its own, and answers whether any task is left. Whatever ends the process,
  /// the task goes on after the last such commit. Others may read and write between two of them. With the last task the
  /// state before the migration is given up (``EntityStore/rollBackMigration(discardsCommits:)``), unless it is kept
  /// until somebody confirms the migration.
  ///
  /// - Parameter maximumRows: No more rows are gone through; at least 1 is.
  /// - Throws: ``EngineError/modelChanged``; kernel errors.
  public func runDeferredTask(maximumRows: Int = 10_000) throws(EngineError) -> Bool {
    try runDeferredPart(maximumRows: maximumRows).isLeft
  }

  /// The same; answers also how many rows were gone through, and at which the task goes on: nil if it is done.
  ///
  /// - Parameters:
  ///   - durably: Whether to wait until the part is durable, unless it is the last one of a task, which always is. A part
  ///     that is not, is lost if the power fails, and done again; ``deferredTasks()`` does not show it before a later one is.
  ///   - begins: Called once nobody else writes any more: what was waited for until then is not the part's.
  public func runDeferredPart(
    maximumRows: Int, durably: Bool = true, begins: () -> Void = {}
  ) throws(EngineError) -> DeferredPart {
    // Those who wait for a part do not wait for the next one as well.
    kernel.letOthersWrite()
    var rows = 0
    var next: UInt64?
    var base: UInt64 = 0
    let outcome = try upkeep(durably: { _ in next == nil || durably }) { (t, catalogue) throws(EngineError) -> Bool? in
      begins()
      base = t.sequence
      if let (id, start) = catalogue.building.min(by: { $0.key < $1.key }) {
        // Indexes first: until then fetches do without them.
        let (entity, _, tree) = try building(id, catalogue)
        next = try fillIndex(tree, of: entity, from: start, maximumRows: max(1, maximumRows), t, &rows)
        try catalogue.setBuilding(id, next, t)
      } else if let (id, start) = catalogue.deferred.min(by: { $0.key < $1.key }) {
        next = try rewriteRows(of: try plan(id), from: start, maximumRows: max(1, maximumRows), t, &rows)
        if next == nil {
          for (layout, descriptor) in catalogue.layouts where descriptor.entity == id && !descriptor.isCurrent {
            try catalogue.setLayout(layout, nil, t)
          }
        }
        try catalogue.setDeferred(id, next, t)
      } else if catalogue.priors.values.allSatisfy({ $0.isKeptUntilConfirmed }) {
        return nil
      }
      try catalogue.dropFinishedPriors(t)
      return !catalogue.hasTasks
    }
    guard let (isDone, sequence) = outcome else {
      return DeferredPart(rows: 0, nextRow: nil, isLeft: false, base: base, sequence: base)
    }
    // The work is done, whatever becomes of room that nobody needs any more.
    if isDone { do throws(EngineError) { try releaseOwnStates() } catch {} }
    return DeferredPart(rows: rows, nextRow: next, isLeft: !isDone, base: base, sequence: sequence)
  }

  /// Puts the entries of rows into an index; answers the row to go on at, nil at the end. Rows that were written since the
  /// migration have theirs, which does no harm; changed and deleted ones take none away that is not there.
  private func fillIndex(
    _ tree: TreeID, of entity: EntitySchema, from start: UInt64, maximumRows: Int, _ t: WriteTransaction,
    _ count: inout Int
  ) throws(EngineError) -> UInt64? {
    let kit = makeKit()
    let transaction = EntityTransaction(store: self, transaction: t, kit: kit)
    defer { transaction.end() }
    var keepers: [UInt32: IndexKeeper] = [:]
    for member in schema.entityAndDescendants(entity.id) {
      keepers[member.id] = IndexKeeper(transaction, try plan(member.id), kit, only: [tree])
    }
    var rows = 0
    let next = try transaction.trees.eachRowInChunks(
      try plan(entity.id).rows, from: start, maximum: maximumRows
    ) { (number, bytes) throws(EngineError) in
      rows += 1
      try transaction.lend(bytes, number) { (row) throws(EngineError) in
        try keepers[row.reference.entity]?.insert(row.record, row.reference, transaction)
      }
      try transaction.settleIfLarge()
    }
    count += rows
    try transaction.finish()
    return next
  }

  /// Writes rows of an entity that have an earlier layout in the current one; answers the row to go on at, nil at the end.
  private func rewriteRows(
    of plan: EntityPlan, from start: UInt64, maximumRows: Int, _ t: WriteTransaction, _ count: inout Int
  ) throws(EngineError) -> UInt64? {
    // Many are taken into pages at once, few go by way of memory.
    let batch = RowBatch()
    var links: [(tree: TreeID, key: [UInt8])] = []
    var next: UInt64?
    let cursor = try storing { () throws(StoreError) in try t.cursor(plan.rows) }
    var more = try storing { () throws(StoreError) in try cursor.seek(start) }
    while more {
      // What is gathered is written when the cursor is no longer used.
      if count == maximumRows || batch.bytes > 1 << 24 || links.count > 1 << 17 {
        next = cursor.integerKey
        break
      }
      let bytes = try storing { () throws(StoreError) in try cursor.value() } ?? []
      let projected = try bytes.withUnsafeBytesEngine { (b) throws(EngineError) -> [UInt8]? in
        let id = try storing { () throws(StoreError) in try RecordView.layoutID(of: b) }
        if borrowedLayout(id) != nil { return nil }
        let layout = try staleLayout(id)
        if layout.current.entityID != plan.entity.id { return nil }
        for pending in pendingLinks[id] ?? [] {
          for key in try pending.keys(b, cursor.integerKey) { links.append((pending.tree, key)) }
        }
        return try layout.project(b)
      }
      if let projected {
        let number = cursor.integerKey
        try projected.withUnsafeBytesEngine { (p) throws(EngineError) in
          try storing { () throws(StoreError) in try batch.add(number, p) }
        }
      }
      count += 1
      more = try storing { () throws(StoreError) in try cursor.next() }
    }
    try storing { () throws(StoreError) in
      for (tree, key) in links { try t.put(tree, key, []) }
      try t.apply(batch, to: plan.rows)
    }
    return next
  }
}
