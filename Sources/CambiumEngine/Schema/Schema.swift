import CambiumKernel
import Synchronization

/// A model, checked and complete: immutable, and shared freely between threads.
///
/// Built from a ``SchemaDefinition``, against the earlier schema of the same store if there is one, so that what is
/// still there keeps its identifiers; or decoded from the bytes that a store keeps (``init(bytes:)``).
public final class Schema: Sendable {
  /// How deep composites may be nested.
  public static let compositeDepthLimit = 64
  /// How many properties a model may have, counting every element of every composite at every place.
  public static let propertyLimit = 1 << 16
  /// How many attributes and relationships the entities of a model may have in all, each with those that it inherits.
  public static let inheritedPropertyLimit = 1 << 18

  /// The entities, in the order in which they were described.
  public let entities: [EntitySchema]
  /// The composite types.
  public let composites: [CompositeSchema]
  /// What the developer calls the version.
  public let versionIdentifiers: [String]
  /// Named subsets of the entities.
  public let configurations: [ConfigurationSchema]
  /// Stored fetch requests.
  public let fetchTemplates: [NamedFetchTemplate]
  /// The entities of earlier versions that the model removes on purpose: names or renaming identifiers.
  public let removedEntities: [String]
  /// The next identifiers to give out; never less than in an earlier schema of the store.
  public let nextIdentifiers: SchemaIdentifiers

  let placeByName: [String: Int]
  let placeByID: [UInt32: Int]
  private let lazyHashes = AtomicLazyReference<VersionHashes>()

  /// The hashes; two threads that ask for the first time together get the same ones.
  var versionHashes: VersionHashes { lazyHashes.load() ?? lazyHashes.storeIfNil(VersionHashes(self)) }

  /// Builds a schema, giving identifiers to whatever has none in `earlier`.
  ///
  /// What is the same in both keeps its identifier: entities, then attributes and relationships of the same entity, are
  /// matched by a renaming identifier that the definition sets, then by name, then by an identifier that only the
  /// earlier schema sets. An attribute that becomes a relationship, or composite, is new; one that changes its type
  /// otherwise is not. Elements of composites are matched like attributes, place by place.
  ///
  /// - Throws: the first thing that is wrong with the definition. O(size of the definition).
  public convenience init(_ definition: SchemaDefinition, basedOn earlier: Schema? = nil) throws(SchemaError) {
    var builder = SchemaBuilder(definition)
    try builder.expandComposites()
    try builder.assignIdentifiers(earlier: earlier)
    self.init(compiled: try builder.compile(earlier: earlier))
  }

  init(compiled builder: SchemaBuilder) {
    entities = builder.entities
    composites = builder.definition.composites
    versionIdentifiers = builder.definition.versionIdentifiers
    configurations = builder.definition.configurations
    fetchTemplates = builder.definition.fetchTemplates
    removedEntities = builder.definition.removedEntities
    nextIdentifiers = builder.next
    placeByName = builder.placeByName
    var places: [UInt32: Int] = [:]
    places.reserveCapacity(builder.entities.count)
    for index in builder.entities.indices { places[builder.entities[index].id] = index }
    placeByID = places
  }

  /// What the schema was built of, for changing and building again. The identifiers in it are ignored by that.
  public var definition: SchemaDefinition {
    var result = SchemaDefinition(entities, composites: composites)
    result.versionIdentifiers = versionIdentifiers
    result.configurations = configurations
    result.fetchTemplates = fetchTemplates
    result.removedEntities = removedEntities
    return result
  }

  /// The same schema, with the same identifiers, in which nothing has a renaming identifier. So a migration matches the
  /// names that its destination sets with the names here. O(size of the schema).
  ///
  /// - Throws: nothing for a schema that was built.
  public func withoutRenamingIdentifiers() throws(SchemaError) -> Schema {
    var builder = SchemaBuilder(definition)
    builder.next = nextIdentifiers
    for place in builder.entities.indices {
      builder.entities[place].renamingIdentifier = nil
      for index in builder.entities[place].attributes.indices {
        builder.entities[place].attributes[index].forgetRenamingIdentifiers()
      }
      for index in builder.entities[place].relationships.indices {
        builder.entities[place].relationships[index].renamingIdentifier = nil
      }
    }
    try builder.nameEntities()
    return Schema(compiled: try builder.compile(earlier: nil, keepsIdentifiers: true))
  }

