import CambiumKernel

/// Fetches in an order.
extension EntityView {
  /// Refuses keys that have no order.
  func requireSortable(_ fetch: EngineFetch) throws(EngineError) {
    let schema = store.schema
    for key in fetch.sort {
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

  /// A result with what it is put in order by, and its row, if that is asked for.
  struct Sorted {
    var keys: [Value]
    var reference: ObjectReference
    var layout: EntityLayout
    var bytes: [UInt8]
  }

  /// Whether results with these keys come in this order.
  private static func precedes(_ a: Sorted, _ b: Sorted, _ sort: [EngineSort]) -> Bool {
    for i in sort.indices {
      let order = sort[i].order(a.keys[i], b.keys[i])
      if order != 0 { return sort[i].isAscending ? order < 0 : order > 0 }
    }
    return a.reference.row < b.reference.row
  }

  private func sorted(
    _ row: borrowing RowReader, _ sort: [EngineSort], _ reader: ValuesReader
  ) throws(EngineError) -> Sorted {
    var keys: [Value] = []
    keys.reserveCapacity(sort.count)
    try reader.read(row, into: &keys)
    for i in sort.indices where sort[i].changesValues { keys[i] = sort[i].key(keys[i]) }
    return Sorted(keys: keys, reference: row.reference, layout: row.layout, bytes: [])
  }

  /// Gathers what a plan finds and puts it in order. With a limit, no more than about twice as many are kept as are wanted.
  func gatherSorted(
    _ fetch: EngineFetch, _ plan: EntityPlan, _ chosen: FetchPlan, _ reader: PathReader, needsRows: Bool
  ) throws(EngineError) -> ArraySlice<Sorted> {
    let sort = fetch.sort
    let wanted = fetch.limit.map { max(0, $0).addingSaturating(max(0, fetch.offset)) }
    var kept: [Sorted] = []
    // The last of those that are wanted, as far as is known: what does not come before it is not.
    var last: Sorted?
    // Its first key, by which most rows are passed over.
    var lastKey: Value?
    let keys = ValuesReader(self, sort.map { .keyPath($0.keyPath) })
    let readsElsewhere = sort.contains { $0.keyPath.utf8.contains(UInt8(ascii: ".")) }
    let sieve = try sieve(chosen, plan, includesSubentities: fetch.includesSubentities, reader)
    let firstField = sort[0].origin == nil ? reader.field(sort[0].keyPath, plan.layout)?.0 : nil
    try candidates(chosen, plan, sieve, readsElsewhere: readsElsewhere) { (row) throws(EngineError) in
      if let lastKey {
        let order = sort[0].order(sort[0].key(try keys.first(of: row)), lastKey)
        if sort[0].isAscending ? order > 0 : order < 0 { return true }
      }
      var entry = try sorted(row, sort, keys)
      if let last, !Self.precedes(entry, last, sort) { return true }
      if needsRows { entry.bytes = Array(row.record.bytes) }
      kept.append(entry)
      if let wanted, kept.count >= 64, kept.count / 2 >= wanted {
        kept.sort { Self.precedes($0, $1, sort) }
        kept.removeLast(kept.count - wanted)
        last = kept.last
        lastKey = last?.keys.first
        if let lastKey, let firstField, let bound = bound(sort, lastKey, firstField, plan.layout) {
          sieve.bound = bound
        }
      }
      return true
    }
    kept.sort { Self.precedes($0, $1, sort) }
    return kept[fetch.range(of: kept.count)]
  }

  /// The numbers in a field that come before the first key of the last row that is wanted, or may come with it: the others
  /// need not be looked at more closely. Nil where the encoded row does not tell.
  private func bound(
    _ sort: [EngineSort], _ last: Value, _ field: FieldPath, _ layout: EntityLayout
  ) -> FixedRange? {
    let record = BorrowedLayout(layout.record)
    guard field.depth == 1, let fixed = FixedField(record, field.leaf) else { return nil }
    // Rows come in ascending order: of several with the same only key, those that come later are behind those that are kept.
    let step: UInt64 = sort.count == 1 ? 1 : 0
    let isAscending = sort[0].isAscending
    // Null comes first, and is never behind a number in ascending order.
    switch last {
    case .integer(let number):
      if step == 1, number == (isAscending ? Int64.min : Int64.max) { return nil }
      let bits = UInt64(bitPattern: number)
      return isAscending
        ? FixedRange(record, fixed, low: UInt64(bitPattern: .min), high: bits &- step, includesNull: true)
        : FixedRange(record, fixed, low: bits &+ step, high: UInt64(bitPattern: .max))
    case .double(let number), .date(let number):
      let bits = KeyEncoder.orderedBits(number)
      if step == 1, bits == (isAscending ? 0 : .max) { return nil }
      return isAscending
        ? FixedRange(record, fixed, low: 0, high: bits &- step, includesNull: true)
        : FixedRange(record, fixed, low: bits &+ step, high: .max)
    default: return nil
    }
  }

  /// Lends a row that was kept.
  func lend(_ entry: Sorted, _ visit: Visit) throws(EngineError) -> Bool {
    try entry.bytes.withUnsafeBytesEngine { (b) throws(EngineError) -> Bool in
      let record = try storing { () throws(StoreError) in try RecordView(b, layout: entry.layout.record) }
      return try visit(RowReader(record, entry.layout, entry.reference))
    }
  }

  // MARK: By an index

  /// The numbers of the rows of an index in its order, as many as a fetch wants of them, without the rows being looked at;
  /// nil if keys were cut, which say nothing of the order of their rows.
  func rows(
    of order: OrderedIndex, _ fetch: EngineFetch, _ isCancelled: (@Sendable () -> Bool)?
  ) throws(EngineError) -> [UInt64]? {
    guard let range = order.ranges.ranges.first else { return nil }
    let wanted = fetch.limit.map { max(0, $0).addingSaturating(max(0, fetch.offset)) } ?? .max
    let longestWhole = store.kernel.maxKeyLength - 48
    var rows: [UInt64] = []
    // Where the rows begin that have the same key as the last one: they come by their number in either direction.
    var groupStart = 0
    var groupKey: [UInt8] = []
    var isGrouped = false
    var isWhole = true
    var wasCancelled = false
    try storing { () throws(StoreError) in
      let cursor = try trees.cursor(order.ranges.maker.tree)
      var more = try cursor.move(toStartOf: range, reversed: order.isReversed)
      while more {
        let key = cursor.key
        let isInside =
          order.isReversed
          ? range.lower.withUnsafeBytes { compareKeys(key, $0) >= 0 }
          : range.upper.map { upper in upper.withUnsafeBytes { compareKeys(key, $0) < 0 } } ?? true
        if !isInside { break }
        if rows.count % 1024 == 1023, let isCancelled, isCancelled() {
          wasCancelled = true
          return
        }
        let (row, end) = try KeyDecoder.rowID(atEndOf: key)
        if end > longestWhole {
          isWhole = false
          return
        }
        if !order.isReversed, !order.isOfSomeParts {
          if rows.count >= wanted { return }
        } else if !isGrouped || !order.hasSameParts(key, end, as: groupKey) {
          if order.isOfSomeParts { rows[groupStart...].sort() } else { rows[groupStart...].reverse() }
          groupStart = rows.count
          if rows.count >= wanted { break }
          isGrouped = true
          groupKey.removeAll(keepingCapacity: true)
          let length = try order.end(ofPartsOf: key, end).end
          groupKey.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[..<length]))
        }
        rows.append(row)
        more = order.isReversed ? try cursor.previous() : try cursor.next()
      }
      if order.isOfSomeParts {
        rows[groupStart...].sort()
      } else if order.isReversed {
        rows[groupStart...].reverse()
      }
    }
    if wasCancelled { throw .cancelled }
    return isWhole ? rows : nil
  }

