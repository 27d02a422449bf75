/// What a batch request gives, with Core Data's raw values.
public enum BatchResultType: Int, Sendable {
  /// Whether it was done.
  case statusOnly = 0
  /// The identifiers of the objects.
  case objectIDs = 1
  /// How many objects there were.
  case count = 2
}

/// Makes many objects, as rows, without building them in a context. Core Data: `NSBatchInsertRequest`.
///
///     let rows: [[String: Any]] = [["tailNumber": "N1", "engines": 1], ["tailNumber": "N2"]]
///     try context.execute(BatchInsertRequest(entityName: "Aircraft", objects: rows))
///
/// All are made in one transaction, or none. Attributes that are not given get their defaults; to-one relationships
/// take ``ManagedObjectID``s where the other side is derived from them (an unordered to-many inverse, or none).
///
/// If an object has the values of a stored object in a uniqueness constraint, the context's merge policy decides.
/// ``MergePolicy/error`` refuses the whole request. ``MergePolicy/overwrite``, and the policy by property in which the
/// object wins, change the stored object: they set the properties that the request gives, and no defaults. The other
/// policies leave the stored object as it is. The request checks no other rules of the model.
///
/// Derived attributes are computed in the same transaction. The request does not see unsaved changes of contexts, and
/// contexts do not see the new objects until
/// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(ObjectIDNotification)`` tells them, with
/// ``BatchResult/objectIDNotification()`` or what history has of it.
public struct BatchInsertRequest {
  /// The entity.
  public let entityName: String
  /// What is given.
  public var resultType = BatchResultType.statusOnly
  /// The stores to choose one of that objects are made in: the first that holds the entity and can be written to. `nil`
  /// for all.
  public var affectedStores: [PersistentStore]?
  /// The objects, or what fills them in.
  let source: Source

  enum Source {
    case objects([[String: Any]])
    case handler((inout [String: Any]) throws -> Bool)
    case managedObjects(BatchObjectHandler)
  }

  /// Objects of their values by name.
  public init(entityName: String, objects: [[String: Any]]) {
    self.entityName = entityName
    source = .objects(objects)
  }

  /// As many objects as `handler` fills in, until it answers true. It is called before the transaction begins, and
  /// their rows are kept in memory until then: make several requests of very many. An error that it throws ends the
  /// request, which has made nothing then.
  public init(entityName: String, dictionaryHandler handler: @escaping (inout [String: Any]) throws -> Bool) {
    self.entityName = entityName
    source = .handler(handler)
  }

  /// As many objects as `handler` sets the properties of, until it answers true. This is the fastest way to insert
  /// many objects.
  ///
  ///     var minutes = [15, 20, 25][...]
  ///     let request = BatchInsertRequest(entityName: "LogEntry") { (entry: LogEntry) in
  ///       guard let next = minutes.popFirst() else { return true }
  ///       entry.minutes = next
  ///       return false
  ///     }
  ///
  /// The handler gets another object each time, which has the defaults of its entity and no context. The object may
  /// lead to saved objects of the same store by to-one relationships whose other side is derived from them; reading a
  /// relationship gives `nil`. The request ignores transient values, and values that are set after the handler
  /// returned. A property that cannot be set as the handler asks ends the request with the error.
  ///
  /// The initializer of the object's class runs, then the defaults are set where it set nothing. `awakeFromInsert()`,
  /// `willSave()` and the methods that validate are not called, as in Core Data.
  ///
  /// If the merge policy has the request change a stored object, that object takes all values that the new object has,
  /// and so the defaults as well. It keeps its other values.
  ///
  /// When the handler is called, and what an error of it does, is as with
  /// ``init(entityName:dictionaryHandler:)``.
  public init<Object: ManagedObject>(
    entityName: String, managedObjectHandler handler: @escaping (Object) throws -> Bool
  ) {
    self.entityName = entityName
    source = .managedObjects(BatchObjectHandler(handler))
  }
}

/// Changes many objects, as rows. Core Data: `NSBatchUpdateRequest`.
///
///     var request = BatchUpdateRequest(entityName: "LogEntry")
///     request.predicate = try FetchPredicate(format: "minutes < 0")
///     request.propertiesToUpdate = ["minutes": try FetchExpression(format: "0 - minutes")]
///     try context.execute(request)
///
/// In one transaction for each store that holds the entity, with the values that it finds; if one fails after others,
/// the error is ``CambiumError/Code/persistentStoreIncompleteSave``. See ``BatchInsertRequest`` for what plays no part.
/// All objects that the request finds are written, and their derived attributes are computed.
public struct BatchUpdateRequest {
  /// The entity.
  public let entityName: String
  /// Which objects; `nil` for all.
  public var predicate: FetchPredicate?
  /// Whether objects of subentities count as well.
  public var includesSubentities = true
  /// Attributes, elements of composites by their paths (`base.latitude`; the other elements stay), and to-one
  /// relationships whose other side is derived from them, with the values that they get: one for all, or a
  /// ``FetchExpression`` that is computed of each object.
  public var propertiesToUpdate: [String: Any] = [:]
  /// What is given.
  public var resultType = BatchResultType.statusOnly
  /// The stores whose objects are changed; `nil` for all that hold the entity.
  public var affectedStores: [PersistentStore]?

  /// A request that changes nothing yet.
  public init(entityName: String) { self.entityName = entityName }
}

/// Deletes many objects, as rows, by the delete rules of their relationships. Core Data: `NSBatchDeleteRequest`.
///
/// In one transaction. An object whose deletion a rule denies refuses all of them. Core Data's deletes by simple rules
/// only, and not where one denies; see ``BatchInsertRequest`` for what plays no part.
public struct BatchDeleteRequest {
  enum Which {
    case found(FetchRequest<ManagedObject>)
    case identifiers([ManagedObjectID])
  }

  let which: Which
  /// What is given: of the objects asked for, not of those that are deleted with them.
  public var resultType = BatchResultType.statusOnly

  /// The entity whose objects are looked for; nil if they are named.
  var fetchedEntityName: String? {
    if case .found(let request) = which { return request.entityName ?? request.meantClass.map { "\($0)" } }
    return nil
  }

  /// What a request finds; its predicate, order, offset and limit count.
  public init<Result: ManagedObject>(fetchRequest: FetchRequest<Result>) { which = .found(fetchRequest.ofAnyObjects()) }

  /// Objects of one store. Those that are no more are passed over.
  public init(objectIDs: [ManagedObjectID]) { which = .identifiers(objectIDs) }
}
