#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a fetch may give: ``ManagedObject`` and its subclasses, ``ManagedObjectID``, `Int` for counts, dictionaries.
public protocol FetchRequestResult: SendableMetatype {}

extension ManagedObjectID: FetchRequestResult {}
extension Int: FetchRequestResult {}
extension Dictionary: FetchRequestResult where Key == String, Value == Any {}

/// Describes which objects to fetch, and in which order. Core Data: `NSFetchRequest`.
///
///     let request = FetchRequest<Aircraft>(entityName: "Aircraft")
///     request.predicate = try FetchPredicate(format: "colorScheme.primary == %@", "white")
///     request.sortDescriptors = [FetchSortDescriptor(key: "tailNumber")]
///     let white = try context.fetch(request)
///
/// The entity may be left out where the class of the results has one in the model: `FetchRequest<Aircraft>()`.
///
/// A request belongs to one thread at a time.
public final class FetchRequest<Result: FetchRequestResult> {
  /// The name of the entity; `nil` for the one that the class `Result` stands for in the model of the context that
  /// executes the request: the one that names the class, or is called like it.
  public var entityName: String?
  /// The entity, if it was set as such: then ``entityName`` is its name.
  public var entity: EntityDescription? {
    get { described?.name == entityName ? described : nil }
    set { (described, entityName) = (newValue, newValue?.name) }
  }
  private var described: EntityDescription?
  /// The class whose entity is meant if none is named, where it is not `Result`.
  private(set) var meantClass: AnyClass?
  /// Which objects; `nil` for all.
  public var predicate: FetchPredicate?
  /// The order, the most significant key first. Where it leaves the order open, that of the rows counts.
  public var sortDescriptors: [FetchSortDescriptor]?
  /// How many objects at most; 0 for all.
  public var fetchLimit = 0
  /// How many to leave out at the start.
  public var fetchOffset = 0
  /// Whether objects of subentities count as well.
  public var includesSubentities = true
  /// Whether unsaved changes of the context count.
  public var includesPendingChanges = true
  /// What is given. Set from `Result` at first.
  public var resultType: FetchRequestResultType
  /// The stores to look into; `nil` for all.
  public var affectedStores: [PersistentStore]?

  // MARK: Rows and faults

  /// Whether the rows come with the objects. Without them a fetch is quicker where the objects are not looked at, since
  /// an index may answer it alone; objects that the context has already stay as they are.
  public var includesPropertyValues = true
  /// Whether objects are given as faults. Their rows are there all the same; without faults, `awakeFromFetch` is called
  /// for all of them at once.
  public var returnsObjectsAsFaults = true
  /// Whether objects with unsaved changes get their rows anew, which the changes then are based on. Others always do.
  public var shouldRefreshRefetchedObjects = false
  /// Key paths of relationships whose objects will be needed. Their rows are read with the fetch, each once and in the
  /// order in which rows lie, by several threads if there are many; one by one, when they are asked for, each would be
  /// waited for. The objects are faults all the same. The context holds them until the block ends in which the fetch
  /// was made; outside of blocks, until the next such fetch, the end of the next block, or a reset; those of an
  /// ``AsynchronousFetchRequest`` until its completion block has ended. Without effect in child contexts, which read
  /// what their parent has, and on fetches of anything but objects.
  public var relationshipKeyPathsForPrefetching: [String]?
  /// How many objects ``ManagedObjectContext/fetchBatches(_:)`` reads at a time; 0 for 100. Without effect on
  /// ``ManagedObjectContext/fetch(_:)``.
  public var fetchBatchSize = 0

  // MARK: Dictionaries

  /// The values that each dictionary holds. A property or key path stands under its name, and an expression under the
  /// name of its description. `nil` stands for all attributes and to-one relationships.
  ///
  /// A dictionary leaves out values that are null, and has the identifiers of objects. If one property is an aggregate,
  /// or the request has groups, each other property must be a literal or one that is grouped by. The store answers, so
  /// unsaved changes have no effect.
  ///
  ///     let request = FetchRequest<[String: Any]>(entityName: "LogEntry")
  ///     request.propertiesToGroupBy = ["aircraft.tailNumber"]
  ///     request.propertiesToFetch = [
  ///       "aircraft.tailNumber",
  ///       .expression("legs", .count(.evaluatedObject)),
  ///       .expression("minutes", .sum(.init(forKeyPath: "minutes"))),
  ///     ]
  ///     request.havingPredicate = try FetchPredicate(format: "legs > 10")
  ///     request.sortDescriptors = [FetchSortDescriptor(key: "minutes", ascending: false)]
  ///
  /// In a request for objects it says which properties are wanted; whole rows come nevertheless, since they cost no
  /// more.
  public var propertiesToFetch: [FetchProperty]?
  /// Whether equal dictionaries are given once. Without effect unless ``propertiesToFetch`` is set.
  ///
  /// They come in any order if the request has neither an order nor an offset nor a limit. If an index begins with the
  /// properties, the fetch skips through it and reads hardly any rows.
  public var returnsDistinctResults = false
  /// Key paths, through composites and to-one relationships, of whose values each combination gives one dictionary.
  /// Those without a value are a group like others.
  public var propertiesToGroupBy: [String]?
  /// Which groups are given: a condition on names in ``propertiesToFetch`` (as they are, or as `$variables`) and on
  /// grouped key paths.
  public var havingPredicate: FetchPredicate?

  /// A request for all objects of the entity of the class `Result`, or, where that is no class of the application's, of
  /// none yet.
  public init() {
    if Result.self == ManagedObjectID.self {
      resultType = .managedObjectID
    } else if Result.self == Int.self {
      resultType = .count
    } else if Result.self == [String: Any].self {
      resultType = .dictionary
    } else {
      resultType = .managedObject
    }
  }

  /// A request for all objects of an entity.
  public convenience init(entityName: String) {
    self.init()
    self.entityName = entityName
  }

  /// A request for all objects of an entity.
  public convenience init(entity: EntityDescription) {
    self.init()
    self.entity = entity
  }

  /// Another request for the same.
  public func copy() -> FetchRequest {
    let copy = FetchRequest()
    fill(copy)
    copy.resultType = resultType
    return copy
  }

  /// Copies the settings into another request.
  func fill<Other>(_ copy: FetchRequest<Other>) {
    copy.entityName = entityName
    copy.described = described
    copy.meantClass = meantClass ?? Result.self as? AnyClass
    copy.predicate = predicate
    copy.sortDescriptors = sortDescriptors
    copy.fetchLimit = fetchLimit
    copy.fetchOffset = fetchOffset
    copy.includesSubentities = includesSubentities
    copy.includesPendingChanges = includesPendingChanges
    copy.affectedStores = affectedStores
    copy.includesPropertyValues = includesPropertyValues
    copy.returnsObjectsAsFaults = returnsObjectsAsFaults
    copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
    copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
    copy.fetchBatchSize = fetchBatchSize
    copy.propertiesToFetch = propertiesToFetch
    copy.returnsDistinctResults = returnsDistinctResults
    copy.propertiesToGroupBy = propertiesToGroupBy
    copy.havingPredicate = havingPredicate
  }
}
