import CambiumKernel

/// Follows a relationship from many objects: where it is kept is found out once, and nothing is allocated for a step
/// unless a migration has left links to be moved.
///
/// Made by ``EntityView/destinations(of:)``. It sees what its view sees; in a transaction, also what was written since
/// it was made. One thread at a time uses it, and `body` must not use it again.
///
///     let entries = try view.destinations(of: logEntries)
///     try entries.forEachRow(from: aircraft) { row in
///       total += try row.int64(distance) ?? 0
///       return true
///     }
public final class RelationshipReader {
  let view: EntityView
  /// The relationship that it follows.
  public let relationship: RelationshipSchema
  let destination: EntityPlan
  /// Whether the links follow from the rows of the destinations.
  let isDerived: Bool
  /// The tree of (one row, other row), or nil if the row has the destinations itself.
  let tree: TreeID?
  /// Layouts whose rows have the destinations themselves though there is a tree, and where these rows are.
  private let pending: (rows: TreeID, layouts: [UInt16: PendingLinks])?
  // Exclusive access is not checked at run time, since the checks would be a good part of a step.
  @exclusivity(unchecked) private var cursor: Cursor?
  @exclusivity(unchecked) private var stamp: UInt64 = 0
  /// The row whose links the cursor was sought for last, and whether it stands at an entry: the first one of these
  /// links, or one behind it.
  @exclusivity(unchecked) private var sought: UInt64 = .max
  @exclusivity(unchecked) private var isAtEntry = false

  init(_ view: EntityView, _ relationship: RelationshipSchema) throws(EngineError) {
    self.view = view
    self.relationship = relationship
    let store = view.store
    guard let entity = store.schema.entity(named: relationship.destination) else {
      throw .misuse("relationship '\(relationship.name)' is not of this store's model")
    }
    destination = try store.plan(entity.id)
    let owner: UInt32
    switch RelationshipStorage(relationship, in: store.schema) {
    case .row, .rowAndTree, .list:
      isDerived = false
      tree = nil
      pending = nil
      return
    case .derived(let inverse): (owner, isDerived) = (inverse, true)
    case .tree: (owner, isDerived) = (relationship.id, false)
    }
    guard let tree = store.catalogue.relationships[owner] else {
      throw .corrupt("relationship '\(relationship.name)' has no tree")
    }
    self.tree = tree
    pending = try Self.pending(owner, relationship, store)
  }

  /// See ``pending``.
  private static func pending(
    _ owner: UInt32, _ relationship: RelationshipSchema, _ store: EntityStore
  ) throws(EngineError) -> (rows: TreeID, layouts: [UInt16: PendingLinks])? {
    if store.pendingLinks.isEmpty || owner != relationship.id { return nil }
    var layouts: [UInt16: PendingLinks] = [:]
    for (id, links) in store.pendingLinks {
      if let found = links.first(where: { $0.relationship == owner }) { layouts[id] = found }
    }
    if layouts.isEmpty { return nil }
    var found: (rows: TreeID, layouts: [UInt16: PendingLinks])?
    for candidate in store.schema.entities where candidate.relationships.contains(where: { $0.id == owner }) {
      found = (try store.plan(candidate.id).rows, layouts)
    }
    return found
  }

  /// The destinations of a row that has them itself, though there is a tree; nil for all other rows.
  private func inPendingRow(_ row: UInt64) throws(EngineError) -> [UInt64]? {
    guard let (rows, layouts) = pending else { return nil }
    var found: [UInt64]?
    try storing { () throws(StoreError) in
      _ = try view.trees.withValue(rows, row) { (bytes) throws(StoreError) in
        if let links = layouts[try RecordView.layoutID(of: bytes)] { found = try links.targets(bytes) }
      }
    }
    return found
  }

  /// Tells `body` the objects that the relationship leads to from one, until it answers false: none or one of a to-one,
  /// in order if it is ordered, else by row. Nothing if there is no such object.
  public func forEach(
    from reference: ObjectReference, _ body: (ObjectReference) throws(EngineError) -> Bool
  ) throws(EngineError) {
    guard let tree else {
      for found in try inRow(reference) {
        if try !body(found) { return }
      }
      return
    }
    try eachID(tree, reference.row) { (id) throws(EngineError) in
      var found = ObjectReference(entity: destination.entity.id, row: id)
      if destination.sharesRows {
        try view.lendRow(destination.rows, id) { (row) throws(EngineError) in found = row.reference }
      }
      return try body(found)
    }
  }

