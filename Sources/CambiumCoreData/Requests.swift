// Requests that Core Data's code holds in constants and fills in.

@_spi(CoreData) import Cambium

/// Inserts many objects at once; see ``BatchInsertRequest``.
public final class NSBatchInsertRequest {
  /// What is given back.
  public var resultType = BatchResultType.statusOnly
  /// The stores to choose from; see ``BatchInsertRequest/affectedStores``.
  public var affectedStores: [PersistentStore]?
  /// The entity's name.
  public let entityName: String
  private let request: () -> BatchInsertRequest

  /// Inserts objects of these values.
  public init(entityName: String, objects: [[String: Any]]) {
    self.entityName = entityName
    let values = objects.map { $0.mapValues { swiftValue($0) as Any } }
    request = { BatchInsertRequest(entityName: entityName, objects: values) }
  }

  /// Inserts objects of these values.
  public convenience init(entity: EntityDescription, objects: [[String: Any]]) {
    self.init(entityName: entity.ownName, objects: objects)
  }

  /// Inserts objects whose values the handler fills in, until it answers true.
  public init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
    self.entityName = entityName
    request = {
      BatchInsertRequest(entityName: entityName) { values in
        let dictionary = NSMutableDictionary()
        let isDone = handler(dictionary)
        values = swiftValue(dictionary) as? [String: Any] ?? [:]
        return isDone
      }
    }
  }

  /// Inserts objects whose values the handler fills in, until it answers true.
  public convenience init(
    entity: EntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entityName: entity.ownName, dictionaryHandler: handler)
  }

  /// Inserts objects whose properties the handler sets, until it answers true; see
  /// ``BatchInsertRequest/init(entityName:managedObjectHandler:)``.
  public init(entityName: String, managedObjectHandler handler: @escaping (ManagedObject) -> Bool) {
    self.entityName = entityName
    request = { BatchInsertRequest(entityName: entityName, managedObjectHandler: handler) }
  }

  /// Inserts objects whose attributes the handler sets, until it answers true.
  public convenience init(entity: EntityDescription, managedObjectHandler handler: @escaping (ManagedObject) -> Bool) {
    self.init(entityName: entity.ownName, managedObjectHandler: handler)
  }

  fileprivate var filled: BatchInsertRequest {
    var result = request()
    result.resultType = resultType
    result.affectedStores = affectedStores
    return result
  }
}

/// Changes many objects at once; see ``BatchUpdateRequest``.
public final class NSBatchUpdateRequest {
  /// The entity's name.
  public let entityName: String
  /// Which objects; `nil` for all.
  public var predicate: FetchPredicate?
  /// Whether objects of subentities count as well.
  public var includesSubentities = true
  /// Values, or ``FetchExpression``s, by the names of properties.
  public var propertiesToUpdate: [AnyHashable: Any]?
  /// What is given back.
  public var resultType = BatchResultType.statusOnly
  /// The stores whose objects are changed; see ``BatchUpdateRequest/affectedStores``.
  public var affectedStores: [PersistentStore]?

  /// Changes objects of an entity.
  public init(entityName: String) { self.entityName = entityName }

  /// Changes objects of an entity.
  public convenience init(entity: EntityDescription) { self.init(entityName: entity.ownName) }

  fileprivate var filled: BatchUpdateRequest {
    var result = BatchUpdateRequest(entityName: entityName)
    result.predicate = predicate
    result.includesSubentities = includesSubentities
    for (key, value) in propertiesToUpdate ?? [:] {
      let name = key as? String ?? (key.base as? PropertyDescription)?.name ?? "\(key)"
      result.propertiesToUpdate[name] = swiftValue(value) as Any
    }
    result.resultType = resultType
    result.affectedStores = affectedStores
    return result
  }
}

/// Deletes many objects at once; see ``BatchDeleteRequest``.
public final class NSBatchDeleteRequest {
  /// What is given back.
  public var resultType = BatchResultType.statusOnly
  /// The stores whose objects are deleted; of those that are found, not of those that are named.
  public var affectedStores: [PersistentStore]? {
    get { fetchRequest?.affectedStores }
    set { fetchRequest?.affectedStores = newValue }
  }
  /// What finds the objects; `nil` if they are named.
  public let fetchRequest: FetchRequest<ManagedObject>?
  private let objectIDs: [ManagedObjectID]

  /// Deletes what a request finds.
  public init<Result: ManagedObject>(fetchRequest: FetchRequest<Result>) {
    self.fetchRequest = fetchRequest.ofAnyObjects()
    objectIDs = []
  }

  /// Deletes these objects.
  public init(objectIDs: [ManagedObjectID]) {
    fetchRequest = nil
    self.objectIDs = objectIDs
  }

  fileprivate var filled: BatchDeleteRequest {
    var result = fetchRequest.map { BatchDeleteRequest(fetchRequest: $0) } ?? BatchDeleteRequest(objectIDs: objectIDs)
    result.resultType = resultType
    return result
  }
}

/// ``BatchResult``.
public typealias NSBatchInsertResult = BatchResult
/// ``BatchResult``.
public typealias NSBatchUpdateResult = BatchResult
/// ``BatchResult``.
public typealias NSBatchDeleteResult = BatchResult
/// ``BatchResultType``.
public typealias NSBatchInsertRequestResultType = BatchResultType
/// ``BatchResultType``.
public typealias NSBatchUpdateRequestResultType = BatchResultType
/// ``BatchResultType``.
public typealias NSBatchDeleteRequestResultType = BatchResultType

