import CambiumKernel

/// Groups whose key paths are the first parts of an index. A group is a stretch of the index. The tree tells how many
/// entries it has, and the ends of the part behind, without going through it. Where entries have no further parts that
/// they are ordered by, the first entry has the first of its rows.
struct IndexGroups {
  /// What is asked of a group.
  enum Aggregate {
    /// How many rows there are, or how many with a value in the part behind.
    case rows, values
    /// The least value of the part behind, or the greatest.
    case least, greatest
  }

  /// One range of an index, which decides the conditions.
  let ranges: IndexRanges
  /// How many parts the rows of a group have in common.
  let parts: Int
  let aggregates: [Aggregate]
  /// Whether there is one group, which is the whole range.
  var isOne: Bool { parts == ranges.equalParts }

  /// The groups of a design; nil if the index does not have them.
  init?(_ design: ValuesDesign, _ ranges: IndexRanges) {
    let maker = ranges.maker
    guard ranges.ranges.count == 1, !maker.isSpatial else { return nil }
    var paths: Set<String> = []
    for expression in design.read {
      guard case .keyPath(let path) = expression else { return nil }
      paths.insert(path)
    }
    var parts = ranges.equalParts
    for path in maker.paths[..<parts] { paths.remove(path) }
    while !paths.isEmpty, parts < maker.paths.count, paths.remove(maker.paths[parts]) != nil { parts += 1 }
    guard paths.isEmpty else { return nil }
    var aggregates: [Aggregate] = []
    for (function, argument) in design.aggregates {
      switch (function, argument) {
      case (.count, .evaluatedObject): aggregates.append(.rows)
      case (_, .keyPath(let path)):
        guard parts < maker.paths.count, maker.paths[parts] == path, let type = maker.types[parts] else { return nil }
        switch function {
        case .count: aggregates.append(.values)
        case .minimum where type.isOrderedByKeys: aggregates.append(.least)
        case .maximum where type.isOrderedByKeys: aggregates.append(.greatest)
        default: return nil
        }
      default: return nil
      }
    }
    self.ranges = ranges
    self.parts = parts
    self.aggregates = aggregates
  }
}

extension EntityView {
  /// The index that has the groups of a request; nil if none has.
  func indexGroups(
    _ request: EngineValuesFetch, _ design: ValuesDesign
  ) throws(EngineError) -> IndexGroups? {
    let fetch = request.fetch
    guard fetch.usesIndexes, design.isGrouped else { return nil }
    let plan = try store.plan(fetch.entity.id)
    // Rows of other entities stand among the entries.
    if plan.sharesRows { return nil }
    guard let conjuncts = try checked(fetch).map({ Conjunct.all(of: $0) }) ?? [] else { return nil }
    _ = try settle()
    let planner = try FetchPlanner(self, fetch.entity, costs: fetch.costs)
    for maker in planner.makers {
      guard let ranges = planner.ranges(of: maker, conjuncts), Set(ranges.covered).count == conjuncts.count else {
        continue
      }
      if let groups = IndexGroups(design, ranges) { return groups }
    }
    return nil
  }

  /// The slots of each group, the groups in the order in which their first rows come. Nil if keys were cut, or there
  /// are so many groups that looking at every row costs less.
  func slots(of groups: IndexGroups, _ request: EngineValuesFetch, _ design: ValuesDesign) throws(EngineError)
    -> [[Value]]?
  {
    let plan = try store.plan(request.fetch.entity.id)
    let isOrdered = groups.parts == groups.ranges.maker.paths.count || design.read.isEmpty
    // Where all rows count, the first one of each group is looked for among the rows.
    let isSought = !isOrdered && request.fetch.predicate == nil
    guard
      var found = try stretches(
        of: groups, plan, isOrdered: isOrdered || isSought, request.fetch.isCancelled)
    else { return nil }
    let reader = ValuesReader(self, design.read)
    if isSought { try seekFirstRows(&found, groups, plan, request, reader) }
    if found.isEmpty, design.read.isEmpty {
      // One group of all objects, also if there are none.
      return [groups.aggregates.map { $0 == .rows || $0 == .values ? .integer(0) : .null }]
    }
    found.sort { $0.row < $1.row }
    var arguments: [ValuesReader?] = []
    for (place, aggregate) in groups.aggregates.enumerated() {
      let isRead = aggregate == .least || aggregate == .greatest
      arguments.append(isRead ? ValuesReader(self, [design.aggregates[place].argument]) : nil)
    }
    let maker = groups.ranges.maker
    var result: [[Value]] = []
    result.reserveCapacity(found.count)
    for group in found {
      let prefix = group.prefix
      var slots = group.values ?? []
      if group.values == nil, !design.read.isEmpty { try read(group.row, plan, reader, into: &slots) }
      let whole = groups.isOne ? groups.ranges.ranges[0] : KeyRange(prefix: prefix)
      for (place, aggregate) in groups.aggregates.enumerated() {
        guard let argument = arguments[place] else {
          let range = aggregate == .rows ? whole : valued(whole, prefix, maker, groups.parts)
          if aggregate == .values, try isCut(range, maker, groups.parts + 1) { return nil }
          let n = try storing { () throws(StoreError) in try trees.count(maker.tree, in: range) }
          slots.append(.integer(Int64(clamping: n)))
          continue
        }
        let end: UInt64?
        switch try self.end(of: valued(whole, prefix, maker, groups.parts), groups, aggregate) {
        case .none: end = nil
        case .cut: return nil
        case .row(let row): end = row
        }
        if let end { try read(end, plan, argument, into: &slots) } else { slots.append(.null) }
      }
      result.append(slots)
    }
    return result
  }

