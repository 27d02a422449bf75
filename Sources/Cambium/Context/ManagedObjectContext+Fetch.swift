import CambiumEngine
import CambiumKernel

// A fetch asks the store, then takes the context's unsaved changes into account:
//
//   no changes                              the store's answer
//   predicate and order stay in the row,    the store's answer, less the changed objects, plus those of them that
// match
//   or go through to-one relationships to
//   entities without changes
//   they go through other relationships     every object is evaluated in memory
extension ManagedObjectContext {
  /// The objects that match a request, in its order.
  ///
  /// Reads the newest commit, and lets unchanged objects that the context has show it. Objects are faults until a property
  /// is read, though their rows come with the fetch.
  ///
  /// While the context has unsaved changes of objects that a predicate or order sees at the end of a to-one
  /// relationship, or has any and the predicate goes through a to-many relationship, the fetch evaluates every object
  /// of the entity in memory. Save first where that matters.
  ///
  /// Rows of very many objects are read by other threads, where there are processors for that, while objects are made of those before. If it
  /// throws, unchanged objects of the context may show the newest commit all the same.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for an unknown entity, or objects that are no `Result`s;
  ///   ``CambiumError/Code/invalidPredicate``; for dictionaries ``CambiumError/Code/invalidArgument`` and
  ///   ``CambiumError/Code/unknownKey`` if what is asked for breaks a rule of theirs; what reading throws.
  public func fetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [Result] {
    try lock.run {
      try told(
        .fetch(
          entityName: request.entityName(in: persistentStoreCoordinator) ?? "",
          predicate: request.predicate?.predicateFormat,
          resultType: request.resultType), count: { $0.count }, plan: { try? explain(request) }
      ) { try fetchLocked(request) }
    }
  }

  private func fetchLocked<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [Result] {
    let plan = try plan(request)
    switch request.resultType {
    case .count: return try cast([try count(plan)], request)
    case .managedObjectID: return try cast(try identifiers(plan), request)
    case .managedObject:
      try request.settleClass(of: plan.parts.map { $0.info }, in: persistentStoreCoordinator)
      let found = try found(plan)
      try prepare(found.objects, for: request)
      if let paths = request.relationshipKeyPathsForPrefetching { try prefetch(paths, from: found.objects) }
      if let objectClass = Result.self as? ManagedObject.Type, found.onlyClass == objectClass {
        // Arrays of references, whose elements are of the class.
        return unsafeBitCast(found.objects, to: [Result].self)
      }
      return try cast(found.objects, request)
    case .dictionary: return try cast(try dictionaries(request, plan), request)
    }
  }

