import CambiumEngine

/// A walk through the objects of a request that has one batch of them in memory. The other objects are known by their
/// identifiers.
struct ContextEnumeration<Result: ManagedObject> {
  let context: ManagedObjectContext
  let request: FetchRequest<Result>
  let batchSize: Int
  let allowsUnsavedChanges: Bool

  /// Calls a block with each object, and returns how many objects the batches had.
  func forEach(_ block: (Result) throws -> Void) throws -> Int {
    var count = 0
    func take(_ batch: ObjectBatch) throws {
      count += batch.objects.count
      try give(batch, to: block)
    }
    var listed = try context.lock.run { try list() }
    try forEachBatchAhead(of: &listed, take)
    while let batch = try context.lock.run({ try nextBatch(of: &listed) }) { try take(batch) }
    return count
  }

  /// Throws if the context has unsaved changes that are not allowed.
  func checkChanges() throws {
    guard allowsUnsavedChanges || !context.hasChanges else {
      throw CambiumError(
        .invalidArgument,
        "the context has unsaved changes, which would keep their objects in memory while others are gone through; save "
          + "them, in the block if they were made there, or pass allowEscapingMutations: true",
        entityName: request.entityName)
    }
  }

  private func give(_ batch: ObjectBatch, to block: (Result) throws -> Void) throws {
    let objectClass: ManagedObject.Type = Result.self
    let context = context
    try batch.objects.lend { _, object in
      // The block may have deleted the object, or reset the context.
      guard !object.isDeleted, object.isOfContext(context) else { return }
      if type(of: object) == objectClass { return try block(unsafeDowncast(object, to: Result.self)) }
      try block(try object.asResult(Result.self))
    }
    withExtendedLifetime(batch) {}
    try checkChanges()
  }

  // MARK: Batches

  private struct ObjectBatch {
    var objects: [ManagedObject]
    /// The objects that were prefetched for them.
    var prefetched: [ManagedObject]
  }

  /// Walks batches whose rows other threads copy ahead, until the context reads another commit.
  private func forEachBatchAhead(
    of listed: inout ListedObjects, _ give: (ObjectBatch) throws -> Void
  ) throws {
    guard case .stored(let space, let references) = listed.identifiers else { return }
    let first = listed.next
    // The store must stay open until its view is done.
    let (store, view): (PersistentStore, EntityView) = try context.lock.run {
      (try IdentifiedObjects(context: context).store(of: space), try context.view(of: space))
    }
    defer { withExtendedLifetime(store) {} }
    var next = first
    defer { listed.next = next }
    var failure: (any Error)?
    // Returns whether to go on.
    func take(_ rows: FoundRows, _ objects: Range<Int>) -> Bool {
      do {
        let found: ObjectBatch? = try context.lock.run { try batch(of: rows, references[objects], in: space, view) }
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
      try view.forEachBatch(of: references, from: first, size: batchSize) { (rows, objects) throws(EngineError) in
        take(rows, objects)
      }
    } catch {
      // The caller reads this batch again by itself, because the error may concern a commit that the context no longer
      // reads.
    }
    if let failure { throw failure }
  }

  /// Returns the batch of rows that were copied ahead. `nil` if the context reads another commit now.
  private func batch(
    of rows: FoundRows, _ references: ArraySlice<ObjectReference>, in space: StoreSpace, _ view: EntityView
  ) throws -> ObjectBatch? {
    context.takeInMail()
    let identified = IdentifiedObjects(context: context)
    _ = try identified.store(of: space)
    let now = try context.view(of: space)
    guard now.store === view.store, now.sequence == view.sequence else { return nil }
    let found = FoundObjects(of: rows, in: space, for: context).objects
    return try batch(identified.ordered(found, as: references, in: space))
  }

  private func nextBatch(of listed: inout ListedObjects) throws -> ObjectBatch? {
    guard listed.next < listed.count else { return nil }
    // Neither operation overflows, because the end is at most the number of objects.
    let end = listed.next + min(batchSize, listed.count - listed.next)
    let objects: [ManagedObject]
    context.takeInMail()
    let identified = IdentifiedObjects(context: context)
    switch listed.identifiers {
    case .stored(let space, let references):
      objects = try identified.presentObjects(of: Array(references[listed.next..<end]), in: space)
    case .any(let identifiers, let new):
      objects = try identified.presentObjects(with: Array(identifiers[listed.next..<end]), new: new)
    }
    listed.next = end
    return try batch(objects)
  }

  /// Refreshes, loads and prefetches as the request asks for it.
  private func batch(_ objects: [ManagedObject]) throws -> ObjectBatch {
    try request.prepare(objects, in: context)
    var batch = ObjectBatch(objects: objects, prefetched: [])
    if context.parent == nil, let paths = request.relationshipKeyPathsForPrefetching {
      batch.prefetched = try RelationshipPrefetch(context: context).destinations(of: paths, from: objects)
    }
    return batch
  }

  // MARK: Identifiers

  /// The objects of the request, and how many of them were walked.
  private struct ListedObjects {
    enum Identifiers {
      /// References to one store. The context has no unsaved changes that matter.
      case stored(StoreSpace, [ObjectReference])
      /// Identifiers of any stores. A save may rename unsaved objects before their turn, so these are held.
      case any([ManagedObjectID], new: [ManagedObjectID: ManagedObject])
    }

    let identifiers: Identifiers
    var next = 0

    var count: Int {
      switch identifiers {
      case .stored(_, let references): references.count
      case .any(let identifiers, _): identifiers.count
      }
    }
  }

  private func list() throws -> ListedObjects {
    let fetch = try ContextFetch(context, request)
    let plan = fetch.plan
    guard request.resultType == .managedObject, batchSize > 0 else {
      throw CambiumError(
        .invalidArgument, "what is enumerated is objects, and batches of them are not empty", entityName: plan.name)
    }
    try request.settleClass(of: plan.parts.map { $0.info }, in: context.persistentStoreCoordinator)
    if let found = try fetch.storedReferences() {
      return ListedObjects(identifiers: .stored(found.space, found.references))
    }
    let found = try fetch.objects()
    var new: [ManagedObjectID: ManagedObject] = [:]
    for object in found where object.objectID.isTemporaryID { new[object.objectID] = object }
    return ListedObjects(identifiers: .any(found.map { $0.objectID }, new: new))
  }
}