  /// As many rows are found by an index in its order before the first of them is read.
  private static var fewOrdered: Int { 4096 }

  /// Lends `visit` the rows of an index in its order, for which the plan's condition holds.
  func forEach(
    _ order: OrderedIndex, _ fetch: EngineFetch, _ chosen: FetchPlan, _ reader: PathReader, _ visit: Visit
  ) throws(EngineError) {
    let plan = try store.plan(fetch.entity.id)
    let sieve = try RowSieve(self, plan, chosen.residual, includesSubentities: fetch.includesSubentities, reader)
    sieve.isCancelled = chosen.isCancelled
    // Of those few that are wanted, each is known before the first is read: they are then read many at a time.
    let wanted = fetch.limit.map { max(0, $0).addingSaturating(max(0, fetch.offset)) } ?? .max
    if chosen.residual == nil, !plan.sharesRows, wanted <= Self.fewOrdered,
      let rows = try rows(of: order, fetch, chosen.isCancelled)
    {
      try offer(rows, plan, sieve, inPlace: true, visit)
      return
    }
    let maker = order.ranges.maker
    guard let range = order.ranges.ranges.first else { return }
    // Longer keys may have been cut, and then say nothing of the order of their rows.
    let longestWhole = store.kernel.maxKeyLength - 48
    let cursor = try storing { () throws(StoreError) in try trees.cursor(maker.tree) }
    // Rows with equal keys, which come in their own order whatever that of the index.
    var group: [UInt64] = []
    var groupKey: [UInt8] = []
    var isCut = false
    var goesOn = true
    let keys = ValuesReader(self, fetch.sort.map { .keyPath($0.keyPath) })
    func finishGroup() throws(EngineError) {
      defer { group.removeAll(keepingCapacity: true) }
      if group.isEmpty || !goesOn { return }
      if isCut, group.count > 1 {
        var entries: [Sorted] = []
        for row in group {
          _ = try offer(row, plan, sieve) { (row) throws(EngineError) in
            var entry = try sorted(row, fetch.sort, keys)
            entry.bytes = Array(row.record.bytes)
            entries.append(entry)
            return true
          }
        }
        entries.sort { Self.precedes($0, $1, fetch.sort) }
        for entry in entries where goesOn { goesOn = try lend(entry, visit) }
        return
      }
      if order.isOfSomeParts { group.sort() } else if order.isReversed { group.reverse() }
      for row in group where goesOn { goesOn = try offer(row, plan, sieve, visit) }
    }
    var more = try storing { () throws(StoreError) in try cursor.move(toStartOf: range, reversed: order.isReversed) }
    while more, goesOn {
      let key = cursor.key
      let isInside =
        order.isReversed
        ? range.lower.withUnsafeBytes { compareKeys(key, $0) >= 0 }
        : range.upper.map { upper in upper.withUnsafeBytes { compareKeys(key, $0) < 0 } } ?? true
      if !isInside { break }
      let (row, end) = try storing { () throws(StoreError) in try KeyDecoder.rowID(atEndOf: key) }
      if !order.isReversed, !order.isOfSomeParts, end <= longestWhole {
        // In their own order already.
        try finishGroup()
        groupKey.removeAll(keepingCapacity: true)
        if goesOn { goesOn = try offer(row, plan, sieve, visit) }
        more = try storing { () throws(StoreError) in try cursor.next() }
        continue
      }
      if group.count % 256 == 255, let isCancelled = chosen.isCancelled, isCancelled() { throw .cancelled }
      if group.isEmpty || !order.hasSameParts(key, end, as: groupKey) {
        try finishGroup()
        if !goesOn { break }
        groupKey.removeAll(keepingCapacity: true)
        let parts = try storing { () throws(StoreError) in try order.end(ofPartsOf: key, end) }
        isCut = parts.wasCut || (!order.isOfSomeParts && end > longestWhole)
        groupKey.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[..<parts.end]))
      }
      group.append(row)
      more = try storing { () throws(StoreError) in order.isReversed ? try cursor.previous() : try cursor.next() }
    }
    try finishGroup()
  }
}

