import CambiumKernel

/// Finds the rows of an entity that have given values in the properties of a uniqueness constraint or an index.
///
/// Made by ``EntityView/lookup(_:by:includesSubentities:)`` and used for many values: what is to be done is found out
/// once, and nothing is allocated for a search. It sees what its view sees; in a transaction, also what was written
/// since it was made. One thread at a time uses it, and what it lends rows to must not use it again, which is
/// ``EngineError/misuse(_:)``.
///
///     let byTail = try view.lookup(aircraft, by: ["tailNumber"])
///     let hours = try byTail.withFirst(.string("N12345")) { row in try row.double(hours) }
///
/// Values are compared as a predicate's `==` does; null finds the rows that have none. Rows with equal values come in
/// the order of their making.
public final class IndexLookup {
  let view: EntityView
  private let plan: EntityPlan
  let maker: KeyMaker
  private let includesSubentities: Bool
  // Exclusive access is not checked at run time, since the checks would be a good part of a search.
  @exclusivity(unchecked) private var encoder: KeyEncoder
  @exclusivity(unchecked) private var cursor: Cursor?
  @exclusivity(unchecked) private var stamp: UInt64 = 0
  /// Whether a search is under way, which has its key in the encoder.
  @exclusivity(unchecked) private var isSearching = false

  init(_ view: EntityView, _ plan: EntityPlan, _ maker: KeyMaker, includesSubentities: Bool) {
    self.view = view
    self.plan = plan
    self.maker = maker
    self.includesSubentities = includesSubentities
    encoder = KeyEncoder(limit: view.store.kernel.maxKeyLength)
  }

  /// The first object that has a value in the only property looked up by; nil if none has. O(log n).
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if there are several properties; kernel errors.
  public func first(_ value: Value) throws(EngineError) -> ObjectReference? {
    try firstReference(CollectionOfOne(value))
  }

  /// The first object that has the values in the properties looked up by, in their order; nil if none has. O(log n).
  public func first(_ values: [Value]) throws(EngineError) -> ObjectReference? { try firstReference(values) }

  /// Lends `body` the first row that has a value in the only property looked up by; nil if none has. O(log n).
  @inlinable
  public func withFirst<R>(
    _ value: Value, _ body: (borrowing RowReader) throws(EngineError) -> R
  ) throws(EngineError) -> R? {
    var result: R?
    try forEach(value) { (row) throws(EngineError) in
      result = try body(row)
      return false
    }
    return result
  }

  /// Lends `body` the first row that has the values in the properties looked up by; nil if none has. O(log n).
  @inlinable
  public func withFirst<R>(
    _ values: [Value], _ body: (borrowing RowReader) throws(EngineError) -> R
  ) throws(EngineError) -> R? {
    var result: R?
    try forEach(values) { (row) throws(EngineError) in
      result = try body(row)
      return false
    }
    return result
  }

  /// Lends `body` every row that has a value in the only property looked up by, until it answers false.
  public func forEach(
    _ value: Value, _ body: (borrowing RowReader) throws(EngineError) -> Bool
  ) throws(EngineError) {
    try eachRow(CollectionOfOne(value), body)
  }

  /// Lends `body` every row that has the values in the properties looked up by, until it answers false.
  public func forEach(
    _ values: [Value], _ body: (borrowing RowReader) throws(EngineError) -> Bool
  ) throws(EngineError) {
    try eachRow(values, body)
  }

  // MARK: Searching

  private func firstReference<V: RandomAccessCollection>(
    _ values: V
  ) throws(EngineError) -> ObjectReference? where V.Element == Value, V.Index == Int {
    guard let isSure = try encode(values) else { return nil }
    var found: ObjectReference?
    if isSure, !plan.sharesRows {
      try eachID { (id) throws(EngineError) in
        found = ObjectReference(entity: plan.entity.id, row: id)
        return false
      }
    } else {
      try eachRow(values) { (row) throws(EngineError) in
        found = row.reference
        return false
      }
    }
    return found
  }

  private func eachRow<V: RandomAccessCollection>(
    _ values: V, _ body: (borrowing RowReader) throws(EngineError) -> Bool
  ) throws(EngineError) where V.Element == Value, V.Index == Int {
    guard let isSure = try encode(values) else { return }
    try eachID { (id) throws(EngineError) in
      var goOn = true
      try view.lendRow(plan.rows, id) { (row) throws(EngineError) in
        if plan.sharesRows, !view.isMember(row.reference.entity, plan, includesSubentities) { return }
        if !isSure, try !holds(values, row) { return }
        goOn = try body(row)
      }
      return goOn
    }
  }

  /// Writes the key of the values. Answers whether entries with this key need not be compared with the values; nil if
  /// no row can have them.
  private func encode<V: RandomAccessCollection>(
    _ values: V
  ) throws(EngineError) -> Bool? where V.Element == Value, V.Index == Int {
    if isSearching {
      throw .misuse("what a lookup lends a row to uses the lookup again: make another one for that")
    }
    guard values.count == maker.paths.count else {
      throw .misuse("the lookup is by \(maker.paths.count) properties, and was given \(values.count) values")
    }
    encoder.removeAll()
    var isSure = true
    var part = 0
    for value in values {
      guard let value = converted(value, part), IndexRanges.append(value, maker, part, to: &encoder) else { return nil }
      if !value.isNull, !IndexRanges.tells(value, maker, part) { isSure = false }
      part += 1
    }
    return isSure && !encoder.isInexact
  }

