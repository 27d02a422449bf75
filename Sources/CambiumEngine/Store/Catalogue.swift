import CambiumKernel

/// What the engine keeps about a store beside the rows: one tree of byte keys, the first tree of the file.
///
///     "schema"                 the current schema, encoded
///     "tree/e/<root entity>"   tree of the rows of a hierarchy (u32 little-endian)
///     "tree/i/<index>"         tree of a fetch index; keys: the parts, then the row
///     "tree/u/<constraint>"    tree of a uniqueness constraint; keys: the parts, then the row
///     "tree/r/<relationship>"  tree of a relationship; keys: one row, then the other
///     "layout/<id>"            entity (u32) of a row layout; the fields follow from the schema
///     "meta/<key>"             what the layer above keeps
///
/// Identifiers in keys are decimal.
struct Catalogue: Sendable {
  static let tree = TreeID(rawValue: 16)

  var rows: [UInt32: TreeID] = [:]
  var indexes: [UInt32: TreeID] = [:]
  var constraints: [UInt32: TreeID] = [:]
  var relationships: [UInt32: TreeID] = [:]
  /// Entity by layout id, and the layout that new rows of an entity get.
  var layouts: [UInt16: UInt32] = [:]
  var currentLayout: [UInt32: UInt16] = [:]

  static func key(_ text: String) -> [UInt8] { Array(text.utf8) }

  static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) } }

  static func number(_ bytes: [UInt8]) -> UInt32? {
    bytes.count == 4 ? bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } : nil
  }

  /// Reads the catalogue of a store.
  init(_ view: TreeView) throws(EngineError) {
    let cursor = try storing { () throws(StoreError) in try view.cursor(Self.tree) }
    var more = try storing { () throws(StoreError) in try cursor.seekFirst() }
    while more {
      let key = String(decoding: cursor.key, as: UTF8.self)
      if key.hasPrefix("tree/") || key.hasPrefix("layout/") {
        let value = try storing { () throws(StoreError) in try cursor.value() } ?? []
        let parts = key.split(separator: "/")
        guard let last = parts.last, let id = UInt32(last), let number = Self.number(value) else {
          throw .corrupt("the catalogue has a malformed entry '\(key)'")
        }
        let tree = TreeID(rawValue: number)
        switch (parts.count, parts.count == 3 ? parts[1] : "layout") {
        case (3, "e"): rows[id] = tree
        case (3, "i"): indexes[id] = tree
        case (3, "u"): constraints[id] = tree
        case (3, "r"): relationships[id] = tree
        case (2, _):
          guard let layout = UInt16(exactly: id) else { throw .corrupt("the catalogue has a layout \(id)") }
          layouts[layout] = number
          currentLayout[number] = max(currentLayout[number] ?? 0, layout)
        default: throw .corrupt("the catalogue has an unknown entry '\(key)'")
        }
      }
      more = try storing { () throws(StoreError) in try cursor.next() }
    }
  }

  init() {}

  /// Makes the trees and layouts that `schema` needs, and stores them with it.
  mutating func install(_ schema: Schema, _ t: WriteTransaction) throws(EngineError) {
    for entity in schema.entities {
      if entity.parentID == nil { rows[entity.id] = try make(t, .integer, "tree/e/\(entity.id)") }
      for index in entity.indexes {
        if index.elements.contains(where: { $0.kind == .rTree }) {
          throw .unsupported(
            "index '\(index.name)' of \(entity.name) is an R-tree, which this version does not build; make it binary")
        }
        indexes[index.id] = try make(t, .bytes, "tree/i/\(index.id)")
      }
      for constraint in entity.uniquenessConstraints {
        constraints[constraint.id] = try make(t, .bytes, "tree/u/\(constraint.id)")
      }
      for relationship in entity.relationships where !relationship.isTransient {
        if RelationshipStorage(relationship, in: schema).ownsTree {
          relationships[relationship.id] = try make(t, .bytes, "tree/r/\(relationship.id)")
        }
      }
    }
    var next: UInt16 = 1
    for entity in schema.entities {
      let id = next
      let (sum, overflow) = next.addingReportingOverflow(1)
      if overflow { throw .unsupported("a model has at most 65,534 entities") }
      next = sum
      layouts[id] = entity.id
      currentLayout[entity.id] = id
      try storing { () throws(StoreError) in try t.put(Self.tree, Self.key("layout/\(id)"), Self.bytes(entity.id)) }
    }
  }

  private func make(_ t: WriteTransaction, _ kind: TreeKind, _ key: String) throws(EngineError) -> TreeID {
    try storing { () throws(StoreError) in
      let tree = try t.createTree(kind)
      try t.put(Self.tree, Self.key(key), Self.bytes(tree.rawValue))
      return tree
    }
  }
}

/// Where a relationship is kept.
enum RelationshipStorage {
  /// To-one without a to-many inverse: in the row.
  case row
  /// To-one whose inverse is an unordered to-many: in the row, and in a tree of (destination, source) for the way back.
  case rowAndTree
  /// Unordered to-many whose inverse is a to-one: derived from the to-one's tree.
  case derived(from: UInt32)
  /// Ordered to-many: in the row, as a list.
  case list
  /// Unordered to-many without inverse, or many-to-many: in a tree of (source, destination).
  case tree

  init(_ relationship: RelationshipSchema, in schema: Schema) {
    let inverse = schema.inverse(of: relationship)
    if !relationship.isToMany {
      self = inverse.map { $0.isToMany && !$0.isOrdered } ?? false ? .rowAndTree : .row
    } else if relationship.isOrdered {
      self = .list
    } else if let inverse, !inverse.isToMany, !inverse.isTransient {
      self = .derived(from: inverse.id)
    } else {
      self = .tree
    }
  }

  var ownsTree: Bool {
    switch self {
    case .rowAndTree, .tree: return true
    default: return false
    }
  }
}
