/// How far a compaction has come.
public struct CompactionProgress: Sendable {
  /// Bytes of the file now.
  public var fileBytes: UInt64
  /// Bytes of it that hold pages and large values that are reached.
  public var liveBytes: UInt64
  /// Whether there is nothing more to gain.
  public var isFinished: Bool
}

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
  private static let patience = 3

  private var best: Figures?
  private var fruitless = 0

  /// To be called at the beginning of a step.
  mutating func begin(_ table: SegmentTable) {
    let now = Figures(table)
    // Commits have added more since than a compaction in steps would: it begins anew.
    if let best, now.coveredUnits <= best.coveredUnits + best.coveredUnits / 8 + 64 { return }
    best = now
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
    self = CompactionState()
    return false
  }
}

extension Store {
  /// Takes the compaction of the file a step further: empties the segments at its end, and those with dead bytes in
  /// them, by copying what is live into free room before them, and cuts the end off. Online: readers and writers go on
  /// between steps, and the file never grows. Call it until ``CompactionProgress/isFinished``, which comes even if open
  /// snapshots hold everything where it is.
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
    compaction.begin(space.table)
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
        moved = true
      } catch {
        guard case .deviceFull = error else { throw error }
      }
    }
    try releaseDeadSegments()
    if try moveLogDown() { moved = true }
    try trimFile(toEnd: true)
    let live = space.table.segments.reduce(UInt64(0)) { $0 + UInt64($1.live) }
    return CompactionProgress(
      fileBytes: UInt64(space.table.fileUnits) * UInt64(SegmentTable.unitSize), liveBytes: live,
      isFinished: !compaction.end(space.table, moved: moved))
  }

  /// Puts an empty log into free room further down, if its segments are the last ones of the file. Answers whether it
  /// did.
  ///
  /// The same steps as after a recovery: the new segments are durable before a superblock names them, and that is before
  /// the old ones are used again. Nothing is appended in between.
  private func moveLogDown() throws(StoreError) -> Bool {
    guard checkpointUnderWay == nil, current.frozen == nil, current.active.nodeCount == 0,
      current.active.trees.isEmpty, superblock.pieces.count == 1,
      superblock.pieces[0].firstSequence == appendedSequence + 1, let last = space.table.segments.last,
      last.kind == .log
    else { return false }
    let (old, oldSalts) = (log.segments, log.salts)
    let first: UInt32
    let second: UInt32
    space.limitUnit = last.start
    defer { space.limitUnit = nil }
    do throws(StoreError) {
      first = try prepareLogSegment()
      second = try prepareLogSegment()
    } catch {
      for start in log.segments where !old.contains(start) { space.table.remove(start: start) }
      log.segments = old
      log.salts = oldSalts
      guard case .deviceFull = error else { throw error }
      return false
    }
    try syncNow()
    var next = superblock
    next.publication += 1
    next.fileUnits = UInt64(space.table.fileUnits)
    enterLogSegment(first, next: second)
    next.pieces = [
      LogPiece(
        start: log.position, segment: first, session: log.session, firstSequence: appendedSequence + 1,
        checksumBefore: log.lastChecksum, next: second)
    ]
    try writeSuperblock(next)
    try syncNow()
    superblock = next
    space.durablePublication = next.publication
    log.pieces = next.pieces
    for start in old {
      log.segments.removeAll { $0 == start }
      log.salts[start] = nil
      space.table.remove(start: start)
    }
    return true
  }

  /// Compacts the file to the end: repeats ``compactStep(bytes:)``, telling `progress`, which may answer false to stop.
  public func compact(progress: (CompactionProgress) -> Bool = { _ in true }) throws(StoreError) {
    while true {
      let now = try compactStep()
      if !progress(now) || now.isFinished { return }
    }
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
