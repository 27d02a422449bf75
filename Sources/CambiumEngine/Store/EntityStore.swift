import CambiumKernel
import Synchronization

/// Entities on a kernel store: rows, indexes, uniqueness constraints and relationships, as one model describes them.
///
/// Any thread may use it. The model is kept in the file, so that a store can be opened without the application's code.
public final class EntityStore: Sendable {
  /// The store below.
  public let kernel: Store
  /// The model, as stored.
  public let schema: Schema
  let catalogue: Catalogue
  /// The current layouts, one an entity.
  let layouts: [UInt16: EntityLayout]
  /// Layouts of earlier models that rows may still have.
  let staleLayouts: [UInt16: StaleLayout]
  /// What rows of these hold that belongs elsewhere.
  let pendingLinks: [UInt16: [PendingLinks]]
  /// How often the store's model had been changed when it was opened.
  public let modelNumber: Int64
  /// What is read, whatever is committed, if this is an earlier state; see ``EntityStore/state(retained:in:)``.
  let fixed: Snapshot?
  /// By entity.
  let plans: [UInt32: EntityPlan]
  /// The same by the identifiers as indexes, which are small, and asked for with every row.
  let planTable: [EntityPlan?]
  /// Whether any tree has the rows of several hierarchies. A row that is found there may be of another one than was
  /// asked for.
  let sharesTrees: Bool
  private let layoutTable: LayoutTable
  /// One more than the sequence of a commit that was found to be of this model, or zero: a view of the same commit need
  /// not look.
  private let commitOfModel = Atomic<UInt>(0)
  /// What the next transaction writes with; belongs to who has the turn to write.
  nonisolated(unsafe) private var spareKit: TransactionKit?

  deinit { kernel.giveUpRecentSnapshot() }

  convenience init(
    kernel: Store, schema: Schema, catalogue: Catalogue, modelNumber: Int64, fixed: Snapshot? = nil
  ) throws(EngineError) {
    self.init(kernel: kernel, plans: try StorePlans(schema, catalogue), modelNumber: modelNumber, fixed: fixed)
  }

  init(kernel: Store, plans all: StorePlans, modelNumber: Int64, fixed: Snapshot? = nil) {
    self.fixed = fixed
    self.kernel = kernel
    self.modelNumber = modelNumber
    schema = all.schema
    catalogue = all.catalogue
    layouts = all.layouts
    staleLayouts = all.staleLayouts
    pendingLinks = all.pendingLinks
    layoutTable = all.layoutTable
    plans = all.plans
    planTable = all.planTable
    sharesTrees = all.sharesTrees
  }

  /// Makes an empty kernel store one of `schema`.
  ///
  /// - Throws: ``EngineError/unsupported(_:)`` for what the model asks and this version lacks; kernel errors.
  public static func create(in store: Store, schema: Schema) throws(EngineError) -> EntityStore {
    let t = try storing { () throws(StoreError) in try store.beginWrite() }
    var catalogue = Catalogue()
    do throws(EngineError) {
      guard t.trees().isEmpty else { throw .misuse("the store is not empty; open it instead") }
      try storing { () throws(StoreError) in
        let tree = try t.createTree(.bytes)
        guard tree == Catalogue.tree else { throw .misuse("the store is not empty; open it instead") }
        try t.put(tree, Catalogue.key("schema"), schema.encoded())
      }
      try catalogue.install(schema, t)
      let result = try EntityStore(kernel: store, schema: schema, catalogue: catalogue, modelNumber: 0)
      try storing { () throws(StoreError) in _ = try t.commit() }
      return result
    } catch {
      t.rollBack()
      throw error
    }
  }

  /// Opens the entities of a kernel store.
  ///
  /// - Throws: ``EngineError/corrupt(_:)`` if there are none.
  public static func open(_ store: Store) throws(EngineError) -> EntityStore {
    let snapshot = try storing { () throws(StoreError) in try store.snapshot() }
    guard snapshot.kind(of: Catalogue.tree) == .bytes else { throw Self.noModel }
    let image = try CatalogueImage(snapshot)
    let number = try storing { () throws(StoreError) in
      try snapshot.counter(Catalogue.tree, Catalogue.modelCounter)
    }
    if let known = KnownPlans.process.find(image) {
      return EntityStore(kernel: store, plans: known, modelNumber: number)
    }
    guard let bytes = try image.value("schema") else { throw Self.noModel }
    let schema = try resolving { () throws(SchemaError) in try Schema(bytes: bytes) }
    let plans = try StorePlans(schema, try Catalogue(image), of: image)
    KnownPlans.process.note(plans)
    return EntityStore(kernel: store, plans: plans, modelNumber: number)
  }

