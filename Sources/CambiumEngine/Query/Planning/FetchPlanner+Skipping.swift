import CambiumKernel

// An index may serve conditions that say nothing of its first part: it has a range for each value of that part. A few
// searches find these values, because each search skips the entries that share one.
//
//     year < 1970, by an index on (seats, year)
//
//     (2, 1959) (2, 1963) (2, 1998) …  (20, 1969) (20, 1990) …  (55, 2001) …
//      └── a range of 2 ──┘             └ of 20 ┘                 └ of 55, which is empty
extension FetchPlanner {
  /// Ranges for more values are not sought.
  private static let mostValues = 128
  /// After so many values the planner estimates how many there are.
  private static let valuesToEstimate = [4, 16]

  /// Adds the narrowings by indexes whose first part no condition confines.
  func skip(_ conjuncts: [Conjunct], _ found: inout [Narrowing]) throws(EngineError) {
    var usual = rowCount * costs.siftedRow
    for narrowing in found { usual = min(usual, narrowing.cost + narrowing.rows * costs.soughtRow) }
    for maker in makers where maker.paths.count > 1 {
      let isConfined = found.contains {
        if case .ranges(let ranges) = $0.path { return ranges.maker.tree == maker.tree }
        return false
      }
      guard !isConfined, let ranges = try skipping(maker, conjuncts, usual: usual) else { continue }
      let rows = try entries(ranges)
      // Ranges that follow one another cost less than others.
      let cost = rows * costs.key + Double(ranges.ranges.count) * costs.range / 2
      found.append(Narrowing(path: .ranges(ranges), rows: rows, cost: cost, covered: ranges.covered))
    }
  }

  /// Returns ranges of an index for conditions on the parts behind its first one; nil if there are no such conditions, or
  /// if there may be so many values that another way costs less.
  ///
  /// - Parameter usual: What the best other way costs at least.
  func skipping(
    _ maker: KeyMaker, _ conjuncts: [Conjunct], usual: Double
  ) throws(EngineError) -> IndexRanges? {
    let keyLimit = view.store.kernel.maxKeyLength
    let most = min(Self.mostValues, Int(clamping: Int64(min(usual / costs.range, 1e6))) / 2)
    guard maker.paths.count > 1, most > Self.valuesToEstimate[0], isUsable(maker, conjuncts),
      let tail = IndexRanges(maker, conjuncts, keyLimit: keyLimit, from: 1), tail.ranges.count == 1
    else { return nil }
    let behind = tail.ranges[0]
    // Longer keys may have been cut.
    let longestBound = keyLimit - 48 - max(behind.lower.count, behind.upper?.count ?? 0)
    let entries = Double(try storing { () throws(StoreError) in try view.trees.count(maker.tree) })
    var found: [KeyRange] = []
    let isComplete = try storing { () throws(StoreError) -> Bool in
      let cursor = try view.trees.cursor(maker.tree)
      var isAtEntry = try cursor.seekFirst()
      while isAtEntry {
        if found.count == most { return false }
        let key = cursor.key
        let end = try KeyDecoder.rowID(atEndOf: key).start
        var decoder = KeyDecoder(UnsafeRawBufferPointer(rebasing: key[..<end]))
        if decoder.isAtEnd { return false }
        _ = try decoder.next(descending: !maker.ascending[0])
        if decoder.wasCut || decoder.offset > longestBound { return false }
        let prefix = Array(key[..<decoder.offset])
        let next = KeyRange.upperBound(ofPrefix: prefix)
        found.append(KeyRange(lower: prefix + behind.lower, upper: behind.upper.map { prefix + $0 } ?? next))
        guard let next else { break }
        if Self.valuesToEstimate.contains(found.count) {
          let passed = Double(try view.trees.estimatedCount(maker.tree, in: KeyRange(lower: [], upper: next)))
          if entries > passed * Double(most) / Double(found.count) { return false }
        }
        isAtEntry = try next.withUnsafeBytesEngine { (b) throws(StoreError) in try cursor.seek(b) }
      }
      return true
    }
    if !isComplete || found.isEmpty { return nil }
    if isPlanted(.skippedValueMissing) { found.removeLast() }
    return IndexRanges(maker, skipping: found, covered: tail.covered)
  }
}
