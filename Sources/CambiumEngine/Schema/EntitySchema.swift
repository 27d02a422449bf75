/// An entity. See ``AttributeSchema`` about identifiers.
///
/// ``attributes`` and ``relationships`` are the entity's own; a ``Schema`` adds what it inherits in
/// ``allAttributes`` and ``allRelationships``.
public struct EntitySchema: Equatable, Sendable {
  /// All of it. Entities are copied often.
  private var box: SharedBox<EntityParts>

  private mutating func own() {
    if !isKnownUniquelyReferenced(&box) { box = SharedBox(box.content) }
  }

  /// Identifies the entity in the file; it survives renaming and is never used again. 0 before a schema is built.
  public internal(set) var id: UInt32 {
    get { box.content.id }
    _modify {
      own()
      yield &box.content.id
    }
  }
  /// The name, unique in the model.
  public var name: String {
    get { box.content.name }
    _modify {
      own()
      yield &box.content.name
    }
  }
  /// The name of the parent entity.
  public var parent: String? {
    get { box.content.parent }
    _modify {
      own()
      yield &box.content.parent
    }
  }
  /// Whether there are no objects of the entity itself, only of its descendants.
  public var isAbstract: Bool {
    get { box.content.isAbstract }
    _modify {
      own()
      yield &box.content.isAbstract
    }
  }
  /// The entity's own attributes.
  public var attributes: [AttributeSchema] {
    get { box.content.attributes }
    _modify {
      own()
      yield &box.content.attributes
    }
  }
  /// The entity's own relationships.
  public var relationships: [RelationshipSchema] {
    get { box.content.relationships }
    _modify {
      own()
      yield &box.content.relationships
    }
  }
  /// The entity's own fetched properties.
  public var fetchedProperties: [FetchedPropertySchema] {
    get { box.content.fetchedProperties }
    _modify {
      own()
      yield &box.content.fetchedProperties
    }
  }
  /// The entity's own indexes.
  public var indexes: [IndexSchema] {
    get { box.content.indexes }
    _modify {
      own()
      yield &box.content.indexes
    }
  }
  /// The entity's own constraints.
  public var uniquenessConstraints: [UniquenessConstraint] {
    get { box.content.uniquenessConstraints }
    _modify {
      own()
      yield &box.content.uniquenessConstraints
    }
  }
  /// The class of the objects, for the layer above.
  public var className: String? {
    get { box.content.className }
    _modify {
      own()
      yield &box.content.className
    }
  }
  /// The name that the entity had in the earlier model, if it was renamed.
  public var renamingIdentifier: String? {
    get { box.content.renamingIdentifier }
    _modify {
      own()
      yield &box.content.renamingIdentifier
    }
  }
  /// Changed to make versions differ that are otherwise equal.
  public var versionHashModifier: String? {
    get { box.content.versionHashModifier }
    _modify {
      own()
      yield &box.content.versionHashModifier
    }
  }
  /// The properties of earlier versions that the entity removes on purpose: names or renaming identifiers, and paths of
  /// elements.
  public var removedProperties: [String] {
    get { box.content.removedProperties }
    _modify {
      own()
      yield &box.content.removedProperties
    }
  }
  /// What the application attached.
  public var userInfo: [UserInfoEntry] {
    get { box.content.userInfo }
    _modify {
      own()
      yield &box.content.userInfo
    }
  }

  /// The parent's identifier; `nil` for a root entity. Filled in by the schema, as all that follow.
  public internal(set) var parentID: UInt32? {
    get { box.content.parentID }
    _modify {
      own()
      yield &box.content.parentID
    }
  }
  /// The identifier of the entity at the top of the hierarchy: its own, if it has no parent.
  public internal(set) var rootID: UInt32 {
    get { box.content.rootID }
    _modify {
      own()
      yield &box.content.rootID
    }
  }
  /// The identifiers of the entities whose parent this is.
  public internal(set) var childIDs: [UInt32] {
    get { box.content.childIDs }
    _modify {
      own()
      yield &box.content.childIDs
    }
  }
  /// The attributes of the ancestors from the root down, then the entity's own.
  public internal(set) var allAttributes: [AttributeSchema] {
    get { box.content.allAttributes }
    _modify {
      own()
      yield &box.content.allAttributes
    }
  }
  /// The relationships of the ancestors from the root down, then the entity's own.
  public internal(set) var allRelationships: [RelationshipSchema] {
    get { box.content.allRelationships }
    _modify {
      own()
      yield &box.content.allRelationships
    }
  }
  /// Finds a property by name.
  var propertyTable: [String: PropertyPlace] {
    get { box.content.propertyTable }
    _modify {
      own()
      yield &box.content.propertyTable
    }
  }

  /// Describes an entity; the rest is set on the result.
  public init(
    _ name: String, parent: String? = nil, abstract: Bool = false, attributes: [AttributeSchema] = [],
    relationships: [RelationshipSchema] = [], indexes: [IndexSchema] = [], unique: [[String]] = []
  ) {
    var parts = EntityParts(name: name, parent: parent, attributes: attributes, relationships: relationships)
    parts.isAbstract = abstract
    parts.indexes = indexes
    parts.uniquenessConstraints = unique.map { UniquenessConstraint($0) }
    box = SharedBox(parts)
  }

  /// Whether two entities are the same in every part, identifiers included.
  public static func == (a: EntitySchema, b: EntitySchema) -> Bool {
    a.box === b.box || a.box.content == b.box.content
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

/// What an entity has.
private struct EntityParts: Equatable, Sendable {
  var id: UInt32 = 0
  var name: String
  var parent: String?
  var isAbstract: Bool = false
  var attributes: [AttributeSchema]
  var relationships: [RelationshipSchema]
  var fetchedProperties: [FetchedPropertySchema] = []
  var indexes: [IndexSchema] = []
  var uniquenessConstraints: [UniquenessConstraint] = []
  var className: String?
  var renamingIdentifier: String?
  var versionHashModifier: String?
  var removedProperties: [String] = []
  var userInfo: [UserInfoEntry] = []
  var parentID: UInt32?
  var rootID: UInt32 = 0
  var childIDs: [UInt32] = []
  var allAttributes: [AttributeSchema] = []
  var allRelationships: [RelationshipSchema] = []
  var propertyTable: [String: PropertyPlace] = [:]
}

/// Where a property of an entity is.
enum PropertyPlace: Equatable, Sendable {
  case attribute(Int)
  case relationship(Int)
  case fetched
}
