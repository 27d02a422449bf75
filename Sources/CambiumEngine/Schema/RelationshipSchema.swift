/// What becomes of the destination when the source is deleted, with Core Data's raw values.
public enum DeleteRule: Int, CaseIterable, Sendable {
  /// Nothing; the other side keeps a dangling reference.
  case noAction = 0
  /// The other side's reference is removed.
  case nullify = 1
  /// The destinations are deleted as well.
  case cascade = 2
  /// The deletion is refused while there is a destination.
  case deny = 3
}

/// A relationship of an entity. See ``AttributeSchema`` about identifiers.
public struct RelationshipSchema: Equatable, Sendable {
  /// Identifies the property in the file; see ``AttributeSchema/id``.
  public internal(set) var id: UInt32 = 0
  /// The name, unique among the properties of the entity and its ancestors.
  public var name: String
  /// The name of the destination entity; objects of its descendants are allowed as well.
  public var destination: String
  /// The name of the relationship on the other side that is kept in step with this one.
  public var inverse: String?
  /// Whether there may be more than one destination.
  public var isToMany = false
  /// Whether the destinations keep an order; only for to-many.
  public var isOrdered = false
  /// The least number of destinations, enforced when saving, and for an optional relationship only when there are any.
  public var minimumCount: UInt32 = 0
  /// The greatest number of destinations; 0 for no limit. 1 for to-one.
  public var maximumCount: UInt32 = 0
  /// What becomes of the destinations when the object is deleted.
  public var deleteRule = DeleteRule.nullify
  /// Whether the relationship may be empty when saving. A required to-many relationship may be empty as well, unless it
  /// has a minimum count; Core Data's rule.
  public var isOptional = true
  /// Whether the relationship is kept in memory only.
  public var isTransient = false
  /// The name that the property had in the earlier model, if it was renamed.
  public var renamingIdentifier: String?
  /// Changed to make versions differ that are otherwise equal.
  public var versionHashModifier: String?
  /// What the application attached.
  public var userInfo: [UserInfoEntry] = []

  /// Whether an object needs a destination when it is saved or migrated.
  public var needsDestination: Bool { !isOptional && (!isToMany || minimumCount > 0) }

  /// Describes a to-one relationship; the rest is set on the result.
  public init(_ name: String, to destination: String, inverse: String? = nil) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    maximumCount = 1
  }

  /// Describes a to-many relationship.
  public init(_ name: String, toMany destination: String, inverse: String? = nil, ordered: Bool = false) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    isToMany = true
    isOrdered = ordered
  }

  /// What the property is matched by across versions: its renaming identifier, or its name.
  public var canonicalName: String { renamingIdentifier ?? name }
}

/// A property that is a stored request: objects fetched by a predicate that may mention `$FETCH_SOURCE`.
public struct FetchedPropertySchema: Equatable, Sendable {
  /// The name, unique among the properties of the entity and its ancestors.
  public var name: String
  /// The request.
  public var request: FetchTemplate
  /// What the application attached.
  public var userInfo: [UserInfoEntry] = []

  /// Describes a fetched property.
  public init(_ name: String, request: FetchTemplate) {
    self.name = name
    self.request = request
  }
}