  /// How many objects match a request, its offset and limit applied.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func count<Result: FetchRequestResult>(for request: FetchRequest<Result>) throws -> Int {
    try lock.run {
      try told(
        .fetch(
          entityName: request.entityName(in: persistentStoreCoordinator) ?? "",
          predicate: request.predicate?.predicateFormat, resultType: .count),
        count: { $0 }, plan: { try? explain(request) }
      ) {
        let plan = try plan(request)
        return request.resultType == .dictionary ? try dictionaries(request, plan).count : try count(plan)
      }
    }
  }

  func cast<T, Result: FetchRequestResult>(_ values: [T], _ request: FetchRequest<Result>) throws -> [Result] {
    if T.self == ManagedObject.self, let objectClass = Result.self as? ManagedObject.Type {
      // Arrays of references, whose elements are found to be of the class.
      let objects = unsafeBitCast(values, to: [ManagedObject].self)
      if objects.allSatisfy({ type(of: $0) == objectClass }) { return unsafeBitCast(objects, to: [Result].self) }
    }
    if let results = values as? [Result] { return results }
    throw CambiumError(
      .invalidArgument,
      "the fetch of '\(request.entityName ?? "")' gives \(T.self), which is not always a \(Result.self); give the entity "
        + "its class in the model, or fetch ManagedObject", entityName: request.entityName)
  }

  // MARK: Planning

  /// A request in terms of the stores.
  struct FetchPlan {
    var name: String
    var parts: [(store: PersistentStore, info: EntityInfo)]
    var predicate: FetchPredicate?
    var sort: [FetchSortDescriptor]
    var offset: Int
    var limit: Int?
    var includesSubentities: Bool
    var includesPendingChanges: Bool
    var includesPropertyValues: Bool
  }

  func plan<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> FetchPlan {
    takeInMail()
    guard let name = request.entityName(in: persistentStoreCoordinator) else {
      throw CambiumError(
        .invalidArgument, "the fetch request has no entity; set entityName, or ask for a class of objects that has one")
    }
    var stores = persistentStoreCoordinator.persistentStores
    if let affected = request.affectedStores { stores.removeAll { store in !affected.contains { $0 === store } } }
    let parts = stores.compactMap { store in store.space.info(named: name).map { (store, $0) } }
    guard !parts.isEmpty else { throw noStore(name, request.affectedStores) }
    guard request.fetchLimit >= 0, request.fetchOffset >= 0 else {
      throw CambiumError(.invalidArgument, "a fetch's limit and offset must not be negative", entityName: name)
    }
    try checkProperties(request, parts.map { $0.1 })
    for part in parts {
      try checkPrefetching(request.relationshipKeyPathsForPrefetching ?? [], part.1, part.0.space)
    }
    let pinned = try pinned(of: parts.map { $0.0 })
    return FetchPlan(
      name: name, parts: parts.filter { part in pinned.contains { $0 === part.0 } }, predicate: request.predicate,
      sort: request.sortDescriptors ?? [],
      offset: request.fetchOffset, limit: request.fetchLimit == 0 ? nil : request.fetchLimit,
      includesSubentities: request.includesSubentities, includesPendingChanges: request.includesPendingChanges,
      includesPropertyValues: request.includesPropertyValues)
  }

  func engineFetch(_ plan: FetchPlan, _ info: EntityInfo) throws -> EngineFetch {
    var fetch = EngineFetch(info.schema)
    fetch.includesSubentities = plan.includesSubentities
    fetch.predicate = try plan.predicate?.checked(for: info, inMemory: false)
    fetch.sort = plan.sort.map { $0.engine }
    return fetch
  }

  // MARK: Fetching

  private func count(_ plan: FetchPlan) throws -> Int {
    if let parent, !hasPendingChanges(plan) {
      var asked = plan
      asked.includesPendingChanges = true
      return try parent.lock.run { try parent.count(asked) }
    }
    if parent == nil, plan.parts.count == 1, !hasPendingChanges(plan), let part = plan.parts.first {
      advance()
      var fetch = try engineFetch(plan, part.info)
      fetch.offset = plan.offset
      fetch.limit = plan.limit
      let view = try view(of: part.store.space)
      return try mappingFetch { () throws(EngineError) in try view.count(fetch) }
    }
    return try objects(plan).count
  }

  func hasPendingChanges(_ plan: FetchPlan) -> Bool {
    plan.includesPendingChanges && !(inserted.isEmpty && updated.isEmpty && deleted.isEmpty)
  }

  func objects(_ plan: FetchPlan) throws -> [ManagedObject] { try found(plan).objects }

  private func found(_ plan: FetchPlan) throws -> FoundObjects {
    if parent == nil, plan.parts.count == 1, let part = plan.parts.first, !hasPendingChanges(plan) {
      advance()
      var fetch = try engineFetch(plan, part.info)
      fetch.offset = plan.offset
      fetch.limit = plan.limit
      if plan.includesPropertyValues { return try foundRows(fetch, part.store) }
      return FoundObjects(objects: try faults(fetch, part.store))
    }
    return FoundObjects(objects: try gathered(plan))
  }

  /// What a fetch finds in several stores, among unsaved changes, or in a parent.
  private func gathered(_ plan: FetchPlan) throws -> [ManagedObject] {
    if let parent { return try objects(plan, from: parent) }
    advance()
    var found: [ManagedObject] = []
    for part in plan.parts {
      found += plan.includesPendingChanges ? try merged(plan, part) : try stored(plan, part)
    }
    if plan.parts.count > 1 { found = try sorted(found, plan.sort) }
    let end = plan.limit.map { plan.offset.addingReportingOverflow($0) }
    let upper = end.map { $0.overflow ? found.count : min($0.partialValue, found.count) } ?? found.count
    return plan.offset >= upper ? [] : Array(found[plan.offset..<upper])
  }

  /// What the store answers, from the first object up to the plan's end.
  private func stored(
    _ plan: FetchPlan, _ part: (store: PersistentStore, info: EntityInfo), surplus: Int = 0
  ) throws -> [ManagedObject] {
    var fetch = try engineFetch(plan, part.info)
    if let limit = plan.limit {
      let (end, overflow) = plan.offset.addingReportingOverflow(limit)
      let (total, more) = end.addingReportingOverflow(surplus)
      fetch.limit = overflow || more ? nil : total
    }
    return try rows(fetch, part.store)
  }

  func rows(_ fetch: EngineFetch, _ store: PersistentStore) throws -> [ManagedObject] {
    try foundRows(fetch, store).objects
  }

  /// The store's answer with unsaved changes taken into account, from the first object up to at least the plan's end.
  private func merged(
    _ plan: FetchPlan, _ part: (store: PersistentStore, info: EntityInfo)
  ) throws -> [ManagedObject] {
    let changed =
      inserted.values.filter { $0.objectID.space === part.store.space }
      + updated.values.filter { $0.objectID.space === part.store.space && $0.isUpdated }
    let gone = deleted.values.filter { $0.objectID.space === part.store.space }
    let predicate = try plan.predicate?.checked(for: part.info, inMemory: true)
    var found: [ManagedObject]
    var candidates = changed.filter { isWanted($0, plan, part.info) }.ordered { $0.changeOrder < $1.changeOrder }
    if try leavesRow(plan, predicate, part.info, to: changed + gone) {
      var all = EngineFetch(part.info.schema)
      all.includesSubentities = plan.includesSubentities
      candidates = try rows(all, part.store).filter { !$0.isDeleted } + candidates.filter { $0.state == .inserted }
      found = []
    } else {
      let excluded = Set((changed + gone).map { $0.objectID })
      found = try stored(plan, part, surplus: excluded.count).filter { !excluded.contains($0.objectID) }
    }
    var state = FetchPredicate.evaluationState(for: predicate)
    let matching = try candidates.filter { object in
      try predicate.map { try FetchPredicate.evaluate($0, object, &state) } ?? true
    }
    guard !matching.isEmpty else { return found }
    return try sorted(found + matching, plan.sort)
  }

  func isWanted(_ object: ManagedObject, _ plan: FetchPlan, _ info: EntityInfo) -> Bool {
    plan.includesSubentities ? object.info.isKind(of: info) : object.info === info
  }

  /// Answers whether predicate or order look at other objects than the evaluated one; with `changed`, whether they
  /// may look at one of those.
  func leavesRow(
    _ plan: FetchPlan, _ predicate: CambiumEngine.Predicate?, _ info: EntityInfo, to changed: [ManagedObject]? = nil
  ) throws -> Bool {
    guard let schema = info.storeSchema else { return false }
    var paths = plan.sort.map { $0.key }
    if let predicate {
      do throws(CambiumEngine.PredicateError) {
        let reads = try predicate.reads()
        if reads.otherObjects { return true }
        paths += reads.keyPaths
      } catch {
        throw CambiumError(.invalidPredicate, "\(error)", entityName: info.name, underlying: [error])
      }
    }
    var ends: Set<UInt32> = []
    for path in paths {
      do throws(SchemaError) {
        let resolved = try schema.resolve(keyPath: path, from: info.schema.id)
        if resolved.isToMany { return true }
        guard resolved.traversesRelationship else { continue }
        if changed == nil { return true }
        for case .toOne(_, let destination) in resolved.steps.dropLast() {
          if let entity = schema.entity(id: destination) { ends.insert(entity.rootID) }
        }
      } catch {
        throw CambiumError(.invalidPredicate, "\(error)", entityName: info.name, key: path, underlying: [error])
      }
    }
    return changed?.contains { ends.contains($0.info.schema.rootID) } ?? false
  }

  // MARK: Order

  func sorted(_ objects: [ManagedObject], _ sort: [FetchSortDescriptor]) throws -> [ManagedObject] {
    let keys = sort.map { $0.engine }
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
      // Rows in their order, then what is not saved yet in the order of its making.
      return a.object.objectID.reference.row < b.object.objectID.reference.row
    }
    return keyed.map { $0.object }
  }
}
