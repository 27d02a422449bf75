import CambiumKernel

/// Work that a migration put off.
public struct DeferredTask: Sendable, Equatable {
  /// What there is to do.
  public enum Kind: Sendable, Equatable {
    /// The rows of an entity still hold values of attributes that are gone, which are not read, but take room; or have
    /// values and links elsewhere than the model does, which takes longer to read. So it is until every row was written
    /// again.
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
  /// The bytes of these.
  public var bytes: UInt64
  /// About how many bytes will be free when the task is done, by a sample of the rows; 0 for an index, and where what
  /// is gathered takes more room than before. Nil where it was not asked for.
  public var freedBytes: UInt64?
  /// The row that the task goes on at; 0 if it has not begun.
  public var nextRow: UInt64

  /// One line: what there is to do.
  @_optimize(none)
  public var description: String {
    let freed = kind == .rewriteRows ? freedBytes.map { ", of which about \($0) will be free" } ?? "" : ""
    return subject + " (\(rows) rows, \(bytes) bytes\(freed)" + (nextRow > 0 ? ", begun)" : ")")
  }

  /// What there is to do, without how much of it.
  @_optimize(none)
  public var subject: String {
    switch kind {
    case .rewriteRows: "rewrite the rows of \(entity), which are as an earlier model had them"
    case .buildIndex: "build index \(entity).\(index ?? "")"
    }
  }

  /// Whether both are the same task, however far it has come.
  public func isSame(as other: DeferredTask) -> Bool {
    kind == other.kind && entity == other.entity && index == other.index
  }
}

extension EntityStore {
  /// What migrations have put off and nobody has done yet, in the order in which it is done. Any process may do it.
  ///
  /// - Parameter estimatesFreed: Whether ``DeferredTask/freedBytes`` is found out, which reads some hundred rows for
  ///   each task.
  public func deferredTasks(estimatesFreed: Bool = false) throws(EngineError) -> [DeferredTask] {
    let view = try view()
    let catalogue = try Catalogue(view.trees)
    var tasks: [DeferredTask] = []
    func add(_ kind: DeferredTask.Kind, _ entity: EntitySchema, _ index: String?, _ next: UInt64) throws(EngineError) {
      let tree = try plan(entity.id).rows
      let statistics = try storing { () throws(StoreError) in try view.trees.statistics(tree) }
      var task = DeferredTask(
        kind: kind, entity: entity.name, index: index, rows: statistics.entries, pages: statistics.pages,
        bytes: statistics.pageBytes, nextRow: next)
      if estimatesFreed {
        task.freedBytes =
          kind == .buildIndex ? 0 : try freedBytes(entity, tree, statistics.entries, view.trees)
      }
      tasks.append(task)
    }
    for (id, next) in catalogue.building.ordered(by: { $0.key < $1.key }) {
      let (entity, index, _) = try building(id, catalogue)
      try add(.buildIndex, entity, index.name, next)
    }
    for (id, next) in catalogue.deferred.ordered(by: { $0.key < $1.key }) {
      guard let entity = schema.entity(id: id) else { throw .corrupt("a task of an unknown entity \(id)") }
      try add(.rewriteRows, entity, nil, next)
    }
    return tasks
  }

  /// About how many bytes fewer the rows of an entity will take when all are of its current layout: by some rows from
  /// each of several places of the tree.
  private func freedBytes(
    _ entity: EntitySchema, _ tree: TreeID, _ rows: UInt64, _ trees: TreeView
  ) throws(EngineError) -> UInt64 {
    let (places, rowsOfPlace) = (16, 32)
    var seen = 0
    var freed = 0
    var failure: EngineError?
    try storing { () throws(StoreError) in
      let parts = try trees.parts(of: tree, entries: max(1, rows / UInt64(places)))
      for number in 0..<parts.count {
        // A tree that is not in pages yet is one part.
        let most = parts.count == 1 ? places * rowsOfPlace : rowsOfPlace
        let end = seen + most
        try trees.forEachRun(parts, number) { (run) throws(StoreError) -> Bool in
          do throws(EngineError) {
            for i in run.indices where seen < end {
              seen += 1
              freed += try freedBytes(entity, run.value(i))
            }
          } catch { failure = error }
          return failure == nil && seen < end
        }
        if failure != nil { return }
      }
    }
    if let failure { throw failure }
    return seen == 0 || freed <= 0 ? 0 : UInt64(Double(freed) / Double(seen) * Double(rows))
  }

