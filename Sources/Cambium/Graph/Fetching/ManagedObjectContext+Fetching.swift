extension ManagedObjectContext {
  // MARK: Fetching

  /// The objects that match a request, in its order.
  ///
  /// Reads the newest commit, and lets unchanged objects that the context has show it. Objects are faults until a
  /// property is read, though their rows come with the fetch.
  ///
  /// While the context has unsaved changes of objects that a predicate or order sees at the end of a to-one
  /// relationship, or has any and the predicate goes through a to-many relationship, the fetch evaluates every object
  /// of the entity in memory. Save first where that matters.
  ///
  /// Other threads read the rows of very many objects while this one makes the objects of earlier rows, if the machine
  /// has the processors. If the fetch throws, unchanged objects of the context may show the newest commit all the same.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for an unknown entity, or objects that are no `Result`s;
  ///   ``CambiumError/Code/invalidPredicate``; for dictionaries ``CambiumError/Code/invalidArgument`` and
  ///   ``CambiumError/Code/unknownKey`` if the request breaks a rule of theirs; what reading throws.
  public func fetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [Result] {
    try lock.run {
      try told(fetchActivity(request, request.resultType), count: { $0.count }, plan: { try? explain(request) }) {
        try ContextFetch(self, request).results(of: request)
      }
    }
  }

  /// How many objects match a request, its offset and limit applied.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func count<Result: FetchRequestResult>(for request: FetchRequest<Result>) throws -> Int {
    try lock.run {
      try told(fetchActivity(request, .count), count: { $0 }, plan: { try? explain(request) }) {
        try ContextFetch(self, request).count(of: request)
      }
    }
  }

  /// The objects that match a request, in its order, to be read in batches of ``FetchRequest/fetchBatchSize``.
  ///
  /// - Throws: as ``fetch(_:)``; ``CambiumError/Code/invalidArgument`` for a request for anything but objects, and for
  ///   a negative batch size.
  public func fetchBatches<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> FetchBatches<Result> {
    try lock.run {
      try told(fetchActivity(request, .managedObjectID), count: { $0.count }, plan: { try? explain(request) }) {
        try ContextFetch(self, request).batches(of: request)
      }
    }
  }

  private func fetchActivity<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, _ type: FetchRequestResultType
  ) -> StoreEvent.Activity {
    .fetch(
      entityName: request.entityName(in: persistentStoreCoordinator) ?? "",
      predicate: request.predicate?.predicateFormat, resultType: type)
  }

  /// Begins a fetch that is done beside the context, and tells how far it has come.
  ///
  /// The fetch searches a snapshot of the newest commit without holding up the context, which only makes objects of the
  /// found rows. A fetch runs as a whole on the context's queue if it must see unsaved changes or a query generation,
  /// if it is of several stores, or if it is of dictionaries or counts; it can be cancelled until it begins there.
  ///
  /// - Throws: what ``fetch(_:)`` throws for a request that cannot be done. What goes wrong later is
  ///   ``AsynchronousFetchResult/operationError``.
  @discardableResult
  public func execute<Result: FetchRequestResult>(
    _ search: AsynchronousFetchRequest<Result>
  ) throws -> AsynchronousFetchResult<Result> {
    try lock.run { try BackgroundFetch(context: self, search: search).start() }
  }

  /// How a fetch is done by the stores, for people to read: which indexes are used, what is asked of each object, and
  /// about how many there are to it. Unsaved changes of the context are no part of it.
  ///
  ///     print(try context.explain(request))
  ///     // one value of index 'byTail' on (tailNumber), about 12 rows
  ///     // of these, those for which minutes > 60
  ///
  /// If there are several stores, each has a part of its own under its file's name. Core Data has no counterpart;
  /// SQLite's is `EXPLAIN QUERY PLAN`. The text may change from version to version.
  ///
  /// - Parameters:
  ///   - request: What would be fetched.
  ///   - running: Whether to fetch it as well, and to say how many objects were found.
  /// - Throws: what ``fetch(_:)`` throws for a request that cannot be done.
  /// - Complexity: O(log n) without `running`.
  @_optimize(none)
  public func explain<Result: FetchRequestResult>(
    _ request: FetchRequest<Result>, running: Bool = false
  ) throws -> String {
    try lock.run { try ContextFetch(self, request).explanation(running: running) }
  }

  // MARK: Enumerating

  /// Calls a block with each object that matches a request, in the request's order, and holds a batch of them at a
  /// time: for many objects, each of which is looked at once. An object that nobody else holds ends soon after its
  /// batch: the context looks for such objects when there are a few hundred, or as many as are held. SwiftData:
  /// `ModelContext.enumerate`.
  ///
  ///     var minutes = 0
  ///     try context.enumerate(FetchRequest<LogEntry>(entityName: "LogEntry")) { minutes += $0.minutes }
  ///
  /// The context first finds out which objects match, and in which order, as a fetch would, and keeps 16 bytes of each.
  /// (In a child context, for several stores, and where there are unsaved changes, it makes all objects for that.)
  /// Other threads copy the rows some batches ahead, if the machine has the processors. Objects show the commit that
  /// the context reads when their batch is made. That is the commit of the beginning, unless the block saves, fetches,
  /// refreshes or resets, or has the context go on to another commit in another way; from then on, rows are read with
  /// their batch. An object is left out if the block deletes it before its turn, or if others delete it and the context
  /// reads their save. An object that does not match any more is not left out.
  ///
  /// The context holds objects with unsaved changes, so these stay in memory. The context must therefore have no
  /// unsaved changes, neither at first nor after a batch, unless `allowEscapingMutations` says that they are intended.
  ///
  /// ``FetchRequest/relationshipKeyPathsForPrefetching`` is done batch by batch, and prefetched objects are held as
  /// long as the batch. ``FetchRequest/fetchBatchSize`` and ``FetchRequest/includesPropertyValues`` have no effect. Use
  /// this where the context is used.
  ///
  /// - Parameters:
  ///   - batchSize: How many objects are read at a time.
  ///   - allowEscapingMutations: Whether the context may have unsaved changes.
  ///   - block: May fetch, save, and reset the context, after which the rest of the batch is skipped.
  /// - Throws: as ``fetch(_:)``; ``CambiumError/Code/invalidArgument`` for a request for anything but objects, for a
  ///   batch size that is not positive, and for unsaved changes that are not allowed;
  ///   ``CambiumError/Code/persistentStoreOperation`` if a store is removed meanwhile; what `block` throws, after which
  ///   no further object is given.
  public func enumerate<Result: ManagedObject>(
    _ request: FetchRequest<Result>, batchSize: Int = 2048, allowEscapingMutations: Bool = false,
    block: (Result) throws -> Void
  ) throws {
    let enumeration = ContextEnumeration(
      context: self, request: request, batchSize: batchSize, allowsUnsavedChanges: allowEscapingMutations)
    try enumeration.checkChanges()
    _ = try told(
      .enumerate(
        entityName: request.entityName(in: persistentStoreCoordinator) ?? "",
        predicate: request.predicate?.predicateFormat),
      count: { $0 }
    ) { try enumeration.forEach(block) }
  }
}
