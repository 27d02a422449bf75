import CambiumEngine

// What a request says about rows and faults.
extension ManagedObjectContext {
  /// Does with fetched objects what the request asks for.
  func prepare<Result: FetchRequestResult>(_ objects: [ManagedObject], for request: FetchRequest<Result>) throws {
    if request.shouldRefreshRefetchedObjects {
      for object in objects where object.isUpdated { rebase(object) }
    }
    if !request.returnsObjectsAsFaults {
      for object in objects where object.isFault { try object.load() }
    }
  }

  /// The identifiers that a request finds; rows are read only where unsaved changes have to be compared.
  func identifiers(_ plan: FetchPlan) throws -> [ManagedObjectID] {
    guard let found = try storedReferences(plan) else { return try objects(plan).map { $0.objectID } }
    return found.references.map { ManagedObjectID(space: found.space, reference: $0) }
  }

  /// What one store answers, in the newest commit; nil if several stores, unsaved changes or a parent have a part in it.
  func storedReferences(_ plan: FetchPlan) throws -> (space: StoreSpace, references: [ObjectReference])? {
    guard parent == nil, plan.parts.count == 1, !hasPendingChanges(plan), let part = plan.parts.first else {
      return nil
    }
    advance()
    var fetch = try engineFetch(plan, part.info)
    fetch.offset = plan.offset
    fetch.limit = plan.limit
    return (part.store.space, try references(fetch, part.store))
  }

  /// The objects of a fetch, without their rows.
  func faults(_ fetch: EngineFetch, _ store: PersistentStore) throws -> [ManagedObject] {
    try references(fetch, store).compactMap { reference in
      guard let info = store.space.info(reference.entity) else { return nil }
      let object = object(ManagedObjectID(space: store.space, reference: reference), info)
      if isMissing(object) { object.isDeleted = false }
      return object
    }
  }

  private func references(_ fetch: EngineFetch, _ store: PersistentStore) throws -> [ObjectReference] {
    let view = try view(of: store.space)
    return try mappingFetch { () throws(EngineError) in try view.fetch(fetch) }
  }

  /// Refuses key paths that lead along anything but relationships.
  func checkPrefetching(_ paths: [String], _ info: EntityInfo, _ space: StoreSpace) throws {
    for path in paths {
      var current: EntityInfo? = info
      for name in path.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
        guard let property = current?.properties[name] else {
          throw CambiumError(
            .unknownKey,
            "'\(path)' cannot be prefetched: '\(current?.name ?? "")' has no property '\(name)'"
              + (current?.schema.alternatives ?? ""), entityName: info.name, key: path)
        }
        guard let relationship = property.relationship else {
          throw CambiumError(
            .invalidArgument, "'\(path)' cannot be prefetched: '\(name)' is no relationship", entityName: info.name,
            key: path)
        }
        current = space.info(named: relationship.schema.destination)
      }
    }
  }
}
