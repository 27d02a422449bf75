import CambiumKernel

/// A consistent view of all objects: a snapshot, or what a transaction sees.
///
/// A view of a snapshot may be used by any number of threads, one of a transaction by one at a time.
public class EntityView {
  /// The store.
  public let store: EntityStore
  let trees: TreeView
  /// Whether rows are lent where they lie. (No override: what one function hands on as another has made it is copied,
  /// in other pieces than it was written in, which processors wait for.)
  let lendsInPlace: Bool

  init(store: EntityStore, trees: TreeView, lendsInPlace: Bool = true) {
    self.store = store
    self.trees = trees
    self.lendsInPlace = lendsInPlace
  }

  /// The newest commit that this view sees.
  public var sequence: UInt64 { trees.sequence }

  /// What the layer above keeps under a key; nil if nothing.
  public func metadata(_ key: String) throws(EngineError) -> [UInt8]? {
    try storing { () throws(StoreError) in try trees.value(Catalogue.tree, Catalogue.key("meta/" + key)) }
  }

  // MARK: Rows

  /// The row of an object; nil if there is none. `reference` may name any entity of the object's hierarchy.
  public func row(_ reference: ObjectReference) throws(EngineError) -> Row? {
    try withRow(reference) { (row) throws(EngineError) in row.copy() }
  }

  /// Whether there is a row of an object. `reference` may name any entity of the object's hierarchy.
  public func contains(_ reference: ObjectReference) throws(EngineError) -> Bool {
    try hasRow(reference.row, try store.plan(reference.entity))
  }

  /// Whether the hierarchy of a plan has a row. O(log n).
  final func hasRow(_ row: UInt64, _ plan: EntityPlan) throws(EngineError) -> Bool {
    if plan.hierarchy != nil { return try entity(ofRow: row, plan) != nil }
    return try storing { () throws(StoreError) in try trees.contains(plan.rows, row) }
  }

  /// The entity of a row; nil if the hierarchy of the plan has no such row. O(log n).
  final func entity(ofRow row: UInt64, _ plan: EntityPlan) throws(EngineError) -> UInt32? {
    let layout = try storing { () throws(StoreError) in
      try trees.withValue(plan.rows, row) { (b) throws(StoreError) in try RecordView.layoutID(of: b) }
    }
    guard let layout else { return nil }
    let entity = try store.currentLayout(layout).entityID
    return plan.isInHierarchy(entity) ? entity : nil
  }

  /// The version of an object's row, which grows with every change; nil if there is none. Reads no more of the row.
  public func rowVersion(_ reference: ObjectReference) throws(EngineError) -> UInt32? {
    let plan = try store.plan(reference.entity)
    if plan.hierarchy != nil, try !hasRow(reference.row, plan) { return nil }
    return try storing { () throws(StoreError) in
      try trees.withValue(plan.rows, reference.row) { (bytes) throws(StoreError) in
        try RecordView.rowVersion(of: bytes)
      }
    }
  }

  func row(_ bytes: [UInt8], _ id: UInt64) throws(EngineError) -> Row {
    try bytes.withUnsafeBytesEngine { (b) throws(EngineError) in try row(b, id) }
  }

  func row(_ bytes: UnsafeRawBufferPointer, _ id: UInt64) throws(EngineError) -> Row {
    let layout = try layout(of: bytes)
    guard let projected = try projected(bytes) else { return RowBlock.of(bytes, layout, id) }
    return try projected.withUnsafeBytesEngine { (b) throws(EngineError) in RowBlock.of(b, layout, id) }
  }

  /// The current layout of a row, whatever layout it was written with.
  func layout(of bytes: UnsafeRawBufferPointer) throws(EngineError) -> EntityLayout {
    try store.currentLayout(try storing { () throws(StoreError) in try RecordView.layoutID(of: bytes) })
  }

  /// A row of an earlier layout as one of the current; nil if it is of the current one.
  final func projected(_ bytes: UnsafeRawBufferPointer) throws(EngineError) -> [UInt8]? {
    let id = try storing { () throws(StoreError) in try RecordView.layoutID(of: bytes) }
    return store.borrowedLayout(id) == nil ? try store.staleLayout(id).project(bytes) : nil
  }

