import CambiumKernel

/// The key of a link between two rows in a tree of links.
func linkKey(_ from: UInt64, _ to: UInt64) -> [UInt8] {
  var encoder = KeyEncoder()
  encoder.append(rowID: from)
  encoder.append(rowID: to)
  return encoder.bytes
}

/// Looks at where rows lead: that it is there, and that it leads back.
///
/// A relationship that is derived from its inverse has no other side that could disagree; the tree by which it is
/// followed is looked at as indexes are.
struct RelationshipCheck {
  /// What is known of a relationship.
  private struct Design {
    let storage: RelationshipStorage
    /// Whether what it leads to may be gone: nothing takes it back where there is no inverse, or where the inverse's
    /// rule is to do nothing.
    let mayDangle: Bool
    /// The inverse, if that is kept apart, so that both can be compared.
    var inverse: RelationshipSchema?
    var inverseStorage: RelationshipStorage?
    /// The tree of links, and that of the inverse.
    var tree: TreeID?
    var inverseTree: TreeID?
    var reader: RelationshipReader?
  }

  private let view: EntityView
  private var designs: [UInt32: Design] = [:]
  /// Relationships some of whose links a migration has left in rows, to be moved by a pass: trees are not whole.
  private let pending: Set<UInt32>
  /// How many links were found of rows that are there, by relationship.
  private var links: [UInt32: UInt64] = [:]
  /// By ordered relationship and row: entries of its list, less the rows that lead to it by the inverse. None is not
  /// kept.
  private var unpaired: [UInt32: [UInt64: Int]] = [:]

  init(_ view: EntityView) {
    self.view = view
    pending = Set(view.store.pendingLinks.values.flatMap { $0.map { $0.relationship } })
  }

  private mutating func design(_ relationship: RelationshipSchema) throws(EngineError) -> Design {
    if let known = designs[relationship.id] { return known }
    let store = view.store
    let storage = RelationshipStorage(relationship, in: store.schema)
    let inverse = store.schema.inverse(of: relationship).flatMap { $0.isTransient ? nil : $0 }
    var design = Design(storage: storage, mayDangle: inverse.map { $0.deleteRule == .noAction } ?? true)
    if case .tree = storage {
      design.tree = store.catalogue.relationships[relationship.id]
      design.reader = try view.destinations(of: relationship)
    }
    if let inverse, !pending.contains(relationship.id), !pending.contains(inverse.id) {
      let other = RelationshipStorage(inverse, in: store.schema)
      switch (storage, other) {
      case (.rowAndTree, _), (.derived, _), (_, .rowAndTree), (_, .derived): break
      default: (design.inverse, design.inverseStorage) = (inverse, other)
      }
      if case .tree = other { design.inverseTree = store.catalogue.relationships[inverse.id] }
    }
    designs[relationship.id] = design
    return design
  }

  /// Looks at where a row leads.
  mutating func check(_ row: Row, _ plan: EntityPlan, _ report: inout EngineCheckReport) throws(EngineError) {
    for relationship in plan.entity.allRelationships where !relationship.isTransient {
      let design = try design(relationship)
      var targets: [ObjectReference] = []
      switch design.storage {
      case .derived: continue
      case .row, .rowAndTree: if let target = try row.reference(relationship) { targets = [target] }
      case .list: targets = try row.references(relationship)
      case .tree:
        try design.reader?.forEach(from: row.reference) { (target) throws(EngineError) in
          targets.append(target)
          return true
        }
        links[relationship.id, default: 0] += UInt64(targets.count)
      }
      for target in targets {
        if try !view.contains(target) {
          if !design.mayDangle { report.add(relationship: "\(name(row, relationship)) leads to no object") }
        } else if try !leadsBack(row, target, relationship, design) {
          report.add(
            relationship:
              "\(name(row, relationship)) leads to an object whose '\(design.inverse?.name ?? "")' does not lead back")
        }
      }
    }
  }

  private func name(_ row: Row, _ relationship: RelationshipSchema) -> String {
    "\(row.entity.name) \(row.reference.row): '\(relationship.name)'"
  }

  /// Whether a destination leads back to a row, as far as that is asked here: see ``unpaired``.
  private mutating func leadsBack(
    _ row: Row, _ target: ObjectReference, _ relationship: RelationshipSchema, _ design: Design
  ) throws(EngineError) -> Bool {
    // An inverse that is inherited may lead here from objects that it does not lead to.
    guard let inverse = design.inverse, let reached = view.store.schema.entity(named: inverse.destination),
      view.store.schema.isEntity(row.reference.entity, orDescendantOf: reached.id)
    else { return true }
    if case .list = design.storage { count(relationship.id, row.reference.row, 1) }
    switch design.inverseStorage {
    case .row: return try view.row(target)?.reference(inverse)?.row == row.reference.row
    case .list:
      count(inverse.id, target.row, -1)
      return true
    case .tree:
      guard let tree = design.inverseTree else { return true }
      return try linkKey(target.row, row.reference.row).withUnsafeBytesEngine { (key) throws(EngineError) in
        try storing { () throws(StoreError) in try view.trees.contains(tree, key) }
      }
    default: return true
    }
  }

  private mutating func count(_ relationship: UInt32, _ row: UInt64, _ change: Int) {
    let sum = (unpaired[relationship]?[row] ?? 0) + change
    unpaired[relationship, default: [:]][row] = sum == 0 ? nil : sum
  }

  /// Looks at what concerns all rows.
  func finish(_ report: inout EngineCheckReport) throws(EngineError) {
    for (id, design) in designs.ordered(by: { $0.key < $1.key }) {
      guard let tree = design.tree, !pending.contains(id) else { continue }
      try report.noting("tree \(tree.rawValue)") { (report) throws(EngineError) in
        let count = try storing { () throws(StoreError) in try view.trees.count(tree) }
        report.entries += Int(clamping: count)
        if count != links[id] ?? 0 {
          report.add(relationship: "tree \(tree.rawValue): links of objects that are not there")
        }
      }
    }
    for (id, rows) in unpaired.ordered(by: { $0.key < $1.key }) where !rows.isEmpty {
      report.add(
        relationship: "ordered relationship \(id): the lists of \(rows.count) objects do not agree with its inverse")
    }
  }
}
