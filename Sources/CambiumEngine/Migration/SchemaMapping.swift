/// What becomes of every entity and property when a store goes from one model to another. Core Data: `NSMappingModel`.
///
/// Made by ``infer(from:to:)``; a value, with no tie to a store.
public struct SchemaMapping: Sendable, Equatable {
  /// One for each entity of the destination, then one for each of the source that the destination lacks.
  public internal(set) var entities: [EntityMapping] = []

  /// The mapping of an entity of the destination.
  public func entity(toDestination name: String) -> EntityMapping? {
    entities.first { $0.destination == name }
  }

  /// The mapping of an entity of the source.
  public func entity(fromSource name: String) -> EntityMapping? { entities.first { $0.source == name } }

  /// Whether nothing that is stored changes its meaning or place.
  public var isIdentity: Bool {
    entities.allSatisfy { $0.kind == .copy && $0.source == $0.destination }
  }
}

/// What happens to an entity, with Core Data's raw values (`NSEntityMappingType`).
public enum EntityMappingKind: Int, Sendable {
  /// The application's own code makes the destination's objects.
  case custom = 1
  /// The entity is new.
  case add = 2
  /// The entity and its objects go.
  case remove = 3
  /// Objects stay as they are.
  case copy = 4
  /// Objects stay, with other properties.
  case transform = 5
}

/// What becomes of an entity.
public struct EntityMapping: Sendable, Equatable {
  /// What happens.
  public internal(set) var kind: EntityMappingKind
  /// The entity's name in the source; nil if it is new.
  public internal(set) var source: String?
  /// The entity's name in the destination; nil if it goes.
  public internal(set) var destination: String?
  /// The attributes of the destination, inherited ones included, then those of the source that go.
  public internal(set) var attributes: [PropertyMapping] = []
  /// The relationships of the destination, inherited ones included, then those of the source that go.
  public internal(set) var relationships: [PropertyMapping] = []
}

/// What becomes of a property.
public struct PropertyMapping: Sendable, Equatable {
  /// What happens to the values.
  public enum Kind: Sendable, Equatable {
    /// The property is new: objects that are there get the default, or nothing.
    case add
    /// The values go.
    case remove
    /// The values stay as they are.
    case copy
    /// Numbers become numbers of another type, composites get or lose elements.
    case convert
    /// The relationship leads to several objects instead of one, keeps them in another way, or gets another inverse,
    /// whose links it then has as well.
    case relate
    /// The value comes from an element of a composite, or goes into one: the paths say which.
    case move
  }

  /// What happens.
  public internal(set) var kind: Kind
  /// The property's name in the source, or the path of an element; nil if it is new.
  public internal(set) var source: String?
  /// The property's name in the destination, or the path of an element; nil if it goes.
  public internal(set) var destination: String?
  /// Whether a value is required that may have been missing in the source, or is new and has no default: objects
  /// without one stand in the way of the migration.
  public internal(set) var needsValue = false
}
