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
