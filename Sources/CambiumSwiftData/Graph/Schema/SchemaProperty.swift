/// A property of a model, or what its class says of several. SwiftData: `SchemaProperty`.
public protocol SchemaProperty: Hashable {
  /// The name.
  var name: String { get }
  /// The name in earlier versions; the same as ``name`` if it was not renamed.
  var originalName: String { get }
  /// The type of the values in Swift.
  var valueType: any Any.Type { get }
  /// Whether it is an attribute.
  var isAttribute: Bool { get }
  /// Whether it is a relationship.
  var isRelationship: Bool { get }
  /// Whether its values are in memory only.
  var isTransient: Bool { get }
  /// Whether it may be without a value.
  var isOptional: Bool { get }
  /// Whether no two models have the same value.
  var isUnique: Bool { get }
}
