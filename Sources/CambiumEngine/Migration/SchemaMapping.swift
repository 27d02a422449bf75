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
    /// The relationship leads to several objects instead of one, keeps them in another way, or gets another inverse, whose
    /// links it then has as well.
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
  /// Whether a value is required that may have been missing in the source, or is new and has no default: objects without
  /// one stand in the way of the migration.
  public internal(set) var needsValue = false
}

/// A change between two models that a mapping cannot be inferred across.
public struct MappingObstacle: Error, Sendable, Equatable, CustomStringConvertible {
  /// The entity, as the destination calls it (the source, for what the destination lacks).
  public var entity: String
  /// The property, or the path of an element; nil if the change is one of the entity itself.
  public var property: String?
  /// What cannot be inferred.
  public var reason: String
  /// How to come to the model in steps that can be inferred.
  public var remedy: String

  /// One sentence with all of it.
  public var description: String {
    (property.map { entity + "." + $0 } ?? entity) + ": " + reason + ". " + remedy
  }
}

/// Objects that stand in the way of a migration which can be inferred.
public struct MigrationBlock: Error, Sendable, Equatable, CustomStringConvertible {
  /// Why.
  public enum Reason: Sendable, Equatable {
    /// The property is required, or an element of a composite that is there, and the objects have no value that it could take.
    case missingValue
    /// The number does not fit the property's new type.
    case overflow(AttributeType)
    /// Several objects have the same values under a constraint.
    case duplicate([String])
    /// The entity is abstract in the new model.
    case abstractEntity
    /// The relationship leads to one object, and would lead back to several, since several lead to these objects by what is now
    /// its inverse. Which of them is meant cannot be inferred.
    case ambiguousInverse
  }

  /// The entity in the new model.
  public var entity: String
  /// The property, or the path of an element; nil for reasons that are about the whole object.
  public var property: String?
  /// Why.
  public var reason: Reason
  /// How many objects.
  public var count: Int
  /// Some of them, at most ``sampleLimit``, as the store has them before the migration.
  public var objects: [ObjectReference]

  /// No more objects are named.
  public static let sampleLimit = 10

  /// One sentence: what, how many, which, and what to do.
  @_optimize(none)
  public var description: String {
    let place = property.map { entity + "." + $0 } ?? entity
    var which = ""
    for object in objects { which += (which.isEmpty ? "" : ", ") + entity + "/p\(object.row)" }
    if count > objects.count { which += ", ..." }
    let number = count == 1 ? "1 object (" + which + ")" : "\(count) objects (" + which + ")"
    switch reason {
    case .missingValue:
      return
        "\(place) is required and without default, and \(number) would have no value: give it a default, or make it "
        + "optional and fill it in first"
    case .overflow(let type):
      return "\(place) becomes \(type.name), which does not hold the values of \(number): change them first, or keep a "
        + "wider type"
    case .duplicate(let paths):
      var joined = ""
      for path in paths { joined += joined.isEmpty ? path : ", " + path }
      return "\(entity) is to be unique by \(joined), and \(number) are not: make them so first"
    case .abstractEntity:
      return "\(entity) becomes abstract, and there are \(number) of it: move them to a subentity first"
    case .ambiguousInverse:
      return
        "\(place) leads to one object, and since several led to \(number), it would lead back to several: let no more than "
        + "one lead there first"
    }
  }
}
