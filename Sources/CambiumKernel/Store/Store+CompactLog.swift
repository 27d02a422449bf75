// Moving the log, as the steps of a compaction do.

extension Store {
  /// Puts an empty log into free room further down, if one of its segments is the last one of the file. Answers whether
  /// it did.
  func moveLogDown() throws(StoreError) -> Bool {
    guard let last = space.table.segments.last, last.kind == .log, last.start > SegmentTable.firstUnit else {
      return false
    }
    return try moveLog(into: SegmentTable.firstUnit..<last.start)
  }

  /// Puts an empty log into free room between `units`. Answers false, with nothing changed, if there is none, or if the
  /// log is not empty.
  ///
  /// The same steps as after a recovery: the new segments are durable before a superblock names them, and that is
  /// before the old ones are used again. Nothing is appended in between.
  func moveLog(into units: Range<UInt32>) throws(StoreError) -> Bool {
    guard checkpointUnderWay == nil, current.frozen == nil, current.active.nodeCount == 0,
      current.active.trees.isEmpty, superblock.pieces.count == 1,
      superblock.pieces[0].firstSequence == appendedSequence + 1, let firstUnits = movedLogUnits.first,
      let secondUnits = movedLogUnits.last
    else { return false }
    let old = log.segments
    let first: LogSegment
    let second: LogSegment
    space.bounds = SegmentBounds(units)
    defer { space.bounds = nil }
    do throws(StoreError) {
      first = try prepareLogSegment(units: firstUnits)
      second = try prepareLogSegment(units: secondUnits)
    } catch {
      for start in log.segments where !old.contains(start) { space.table.remove(start: start) }
      log.segments = old
      guard case .deviceFull = error else { throw error }
      return false
    }
    if !isPlanted(.movedLogNotSynced) { try syncNow() }
    var next = superblock
    next.publication += 1
    next.fileUnits = UInt64(space.table.fileUnits)
    try eraseMark()
    enterLogSegment(first, next: second)
    next.pieces = [log.piece(firstSequence: appendedSequence + 1)]
    try writeSuperblock(next)
    try syncNow()
    superblock = next
    space.durablePublication = next.publication
    log.pieces = next.pieces
    for start in old {
      log.segments.removeAll { $0 == start }
      space.table.remove(start: start)
    }
    return true
  }
}
