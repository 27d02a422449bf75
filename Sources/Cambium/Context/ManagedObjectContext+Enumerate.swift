import CambiumEngine

// Objects of a request, one after the other, of which a batch is in memory at a time: what is known of the others is their identifiers.
extension ManagedObjectContext {
  /// Calls a block with each object that matches a request, in the request's order, and holds a batch of them at a time: for many
  /// objects, each of which is looked at once. An object that nobody else holds ends soon after its batch: the context looks for such
  /// when there are a few hundred, or as many as are held. SwiftData: `ModelContext.enumerate`.
  ///
  ///     var minutes = 0
  ///     try context.enumerate(FetchRequest<LogEntry>(entityName: "LogEntry")) { minutes += $0.minutes }
  ///
  /// Which objects match, and their order, is found out first, as a fetch would: 16 bytes of each are kept. (In a child context, of several
  /// stores, and where there are unsaved changes, all objects are made for that.) Their rows are copied by other threads, some batches
  /// ahead, where there are processors for that. Objects show what the context reads when their batch is made: what it read at first, unless the
  /// block saves, fetches, refreshes or resets, or has the context go on to another commit in another way; from then on, rows are read with
  /// their batch. An object that is deleted before its turn is left out, be it by the block or, once the context reads what they have saved,
  /// by others; one that does not match any more is not.
  ///
  /// Changes that are not saved keep their objects in memory: the context holds them. So it must have none, neither at first nor
  /// after a batch; or `allowEscapingMutations` says that they are intended.
  ///
  /// Of the request, ``FetchRequest/relationshipKeyPathsForPrefetching`` is done batch by batch, and what it brings is held for as long
  /// as the batch. ``FetchRequest/fetchBatchSize`` and ``FetchRequest/includesPropertyValues`` are without effect. Is used where the
  /// context is.
  ///
  /// - Parameters:
  ///   - batchSize: How many objects are read at a time.
  ///   - allowEscapingMutations: Whether the context may have unsaved changes.
  ///   - block: May fetch, save, and reset the context, after which the objects of the batch that are left are skipped.
  /// - Throws: as ``fetch(_:)``; ``CambiumError/Code/invalidArgument`` for a request for anything but objects, for a batch size that is
  ///   not positive, and for unsaved changes that are not allowed; ``CambiumError/Code/persistentStoreOperation`` if a store is removed
  ///   meanwhile; what `block` throws, after which no further object is given.
  public func enumerate<Result: ManagedObject>(
    _ request: FetchRequest<Result>, batchSize: Int = 2048, allowEscapingMutations: Bool = false,
    block: (Result) throws -> Void
  ) throws {
    func checkChanges() throws {
      guard allowEscapingMutations || !hasChanges else {
        throw CambiumError(
          .invalidArgument,
          "the context has unsaved changes, which would keep their objects in memory while others are gone through; save them, in the "
            + "block if they were made there, or pass allowEscapingMutations: true", entityName: request.entityName)
      }
    }
    func give(_ batch: ObjectBatch) throws {
      let objectClass: ManagedObject.Type = Result.self
      try batch.objects.lend { _, object in
        // What is deleted, or was made useless by a reset, is passed over.
        guard !object.isDeleted, object.isOfContext(self) else { return }
        if type(of: object) == objectClass { return try block(unsafeDowncast(object, to: Result.self)) }
        guard let result = object as? Result else {
          throw CambiumError(
            .invalidArgument, "\(object.objectID) is a \(type(of: object)) and no \(Result.self)",
            entityName: object.entity.name, objectID: object.objectID)
        }
        try block(result)
      }
      withExtendedLifetime(batch) {}
      try checkChanges()
    }
    try checkChanges()
    _ = try told(
      .enumerate(
        entityName: request.entityName(in: persistentStoreCoordinator) ?? "",
        predicate: request.predicate?.predicateFormat),
      count: { $0 }
    ) {
      var count = 0
      func take(_ batch: ObjectBatch) throws {
        count += batch.objects.count
        try give(batch)
      }
      var listed = try lock.run { try list(request, batchSize: batchSize) }
      try forEachBatchAhead(of: &listed, request, take)
      while let batch = try lock.run({ try nextBatch(of: &listed, request) }) { try take(batch) }
      return count
    }
  }

