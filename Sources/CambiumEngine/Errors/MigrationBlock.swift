/// Objects that stand in the way of a migration which can be inferred.
public struct MigrationBlock: Error, Sendable, Equatable, CustomStringConvertible {
  /// Why.
  public enum Reason: Sendable, Equatable {
    /// The property is required, or an element of a composite that is there, and the objects have no value that it
    /// could take.
    case missingValue
    /// The number does not fit the property's new type.
    case overflow(AttributeType)
    /// Several objects have the same values under a constraint.
    case duplicate([String])
    /// The entity is abstract in the new model.
    case abstractEntity
    /// The relationship leads to one object, and would lead back to several, since several lead to these objects by
    /// what is now its inverse. Which of them is meant cannot be inferred.
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
