import CambiumKernel

/// Goes through the entries of a spatial index that lie in an area, in the order of the curve: down from the whole
/// plane into the cells that the area lies across, and along the curve where cells have few entries.
///
/// A cell of which all is in the area is read from its first entry to its last. One that lies across is read until some
/// entries were outside, then divided; the parts that the curve has already left, and those with no entry, cost
/// nothing, so that the work is that of the entries found, and of the area's edge as far as there are entries at it.
struct SpatialWalk: ~Copyable {
  /// Cells of higher levels are divided without being read: of some of their places, only that they may be in the area
  /// is known, and there is not much in most of their parts.
  private static let mostRead: UInt8 = 29
  /// How many entries of a cell may be outside before it is divided. Reading an entry takes a tenth of the time of a
  /// seek.
  private static let patience = 8

  private let cursor: Cursor
  private let frame: SpatialFrame
  /// Where the cursor stands; nil before the first seek.
  private var place: KeyPlace?
  private var isAtEnd = false
  /// How many entries were read.
  private(set) var readCount = 0
  private let mostReads: Int

  typealias Visit = (KeyPlace, UInt64) throws(StoreError) -> Bool

  /// With `mostReads`, it ends after so many entries.
  init(_ cursor: Cursor, _ area: SpatialArea, mostReads: Int = .max) {
    self.cursor = cursor
    self.mostReads = mostReads
    frame = SpatialFrame(area)
  }

  /// Tells `visit` the places and rows of the area until it answers false. Answers whether those were all.
  @discardableResult
  mutating func run(_ visit: Visit) throws(StoreError) -> Bool {
    guard !frame.isEmpty else { return true }
    return try go(into: .plane, .across, visit)
  }

  /// Answers whether to go on. Goes as deep as the plane has levels, 32.
  private mutating func go(
    into cell: PlaneCell, _ relation: SpatialRelation, _ visit: Visit
  ) throws(StoreError) -> Bool {
    var cell = cell
    var relation = relation
    // While the area lies in one part alone, no entry need be looked at.
    while relation == .across, cell.level > 0 {
      var only: (PlaneCell, SpatialRelation)?
      var count = 0
      for number in 0..<4 {
        let part = cell.child(number)
        let relation = frame.relation(part)
        if relation != .outside {
          only = (part, relation)
          count += 1
        }
      }
      guard count < 2 else { break }
      guard let (part, its) = only else { return true }
      (cell, relation) = (part, its)
    }
    try seek(cell.code)
    let isRead = relation == .inside || cell.level <= Self.mostRead
    var misses = 0
    while isRead, let place, !isAtEnd, place.code <= cell.lastCode {
      if readCount > mostReads { return false }
      if relation == .inside || frame.area.contains(place.x, place.y) {
        if try !visit(place, try KeyDecoder.rowID(atEndOf: cursor.key).id) { return false }
      } else {
        if misses == Self.patience, cell.level > 0 { break }
        misses += 1
      }
      try next()
    }
    if isRead, misses < Self.patience { return true }
    for number in 0..<4 {
      guard let place, !isAtEnd, place.code <= cell.lastCode else { return true }
      let part = cell.child(number)
      guard part.lastCode >= place.code else { continue }
      let relation = frame.relation(part)
      if relation != .outside, try !go(into: part, relation, visit) { return false }
    }
    return true
  }

  /// To the first entry with a code of at least this one, if the cursor is not beyond it.
  private mutating func seek(_ code: UInt64) throws(StoreError) {
    if isAtEnd { return }
    if let place, place.code >= code { return }
    try read(try cursor.seek(KeyPlace.firstKey(code: code)))
  }

  private mutating func next() throws(StoreError) { try read(try cursor.next()) }

  private mutating func read(_ isThere: Bool) throws(StoreError) {
    isAtEnd = !isThere
    readCount &+= 1
    if isThere { place = try KeyPlace(atStartOf: cursor.key) }
  }
}
