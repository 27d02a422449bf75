import CambiumEngine
import CambiumKernel

/// The execution of a batch insert request.
struct BatchInsertion {
  let context: ManagedObjectContext
  let request: BatchInsertRequest

  func run() throws -> BatchResult {
    let (store, info) = try target()
    guard !info.schema.isAbstract else {
      throw CambiumError(
        .invalidArgument, "'\(info.name)' is abstract: no objects can be made of it", entityName: info.name)
    }
    // Ask the caller for the objects before the transaction begins, because other writers wait for a transaction.
    let rows: [BatchRow]
    switch request.source {
    case .managedObjects(let handler):
      let objects = try BatchObjects(info, store.space, handler, context.persistentStoreCoordinator)
      let values = try objects.values()
      guard !info.constraints.isEmpty else { return try insert(values, info, store) }
      rows = values.map { objects.row($0) }
    case .handler(let handler):
      let values = BatchValues(info: info, space: store.space)
      var made: [BatchRow] = []
      var given: [String: Any] = [:]
      while try !handler(&given) {
        made.append(BatchRow(given, try values.row(given)))
        given = [:]
      }
      rows = made
    case .objects(let objects):
      let values = BatchValues(info: info, space: store.space)
      rows = try objects.map { BatchRow($0, try values.row($0)) }
    }
    return try insert(rows, info, store)
  }

  /// Inserts rows, or changes objects that have the same unique values.
  private func insert(_ rows: [BatchRow], _ info: EntityInfo, _ store: PersistentStore) throws -> BatchResult {
    let values = BatchValues(info: info, space: store.space)
    let identifiers = try BatchTransaction(context: context, store: store).run {
      (t, history, derived) throws(BatchError) in
      var made: [ObjectReference] = []
      var known: Set<ObjectReference> = []
      let keys = try UniqueKeys(info, t)
      for (place, row) in rows.enumerated() {
        let reference: ObjectReference
        if let existing = try keys.existing(row.row) {
          // Objects of other entities must not change, because the request is about this entity.
          guard context.mergePolicy.mergeType != .error, let own = store.space.info(existing.entity),
            own.isKind(of: info)
          else { throw .refused(notUnique(existing, row.row, at: place, store)) }
          guard context.mergePolicy.changesExisting else { continue }
          let changes = try accepting { try row.changes(values) }
          if !changes.isEmpty { try engine { () throws(EngineError) in try t.update(existing, changes) } }
          history?.updated(existing, own, row.names)
          derived?.note(existing, own, changed: row.names, isComputed: false)
          reference = existing
        } else {
          reference = try engine { () throws(EngineError) in
            let reference = try t.reserveReference(info.schema)
            try t.insert(reference, row.row)
            return reference
          }
          history?.inserted(reference)
          derived?.note(reference, info, isComputed: false)
        }
        if known.insert(reference).inserted { made.append(reference) }
      }
      return made
    }
    return BatchResult(.insert, request.resultType, identifiers)
  }

  /// Inserts objects of which the model does not say that they are unique.
  private func insert(
    _ objects: [ObjectOverlay], _ info: EntityInfo, _ store: PersistentStore
  ) throws -> BatchResult {
    let identifiers = try BatchTransaction(context: context, store: store).run {
      (t, history, derived) throws(BatchError) in
      let made = try engine { () throws(EngineError) in try BatchObjects.insert(objects, info, t) }
      if history == nil, derived == nil { return made }
      for reference in made {
        history?.inserted(reference)
        derived?.note(reference, info, isComputed: false)
      }
      return made
    }
    return BatchResult(.insert, request.resultType, identifiers)
  }

  /// The store that the objects go to: the first one that can be written to, if there is one.
  private func target() throws -> (PersistentStore, EntityInfo) {
    let coordinator = context.persistentStoreCoordinator
    guard let store = coordinator.store(forEntity: request.entityName, of: request.affectedStores),
      let info = store.space.info(named: request.entityName)
    else { throw coordinator.noStore(forEntity: request.entityName, of: request.affectedStores) }
    if store.isReadOnly { throw store.readOnlyError }
    return (store, info)
  }

  private func notUnique(
    _ existing: ObjectReference, _ row: RowValues, at place: Int, _ store: PersistentStore
  ) -> CambiumError {
    let id = ManagedObjectID(space: store.space, reference: existing)
    let unique = Set(store.space.info(existing.entity)?.constraints.flatMap { $0.paths } ?? []).ordered()
    let values = unique.compactMap { path in
      row.value(at: path).foundation(type: .undefined, objects: store.space).map { "\(path): \($0)" }
    }.joined(separator: ", ")
    var error = CambiumError(
      .managedObjectConstraintMerge,
      "object \(place + 1) of the batch has the unique values of \(id) (\(values)); set a merge "
        + "policy to change that instead", entityName: id.entityName, objectID: id)
    error.affectedObjectIDs = [id]
    error.storeURL = store.url
    return error
  }
}

/// A row that a batch insert request writes.
struct BatchRow {
  /// The values of a new object.
  let row: RowValues
  /// The names of the properties that the caller gave, in order.
  fileprivate let names: [String]
  /// The dictionary of the caller; nil if the caller's handler filled in an object.
  private let given: [String: Any]?

  init(_ given: [String: Any], _ row: RowValues) {
    (self.row, self.given) = (row, given)
    names = given.keys.ordered()
  }

  init(_ row: RowValues, names: [String]) { (self.row, self.names, given) = (row, names.ordered(), nil) }

  /// The values that a stored object with the row's unique values takes.
  fileprivate func changes(_ values: BatchValues) throws -> RowValues {
    guard let given else { return row }
    var changes = RowValues()
    for (name, value) in given { try values.set(value, name, in: &changes) }
    return changes
  }
}

extension EntityInfo {
  /// The uniqueness constraints of the entity and of those that it inherits from, each with the entity that has it.
  fileprivate var constraints: [(entity: EntitySchema, paths: [String])] {
    var result: [(entity: EntitySchema, paths: [String])] = []
    var entity: EntitySchema? = schema
    while let current = entity {
      for constraint in current.uniquenessConstraints { result.append((current, constraint.paths)) }
      entity = current.parentID.flatMap { storeSchema?.entity(id: $0) }
    }
    return result
  }
}

/// Finds the object that has the unique values of a row.
private struct UniqueKeys {
  private var lookups: [(paths: [String], lookup: IndexLookup)] = []

  init(_ info: EntityInfo, _ t: EntityView) throws(BatchError) {
    for constraint in info.constraints {
      let lookup = try engine { () throws(EngineError) in try t.lookup(constraint.entity, by: constraint.paths) }
      lookups.append((constraint.paths, lookup))
    }
  }

  func existing(_ row: RowValues) throws(BatchError) -> ObjectReference? {
    for (paths, lookup) in lookups {
      let values = paths.map { row.value(at: $0) }
      // Null equals no other value, so a row with a null is unique.
      if values.contains(where: { $0.isNull }) { continue }
      if let found = try engine({ () throws(EngineError) in try lookup.first(values) }) { return found }
    }
    return nil
  }
}

extension MergePolicy {
  /// Whether an insert changes the object that already has its unique values.
  fileprivate var changesExisting: Bool {
    switch mergeType {
    case .mergeByPropertyObjectTrump, .overwrite: return true
    case .error, .mergeByPropertyStoreTrump, .rollback: return false
    }
  }
}
