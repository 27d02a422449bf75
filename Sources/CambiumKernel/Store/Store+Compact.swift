/// How far a compaction has come.
public struct CompactionProgress: Sendable {
  /// Bytes of the file now.
  public var fileBytes: UInt64
  /// Bytes of it that hold pages and large values that are reached.
  public var liveBytes: UInt64
  /// Whether there is nothing more to gain.
  public var isFinished: Bool
}

extension Store {
  /// Takes the compaction of the file a step further: empties the segments at its end, and those with dead bytes in
  /// them, by copying what is live into free room before them, and cuts the end off. Online: readers and writers go on
  /// between steps, and the file never grows. Call it until ``CompactionProgress/isFinished``.
  ///
  /// - Parameter budget: about how many bytes to copy in this step.
  public func compactStep(bytes budget: Int = 4 << 20) throws(StoreError) -> CompactionProgress {
    try takeTurn()
    defer { endTurn() }
    try requireSession()
    try settleCheckpoints()
    if current.active.nodeCount > 0 || !current.active.trees.isEmpty {
      try beginCheckpoint()
      try finishCheckpoint()
    }
    try releaseDeadSegments()
    let before = space.table.usedUnits
    let freeBefore = space.table.freeUnits
    let weightBefore = weight
    let victims = compactionVictims(UInt64(max(budget, 1 << 16)))
    var moved = false
    if !victims.isEmpty {
      try pageWriter.leaveSegment()
      try valueWriter.leaveSegment()
      space.limitUnit = space.table.usedUnits
      defer { space.limitUnit = nil }
      do throws(StoreError) {
        try beginCheckpoint(plan: try plan(emptying: victims))
        try finishCheckpoint()
        // What the publication superseded is free only after the one that follows it has listed it as such.
        moved = true
      } catch {
        guard case .deviceFull = error else { throw error }
      }
    }
    try releaseDeadSegments()
    try trimFile(toEnd: true)
    let gained =
      space.table.usedUnits < before || space.table.freeUnits > freeBefore
      || weight < weightBefore - weightBefore / 1024
    let live = space.table.segments.reduce(UInt64(0)) { $0 + UInt64($1.live) }
    return CompactionProgress(
      fileBytes: UInt64(space.table.fileUnits) * UInt64(SegmentTable.unitSize), liveBytes: live,
      isFinished: !moved || !gained)
  }

  /// Compacts the file to the end: repeats ``compactStep(bytes:)``, telling `progress`, which may answer false to stop.
  public func compact(progress: (CompactionProgress) -> Bool = { _ in true }) throws(StoreError) {
    while true {
      let now = try compactStep()
      if !progress(now) || now.isFinished { return }
    }
  }

  /// How far from the start of the file its live bytes lie: a step that lowers it has made room for the next one, even
  /// if it has not cut the file yet.
  private var weight: UInt64 {
    var sum: UInt64 = 0
    for s in space.table.segments { sum += UInt64(s.start) * UInt64(s.live / 256) }
    return sum
  }

  /// The segments to be emptied next: those with the least live in them first, and the last one of the file if there is
  /// room before it, as many as fit the free room.
  private func compactionVictims(_ budget: UInt64) -> [Segment] {
    var free: UInt64 = 0
    var from = SegmentTable.firstUnit
    for s in space.table.segments {
      free += UInt64(s.start - from) * UInt64(SegmentTable.unitSize)
      from = s.end
    }
    // Paths above the moved pages and the directory are written anew as well.
    let overhead = UInt64(space.table.segments.count * Segment.encodedSize) + UInt64(pageSize) * 16
    var room = min(free > overhead ? (free - overhead) * 3 / 4 : 0, budget)
    var victims: [Segment] = []
    let movable = space.table.segments.filter { $0.kind != .log && $0.dead == 0 }
    let sparse = movable.filter { Int($0.live) * 100 < $0.length * 97 }.sorted {
      UInt64($0.live) * UInt64($1.length) < UInt64($1.live) * UInt64($0.length)
    }
    for s in sparse where UInt64(s.live) + UInt64(pageSize) * 2 <= room {
      victims.append(s)
      room -= UInt64(s.live)
    }
    // From the end of the file, as far as there are holes to fill before them.
    var holes: UInt64 = 0
    from = SegmentTable.firstUnit
    var holesBefore: [UInt32: UInt64] = [:]
    for s in space.table.segments {
      holes += UInt64(s.start - from) * UInt64(SegmentTable.unitSize)
      from = s.end
      holesBefore[s.start] = holes
    }
    for s in movable.reversed() where !victims.contains(where: { $0.start == s.start }) {
      guard UInt64(s.live) + UInt64(pageSize) * 2 <= min(room, (holesBefore[s.start] ?? 0) / 2) else { break }
      victims.append(s)
      room -= UInt64(s.live)
    }
    return victims
  }
}
