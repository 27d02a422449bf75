import CambiumEngine

/// An entity, in a model builder.
public struct Entity {
  private let name: String
  private let parent: String?
  private let isAbstract: Bool
  private let managedObjectClass: ManagedObject.Type?
  private let renamed: String?
  private let versionHashModifier: String?
  private let parts: [EntityBuilderPart]
  private var changes: [(EntityDescription) -> Void] = []

  /// An entity of its properties, indexes and constraints.
  ///
  /// - Parameters:
  ///   - parent: The name of the parent entity.
  ///   - managedObjectClass: The class of the objects; see ``EntityDescription/managedObjectClass``.
  ///   - renamed: The renaming identifier: what the entity was called in the earlier model.
  public init(
    _ name: String, parent: String? = nil, abstract: Bool = false, class managedObjectClass: ManagedObject.Type? = nil,
    renamed: String? = nil, versionHashModifier: String? = nil, @EntityBuilder _ parts: () -> [EntityBuilderPart]
  ) {
    self.name = name
    self.parent = parent
    isAbstract = abstract
    self.managedObjectClass = managedObjectClass
    self.renamed = renamed
    self.versionHashModifier = versionHashModifier
    self.parts = parts()
  }

  func description() throws -> EntityDescription {
    let result = EntityDescription()
    result.name = name
    result.superentityName = parent
    result.isAbstract = isAbstract
    result.managedObjectClass = managedObjectClass
    result.versionHashModifier = versionHashModifier
    if let renamed { result.renamingIdentifier = renamed }
    var properties: [PropertyDescription] = []
    var indexes: [FetchIndexDescription] = []
    for part in parts {
      switch part {
      case .attribute(let attribute): properties.append(try attribute.description())
      case .toOne(let relationship): properties.append(relationship.description())
      case .toMany(let relationship): properties.append(relationship.description())
      case .fetched(let property): properties.append(property.description())
      case .index(let index): indexes.append(index.description())
      case .unique(let constraint): result.uniquenessConstraints.append(constraint.paths)
      case .removed(let removed): result.removedProperties.append(removed.path)
      }
    }
    result.properties = properties
    result.indexes = indexes
    for change in changes { change(result) }
    return result
  }

  /// The entity with more set on its description.
  public func with(_ change: @escaping (EntityDescription) -> Void) -> Entity {
    var result = self
    result.changes.append(change)
    return result
  }
}

/// A part of an entity in ``EntityBuilder``.
public enum EntityBuilderPart {
  /// An attribute.
  case attribute(Attribute)
  /// A to-one relationship.
  case toOne(ToOne)
  /// A to-many relationship.
  case toMany(ToMany)
  /// A fetched property.
  case fetched(Fetched)
  /// A fetch index.
  case index(Index)
  /// A uniqueness constraint.
  case unique(Unique)
  /// A property of earlier versions that the entity removes.
  case removed(Removed)
}

/// Collects the parts of an entity.
@resultBuilder public enum EntityBuilder {
  /// One part.
  public static func buildExpression(_ part: Attribute) -> [EntityBuilderPart] { [.attribute(part)] }
  /// One part.
  public static func buildExpression(_ part: ToOne) -> [EntityBuilderPart] { [.toOne(part)] }
  /// One part.
  public static func buildExpression(_ part: ToMany) -> [EntityBuilderPart] { [.toMany(part)] }
  /// One part.
  public static func buildExpression(_ part: Fetched) -> [EntityBuilderPart] { [.fetched(part)] }
  /// One part.
  public static func buildExpression(_ part: Index) -> [EntityBuilderPart] { [.index(part)] }
  /// One part.
  public static func buildExpression(_ part: Unique) -> [EntityBuilderPart] { [.unique(part)] }
  /// One part.
  public static func buildExpression(_ part: Removed) -> [EntityBuilderPart] { [.removed(part)] }
  /// Parts that were put together elsewhere, as a property marked `@EntityBuilder`.
  public static func buildExpression(_ parts: [EntityBuilderPart]) -> [EntityBuilderPart] { parts }
  /// Parts in a row.
  public static func buildBlock(_ parts: [EntityBuilderPart]...) -> [EntityBuilderPart] { parts.flatMap { $0 } }
  /// The parts of `if` without `else`.
  public static func buildOptional(_ parts: [EntityBuilderPart]?) -> [EntityBuilderPart] { parts ?? [] }
  /// The parts of `if`.
  public static func buildEither(first parts: [EntityBuilderPart]) -> [EntityBuilderPart] { parts }
  /// The parts of `else`.
  public static func buildEither(second parts: [EntityBuilderPart]) -> [EntityBuilderPart] { parts }
  /// The parts of a loop.
  public static func buildArray(_ parts: [[EntityBuilderPart]]) -> [EntityBuilderPart] { parts.flatMap { $0 } }
}