extension OrderedIndex {
  /// Where the parts of a key end that the order is by, and whether one of them was cut; `end` is where all of them do.
  fileprivate func end(
    ofPartsOf key: UnsafeRawBufferPointer, _ end: Int
  ) throws(StoreError) -> (end: Int, wasCut: Bool) {
    if !isOfSomeParts { return (end, false) }
    var decoder = KeyDecoder(UnsafeRawBufferPointer(rebasing: key[..<end]))
    for part in 0..<parts {
      // A part may have been left out for which there was no room; behind a cut there is none.
      if decoder.isAtEnd { return (end, true) }
      try decoder.skip(descending: !ranges.maker.ascending[part])
      if decoder.wasCut { return (end, true) }
    }
    return (decoder.offset, false)
  }

  /// Whether a key has the same in these parts as another one, of which they are given.
  fileprivate func hasSameParts(_ key: UnsafeRawBufferPointer, _ end: Int, as other: [UInt8]) -> Bool {
    (isOfSomeParts ? end >= other.count : end == other.count) && other.withUnsafeBytes { hasPrefix(key, $0) }
  }
}

extension Cursor {
  /// To the first entry of a range, or to its last one; answers whether there is one before or behind the range's other end.
  func move(toStartOf range: KeyRange, reversed: Bool) throws(StoreError) -> Bool {
    if !reversed { return try range.lower.withUnsafeBytesEngine { (b) throws(StoreError) in try seek(b) } }
    guard let upper = range.upper else { return try seekLast() }
    return try upper.withUnsafeBytesEngine { (b) throws(StoreError) in try seek(before: b) }
  }
}
