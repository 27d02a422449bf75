/// An entity. See ``AttributeSchema`` about identifiers.
///
/// ``attributes`` and ``relationships`` are the entity's own; a ``Schema`` adds what it inherits in
/// ``allAttributes`` and ``allRelationships``.
public struct EntitySchema: Equatable, Sendable {
  /// Identifies the entity in the file; it survives renaming and is never used again. 0 before a schema is built.
  public internal(set) var id: UInt32 = 0
  /// The name, unique in the model.
  public var name: String
  /// The name of the parent entity.
  public var parent: String?
  /// Whether there are no objects of the entity itself, only of its descendants.
  public var isAbstract = false
  /// The entity's own attributes.
  public var attributes: [AttributeSchema]
  /// The entity's own relationships.
  public var relationships: [RelationshipSchema]
  /// The entity's own fetched properties.
  public var fetchedProperties: [FetchedPropertySchema] = []
  /// The entity's own indexes.
  public var indexes: [IndexSchema] = []
  /// The entity's own constraints.
  public var uniquenessConstraints: [UniquenessConstraint] = []
  /// The class of the objects, for the layer above.
  public var className: String?
  /// The name that the entity had in the earlier model, if it was renamed.
  public var renamingIdentifier: String?
  /// Changed to make versions differ that are otherwise equal.
  public var versionHashModifier: String?
  /// What the application attached.
  public var userInfo: [UserInfoEntry] = []

  /// The parent's identifier; `nil` for a root entity. Filled in by the schema, as all that follow.
  public internal(set) var parentID: UInt32?
  /// The identifier of the entity at the top of the hierarchy: its own, if it has no parent.
  public internal(set) var rootID: UInt32 = 0
  /// The identifiers of the entities whose parent this is.
  public internal(set) var childIDs: [UInt32] = []
  /// The attributes of the ancestors from the root down, then the entity's own.
  public internal(set) var allAttributes: [AttributeSchema] = []
  /// The relationships of the ancestors from the root down, then the entity's own.
  public internal(set) var allRelationships: [RelationshipSchema] = []
  /// Finds a property by name.
  var propertyTable: [String: PropertyPlace] = [:]

  /// Describes an entity; the rest is set on the result.
  public init(
    _ name: String, parent: String? = nil, abstract: Bool = false, attributes: [AttributeSchema] = [],
    relationships: [RelationshipSchema] = [], indexes: [IndexSchema] = [], unique: [[String]] = []
  ) {
    self.name = name
    self.parent = parent
    self.isAbstract = abstract
    self.attributes = attributes
    self.relationships = relationships
    self.indexes = indexes
    self.uniquenessConstraints = unique.map { UniquenessConstraint($0) }
  }

  /// What the entity is matched by across versions: its renaming identifier, or its name.
  public var canonicalName: String { renamingIdentifier ?? name }

  /// An attribute of the entity or an ancestor. O(1).
  public func attribute(named name: String) -> AttributeSchema? {
    guard case .attribute(let index)? = propertyTable[name], allAttributes.indices.contains(index) else { return nil }
    return allAttributes[index]
  }

  /// A relationship of the entity or an ancestor. O(1).
  public func relationship(named name: String) -> RelationshipSchema? {
    guard case .relationship(let index)? = propertyTable[name], allRelationships.indices.contains(index) else {
      return nil
    }
    return allRelationships[index]
  }
}

/// Where a property of an entity is.
enum PropertyPlace: Equatable, Sendable {
  case attribute(Int)
  case relationship(Int)
  case fetched
}
