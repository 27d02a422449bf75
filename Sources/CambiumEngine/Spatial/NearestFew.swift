import CambiumKernel

/// Finds a few places that are nearest, exactly, by the stretches of the curve that they can lie on.
///
/// The entries behind the place on the curve, and then those before it, are near as a rule: the last of as many as are
/// wanted tells how far away these can be at most. What lies on the curve within that reach is read, and the reach is
/// taken anew as nearer ones are found. This takes a tenth of what a heap of cells does (``NearestPlaces``), which is
/// there for those who want many, and where the data or the place are unusual: it gives up then.
struct NearestFew {
  typealias Found = NearestPlaces.Found

  /// How many it can be asked for.
  static let most = 256

  private let distance: SpatialDistance
  private let wanted: Int
  /// What is further away is not wanted.
  private var bound: Double
  private var reach: SpatialReach
  /// The measure that the reach is of.
  private var reachMeasure = Double.infinity
  /// The nearest so far, in their order.
  private var found: [Found] = []
  private var readCount = 0
  private let mostRead: Int

  private init(_ distance: SpatialDistance, _ wanted: Int, _ limit: Double) {
    self.distance = distance
    self.wanted = wanted
    bound = limit
    reach = SpatialReach(distance)
    found.reserveCapacity(wanted)
    mostRead = 128 + 24 * wanted
  }

  /// As many places as are wanted, the nearest first, equally near ones by row, none of them beyond a measure; fewer if
  /// there are no more. nil if it gives up.
  static func find(
    _ trees: TreeView, _ tree: TreeID, _ distance: SpatialDistance, wanted: Int, upTo limit: Double
  ) throws(StoreError) -> [Found]? {
    guard wanted > 0, wanted <= most, SpatialReach.serves(distance) else { return nil }
    var search = NearestFew(distance, wanted, limit)
    return try search.run(trees, tree) ? search.found : nil
  }

  /// Answers whether all are found.
  private mutating func run(_ trees: TreeView, _ tree: TreeID) throws(StoreError) -> Bool {
    var cursor = try trees.places(tree)
    let code = PlaneCell.code(PlaneAxis.step(distance.x), PlaneAxis.step(distance.y))
    // Of more than a third of the sphere there is no reach, and what is behind the place is near as a rule.
    if bound < .infinity, reach.take(bound) {
      reachMeasure = bound
      try walk(&cursor, from: code, through: .max)
      try readUncommon(&cursor, nil)
      if code > 0 { try walk(&cursor, from: 0, through: code - 1) }
      return readCount <= mostRead
    }
    // What is behind the place on the curve, as much as it takes; all entries up to a code.
    var end: UInt64?
    try cursor.forEach(from: code) { (place, row) throws(StoreError) in
      if let end, place.code > end { return nil }
      offer(place, row)
      if readCount > mostRead { return nil }
      if end == nil, found.count == wanted { end = place.code }
      return 0
    }
    if readCount > mostRead { return false }
    var start = code
    if let end {
      guard takeReach() else { return false }
      // As much of the curve on the other side.
      if code > 0 {
        start = code - min(code, end - code)
        try walk(&cursor, from: start, through: code - 1)
      }
      try readUncommon(&cursor, code...end)
    } else {
      // There are not enough behind it.
      guard let least = try readBack(trees, tree, before: code) else { return readCount <= mostRead }
      guard takeReach() else { return false }
      start = least
      try readUncommon(&cursor, start ... .max)
    }
    if start > 0 { try walk(&cursor, from: 0, through: start - 1) }
    if let end, end < .max { try walk(&cursor, from: end + 1, through: .max) }
    return readCount <= mostRead
  }

  /// Reads back along the curve until there are enough. Answers the least code of which all entries were read; nil if
  /// those were all that there are.
  private mutating func readBack(
    _ trees: TreeView, _ tree: TreeID, before code: UInt64
  ) throws(StoreError) -> UInt64? {
    let cursor = try trees.cursor(tree)
    var more = try KeyPlace.firstKey(code: code).withUnsafeBytesEngine { (b) throws(StoreError) in
      try cursor.seek(before: b)
    }
    var least: UInt64?
    while more, readCount <= mostRead {
      let place = try KeyPlace(atStartOf: cursor.key)
      if let least, place.code < least { return least }
      offer(place, try KeyDecoder.rowID(atEndOf: cursor.key).id)
      if found.count == wanted { least = place.code }
      more = try cursor.previous()
    }
    return nil
  }

  /// Reads what is not of common degrees, except between codes of which all was read.
  private mutating func readUncommon(
    _ cursor: inout PlaceCursor, _ done: ClosedRange<UInt64>?
  ) throws(StoreError) {
    let uncommon = reach.uncommon
    guard !uncommon.isEmpty, readCount <= mostRead else { return }
    var at = 0
    try cursor.forEach(from: 0) { (place, row) throws(StoreError) in
      while at < uncommon.count, uncommon[at].last < place.code { at += 1 }
      guard at < uncommon.count, readCount <= mostRead else { return nil }
      if place.code < uncommon[at].first { return uncommon[at].first }
      if let done, done.contains(place.code) { return done.upperBound == .max ? nil : done.upperBound + 1 }
      offer(place, row)
      return 0
    }
  }

  /// Reads what is in reach between two codes.
  private mutating func walk(
    _ cursor: inout PlaceCursor, from low: UInt64, through high: UInt64
  ) throws(StoreError) {
    var at = 0
    while at < reach.stretches.count, reach.stretches[at].last < low { at += 1 }
    guard at < reach.stretches.count, reach.stretches[at].first <= high, readCount <= mostRead else { return }
    try cursor.forEach(from: max(low, reach.stretches[at].first)) { (place, row) throws(StoreError) in
      if place.code > high || readCount > mostRead { return nil }
      // Nearer ones may have made the reach much smaller.
      if bound < reachMeasure / 2 {
        guard takeReach() else { return nil }
        at = 0
      }
      while at < reach.stretches.count, reach.stretches[at].last < place.code { at += 1 }
      if at == reach.stretches.count { return nil }
      if place.code < reach.stretches[at].first { return reach.stretches[at].first }
      if reach.excludes(place.x, place.y) { readCount &+= 1 } else { offer(place, row) }
      return 0
    }
  }

  /// Takes the reach of what is known. Answers whether there is one.
  private mutating func takeReach() -> Bool {
    reachMeasure = bound
    if reach.take(bound) { return true }
    // It has no end that can be told: giving up is all that is left.
    readCount = mostRead + 1
    return false
  }

  /// Keeps a place if it is one of the nearest so far.
  private mutating func offer(_ place: KeyPlace, _ row: UInt64) {
    readCount &+= 1
    guard let measure = distance.measure(place.x, place.y), measure <= bound else { return }
    let new = Found(row: row, measure: measure)
    if found.count == wanted {
      guard let last = found.last, new.precedes(last) else { return }
      found.removeLast()
    }
    var at = found.count
    while at > 0, new.precedes(found[at - 1]) { at -= 1 }
    found.insert(new, at: at)
    if found.count == wanted, let last = found.last { bound = last.measure }
  }
}