  /// The entity called `name`. O(1).
  public func entity(named name: String) -> EntitySchema? { placeByName[name].map { entities[$0] } }

  /// The entity with an identifier. O(1).
  public func entity(id: UInt32) -> EntitySchema? { placeByID[id].map { entities[$0] } }

  /// Whether `entity` is `ancestor` or inherits from it. O(depth of the hierarchy).
  public func isEntity(_ entity: UInt32, orDescendantOf ancestor: UInt32) -> Bool {
    var current: UInt32? = entity
    while let id = current {
      if id == ancestor { return true }
      current = self.entity(id: id)?.parentID
    }
    return false
  }

  /// An entity and all that inherit from it, parents before children.
  public func entityAndDescendants(_ id: UInt32) -> [EntitySchema] {
    var result: [EntitySchema] = []
    if let entity = entity(id: id) { result.append(entity) }
    var next = 0
    while next < result.count {
      for child in result[next].childIDs {
        if let entity = entity(id: child) { result.append(entity) }
      }
      next += 1
    }
    return result
  }

  /// The relationship on the other side of one of `entity`'s; `nil` if it has none.
  public func inverse(of relationship: RelationshipSchema) -> RelationshipSchema? {
    guard let name = relationship.inverse else { return nil }
    return entity(named: relationship.destination)?.relationship(named: name)
  }

  /// The stored fetch request called `name`. O(number of templates).
  public func fetchTemplate(named name: String) -> FetchTemplate? {
    for named in fetchTemplates where named.name == name { return named.template }
    return nil
  }
}

extension AttributeSchema {
  /// The depth is bounded by the schema.
  fileprivate mutating func forgetRenamingIdentifiers() {
    renamingIdentifier = nil
    for place in elements.indices { elements[place].forgetRenamingIdentifiers() }
  }
}

extension Schema {
  /// Whether two schemas of one store are the same but for the order in which entities, properties and keys are
  /// declared, which nothing depends on. O(size of the schemas).
  public func isEqualButForOrder(to other: Schema) -> Bool { self == other || ordered() == other.ordered() }

  private func ordered() -> SchemaDefinition {
    var result = definition
    result.entities.order { $0.id < $1.id }
    for place in result.entities.indices {
      var entity = EntitySchema("")
      swap(&entity, &result.entities[place])
      entity.attributes.order { $0.id < $1.id }
      entity.relationships.order { $0.id < $1.id }
      entity.fetchedProperties.order { $0.name < $1.name }
      entity.indexes.order { $0.id < $1.id }
      entity.uniquenessConstraints.order { $0.id < $1.id }
      entity.removedProperties.order { $0 < $1 }
      entity.childIDs.order { $0 < $1 }
      entity.allAttributes = []
      entity.allRelationships = []
      entity.propertyTable = [:]
      swap(&entity, &result.entities[place])
    }
    result.composites.order { $0.name < $1.name }
    result.configurations.order { $0.name < $1.name }
    result.fetchTemplates.order { $0.name < $1.name }
    result.removedEntities.order { $0 < $1 }
    return result
  }
}

extension Schema: Equatable {
  /// Whether two schemas are the same in every part, identifiers included.
  public static func == (a: Schema, b: Schema) -> Bool {
    a === b
      || (a.entities == b.entities && a.composites == b.composites && a.versionIdentifiers == b.versionIdentifiers
        && a.configurations == b.configurations && a.fetchTemplates == b.fetchTemplates
        && a.removedEntities == b.removedEntities && a.nextIdentifiers == b.nextIdentifiers)
  }
}

/// The next identifiers that a store's models give out, each from 1 up.
public struct SchemaIdentifiers: Equatable, Sendable {
  /// For entities.
  public internal(set) var entity: UInt32 = 1
  /// For attributes, elements and relationships.
  public internal(set) var property: UInt32 = 1
  /// For indexes and uniqueness constraints.
  public internal(set) var index: UInt32 = 1

  mutating func takeEntity() throws(SchemaError) -> UInt32 { try Self.take(&entity) }
  mutating func takeProperty() throws(SchemaError) -> UInt32 { try Self.take(&property) }
  mutating func takeIndex() throws(SchemaError) -> UInt32 { try Self.take(&index) }

  private static func take(_ next: inout UInt32) throws(SchemaError) -> UInt32 {
    let taken = next
    guard taken < UInt32.max else { throw .identifiersExhausted }
    next = taken + 1
    return taken
  }
}
