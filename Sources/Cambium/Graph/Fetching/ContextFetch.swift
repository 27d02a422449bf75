import CambiumEngine

/// A fetch: a plan, and the context that the objects belong to. Use it with the context's lock held.
///
/// The fetch asks the store, then takes the context's unsaved changes into account:
///
/// - If there are none, it returns the store's answer.
/// - If predicate and order read the row alone, or to-one destinations of entities without changes, it returns the
///   store's answer without the changed objects, plus the changed objects that match.
/// - If they follow other relationships, it evaluates every object in memory.
struct ContextFetch {
  let context: ManagedObjectContext
  let plan: ContextFetchPlan

  init(_ context: ManagedObjectContext, _ plan: ContextFetchPlan) {
    self.context = context
    self.plan = plan
  }

  /// Plans a request.
  init<Result: FetchRequestResult>(_ context: ManagedObjectContext, _ request: FetchRequest<Result>) throws {
    self.init(context, try ContextFetchPlan(request, in: context))
  }

  /// Fetches the results of the request that the plan is of.
  func results<Result: FetchRequestResult>(of request: FetchRequest<Result>) throws -> [Result] {
    switch request.resultType {
    case .count: return try request.cast([try count()])
    case .managedObjectID: return try request.cast(try identifiers())
    case .managedObject:
      try request.settleClass(of: plan.parts.map { $0.info }, in: context.persistentStoreCoordinator)
      let found = try found()
      try request.prepare(found.objects, in: context)
      try RelationshipPrefetch(context: context).hold(request.relationshipKeyPathsForPrefetching, from: found.objects)
      if let objectClass = Result.self as? ManagedObject.Type, found.onlyClass == objectClass {
        // The cast is safe because both are arrays of references, and every element has the class.
        return unsafeBitCast(found.objects, to: [Result].self)
      }
      return try request.cast(found.objects)
    case .dictionary: return try request.cast(try dictionaries(request))
    }
  }

  /// Finds the identifiers of the request that the plan is of, to read their objects later.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a request for anything but objects, and for a negative batch
  ///   size.
  func batches<Result: ManagedObject>(of request: FetchRequest<Result>) throws -> FetchBatches<Result> {
    guard request.resultType == .managedObject, request.fetchBatchSize >= 0 else {
      throw CambiumError(
        .invalidArgument, "batches are of objects, and their size is not negative", entityName: plan.name)
    }
    try request.settleClass(of: plan.parts.map { $0.info }, in: context.persistentStoreCoordinator)
    let size = request.fetchBatchSize == 0 ? 100 : request.fetchBatchSize
    return FetchBatches(context, try identifiers(), batchSize: size)
  }

  /// Counts the results of the request that the plan is of.
  func count<Result: FetchRequestResult>(of request: FetchRequest<Result>) throws -> Int {
    request.resultType == .dictionary ? try dictionaries(request).count : try count()
  }

  private func dictionaries<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [[String: Any]] {
    try DictionaryFetch(fetch: self, request: request).dictionaries()
  }

  // MARK: Questions to a store

  /// The question to a store, without offset and limit.
  func engineFetch(_ info: EntityInfo) throws -> EngineFetch {
    var fetch = EngineFetch(info.schema)
    fetch.includesSubentities = plan.includesSubentities
    fetch.predicate = try plan.predicate?.checked(for: info, inMemory: false)
    fetch.sort = plan.sort.map { $0.engine }
    return fetch
  }

  /// The question to the only store that answers.
  func wholeEngineFetch(_ info: EntityInfo) throws -> EngineFetch {
    var fetch = try engineFetch(info)
    fetch.offset = plan.offset
    fetch.limit = plan.limit
    return fetch
  }

  /// Whether unsaved changes may affect the result.
  var concernsPendingChanges: Bool { plan.includesPendingChanges && context.hasPending }

  /// The store that answers alone. `nil` if several stores, unsaved changes, or a parent take part.
  private var onlyPart: ContextFetchPlan.Part? {
    guard context.parent == nil, plan.parts.count == 1, !concernsPendingChanges else { return nil }
    return plan.parts.first
  }

  // MARK: Answers

  /// Counts the objects.
  func count() throws -> Int {
    if let parent = context.parent, !concernsPendingChanges {
      let asked = askedOfParent
      return try parent.lock.run { try ContextFetch(parent, asked).count() }
    }
    if let part = onlyPart {
      context.advance()
      let fetch = try wholeEngineFetch(part.info)
      let view = try context.view(of: part.store.space)
      return try mappingFetch { () throws(EngineError) in try view.count(fetch) }
    }
    return try objects().count
  }

  /// Finds the identifiers. Rows are read only if unsaved changes must be compared.
  func identifiers() throws -> [ManagedObjectID] {
    guard let found = try storedReferences() else { return try objects().map { $0.objectID } }
    return found.references.map { ManagedObjectID(space: found.space, reference: $0) }
  }

  /// Asks the only store for references, in the newest commit. `nil` if several stores, unsaved changes, or a parent
  /// take part.
  func storedReferences() throws -> (space: StoreSpace, references: [ObjectReference])? {
    guard let part = onlyPart else { return nil }
    context.advance()
    return (part.store.space, try references(try wholeEngineFetch(part.info), part.store))
  }

  private func references(_ fetch: EngineFetch, _ store: PersistentStore) throws -> [ObjectReference] {
    let view = try context.view(of: store.space)
    return try mappingFetch { () throws(EngineError) in try view.fetch(fetch) }
  }

  /// Finds the objects.
  func objects() throws -> [ManagedObject] { try found().objects }

  private func found() throws -> FoundObjects {
    guard let part = onlyPart else { return FoundObjects(objects: try gathered()) }
    context.advance()
    let fetch = try wholeEngineFetch(part.info)
    if plan.includesPropertyValues { return try FoundObjects(fetch, in: part.store, for: context) }
    return FoundObjects(objects: try faults(fetch, part.store))
  }

  /// Finds objects without reading their rows.
  private func faults(_ fetch: EngineFetch, _ store: PersistentStore) throws -> [ManagedObject] {
    try references(fetch, store).compactMap { reference in
      guard let info = store.space.info(reference.entity) else { return nil }
      let object = context.object(ManagedObjectID(space: store.space, reference: reference), info)
      if context.isMissing(object) { object.isDeleted = false }
      return object
    }
  }

  /// Finds the objects of several stores, of unsaved changes, or of a parent.
  private func gathered() throws -> [ManagedObject] {
    if let parent = context.parent { return try objects(from: parent) }
    context.advance()
    var found: [ManagedObject] = []
    for part in plan.parts { found += plan.includesPendingChanges ? try merged(part) : try stored(part) }
    if plan.parts.count > 1 { found = try sorted(found) }
    return cut(found)
  }

  /// Applies the plan's offset and limit.
  func cut(_ found: [ManagedObject]) -> [ManagedObject] {
    let end = plan.limit.map { plan.offset.addingReportingOverflow($0) }
    let upper = end.map { $0.overflow ? found.count : min($0.partialValue, found.count) } ?? found.count
    return plan.offset >= upper ? [] : Array(found[plan.offset..<upper])
  }
}
