import CambiumKernel

extension EntityView {
  /// The objects that a fetch finds, in its order.
  ///
  /// - Throws: ``EngineError/predicate(_:)`` and ``EngineError/schema(_:)`` for paths that the model lacks; kernel errors.
  public func fetch(_ fetch: EngineFetch) throws(EngineError) -> [ObjectReference] {
    var found: [ObjectReference] = []
    try run(fetch) { (record, layout, reference) throws(EngineError) in
      found.append(reference)
      return true
    }
    return found
  }

  /// The rows that a fetch finds, in its order.
  public func fetchRows(_ fetch: EngineFetch) throws(EngineError) -> [Row] {
    var found: [Row] = []
    try run(fetch) { (record, layout, reference) throws(EngineError) in
      found.append(Row(reference: reference, layout: layout, bytes: Array(record.bytes)))
      return true
    }
    return found
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
      try run(all) { (_, _, _) throws(EngineError) in
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
    switch FetchPlan(try checked(fetch), plan, keyLimit: store.kernel.maxKeyLength) {
    case .scan: return "scan of \(fetch.entity.name)"
    case .rows(let rows): return "\(rows.count) rows of \(fetch.entity.name) by identity"
    case .ranges(_, let name, let ranges):
      return "\(ranges.count) ranges of \(name.isEmpty ? "a uniqueness constraint" : "index '\(name)'")"
    }
  }

  private func checked(_ fetch: EngineFetch) throws(EngineError) -> Predicate? {
    guard let predicate = fetch.predicate else { return nil }
    do throws(PredicateError) {
      return try predicate.check(against: store.schema, entity: fetch.entity.id)
    } catch { throw .predicate(error) }
  }

  typealias Visit = (RecordView, EntityLayout, ObjectReference) throws(EngineError) -> Bool

  private func run(_ fetch: EngineFetch, _ visit: Visit) throws(EngineError) {
    let plan = try store.plan(fetch.entity.id)
    let predicate = try checked(fetch)
    let reader = PathReader(view: self)
    let offset = max(0, fetch.offset)
    if let limit = fetch.limit, limit <= 0 { return }
    if !fetch.sort.isEmpty {
      try runSorted(fetch, plan, predicate, reader, visit)
      return
    }
    var skipped = 0
    var taken = 0
    try candidates(fetch, plan, predicate, reader) { (record, layout, reference) throws(EngineError) in
      if skipped < offset {
        skipped += 1
        return true
      }
      taken += 1
      if try !visit(record, layout, reference) { return false }
      return fetch.limit.map { taken < $0 } ?? true
    }
  }

  /// Tells `visit` every record that matches, until it answers false.
  private func candidates(
    _ fetch: EngineFetch, _ plan: EntityPlan, _ predicate: Predicate?, _ reader: PathReader, _ visit: Visit
  ) throws(EngineError) {
    func offer(_ bytes: UnsafeRawBufferPointer, _ row: UInt64) throws(EngineError) -> Bool {
      let layout = try layout(of: bytes)
      guard isMember(layout.entity.id, plan, fetch.includesSubentities) else { return true }
      let record = try storing { () throws(StoreError) in try RecordView(bytes, layout: layout.record) }
      let reference = ObjectReference(entity: layout.entity.id, row: row)
      if let predicate, try !reader.matches(predicate, record, layout, reference) { return true }
      return try visit(record, layout, reference)
    }
    func offer(row: UInt64) throws(EngineError) -> Bool {
      let bytes = try storing { () throws(StoreError) in try trees.value(plan.rows, row) }
      guard let bytes else { return true }
      return try bytes.withUnsafeBytesEngine { (b) throws(EngineError) in try offer(b, row) }
    }
    switch FetchPlan(predicate, plan, keyLimit: store.kernel.maxKeyLength) {
    case .scan:
      let cursor = try storing { () throws(StoreError) in try trees.cursor(plan.rows) }
      var more = try storing { () throws(StoreError) in try cursor.seekFirst() }
      while more {
        let row = cursor.integerKey
        var failure: EngineError?
        let goOn = try storing { () throws(StoreError) in
          try cursor.withValue { (b) throws(StoreError) -> Bool in
            do throws(EngineError) { return try offer(b, row) } catch {
              failure = error
              return false
            }
          }
        }
        if let failure { throw failure }
        if goOn == false { return }
        more = try storing { () throws(StoreError) in try cursor.next() }
      }
    case .rows(let rows):
      for row in rows where try !offer(row: row) { return }
    case .ranges(let tree, _, let ranges):
      var rows: [UInt64] = []
      try storing { () throws(StoreError) in
        let cursor = try trees.cursor(tree)
        for range in ranges {
          var more = try cursor.seek(range.lower)
          while more {
            if let upper = range.upper, upper.withUnsafeBytes({ compareKeys(cursor.key, $0) >= 0 }) { break }
            rows.append(try KeyDecoder.rowID(atEndOf: cursor.key).id)
            more = try cursor.next()
          }
        }
      }
      // In the order of a scan, so that a fetch without order gives the same whatever index serves it.
      rows.sort()
      for row in rows where try !offer(row: row) { return }
    }
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
    let wanted = fetch.limit.map { max(0, fetch.offset) + $0 }
    var heap: [Sorted] = []
    func precedes(_ a: Sorted, _ b: Sorted) -> Bool {
      for i in fetch.sort.indices {
        let order = a.keys[i].sortOrder(b.keys[i])
        if order != 0 { return fetch.sort[i].isAscending ? order < 0 : order > 0 }
      }
      return a.reference.row < b.reference.row
    }
    try candidates(fetch, plan, predicate, reader) { (record, layout, reference) throws(EngineError) in
      var keys: [Value] = []
      for key in fetch.sort { keys.append(try reader.value(key.keyPath, record, layout, reference)) }
      let entry = Sorted(keys: keys, reference: reference, layout: layout, bytes: [])
      // With a limit, keep about twice as many as wanted and throw the rest away now and then.
      if let wanted, heap.count >= wanted * 2 + 64 {
        heap.sort(by: precedes)
        heap.removeLast(heap.count - wanted)
      }
      var kept = entry
      kept.bytes = Array(record.bytes)
      heap.append(kept)
      return true
    }
    heap.sort(by: precedes)
    let end = wanted.map { min($0, heap.count) } ?? heap.count
    let start = min(max(0, fetch.offset), end)
    for entry in heap[start..<end] {
      let goOn = try entry.bytes.withUnsafeBytesEngine { (b) throws(EngineError) -> Bool in
        let record = try storing { () throws(StoreError) in try RecordView(b, layout: entry.layout.record) }
        return try visit(record, entry.layout, entry.reference)
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