  /// How many bytes fewer a row takes as one of the current layout; 0 if it is one, or one of another entity.
  private func freedBytes(_ entity: EntitySchema, _ bytes: UnsafeRawBufferPointer) throws(EngineError) -> Int {
    let id: UInt16
    do throws(StoreError) { id = try RecordView.layoutID(of: bytes) } catch { throw .store(error) }
    guard let layout = staleLayouts[id], layout.current.entityID == entity.id else { return 0 }
    return bytes.count - (try layout.project(bytes)).count
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

  /// Does a part of the first task, in a commit of its own, and answers whether any task is left. Whatever ends the
  /// process, the task goes on after the last such commit. Others may read and write between two of them. With the last
  /// task the state before the migration is given up (``EntityStore/rollBackMigration(discardsCommits:)``), unless it
  /// is kept until somebody confirms the migration.
  ///
  /// - Parameter maximumRows: No more rows are gone through; at least 1 is.
  /// - Throws: ``EngineError/modelChanged``; kernel errors.
  public func runDeferredTask(maximumRows: Int = 10_000) throws(EngineError) -> Bool {
    try runDeferredPart(maximumRows: maximumRows).isLeft
  }

  /// The same; answers also how many rows were gone through, and at which the task goes on: nil if it is done.
  ///
  /// - Parameters:
  ///   - durably: Whether to wait until the part is durable, unless it is the last one of a task, which always is. A
  ///     part that is not, is lost if the power fails, and done again; ``deferredTasks(estimatesFreed:)`` does not show
  ///     it before a later one is.
  ///   - begins: Called once nobody else writes any more: what was waited for until then is not the part's.
  public func runDeferredPart(
    maximumRows: Int, durably: Bool = true, begins: () -> Void = {}
  ) throws(EngineError) -> DeferredPart {
    try runDeferredPart(within: DeferredPartLimit(rows: maximumRows), durably: durably, begins: begins)
  }

  /// The same. Rows are written anew where they lie, while others write, as far as `limit` asks for that: where they
  /// have another layout and nothing else, and no other process has the store open for writing.
  public func runDeferredPart(
    within limit: DeferredPartLimit, durably: Bool = true, begins: () -> Void = {}
  ) throws(EngineError) -> DeferredPart {
    if limit.rowsBesideOthers > 0, let part = try rewriteBesideOthers(limit.rowsBesideOthers, durably, begins) {
      return part
    }
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
        next = try fillIndex(tree, of: entity, from: start, maximumRows: max(1, limit.rows), t, &rows)
        try catalogue.setBuilding(id, next, t)
      } else if let (id, start) = catalogue.nextRewriting {
        next = try rewriteRows(of: try plan(id), from: start, maximumRows: max(1, limit.rows), t, &rows)
        try noteRewritten(id, next, &catalogue, t)
      } else if catalogue.priors.values.allSatisfy({ $0.isKeptUntilConfirmed }) {
        return nil
      }
      try catalogue.dropFinishedPriors(t)
      return !catalogue.hasTasks
    }
    guard let (isDone, sequence) = outcome else {
      return DeferredPart(rows: 0, nextRow: nil, isLeft: false, base: base, sequence: base)
    }
    if isDone { releaseStatesOfDoneWork() }
    return DeferredPart(rows: rows, nextRow: next, isLeft: !isDone, base: base, sequence: sequence)
  }

  /// The work is done, whatever becomes of room that nobody needs any more.
  func releaseStatesOfDoneWork() {
    do throws(EngineError) { try releaseOwnStates() } catch {}
  }

  /// Puts the entries of rows into an index; answers the row to go on at, nil at the end. Rows that were written since
  /// the migration have theirs, which does no harm; changed and deleted ones take none away that is not there.
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
    return isPlanted(.deferredIndexSkipsRow) ? next.map { $0 + 1 } : next
  }
}
