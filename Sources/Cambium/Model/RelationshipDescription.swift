import CambiumEngine

/// A relationship of an entity. Core Data: `NSRelationshipDescription`.
///
/// Destination and inverse can be given as descriptions or by name; names are looked up when the model is compiled.
public final class RelationshipDescription: PropertyDescription, @unchecked Sendable {
  // `@unchecked`: set up on one thread; from when its model is in use, assignments are refused, so that it only is
  // read.
  /// What becomes of the destinations when the source is deleted. No part of the version hash.
  @ModelValue public var deleteRule = DeleteRule.nullify
  /// The least number of destinations, enforced when saving; for an optional relationship only when there are any.
  @ModelValue public var minCount = 0
  /// The greatest number of destinations: 1 makes the relationship to-one, 0 stands for no limit.
  @ModelValue public var maxCount = 0
  /// Whether the destinations of a to-many relationship keep an order.
  @ModelValue public var isOrdered = false
  @ModelValue var destinationName: String?
  @ModelValue var inverseName: String?
  private weak var storedDestination: EntityDescription?
  private weak var storedInverse: RelationshipDescription?

  /// A relationship without name and destination: to-many until ``maxCount`` is set to 1, as in Core Data.
  public override init() { super.init() }

  /// A relationship by names.
  public convenience init(
    _ name: String, toMany: Bool, destination: String, inverse: String? = nil, deleteRule: DeleteRule = .nullify
  ) {
    self.init()
    self.name = name
    self.maxCount = toMany ? 0 : 1
    self.destinationName = destination
    self.inverseName = inverse
    self.deleteRule = deleteRule
  }

  /// Whether there may be more than one destination.
  public var isToMany: Bool { maxCount != 1 }

  /// The entity of the destinations, which may also be of its subentities.
  public var destinationEntity: EntityDescription? {
    get {
      if let storedDestination { return storedDestination }
      return destinationName.flatMap { entity?.managedObjectModel?.entitiesByName[$0] }
    }
    set {
      guard mayChange("destinationEntity") else { return }
      storedDestination = newValue
      destinationName = nil
    }
  }

  /// The relationship on the other side, which is kept in step with this one.
  public var inverseRelationship: RelationshipDescription? {
    get {
      if let storedInverse { return storedInverse }
      return inverseName.flatMap { destinationEntity?.relationshipsByName[$0] }
    }
    set {
      guard mayChange("inverseRelationship") else { return }
      storedInverse = newValue
      inverseName = nil
    }
  }

  func schema() throws -> RelationshipSchema {
    guard let destination = storedDestination?.name ?? destinationName else {
      throw CambiumError(
        .invalidModel, "relationship '\(name)' has no destination; set destinationEntity", entityName: entity?.name,
        key: name)
    }
    guard let minimum = UInt32(exactly: minCount), let maximum = UInt32(exactly: maxCount) else {
      throw CambiumError(
        .invalidModel, "the counts of relationship '\(name)' are out of range", entityName: entity?.name, key: name)
    }
    let inverse = storedInverse?.name ?? inverseName
    var result =
      isToMany
      ? RelationshipSchema(name, toMany: destination, inverse: inverse, ordered: isOrdered)
      : RelationshipSchema(name, to: destination, inverse: inverse)
    result.isOrdered = isOrdered
    result.minimumCount = minimum
    result.maximumCount = maximum
    result.deleteRule = deleteRule
    result.isOptional = isOptional
    result.isTransient = isTransient
    result.renamingIdentifier = explicitRenamingIdentifier
    result.versionHashModifier = versionHashModifier
    result.userInfo = userInfo.engineEntries
    return result
  }
}
