// The compaction of a stretch of the file: what lies in it is written anew, without a hole.
//
//     before  |   ...   | segments, log and holes, in any order | ...        |
//     1, 2    |   ...   |                 free                  | ...        | log | pages and values |
//     3       |   ...   | values |            free              | ...        | log | pages            |
//     4       |   ...   | values | pages, directory |    free   | ...        | log |
//     5       |   ...   | values | pages, directory | log |     | ...        |
//                                                        the next stretch begins here
//
// Each line but the first is a publication or two, made like any other: what an older one reaches is not written over.
// Log is moved if some of it lies in the stretch. A small store is a single one.

extension Store {
  /// The most live bytes of a stretch, and the least that is asked for: each leaves a few pages above it dead.
  private static var stretchBytes: ClosedRange<UInt64> { 1 << 20...4 << 20 }

  /// Whether a compaction is to write everything anew: at once, if all that is live is no more than `budget`; or,
  /// without one, now that moving single segments has come to its end.
  ///
  /// Moving things about in small holes ends with holes that nothing fits, and in a small file those are a large part
  /// of it. With an empty room to begin with, only the last unit of each kind of segment is not full.
  func mayRewrite(atOnce budget: UInt64?) -> Bool {
    guard compaction.mayRewrite, !isAnythingHeld else { return false }
    let sizes = LiveSizes(space.table.segments)
    let used = UInt64(space.table.usedUnits)
    let log = space.table.segments.reduce(UInt64(0)) { $0 + ($1.kind == .log ? UInt64($1.units) : 0) }
    guard UInt64(SegmentTable.firstUnit) + log + sizes.units < used else { return false }
    if sizes.bytes <= min(budget ?? .max, Self.stretchBytes.upperBound) { return true }
    // What holds the superblocks counts as well.
    let unit = UInt64(SegmentTable.unitSize)
    let most = (used - log) * unit
    return budget == nil && (most - min(most, sizes.bytes)) * 20 > used * unit
  }

  /// Writes the next stretch anew: to room behind the end of the file, and back. Answers whether another step is worth
  /// while.
  func rewriteNext(_ budget: UInt64) throws(StoreError) -> Bool {
    guard let left = compaction.stretches else { return false }
    let budget = max(Self.stretchBytes.lowerBound, min(budget, Self.stretchBytes.upperBound))
    var from = left.lowerBound
    while true {
      let (victims, end) = stretch(from: from, budget)
      guard let last = victims.last else { return false }
      let log = space.table.segments.reduce(UInt64(0)) {
        $0 + ($1.kind == .log && from <= $1.start && $1.start < end ? UInt64($1.units) : 0)
      }
      let room = UInt64(end - from)
      if LiveSizes(victims).units + log + room / 64 < room { break }
      // Dense as it is.
      from = last.end
      if !compaction.noteRewritten(below: from) { return false }
    }
    let (victims, end) = stretch(from: from, budget)
    do throws(StoreError) {
      if !isAnythingHeld, try rewrite(victims, from..<end) {
        let next = space.table.segments.last { $0.start < end }?.end ?? end
        return compaction.noteRewritten(below: next) && !stretch(from: next, 0).victims.isEmpty
      }
    } catch {
      guard case .deviceFull = error, checkpointUnderWay == nil else { throw error }
    }
    compaction.giveRewritingUp()
    return true
  }

  /// The segments from a unit on that hold up to `budget` live bytes, and where the first one behind them begins.
  private func stretch(from unit: UInt32, _ budget: UInt64) -> (victims: [Segment], end: UInt32) {
    var victims: [Segment] = []
    var live: UInt64 = 0
    for s in space.table.segments where s.kind != .log && s.start >= unit {
      live += UInt64(s.live)
      if !victims.isEmpty, live > budget { return (victims, s.start) }
      victims.append(s)
    }
    if victims.count > 1, isPlanted(.compactionMissesLastSegment) { victims.removeLast() }
    return (victims, space.table.usedUnits)
  }

  /// Moves what is live in `victims` behind the end of the file, and from there into `front`, in which nothing else is
  /// but log. Answers false if there was not enough room.
  private func rewrite(_ victims: [Segment], _ front: Range<UInt32>) throws(StoreError) -> Bool {
    let end = space.table.usedUnits
    let room = LiveSizes(victims).roomToMove(overhead: copyingOverhead) + UInt64(movedLogUnits.reduce(0, +))
    let (last, overflow) = end.addingReportingOverflow(UInt32(clamping: room))
    if overflow { return false }
    let behind = end..<last
    try space.extend(to: last)
    if space.table.segments.contains(where: { $0.kind == .log && front.contains($0.start) }) {
      guard try moveLog(into: behind) else { return false }
    }
    guard try empty(victims, into: SegmentBounds(behind)) else { return false }
    for kind in [Segment.Kind.values, .pages] {
      // The file was shortened to where its last segment ends.
      try space.extend(to: last)
      let bounds = kind == .values ? SegmentBounds(values: front, pages: behind) : SegmentBounds(front)
      let copies = space.table.segments.filter { $0.kind == kind && $0.dead == 0 && $0.start >= end }
      if copies.isEmpty { continue }
      guard try empty(copies, into: bounds) else { return false }
    }
    try releaseDeadSegments()
    _ = try moveLogDown()
    // A view that was opened meanwhile holds what is behind.
    return space.table.usedUnits <= end
  }

  /// Whether a view, in whatever process, or a retained commit would keep what is there now from becoming free.
  private var isAnythingHeld: Bool {
    !retained.isEmpty || !ownPins().isEmpty || hasForeignPins(before: nextPublication)
      || space.table.segments.contains { $0.dead != 0 }
  }
}

/// What is live in segments.
private struct LiveSizes {
  private var pages: UInt64 = 0
  private var values: UInt64 = 0

  init(_ segments: [Segment]) {
    for s in segments where s.kind != .log {
      if s.kind == .pages { pages += UInt64(s.live) } else { values += UInt64(s.live) }
    }
  }

  var bytes: UInt64 { pages + values }

  /// Units that it takes without holes.
  var units: UInt64 { Self.units(pages) + Self.units(values) }

  /// Units for a copy of all of it, and one of the pages and the directory that moving the values back makes.
  func roomToMove(overhead: UInt64) -> UInt64 {
    let exact = Self.units(pages + overhead) * 2 + Self.units(values)
    // A segment is left when the next extent does not fit it: two in a row hold more than 64 units of them.
    return exact + exact / 32 + 2
  }

  private static func units(_ bytes: UInt64) -> UInt64 {
    if bytes == 0 { return 0 }
    let unit = UInt64(SegmentTable.unitSize)
    return (bytes + UInt64(SegmentHeader.size) + unit - 1) / unit
  }
}
