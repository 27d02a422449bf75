import CambiumEngine

/// What a fetch index is good for, with Core Data's raw values.
public enum FetchIndexElementType: Int, Sendable {
  /// Equality, ranges and order.
  case binary = 0
  /// Places in a plane, such as a composite's latitude and longitude: ranges over both numbers at once, distances, and the
  /// nearest first. An index has two such elements and no others.
  case rTree = 1
}

/// One part of the key of a fetch index. Core Data: `NSFetchIndexElementDescription`.
public final class FetchIndexElementDescription: @unchecked Sendable, ModelPart {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is read.
  /// The attribute or to-one relationship; `nil` if the element was made of a key path.
  public let property: PropertyDescription?
  private let path: String
  /// The kind of index.
  @ModelValue public var collationType = FetchIndexElementType.binary
  /// Whether the index keeps ascending order for the part.
  @ModelValue public var isAscending = true
  /// The index that the element was given to.
  public internal(set) weak var indexDescription: FetchIndexDescription?

  /// An element of an attribute or to-one relationship.
  public init(property: PropertyDescription, collationType: FetchIndexElementType = .binary) {
    self.property = property
    path = ""
    self.collationType = collationType
  }

  /// An element of a key path, such as `place.location.latitude` into a composite.
  public init(keyPath: String, ascending: Bool = true, collationType: FetchIndexElementType = .binary) {
    property = nil
    path = keyPath
    self.collationType = collationType
    isAscending = ascending
  }

  /// The property's name, or the key path.
  public var propertyName: String { property?.name ?? path }

  var modelInUse: ManagedObjectModel? { indexDescription?.modelInUse }
}

/// A fetch index of an entity, which covers its subentities as well. No part of the version hash.
/// Core Data: `NSFetchIndexDescription`.
public final class FetchIndexDescription: @unchecked Sendable, ModelPart {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is read.
  /// The name, unique among the entity's indexes.
  @ModelValue public var name: String = ""
  /// The parts of the key, the most significant first.
  @ModelValue public var elements: [FetchIndexElementDescription] = []
  /// A predicate in format syntax: only objects that match it are in the index.
  @ModelValue public var partialIndexPredicate: String?
  /// The entity that the index was given to.
  public internal(set) weak var entity: EntityDescription?

  /// An index.
  public init(name: String, elements: [FetchIndexElementDescription] = []) {
    self.name = name
    self.elements = elements
  }

  var modelInUse: ManagedObjectModel? { entity?.modelInUse }

  func schema() -> IndexSchema {
    var parts: [IndexElement] = []
    for element in elements {
      element.indexDescription = self
      parts.append(
        IndexElement(
          element.propertyName, ascending: element.isAscending,
          kind: element.collationType == .rTree ? .rTree : .binary))
    }
    return IndexSchema(name, parts, partialPredicate: partialIndexPredicate)
  }
}
