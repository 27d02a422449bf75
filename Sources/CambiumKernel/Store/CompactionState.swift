/// What a compaction in steps has reached so far. Every step has to get further than all the steps before it, or a few
/// may fail to in a row: so it ends, whatever snapshots hold back and commits do meanwhile.
struct CompactionState {
  /// What a compaction makes smaller, the most important first.
  private struct Figures {
    /// Where the last segment ends.
    var usedUnits: UInt32
    /// Units in segments of pages and values.
    var coveredUnits: UInt64
    /// How far from the start of the file the live bytes lie.
    var weight: UInt64

    init(_ table: SegmentTable) {
      usedUnits = table.usedUnits
      coveredUnits = 0
      weight = 0
      for s in table.segments where s.kind != .log {
        coveredUnits += UInt64(s.units)
        weight += UInt64(s.start) * UInt64(s.live / 256)
      }
    }

    func isLess(than other: Figures) -> Bool {
      if usedUnits != other.usedUnits { return usedUnits < other.usedUnits }
      if coveredUnits != other.coveredUnits { return coveredUnits < other.coveredUnits }
      return weight < other.weight - other.weight / 1024
    }
  }

  /// A step may have to make room for the next one.
  private static let patience = 8

  private var best: Figures?
  private var unitsAtStart: UInt32 = 0
  private var fruitless = 0

  /// What is left to be written anew, a stretch a step; nil while single segments are moved.
  private(set) var stretches: Range<UInt32>?
  /// Whether that may begin: it is done once.
  private(set) var mayRewrite = true

  /// What a step tries, in this order, until something works. What is left over in each hole and segment that is filled
  /// may be too much when seven eighths of the free room are to be filled.
  enum Attempt {
    /// Make the units free that segments have not used.
    case cutOff
    /// Empty whole segments into free room before the end of the file.
    case empty(eighths: UInt64)
    /// Empty the end of the last segment.
    case cutLast(eighths: UInt64)
  }

  static let attempts: [Attempt] = [
    .cutOff, .empty(eighths: 7), .empty(eighths: 4), .cutLast(eighths: 7), .cutLast(eighths: 4),
  ]

  /// From now on everything in `units` is written anew.
  mutating func beginRewriting(_ units: Range<UInt32>) {
    mayRewrite = false
    stretches = units
  }

  /// To be called when what lies below `unit` has been written anew; answers whether something is left.
  mutating func noteRewritten(below unit: UInt32) -> Bool {
    guard let rest = stretches, unit < rest.upperBound else { return false }
    stretches = max(unit, rest.lowerBound)..<rest.upperBound
    return true
  }

  /// Goes back to moving single segments.
  mutating func giveRewritingUp() { stretches = nil }

  /// To be called at the beginning of a step.
  mutating func begin(_ table: SegmentTable) {
    let now = Figures(table)
    // Commits have added more since than a compaction in steps would: it begins anew.
    if let best, now.coveredUnits <= best.coveredUnits + best.coveredUnits / 8 + 64 { return }
    best = now
    unitsAtStart = now.usedUnits
    fruitless = 0
  }

  /// To be called at the end of a step; answers whether another one is worth while.
  mutating func end(_ table: SegmentTable, moved: Bool) -> Bool {
    let now = Figures(table)
    if let best, !now.isLess(than: best) {
      fruitless += 1
    } else {
      best = now
      fruitless = 0
    }
    if moved, fruitless <= Self.patience { return true }
    // What made the file shorter by a hundredth may, from its new shape, do so again.
    let isWorthAnother = now.usedUnits < unitsAtStart - unitsAtStart / 100
    best = nil
    return isWorthAnother
  }
}
