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
    let values = BatchValues(info: info, space: store.space)
    // Read the caller's objects before the transaction begins, because other writers wait for a transaction.
    let given = allGiven()
    let rows = try given.map { try values.row($0) }
    let identifiers = try BatchTransaction(context: context, store: store).run {
      (t, history, derived) throws(BatchError) in
      var made: [ObjectReference] = []
      var known: Set<ObjectReference> = []
      let keys = try UniqueKeys(info, t)
      for (place, (given, row)) in zip(given, rows).enumerated() {
        let reference: ObjectReference
        if let existing = try keys.existing(row) {
          // Objects of other entities must not change, because the request is about this entity.
          guard context.mergePolicy.mergeType != .error, let own = store.space.info(existing.entity),
            own.isKind(of: info)
          else { throw .refused(notUnique(existing, given, at: place, store)) }
          guard context.mergePolicy.changesExisting else { continue }
          var changes = RowValues()
          for (name, value) in given { try accepting { try values.set(value, name, in: &changes) } }
          if !changes.isEmpty { try engine { () throws(EngineError) in try t.update(existing, changes) } }
          history?.updated(existing, own, given.keys.ordered())
          derived?.note(existing, own, changed: given.keys.ordered(), isComputed: false)
          reference = existing
        } else {
          reference = try engine { () throws(EngineError) in
            let reference = try t.reserveReference(info.schema)
            try t.insert(reference, row)
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

  /// The store that the objects go to: the first one that can be written to, if there is one.
  private func target() throws -> (PersistentStore, EntityInfo) {
    let coordinator = context.persistentStoreCoordinator
    guard let store = coordinator.store(forEntity: request.entityName, of: request.affectedStores),
      let info = store.space.info(named: request.entityName)
    else { throw coordinator.noStore(forEntity: request.entityName, of: request.affectedStores) }
    return (store, info)
  }

  private func allGiven() -> [[String: Any]] {
    switch request.source {
    case .objects(let objects): return objects
    case .handler(let handler):
      var given: [[String: Any]] = []
      var next: [String: Any] = [:]
      while !handler(&next) {
        given.append(next)
        next = [:]
      }
      return given
    }
  }

  private func notUnique(
    _ existing: ObjectReference, _ given: [String: Any], at place: Int, _ store: PersistentStore
  ) -> CambiumError {
    let id = ManagedObjectID(space: store.space, reference: existing)
    var unique: Set<String> = []
    var entity = store.space.info(existing.entity)?.description
    while let known = entity {
      unique.formUnion(known.uniquenessConstraints.joined())
      entity = known.superentity
    }
    let values = given.filter { unique.contains($0.key) }.ordered { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    var error = CambiumError(
      .managedObjectConstraintMerge,
      "object \(place + 1) of the batch has the unique values of \(id) (\(values.joined(separator: ", "))); set a merge "
        + "policy to change that instead", entityName: id.entityName, objectID: id)
    error.affectedObjectIDs = [id]
    error.storeURL = store.url
    return error
  }
}

/// Finds the object that has the unique values of a row.
private struct UniqueKeys {
  private var lookups: [(paths: [String], lookup: IndexLookup)] = []

  init(_ info: EntityInfo, _ t: EntityView) throws(BatchError) {
    var entity: EntitySchema? = info.schema
    while let current = entity {
      for constraint in current.uniquenessConstraints {
        let lookup = try engine { () throws(EngineError) in try t.lookup(current, by: constraint.paths) }
        lookups.append((constraint.paths, lookup))
      }
      entity = current.parentID.flatMap { id in info.storeSchema?.entity(id: id) }
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
