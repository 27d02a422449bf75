/// What an index is good for.
public enum IndexKind: UInt8, Sendable {
  /// Equality, ranges and order.
  case binary = 0
  /// Places in a plane: ranges over two numbers at once, and the nearest places. Both elements of the index are such;
  /// their order does not matter, nor does ``IndexElement/isAscending``.
  case rTree = 1
}

/// One part of the key of an index.
public struct IndexElement: Equatable, Sendable {
  /// An attribute, an element of a composite (`place.location.latitude`), or a to-one relationship.
  public var path: String
  /// Whether the index keeps ascending order for the part.
  public var isAscending = true
  /// The kind of index; all elements of an index have the same.
  public var kind = IndexKind.binary

  /// Describes an element.
  public init(_ path: String, ascending: Bool = true, kind: IndexKind = .binary) {
    self.path = path
    self.isAscending = ascending
    self.kind = kind
  }
}

/// A fetch index of an entity. It covers the entity's descendants as well. Indexes are no part of the version hash.
public struct IndexSchema: Equatable, Sendable {
  /// Identifies the index in the file. It stays as long as name and elements do, and is never used again.
  public internal(set) var id: UInt32 = 0
  /// The name, unique among the entity's indexes.
  public var name: String
  /// The parts of the key, the most significant first.
  public var elements: [IndexElement]
  /// A predicate in format syntax; only objects that match it are in the index.
  public var partialPredicate: String?

  /// Describes an index.
  public init(_ name: String, _ elements: [IndexElement], partialPredicate: String? = nil) {
    self.name = name
    self.elements = elements
    self.partialPredicate = partialPredicate
  }
}

/// Key paths whose values, taken together, no two objects of the entity and its descendants may share.
public struct UniquenessConstraint: Equatable, Sendable {
  /// Identifies the constraint's index in the file. It stays as long as the paths do, and is never used again.
  public internal(set) var id: UInt32 = 0
  /// Attributes, elements of composites, or to-one relationships.
  public var paths: [String]

  /// Describes a constraint.
  public init(_ paths: [String]) { self.paths = paths }
}
