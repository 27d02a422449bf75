extension Schema {
  /// A model of a schema, to be looked at. SwiftData: `Schema.Entity`.
  public final class Entity: @unchecked Sendable, CustomDebugStringConvertible {
    // `@unchecked`: nothing changes after the schema was made.

    /// The name.
    public let name: String
    /// The name of the model that it inherits from.
    public let superentityName: String?
    /// The model that it inherits from.
    public private(set) weak var superentity: Entity?
    /// The models that inherit from it.
    public private(set) var subentities: Set<Entity> = []
    /// The properties that the class itself declares.
    public let storedProperties: [any SchemaProperty]
    /// The properties that it inherits.
    public let inheritedProperties: [any SchemaProperty]
    /// The properties that are unique together, by name.
    public let uniquenessConstraints: [[String]]
    /// The properties of each index, by name.
    public let indices: [[String]]

    private init(_ modelClass: ModelClass, _ inverses: Inverses) {
      name = modelClass.entityName
      superentityName = modelClass.superclass?.entityName
      let own = Set(modelClass.ownProperties.map { $0.name })
      func described(_ property: ModelProperty) -> any SchemaProperty {
        switch property.kind {
        case .toOne(let type), .toMany(let type):
          return Relationship(
            property, destination: ModelClass.of(type).entityName,
            inverseName: inverses.inverse(of: property, in: modelClass)?.name)
        case .attribute(let kind):
          let said = property.metadata.attribute
          let attribute = Attribute(
            name: property.name, originalName: said?.originalName.nonEmpty, options: said?.options ?? [],
            valueType: property.valueType, defaultValue: property.defaultValue, hashModifier: said?.hashModifier)
          if case .composite(let shape) = kind { return CompositeAttribute(attribute, shape) }
          return attribute
        }
      }
      storedProperties = modelClass.properties.filter { own.contains($0.name) }.map(described)
      inheritedProperties = modelClass.properties.filter { !own.contains($0.name) }.map(described)
      uniquenessConstraints = SchemaCompiler.constraints(of: modelClass)
      indices = SchemaCompiler.indexes(of: modelClass).map { $0.paths }
    }

    static func all(of classes: [ModelClass]) -> [Entity] {
      let inverses = Inverses(of: classes)
      let entities = classes.map { Entity($0, inverses) }
      let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      for entity in entities {
        entity.superentity = entity.superentityName.flatMap { byName[$0] }
        entity.superentity?.subentities.insert(entity)
      }
      return entities
    }

    /// All properties.
    public var properties: [any SchemaProperty] { inheritedProperties + storedProperties }
    /// The attributes.
    public var attributes: Set<Attribute> { Set(properties.compactMap { $0 as? Attribute }) }
    /// The relationships.
    public var relationships: Set<Relationship> { Set(properties.compactMap { $0 as? Relationship }) }
    /// The attributes by name.
    public var attributesByName: [String: Attribute] {
      Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// The relationships by name.
    public var relationshipsByName: [String: Relationship] {
      Dictionary(relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// The properties that the class itself declares, by name.
    public var storedPropertiesByName: [String: any SchemaProperty] {
      Dictionary(storedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
    /// The properties that it inherits, by name.
    public var inheritedPropertiesByName: [String: any SchemaProperty] {
      Dictionary(inheritedProperties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The name.
    public var debugDescription: String { name }
  }
}

extension Schema.Entity: Hashable {
  /// Whether both are the same.
  public static func == (a: Schema.Entity, b: Schema.Entity) -> Bool { a === b }

  /// Hashes the instance.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
