import CambiumKernel

/// Entities on a kernel store: rows, indexes, uniqueness constraints and relationships, as one model describes them.
///
/// Any thread may use it. The model is kept in the file, so that a store can be opened without the application's code.
public final class EntityStore: Sendable {
  /// The store below.
  public let kernel: Store
  /// The model, as stored.
  public let schema: Schema
  let catalogue: Catalogue
  let layouts: [UInt16: EntityLayout]
  /// By entity.
  let plans: [UInt32: EntityPlan]
  /// The same by the identifiers as indexes, which are small, and asked for with every row.
  private let planTable: [EntityPlan?]
  private let layoutTable: LayoutTable

  private init(kernel: Store, schema: Schema, catalogue: Catalogue) throws(EngineError) {
    self.kernel = kernel
    self.schema = schema
    self.catalogue = catalogue
    var made: [UInt16: EntityLayout] = [:]
    for (id, entityID) in catalogue.layouts {
      guard let entity = schema.entity(id: entityID) else {
        throw .corrupt("a layout of an unknown entity \(entityID)")
      }
      made[id] = try EntityLayout(entity: entity, id: id)
    }
    layouts = made
    layoutTable = LayoutTable(made)
    var plans: [UInt32: EntityPlan] = [:]
    for entity in schema.entities {
      guard let layoutID = catalogue.currentLayout[entity.id], let layout = made[layoutID] else {
        throw .corrupt("entity \(entity.name) has no layout")
      }
      plans[entity.id] = try EntityPlan(entity: entity, layout: layout, schema: schema, catalogue: catalogue)
    }
    self.plans = plans
    // An entity's identifier fits 16 bits: its layout has seen to that.
    var planTable = [EntityPlan?](repeating: nil, count: 1 + Int(plans.keys.max() ?? 0))
    for (id, plan) in plans { planTable[Int(id)] = plan }
    self.planTable = planTable
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
      let result = try EntityStore(kernel: store, schema: schema, catalogue: catalogue)
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
    guard let schema = try storedSchema(in: store) else {
      throw .corrupt("the store holds no model; it was not made by the engine, or its making was cut short")
    }
    let snapshot = try storing { () throws(StoreError) in try store.snapshot() }
    return try EntityStore(kernel: store, schema: schema, catalogue: try Catalogue(snapshot))
  }

  /// The model that a kernel store keeps; nil if it keeps none.
  public static func storedSchema(in store: Store) throws(EngineError) -> Schema? {
    let snapshot = try storing { () throws(StoreError) in try store.snapshot() }
    guard snapshot.kind(of: Catalogue.tree) == .bytes else { return nil }
    let bytes = try storing { () throws(StoreError) in
      try snapshot.value(Catalogue.tree, Catalogue.key("schema"))
    }
    guard let bytes else { return nil }
    return try resolving { () throws(SchemaError) in try Schema(bytes: bytes) }
  }

  /// A view of the newest commit.
  public func view() throws(EngineError) -> EntityView {
    EntityView(store: self, trees: try storing { () throws(StoreError) in try kernel.snapshot() })
  }

  /// Runs `body` in a transaction and commits it; rolls it back if `body` throws. One transaction runs at a time.
  ///
  /// - Throws: What `body` throws; ``EngineError/uniqueViolation(constraint:entity:existing:offending:)``; kernel errors.
  public func write<R>(_ body: (EntityTransaction) throws(EngineError) -> R) throws(EngineError) -> R {
    let t = try storing { () throws(StoreError) in try kernel.beginWrite() }
    let transaction = EntityTransaction(store: self, transaction: t)
    defer { transaction.end() }
    do throws(EngineError) {
      let result = try body(transaction)
      try transaction.finish()
      try storing { () throws(StoreError) in _ = try t.commit() }
      return result
    } catch {
      t.rollBack()
      throw error
    }
  }

  /// Closes the kernel store.
  public func close() throws(EngineError) { try storing { () throws(StoreError) in try kernel.close() } }

  func plan(_ entity: UInt32) throws(EngineError) -> EntityPlan {
    guard entity < planTable.count, let plan = planTable[Int(truncatingIfNeeded: entity)] else {
      throw .misuse("the entity is not of this store's model")
    }
    return plan
  }

  func layout(_ id: UInt16) throws(EngineError) -> EntityLayout {
    guard let layout = layouts[id] else { throw .corrupt("a row of an unknown layout \(id)") }
    return layout
  }

  /// A layout as rows are read by it, without counting references.
  @inline(__always)
  func borrowedLayout(_ id: UInt16) throws(EngineError) -> LayoutTable.Entry {
    guard let entry = layoutTable[id] else { throw .corrupt("a row of an unknown layout \(id)") }
    return entry
  }

  /// The tree of the rows of an entity.
  @inline(__always)
  func rows(of entity: UInt32) throws(EngineError) -> TreeID {
    guard entity < planTable.count, let rows = planTable[Int(truncatingIfNeeded: entity)]?.rows else {
      throw .misuse("the entity is not of this store's model")
    }
    return rows
  }
}
