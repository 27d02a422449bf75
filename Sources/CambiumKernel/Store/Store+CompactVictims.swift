// Which segments a step of a compaction empties.

extension Store {
  /// About what a step writes beside the pages and values that it moves: the directory, and pages above the moved ones.
  var copyingOverhead: UInt64 {
    directoryPages.reduce(UInt64(pageSize) * 2) { $0 + UInt64($1.length) }
  }

  /// Segments of which a thirty-second part or more holds nothing that is live, the emptiest first.
  private func sparseSegments() -> [Segment] {
    space.table.segments.filter { s in
      if s.kind == .log || s.dead != 0 { return false }
      return (s.length - SegmentHeader.size - Int(s.live)) * 32 > s.length
    }.ordered {
      UInt64($0.live) * UInt64($1.length) < UInt64($1.live) * UInt64($0.length)
    }
  }

  /// Whether emptying `victims` frees more units than the copies of what is live in them take.
  private func isWorthEmptying(_ victims: [Segment]) -> Bool {
    var pages = copyingOverhead
    var values: UInt64 = 0
    var units: UInt64 = 0
    for s in victims {
      units += UInt64(s.units)
      if s.kind == .pages { pages += UInt64(s.live) } else { values += UInt64(s.live) }
    }
    // What the old directory takes becomes free as well, but among live pages.
    func needed(_ bytes: UInt64) -> UInt64 {
      bytes == 0 ? 0 : (bytes + bytes / 256 + UInt64(SegmentTable.unitSize)) / UInt64(SegmentTable.unitSize)
    }
    return units > needed(pages) + needed(values)
  }

  /// The segments to be emptied next: the last ones of the file, as far as there is room before them, and those with
  /// the least live in them, as many as fit `eighths` of the free room.
  func compactionVictims(_ budget: UInt64, filling eighths: UInt64) -> [Segment] {
    var free: UInt64 = 0
    var from = SegmentTable.firstUnit
    for s in space.table.segments {
      free += UInt64(s.start - from) * UInt64(SegmentTable.unitSize)
      from = s.end
    }
    // What the writers have left of their segments counts as well.
    func tail(_ writer: SegmentWriter, below unit: UInt32) -> UInt64 {
      writer.current < unit ? UInt64(writer.room) : 0
    }
    let tails = tail(pageWriter, below: .max) + tail(valueWriter, below: .max)
    var room = min(free > copyingOverhead ? (free - copyingOverhead) * eighths / 8 + tails : 0, budget)
    var victims: [Segment] = []
    let movable = space.table.segments.filter { $0.kind != .log && $0.dead == 0 }
    // From the end of the file, as far as there are holes to fill before them.
    var holes: UInt64 = 0
    from = SegmentTable.firstUnit
    var holesBefore: [UInt32: UInt64] = [:]
    for s in space.table.segments {
      holes += UInt64(s.start - from) * UInt64(SegmentTable.unitSize)
      from = s.end
      holesBefore[s.start] = holes
    }
    for s in movable.reversed() {
      let below = tail(s.kind == .pages ? pageWriter : valueWriter, below: s.start)
      let fits = min(room, (holesBefore[s.start] ?? 0) * eighths / 8 + below)
      guard UInt64(s.live) + UInt64(pageSize) * 2 <= fits else { break }
      victims.append(s)
      room -= UInt64(s.live)
    }
    var sparse: [Segment] = []
    for s in sparseSegments() where UInt64(s.live) + UInt64(pageSize) * 2 <= room {
      if victims.contains(where: { $0.start == s.start }) { continue }
      sparse.append(s)
      room -= UInt64(s.live)
    }
    return isWorthEmptying(sparse) ? victims + sparse : victims
  }
}
