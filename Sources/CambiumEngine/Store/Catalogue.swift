import CambiumKernel

/// What the engine keeps about a store beside the rows: one tree of byte keys, the first tree of the file.
///
///     "schema"                 the current schema, encoded
///     "tree/e/<root entity>"   tree of the rows of a hierarchy (u32 little-endian); several may have the same one, and
///                              the layout of each row tells its entity
///     "tree/i/<index>"         tree of a fetch index; keys: the parts, then the row
///     "tree/u/<constraint>"    tree of a uniqueness constraint; keys: the parts, then the row
///     "tree/r/<relationship>"  tree of a relationship; keys: one row, then the other
///     "layout/<id>"            a row layout (`LayoutDescriptor`)
///     "task/rows/<entity>"     the row (u64 little-endian) at which the entity's rows are to be rewritten from: they
///                              have an earlier layout, with values or links that belong elsewhere or are gone
///     "task/index/<index>"     the row (u64 little-endian) up to which the index is filled: fetches don't use it until it
///                              is whole, and the entry goes then
///     "stage"                  the stage of a migration that is under way (`StageRecord`)
///     "prior/<retained>"       a retained commit that a migration goes back to (`PriorCommit`)
///     "former"                 the models that the store had before (`FormerModels`)
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
  /// Indexes that are not whole yet, and the row up to which they are.
  var building: [UInt32: UInt64] = [:]
  /// The states before migrations, by the identifiers of their retained commits.
  var priors: [UInt64: PriorCommit] = [:]

  /// Whether nothing is put off, so that only a change of the model changes it.
  var isSettled: Bool { deferred.isEmpty && building.isEmpty && priors.isEmpty }

  /// The trees that have the rows of several hierarchies.
  var sharedRows: Set<TreeID> {
    var seen: Set<TreeID> = []
    return Set(rows.values.filter { !seen.insert($0).inserted })
  }

  static func key(_ text: String) -> [UInt8] { Array(text.utf8) }

  static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) } }

  static func number(_ bytes: [UInt8]) -> UInt32? {
    bytes.count == 4 ? bytes.reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) } : nil
  }

  /// Reads the catalogue of a store.
  init(_ view: TreeView) throws(EngineError) { try self.init(CatalogueImage(view)) }

  init(_ image: CatalogueImage) throws(EngineError) {
    try image.forEach { (key, value) throws(EngineError) in try read(key, value) }
  }

  init() {}

  /// Reads an entry. Those of others are passed over.
  private mutating func read(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(EngineError) {
    if let name = Self.rest(of: key, behind: "tree/") {
      guard let kind = name.first, name.count > 2, name[1] == UInt8(ascii: "/"),
        let id = Self.number(UnsafeRawBufferPointer(rebasing: name[2...])), let id = UInt32(exactly: id),
        let number = Self.number(Array(value))
      else { throw Self.malformed(key) }
      let tree = TreeID(rawValue: number)
      switch kind {
      case UInt8(ascii: "e"): rows[id] = tree
      case UInt8(ascii: "i"): indexes[id] = tree
      case UInt8(ascii: "u"): constraints[id] = tree
      case UInt8(ascii: "r"): relationships[id] = tree
      default: throw .corrupt("the catalogue has an unknown entry '\(String(decoding: key, as: UTF8.self))'")
      }
    } else if let name = Self.rest(of: key, behind: "layout/") {
      guard let id = Self.number(name) else { throw Self.malformed(key) }
      guard let layout = UInt16(exactly: id) else { throw .corrupt("the catalogue has a layout \(id)") }
      let descriptor = try LayoutDescriptor(Array(value))
      layouts[layout] = descriptor
      if descriptor.isCurrent, currentLayout.updateValue(layout, forKey: descriptor.entity) != nil {
        throw .corrupt("the catalogue has two current layouts of entity \(descriptor.entity)")
      }
    } else if let name = Self.rest(of: key, behind: "task/") {
      let ofRows = Self.rest(of: name, behind: "rows/")
      guard let digits = ofRows ?? Self.rest(of: name, behind: "index/"), let id = Self.number(digits),
        let id = UInt32(exactly: id), value.count == 8
      else { throw Self.malformed(key) }
      let row = value.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      if ofRows != nil { deferred[id] = row } else { building[id] = row }
    } else if let name = Self.rest(of: key, behind: "prior/") {
      guard let id = Self.number(name), let prior = PriorCommit(Array(value)) else {
        throw Self.malformed(key)
      }
      priors[id] = prior
    }
  }

  /// What follows `prefix` in a key; nil if it begins otherwise.
  static func rest(of key: UnsafeRawBufferPointer, behind prefix: StaticString) -> UnsafeRawBufferPointer? {
    let count = prefix.utf8CodeUnitCount
    guard key.count >= count else { return nil }
    for place in 0..<count where key[place] != prefix.utf8Start[place] { return nil }
    return UnsafeRawBufferPointer(rebasing: key[count...])
  }

  /// The number that decimal digits stand for; nil if there are none, other bytes, or too many.
  private static func number(_ digits: UnsafeRawBufferPointer) -> UInt64? {
    if digits.isEmpty { return nil }
    var number: UInt64 = 0
    for byte in digits {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, isStillTooLarge) = tens.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
      if isTooLarge || isStillTooLarge { return nil }
      number = sum
    }
    return number
  }

  private static func malformed(_ key: UnsafeRawBufferPointer) -> EngineError {
    .corrupt("the catalogue has a malformed entry '\(String(decoding: key, as: UTF8.self))'")
  }

  /// Makes the trees and layouts that `schema` needs and the catalogue lacks, and stores them.
  mutating func install(_ schema: Schema, _ t: WriteTransaction) throws(EngineError) {
    for entity in schema.entities {
      if entity.parentID == nil, rows[entity.id] == nil {
        rows[entity.id] = try make(t, .integer, Self.rowsKey(entity.id))
      }
      for index in entity.indexes {
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
    try Self.setTask(Self.key("task/rows/\(entity)"), row, t)
  }

  /// Notes up to which row an index is filled; nil: it is whole, or gone.
  mutating func setBuilding(_ index: UInt32, _ row: UInt64?, _ t: WriteTransaction) throws(EngineError) {
    building[index] = row
    try Self.setTask(Self.buildingKey(index), row, t)
  }

  private static func setTask(_ key: [UInt8], _ row: UInt64?, _ t: WriteTransaction) throws(EngineError) {
    try storing { () throws(StoreError) in
      if let row {
        try t.put(Self.tree, key, (0..<8).map { UInt8(truncatingIfNeeded: row >> UInt64(8 * $0)) })
      } else {
        _ = try t.delete(Self.tree, key)
      }
    }
  }

  static func buildingKey(_ index: UInt32) -> [UInt8] { key("task/index/\(index)") }

  /// The rows that are written anew next, and the one to go on at; nil while an index is to be filled before.
  var nextRewriting: (entity: UInt32, start: UInt64)? {
    guard building.isEmpty, let next = deferred.min(by: { $0.key < $1.key }) else { return nil }
    return (next.key, next.value)
  }

  /// Whether something was put off that nobody has done yet.
  var hasTasks: Bool { !deferred.isEmpty || !building.isEmpty }

  /// Notes a retained commit as the state before a migration; nil: not any more.
  mutating func setPrior(_ id: UInt64, _ prior: PriorCommit?, _ t: WriteTransaction) throws(EngineError) {
    priors[id] = prior
    let key = Self.key("prior/\(id)")
    try storing { () throws(StoreError) in
      if let prior { try t.put(Self.tree, key, prior.encoded) } else { _ = try t.delete(Self.tree, key) }
    }
  }

  /// Notes the state before a migration, and forgets those before earlier migrations whose put-off work was never
  /// finished, because each of them may hold a whole store. States that are kept until confirmed stay.
  mutating func setNewestPrior(_ id: UInt64, _ prior: PriorCommit, _ t: WriteTransaction) throws(EngineError) {
    for (earlier, other) in priors where !other.isKeptUntilConfirmed { try setPrior(earlier, nil, t) }
    try setPrior(id, prior, t)
  }

  /// Notes that nothing is left to be done of what was put off: what was retained for that long need not be any more.
  mutating func dropFinishedPriors(_ t: WriteTransaction) throws(EngineError) {
    guard !hasTasks else { return }
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
