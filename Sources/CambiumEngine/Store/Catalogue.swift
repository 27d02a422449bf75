import CambiumKernel

/// What the engine keeps about a store beside the rows: one tree of byte keys, the first tree of the file.
///
///     "schema"                 the current schema, encoded
///     "tree/e/<root entity>"   tree of the rows of a hierarchy (u32 little-endian)
///     "tree/i/<index>"         tree of a fetch index; keys: the parts, then the row
///     "tree/u/<constraint>"    tree of a uniqueness constraint; keys: the parts, then the row
///     "tree/r/<relationship>"  tree of a relationship; keys: one row, then the other
///     "layout/<id>"            a row layout (`LayoutDescriptor`)
///     "task/rows/<entity>"     the row (u64 little-endian) at which the entity's rows are to be rewritten from: an
///                              earlier layout of them holds values of dropped attributes
///     "stage"                  the stage of a migration that is under way (`StageRecord`)
///     "prior/<retained>"       a retained commit that a migration goes back to (`PriorCommit`)
///     "meta/<key>"             what the layer above keeps
///
/// Identifiers in keys are decimal. The tree's counters: 0, the last row given out, in whatever tree, so that rows keep
/// their numbers when an entity moves to another hierarchy; 1, how often the model was changed; 2, how many commits
/// migrations made, what they put off included, and what was given up with them: all others are the application's.
struct Catalogue: Sendable {
  static let tree = TreeID(rawValue: 16)
  static let rowCounter: UInt32 = 0
  static let modelCounter: UInt32 = 1
  static let upkeepCounter: UInt32 = 2

