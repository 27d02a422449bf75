import CambiumKernel

/// Fetches in an order.
extension EntityView {
  /// Refuses keys that have no order.
  func requireSortable(_ fetch: EngineFetch) throws(EngineError) {
    let schema = store.schema
    let plan = try store.plan(fetch.entity.id)
    for key in fetch.sort {
      if key.origin == nil, let (_, attribute) = store.column(key.keyPath, of: plan), attribute.type != .composite {
        continue
      }
      if key.keyPath.utf8.split(separator: UInt8(ascii: ".")).contains(where: { $0.first == UInt8(ascii: "@") }) {
        throw .unsupported("'\(key.keyPath)' cannot be sorted by: an attribute that is derived from it can")
      }
      let path = try resolving { () throws(SchemaError) in
        try schema.resolve(keyPath: key.keyPath, from: fetch.entity.id)
      }
      if path.isToMany { throw .unsupported("'\(key.keyPath)' leads to several objects and cannot be sorted by") }
      if key.origin != nil {
        guard path.isPlace else {
          throw .unsupported(
            "'\(key.keyPath)' has no distance: that takes a composite with numbers 'latitude' and 'longitude'")
        }
      } else if path.type == .composite {
        throw .unsupported("'\(key.keyPath)' is a composite: sort by one of its elements")
      }
    }
  }

  /// Hands `body` the rows of a fetch in its order, offset and limit considered: all at once, or a stretch of an
  /// index after the other, until it answers false.
  ///
  /// - Parameter needsRows: Whether the rows are to be lent.
  func forEachSorted(
    _ fetch: EngineFetch, _ chosen: FetchPlan, needsRows: Bool,
    _ body: (SortedRows) throws(EngineError) -> Bool
  ) throws(EngineError) {
    let plan = try store.plan(fetch.entity.id)
    // Types that an index keeps in order always have an order, so that only other keys have to be checked.
    if !(chosen.order?.sortsAll ?? false) { try requireSortable(fetch) }
    var offset = max(0, fetch.offset)
    var limit = fetch.limit.map { max(0, $0) } ?? .max
    if limit == 0 { return }
    let reader = reader(for: chosen)
    guard let order = chosen.order else {
      _ = try body(gatherSorted(fetch, plan, chosen, reader, needsRows).part(offset: offset, limit: limit))
      return
    }
    let sieve = try RowSieve(self, plan, chosen.residual, includesSubentities: fetch.includesSubentities, reader)
    sieve.isCancelled = chosen.isCancelled
    let walk = try OrderWalk(self, order, chosen.isCancelled)
    var passed = 0
    var shown = 0
    let enough = rowsBeforeSorting(chosen, fetch)
    var size = min(max(limit.addingSaturating(offset), Self.leastStretch), Self.firstStretch)
    while limit > 0, let stretch = try walk.next(size) {
      passed += stretch.rows.count
      size = min(size * 2, Self.mostStretch, max(Self.leastStretch, enough - passed))
      var sorted = SortedRows(references: [], copies: nil)
      if stretch.isInOrder, chosen.residual == nil, !plan.sharesRows {
        let rows = stretch.rows.dropFirst(offset).prefix(limit)
        offset -= min(offset, stretch.rows.count)
        sorted.references = rows.map { PackedReference.pack(ObjectReference(entity: plan.entity.id, row: $0)) }[...]
      } else {
        // Of very many rows with the same first keys, no more are kept than are wanted.
        let wanted = fetch.limit.map { _ in offset.addingSaturating(limit) }
        let sorter = RowSorter(self, fetch.sort, plan.layout, wanted: wanted, copiesRows: needsRows)
        try offer(stretch.rows.sorted(), plan, sieve, inPlace: !readsElsewhere(fetch.sort, plan)) {
          (row) throws(EngineError) in
          _ = try sorter.take(row)
          return true
        }
        sorted = sorter.finish().part(offset: offset, limit: limit)
        offset -= min(offset, sorter.count)
      }
      limit -= sorted.references.count
      shown += sorted.references.count
      if !sorted.references.isEmpty, try !body(sorted) { return }
      if limit > 0, passed >= enough, let sorting = chosen.sorting.first {
        // The rows that were shown are the first ones in the order of the other plan's result as well.
        var other = sorting
        (other.isCancelled, other.usesIndexes) = (chosen.isCancelled, chosen.usesIndexes)
        let rest = try gatherSorted(fetch, plan, other, self.reader(for: other), needsRows)
        _ = try body(rest.part(offset: max(0, fetch.offset).addingSaturating(shown), limit: limit))
        return
      }
    }
  }

