/// The type of a property that is a to-many relationship: an array of models, or an optional one.
public protocol RelationshipCollection {
  /// The class of the destinations.
  associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
  /// The class of the destinations.
  public typealias PersistentElement = Element
}

extension Optional: RelationshipCollection where Wrapped: Sequence, Wrapped.Element: PersistentModel {
  /// The class of the destinations.
  public typealias PersistentElement = Wrapped.Element
}
