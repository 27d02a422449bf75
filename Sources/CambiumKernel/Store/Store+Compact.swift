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
  private static let patience = 8

  /// How often room behind the end of the file may be taken for a while.
  private static let mostLendings = 8

  private var best: Figures?
  private var unitsAtStart: UInt32 = 0
  private var fruitless = 0
  private var lendings = 0

  /// What a step tries, in this order, until something works. What is left over in each hole and segment that is filled
  /// may be too much when seven eighths of the free room are to be filled.
  enum Attempt {
    /// Make the units free that segments have not used.
    case cutOff
    /// Empty whole segments into free room before the end of the file.
    case empty(eighths: UInt64)
    /// Empty the end of the last segment.
    case cutLast(eighths: UInt64)
    /// Empty segments into room behind the end of the file.
    case lend
  }

  var attempts: [Attempt] {
    // When steps move things about without getting further, that is not tried again first.
    let isStuck = fruitless > 1
    return [.cutOff] + (isStuck ? [.lend] : [])
      + [.empty(eighths: 7), .empty(eighths: 4), .cutLast(eighths: 7), .cutLast(eighths: 4)] + (isStuck ? [] : [.lend])
  }

  /// Whether a step may take room behind the end of the file, as steps after it will give back.
  var mayLend: Bool { lendings < Self.mostLendings }

  mutating func noteLending() {
    lendings += 1
    fruitless = 0
  }

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
    self = CompactionState()
    return isWorthAnother
  }
}

extension Store {
  /// Takes the compaction of the file a step further: empties the segments at its end, and those with dead bytes in
  /// them, by copying what is live into free room before them, and cuts the end off. Online: readers and writers go on
  /// between steps. The file grows for a few steps at most, by about the budget and no more than 4 MiB, when a twentieth of
  /// it or more is dead and what is free is not where it is needed; that is given back. Call it until
  /// ``CompactionProgress/isFinished``, which comes even if open snapshots hold everything where it is.
  ///
  /// - Parameter budget: about how many bytes to copy in this step.
  public func compactStep(bytes budget: Int = 4 << 20) throws(StoreError) -> CompactionProgress {
    try takeTurn()
    defer { endTurn() }
    try requireSession()
    try publishEverything()
    try releaseDeadSegments()
    compaction.begin(space.table)
    let budget = UInt64(max(budget, 1 << 16))
    var moved = false
    var hasLent = false
    for attempt in compaction.attempts where !moved {
      // An attempt that did not fit has left a checkpoint that was given up: nothing may be planned before that is done.
      try settleCheckpoints()
      switch attempt {
      case .cutOff: moved = try cutOff()
      case .empty(let eighths): moved = try empty(compactionVictims(budget, filling: eighths))
      case .cutLast(let eighths): moved = try cutLast(budget, filling: eighths)
      case .lend:
        moved = try lend(budget)
        hasLent = moved
      }
    }
    try releaseDeadSegments()
    if try moveLogDown(toFront: hasLent) { moved = true }
    try trimFile(toEnd: true)
    let live = space.table.segments.reduce(UInt64(0)) { $0 + UInt64($1.live) }
    return CompactionProgress(
      fileBytes: UInt64(space.table.fileUnits) * UInt64(SegmentTable.unitSize), liveBytes: live,
      isFinished: !compaction.end(space.table, moved: moved))
  }

  /// Makes the units free that segments have not used yet, if there are any: without copying.
  private func cutOff() throws(StoreError) -> Bool {
    space.cuttableSegments > 0 ? try move(RelocationPlan(), lent: 0) : false
  }

  /// Copies what is live in `victims` to free room before the end of the file, or up to `lent` units behind it. Answers
  /// false, with nothing changed, if it does not fit or there is nothing to do.
  private func empty(_ victims: [Segment], lent: UInt32 = 0) throws(StoreError) -> Bool {
    if victims.isEmpty { return false }
    try leaveSegments { s in victims.contains { $0.start == s.start } }
    return try move(try plan(emptying: victims), lent: lent)
  }

  /// Copies what is live at the end of the last segment to free room before it, and cuts the segment, if all of it does
  /// not fit.
  private func cutLast(_ budget: UInt64, filling eighths: UInt64) throws(StoreError) -> Bool {
    guard let last = space.table.segments.last, last.kind != .log, last.dead == 0, last.units > 1 else { return false }
    try leaveSegments { $0.start == last.start }
    let free = space.table.freeUnits * UInt64(SegmentTable.unitSize)
    guard free > copyingOverhead,
      let plan = try plan(cutting: last, room: min((free - copyingOverhead) * eighths / 8, budget))
    else { return false }
    space.cut = plan.cut
    defer { space.cut = nil }
    return try move(plan, lent: 0)
  }

  /// Makes the writers begin new segments if theirs are to be emptied, or soon will be, lying near the end.
  private func leaveSegments(where isVictim: (Segment) -> Bool) throws(StoreError) {
    let staying = UInt64(space.table.usedUnits) - min(UInt64(space.table.usedUnits), space.table.freeUnits)
    for writer in [pageWriter, valueWriter] where writer.current != 0 {
      guard let i = space.table.index(start: writer.current) else { continue }
      let s = space.table[i]
      if UInt64(s.end) > staying || isVictim(s) { try writer.leaveSegment() }
    }
  }