  /// A group: a row of it, the beginning of its keys, and what is read of the row, if that is known.
  private struct Stretch {
    var row: UInt64
    var prefix: [UInt8]
    var values: [Value]?
  }

  /// How many groups are compared with one by one.
  private static let comparedGroups = 8
  /// How many rows are looked at for the first ones of groups.
  private static let soughtRows = 4096

  /// Puts the first row of each group in the place of any: found among the first rows that there are, as most are that
  /// are not rare, or else among the keys of the group.
  private func seekFirstRows(
    _ found: inout [Stretch], _ groups: IndexGroups, _ plan: EntityPlan, _ request: EngineValuesFetch,
    _ reader: ValuesReader
  ) throws(EngineError) {
    var known: [[Value]] = []
    known.reserveCapacity(found.count)
    for group in found {
      var values: [Value] = []
      try read(group.row, plan, reader, into: &values)
      known.append(values)
    }
    var places: [[Value]: Int] = [:]
    if known.count > Self.comparedGroups {
      places.reserveCapacity(known.count)
      for (place, values) in known.enumerated() { places[values] = place }
    }
    var isKnown: [Bool] = Array(repeating: false, count: found.count)
    var missing = found.count
    var seen = 0
    var all = EngineFetch(request.fetch.entity)
    all.usesIndexes = false
    all.isCancelled = request.fetch.isCancelled
    var values: [Value] = []
    try forEach(all) { (row) throws(EngineError) in
      if missing == 0 || seen == Self.soughtRows { return false }
      seen += 1
      values.removeAll(keepingCapacity: true)
      try reader.read(row, into: &values)
      let group = places.isEmpty ? known.firstIndex(of: values) : places[values]
      if let place = group, !isKnown[place] {
        isKnown[place] = true
        missing -= 1
        // As this row has them: what is equal may be written differently.
        found[place].row = row.reference.row
        found[place].values = values
      }
      return true
    }
    var keys = 0
    var wasCancelled = false
    for place in found.indices where !isKnown[place] {
      var first = found[place].row
      let range = KeyRange(prefix: found[place].prefix)
      try storing { () throws(StoreError) in
        try trees.forEachKey(groups.ranges.maker.tree, in: range) { (key) throws(StoreError) in
          first = min(first, try KeyDecoder.rowID(atEndOf: key).id)
          keys &+= 1
          if keys & 1023 == 0, let isCancelled = request.fetch.isCancelled, isCancelled() { wasCancelled = true }
          return !wasCancelled
        }
      }
      if wasCancelled { throw .cancelled }
      found[place].row = first
    }
  }

  private func read(
    _ row: UInt64, _ plan: EntityPlan, _ reader: ValuesReader, into slots: inout [Value]
  ) throws(EngineError) {
    var values = slots
    let isThere = try lendRow(plan.rows, row) { (row) throws(EngineError) in try reader.read(row, into: &values) }
    guard isThere else { throw .corrupt("an index of \(plan.entity.name) names a row that is not there") }
    slots = values
  }