  private static let noModel = EngineError.corrupt(
    "the store holds no model; it was not made by the engine, or its making was cut short")

  /// The model that a kernel store keeps; nil if it keeps none.
  public static func storedSchema(in store: Store) throws(EngineError) -> Schema? {
    try storedSchema(try storing { () throws(StoreError) in try store.snapshot() })
  }

  static func storedSchema(_ snapshot: TreeView) throws(EngineError) -> Schema? {
    guard snapshot.kind(of: Catalogue.tree) == .bytes else { return nil }
    let bytes = try storing { () throws(StoreError) in
      try snapshot.value(Catalogue.tree, Catalogue.key("schema"))
    }
    guard let bytes else { return nil }
    return try resolving { () throws(SchemaError) in try Schema(bytes: bytes) }
  }

  /// A view of the newest commit; of an earlier state, always the same.
  ///
  /// - Throws: ``EngineError/modelChanged`` if the store was migrated since it was opened; kernel errors.
  public func view() throws(EngineError) -> EntityView {
    if let fixed { return EntityView(store: self, trees: fixed) }
    let snapshot = try storing { () throws(StoreError) in try kernel.recentSnapshot() }
    #if _pointerBitWidth(_64)
      let commit = UInt(snapshot.sequence) &+ 1
      if commitOfModel.load(ordering: .relaxed) != commit {
        try requireModel(snapshot)
        commitOfModel.store(commit, ordering: .relaxed)
      }
    #else
      // What a word holds of a sequence does not say which commit it is.
      try requireModel(snapshot)
    #endif
    return EntityView(store: self, trees: snapshot)
  }

  /// Makes sure that what is read or written is still of the model that the store was opened with.
  func requireModel(_ trees: TreeView) throws(EngineError) {
    let now: Int64
    do throws(StoreError) { now = try trees.counter(Catalogue.tree, Catalogue.modelCounter) } catch {
      throw .store(error)
    }
    if now != modelNumber { throw .modelChanged }
  }

  /// Runs `body` in a transaction and commits it; rolls it back if `body` throws. One transaction runs at a time.
  ///
  /// - Throws: What `body` throws; ``EngineError/modelChanged`` if the store was migrated since it was opened;
  ///   ``EngineError/uniqueViolation(constraint:entity:existing:offending:)``; kernel errors.
  public func write<R>(_ body: (EntityTransaction) throws(EngineError) -> R) throws(EngineError) -> R {
    let t = try beginWrite()
    let transaction = EntityTransaction(store: self, transaction: t, kit: spareKit ?? makeKit())
    spareKit = nil
    do throws(EngineError) {
      try requireModel(t)
      let result = try body(transaction)
      try transaction.finish()
      // Before the turn is given up.
      spareKit = transaction.end()
      do throws(StoreError) { try t.commit() } catch { throw .store(error) }
      return result
    } catch {
      transaction.end()
      t.rollBack()
      throw error
    }
  }

  /// Makes what a transaction writes with.
  func makeKit() -> TransactionKit { TransactionKit(entityCount: planTable.count) }

  /// Begins a kernel transaction.
  func beginWrite() throws(EngineError) -> WriteTransaction {
    if fixed != nil { throw .store(.readOnly) }
    return try storing { () throws(StoreError) in try kernel.beginWrite() }
  }

  /// Closes the kernel store.
  public func close() throws(EngineError) { try storing { () throws(StoreError) in try kernel.close() } }

  func plan(_ entity: UInt32) throws(EngineError) -> EntityPlan {
    guard entity < planTable.count, let plan = planTable[Int(truncatingIfNeeded: entity)] else {
      throw .misuse("the entity is not of this store's model")
    }
    return plan
  }

  /// The current layout of the rows that have a layout, current or not.
  func currentLayout(_ id: UInt16) throws(EngineError) -> EntityLayout {
    if let layout = layouts[id] { return layout }
    return try staleLayout(id).current
  }

  func staleLayout(_ id: UInt16) throws(EngineError) -> StaleLayout {
    guard let layout = staleLayouts[id] else { throw .corrupt("a row of an unknown layout \(id)") }
    return layout
  }

  /// A current layout as rows are read by it, without counting references; nil if rows of the layout have to be
  /// projected first.
  @inline(__always)
  func borrowedLayout(_ id: UInt16) -> LayoutTable.Entry? { layoutTable[id] }

  /// The tree of the rows of an entity.
  @inline(__always)
  func rows(of entity: UInt32) throws(EngineError) -> TreeID {
    guard entity < planTable.count, let rows = planTable[Int(truncatingIfNeeded: entity)]?.rows else {
      throw .misuse("the entity is not of this store's model")
    }
    return rows
  }
}
