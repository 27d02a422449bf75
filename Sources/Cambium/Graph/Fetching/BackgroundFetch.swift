import CambiumEngine

/// A fetch that searches a snapshot while its context is free for other work.
struct BackgroundFetch<Result: FetchRequestResult> {
  let context: ManagedObjectContext
  let search: AsynchronousFetchRequest<Result>

  /// Starts the fetch. Call it with the context's lock held.
  func start() throws -> AsynchronousFetchResult<Result> {
    if context.concurrencyType == .confinement {
      throw CambiumError(
        .unsupported,
        "a context with confinement has no queue that could end a fetch beside it; use one with a private queue")
    }
    let request = search.fetchRequest.copy()
    let fetch = try ContextFetch(context, request)
    let plan = fetch.plan
    try request.settleClass(of: plan.parts.map { $0.info }, in: context.persistentStoreCoordinator)
    guard context.parent == nil, plan.parts.count == 1, let part = plan.parts.first, !fetch.concernsPendingChanges,
      !context.snapshots.generation.isPinned,
      request.resultType == .managedObject || request.resultType == .managedObjectID
    else { return startOnQueue(request) }
    let asked = try fetch.wholeEngineFetch(part.info)
    let estimate = try mappingFetch { () throws(EngineError) in try part.store.view().explain(asked).estimatedRows }
    let count = search.estimatedResultCount > 0 ? search.estimatedResultCount : min(estimate, plan.limit ?? .max)
    let result = AsynchronousFetchResult(context, request, estimatedCount: count, search.completionBlock)
    startSearch(asked, in: part.store, entityName: plan.name, for: result)
    return result
  }

  /// Runs the whole fetch on the context's queue, because only the context can answer it.
  private func startOnQueue(_ request: FetchRequest<Result>) -> AsynchronousFetchResult<Result> {
    let result = AsynchronousFetchResult(
      context, request, estimatedCount: search.estimatedResultCount, search.completionBlock)
    let context = context
    context.start { result.end { try context.fetch(result.request) } }
    return result
  }

  /// Searches the newest commit of a store on another thread, then ends the fetch on the context's queue.
  private func startSearch(
    _ fetch: EngineFetch, in store: PersistentStore, entityName: String, for result: AsynchronousFetchResult<Result>
  ) {
    var asked = fetch
    asked.isCancelled = { result.isCancelled }
    let (context, fetch) = (context, asked)
    let hook = context.persistentStoreCoordinator.eventHook
    let (name, author) = (context.name, context.transactionAuthor)
    // Format the predicate only if a handler wants it, because that may take long.
    let activity =
      hook.isOn
      ? StoreEvent.Activity.fetch(
        entityName: entityName, predicate: result.request.predicate?.predicateFormat,
        resultType: result.request.resultType) : nil
    context.persistentStoreCoordinator.threads.run {
      let found = Swift.Result {
        func find() throws -> [ManagedObjectID] { try Self.identifiers(fetch, store) { result.note(found: $0) } }
        guard let activity else { return try find() }
        let explain = { try? store.view().explain(fetch).description }
        return try hook.run(activity, name: name, author: author, count: { $0.count }, plan: explain, find)
      }
      context.start { result.end { try Self.results(try found.get(), result.request, context) } }
    }
  }

  /// Finds identifiers in the newest commit, and reports their number during the search.
  private static func identifiers(
    _ fetch: EngineFetch, _ store: PersistentStore, _ note: (Int) -> Void
  ) throws -> [ManagedObjectID] {
    try mappingFetch { () throws(EngineError) in
      try store.uses.run { () throws(EngineError) in
        var found: [ManagedObjectID] = []
        try store.view().forEach(fetch) { (row) throws(EngineError) in
          found.append(ManagedObjectID(space: store.space, reference: row.reference))
          if found.count % 256 == 0 { note(found.count) }
          return true
        }
        return found
      }
    }
  }

  /// Returns the results of found identifiers, without the objects that were deleted in the meantime.
  private static func results(
    _ identifiers: [ManagedObjectID], _ request: FetchRequest<Result>, _ context: ManagedObjectContext
  ) throws -> [Result] {
    guard request.resultType == .managedObject else { return try request.cast(identifiers) }
    let found = try IdentifiedObjects(context: context).objects(with: identifiers).filter { object in
      if object.isDeleted, !context.isMissing(object) { return false }
      do { try object.load() } catch let error as CambiumError {
        guard error.code == .managedObjectReferentialIntegrity else { throw error }
        return false
      }
      return true
    }
    try request.prepare(found, in: context)
    try RelationshipPrefetch(context: context).hold(request.relationshipKeyPathsForPrefetching, from: found)
    return try request.cast(found)
  }
}