  /// A value in the form of the part's type, as a predicate's constant gets it; nil if no row can have it.
  @inline(__always)
  private func converted(_ value: Value, _ part: Int) -> Value? {
    guard let type = maker.types[part], !value.isNull, !IndexRanges.tells(value, maker, part) else { return value }
    return value.isNumeric && type.isNumeric ? type.sameNumber(value) : type.coerce(value)
  }

  /// Returns a cursor on the index that sees what the view sees.
  private func currentCursor() throws(EngineError) -> Cursor {
    let now = try view.settle()
    if let known = cursor, stamp == now || isPlanted(.lookupKeepsOldCursor) { return known }
    let cursor = try storing { () throws(StoreError) in try view.trees.cursor(maker.tree) }
    self.cursor = cursor
    stamp = now
    return cursor
  }

  /// Tells `body` the rows of the entries whose keys begin with what was encoded.
  private func eachID(_ body: (UInt64) throws(EngineError) -> Bool) throws(EngineError) {
    let cursor = try currentCursor()
    isSearching = true
    defer { isSearching = false }
    try encoder.withBytes { (prefix) throws(EngineError) in
      var more = try storing { () throws(StoreError) in try cursor.seek(prefix) }
      while more {
        let key = cursor.key
        guard hasPrefix(key, prefix) else { return }
        let (id, start) = try storing { () throws(StoreError) in try KeyDecoder.rowID(atEndOf: key) }
        if start == prefix.count, try !body(id) { return }
        more = try storing { () throws(StoreError) in try cursor.next() }
      }
    }
  }

  /// Calls `body` with the row of every entry from the key `start` up to, not including, `end`, until it answers false.
  func eachID(
    from start: [UInt8], to end: [UInt8]?, _ body: (UInt64) throws(EngineError) -> Bool
  ) throws(EngineError) {
    if isSearching {
      throw .misuse("what a lookup lends a row to uses the lookup again: make another one for that")
    }
    let cursor = try currentCursor()
    isSearching = true
    defer { isSearching = false }
    var more = try storing { () throws(StoreError) in try cursor.seek(start) }
    while more {
      let key = cursor.key
      if let end, !key.lexicographicallyPrecedes(end) { return }
      let (id, _) = try storing { () throws(StoreError) in try KeyDecoder.rowID(atEndOf: key) }
      if try !body(id) { return }
      more = try storing { () throws(StoreError) in try cursor.next() }
    }
  }

  /// Lends `body` a row if it is of the lookup's entity. Returns whether to go on.
  func lend(
    _ id: UInt64, _ body: (borrowing RowReader) throws(EngineError) -> Bool
  ) throws(EngineError) -> Bool {
    var goOn = true
    try view.lendRow(plan.rows, id) { (row) throws(EngineError) in
      if plan.sharesRows, !view.isMember(row.reference.entity, plan, includesSubentities) { return }
      goOn = try body(row)
    }
    return goOn
  }

  private func holds<V: RandomAccessCollection>(
    _ values: V, _ row: borrowing RowReader
  ) throws(EngineError) -> Bool where V.Element == Value, V.Index == Int {
    var part = 0
    for given in values {
      guard let value = converted(given, part) else { return false }
      let field = try view.store.field(maker.paths[part], of: row.entity)
      part += 1
      let found = try row.value(field)
      if found.isNull || value.isNull {
        if found.isNull != value.isNull { return false }
      } else if !found.isEqual(to: value) {
        return false
      }
    }
    return true
  }
}

extension EntityView {
  /// Prepares looking rows up by the properties of a uniqueness constraint, or of an index that is not partial: key
  /// paths, in its order.
  ///
  /// - Throws: ``EngineError/unsupported(_:)`` if the entity and its ancestors have no such constraint or index, or the
  ///   index is not built yet.
  public func lookup(
    _ entity: EntitySchema, by paths: [String], includesSubentities: Bool = true
  ) throws(EngineError) -> IndexLookup {
    let plan = try store.plan(entity.id)
    let unfinished = try unfinishedIndexes(plan)
    var isBuilding = false
    for maker in plan.constraints + plan.indexes where maker.partial == nil && maker.paths == paths {
      if !unfinished.contains(maker.tree) {
        return IndexLookup(self, plan, maker, includesSubentities: includesSubentities)
      }
      isBuilding = true
    }
    var text = ""
    for path in paths { text += text.isEmpty ? path : ", " + path }
    if isBuilding {
      throw .unsupported(
        "the index of \(entity.name) on (\(text)) is not built yet, since a migration has put that off: finish the "
          + "deferred migration, or fetch with a predicate until then")
    }
    throw .unsupported(
      "\(entity.name) has no uniqueness constraint or index on (\(text)): fetch with a predicate instead")
  }
}
