import CambiumKernel

extension EntityView {
  /// The objects that a fetch finds, in its order.
  ///
  /// - Throws: ``EngineError/predicate(_:)`` and ``EngineError/schema(_:)`` for paths that the model lacks; kernel
  ///   errors.
  public func fetch(_ fetch: EngineFetch) throws(EngineError) -> [ObjectReference] {
    var found: [ObjectReference] = []
    let plan = try store.plan(fetch.entity.id)
    let chosen = try choose(fetch, for: .identifiers)
    if fetch.sort.isEmpty, let rows = try rowsAlone(chosen, plan) {
      let range = fetch.range(of: rows.count)
      found.reserveCapacity(range.count)
      for row in rows[range] { found.append(ObjectReference(entity: plan.entity.id, row: row)) }
      return found
    }
    if !fetch.sort.isEmpty, chosen.nearest == nil {
      try forEachSorted(fetch, chosen, needsRows: false) { (rows) throws(EngineError) in
        for reference in rows.references { found.append(PackedReference.unpack(reference)) }
        return true
      }
      return found
    }
    if fetch.wantsAll, let scan = concurrentScan(fetch, chosen, plan) {
      for part in try scan.gather([] as [ObjectReference], { (row, found) in found.append(row.reference) }) {
        found += part
      }
      return found
    }
    try run(fetch, chosen) { (row) throws(EngineError) in
      found.append(row.reference)
      return true
    }
    return found
  }

  /// The rows that a fetch finds, in its order.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func fetchRows(_ fetch: EngineFetch) throws(EngineError) -> [Row] { try findRows(fetch).array }

  /// The same, to be gone through, without a list of all rows.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func findRows(_ fetch: EngineFetch) throws(EngineError) -> FoundRows {
    var found: FoundRows?
    try forEachFound(fetch) { rows, _ in
      if found == nil { found = rows } else { found?.append(rows) }
    }
    return found ?? FoundRows()
  }

  /// Lends `body` every row that a fetch finds, in its order and where it lies, until `body` answers false.
  ///
  /// Nothing is copied, unless an order is asked for or several threads look for few rows among many. `body` should be
  /// short, and must not write through a transaction whose view this is.
  public func forEach(
    _ fetch: EngineFetch, _ body: (borrowing RowReader) throws(EngineError) -> Bool
  ) throws(EngineError) {
    try run(fetch, nil, body)
  }

  /// The number of objects that a fetch would find, offset and limit considered.
  public func count(_ fetch: EngineFetch) throws(EngineError) -> Int {
    let plan = try store.plan(fetch.entity.id)
    if fetch.predicate == nil, !plan.sharesRows || (fetch.includesSubentities && plan.hasTreeAlone) {
      let n = Int(clamping: try storing { () throws(StoreError) in try trees.count(plan.rows) })
      return fetch.range(of: n).count
    }
    var all = fetch
    all.sort = []
    all.offset = 0
    all.limit = nil
    let chosen = try choose(all, for: .count)
    if let n = try countAlone(chosen, plan, usesIndexes: fetch.usesIndexes) { return fetch.range(of: n).count }
    var n = 0
    // Who wants to know no more than that there are so many need not see the others.
    let enough = fetch.limit.map { max(0, $0).addingSaturating(max(0, fetch.offset)) } ?? .max
    if enough == 0 { return 0 }
    if enough == .max, let scan = concurrentScan(all, chosen, plan) {
      for part in try scan.gather(0, { (_, n) in n += 1 }) { n += part }
      return fetch.range(of: n).count
    }
    try run(all, chosen) { (_) throws(EngineError) in
      n += 1
      return n < enough
    }
    return fetch.range(of: n).count
  }

  func checked(_ fetch: EngineFetch) throws(EngineError) -> Predicate? {
    guard var predicate = fetch.predicate else { return nil }
    do throws(PredicateError) {
      if predicate.isVolatile { predicate = try predicate.substituting(now: store.kernel.now) }
      return try predicate.check(against: store.schema, entity: fetch.entity.id)
    } catch { throw .predicate(error) }
  }

  typealias Visit = (borrowing RowReader) throws(EngineError) -> Bool

  /// What the caller wants of a fetch: rows to read, identifiers alone, or the number of rows.
  enum Use { case rows, identifiers, count }

  /// Chooses how a fetch is done.
  func choose(_ fetch: EngineFetch, for use: Use = .rows) throws(EngineError) -> FetchPlan {
    let predicate = try checked(fetch)
    // Trees must not change while one of them is gone through, as they would when a path is followed into one.
    _ = try settle()
    var chosen = FetchPlan(path: .scan, residual: predicate, rows: 0, cost: 0)
    if fetch.usesIndexes {
      let wanted = fetch.limit.map { max(0, $0).addingSaturating(max(0, fetch.offset)) }
      chosen = try FetchPlanner(self, fetch.entity, costs: fetch.costs, fetch.isCancelled)
        .choose(
          predicate, wanted: wanted, shown: use == .rows ? fetch.limit.map { max(0, $0) } ?? .max : 0,
          sort: fetch.sort, isCount: use == .count)
    }
    chosen.isCancelled = fetch.isCancelled
    chosen.usesIndexes = fetch.usesIndexes
    return chosen
  }

  /// A reader for the rows of a plan.
  func reader(for chosen: FetchPlan) -> PathReader {
    let reader = PathReader(view: self)
    reader.isCancelled = chosen.isCancelled
    reader.usesIndexes = chosen.usesIndexes
    reader.prepare(for: chosen.residual)
    return reader
  }

  private func concurrentScan(
    _ fetch: EngineFetch, _ chosen: FetchPlan, _ plan: EntityPlan
  ) -> ConcurrentScan? {
    ConcurrentScan(self, chosen, plan, includesSubentities: fetch.includesSubentities)
  }

  func run(_ fetch: EngineFetch, _ known: FetchPlan?, _ visit: Visit) throws(EngineError) {
    let plan = try store.plan(fetch.entity.id)
    let chosen: FetchPlan
    if let known { chosen = known } else { chosen = try choose(fetch) }
    let offset = max(0, fetch.offset)
    // An order that there is not is refused also where nothing is wanted.
    if let limit = fetch.limit, limit <= 0, fetch.sort.isEmpty || chosen.nearest != nil { return }
    var skipped = 0
    var taken = 0
    func part(_ row: borrowing RowReader) throws(EngineError) -> Bool {
      if skipped < offset {
        skipped += 1
        return true
      }
      taken += 1
      if try !visit(row) { return false }
      return fetch.limit.map { taken < $0 } ?? true
    }
    if !fetch.sort.isEmpty {
      if let nearest = chosen.nearest {
        try forEach(nearest, fetch, chosen, reader(for: chosen)) { (row) throws(EngineError) in try part(row) }
      } else {
        try forEachSorted(fetch, chosen, needsRows: true) { (rows) throws(EngineError) in
          try lend(rows, plan, chosen.isCancelled, visit)
        }
      }
    } else if chosen.residual != nil, fetch.wantsAll, let scan = concurrentScan(fetch, chosen, plan) {
      try scan.forEach(visit)
    } else if offset == 0, fetch.limit == nil {
      try candidates(
        chosen, plan, includesSubentities: fetch.includesSubentities, reader(for: chosen), readsElsewhere: false, visit)
    } else {
      let sieve = try sieve(chosen, plan, includesSubentities: fetch.includesSubentities, reader(for: chosen))
      if chosen.path.isScan, chosen.residual == nil, !plan.sharesRows {
        sieve.offset = offset
        skipped = offset
      }
      try candidates(chosen, plan, sieve, readsElsewhere: false) { (row) throws(EngineError) in try part(row) }
    }
  }

  /// The rows of a plan that decides the predicate without looking at them, if all are of one entity; else nil.
  private func rowsAlone(_ chosen: FetchPlan, _ plan: EntityPlan) throws(EngineError) -> [UInt64]? {
    guard chosen.residual == nil, !plan.sharesRows, !chosen.path.mayNameMissingRows else { return nil }
    return try rows(of: chosen.path, isCancelled: chosen.isCancelled)
  }

  /// The same for their number, which ranges tell without their entries being gone through.
  private func countAlone(_ chosen: FetchPlan, _ plan: EntityPlan, usesIndexes: Bool) throws(EngineError) -> Int? {
    if plan.sharesRows { return nil }
    if let residual = chosen.residual { return usesIndexes ? try linkCount(residual, chosen, plan) : nil }
    var n: UInt64 = 0
    switch chosen.path {
    case .ranges(let ranges):
      for range in ranges.ranges {
        n += try storing { () throws(StoreError) in try trees.count(ranges.maker.tree, in: range) }
      }
    case .related(let related):
      guard case .toOne(let tree) = related.way, let ends = related.known else {
        return try rowsAlone(chosen, plan)?.count
      }
      for end in ends {
        let range = KeyRange(rowsOf: end)
        n += try storing { () throws(StoreError) in try trees.count(tree, in: range) }
      }
    default: return try rowsAlone(chosen, plan)?.count
    }
    return Int(clamping: n)
  }
}