  /// Gives batches of objects whose rows other threads copy ahead; up to the first one for which the context reads another commit.
  private func forEachBatchAhead<Result: ManagedObject>(
    of listed: inout ListedObjects, _ request: FetchRequest<Result>, _ give: (ObjectBatch) throws -> Void
  ) throws {
    guard case .stored(let space, let references) = listed.identifiers else { return }
    let (size, first) = (listed.batchSize, listed.next)
    // The store is not closed before its view is done with.
    let (store, view): (PersistentStore, EntityView) = try lock.run {
      (try self.store(of: space), try self.view(of: space))
    }
    defer { withExtendedLifetime(store) {} }
    var next = first
    defer { listed.next = next }
    var failure: (any Error)?
    // Answers whether to go on.
    func take(_ rows: FoundRows, _ objects: Range<Int>) -> Bool {
      do {
        let found: ObjectBatch? = try lock.run { try batch(of: rows, references[objects], in: space, view, request) }
        guard let found else { return false }
        next = objects.upperBound
        try give(found)
        return true
      } catch {
        failure = error
        return false
      }
    }
    do throws(EngineError) {
      try view.forEachBatch(of: references, from: first, size: size) { (rows, objects) throws(EngineError) in
        take(rows, objects)
      }
    } catch {
      // It may be over, or of a commit that the context does not read any more: that batch is read again, by itself.
    }
    if let failure { throw failure }
  }

  /// The objects of rows that were copied ahead; nil if the context reads another commit by now.
  private func batch<Result: ManagedObject>(
    of rows: FoundRows, _ references: ArraySlice<ObjectReference>, in space: StoreSpace, _ view: EntityView,
    _ request: FetchRequest<Result>
  ) throws -> ObjectBatch? {
    takeInMail()
    _ = try store(of: space)
    let now = try self.view(of: space)
    guard now.store === view.store, now.sequence == view.sequence else { return nil }
    return try batch(ordered(objects(of: rows, in: space).objects, as: references, in: space), request)
  }

  /// - Throws: ``CambiumError/Code/persistentStoreOperation`` if it was removed.
  private func store(of space: StoreSpace) throws -> PersistentStore {
    if let store = persistentStoreCoordinator.store(of: space) { return store }
    throw CambiumError(
      .persistentStoreOperation,
      "the store of the objects was removed from the coordinator while they were gone through")
  }

  // MARK: Identifiers

  /// The objects that are left of a request.
  private struct ListedObjects {
    enum Identifiers {
      /// Those of one store, of which the context has nothing unsaved.
      case stored(StoreSpace, [ObjectReference])
      /// Of those that were not saved yet the objects, whose identifiers may be others by their turn.
      case any([ManagedObjectID], new: [ManagedObjectID: ManagedObject])
    }

    let identifiers: Identifiers
    let batchSize: Int
    var next = 0

    var count: Int {
      switch identifiers {
      case .stored(_, let references): references.count
      case .any(let identifiers, _): identifiers.count
      }
    }
  }

  private struct ObjectBatch {
    var objects: [ManagedObject]
    /// What was prefetched for them.
    var prefetched: [ManagedObject]
  }

  private func list<Result: ManagedObject>(
    _ request: FetchRequest<Result>, batchSize: Int
  ) throws -> ListedObjects {
    let plan = try plan(request)
    guard request.resultType == .managedObject, batchSize > 0 else {
      throw CambiumError(
        .invalidArgument, "what is enumerated is objects, and batches of them are not empty", entityName: plan.name)
    }
    try request.settleClass(of: plan.parts.map { $0.info }, in: persistentStoreCoordinator)
    if let found = try storedReferences(plan) {
      return ListedObjects(identifiers: .stored(found.space, found.references), batchSize: batchSize)
    }
    let found = try self.objects(plan)
    var new: [ManagedObjectID: ManagedObject] = [:]
    for object in found where object.objectID.isTemporaryID { new[object.objectID] = object }
    return ListedObjects(identifiers: .any(found.map { $0.objectID }, new: new), batchSize: batchSize)
  }

