import CambiumEngine
import CambiumKernel

extension ManagedObjectContext {
  /// Makes many objects at once.
  ///
  /// - Throws: ``CambiumError/Code/unknownKey`` and ``CambiumError/Code/invalidArgument`` for values that the entity cannot
  ///   have; ``CambiumError/Code/managedObjectConstraintMerge`` for objects that are not unique;
  ///   ``CambiumError/Code/fileWriteNoPermission``; what writing throws. Nothing was made then.
  @discardableResult
  public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
    try lock.run {
      try told(.batch(.insert, entityName: request.entityName), count: { $0.count }) { try insertLocked(request) }
    }
  }

  private func insertLocked(_ request: BatchInsertRequest) throws -> BatchResult {
    try lock.run {
      let (store, info) = try target(request.entityName, request.affectedStores)
      guard !info.schema.isAbstract else {
        throw CambiumError(
          .invalidArgument, "'\(info.name)' is abstract: no objects can be made of it", entityName: info.name)
      }
      let values = BatchValues(info: info, space: store.space)
      // All that is the caller's comes before the transaction, in which others would wait for it.
      var given: [[String: Any]] = []
      switch request.source {
      case .objects(let objects): given = objects
      case .handler(let handler):
        var next: [String: Any] = [:]
        while !handler(&next) {
          given.append(next)
          next = [:]
        }
      }
      let rows = try given.map { try values.row($0) }
      let identifiers = try batch(store) { (t, history, derived) throws(BatchError) in
        var made: [ObjectReference] = []
        var known: Set<ObjectReference> = []
        let keys = try UniqueKeys(info, t)
        for (place, (given, row)) in zip(given, rows).enumerated() {
          if let existing = try keys.existing(row) {
            // An object of another entity is not changed by what is said of this one.
            guard mergePolicy.mergeType != .error, let own = store.space.info(existing.entity), own.isKind(of: info)
            else {
              throw .refused(notUnique(existing, given, at: place, store))
            }
            guard mergePolicy.changesExisting else { continue }
            var changes = RowValues()
            for (name, value) in given { try accepting { try values.set(value, name, in: &changes) } }
            if !changes.isEmpty { try engine { () throws(EngineError) in try t.update(existing, changes) } }
            history?.updated(existing, own, given.keys.ordered())
            derived?.note(existing, own, changed: given.keys.ordered(), isComputed: false)
            if known.insert(existing).inserted { made.append(existing) }
            continue
          }
          let reference = try engine { () throws(EngineError) in
            let reference = try t.reserveReference(info.schema)
            try t.insert(reference, row)
            return reference
          }
          history?.inserted(reference)
          derived?.note(reference, info, isComputed: false)
          if known.insert(reference).inserted { made.append(reference) }
        }
        return made
      }
      return BatchResult(.insert, request.resultType, identifiers)
    }
  }

  /// Changes many objects at once.
  ///
  /// - Throws: as for ``execute(_:)-(BatchInsertRequest)``, and ``CambiumError/Code/invalidPredicate``.
  @discardableResult
  public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
    try lock.run {
      try told(.batch(.update, entityName: request.entityName), count: { $0.count }) { try updateLocked(request) }
    }
  }

  private func updateLocked(_ request: BatchUpdateRequest) throws -> BatchResult {
    let stores = try targets(request.entityName, request.affectedStores)
    // Before anything is changed. Which stores are meant can be said.
    if let store = stores.first(where: { $0.isReadOnly }) { throw store.readOnlyError }
    let updates = try stores.map { try prepare(request, $0) }
    var identifiers: [ManagedObjectID] = []
    for (place, update) in updates.enumerated() {
      do { identifiers += try execute(update, of: request) } catch {
        if place == 0 { throw error }
        throw CambiumError(
          .persistentStoreIncompleteSave,
          "the objects of \(place) of \(stores.count) stores were changed, then one failed", underlying: [error])
      }
    }
    return BatchResult(.update, request.resultType, identifiers)
  }

  /// What a batch update comes to in one store.
  private struct PreparedUpdate {
    let store: PersistentStore
    let values: BatchValues
    /// What every row gets.
    let fixed: RowValues
    /// What it gets in composites.
    let elements: BatchElements
    /// Which rows, and, behind the row itself, what is computed of each.
    let asked: EngineValuesFetch
  }

  private func prepare(_ request: BatchUpdateRequest, _ store: PersistentStore) throws -> PreparedUpdate {
    guard let info = store.space.info(named: request.entityName) else { throw noStore(request.entityName, [store]) }
    let values = BatchValues(info: info, space: store.space)
    var fixed = RowValues()
    var elements = BatchElements(info)
    try elements.requireApart(request.propertiesToUpdate.keys)
    var columns = [EngineColumn("self", .evaluatedObject)]
    for (name, given) in request.propertiesToUpdate.ordered(by: { $0.key < $1.key }) {
      if let expression = given as? FetchExpression {
        // Whether it can be set at all is found out with null, which every property takes.
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

  private func execute(_ update: PreparedUpdate, of request: BatchUpdateRequest) throws -> [ManagedObjectID] {
    let (store, values) = (update.store, update.values)
    let names = Set(request.propertiesToUpdate.keys.map { name in String(name.prefix { $0 != "." }) }).ordered()
    return try batch(store) { (t, history, derived) throws(BatchError) in
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

  /// Deletes many objects at once.
  ///
  /// - Throws: ``CambiumError/Code/validationRelationshipDeniedDelete``; ``CambiumError/Code/invalidArgument`` for objects of
  ///   several stores; else as for ``execute(_:)-(BatchInsertRequest)``.
  @discardableResult
  public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
    try lock.run {
      try told(.batch(.delete, entityName: request.fetchedEntityName), count: { $0.count }) {
        try deleteLocked(request)
      }
    }
  }

  private func deleteLocked(_ request: BatchDeleteRequest) throws -> BatchResult {
    try lock.run {
      let store: PersistentStore
      var fetch: EngineFetch?
      var references: [ObjectReference] = []
      switch request.which {
      case .found(let search):
        let plan = try plan(search)
        guard plan.parts.count == 1, let part = plan.parts.first else {
          throw CambiumError(
            .invalidArgument, "objects of several stores cannot be deleted together: name one by affectedStores")
        }
        store = part.store
        var asked = try engineFetch(plan, part.info)
        asked.offset = plan.offset
        asked.limit = plan.limit
        fetch = asked
      case .identifiers(let identifiers):
        guard let first = identifiers.first else { return BatchResult(.delete, request.resultType, []) }
        guard let known = persistentStoreCoordinator.store(of: first.space),
          identifiers.allSatisfy({ $0.space.identifier == first.space.identifier })
        else {
          throw CambiumError(.invalidArgument, "the objects are not of one store that the coordinator has")
        }
        store = known
        references = identifiers.filter { !$0.isTemporaryID }.map { $0.reference }
      }
      let identifiers = try batch(store) { (t, history, _) throws(BatchError) in
        let asked = try fetch.map { (fetch) throws(BatchError) in
          try engine { () throws(EngineError) in try t.fetch(fetch) }
        }
        return try t.deleteByRules(asked ?? references, in: store.space, history).found
      }
      return BatchResult(.delete, request.resultType, identifiers)
    }
  }

  // MARK: In one transaction

  /// The store that new objects go to: the first one that can be written to, if any can.
  private func target(_ entity: String, _ affected: [PersistentStore]?) throws -> (PersistentStore, EntityInfo) {
    guard let store = persistentStoreCoordinator.store(forEntity: entity, of: affected),
      let info = store.space.info(named: entity)
    else { throw noStore(entity, affected) }
    return (store, info)
  }

  /// The stores that hold an entity, of those that are meant; there is one at least.
  private func targets(_ entity: String, _ affected: [PersistentStore]?) throws -> [PersistentStore] {
    let stores = persistentStoreCoordinator.stores(forEntity: entity, of: affected)
    if stores.isEmpty { throw noStore(entity, affected) }
    return stores
  }

  /// About an entity that none of the stores holds, of those that are meant.
  func noStore(_ entity: String, _ affected: [PersistentStore]?) -> CambiumError {
    let stores = affected ?? persistentStoreCoordinator.persistentStores
    let names = Set(stores.flatMap { $0.space.entityNames }).ordered()
    let remedy =
      stores.isEmpty
      ? affected == nil ? "load the stores first" : "name stores in affectedStores, or none"
      : "there are \(names.prefix(40).joined(separator: ", "))"
    return CambiumError(
      .invalidArgument,
      "no store \(affected == nil ? "of this context" : "in affectedStores") holds an entity '\(entity)'; \(remedy)",
      entityName: entity)
  }

  /// Runs a batch in a transaction of its own, of which the store's history tells.
  private func batch(
    _ store: PersistentStore,
    _ body: (EntityTransaction, HistoryRecorder?, inout DerivedValues?) throws(BatchError) -> [ObjectReference]
  ) throws -> [ManagedObjectID] {
    if store.isReadOnly { throw store.readOnlyError }
    var refusal: CambiumError?
    defer { advance() }
    do throws(EngineError) {
      let references = try store.write { (t) throws(EngineError) -> [ObjectReference] in
        let history = HistoryRecorder(self, store)
        var derived = DerivedValues(store.space)
        t.notesChangedEnds = history != nil || derived != nil
        do throws(BatchError) {
          let references = try body(t, history, &derived)
          _ = try derived?.write(t, history, checks: false, isOwn: { _ in false })
          try engine { () throws(EngineError) in try history?.finish(t, store.space) }
          return references
        } catch {
          switch error {
          case .engine(let error): throw error
          case .refused(let error):
            refusal = error
            throw .misuse("the batch was refused")
          }
        }
      }
      return references.map { ManagedObjectID(space: store.space, reference: $0) }
    } catch {
      if let refusal { throw refusal }
      var result = CambiumError(error, during: .persistentStoreSave)
      result.storeURL = store.url
      if case .missingDestinations(let gone) = error {
        result.affectedObjectIDs = gone.map { ManagedObjectID(space: store.space, reference: $0) }
      }
      if case .uniqueViolation(_, _, let existing, let offending) = error {
        result.affectedObjectIDs = [existing, offending].map { ManagedObjectID(space: store.space, reference: $0) }
      }
      throw result
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
      "object \(place + 1) of the batch has the unique values of \(id) (\(values.joined(separator: ", "))); set a merge policy to change "
        + "that instead", entityName: id.entityName, objectID: id)
    error.affectedObjectIDs = [id]
    error.storeURL = store.url
    return error
  }
}

private func accepting<R>(_ body: () throws -> R) throws(BatchError) -> R {
  do { return try body() } catch {
    throw .refused(error as? CambiumError ?? CambiumError(.coreData, "\(error)", underlying: [error]))
  }
}

/// Finds the object that has the unique values of a row.
private struct UniqueKeys {
  private var lookups: [(paths: [String], lookup: IndexLookup)] = []
  private let info: EntityInfo

  init(_ info: EntityInfo, _ t: EntityView) throws(BatchError) {
    self.info = info
    var entity: EntitySchema? = info.schema
    while let current = entity {
      for constraint in current.uniquenessConstraints {
        lookups.append(
          (
            constraint.paths,
            try engine { () throws(EngineError) in try t.lookup(current, by: constraint.paths) }
          ))
      }
      entity = current.parentID.flatMap { id in info.storeSchema?.entity(id: id) }
    }
  }

  /// The values of each constraint that a row has all of, behind the constraint's place.
  func values(_ row: RowValues) -> [[Value]] {
    lookups.enumerated().compactMap { place, entry in
      let values = entry.paths.map { row.value(at: $0) }
      // Null is like nothing else.
      return values.contains { $0.isNull } ? nil : [.integer(Int64(place))] + values
    }
  }

  func existing(_ row: RowValues) throws(BatchError) -> ObjectReference? {
    for values in values(row) {
      guard case .integer(let place) = values[0] else { continue }
      let lookup = lookups[Int(place)].lookup
      if let found = try engine({ () throws(EngineError) in try lookup.first(Array(values.dropFirst())) }) {
        return found
      }
    }
    return nil
  }
}

extension MergePolicy {
  /// Whether an object that is there already is changed by what is inserted.
  fileprivate var changesExisting: Bool {
    switch mergeType {
    case .mergeByPropertyObjectTrump, .overwrite: return true
    case .error, .mergeByPropertyStoreTrump, .rollback: return false
    }
  }
}
