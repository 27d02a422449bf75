import CambiumKernel

/// Goes through an index in its order, a stretch after the other.
final class OrderWalk {
  /// Rows that come before all rows of the stretches behind them.
  struct Stretch {
    var rows: [UInt64]
    /// True if the rows are in the order of the fetch already.
    var isInOrder: Bool
  }

  private let order: OrderedIndex
  private let range: KeyRange
  private let cursor: Cursor
  /// Longer keys may have been cut, and then say nothing of the order of their rows.
  private let longestWhole: Int
  private let isCancelled: (@Sendable () -> Bool)?
  private var isAtEntry: Bool

  init(_ view: EntityView, _ order: OrderedIndex, _ isCancelled: (@Sendable () -> Bool)?) throws(EngineError) {
    self.order = order
    self.isCancelled = isCancelled
    longestWhole = view.store.kernel.maxKeyLength - 48
    // The planner takes no index of several ranges, which need not be in order.
    let range = order.ranges.ranges.first ?? KeyRange(lower: [], upper: [])
    self.range = range
    let cursor = try storing { () throws(StoreError) in try view.trees.cursor(order.ranges.maker.tree) }
    self.cursor = cursor
    isAtEntry = try storing { () throws(StoreError) in try cursor.move(toStartOf: range, reversed: order.isReversed) }
  }

  private var isInRange: Bool {
    if order.isReversed { return range.lower.withUnsafeBytes { compareKeys(cursor.key, $0) >= 0 } }
    return range.upper.map { upper in upper.withUnsafeBytes { compareKeys(cursor.key, $0) < 0 } } ?? true
  }

  /// The next rows, at least `least`, if there are as many. A stretch ends where the parts change that the order is
  /// by, because of rows with the same ones none may come in another stretch. Nil at the end.
  func next(_ least: Int) throws(EngineError) -> Stretch? {
    var stretch = Stretch(rows: [], isInOrder: order.sortsAll)
    // Where the rows begin that have the same parts as the last one.
    var start = 0
    var parts: [UInt8] = []
    var hasParts = false
    while isAtEntry, isInRange {
      if stretch.rows.count % 1024 == 1023, let isCancelled, isCancelled() { throw .cancelled }
      let key = cursor.key
      let (row, end) = try storing { () throws(StoreError) in try KeyDecoder.rowID(atEndOf: key) }
      let mayBeCut = end > longestWhole
      if order.isByRow || isPlanted(.stretchEndsAnywhere), !mayBeCut {
        if stretch.rows.count >= least { break }
        hasParts = false
      } else if !hasParts || !order.hasSameParts(key, end, as: parts) {
        sortByRow(&stretch.rows, from: start)
        start = stretch.rows.count
        if start >= least { break }
        let found = try storing { () throws(StoreError) in try order.end(ofPartsOf: key, end) }
        if found.wasCut || (mayBeCut && !order.isOfSomeParts) { stretch.isInOrder = false }
        hasParts = true
        parts.removeAll(keepingCapacity: true)
        parts.append(contentsOf: UnsafeRawBufferPointer(rebasing: key[..<found.end]))
      }
      stretch.rows.append(row)
      isAtEntry = try storing { () throws(StoreError) in order.isReversed ? try cursor.previous() : try cursor.next() }
    }
    sortByRow(&stretch.rows, from: start)
    return stretch.rows.isEmpty ? nil : stretch
  }

  /// Rows with equal keys come by their number, whatever the direction and the other parts of the index.
  private func sortByRow(_ rows: inout [UInt64], from start: Int) {
    guard rows.count - start > 1 else { return }
    if order.isOfSomeParts { rows[start...].sort() } else if order.isReversed { rows[start...].reverse() }
  }

  /// About how many rows are gone through until there are so many, because rows with the same parts come together.
  static func count(_ view: EntityView, _ order: OrderedIndex, toReach wanted: Double) throws(EngineError) -> Double {
    let walk = try OrderWalk(view, order, nil)
    return try storing { () throws(StoreError) in
      var count = 0.0
      var groups = 0
      // Where there are very many different ones, the last one makes no difference.
      while walk.isAtEntry, walk.isInRange, count < wanted, groups < 8 {
        let key = walk.cursor.key
        let end = try order.end(ofPartsOf: key, try KeyDecoder.rowID(atEndOf: key).start).end
        let range = KeyRange(prefix: Array(key[..<end]))
        count += Double(try view.trees.estimatedCount(order.ranges.maker.tree, in: range))
        groups += 1
        if order.isReversed {
          walk.isAtEntry = try range.lower.withUnsafeBytesEngine { (b) throws(StoreError) in
            try walk.cursor.seek(before: b)
          }
        } else {
          guard let next = range.upper else { break }
          walk.isAtEntry = try next.withUnsafeBytesEngine { (b) throws(StoreError) in try walk.cursor.seek(b) }
        }
      }
      return max(count, wanted)
    }
  }
}

extension OrderedIndex {
  /// True if entries come in the order of the fetch one by one, so that a stretch may end behind any of them.
  fileprivate var isByRow: Bool { !isReversed && !isOfSomeParts && sortsAll }

  /// Where the parts of a key end that the order is by, and whether one of them was cut; `end` is where all of them
  /// do.
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
  /// To the first entry of a range, or to its last one; answers whether there is one before or behind the range's
  /// other end.
  func move(toStartOf range: KeyRange, reversed: Bool) throws(StoreError) -> Bool {
    if !reversed { return try range.lower.withUnsafeBytesEngine { (b) throws(StoreError) in try seek(b) } }
    guard let upper = range.upper else { return try seekLast() }
    return try upper.withUnsafeBytesEngine { (b) throws(StoreError) in try seek(before: b) }
  }
}
