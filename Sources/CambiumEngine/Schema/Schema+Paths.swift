/// One step of a resolved key path.
public enum PathStep: Equatable, Sendable {
  /// An attribute of the entity reached so far; the last step unless it is composite.
  case attribute(AttributeSchema)
  /// An element of the composite reached so far; the last step unless it is composite itself.
  case element(AttributeSchema)
  /// A to-one relationship, to an object of the entity `destination` (an identifier) or a descendant.
  case toOne(RelationshipSchema, destination: UInt32)
  /// A to-many relationship, to objects of the entity `destination` (an identifier) or its descendants.
  case toMany(RelationshipSchema, destination: UInt32)
  /// The identifier of the object reached so far.
  case objectID
  /// The object reached so far itself, which compares as its identifier.
  case evaluatedObject
}

/// A key path with its steps looked up in a schema.
public struct ResolvedPath: Equatable, Sendable {
  /// The path as written.
  public let text: String
  /// The identifier of the entity that the path starts from.
  public let entity: UInt32
  /// The steps; at least one.
  public let steps: [PathStep]

  /// Whether the path goes through or ends in a to-many relationship, and so reads a list.
  public var isToMany: Bool {
    for step in steps {
      if case .toMany = step { return true }
    }
    return false
  }

  /// Whether the path leaves its entity's row: goes through a relationship before its last step.
  public var traversesRelationship: Bool {
    for step in steps.dropLast() {
      switch step {
      case .toOne, .toMany: return true
      default: break
      }
    }
    return false
  }

  /// The type of what the path reads (of each of them, for a to-many path). ``AttributeType/objectID`` for objects.
  public var type: AttributeType {
    switch steps.last {
    case .attribute(let attribute), .element(let attribute): return attribute.type
    default: return .objectID
    }
  }

  /// The attribute or element that the path ends in; `nil` if it ends in an object.
  public var attribute: AttributeSchema? {
    switch steps.last {
    case .attribute(let attribute), .element(let attribute): return attribute
    default: return nil
    }
  }
}

extension Schema {
  /// Looks up a dotted key path from an entity.
  ///
  /// Components are attributes, elements of composites, relationships, and the special `self` and `objectID`. A
  /// property of a descendant of the entity reached is not found, as in Core Data.
  ///
  /// - Throws: `SchemaError.unknownKeyPath` with the component that was not found, `keyPathTooLong`, or
  ///   `unknownEntity`.
  public func resolve(keyPath: String, from entity: UInt32) throws(SchemaError) -> ResolvedPath {
    guard let start = self.entity(id: entity) else { throw .unknownEntity("\(entity)", place: keyPath) }
    var steps: [PathStep] = []
    var current: EntitySchema? = start
    var composite: AttributeSchema?
    var lastName = start.name
    let names = keyPathNames(keyPath)
    // Following a path takes a call for each name.
    guard names.count <= Predicate.depthLimit else { throw .keyPathTooLong(components: names.count) }
    for part in names {
      let component = String(part)
      if let parent = composite {
        guard let element = parent.element(named: component) else {
          throw .unknownKeyPath(keyPath, component: component, entity: lastName)
        }
        steps.append(.element(element))
        composite = element.type == .composite ? element : nil
        lastName = element.name
      } else if let from = current {
        if let attribute = from.attribute(named: component) {
          steps.append(.attribute(attribute))
          current = nil
          composite = attribute.type == .composite ? attribute : nil
          lastName = attribute.name
        } else if let relationship = from.relationship(named: component) {
          guard let destination = self.entity(named: relationship.destination) else {
            throw .unknownEntity(relationship.destination, place: keyPath)
          }
          if relationship.isToMany {
            steps.append(.toMany(relationship, destination: destination.id))
          } else {
            steps.append(.toOne(relationship, destination: destination.id))
          }
          current = destination
          lastName = destination.name
        } else if component == "self" || component == "SELF" {
          steps.append(.evaluatedObject)
        } else if component == "objectID" {
          steps.append(.objectID)
          current = nil
          lastName = component
        } else {
          throw .unknownKeyPath(keyPath, component: component, entity: lastName)
        }
      } else {
        throw .unknownKeyPath(keyPath, component: component, entity: lastName)
      }
    }
    return ResolvedPath(text: keyPath, entity: entity, steps: steps)
  }
}
