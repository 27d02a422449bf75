import CambiumKernel

// Rows in place: lent for a call, without a copy.

extension EntityView {
  /// Lends the row of an object to `body`, where it lies; nil if there is none. O(log n), without allocations.
  ///
  /// `reference` may name any entity of the object's hierarchy. `body` should be short: memory is not used again while
  /// it runs. It may read the view, though what it reads then stays out of the cache, but must not write.
  ///
  /// - Throws: Kernel errors; what `body` throws.
  @inlinable
  public func withRow<R>(
    _ reference: ObjectReference, _ body: (borrowing RowReader) throws(EngineError) -> R
  ) throws(EngineError) -> R? {
    switch try borrowRow(reference) {
    case .none: return nil
    case .row(let reader, let value):
      defer { giveBack(value) }
      return try body(reader)
    case .stale(let value):
      defer { giveBack(value) }
      var result: R?
      try lendStale(value, reference.row) { (reader) throws(EngineError) in result = try body(reader) }
      return result
    case .elsewhere:
      var result: R?
      try lendElsewhere(reference) { (reader) throws(EngineError) in result = try body(reader) }
      return result
    }
  }

  @usableFromInline
  final func borrowRow(_ reference: ObjectReference) throws(EngineError) -> RowLoan {
    if store.sharesTrees { return try borrowOwnRow(reference) }
    return try borrowRow(try store.rows(of: reference.entity), reference.row)
  }

  /// The same where the row that is found may be one of another hierarchy, which is not lent.
  @inline(never)
  private final func borrowOwnRow(_ reference: ObjectReference) throws(EngineError) -> RowLoan {
    let plan = try store.plan(reference.entity)
    let loan = try borrowRow(plan.rows, reference.row)
    switch consume loan {
    case .row(let row, let value):
      if plan.isInHierarchy(row.reference.entity) { return .row(row, value) }
      trees.giveBack(value)
      return .none
    case .stale(let value):
      do throws(EngineError) {
        if let bytes = value.bytes, plan.isInHierarchy(try layout(of: bytes).entityID) { return .stale(value) }
      } catch {
        trees.giveBack(value)
        throw error
      }
      trees.giveBack(value)
      return .none
    case .elsewhere: return .elsewhere
    case .none: return .none
    }
  }

  @usableFromInline
  final func giveBack(_ value: LentValue) { trees.giveBack(value) }

  @usableFromInline
  final func lendElsewhere(
    _ reference: ObjectReference, _ body: (borrowing RowReader) throws(EngineError) -> Void
  ) throws(EngineError) {
    let plan = try store.plan(reference.entity)
    _ = try lendCopy(plan.rows, reference.row) { (row) throws(EngineError) in
      if plan.isInHierarchy(row.reference.entity) { try body(row) }
    }
  }

  /// Looks a row up that is to be lent where it lies, if it can be.
  @inline(__always)
  final func borrowRow(_ rows: TreeID, _ id: UInt64) throws(EngineError) -> RowLoan {
    if !lendsInPlace { return .elsewhere }
    let value: LentValue
    do throws(StoreError) { value = try trees.lend(rows, id) } catch { throw .store(error) }
    guard let bytes = value.bytes else { return value.isLarge ? .elsewhere : .none }
    do throws(EngineError) {
      if let row = try reader(bytes, id) { return .row(row, value) }
    } catch {
      trees.giveBack(value)
      throw error
    }
    return .stale(value)
  }

  /// Lends a row whose bytes are at hand.
  @inline(__always)
  final func lend<R>(
    _ bytes: UnsafeRawBufferPointer, _ id: UInt64, _ body: (borrowing RowReader) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    if let row = try reader(bytes, id) { return try body(row) }
    return try lendStale(bytes, id, body)
  }

  /// A row whose bytes are at hand, to be read as long as they are; nil if its layout is an earlier one, so that it has
  /// to be lent.
  @inline(__always)
  final func reader(_ bytes: UnsafeRawBufferPointer, _ id: UInt64) throws(EngineError) -> RowReader? {
    do throws(StoreError) {
      let layoutID = try RecordView.layoutID(of: bytes)
      guard let layout = store.borrowedLayout(layoutID) else { return nil }
      let record = try RecordView(bytes, layout: layout.record)
      return RowReader(record, layout.layout, layoutID, ObjectReference(entity: layout.entityID, row: id))
    } catch { throw .store(error) }
  }

  /// The same where the row lies as it was lent.
  @usableFromInline @inline(never)
  final func lendStale(
    _ value: LentValue, _ id: UInt64, _ body: (borrowing RowReader) throws(EngineError) -> Void
  ) throws(EngineError) {
    if let bytes = value.bytes { try lendStale(bytes, id, body) }
  }

  /// Lends a row of an earlier layout, projected to the current one.
  @inline(never)
  private final func lendStale<R>(
    _ bytes: UnsafeRawBufferPointer, _ id: UInt64, _ body: (borrowing RowReader) throws(EngineError) -> R
  ) throws(EngineError) -> R {
    let layout: UInt16
    do throws(StoreError) { layout = try RecordView.layoutID(of: bytes) } catch { throw .store(error) }
    let projected = try store.staleLayout(layout).project(bytes)
    return try projected.withUnsafeBytesEngine { (b) throws(EngineError) in try lend(b, id, body) }
  }
}
