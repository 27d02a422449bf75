import CambiumKernel

// An index may serve conditions that say nothing of its first part: there is a range for each value of that part. A
// search finds each of them, because it skips the entries in between. Where the values are few, that costs less than a
// scan.
//
//     year < 1970, by an index on (seats, year)
//
//     (2, 1959) (2, 1963) (2, 1998) …  (20, 1969) (20, 1990) …  (55, 2001) …  (149, 1965) …
//      ^^^^^^^^^^^^^^^^^^               ^^^^^^^^^^^^                              ^^^^^^^^^^^
extension FetchPlanner {
  /// The planner seeks no more values of a first part, and finds no more rows. A fetch with a limit may end soon, so
  /// that the planner seeks the values for it and does no more.
  private static let mostValues = 64.0
  private static let mostRows = 4096.0
  /// After so many values the planner estimates how many there are. The first ones may be rarer than others, so that it
  /// gives up only if that is many times too much.
  private static let valuesToEstimate = 4
  private static let manyTimes = 16.0
  /// So many entries behind a range are gone through before the next value is sought.
  private static let mostSteps = 6

  /// Adds narrowings by indexes that have conditions on the parts behind their first one, and none on that.
  ///
  /// Finds their rows at once, because that takes little more than to find out how many there are. All indexes together
  /// cost at most half as much as the best other way.
  ///
  /// - Parameter wantsAll: Whether all rows are wanted.
  func skip(_ conjuncts: [Conjunct], wantsAll: Bool, _ found: inout [Narrowing]) throws(EngineError) {
    guard makers.contains(where: { $0.paths.count > 1 }) else { return }
    var usual = rowCount * costs.siftedRow
    var known: [Int] = []
    for narrowing in found {
      usual = min(usual, narrowing.cost + narrowing.rows * costs.soughtRow)
      known += narrowing.covered
    }
    let most = Self.mostValues * costs.range + (wantsAll ? Self.mostRows * costs.key : 0)
    var budget = min(usual / 2, most) * share
    for maker in makers where maker.paths.count > 1 {
      let isConfined = found.contains {
        if case .ranges(let ranges) = $0.path { return ranges.maker.tree == maker.tree }
        return false
      }
      // Conditions for which there is an index of their own are not worth it.
      guard !isConfined, isUsable(maker, conjuncts),
        let tail = IndexRanges(maker, conjuncts, keyLimit: view.store.kernel.maxKeyLength, from: 1),
        tail.ranges.count == 1, tail.covered.contains(where: { !known.contains($0) })
      else { continue }
      // A transaction writes the entries that it has gathered into the trees first.
      _ = try view.settle()
      guard let rows = try skip(maker, tail.ranges[0], &budget) else { continue }
      let count = Double(rows.count)
      found.append(Narrowing(path: .skipped(maker, rows), rows: count, cost: 0, covered: tail.covered))
    }
  }

  /// Returns the rows of the entries that are in a range behind the first part of an index, ascending. Nil if finding
  /// them costs more than is left of the budget, or if there are too many values of the first part, or values that were
  /// cut.
  private func skip(
    _ maker: KeyMaker, _ behind: KeyRange, _ budget: inout Double
  ) throws(EngineError) -> [UInt64]? {
    let most = min(Self.mostValues, budget / costs.range)
    if most <= Double(Self.valuesToEstimate) { return nil }
    // Longer keys may have been cut.
    let longest = view.store.kernel.maxKeyLength - 48 - max(behind.lower.count, behind.upper?.count ?? 0)
    var values = 0
    var rows: [UInt64] = []
    var bound: [UInt8] = []
    let isComplete = try storing { () throws(StoreError) -> Bool in
      let entries = Double(try view.trees.count(maker.tree))
      let cursor = try view.trees.cursor(maker.tree)
      var isAtEntry = try cursor.seekFirst()
      while isAtEntry {
        values += 1
        budget -= costs.range
        var key = cursor.key
        var decoder = KeyDecoder(UnsafeRawBufferPointer(rebasing: key[..<(try KeyDecoder.rowID(atEndOf: key).start)]))
        if budget < 0 || Double(values) > Self.mostValues || decoder.isAtEnd { return false }
        _ = try decoder.next(descending: !maker.ascending[0])
        let end = decoder.offset
        if decoder.wasCut || end > longest { return false }
        bound.removeAll(keepingCapacity: true)
        bound.append(contentsOf: key[..<end])
        bound.append(contentsOf: behind.lower)
        isAtEntry = try bound.withUnsafeBytesEngine { (b) throws(StoreError) in
          compareKeys(key, b) >= 0 ? true : try cursor.seek(b)
        }
        bound.removeLast(behind.lower.count)
        var isOfValue = false
        while isAtEntry {
          key = cursor.key
          isOfValue = bound.withUnsafeBytes { hasPrefix(key, $0) }
          guard isOfValue, isBelow(behind.upper, key, end) else { break }
          budget -= costs.key
          if budget < 0 { return false }
          rows.append(try KeyDecoder.rowID(atEndOf: key).id)
          isAtEntry = try cursor.next()
        }
        guard isAtEntry else { return true }
        if values == Self.valuesToEstimate {
          let passed = KeyRange(lower: [], upper: bound)
          let share = Double(try view.trees.estimatedCount(maker.tree, in: passed)) / max(entries, 1)
          if Double(values - 1) > most * share * Self.manyTimes { return false }
        }
        // The entries behind the range have the same value. They may be few: those with null, for example.
        for _ in 0..<Self.mostSteps where isOfValue {
          isAtEntry = try cursor.next()
          isOfValue = isAtEntry && bound.withUnsafeBytes { hasPrefix(cursor.key, $0) }
        }
        if isOfValue {
          guard let next = KeyRange.upperBound(ofPrefix: bound) else { return true }
          isAtEntry = try next.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(b) }
        }
      }
      return true
    }
    if !isComplete { return nil }
    rows.sort()
    if isPlanted(.skippedValueMissing), !rows.isEmpty { rows.removeLast() }
    return rows
  }

  /// Whether a key is below an upper bound of what follows its first bytes.
  private func isBelow(_ upper: [UInt8]?, _ key: UnsafeRawBufferPointer, _ start: Int) -> Bool {
    guard let upper else { return true }
    let rest = UnsafeRawBufferPointer(rebasing: key[start...])
    return upper.withUnsafeBytes { compareKeys(rest, $0) < 0 }
  }
}
