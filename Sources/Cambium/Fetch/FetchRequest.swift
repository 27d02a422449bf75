#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a fetch may give: ``ManagedObject`` and its subclasses, ``ManagedObjectID``, `Int` for counts, dictionaries.
public protocol FetchRequestResult {}

extension ManagedObject: FetchRequestResult {}
extension ManagedObjectID: FetchRequestResult {}
extension Int: FetchRequestResult {}
extension Dictionary: FetchRequestResult where Key == String, Value == Any {}

/// What a fetch gives, with Core Data's raw values.
public enum FetchRequestResultType: Int, Sendable {
  /// Objects.
  case managedObject = 0
  /// Identifiers of objects.
  case managedObjectID = 1
  /// Dictionaries of values. Not supported yet.
  case dictionary = 2
  /// One number: how many objects match.
  case count = 4
}

/// One key of an order. Core Data: `NSSortDescriptor`; Foundation's `SortDescriptor` is another type.
///
/// Nulls come first in ascending order; strings are ordered as Swift's `<` does, in no language.
public struct FetchSortDescriptor: Hashable, Sendable {
  /// A key path, through composites and to-one relationships.
  public var key: String
  /// Whether small values come first.
  public var ascending: Bool

  /// A key of an order.
  public init(key: String, ascending: Bool = true) {
    self.key = key
    self.ascending = ascending
  }
}

/// Describes which objects to fetch, and in which order. Core Data: `NSFetchRequest`.
///
///     let request = FetchRequest<Aircraft>(entityName: "Aircraft")
///     request.predicate = try FetchPredicate(format: "colorScheme.primary == %@", "white")
///     request.sortDescriptors = [FetchSortDescriptor(key: "tailNumber")]
///     let white = try context.fetch(request)
///
/// A request belongs to one thread at a time.
public final class FetchRequest<Result: FetchRequestResult> {
  /// The name of the entity.
  public var entityName: String?
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

  /// A request for all objects of no entity yet.
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
  public convenience init(entity: EntityDescription) { self.init(entityName: entity.name) }
}
