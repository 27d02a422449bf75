import CambiumKernel

/// Lets rows of an entity through that a predicate holds for. Rows of one layout tend to follow one another, so that what
/// was found out about a layout is kept until another one comes.
final class RowSieve {
  private let view: EntityView
  private let plan: EntityPlan
  private let predicate: Predicate?
  private let includesSubentities: Bool
  private let reader: PathReader
  // Exclusive access is not checked at run time, since a row takes hardly longer than the checks; `offer` is the only
  // method, and `visit` does not come back to it.
  @exclusivity(unchecked) private var layout: EntityLayout
  @exclusivity(unchecked) private var layoutID: UInt16
  @exclusivity(unchecked) private var isMember = false
  @exclusivity(unchecked) private var filter: RowFilter?

  init(
    _ view: EntityView, _ plan: EntityPlan, _ predicate: Predicate?, includesSubentities: Bool, _ reader: PathReader
  ) {
    self.view = view
    self.plan = plan
    self.predicate = predicate
    self.includesSubentities = includesSubentities
    self.reader = reader
    layout = plan.layout
    layoutID = plan.layout.id
    isMember = true
    filter = predicate.map { RowFilter($0, plan.layout, reader) }
  }

  /// Whether asking the predicate may read other rows.
  var readsElsewhere: Bool { filter?.isSlow ?? false || (predicate != nil && plan.sharesRows) }

  /// Tells `visit` the row, if the predicate holds for it. Answers whether to go on.
  @inline(__always)
  func offer(
    _ bytes: UnsafeRawBufferPointer, _ row: UInt64, _ visit: EntityView.Visit
  ) throws(EngineError) -> Bool {
    let id: UInt16
    do throws(StoreError) { id = try RecordView.layoutID(of: bytes) } catch { throw .store(error) }
    if id != layoutID { try change(to: id) }
    if !isMember { return true }
    let record: RecordView
    do throws(StoreError) { record = try RecordView(bytes, layout: layout.record) } catch { throw .store(error) }
    let reference = ObjectReference(entity: layout.entityID, row: row)
    if let filter, try !filter.matches(record, reference) { return true }
    return try visit(RowReader(record, layout, reference))
  }

  @inline(never)
  private func change(to id: UInt16) throws(EngineError) {
    layout = try view.store.layout(id)
    layoutID = id
    isMember = view.isMember(layout.entityID, plan, includesSubentities)
    filter = isMember ? predicate.map { RowFilter($0, layout, reader) } : nil
  }
}
