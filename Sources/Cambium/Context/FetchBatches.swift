import CambiumEngine

/// The objects of a fetch, whose rows are read some at a time, when they are asked for: for long lists of which a part is
/// shown. Core Data: the array that a request with a batch size gives.
///
/// Only the identifiers are kept, and the objects of the batches used last. Each batch shows the newest commit at the time it
/// is read: an object that was deleted meanwhile is given as a fault without a row.
///
/// Is used where its context is.
public final class FetchBatches<Result: ManagedObject> {
  private let context: ManagedObjectContext
  private let identifiers: [ManagedObjectID]
  /// Those that were not saved yet, which have another identifier when they are.
  private let unsaved: [ManagedObjectID: ManagedObject]
  /// How many objects are read at a time.
  public let batchSize: Int
  /// The batches used last, the most recent one at the end.
  private var recent: [(batch: Int, objects: [Result])] = []
  private static var recentLimit: Int { 4 }

  init(_ context: ManagedObjectContext, _ identifiers: [ManagedObjectID], batchSize: Int) {
    self.context = context
    self.identifiers = identifiers
    var unsaved: [ManagedObjectID: ManagedObject] = [:]
    for id in identifiers where id.isTemporaryID { unsaved[id] = context.registered(id) }
    self.unsaved = unsaved
    self.batchSize = max(1, batchSize)
  }

  /// How many objects there are.
  public var count: Int { identifiers.count }

  /// How many batches they make.
  public var batchCount: Int { count / batchSize + (count % batchSize == 0 ? 0 : 1) }

  /// The identifiers of all objects, in order.
  public var objectIDs: [ManagedObjectID] { unsaved.isEmpty ? identifiers : identifiers.map { known($0) } }

  /// The identifier that an object has now.
  private func known(_ id: ManagedObjectID) -> ManagedObjectID { unsaved[id]?.objectID ?? id }

  /// The object at a place, from 0.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a place that there is none of; as ``batch(_:)``.
  public subscript(place: Int) -> Result {
    get throws {
      guard identifiers.indices.contains(place) else { throw outOfRange(place, identifiers.count) }
      return try batch(place / batchSize)[place % batchSize]
    }
  }

  /// The objects of a batch, from 0.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a batch that there is none of, and for objects that are of another
  ///   class; what reading throws.
  public func batch(_ number: Int) throws -> [Result] {
    guard number >= 0, number < batchCount else { throw outOfRange(number, batchCount) }
    if let known = recent.firstIndex(where: { $0.batch == number }) {
      let found = recent.remove(at: known)
      // Those of before the context was reset are nobody's.
      if found.objects.contains(where: { $0.isOfContext(context) }) {
        recent.append(found)
        return found.objects
      }
    }
    let start = number * batchSize
    let wanted = identifiers[start..<(start + min(batchSize, count - start))].map { self.known($0) }
    var objects: [Result] = []
    objects.reserveCapacity(wanted.count)
    for object in try context.objects(with: wanted) {
      guard let result = object as? Result else {
        throw CambiumError(
          .invalidArgument, "\(object.objectID) is a \(type(of: object)) and no \(Result.self)",
          entityName: object.entity.name, objectID: object.objectID)
      }
      objects.append(result)
    }
    if recent.count >= Self.recentLimit { recent.removeFirst() }
    recent.append((number, objects))
    return objects
  }

  /// Gives `body` batch after batch.
  ///
  /// - Throws: as ``batch(_:)``; what `body` throws.
  public func forEachBatch(_ body: ([Result]) throws -> Void) throws {
    for number in 0..<batchCount { try body(try batch(number)) }
  }

  private func outOfRange(_ place: Int, _ count: Int) -> CambiumError {
    CambiumError(.invalidArgument, "there is no \(place) of \(count)")
  }
}

extension ManagedObjectContext {
  /// The objects that match a request, in its order, to be read in batches of ``FetchRequest/fetchBatchSize``.
  ///
  /// - Throws: as ``fetch(_:)``; ``CambiumError/Code/invalidArgument`` for a request for anything but objects, and for a
  ///   negative batch size.
  public func fetchBatches<Result: ManagedObject>(_ request: FetchRequest<Result>) throws -> FetchBatches<Result> {
    try lock.run {
      try told(
        .fetch(
          entityName: request.entityName(in: persistentStoreCoordinator) ?? "",
          predicate: request.predicate?.predicateFormat, resultType: .managedObjectID),
        count: { $0.count }, plan: { try? explain(request) }
      ) {
        let plan = try plan(request)
        guard request.resultType == .managedObject, request.fetchBatchSize >= 0 else {
          throw CambiumError(
            .invalidArgument, "batches are of objects, and their size is not negative", entityName: plan.name)
        }
        try request.settleClass(of: plan.parts.map { $0.info }, in: persistentStoreCoordinator)
        return FetchBatches(
          self, try identifiers(plan), batchSize: request.fetchBatchSize == 0 ? 100 : request.fetchBatchSize)
      }
    }
  }

  /// The objects of identifiers, with the rows that the newest commit has of them.
  func objects(with identifiers: [ManagedObjectID]) throws -> [ManagedObject] {
    try lock.run {
      if let parent {
        return try parent.lock.run {
          let found = try parent.objects(with: identifiers)
          takeInMail()
          return found.map { take($0) }
        }
      }
      advance()
      // Kept until all of them are found: the context holds objects weakly.
      var held: [ManagedObject] = []
      let stored = identifiers.filter { id in
        !id.isTemporaryID && persistentStoreCoordinator.store(of: id.space) != nil
          && id.space.info(id.reference.entity) != nil
      }
      for (_, some) in Dictionary(grouping: stored, by: { ObjectIdentifier($0.space) }) {
        held += try objects(of: some.map { $0.reference }, in: some[0].space)
      }
      return withExtendedLifetime(held) { identifiers.map { object(with: $0) } }
    }
  }
}