  /// Lends `body` the rows of the objects that the relationship leads to, in the same order, until it answers false.
  public func forEachRow(
    from reference: ObjectReference, _ body: (borrowing RowReader) throws(EngineError) -> Bool
  ) throws(EngineError) {
    guard let tree else {
      for found in try inRow(reference) {
        var goOn = true
        try view.lendRow(destination.rows, found.row) { (row) throws(EngineError) in goOn = try body(row) }
        if !goOn { return }
      }
      return
    }
    try eachID(tree, reference.row) { (id) throws(EngineError) in
      var goOn = true
      try view.lendRow(destination.rows, id) { (row) throws(EngineError) in goOn = try body(row) }
      return goOn
    }
  }

  /// Whether the links lie apart from the rows, so that they can be followed from a row of any entity.
  var isApart: Bool { tree != nil }

  /// Tells `body` the rows that the relationship leads to from one, until it answers false; in the order of
  /// ``forEach(from:_:)``.
  func forEachID(
    from reference: ObjectReference, _ body: (UInt64) throws(EngineError) -> Bool
  ) throws(EngineError) {
    if let tree { return try eachID(tree, reference.row, body) }
    for found in try inRow(reference) where try !body(found.row) { return }
  }

  /// The number of objects that the relationship leads to. O(log n), unless many links were written since the last
  /// checkpoint.
  public func count(from reference: ObjectReference) throws(EngineError) -> Int {
    guard let tree else { return try inRow(reference).count }
    if pending == nil {
      _ = try view.settle()
      let range = KeyRange(rowsOf: reference.row)
      return Int(clamping: try storing { () throws(StoreError) in try view.trees.count(tree, in: range) })
    }
    var n = 0
    try eachID(tree, reference.row) { (_) throws(EngineError) in
      n += 1
      return true
    }
    return n
  }

  /// The number of objects that the relationship leads to, or `limit` if there are more. O(`limit`).
  func count(from reference: ObjectReference, limit: Int) throws(EngineError) -> Int {
    var n = 0
    try forEachID(from: reference) { (_) throws(EngineError) in
      n += 1
      return n < limit
    }
    return n
  }

  func inRow(_ reference: ObjectReference) throws(EngineError) -> [ObjectReference] {
    guard let row = try view.row(reference) else { return [] }
    if !relationship.isToMany { return try row.reference(relationship).map { [$0] } ?? [] }
    return try row.references(relationship)
  }

  func eachID(
    _ tree: TreeID, _ from: UInt64, _ body: (UInt64) throws(EngineError) -> Bool
  ) throws(EngineError) {
    if let rows = try inPendingRow(from) {
      for row in rows where try !body(row) { return }
      return
    }
    let now = try view.settle()
    let cursor: Cursor
    if let known = self.cursor, stamp == now {
      cursor = known
    } else {
      cursor = try storing { () throws(StoreError) in try view.trees.cursor(tree) }
      self.cursor = cursor
      stamp = now
      sought = .max
    }
    try RowIDKey(from).withBytes { (prefix) throws(EngineError) in
      // Rows are mostly asked in ascending order. If the cursor went past this one already, there are no links.
      if sought < from, !isAtEntry || compareKeys(cursor.key, prefix) > 0 && !hasPrefix(cursor.key, prefix) { return }
      // Not known if something throws.
      sought = .max
      var more = try storing { () throws(StoreError) in try cursor.seek(prefix) }
      while more {
        let key = cursor.key
        guard hasPrefix(key, prefix) else { break }
        let id = try storing { () throws(StoreError) in try KeyDecoder.rowID(atEndOf: key).id }
        if try !body(id) { break }
        more = try storing { () throws(StoreError) in try cursor.next() }
      }
      isAtEntry = more
      sought = from
    }
  }
}

extension EntityView {
  /// Prepares following a relationship from many objects.
  public func destinations(of relationship: RelationshipSchema) throws(EngineError) -> RelationshipReader {
    try RelationshipReader(self, relationship)
  }
}
