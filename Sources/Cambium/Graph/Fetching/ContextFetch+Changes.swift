import CambiumEngine
import CambiumKernel

// Unsaved changes in the answer of a store.
extension ContextFetch {
  /// Asks a store for the objects from the first one up to the plan's end.
  ///
  /// - Parameter surplus: How many more objects to ask for, because the caller leaves some out.
  func stored(_ part: ContextFetchPlan.Part, surplus: Int = 0) throws -> [ManagedObject] {
    var fetch = try engineFetch(part.info)
    fetch.limit = limit(surplus: surplus)
    return try FoundObjects(fetch, in: part.store, for: context).objects
  }

  /// The number of objects from the first one up to the plan's end and a surplus. `nil` for all of them.
  func limit(surplus: Int) -> Int? {
    guard let limit = plan.limit else { return nil }
    let (end, overflow) = plan.offset.addingReportingOverflow(limit)
    let (total, more) = end.addingReportingOverflow(surplus)
    return overflow || more ? nil : total
  }

  /// Asks a store, and takes unsaved changes into account. Returns the objects from the first one up to the plan's end
  /// at least.
  func merged(_ part: ContextFetchPlan.Part) throws -> [ManagedObject] {
    let space = part.store.space
    let changed =
      context.inserted.values.filter { $0.objectID.space === space }
      + context.updated.values.filter { $0.objectID.space === space && $0.isUpdated }
    let gone = context.deleted.values.filter { $0.objectID.space === space }
    let predicate = try plan.predicate?.checked(for: part.info, inMemory: true)
    var found: [ManagedObject]
    var candidates = wanted(changed, part.info)
    if try leavesRow(predicate, part.info, to: changed + gone) {
      var all = EngineFetch(part.info.schema)
      all.includesSubentities = plan.includesSubentities
      candidates =
        try FoundObjects(all, in: part.store, for: context).objects.filter { !$0.isDeleted }
        + candidates.filter { $0.state == .inserted }
      found = []
    } else {
      let excluded = Set((changed + gone).map { $0.objectID })
      found = try stored(part, surplus: excluded.count).filter { !excluded.contains($0.objectID) }
    }
    return try adding(candidates, predicate, to: found)
  }

  /// The changed objects of the requested entity, in the order of their changes.
  func wanted(_ changed: [ManagedObject], _ info: EntityInfo) -> [ManagedObject] {
    let wanted = changed.filter { plan.includesSubentities ? $0.info.isKind(of: info) : $0.info === info }
    return wanted.ordered { $0.changeOrder < $1.changeOrder }
  }

  /// Adds the candidates that match a predicate to found objects, in the plan's order.
  func adding(
    _ candidates: [ManagedObject], _ predicate: CambiumEngine.Predicate?, to found: [ManagedObject]
  ) throws -> [ManagedObject] {
    var state = FetchPredicate.evaluationState(for: predicate)
    let matching = try candidates.filter { object in
      try predicate.map { try FetchPredicate.evaluate($0, object, &state) } ?? true
    }
    return matching.isEmpty ? found : try sorted(found + matching)
  }

  /// Returns whether the predicate or the order reads other objects than the evaluated one.
  ///
  /// - Parameter changed: If given, only these objects count.
  func leavesRow(
    _ predicate: CambiumEngine.Predicate?, _ info: EntityInfo, to changed: [ManagedObject]? = nil
  ) throws -> Bool {
    guard let schema = info.storeSchema else { return false }
    var paths = plan.sort.map { (entity: info.schema.id, text: $0.key) }
    if let predicate {
      do throws(CambiumEngine.PredicateError) {
        let reads = try predicate.reads()
        if reads.otherObjects { return true }
        paths += reads.keyPaths.map { (info.schema.id, $0) }
        for path in reads.subentityPaths {
          if let entity = schema.entity(named: path.entity) { paths.append((entity.id, path.keyPath)) }
        }
      } catch {
        throw CambiumError(.invalidPredicate, "\(error)", entityName: info.name, underlying: [error])
      }
    }
    var ends: Set<UInt32> = []
    for path in paths {
      do throws(SchemaError) {
        let resolved = try schema.resolve(keyPath: path.text, from: path.entity)
        if resolved.isToMany { return true }
        guard resolved.traversesRelationship else { continue }
        if changed == nil { return true }
        for case .toOne(_, let destination) in resolved.steps.dropLast() {
          if let entity = schema.entity(id: destination) { ends.insert(entity.rootID) }
        }
      } catch {
        throw CambiumError(.invalidPredicate, "\(error)", entityName: info.name, key: path.text, underlying: [error])
      }
    }
    return changed?.contains { ends.contains($0.info.schema.rootID) } ?? false
  }

  /// Sorts objects into the plan's order. Equal rows keep the order of the store, and unsaved objects follow in the
  /// order of their insertion.
  func sorted(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    let keys = plan.sort.map { $0.engine }
    var keyed: [(object: ManagedObject, keys: [Value])] = []
    keyed.reserveCapacity(objects.count)
    for object in objects {
      keyed.append((object, try keys.map { $0.key(try object.engineValue(keyPath: $0.keyPath)) }))
    }
    keyed.sort { a, b in
      for (index, key) in keys.enumerated() {
        let order = key.order(a.keys[index], b.keys[index])
        if order != 0 { return key.isAscending ? order < 0 : order > 0 }
      }
      return a.object.objectID.reference.row < b.object.objectID.reference.row
    }
    return keyed.map { $0.object }
  }
}