  /// Tells `body` the rows of an entity in the order of their making, until it answers false.
  public func rows(
    entity: EntitySchema, includesSubentities: Bool = true, _ body: (Row) throws(EngineError) -> Bool
  ) throws(EngineError) {
    let plan = try store.plan(entity.id)
    try rows(tree: plan.rows) { (row) throws(EngineError) in
      isMember(row.reference.entity, plan, includesSubentities) ? try body(row) : true
    }
  }

  /// Tells `body` all rows of a tree, whatever entities they are of, until it answers false.
  final func rows(tree: TreeID, _ body: (Row) throws(EngineError) -> Bool) throws(EngineError) {
    let cursor = try storing { () throws(StoreError) in try trees.cursor(tree) }
    var more = try storing { () throws(StoreError) in try cursor.seekFirst() }
    while more {
      let bytes = try storing { () throws(StoreError) in try cursor.value() } ?? []
      if try !body(try row(bytes, cursor.integerKey)) { return }
      more = try storing { () throws(StoreError) in try cursor.next() }
    }
  }

  final func isMember(_ entity: UInt32, _ plan: EntityPlan, _ includesSubentities: Bool) -> Bool {
    if entity == plan.entity.id { return true }
    return includesSubentities && plan.family.contains(entity)
  }

  // MARK: Relationships

  /// The objects that a relationship leads to: none or one of a to-one, in order if it is ordered, else by row.
  public func related(
    _ reference: ObjectReference, _ relationship: RelationshipSchema
  ) throws(EngineError) -> [ObjectReference] {
    var result: [ObjectReference] = []
    try destinations(of: relationship).forEach(from: reference) { (found) in
      result.append(found)
      return true
    }
    return result
  }

  /// The number of objects that a relationship leads to. O(that number) for relationships in trees.
  public func relatedCount(
    _ reference: ObjectReference, _ relationship: RelationshipSchema
  ) throws(EngineError) -> Int {
    try destinations(of: relationship).count(from: reference)
  }

  /// Lends the row of an object; answers whether there is one.
  @discardableResult
  final func lendRow(
    _ rows: TreeID, _ id: UInt64, _ body: (borrowing RowReader) throws(EngineError) -> Void
  ) throws(EngineError) -> Bool {
    switch try borrowRow(rows, id) {
    case .none: return false
    case .row(let reader, let value):
      defer { trees.giveBack(value) }
      try body(reader)
      return true
    case .stale(let value):
      defer { trees.giveBack(value) }
      try lendStale(value, id, body)
      return true
    case .elsewhere: return try lendCopy(rows, id, body)
    }
  }

  /// Lends the row of an object that does not lie as it is to be lent; answers whether there is one.
  func lendCopy(
    _ rows: TreeID, _ id: UInt64, _ body: (borrowing RowReader) throws(EngineError) -> Void
  ) throws(EngineError) -> Bool {
    var failure: EngineError?
    let found: Bool
    do throws(StoreError) {
      found =
        try trees.withValue(rows, id) { (bytes) throws(StoreError) -> Bool in
          do throws(EngineError) { try lend(bytes, id, body) } catch { failure = error }
          return true
        } ?? false
    } catch { throw .store(error) }
    if let failure { throw failure }
    return found
  }

  /// Brings the trees in step with what was written so far, before one that is kept beside the rows is read. Answers a
  /// number that changes with each change.
  func settle() throws(EngineError) -> UInt64 { 0 }

  /// Tells the second rows of the links that begin with row `from`.
  func eachLink(_ tree: TreeID, _ from: UInt64, _ body: (UInt64) -> Void) throws(EngineError) {
    try storing { () throws(StoreError) in
      let cursor = try trees.cursor(tree)
      try RowIDKey(from).withBytes { (prefix) throws(StoreError) in
        var more = try cursor.seek(prefix)
        while more, hasPrefix(cursor.key, prefix) {
          body(try KeyDecoder.rowID(atEndOf: cursor.key).id)
          more = try cursor.next()
        }
      }
    }
  }
}

extension Array where Element == UInt8 {
  /// `withUnsafeBytes` that keeps the error's type.
  @inline(__always)
  func withUnsafeBytesEngine<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result: Result<R, E> = withUnsafeBytes { (b) -> Result<R, E> in
      do throws(E) { return .success(try body(b)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
