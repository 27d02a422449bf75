import CambiumKernel

/// Lets rows of an entity through that a predicate holds for. Rows of one layout tend to follow one another, so that
/// what was found out about a layout is kept until another one comes.
final class RowSieve {
  private let view: EntityView
  private let plan: EntityPlan
  private let predicate: Predicate?
  private let includesSubentities: Bool
  private let reader: PathReader
  /// By layout: entities that share rows may alternate from row to row.
  private var filters: [UInt16: RowFilter] = [:]
  /// What there is to know about the layout of a row, as plain memory.
  private struct Known {
    var entry: LayoutTable.Entry
    var layoutID: UInt16
    var isMember: Bool
    var program: RowFilter.Program?
    var range: FixedRange?
    var text: TextEquality?
  }

  // Exclusive access is not checked at run time, since a row takes hardly longer than the checks; `offer` is the only
  // method, and `visit` does not come back to it.
  @exclusivity(unchecked) private var known: Known
  @exclusivity(unchecked) private var filter: RowFilter?
  /// The places in a run of rows that may be what is asked for.
  private let passed: UnsafeMutablePointer<Int32>
  private static let passedCount = 128
  /// Whether to end with ``EngineError/cancelled``: asked before each run of rows, and now and then between single
  /// ones.
  var isCancelled: (@Sendable () -> Bool)?
  @exclusivity(unchecked) private var untilAsked = 64
  /// What else rows have to meet, which may become narrower while they are offered: what is outside is of no use any
  /// more.
  @exclusivity(unchecked) var bound: FixedRange?
  /// How many of the rows that are let through are passed over first. Where nothing is asked of rows, whole runs are.
  @exclusivity(unchecked) var offset = 0
  /// What rows of a list have to meet before they are offered here.
  var tests: [RelatedTest] = []

  init(
    _ view: EntityView, _ plan: EntityPlan, _ predicate: Predicate?, includesSubentities: Bool, _ reader: PathReader
  ) throws(EngineError) {
    self.view = view
    self.plan = plan
    self.predicate = predicate
    self.includesSubentities = includesSubentities
    self.reader = reader
    let filter = predicate.map { RowFilter($0, plan.layout, reader) }
    self.filter = filter
    filters[plan.layout.id] = filter
    guard let entry = view.store.borrowedLayout(plan.layout.id) else {
      throw .corrupt("\(plan.entity.name) has no current layout")
    }
    passed = .allocate(capacity: Self.passedCount)
    known = Known(
      entry: entry, layoutID: plan.layout.id, isMember: true, program: filter?.program, range: filter?.firstRange,
      text: filter?.firstText)
  }

  deinit { passed.deallocate() }

  /// Whether asking the predicate may read other rows.
  var readsElsewhere: Bool { filter?.readsElsewhere ?? false || (predicate != nil && plan.sharesRows) }

  /// Whether of most rows a number of their own, or a text, is all that is looked at.
  var readsSparsely: Bool { (known.range ?? bound).map { !$0.isOfElement } ?? (known.text != nil) }

