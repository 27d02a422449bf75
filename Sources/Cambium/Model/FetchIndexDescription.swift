import CambiumEngine

/// What a fetch index is good for, with Core Data's raw values.
public enum FetchIndexElementType: Int, Sendable {
  /// Equality, ranges and order.
  case binary = 0
  /// Places in a plane, such as a composite's latitude and longitude: ranges over both numbers at once, distances, and
  /// the nearest first. An index has two such elements and no others.
  case rTree = 1
}

/// One part of the key of a fetch index. Core Data: `NSFetchIndexElementDescription`.
public final class FetchIndexElementDescription: @unchecked Sendable, ModelPart {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
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
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
  /// The name, unique among the entity's indexes.
  @ModelValue public var name: String = ""
  private var storedElements: [FetchIndexElementDescription] = []
  /// A predicate in format syntax: only objects that match it are in the index.
  @ModelValue public var partialIndexPredicate: String?
  /// The entity that the index was given to.
  public internal(set) weak var entity: EntityDescription?

  /// An index.
  public init(name: String, elements: [FetchIndexElementDescription] = []) {
    self.name = name
    self.elements = elements
  }

  /// The parts of the key, the most significant first. An element belongs to one index: one of another's stays there,
  /// and compiling the model throws as long as it is among these.
  public var elements: [FetchIndexElementDescription] {
    get { storedElements }
    set {
      guard mayChange("elements") else { return }
      for element in storedElements where element.indexDescription === self { element.indexDescription = nil }
      storedElements = newValue
      for element in newValue where element.indexDescription == nil { element.indexDescription = self }
    }
  }

  var modelInUse: ManagedObjectModel? { entity?.modelInUse }

  /// Makes sure that the elements are the index's own. The model is not in use.
  func claimElements() throws {
    for element in storedElements {
      if element.indexDescription == nil { element.indexDescription = self }
      guard element.indexDescription === self else {
        throw CambiumError(
          .invalidModel,
          "the element '\(element.propertyName)' of index '\(name)' belongs to index "
            + "'\(element.indexDescription?.name ?? "")' already; make an element for each index",
          entityName: entity?.name)
      }
    }
  }

  func schema() -> IndexSchema {
    let parts = storedElements.map { element in
      IndexElement(
        element.propertyName, ascending: element.isAscending,
        kind: element.collationType == .rTree ? .rTree : .binary)
    }
    return IndexSchema(name, parts, partialPredicate: partialIndexPredicate)
  }
}