extension ManagedObjectContext {
  /// Runs a request; see ``execute(_:)``.
  @discardableResult
  public func execute(_ request: NSBatchInsertRequest) throws -> NSBatchInsertResult {
    try execute(request.filled)
  }

  /// Runs a request; see ``execute(_:)``.
  @discardableResult
  public func execute(_ request: NSBatchUpdateRequest) throws -> NSBatchUpdateResult { try execute(request.filled) }

  /// Runs a request; see ``execute(_:)``.
  @discardableResult
  public func execute(_ request: NSBatchDeleteRequest) throws -> NSBatchDeleteResult { try execute(request.filled) }
}

extension ManagedObject {
  /// A request for the objects of the entity that the class stands for. A subclass may have one of its own, for itself.
  @_disfavoredOverload public class func fetchRequest() -> NSFetchRequest<NSFetchRequestResult> {
    NSFetchRequest(entityName: entity().ownName)
  }
}

extension ManagedObjectContext {
  /// A context that is given its ``parent`` or its ``persistentStoreCoordinator`` before it is used; until then it has
  /// no stores.
  public convenience init(concurrencyType: ConcurrencyType) {
    self.init(
      concurrencyType: concurrencyType,
      persistentStoreCoordinator: PersistentStoreCoordinator(managedObjectModel: ManagedObjectModel()))
  }

  /// When a block runs.
  public enum ScheduledTaskType: Sendable {
    /// As soon as the context is free.
    case immediate
    /// The same: blocks run in the order in which they come.
    case enqueued
  }

  /// Runs a block on the context's queue; see ``perform(_:)->_``.
  public func perform<R: Sendable, Failure: Error>(
    schedule: ScheduledTaskType, _ block: @escaping @Sendable () throws(Failure) -> R
  ) async throws(Failure) -> R {
    try await perform(block)
  }
}

extension AsynchronousFetchRequest {
  /// A fetch that calls a block when it has ended.
  public init(
    fetchRequest: FetchRequest<Result>,
    completionBlock: (@Sendable (AsynchronousFetchResult<Result>) -> Void)? = nil
  ) {
    self.init(fetchRequest, completionBlock: completionBlock)
  }
}

extension FetchedResultsController {
  /// A controller; there are no caches, so that their name has no effect.
  public convenience init(
    fetchRequest: FetchRequest<Result>, managedObjectContext: ManagedObjectContext, sectionNameKeyPath: String?,
    cacheName: String?
  ) {
    self.init(
      fetchRequest: fetchRequest, managedObjectContext: managedObjectContext, sectionNameKeyPath: sectionNameKeyPath)
  }

  /// Whether both are the same controller.
  public static func == <Other>(a: FetchedResultsController<Result>, b: FetchedResultsController<Other>) -> Bool {
    a === b
  }

  /// `nil`: there are no caches.
  public var cacheName: String? { nil }

  /// Does nothing: there are no caches.
  public static func deleteCache(withName name: String?) {}
}

extension PersistentHistoryTransaction {
  /// A request to be filled in, for ``PersistentHistoryChangeRequest``'s `fetchRequest`.
  public static var fetchRequest: NSFetchRequest<PersistentHistoryTransaction>? { NSFetchRequest() }
}

extension PersistentHistoryChange {
  /// The properties that an update changed, as the model of the changed object's store has them; those that it has no
  /// more are left out. `nil` for inserts and deletions.
  public var updatedProperties: Set<PropertyDescription>? {
    ownUpdatedProperties.map { names in
      let properties = changedObjectID.entity.propertiesByName
      return Set(names.compactMap { properties[$0] })
    }
  }

  /// A request to be filled in, for
  /// ``PersistentHistoryChangeRequest/fetchHistory(withFetch:)-(FetchRequest<PersistentHistoryChange>)``.
  public static var fetchRequest: NSFetchRequest<PersistentHistoryChange>? { NSFetchRequest() }
}

extension PersistentHistoryChangeRequest {
  /// How many transactions are read at once: always all. Setting it has no effect.
  public var fetchBatchSize: Int {
    get { 0 }
    set { _ = newValue }
  }

  /// Which transactions are given: the predicate, the limit and the offset of a request.
  public var fetchRequest: NSFetchRequest<PersistentHistoryTransaction>? {
    get {
      guard predicate != nil || fetchLimit > 0 || fetchOffset > 0 else { return nil }
      let request = NSFetchRequest<PersistentHistoryTransaction>()
      request.predicate = predicate
      request.fetchLimit = fetchLimit
      request.fetchOffset = fetchOffset
      return request
    }
    set {
      predicate = newValue?.predicate
      fetchLimit = newValue?.fetchLimit ?? 0
      fetchOffset = newValue?.fetchOffset ?? 0
    }
  }
}

extension MutableRelationship {
  /// ``objects``.
  public var allObjects: [Any] { objects }

  /// ``add(_:)`` for each; what is no object is passed over.
  public func addObjects(from array: [Any]) { formUnion(array.compactMap { $0 as? ManagedObject }) }

  /// ``formUnion(_:)``.
  public func union(_ objects: some Sequence<some ManagedObject>) { formUnion(objects) }

  /// ``subtract(_:)``.
  public func minus(_ objects: some Sequence<some ManagedObject>) { subtract(objects) }

  /// ``formIntersection(_:)``.
  public func intersect(_ objects: some Sequence<some ManagedObject>) { formIntersection(objects) }

  /// ``removeAll()``.
  public func removeAllObjects() { removeAll() }
}