  /// Tells `visit` the rows of a run that the predicate holds for. Answers whether to go on.
  @inline(__always)
  func offer(_ run: LentRun, _ visit: EntityView.Visit) throws(EngineError) -> Bool {
    if let isCancelled, isCancelled() { throw .cancelled }
    if offset > 0, predicate == nil, !plan.sharesRows {
      let passed = min(offset, run.indices.count)
      offset -= passed
      for i in run.indices.dropFirst(passed) where try !offer(run.value(i), run.key(i), visit) { return false }
      return true
    }
    // Rows of another layout pass these, and may bring other ones for the rows behind them: those that were begun
    // with say nothing of theirs.
    guard known.isMember else { return try offerAll(run, visit) }
    // Taken before the first row is offered, which may be one of another entity, of which nothing is asked.
    let (range, first) = (known.range ?? bound, known.text)
    if range == nil, first == nil { return try offerAll(run, visit) }
    // First, for some rows at once, the numbers, or the text: whether a row passes cannot be foreseen, and nothing is
    // to depend on it. Then those that have passed, whose memory is then fetched for several at a time.
    let text = range == nil ? nil : first
    let second = known.range == nil ? nil : bound
    var from = run.indices.lowerBound
    while from < run.indices.upperBound {
      let to = min(from &+ Self.passedCount, run.indices.upperBound)
      let end = isPlanted(.sieveLosesRunEnd) && to == run.indices.upperBound ? to - 1 : to
      let count = range?.passing(run, from..<end, passed) ?? first?.passing(run, from..<end, passed) ?? 0
      from = to
      for n in 0..<count {
        let i = Int(passed[n])
        let bytes = run.value(i)
        if let second, second.excludes(bytes) { continue }
        if let text, text.excludes(bytes) { continue }
        if try !offer(bytes, run.key(i), visit) { return false }
      }
    }
    return true
  }

  private func offerAll(_ run: LentRun, _ visit: EntityView.Visit) throws(EngineError) -> Bool {
    for i in run.indices where try !offer(run.value(i), run.key(i), visit) { return false }
    return true
  }

  /// The same for a single row, of which there are others.
  @inline(__always)
  func offerSingle(
    _ bytes: UnsafeRawBufferPointer, _ row: UInt64, _ visit: EntityView.Visit
  ) throws(EngineError) -> Bool {
    untilAsked &-= 1
    if untilAsked == 0 {
      untilAsked = 64
      if let isCancelled, isCancelled() { throw .cancelled }
    }
    if let bound, bound.excludes(bytes) { return true }
    return try offer(bytes, row, visit)
  }

  /// Tells `visit` the row, if the predicate holds for it. Answers whether to go on.
  @inline(__always)
  func offer(
    _ bytes: UnsafeRawBufferPointer, _ row: UInt64, _ visit: EntityView.Visit
  ) throws(EngineError) -> Bool {
    let id: UInt16
    do throws(StoreError) { id = try RecordView.layoutID(of: bytes) } catch { throw .store(error) }
    if id != known.layoutID {
      guard let entry = view.store.borrowedLayout(id) else {
        return try offerStale(bytes, id, row, visit)
      }
      try change(to: id, entry)
    }
    if !known.isMember { return true }
    let record: RecordView
    var at: Int32 = 0
    do throws(StoreError) {
      record = try RecordView(bytes, layout: known.entry.record)
      if let program = known.program {
        at = try program.run(record, from: program.entry)
        if at < 0, !RowFilter.Program.isYes(at) { return true }
      }
    } catch { throw .store(error) }
    let reference = ObjectReference(entity: known.entry.entityID, row: row)
    if at >= 0, known.program != nil, let filter, try !filter.finish(at, record, reference) { return true }
    return try visit(RowReader(record, known.entry.layout, id, reference))
  }

  /// Offers a row of an earlier layout, projected to the current one.
  @inline(never)
  private func offerStale(
    _ bytes: UnsafeRawBufferPointer, _ id: UInt16, _ row: UInt64, _ visit: EntityView.Visit
  ) throws(EngineError) -> Bool {
    let projected = try view.store.staleLayout(id).project(bytes)
    return try projected.withUnsafeBytesEngine { (b) throws(EngineError) in try offer(b, row, visit) }
  }

  @inline(never)
  private func change(to id: UInt16, _ entry: LayoutTable.Entry) throws(EngineError) {
    let layout = entry.layout.takeUnretainedValue()
    let isMember = view.isMember(layout.entityID, plan, includesSubentities)
    filter = isMember ? filters[id] : nil
    if isMember, filter == nil, let predicate {
      let made = RowFilter(predicate, layout, reader)
      filters[id] = made
      filter = made
    }
    known = Known(
      entry: entry, layoutID: id, isMember: isMember, program: filter?.program, range: filter?.firstRange,
      text: filter?.firstText)
  }
}
