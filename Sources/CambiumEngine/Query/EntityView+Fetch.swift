import CambiumKernel

extension EntityView {
  /// The objects that a fetch finds, in its order.
  ///
  /// - Throws: ``EngineError/predicate(_:)`` and ``EngineError/schema(_:)`` for paths that the model lacks; kernel errors.
  public func fetch(_ fetch: EngineFetch) throws(EngineError) -> [ObjectReference] {
    var found: [ObjectReference] = []
    let plan = try store.plan(fetch.entity.id)
    let predicate = try checked(fetch)
    if let rows = try rowsByIndexAlone(fetch, plan, predicate) {
      found.reserveCapacity(rows.count)
      for row in rows { found.append(ObjectReference(entity: plan.entity.id, row: row)) }
      return found
    }
    try run(fetch) { (row) throws(EngineError) in
      found.append(row.reference)
      return true
    }
    return found
  }

  /// The rows that a fetch finds, in its order.
  public func fetchRows(_ fetch: EngineFetch) throws(EngineError) -> [Row] {
    var found: [Row] = []
    try run(fetch) { (row) throws(EngineError) in
      found.append(row.copy())
      return true
    }
    return found
  }

  /// Lends `body` every row that a fetch finds, in its order and where it lies, until `body` answers false.
  ///
  /// Nothing is copied, unless an order is asked for. `body` should be short, and must not write through a transaction whose
  /// view this is.
  public func forEach(
    _ fetch: EngineFetch, _ body: (borrowing RowReader) throws(EngineError) -> Bool
  ) throws(EngineError) {
    try run(fetch, body)
  }

  /// The number of objects that a fetch would find, offset and limit considered.
  public func count(_ fetch: EngineFetch) throws(EngineError) -> Int {
    let plan = try store.plan(fetch.entity.id)
    var n: Int
    if fetch.predicate == nil, !plan.sharesRows || (fetch.includesSubentities && fetch.entity.parentID == nil) {
      n = Int(clamping: try storing { () throws(StoreError) in try trees.count(plan.rows) })
    } else {
      n = 0
      var all = fetch
      all.sort = []
      all.offset = 0
      all.limit = nil
      if let rows = try rowsByIndexAlone(all, plan, try checked(all)) {
        n = max(0, rows.count - max(0, fetch.offset))
        return fetch.limit.map { min(n, max(0, $0)) } ?? n
      }
      try run(all) { (_) throws(EngineError) in
        n += 1
        return true
      }
    }
    n = max(0, n - max(0, fetch.offset))
    return fetch.limit.map { min(n, max(0, $0)) } ?? n
  }

  /// How a fetch would be done, in a line.
  public func explain(_ fetch: EngineFetch) throws(EngineError) -> String {
    let plan = try store.plan(fetch.entity.id)
    switch try fetchPlan(try checked(fetch), plan) {
    case .scan: return "scan of \(fetch.entity.name)"
    case .rows(let rows): return "\(rows.count) rows of \(fetch.entity.name) by identity"
    case .ranges(_, let name, let ranges, _):
      return "\(ranges.count) ranges of \(name.isEmpty ? "a uniqueness constraint" : "index '\(name)'")"
    }
  }

  private func checked(_ fetch: EngineFetch) throws(EngineError) -> Predicate? {
    guard var predicate = fetch.predicate else { return nil }
    do throws(PredicateError) {
      if predicate.isVolatile { predicate = try predicate.substituting(now: store.kernel.now) }
      return try predicate.check(against: store.schema, entity: fetch.entity.id)
    } catch { throw .predicate(error) }
  }

  typealias Visit = (borrowing RowReader) throws(EngineError) -> Bool

  private func run(_ fetch: EngineFetch, _ visit: Visit) throws(EngineError) {
    let plan = try store.plan(fetch.entity.id)
    let predicate = try checked(fetch)
    let reader = PathReader(view: self)
    reader.prepare(for: predicate)
    // Trees must not change while one of them is gone through, as they would when a path is followed into one.
    _ = try settle()
    let offset = max(0, fetch.offset)
    if let limit = fetch.limit, limit <= 0 { return }
    if !fetch.sort.isEmpty {
      try runSorted(fetch, plan, predicate, reader, visit)
      return
    }
    if offset == 0, fetch.limit == nil {
      try candidates(fetch, plan, predicate, reader, visit)
      return
    }
    var skipped = 0
    var taken = 0
    try candidates(fetch, plan, predicate, reader) { (row) throws(EngineError) in
      if skipped < offset {
        skipped += 1
        return true
      }
      taken += 1
      if try !visit(row) { return false }
      return fetch.limit.map { taken < $0 } ?? true
    }
  }

  /// Tells `visit` every record that matches, until it answers false.
  private func candidates(
    _ fetch: EngineFetch, _ plan: EntityPlan, _ predicate: Predicate?, _ reader: PathReader, _ visit: Visit
  ) throws(EngineError) {
    switch try fetchPlan(predicate, plan) {
    case .scan:
      let sieve = try RowSieve(self, plan, predicate, includesSubentities: fetch.includesSubentities, reader)
      var failure: EngineError?
      try storing { () throws(StoreError) in
        try trees.forEachRun(plan.rows) { (run) throws(StoreError) -> Bool in
          do throws(EngineError) { return try sieve.offer(run, visit) } catch {
            failure = error
            return false
          }
        }
      }
      if let failure { throw failure }
    case .rows(let rows):
      let sieve = try RowSieve(self, plan, predicate, includesSubentities: fetch.includesSubentities, reader)
      try offer(rows, plan, sieve, inPlace: false, visit)
    case .ranges(let tree, _, let ranges, let isExact):
      let rows = try rows(tree, ranges)
      let asked = isExact ? nil : predicate
      let sieve = try RowSieve(self, plan, asked, includesSubentities: fetch.includesSubentities, reader)
      try offer(rows, plan, sieve, inPlace: fetch.sort.isEmpty, visit)
    }
  }