  /// After how many rows of an index the plan that sorts would have cost less. The planner does not know how rarely a
  /// condition holds that no index decides.
  private func rowsBeforeSorting(_ chosen: FetchPlan, _ fetch: EngineFetch) -> Int {
    guard chosen.residual != nil, fetch.limit != nil, let sorting = chosen.sorting.first else { return .max }
    return Int(min(sorting.cost / (fetch.costs.key + fetch.costs.soughtRow), 1e9))
  }

  /// How many rows a stretch of an index has at least, how many the first one has at most, and how many any has,
  /// unless more of them have equal keys.
  private static var leastStretch: Int { 32 }
  private static var firstStretch: Int { 4096 }
  private static var mostStretch: Int { 1 << 16 }

  /// Whether keys may be those of other objects. Elements of a composite are the row's own.
  private func readsElsewhere(_ sort: [EngineSort], _ plan: EntityPlan) -> Bool {
    sort.contains { key in
      guard let dot = key.keyPath.utf8.firstIndex(of: UInt8(ascii: ".")) else { return false }
      return plan.entity.attribute(named: String(key.keyPath[..<dot])) == nil
    }
  }

  /// Gathers what a plan finds and puts it in order.
  private func gatherSorted(
    _ fetch: EngineFetch, _ plan: EntityPlan, _ chosen: FetchPlan, _ reader: PathReader, _ needsRows: Bool
  ) throws(EngineError) -> SortedRows {
    let sort = fetch.sort
    let wanted = fetch.limit.map { max(0, $0).addingSaturating(max(0, fetch.offset)) }
    let sorter = RowSorter(self, sort, plan.layout, wanted: wanted, copiesRows: needsRows)
    let sieve = try sieve(chosen, plan, includesSubentities: fetch.includesSubentities, reader)
    let firstField = sort[0].origin == nil ? reader.field(sort[0].keyPath, plan.layout) : nil
    try candidates(chosen, plan, sieve, readsElsewhere: readsElsewhere(sort, plan)) { (row) throws(EngineError) in
      if try sorter.take(row), let firstField, let number = sorter.lastNumber {
        if let bound = bound(sort, number, firstField, plan.layout) { sieve.bound = bound }
      }
      return true
    }
    return sorter.finish()
  }

  /// The numbers in a field that come before the first key of the last row that is wanted, or may come with it: the
  /// others need not be looked at more closely. Nil where the encoded row does not tell.
  private func bound(
    _ sort: [EngineSort], _ last: UInt64, _ field: (path: FieldPath, attribute: AttributeSchema), _ layout: EntityLayout
  ) -> FixedRange? {
    let record = BorrowedLayout(layout.record)
    // Rows come in ascending order: of several with the same only key, those that come later are behind those that
    // are kept.
    let step: UInt64 = sort.count == 1 ? 1 : 0
    let isAscending = sort[0].isAscending
    if step == 1, last == (isAscending ? 0 : .max) { return nil }
    let isInteger: Bool
    switch field.attribute.type {
    case .integer16, .integer32, .integer64: isInteger = true
    case .double, .float, .date: isInteger = false
    default: return nil
    }
    // Integers are compared with their sign, and the words of an order have it reversed.
    let sign: UInt64 = isInteger ? 1 << 63 : 0
    // Null comes first, and is never behind a number in ascending order.
    let (low, high) = isAscending ? (sign, (last &- step) ^ sign) : ((last &+ step) ^ sign, .max ^ sign)
    let path = field.path
    if path.depth == 2 {
      return FixedRange(record, outer: path[0], path.leaf, low: low, high: high, includesNull: isAscending)
    }
    guard path.depth == 1, let fixed = FixedField(record, path.leaf) else { return nil }
    return FixedRange(record, fixed, low: low, high: high, includesNull: isAscending)
  }

