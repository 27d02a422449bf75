#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What happens to an entity, with Core Data's raw values (`NSEntityMappingType`).
public enum EntityMappingType: Int, Sendable {
  /// The developer has not said.
  case undefined = 0
  /// A policy of the application's makes the destination's objects.
  case custom = 1
  /// The entity is new.
  case add = 2
  /// The entity and its objects go.
  case remove = 3
  /// Objects stay as they are: properties without a mapping keep their values.
  case copy = 4
  /// Objects stay, with other properties.
  case transform = 5
}

/// What happens to the values of a property, or to its links, in a migration whose mapping is inferred.
public enum PropertyMappingType: Sendable {
  /// The property is new: objects that are there get the default, or nothing.
  case add
  /// The values or links go.
  case remove
  /// They stay as they are, the property's name aside.
  case copy
  /// Numbers become numbers of another type; composites get, lose or rename elements; a relationship leads to several
  /// objects instead of one, keeps them in another way, or gets another inverse, whose links it then has as well.
  case transform
  /// The value comes from an element of a composite, or goes into one: the key paths say which.
  case move
}

/// What becomes of a property in a migration whose mapping is inferred. Core Data tells its name and value expression
/// only (`NSPropertyMapping`).
public struct InferredPropertyMapping: Sendable, Equatable {
  /// What happens.
  public let mappingType: PropertyMappingType
  /// The name of the property in the source, or the key path of an element; `nil` if it is new.
  public let sourceName: String?
  /// The name of the property in the destination, or the key path of an element; `nil` if it goes.
  public let destinationName: String?
  /// Whether it is a relationship.
  public let isRelationship: Bool
  /// Whether a value or an object is required that objects may lack: those that do stand in the way of the migration
  /// (``Migration/plan(storeAt:to:defers:)`` finds them).
  public let needsValue: Bool
}

/// What becomes of an entity. Core Data: `NSEntityMapping`.
///
/// An entity may have several, each of which makes objects of another entity, or of a part of the objects.
public struct EntityMapping: Sendable {
  /// The name by which others refer to the mapping, unique in the mapping model.
  public var name: String
  /// What happens.
  public var mappingType: EntityMappingType
  /// The entity in the source; `nil` if the mapping makes objects of nothing. Objects of its subentities are the
  /// business of mappings of their own.
  public var sourceEntityName: String?
  /// The version hash of the entity in the source (``EntityDescription/versionHash``), which has to be that of the
  /// store; `nil` fits any.
  public var sourceEntityVersionHash: Data?
  /// The entity in the destination; `nil` if the objects go.
  public var destinationEntityName: String?
  /// The version hash of the entity in the destination; `nil` fits any.
  public var destinationEntityVersionHash: Data?
  /// Where attributes of the destination get their values, in this order.
  public var attributeMappings: [PropertyMapping] = []
  /// Where relationships of the destination get their objects, in this order.
  public var relationshipMappings: [PropertyMapping] = []
  /// Which objects of the source; `nil` for all. Core Data: a predicate within `sourceExpression`.
  public var sourcePredicate: FetchPredicate?
  /// What becomes of each property, those that go included, if the mapping was inferred; else empty.
  public internal(set) var inferredProperties: [InferredPropertyMapping] = []
  /// What the application attaches to the mapping, for its policies.
  public var userInfo: [String: any Sendable] = [:]
  /// The policy; `nil` for ``EntityMigrationPolicy`` itself. Each migration makes one object of it for the mapping.
  /// Core Data: `entityMigrationPolicyClassName`.
  public var entityMigrationPolicy: EntityMigrationPolicy.Type?

  /// An entity mapping.
  ///
  /// - Parameters:
  ///   - source: The entity in the source.
  ///   - destination: The entity in the destination.
  ///   - name: `nil` for one of the names that Core Data gives inferred mappings: `IEM_Transform_Aircraft`.
  ///   - type: `nil` for what the other parameters say: ``EntityMappingType/custom`` with a policy, add or remove where
  ///     an entity is missing, else transform.
  ///   - attributes: The values of attributes, by name or key path.
  ///   - relationships: The objects of relationships, by name.
  ///   - predicate: Which objects of the source.
  ///   - policy: The policy.
  @_optimize(none)
  public init(
    from source: String?, to destination: String?, name: String? = nil, type: EntityMappingType? = nil,
    attributes: KeyValuePairs<String, ValueExpression> = [:],
    relationships: KeyValuePairs<String, ValueExpression> = [:],
    where predicate: FetchPredicate? = nil, policy: EntityMigrationPolicy.Type? = nil
  ) {
    sourceEntityName = source
    destinationEntityName = destination
    if let type {
      mappingType = type
    } else if policy != nil {
      mappingType = .custom
    } else if destination == nil {
      mappingType = .remove
    } else {
      mappingType = source == nil ? .add : .transform
    }
    self.name = name ?? Self.inferredName(mappingType, destination ?? source ?? "")
    attributeMappings = attributes.map { PropertyMapping($0.key, $0.value) }
    relationshipMappings = relationships.map { PropertyMapping($0.key, $0.value) }
    sourcePredicate = predicate
    entityMigrationPolicy = policy
  }

  static func inferredName(_ type: EntityMappingType, _ entity: String) -> String {
    switch type {
    case .undefined: return "IEM_Undefined_\(entity)"
    case .custom: return "IEM_Custom_\(entity)"
    case .add: return "IEM_Add_\(entity)"
    case .remove: return "IEM_Remove_\(entity)"
    case .copy: return "IEM_Copy_\(entity)"
    case .transform: return "IEM_Transform_\(entity)"
    }
  }

  /// The value expression of a property. A new one is taken for that of a relationship if it is one of the ready-made
  /// ones for relationships; for others of the application's own add to ``relationshipMappings``.
  public subscript(property: String) -> ValueExpression? {
    get { (attributeMappings + relationshipMappings).first { $0.name == property }?.valueExpression }
    set {
      if let place = attributeMappings.firstIndex(where: { $0.name == property }) {
        attributeMappings[place].valueExpression = newValue
      } else if let place = relationshipMappings.firstIndex(where: { $0.name == property }) {
        relationshipMappings[place].valueExpression = newValue
      } else if let newValue {
        if case .destinations = newValue.kind {
          relationshipMappings.append(PropertyMapping(property, newValue))
        } else {
          attributeMappings.append(PropertyMapping(property, newValue))
        }
      }
    }
  }
}
