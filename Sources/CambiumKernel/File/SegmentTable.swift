/// Who owns which part of the file. What no segment covers is free.
///
/// Invariants: segments are sorted by start and do not overlap; `fileUnits` is not less than any segment's end.
struct SegmentTable {
  /// 16 KiB: the grain of the file.
  static let unitSize = 16384
  /// 1 MiB: the largest segment.
  static let maxUnits = 64
  /// Unit 0 is the superblock's.
  static let firstUnit: UInt32 = 1

  private(set) var segments: [Segment] = []
  /// Units that segments cover: asked for by every commit.
  private var coveredUnits: UInt64 = 0
  /// Length of the file in units, as reserved on the device.
  var fileUnits: UInt32 = firstUnit

  init() {}

  /// A table of these segments.
  ///
  /// - Parameter overlaps: whether two of them share room; the second one is left out then.
  init(_ list: [Segment], _ overlaps: inout Bool) {
    overlaps = false
    // A directory has them in order.
    var end: UInt32 = 0
    var covered: UInt64 = 0
    var isInOrder = true
    for s in list {
      if s.start < end {
        isInOrder = false
        break
      }
      end = s.end
      covered += UInt64(s.units)
    }
    if isInOrder {
      segments = list
      coveredUnits = covered
      fileUnits = max(Self.firstUnit, end)
    } else {
      for s in list where !insert(s) { overlaps = true }
    }
  }

  /// Index of the segment that holds `address`.
  func index(of address: UInt64) -> Int? {
    let unit = address / UInt64(Self.unitSize)
    var low = 0
    var high = segments.count
    while low < high {
      let middle = (low + high) / 2
      if UInt64(segments[middle].start) <= unit { low = middle + 1 } else { high = middle }
    }
    guard low > 0, UInt64(segments[low - 1].end) > unit else { return nil }
    return low - 1
  }

  func index(start: UInt32) -> Int? {
    guard let i = index(of: UInt64(start) * UInt64(Self.unitSize)), segments[i].start == start else { return nil }
    return i
  }

  subscript(_ i: Int) -> Segment {
    get { segments[i] }
    set {
      coveredUnits = coveredUnits &- UInt64(segments[i].units) &+ UInt64(newValue.units)
      segments[i] = newValue
    }
  }

  /// Adds a segment; answers false, and adds nothing, if it overlaps another one.
  mutating func insert(_ s: Segment) -> Bool {
    var low = 0
    var high = segments.count
    while low < high {
      let middle = (low + high) / 2
      if segments[middle].start < s.start { low = middle + 1 } else { high = middle }
    }
    if low > 0, segments[low - 1].end > s.start { return false }
    if low < segments.count, s.end > segments[low].start { return false }
    segments.insert(s, at: low)
    coveredUnits += UInt64(s.units)
    if s.end > fileUnits { fileUnits = s.end }
    return true
  }

  mutating func remove(start: UInt32) {
    if let i = index(start: start) { coveredUnits -= UInt64(segments.remove(at: i).units) }
  }

  mutating func removeAll(where match: (Segment) -> Bool) {
    segments.removeAll(where: match)
    coveredUnits = 0
    for s in segments { coveredUnits += UInt64(s.units) }
  }

  /// The end of the last segment: what lies behind it can be cut off.
  var usedUnits: UInt32 { segments.last?.end ?? Self.firstUnit }

  /// Units that no segment covers, within the file.
  var freeUnits: UInt64 {
    UInt64(fileUnits - Self.firstUnit) - coveredUnits
  }

  /// A free run of `wanted` units within the file, or of fewer, but at least `least`: the lowest that is as long as
  /// wanted, else the longest. Within `bounds` only, if there are any.
  func findFree(wanted: UInt32, least: UInt32, in bounds: Range<UInt32>? = nil) -> (start: UInt32, units: UInt32)? {
    var best: (start: UInt32, units: UInt32)?
    let limit = bounds?.upperBound ?? .max
    let first = max(Self.firstUnit, bounds?.lowerBound ?? 0)
    var from = first
    var i = 0
    while true {
      let to = min(i < segments.count ? segments[i].start : fileUnits, limit)
      if to > from {
        let units = to - from
        if units >= wanted { return (from, wanted) }
        if units >= least, units > (best?.units ?? 0) { best = (from, units) }
      }
      guard i < segments.count, segments[i].start < limit else { return best }
      from = max(first, segments[i].end)
      i += 1
    }
  }
}
