import CambiumKernel

/// One side of a relationship that has an inverse, as it is kept for the objects of one entity.
///
/// Each link has two ends. Where both ends are kept, a transaction that writes one writes the other as well; see
/// ``EntityTransaction/link(_:_:to:)``.
struct LinkSide: Sendable {
  /// Where the destinations of this side are kept.
  enum Storage: Sendable {
    /// In a field of the row: to-one.
    case toOne(field: Int)
    /// In a field of the row: ordered to-many.
    case list(field: Int)
    /// In a tree of (source, destination).
    case tree(TreeID)
    /// Nowhere: the destinations are the rows whose to-one relationship leads here.
    case derived
  }

  /// The relationship's identifier.
  let id: UInt32
  let storage: Storage
  /// The bit of the field (``PropertyMask``); 0 if there is none.
  let mask: UInt64
  /// The identifier of the inverse.
  let inverse: UInt32
  /// The inverse's tree, if that is where it is kept.
  let inverseTree: TreeID?
  /// Whether the inverse follows from this side, so that nothing is written for it.
  let isInverseDerived: Bool

  /// Nil for a relationship without an inverse, or whose inverse is transient, and for one whose inverse does not lead
  /// back to the entity: an inverse that the destination inherits may lead to other entities only.
  init?(
    _ relationship: RelationshipSchema, of entity: EntitySchema, _ layout: EntityLayout, _ schema: Schema,
    _ catalogue: Catalogue
  ) {
    guard !relationship.isTransient, let inverse = schema.inverse(of: relationship), !inverse.isTransient,
      let back = schema.entity(named: inverse.destination), schema.isEntity(entity.id, orDescendantOf: back.id)
    else { return nil }
    id = relationship.id
    self.inverse = inverse.id
    let field = layout.fieldByName[relationship.name]
    mask = field.map { PropertyMask.mask($0) } ?? 0
    switch RelationshipStorage(relationship, in: schema) {
    case .row, .rowAndTree:
      guard let field else { return nil }
      storage = .toOne(field: field)
    case .list:
      guard let field else { return nil }
      storage = .list(field: field)
    case .tree:
      guard let tree = catalogue.relationships[relationship.id] else { return nil }
      storage = .tree(tree)
    case .derived: storage = .derived
    }
    let inverseStorage = RelationshipStorage(inverse, in: schema)
    if case .tree = inverseStorage { inverseTree = catalogue.relationships[inverse.id] } else { inverseTree = nil }
    if case .derived = inverseStorage { isInverseDerived = true } else { isInverseDerived = false }
  }

  /// Whether a change of the row's own field has to be followed by one of the other side.
  var isFollowed: Bool { mask != 0 && !isInverseDerived }
}

/// An object and one of its relationships.
public struct LinkEnd: Hashable, Comparable, Sendable {
  /// The relationship's identifier.
  public let relationship: UInt32
  /// The object.
  public let object: ObjectReference

  /// Names the end of an object's links by a relationship.
  public init(_ relationship: UInt32, _ object: ObjectReference) {
    self.relationship = relationship
    self.object = object
  }

  /// Orders by row, then relationship.
  public static func < (a: LinkEnd, b: LinkEnd) -> Bool {
    (a.object.row, a.relationship) < (b.object.row, b.relationship)
  }
}

/// A field of rows that leads to other objects.
struct ReferenceField: Sendable {
  let field: Int
  let mask: UInt64
  let isList: Bool
}

/// What a row that was written changes of one of its relationships.
struct LinkEdit {
  let side: LinkSide
  var removed: [ObjectReference] = []
  var added: [ObjectReference] = []
}
