import CambiumEngine

/// The execution of a batch update request.
struct BatchUpdate {
  let context: ManagedObjectContext
  let request: BatchUpdateRequest

  func run() throws -> BatchResult {
    let stores = try targets()
    // Check all stores before the first one changes. The caller may name the stores in the request.
    if let store = stores.first(where: { $0.isReadOnly }) { throw store.readOnlyError }
    let updates = try stores.map { try prepare($0) }
    var identifiers: [ManagedObjectID] = []
    for (place, update) in updates.enumerated() {
      do { identifiers += try execute(update) } catch {
        if place == 0 { throw error }
        throw CambiumError(
          .persistentStoreIncompleteSave,
          "the objects of \(place) of \(stores.count) stores were changed, then one failed", underlying: [error])
      }
    }
    return BatchResult(.update, request.resultType, identifiers)
  }

  /// The stores that hold the entity, out of those that the request names. There is at least one.
  private func targets() throws -> [PersistentStore] {
    let coordinator = context.persistentStoreCoordinator
    let stores = coordinator.stores(forEntity: request.entityName, of: request.affectedStores)
    if stores.isEmpty { throw coordinator.noStore(forEntity: request.entityName, of: request.affectedStores) }
    return stores
  }

  /// The update of one store.
  private struct PreparedUpdate {
    let store: PersistentStore
    let values: BatchValues
    /// The values that every row gets.
    let fixed: RowValues
    /// The elements of composites that every row gets.
    let elements: BatchElements
    /// The rows to change. The first column is the row's reference, the others are the values computed of the row.
    let asked: EngineValuesFetch
  }

  private func prepare(_ store: PersistentStore) throws -> PreparedUpdate {
    guard let info = store.space.info(named: request.entityName) else {
      throw context.persistentStoreCoordinator.noStore(forEntity: request.entityName, of: [store])
    }
    let values = BatchValues(info: info, space: store.space)
    var fixed = RowValues()
    var elements = BatchElements(info)
    try elements.requireApart(request.propertiesToUpdate.keys)
    var columns = [EngineColumn("self", .evaluatedObject)]
    for (name, given) in request.propertiesToUpdate.ordered(by: { $0.key < $1.key }) {
      if let expression = given as? FetchExpression {
        // Set null, which every property accepts, to check that a batch may set the property.
        var none = RowValues()
        if try !elements.compute(name) { try values.set(nil, name, in: &none) }
        columns.append(EngineColumn(name, expression.engine))
      } else if try !elements.set(given, name) {
        try values.set(given, name, in: &fixed)
      }
    }
    var fetch = EngineFetch(info.schema)
    fetch.includesSubentities = request.includesSubentities
    fetch.predicate = try request.predicate?.checked(for: info, inMemory: false)
    let asked = EngineValuesFetch(fetch, columns: columns)
    try mapping(.invalidArgument) { () throws(EngineError) in
      try asked.check(against: info.storeSchema ?? store.engine.schema)
    }
    return PreparedUpdate(store: store, values: values, fixed: fixed, elements: elements, asked: asked)
  }

  private func execute(_ update: PreparedUpdate) throws -> [ManagedObjectID] {
    let (store, values) = (update.store, update.values)
    let names = Set(request.propertiesToUpdate.keys.map { name in String(name.prefix { $0 != "." }) }).ordered()
    return try BatchTransaction(context: context, store: store).run { (t, history, derived) throws(BatchError) in
      let rows = try engine { () throws(EngineError) in try t.fetchValues(update.asked) }
      var changed: [ObjectReference] = []
      for row in rows {
        guard case .reference(let reference) = row[0] else { continue }
        var changes = update.fixed
        var ofElements: [String: Value] = [:]
        for (place, column) in update.asked.columns.enumerated().dropFirst() {
          if update.elements.computes(column.name) {
            ofElements[column.name] = row[place]
          } else {
            try accepting { try values.set(computed: row[place], column.name, in: &changes) }
          }
        }
        try update.elements.set(of: reference, ofElements, in: &changes, t)
        if !changes.isEmpty { try engine { () throws(EngineError) in try t.update(reference, changes) } }
        if let own = store.space.info(reference.entity) {
          history?.updated(reference, own, names)
          derived?.note(reference, own, changed: names, isComputed: false)
        }
        changed.append(reference)
      }
      return changed
    }
  }
}