  private func nextBatch<Result: ManagedObject>(
    of listed: inout ListedObjects, _ request: FetchRequest<Result>
  ) throws -> ObjectBatch? {
    guard listed.next < listed.count else { return nil }
    // Neither overflows: the size may be any number, and the rest is what is left of an array.
    let end = listed.next + min(listed.batchSize, listed.count - listed.next)
    let objects: [ManagedObject]
    takeInMail()
    switch listed.identifiers {
    case .stored(let space, let references):
      objects = try presentObjects(of: Array(references[listed.next..<end]), in: space)
    case .any(let identifiers, let new):
      objects = try presentObjects(of: Array(identifiers[listed.next..<end]), new: new)
    }
    listed.next = end
    return try batch(objects, request)
  }

  /// Does with objects what the request asks for.
  private func batch<Result: ManagedObject>(
    _ objects: [ManagedObject], _ request: FetchRequest<Result>
  ) throws -> ObjectBatch {
    try prepare(objects, for: request)
    var batch = ObjectBatch(objects: objects, prefetched: [])
    if parent == nil, let paths = request.relationshipKeyPathsForPrefetching {
      batch.prefetched = try prefetchedObjects(paths, from: objects)
    }
    return batch
  }

  /// The objects of references to a store, each once, that are there, in their order.
  private func presentObjects(of references: [ObjectReference], in space: StoreSpace) throws -> [ManagedObject] {
    _ = try store(of: space)
    return ordered(try objects(of: references, in: space), as: references[...], in: space)
  }

  /// The objects that were found of references, in the order of these.
  private func ordered(
    _ found: [ManagedObject], as references: ArraySlice<ObjectReference>, in space: StoreSpace
  ) -> [ManagedObject] {
    // As they lie, which is how they were found, if nothing else was asked for.
    var last: ObjectReference?
    let areInOrder = references.allSatisfy { reference in
      defer { last = reference }
      return last.map { $0.entity == reference.entity && $0.row < reference.row } ?? true
    }
    if areInOrder { return found }
    if found.count == references.count {
      // All are there, and held.
      return withExtendedLifetime(found) { references.compactMap { registry.object(space, $0) } }
    }
    var places: [ObjectReference: Int] = [:]
    places.reserveCapacity(references.count)
    for (place, reference) in references.enumerated() { places[reference] = place }
    var ordered = [ManagedObject?](repeating: nil, count: references.count)
    for object in found {
      if let place = places[object.objectID.reference] { ordered[place] = object }
    }
    return ordered.compactMap { $0 }
  }

  /// The objects of identifiers that are there, in their order.
  private func presentObjects(
    of identifiers: [ManagedObjectID], new: [ManagedObjectID: ManagedObject]
  ) throws -> [ManagedObject] {
    if let parent {
      return try parent.lock.run {
        let wanted = identifiers.filter { new[$0] == nil }
        let found = try parent.presentObjects(of: wanted, new: [:])
        takeInMail()
        var held: [ManagedObjectID: ManagedObject] = [:]
        for object in found where !object.isDeleted { held[object.objectID] = take(object) }
        return identifiers.compactMap { new[$0] ?? held[$0] }
      }
    }
    var held: [ManagedObjectID: ManagedObject] = [:]
    let stored = Dictionary(grouping: identifiers.filter { !$0.isTemporaryID }) { ObjectIdentifier($0.space) }
    for some in stored.values {
      for object in try presentObjects(of: some.map { $0.reference }, in: some[0].space) {
        held[object.objectID] = object
      }
    }
    return identifiers.compactMap { new[$0] ?? held[$0] }
  }
}