  // MARK: Lending

  /// Lends `visit` rows in their order. Answers whether to go on.
  func lend(
    _ sorted: SortedRows, _ plan: EntityPlan, _ isCancelled: (@Sendable () -> Bool)?, _ visit: Visit
  ) throws(EngineError) -> Bool {
    guard let copies = sorted.copies else { return try lendLate(sorted.references, plan, isCancelled, visit) }
    for (reference, number) in zip(sorted.references, copies.numbers) {
      let goesOn = try copies.bytes.withBytes(Int(number)) { (bytes) throws(EngineError) in
        try lend(bytes, PackedReference.unpack(reference).row) { (row) throws(EngineError) in try visit(row) }
      }
      if !goesOn { return false }
    }
    return true
  }

  /// Copies of rows take about so many bytes, as far as the rows before tell; and so many rows are read at first.
  private static var mostLate: Int { 1 << 22 }
  private static var firstLate: Int { 32 }
  /// Fewer rows are lent where they lie.
  private static var fewLate: Int { 256 }

  /// Reads rows whose order is known, and lends them. It reads many together, in the order of their numbers, because a
  /// page has many rows.
  private func lendLate(
    _ references: ArraySlice<UInt64>, _ plan: EntityPlan, _ isCancelled: (@Sendable () -> Bool)?, _ visit: Visit
  ) throws(EngineError) -> Bool {
    if references.count <= Self.fewLate {
      var goesOn = true
      var failure: EngineError?
      try storing { () throws(StoreError) in
        let rows = references.map { PackedReference.unpack($0).row }
        try trees.forEach(plan.rows, of: rows[...]) { (row, bytes) throws(StoreError) in
          do throws(EngineError) {
            goesOn = try lend(bytes, row) { (row) throws(EngineError) in try visit(row) }
          } catch { failure = error }
          return goesOn && failure == nil
        }
      }
      if let failure { throw failure }
      return goesOn
    }
    var copies = RowCopies()
    var rest = references
    var size = Self.firstLate
    while !rest.isEmpty {
      if let isCancelled, isCancelled() { throw .cancelled }
      let rows = rest.prefix(size).map { PackedReference.unpack($0).row }
      rest = rest.dropFirst(size)
      var places: [UInt32] = []
      for place in rows.indices { places.append(UInt32(truncatingIfNeeded: place)) }
      RadixSort.sort(&places, by: rows)
      copies.removeAll()
      // The number of each row's copy; -1 if there is no such row.
      var numbers: [Int] = Array(repeating: -1, count: rows.count)
      var next = 0
      try storing { () throws(StoreError) in
        let ascending = places.map { rows[Int($0)] }
        try trees.forEach(plan.rows, of: ascending[...]) { (row, bytes) throws(StoreError) in
          while next < places.count, ascending[next] != row { next += 1 }
          guard next < places.count else { return false }
          numbers[Int(places[next])] = copies.count
          copies.add(bytes)
          next += 1
          return true
        }
      }
      for place in rows.indices where numbers[place] >= 0 {
        let goesOn = try copies.withBytes(numbers[place]) { (bytes) throws(EngineError) in
          try lend(bytes, rows[place]) { (row) throws(EngineError) in try visit(row) }
        }
        if !goesOn { return false }
      }
      size = min(max(1, Self.mostLate / max(64, copies.byteCount / max(1, copies.count))), size * 8)
    }
    return true
  }
}