extension EntityView {
  /// How many rows of a scan lead nowhere by a to-one relationship, or anywhere, if that is the only condition: the
  /// tree of the way back has an entry for each row that leads anywhere.
  private func linkCount(
    _ residual: Predicate, _ chosen: FetchPlan, _ plan: EntityPlan
  ) throws(EngineError) -> Int? {
    guard chosen.path.isScan, let about = Conjunct(residual).about, about.value.isNull,
      let relationship = plan.entity.relationship(named: about.path),
      case .rowAndTree = RelationshipStorage(relationship, in: store.schema),
      let tree = store.catalogue.relationships[relationship.id]
    else { return nil }
    let links = try storing { () throws(StoreError) in try trees.count(tree) }
    switch about.comparator {
    case .notEqual: return Int(clamping: links)
    case .equal:
      let rows = try storing { () throws(StoreError) in try trees.count(plan.rows) }
      return Int(clamping: rows - min(rows, links))
    default: return nil
    }
  }
}

extension Int {
  /// The sum, or the largest number there is.
  func addingSaturating(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}

extension EngineFetch {
  /// Whether every row that is found is wanted, in the order of a scan.
  var wantsAll: Bool { sort.isEmpty && offset <= 0 && limit == nil }

  /// Which of so many results are wanted.
  func range(of count: Int) -> Range<Int> {
    let start = Swift.min(Swift.max(0, offset), count)
    let end = limit.map { Swift.min(count - start, Swift.max(0, $0)) + start } ?? count
    return start..<end
  }
}

extension Value {
  /// The order of sorting: null first, then by ``compare(to:)``; what does not compare counts as equal.
  func sortOrder(_ other: Value) -> Int {
    switch (isNull, other.isNull) {
    case (true, true): return 0
    case (true, false): return -1
    case (false, true): return 1
    default: return Int(compare(to: other)?.rawValue ?? 0)
    }
  }
}