  var rows: [UInt32: TreeID] = [:]
  var indexes: [UInt32: TreeID] = [:]
  var constraints: [UInt32: TreeID] = [:]
  var relationships: [UInt32: TreeID] = [:]
  var layouts: [UInt16: LayoutDescriptor] = [:]
  /// The layout that new rows of an entity get.
  var currentLayout: [UInt32: UInt16] = [:]
  /// Entities whose rows are to be rewritten, and from which row on.
  var deferred: [UInt32: UInt64] = [:]
  /// The states before migrations, by the identifiers of their retained commits.
  var priors: [UInt64: PriorCommit] = [:]

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
      if key.hasPrefix("prior/") {
        let value = try storing { () throws(StoreError) in try cursor.value() } ?? []
        guard let id = UInt64(key.dropFirst(6)), let prior = PriorCommit(value) else {
          throw .corrupt("the catalogue has a malformed entry '\(key)'")
        }
        priors[id] = prior
      } else if key.hasPrefix("tree/") || key.hasPrefix("layout/") || key.hasPrefix("task/") {
        let value = try storing { () throws(StoreError) in try cursor.value() } ?? []
        try read(key, value)
      }
      more = try storing { () throws(StoreError) in try cursor.next() }
    }
  }

  init() {}

  private mutating func read(_ key: String, _ value: [UInt8]) throws(EngineError) {
    let parts = key.split(separator: "/")
    guard let last = parts.last, let id = UInt32(last) else {
      throw .corrupt("the catalogue has a malformed entry '\(key)'")
    }
    if parts.count == 2 {
      guard let layout = UInt16(exactly: id) else { throw .corrupt("the catalogue has a layout \(id)") }
      let descriptor = try LayoutDescriptor(value)
      layouts[layout] = descriptor
      if descriptor.isCurrent, currentLayout.updateValue(layout, forKey: descriptor.entity) != nil {
        throw .corrupt("the catalogue has two current layouts of entity \(descriptor.entity)")
      }
      return
    }
    if parts.count == 3, parts[0] == "task", parts[1] == "rows", value.count == 8 {
      deferred[id] = value.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return
    }
    guard let number = Self.number(value), parts[0] == "tree" else {
      throw .corrupt("the catalogue has a malformed entry '\(key)'")
    }
    let tree = TreeID(rawValue: number)
    switch (parts.count, parts[1]) {
    case (3, "e"): rows[id] = tree
    case (3, "i"): indexes[id] = tree
    case (3, "u"): constraints[id] = tree
    case (3, "r"): relationships[id] = tree
    default: throw .corrupt("the catalogue has an unknown entry '\(key)'")
    }
  }

  /// Makes the trees and layouts that `schema` needs and the catalogue lacks, and stores them.
  mutating func install(_ schema: Schema, _ t: WriteTransaction) throws(EngineError) {
    for entity in schema.entities {
      if entity.parentID == nil, rows[entity.id] == nil {
        rows[entity.id] = try make(t, .integer, Self.rowsKey(entity.id))
      }
      for index in entity.indexes {
        if index.elements.contains(where: { $0.kind == .rTree }) {
          throw .unsupported(
            "index '\(index.name)' of \(entity.name) is an R-tree, which this version does not build; make it binary")
        }
        if indexes[index.id] == nil { indexes[index.id] = try make(t, .bytes, Self.indexKey(index.id)) }
      }
      for constraint in entity.uniquenessConstraints where constraints[constraint.id] == nil {
        constraints[constraint.id] = try make(t, .bytes, Self.constraintKey(constraint.id))
      }
      for relationship in entity.relationships where !relationship.isTransient && relationships[relationship.id] == nil
      {
        if RelationshipStorage(relationship, in: schema).ownsTree {
          relationships[relationship.id] = try make(t, .bytes, Self.relationshipKey(relationship.id))
        }
      }
    }
    for entity in schema.entities where currentLayout[entity.id] == nil {
      let id = try freeLayout()
      try setLayout(
        id, LayoutDescriptor(entity: entity.id, isCurrent: true, fields: try EntityLayout.fields(of: entity)), t)
      currentLayout[entity.id] = id
    }
  }

  static func rowsKey(_ entity: UInt32) -> String { "tree/e/\(entity)" }
  static func indexKey(_ index: UInt32) -> String { "tree/i/\(index)" }
  static func constraintKey(_ constraint: UInt32) -> String { "tree/u/\(constraint)" }
  static func relationshipKey(_ relationship: UInt32) -> String { "tree/r/\(relationship)" }

  /// The least identifier that no layout has.
  private func freeLayout() throws(EngineError) -> UInt16 {
    for id in UInt16(1)..<UInt16.max where layouts[id] == nil { return id }
    throw .unsupported("a store has at most 65,534 layouts of rows: one for each entity, and those of earlier models")
  }

  mutating func setLayout(
    _ id: UInt16, _ descriptor: LayoutDescriptor?, _ t: WriteTransaction
  ) throws(EngineError) {
    layouts[id] = descriptor
    try storing { () throws(StoreError) in
      if let descriptor {
        try t.put(Self.tree, Self.key("layout/\(id)"), descriptor.encoded())
      } else {
        _ = try t.delete(Self.tree, Self.key("layout/\(id)"))
      }
    }
  }

  /// Notes from which row on an entity's rows are to be rewritten; nil: not at all.
  mutating func setDeferred(_ entity: UInt32, _ row: UInt64?, _ t: WriteTransaction) throws(EngineError) {
    deferred[entity] = row
    let key = Self.key("task/rows/\(entity)")
    try storing { () throws(StoreError) in
      if let row {
        try t.put(Self.tree, key, (0..<8).map { UInt8(truncatingIfNeeded: row >> UInt64(8 * $0)) })
      } else {
        _ = try t.delete(Self.tree, key)
      }
    }
  }

  /// Notes a retained commit as the state before a migration; nil: not any more.
  mutating func setPrior(_ id: UInt64, _ prior: PriorCommit?, _ t: WriteTransaction) throws(EngineError) {
    priors[id] = prior
    let key = Self.key("prior/\(id)")
    try storing { () throws(StoreError) in
      if let prior { try t.put(Self.tree, key, prior.encoded) } else { _ = try t.delete(Self.tree, key) }
    }
  }

  /// Notes that nothing is left to be done of what was put off: what was retained for that long need not be any more.
  mutating func dropFinishedPriors(_ t: WriteTransaction) throws(EngineError) {
    guard deferred.isEmpty else { return }
    for (id, prior) in priors where !prior.isKeptUntilConfirmed { try setPrior(id, nil, t) }
  }

  /// Drops a tree and what the catalogue says of it.
  func drop(_ tree: TreeID, _ key: String, _ t: WriteTransaction) throws(EngineError) {
    try storing { () throws(StoreError) in
      try t.dropTree(tree)
      _ = try t.delete(Self.tree, Self.key(key))
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
