import CambiumKernel

/// An index that begins with the distinct values that a request asks for.
///
/// Entries with the same values are neighbours. The walk looks for one that the conditions hold for, and then skips the
/// others. A condition on the part behind the values confines the entries that it looks at:
///
///     distinct (distance) WHERE airTime == nil, by an index on (distance, airTime)
///
///     (80, nil) …  (80, 21) (80, 23) …  (94, nil) …  (94, 25) …
///      ^ found     ^ skipped             ^ found      ^ skipped
struct DistinctIndex {
  /// One range, which the values lie in.
  let ranges: IndexRanges
  /// How many first parts are the values, with those that the conditions compare for equality.
  let parts: Int
  /// The part of each thing that the design reads.
  let partOfRead: [Int]
  /// Whether that is each part as it comes.
  private let isInParts: Bool
  /// The ranges behind the values that conditions confine their entries to; nil for all entries.
  let tail: IndexRanges?
  /// The condition that rows are asked; nil if the index decides all conditions.
  let residual: Predicate?
  /// Whether the results come in the order asked for.
  let isInOrder: Bool
  /// Whether the walk begins at the end of the range.
  let isReversed: Bool

  /// Whether all entries of the range have the same values.
  var isOne: Bool { parts == ranges.equalParts }
  /// Whether entries with the same values come in the order of their rows.
  var isByRow: Bool { parts == ranges.maker.paths.count }
  /// More ranges behind the values are not sought, because each costs a search for each value.
  private static let mostTails = 8

  /// Returns nil if the index does not begin with the values.
  init?(_ design: ValuesDesign, _ ranges: IndexRanges, _ conjuncts: [Conjunct], keyLimit: Int) {
    let maker = ranges.maker
    guard ranges.ranges.count == 1, !maker.isSpatial else { return nil }
    var missing: Set<String> = []
    for expression in design.read {
      guard case .keyPath(let path) = expression else { return nil }
      missing.insert(path)
    }
    var parts = ranges.equalParts
    for path in maker.paths[..<parts] { missing.remove(path) }
    while !missing.isEmpty, parts < maker.paths.count, missing.remove(maker.paths[parts]) != nil { parts += 1 }
    guard missing.isEmpty else { return nil }
    var partOfRead: [Int] = []
    for case .keyPath(let path) in design.read {
      guard let part = maker.paths[..<parts].firstIndex(of: path) else { return nil }
      partOfRead.append(part)
    }
    var covered = ranges.covered
    var tail: IndexRanges?
    if parts > ranges.equalParts, parts < maker.paths.count, covered.count < conjuncts.count,
      let found = IndexRanges(maker, conjuncts, keyLimit: keyLimit, from: parts), found.ranges.count <= Self.mostTails
    {
      tail = found
      covered += found.covered
    }
    self.ranges = ranges
    self.parts = parts
    self.partOfRead = partOfRead
    isInParts = partOfRead == Array(0..<parts)
    self.tail = tail
    residual = FetchPlanner.joined(conjuncts, except: covered)
    let direction = Self.direction(design, ranges, partOfRead)
    isInOrder = direction != nil
    isReversed = direction ?? false
  }

  /// Whether the walk has to begin at the end to come upon the results in their order; nil if it has another order.
  private static func direction(_ design: ValuesDesign, _ ranges: IndexRanges, _ partOfRead: [Int]) -> Bool? {
    let maker = ranges.maker
    var next = ranges.equalParts
    var direction: Bool?
    for key in design.order {
      guard case .slot(let slot) = key.source, key.sort.isOfValues else { return nil }
      let part = partOfRead[slot]
      // A value that all results share does not change their order.
      if part < ranges.equalParts { continue }
      guard part == next, maker.types[part]?.isOrderedByKeys ?? false else { return nil }
      let isReversed = maker.ascending[part] != key.sort.isAscending
      if let direction, direction != isReversed { return nil }
      direction = isReversed
      next += 1
    }
    return direction ?? false
  }

  /// The ranges of a group's entries that are looked at, given the beginning of its keys. Nil if a key might have been
  /// cut within one.
  func entries(behind prefix: [UInt8], longestWhole: Int) -> [KeyRange]? {
    if isOne { return ranges.ranges }
    let whole = KeyRange(prefix: prefix)
    guard let tail else { return [whole] }
    var result: [KeyRange] = []
    for range in tail.ranges {
      if prefix.count + max(range.lower.count, range.upper?.count ?? 0) > longestWhole { return nil }
      result.append(KeyRange(lower: prefix + range.lower, upper: range.upper.map { prefix + $0 } ?? whole.upper))
    }
    return result
  }

  /// The values that a request reads, taken from those that a key begins with.
  func slots(of found: Values) -> [Value] { isInParts ? found.values : partOfRead.map { found.values[$0] } }

  /// The values that a key begins with.
  struct Values {
    var values: [Value] = []
    /// Where they end in the key.
    var end = 0
    /// Whether a row has to be read for them, because the key does not have them in full.
    var isOfRow = false
    /// Whether it has to be the first row of the group: equal values may be written differently, and the first one
    /// counts.
    var isOfFirstRow = false
  }

  /// Returns the values that a key begins with; nil if one of them was cut.
  func values(of key: UnsafeRawBufferPointer, _ end: Int) throws(StoreError) -> Values? {
    var decoder = KeyDecoder(UnsafeRawBufferPointer(rebasing: key[..<end]))
    var result = Values()
    result.values.reserveCapacity(parts)
    for part in 0..<parts {
      if decoder.isAtEnd { return nil }
      let found = try decoder.next(descending: !ranges.maker.ascending[part])
      if decoder.wasCut { return nil }
      switch found {
      case .null: result.values.append(.null)
      case .boolean(let value): result.values.append(.boolean(value))
      case .int64(let value): result.values.append(.integer(value))
      case .uuid(let value): result.values.append(.uuid(value))
      case .bytes(let value): result.values.append(.binary(value))
      case .double(let value):
        if value == 0 || value.isNaN { result.isOfFirstRow = true }
        result.values.append(ranges.maker.types[part] == .float ? .float(Float(value)) : .double(value))
      case .date(let value):
        if value == 0 || value.isNaN { result.isOfFirstRow = true }
        result.values.append(.date(value))
      case .string(let value):
        // A key has the normal form.
        if !value.utf8.allSatisfy({ $0 < 0x80 }) { result.isOfFirstRow = true }
        result.values.append(ranges.maker.types[part] == .uri ? .uri(value) : .string(value))
      case .reference:
        result.isOfRow = true
        result.values.append(.null)
      case .decimal, .place, .rowID:
        result.isOfFirstRow = true
        result.values.append(.null)
      }
    }
    result.end = decoder.offset
    return result
  }
}

extension EngineSort {
  /// Whether values that differ differ in this order too.
  var isOfValues: Bool {
    if case .scalars = textOrder { return origin == nil }
    return false
  }
}

extension ValuesDesign {
  /// Whether the order has a key for each value that the request reads, so that it decides between any two results.
  var ordersAll: Bool {
    var isOrdered: [Bool] = Array(repeating: false, count: read.count)
    for key in order {
      if case .slot(let slot) = key.source, slot < read.count, key.sort.isOfValues { isOrdered[slot] = true }
    }
    return !isOrdered.contains(false)
  }
}