  /// Offers each of some rows, until `visit` has enough. A row is lent in place only where nothing else is read meanwhile:
  /// pages that are read while one is lent cannot be kept in the cache.
  private func offer(
    _ rows: [UInt64], _ plan: EntityPlan, _ sieve: RowSieve, inPlace: Bool, _ visit: Visit
  ) throws(EngineError) {
    var rest = rows[...]
    if inPlace, !sieve.readsElsewhere {
      var failure: EngineError?
      var isDone = true
      try storing { () throws(StoreError) in
        try trees.forEach(plan.rows, of: rest) { (row, bytes) throws(StoreError) -> Bool in
          do throws(EngineError) {
            if try !sieve.offer(bytes, row, visit) { return false }
          } catch {
            failure = error
            return false
          }
          // Rows of other layouts may have to be asked elsewhere; the others then follow by themselves.
          if !sieve.readsElsewhere { return true }
          rest = rest.drop { $0 <= row }
          isDone = false
          return false
        }
      }
      if let failure { throw failure }
      if isDone { return }
    }
    for row in rest {
      let copy = try storing { () throws(StoreError) in try trees.value(plan.rows, row) }
      guard let copy else { continue }
      if try !copy.withUnsafeBytesEngine({ (b) throws(EngineError) in try sieve.offer(b, row, visit) }) { return }
    }
  }

  /// The rows that ranges of an index name, in the order of a scan, so that a fetch without order gives the same whatever
  /// index serves it.
  private func rows(_ tree: TreeID, _ ranges: [KeyRange]) throws(EngineError) -> [UInt64] {
    var rows: [UInt64] = []
    var isAscending = true
    _ = try settle()
    try storing { () throws(StoreError) in
      var last: UInt64 = 0
      for range in ranges {
        try trees.forEachKey(tree, in: range) { (key) throws(StoreError) in
          let row = try KeyDecoder.rowID(atEndOf: key).id
          if row < last { isAscending = false }
          last = row
          rows.append(row)
          return true
        }
      }
    }
    if !isAscending { rows.sort() }
    return rows
  }

  /// What the index alone tells, when it decides the predicate, no order is asked for, and all rows are of one entity:
  /// nil if it does not.
  private func rowsByIndexAlone(
    _ fetch: EngineFetch, _ plan: EntityPlan, _ predicate: Predicate?
  ) throws(EngineError) -> ArraySlice<UInt64>? {
    guard fetch.sort.isEmpty, !plan.sharesRows,
      case .ranges(let tree, _, let ranges, true) = try fetchPlan(predicate, plan)
    else { return nil }
    let rows = try rows(tree, ranges)
    let start = min(max(0, fetch.offset), rows.count)
    let end = fetch.limit.map { min(rows.count - start, max(0, $0)) + start } ?? rows.count
    return rows[start..<end]
  }

  // MARK: Order

  private struct Sorted {
    var keys: [Value]
    var reference: ObjectReference
    var layout: EntityLayout
    var bytes: [UInt8]
  }

  private func runSorted(
    _ fetch: EngineFetch, _ plan: EntityPlan, _ predicate: Predicate?, _ reader: PathReader, _ visit: Visit
  ) throws(EngineError) {
    for key in fetch.sort {
      let schema = store.schema
      let path = try resolving { () throws(SchemaError) in
        try schema.resolve(keyPath: key.keyPath, from: fetch.entity.id)
      }
      if path.isToMany { throw .unsupported("'\(key.keyPath)' leads to several objects and cannot be sorted by") }
      if path.type == .composite {
        throw .unsupported("'\(key.keyPath)' is a composite: sort by one of its elements")
      }
    }
    // Saturating: a limit may be the largest number there is.
    let wanted = fetch.limit.map { limit in
      let (sum, overflow) = max(0, fetch.offset).addingReportingOverflow(max(0, limit))
      return overflow ? Int.max : sum
    }
    var heap: [Sorted] = []
    func precedes(_ a: Sorted, _ b: Sorted) -> Bool {
      for i in fetch.sort.indices {
        let order = fetch.sort[i].order(a.keys[i], b.keys[i])
        if order != 0 { return fetch.sort[i].isAscending ? order < 0 : order > 0 }
      }
      return a.reference.row < b.reference.row
    }
    try candidates(fetch, plan, predicate, reader) { (row) throws(EngineError) in
      var keys: [Value] = []
      for key in fetch.sort {
        keys.append(key.key(try reader.value(key.keyPath, row.record, row.layout, row.reference)))
      }
      let entry = Sorted(keys: keys, reference: row.reference, layout: row.layout, bytes: [])
      // With a limit, keep about twice as many as wanted and throw the rest away now and then.
      if let wanted, heap.count / 2 >= wanted, heap.count >= 64 {
        heap.sort(by: precedes)
        heap.removeLast(heap.count - wanted)
      }
      var kept = entry
      kept.bytes = Array(row.record.bytes)
      heap.append(kept)
      return true
    }
    heap.sort(by: precedes)
    let end = wanted.map { min($0, heap.count) } ?? heap.count
    let start = min(max(0, fetch.offset), end)
    for entry in heap[start..<end] {
      let goOn = try entry.bytes.withUnsafeBytesEngine { (b) throws(EngineError) -> Bool in
        let record = try storing { () throws(StoreError) in try RecordView(b, layout: entry.layout.record) }
        return try visit(RowReader(record, entry.layout, entry.reference))
      }
      if !goOn { return }
    }
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