  /// Moves what `plan` says by a checkpoint. Answers false, with nothing changed, if it does not fit.
  private func move(_ plan: RelocationPlan, lent: UInt32) throws(StoreError) -> Bool {
    space.limitUnit = space.table.usedUnits + lent
    let values = plan.extents.reduce(UInt64(0)) { $0 + UInt64($1.extent.storedLength) }
    pageWriter.expected = copyingOverhead + plan.bytes - min(plan.bytes, values)
    valueWriter.expected = values
    defer {
      space.limitUnit = nil
      pageWriter.expected = nil
      valueWriter.expected = nil
    }
    do throws(StoreError) {
      try beginCheckpoint(plan: plan)
      try finishCheckpoint()
      return true
    } catch {
      // A checkpoint that is still there was not given up: writing its superblock failed.
      guard case .deviceFull = error, checkpointUnderWay == nil else { throw error }
      return false
    }
  }

  /// Puts an empty log into free room further down, if one of its segments is the last one of the file, or, `toFront`,
  /// below where it is: what comes next to the room that was just made then finds it in one piece. Answers whether it did.
  ///
  /// The same steps as after a recovery: the new segments are durable before a superblock names them, and that is before
  /// the old ones are used again. Nothing is appended in between.
  private func moveLogDown(toFront: Bool) throws(StoreError) -> Bool {
    guard checkpointUnderWay == nil, current.frozen == nil, current.active.nodeCount == 0,
      current.active.trees.isEmpty, superblock.pieces.count == 1,
      superblock.pieces[0].firstSequence == appendedSequence + 1, let last = space.table.segments.last,
      last.kind == .log || toFront, let lowest = log.segments.min()
    else { return false }
    let (old, oldSalts) = (log.segments, log.salts)
    let first: UInt32
    let second: UInt32
    space.limitUnit = toFront ? lowest : last.start
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
    try eraseMark()
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

  /// Empties segments into room behind the end of the file, when too little of it can be gained within: what they leave
  /// takes in, in the next steps, what is behind the end now. Answers false, with nothing changed, if that is not worth
  /// while, or has been done too often.
  private func lend(_ budget: UInt64) throws(StoreError) -> Bool {
    let unit = UInt64(SegmentTable.unitSize)
    // What holds the superblocks counts as well, and is little but in a small file.
    var dead = (space.table.freeUnits + UInt64(SegmentTable.firstUnit)) * unit
    for s in space.table.segments where s.kind != .log {
      dead += s.wasted
    }
    guard compaction.mayLend, dead * 100 > UInt64(space.table.usedUnits) * unit * 5 else { return false }
    let victims = lendingVictims(min(budget, 4 << 20))
    if victims.isEmpty { return false }
    let live = victims.reduce(UInt64(0)) { $0 + UInt64($1.live) }
    let freed = victims.reduce(UInt64(0)) { $0 + UInt64($1.units) }
    let needed = (live + copyingOverhead) * 9 / 8 / unit + 2
    guard needed < freed + UInt64(space.table.usedUnits) / 8 + 8 else { return false }
    do throws(StoreError) {
      try space.reserve(needed)
    } catch {
      guard case .deviceFull = error else { throw error }
      return false
    }
    guard try empty(victims, lent: UInt32(clamping: needed)) else { return false }
    compaction.noteLending()
    return true
  }

  /// Segments to be emptied into room behind the end of the file, with up to `limit` live bytes: the sparsest, or
  /// neighbours that become one run of free room with the holes between them, whichever makes more free.
  private func lendingVictims(_ limit: UInt64) -> [Segment] {
    var sparse: [Segment] = []
    var live: UInt64 = 0
    var gained: UInt64 = 0
    for s in sparseSegments() where sparse.isEmpty || live + UInt64(s.live) <= limit {
      sparse.append(s)
      live += UInt64(s.live)
      gained += s.wasted
    }
    let movable = space.table.segments.filter { $0.kind != .log && $0.dead == 0 }
    // The end of the room that something else takes before each segment.
    var ends: [UInt32] = []
    var end = SegmentTable.firstUnit
    for s in space.table.segments {
      if s.kind != .log, s.dead == 0 { ends.append(end) }
      end = s.end
    }
    var best = 0..<0
    var first = 0
    var dead: UInt64 = 0
    live = 0
    func waste(_ i: Int) -> UInt64 {
      let s = movable[i]
      return UInt64(s.start - ends[i]) * UInt64(SegmentTable.unitSize) + s.wasted
    }
    for next in movable.indices {
      live += UInt64(movable[next].live)
      dead += waste(next)
      while live > limit, first < next {
        live -= UInt64(movable[first].live)
        dead -= waste(first)
        first += 1
      }
      if live <= limit, dead > gained {
        gained = dead
        best = first..<(next + 1)
      }
    }
    return best.isEmpty ? sparse : Array(movable[best])
  }

  /// About what a step writes beside the pages and values that it moves: the directory, and pages above the moved ones.
  private var copyingOverhead: UInt64 {
    directoryPages.reduce(UInt64(pageSize) * 2) { $0 + UInt64($1.length) }
  }

  /// Segments of which a thirty-second part or more holds nothing that is live, the emptiest first.
  private func sparseSegments() -> [Segment] {
    space.table.segments.filter { s in
      if s.kind == .log || s.dead != 0 { return false }
      return (s.length - SegmentHeader.size - Int(s.live)) * 32 > s.length
    }.sorted {
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

  /// The segments to be emptied next: the last ones of the file, as far as there is room before them, and those with the
  /// least live in them, as many as fit `eighths` of the free room.
  private func compactionVictims(_ budget: UInt64, filling eighths: UInt64) -> [Segment] {
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
