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
  /// Takes the compaction of the file a step further. Online: readers and writers go on between steps.
  ///
  /// What is live is copied, and what it leaves is cut off at the end of the file. A store of no more than `budget`
  /// live bytes is written anew as a whole. Of a larger one, the segments at the end, and those with dead bytes in
  /// them, are emptied into free room before them; when that does not help any more, and a twentieth of the file or
  /// more is dead, it is written anew stretch by stretch, 1 to 4 MiB a step. Then, or as soon as it is small enough,
  /// less than a twentieth of the file is dead, or less than one unit (16 KiB) each for pages and for large values,
  /// which is more in files of less than 656 KiB. Log is not counted.
  ///
  /// While a step writes a stretch anew, the file is longer by as much; when it returns, it is not. A view that is
  /// opened meanwhile may hold that room until the view is gone and a checkpoint has been made. Nothing is written anew
  /// while an open view or a retained commit holds what is there: then only what fits the free room is moved, and more
  /// may stay dead. Call it until ``CompactionProgress/isFinished``, which comes whatever is held and committed
  /// meanwhile.
  ///
  /// - Parameter budget: about how many bytes to move in this step; what is written anew is copied twice.
  public func compactStep(bytes budget: Int = 4 << 20) throws(StoreError) -> CompactionProgress {
    try compactStep(bytes: budget, isFirst: false)
  }

  /// - Parameter isFirst: Whether what steps before it have come to does not count.
  private func compactStep(bytes budget: Int, isFirst: Bool) throws(StoreError) -> CompactionProgress {
    try takeTurn()
    defer { endTurn() }
    if isFirst { compaction = CompactionState() }
    try requireSession()
    try publishEverything()
    try releaseDeadSegments()
    compaction.begin(space.table)
    let budget = UInt64(max(budget, 1 << 16))
    var goesOn = true
    if mayRewrite(atOnce: budget) { compaction.beginRewriting(SegmentTable.firstUnit..<space.table.usedUnits) }
    if compaction.stretches != nil {
      goesOn = try rewriteNext(budget)
    } else {
      goesOn = try moveSomething(budget)
      // Another kind of step is worth while then.
      if !goesOn, mayRewrite(atOnce: nil) {
        compaction.beginRewriting(SegmentTable.firstUnit..<space.table.usedUnits)
        goesOn = true
      }
    }
    if !goesOn { compaction = CompactionState() }
    try trimFile(toEnd: true)
    let live = space.table.segments.reduce(UInt64(0)) { $0 + UInt64($1.live) }
    return CompactionProgress(
      fileBytes: UInt64(space.table.fileUnits) * UInt64(SegmentTable.unitSize), liveBytes: live,
      isFinished: !goesOn)
  }

  /// The step of a compaction that goes on piece by piece. Answers whether another one is worth while.
  private func moveSomething(_ budget: UInt64) throws(StoreError) -> Bool {
    var moved = false
    for attempt in CompactionState.attempts where !moved {
      // An attempt that did not fit has left a checkpoint that was given up: nothing may be planned before that is
      // done.
      try settleCheckpoints()
      switch attempt {
      case .cutOff: moved = try cutOff()
      case .empty(let eighths): moved = try empty(compactionVictims(budget, filling: eighths), into: roomInFile)
      case .cutLast(let eighths): moved = try cutLast(budget, filling: eighths)
      }
    }
    try releaseDeadSegments()
    if try moveLogDown() { moved = true }
    return compaction.end(space.table, moved: moved)
  }

  /// Makes the units free that segments have not used yet, if there are any: without copying.
  private func cutOff() throws(StoreError) -> Bool {
    space.cuttableSegments > 0 ? try move(RelocationPlan(), to: roomInFile) : false
  }

  /// Where segments may go when the file is to end no later than now.
  var roomInFile: SegmentBounds { SegmentBounds(SegmentTable.firstUnit..<space.table.usedUnits) }

  /// Copies what is live in `victims` to free room in `bounds`. Answers false, with nothing changed, if it does not fit
  /// or there is nothing to do.
  func empty(_ victims: [Segment], into bounds: SegmentBounds) throws(StoreError) -> Bool {
    if victims.isEmpty { return false }
    try leaveSegments { s in victims.contains { $0.start == s.start } }
    return try move(try plan(emptying: victims), to: bounds)
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
    return try move(plan, to: roomInFile)
  }

  /// Makes the writers begin new segments if theirs are to be emptied, or soon will be, lying near the end.
  func leaveSegments(where isVictim: (Segment) -> Bool) throws(StoreError) {
    let staying = UInt64(space.table.usedUnits) - min(UInt64(space.table.usedUnits), space.table.freeUnits)
    for writer in [pageWriter, valueWriter] where writer.current != 0 {
      guard let i = space.table.index(start: writer.current) else { continue }
      let s = space.table[i]
      if UInt64(s.end) > staying || isVictim(s) { try writer.leaveSegment() }
    }
  }

  /// Moves what `plan` says by a checkpoint. Answers false, with nothing changed, if it does not fit.
  private func move(_ plan: RelocationPlan, to bounds: SegmentBounds) throws(StoreError) -> Bool {
    space.bounds = bounds
    let values = plan.extents.reduce(UInt64(0)) { $0 + UInt64($1.extent.storedLength) }
    pageWriter.expected = copyingOverhead + plan.bytes - min(plan.bytes, values)
    valueWriter.expected = values
    defer {
      if !isPlanted(.boundsOutliveMove) { space.bounds = nil }
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
      thawEmptyDelta()
      return false
    }
  }

  /// Compacts the file to the end: repeats ``compactStep(bytes:)``, telling `progress`, which may answer false to stop.
  public func compact(progress: (CompactionProgress) -> Bool = { _ in true }) throws(StoreError) {
    var isFirst = true
    while true {
      let now = try compactStep(bytes: 4 << 20, isFirst: isFirst)
      isFirst = false
      if !progress(now) || now.isFinished { return }
    }
  }
}