  /// The first row and the beginning of the keys of each group. Nil if keys were cut, or there are too many.
  /// `isOrdered` says that the rows of a group come in their own order, or that it makes no difference which is first.
  private func stretches(
    of groups: IndexGroups, _ plan: EntityPlan, isOrdered: Bool, _ isCancelled: (@Sendable () -> Bool)?
  ) throws(EngineError) -> [Stretch]? {
    let range = groups.ranges.ranges[0]
    let maker = groups.ranges.maker
    let rows = try storing { () throws(StoreError) in try trees.count(plan.rows) }
    // A group costs about as much as a dozen rows of a scan.
    let most = max(64, Int(clamping: rows / 16))
    var found: [Stretch] = []
    var isWhole = true
    var isEnough = false
    var wasCancelled = false
    var keys = 0
    func isToEnd() -> Bool {
      keys &+= 1
      if keys & 1023 == 0, let isCancelled, isCancelled() { wasCancelled = true }
      return wasCancelled
    }
    try storing { () throws(StoreError) in
      let cursor = try trees.cursor(maker.tree)
      var more = try range.lower.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(b) }
      while more, range.upper.map({ upper in upper.withUnsafeBytes { compareKeys(cursor.key, $0) < 0 } }) ?? true {
        if isToEnd() { return }
        let row = try KeyDecoder.rowID(atEndOf: cursor.key).id
        guard let end = try Self.end(ofParts: groups.parts, cursor.key, maker) else {
          isWhole = false
          return
        }
        let prefix = Array(cursor.key[..<end])
        found.append(Stretch(row: row, prefix: prefix))
        if groups.isOne, isOrdered { return }
        if found.count > most {
          isEnough = true
          return
        }
        // The next group may be near.
        var steps = 0
        more = try cursor.next()
        while more, prefix.withUnsafeBytes({ hasPrefix(cursor.key, $0) }) {
          if groups.isOne, let upper = range.upper, upper.withUnsafeBytes({ compareKeys(cursor.key, $0) >= 0 }) {
            break
          }
          steps += 1
          if isToEnd() { return }
          if !isOrdered {
            let row = try KeyDecoder.rowID(atEndOf: cursor.key).id
            if row < found[found.count - 1].row { found[found.count - 1].row = row }
          }
          if !isOrdered || steps < 8 {
            more = try cursor.next()
          } else if let next = KeyRange.upperBound(ofPrefix: prefix) {
            more = try next.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(b) }
            break
          } else {
            more = false
          }
        }
      }
    }
    if wasCancelled { throw .cancelled }
    return isWhole && !isEnough ? found : nil
  }

  /// Where the first parts of a key end; nil if one of them was cut, or left out for lack of room.
  private static func end(
    ofParts count: Int, _ key: UnsafeRawBufferPointer, _ maker: KeyMaker
  ) throws(StoreError) -> Int? {
    let end = try KeyDecoder.rowID(atEndOf: key).start
    var decoder = KeyDecoder(UnsafeRawBufferPointer(rebasing: key[..<end]))
    for part in 0..<count {
      if decoder.isAtEnd { return nil }
      try decoder.skip(descending: !maker.ascending[part])
      if decoder.wasCut { return nil }
    }
    return decoder.offset
  }

  /// The entries of a group that have a value in the part behind those that they have in common.
  private func valued(_ range: KeyRange, _ prefix: [UInt8], _ maker: KeyMaker, _ part: Int) -> KeyRange {
    guard part < maker.paths.count else { return range }
    let isAscending = maker.ascending[part]
    var null = KeyEncoder()
    prefix.withUnsafeBytes { null.append(encoded: $0) }
    null.appendNull(descending: !isAscending)
    var range = range
    if isAscending {
      let start = KeyRange.upperBound(ofPrefix: null.bytes) ?? null.bytes
      if range.lower.lexicographicallyPrecedes(start) { range.lower = start }
    } else if range.upper.map({ null.bytes.lexicographicallyPrecedes($0) }) ?? true {
      range.upper = null.bytes
    }
    return range
  }

  /// Whether keys of a range, which have all but the last of their first parts in common, have no room for that.
  private func isCut(_ range: KeyRange, _ maker: KeyMaker, _ parts: Int) throws(EngineError) -> Bool {
    guard parts <= maker.paths.count else { return false }
    return try storing { () throws(StoreError) -> Bool in
      let cursor = try trees.cursor(maker.tree)
      guard try cursor.move(toStartOf: range, reversed: false),
        range.upper.map({ upper in upper.withUnsafeBytes { compareKeys(cursor.key, $0) < 0 } }) ?? true
      else { return false }
      return try Self.end(ofParts: parts, cursor.key, maker) == nil
    }
  }

  private enum RangeEnd {
    case none, cut
    case row(UInt64)
  }

  /// The first of the rows that have the least or the greatest value of the part behind.
  private func end(
    of range: KeyRange, _ groups: IndexGroups, _ aggregate: IndexGroups.Aggregate
  ) throws(EngineError) -> RangeEnd {
    let maker = groups.ranges.maker
    let isFirst = (aggregate == .least) == maker.ascending[groups.parts]
    return try storing { () throws(StoreError) -> RangeEnd in
      let cursor = try trees.cursor(maker.tree)
      if !isFirst {
        let more = try cursor.move(toStartOf: range, reversed: true)
        guard more, range.lower.withUnsafeBytes({ compareKeys(cursor.key, $0) >= 0 }) else { return .none }
        guard let end = try Self.end(ofParts: groups.parts + 1, cursor.key, maker) else { return .cut }
        return .row(try Self.firstRow(Array(cursor.key[..<end]), cursor))
      }
      let more = try cursor.move(toStartOf: range, reversed: false)
      guard more, range.upper.map({ upper in upper.withUnsafeBytes { compareKeys(cursor.key, $0) < 0 } }) ?? true
      else { return .none }
      guard let end = try Self.end(ofParts: groups.parts + 1, cursor.key, maker) else { return .cut }
      return .row(try Self.firstRow(Array(cursor.key[..<end]), cursor))
    }
  }

  /// The first of the rows whose keys begin alike; there is one.
  private static func firstRow(_ prefix: [UInt8], _ cursor: Cursor) throws(StoreError) -> UInt64 {
    var row = UInt64.max
    var more = try prefix.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(b) }
    while more, prefix.withUnsafeBytes({ hasPrefix(cursor.key, $0) }) {
      let (other, start) = try KeyDecoder.rowID(atEndOf: cursor.key)
      row = min(row, other)
      // Without further parts, rows come in their own order.
      if start == prefix.count { break }
      more = try cursor.next()
    }
    return row
  }
}
