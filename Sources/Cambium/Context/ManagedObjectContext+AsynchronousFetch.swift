import CambiumEngine

extension ManagedObjectContext {
  /// Begins a fetch that is done beside the context, and tells how far it has come.
  ///
  /// Objects are looked for in a snapshot of the newest commit, without the context being held up, which only makes objects of
  /// what was found. A fetch that has to see unsaved changes or a query generation, of several stores, or of dictionaries or counts is done as a
  /// whole on the context's queue; it can be cancelled until it begins there.
  ///
  /// - Throws: what ``fetch(_:)`` throws for a request that cannot be done. What goes wrong later is
  ///   ``AsynchronousFetchResult/operationError``.
  @discardableResult
  public func execute<Result: FetchRequestResult>(
    _ search: AsynchronousFetchRequest<Result>
  ) throws -> AsynchronousFetchResult<Result> {
    try lock.run {
      let request = search.fetchRequest.copy()
      let plan = try plan(request)
      try request.settleClass(of: plan.parts.map { $0.info }, in: persistentStoreCoordinator)
      guard parent == nil, plan.parts.count == 1, let part = plan.parts.first, !hasPendingChanges(plan),
        !generation.isPinned,
        request.resultType == .managedObject || request.resultType == .managedObjectID
      else {
        let result = AsynchronousFetchResult(
          self, request, estimatedCount: search.estimatedResultCount, search.completionBlock)
        Task.detached {
          await self.perform { result.end { try self.fetch(result.request) } }
        }
        return result
      }
      var fetch = try engineFetch(plan, part.info)
      fetch.offset = plan.offset
      fetch.limit = plan.limit
      let estimate = try mappingFetch { () throws(EngineError) in try part.store.view().explain(fetch).estimatedRows }
      let count = search.estimatedResultCount > 0 ? search.estimatedResultCount : min(estimate, plan.limit ?? .max)
      let result = AsynchronousFetchResult(self, request, estimatedCount: count, search.completionBlock)
      fetch.isCancelled = { result.isCancelled }
      let (store, asked, hook) = (part.store, fetch, persistentStoreCoordinator.eventHook)
      let (called, author) = (name, transactionAuthor)
      // A predicate may take long to be written out.
      let activity =
        hook.isOn
        ? StoreEvent.Activity.fetch(
          entityName: plan.name, predicate: request.predicate?.predicateFormat, resultType: request.resultType) : nil
      Task.detached {
        let found = Swift.Result {
          func search() throws -> [ManagedObjectID] { try Self.identifiers(asked, store) { result.note(found: $0) } }
          guard let activity else { return try search() }
          let explain = { try? store.view().explain(asked).description }
          return try hook.run(activity, name: called, author: author, count: { $0.count }, plan: explain, search)
        }
        await self.perform { result.end { try self.results(try found.get(), result.request) } }
      }
      return result
    }
  }

  /// What a fetch finds in the newest commit, told as it is found.
  private static func identifiers(
    _ fetch: EngineFetch, _ store: PersistentStore, _ note: (Int) -> Void
  ) throws -> [ManagedObjectID] {
    try mappingFetch { () throws(EngineError) in
      var found: [ManagedObjectID] = []
      try store.view().forEach(fetch) { (row) throws(EngineError) in
        found.append(ManagedObjectID(space: store.space, reference: row.reference))
        if found.count % 256 == 0 { note(found.count) }
        return true
      }
      return found
    }
  }

  /// What a request is to give of the objects that it finds. Those that were deleted meanwhile are left out.
  private func results<Result: FetchRequestResult>(
    _ identifiers: [ManagedObjectID], _ request: FetchRequest<Result>
  ) throws -> [Result] {
    guard request.resultType == .managedObject else { return try cast(identifiers, request) }
    advance()
    let found = try objects(with: identifiers).filter { object in
      if object.isDeleted, !isMissing(object) { return false }
      do { try object.load() } catch let error as CambiumError {
        guard error.code == .managedObjectReferentialIntegrity else { throw error }
        return false
      }
      return true
    }
    try prepare(found, for: request)
    if let paths = request.relationshipKeyPathsForPrefetching { try prefetch(paths, from: found) }
    return try cast(found, request)
  }
}
