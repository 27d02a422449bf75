/// Names a property of an entity in the store, for reading and writing many rows: found without a look-up by name.
///
/// It stays good when another model of the same version, with its properties in another order, comes to be the store's.
public struct PropertyKey: Hashable, Sendable {
  /// The property's identifier in the file.
  public let id: UInt32
  /// Where it was among all attributes, or all relationships, of the entity when the key was made, which is where it is
  /// as a rule.
  let place: Int
}

extension EntitySchema {
  /// The keys of ``allAttributes``.
  public var attributeKeys: [PropertyKey] { allAttributes.enumerated().map { PropertyKey(id: $1.id, place: $0) } }

  /// The keys of ``allRelationships``.
  public var relationshipKeys: [PropertyKey] { allRelationships.enumerated().map { PropertyKey(id: $1.id, place: $0) } }
}
