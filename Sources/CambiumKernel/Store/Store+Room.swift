// How long the file may be: twice what is reached, the log, and a constant. Checkpoints keep the dead part of segments
// small (`planRelocation`); here the file is brought down where it has become longer than what is in it asks for, as
// after a transaction that deleted most of it, or wrote it anew, and so left its free room in front of what is live.

extension Store {
  /// Steps in a row that may leave the file as long as it was.
  private static var patience: Int { 2 }

  /// Bytes that a step moves at least, if there are as many: it costs two syncs whatever it moves.
  private static var leastBudget: UInt64 { 4 << 20 }

  /// With no more changes in memory than these, in bytes, a commit takes them into pages at once to move the log.
  private static var mostToPublish: Int { 1 << 20 }

  /// How many commits come between two looks whether room can be given back that something held before.
  private static var commitsBetweenLooks: UInt64 { 32 }

  /// The most bytes that the file should have. It is the sum of four things: twice what the newest state, views and
  /// retained commits reach, the log, the room that commits keep for the next checkpoint, and a constant.
  ///
  /// A segment that is dead but held counts as a whole: a generation that is held lists it with something live in it.
  /// Right after ``Store/freeDeadSegments()`` no other dead segment is in the table.
  ///
  /// - Complexity: O(segments).
  var mostFileBytes: UInt64 {
    var reached: UInt64 = 0
    var log: UInt64 = 0
    for s in space.table.segments {
      if s.kind == .log { log += UInt64(s.length) } else { reached += s.dead != 0 ? UInt64(s.length) : UInt64(s.live) }
    }
    let reserve = (reserveUnits() + UInt64(space.preferredUnits)) * UInt64(SegmentTable.unitSize)
    return reached * 2 + log + reserve + spareBytes
  }

  /// Whether the file is longer than that, and would be shorter if its end was cut off.
  var isFileTooLong: Bool {
    !device.isOfFixedSize && UInt64(space.table.fileUnits) * UInt64(SegmentTable.unitSize) > mostFileBytes
  }

  /// Notes, right after room was given back, whether there is more that somebody holds, or that has to be moved.
  func noteRoom() {
    owesRoom = isFileTooLong || space.table.segments.contains { $0.kind != .log && $0.dead != 0 }
    if isPlanted(.roomDebtForgotten) { owesRoom = false }
  }

  /// Brings the file down to its bound, step by step, others having the turn in between. What it meets does not concern
  /// who calls it: what is committed is committed, and the next ones try again.
  func settleRoom() {
    var fruitless = 0
    while fruitless < Self.patience {
      // Closed or poisoned meanwhile: there is nothing left to do.
      do throws(StoreError) { try takeTurn() } catch { return }
      let before = space.table.fileUnits
      var goesOn = false
      do throws(StoreError) { goesOn = try roomStep() } catch { noteMaintenanceFailure(error) }
      fruitless = space.table.fileUnits < before ? 0 : fruitless + 1
      endTurn()
      if !goesOn { return }
    }
  }

  /// The same with the turn, by who closes the store.
  func settleRoomAtEnd() throws(StoreError) {
    var fruitless = 0
    while fruitless < Self.patience {
      let before = space.table.fileUnits
      if try !roomStep() { return }
      fruitless = space.table.fileUnits < before ? 0 : fruitless + 1
    }
  }

  /// Moves what lies at the end of the file into free room before it, if the file is too long; answers whether another
  /// step is worth while. With the turn.
  private func roomStep(budget: UInt64? = nil) throws(StoreError) -> Bool {
    try releaseDeadSegments()
    guard isFileTooLong else { return false }
    try requireSession()
    try publishEverything()
    let used = UInt64(space.table.usedUnits) * UInt64(SegmentTable.unitSize)
    var moved = try empty(compactionVictims(budget ?? max(Self.leastBudget, used / 16), filling: 7), into: roomInFile)
    // One that did not fit has left a checkpoint that was given up.
    if !moved { try settleCheckpoints() }
    try releaseDeadSegments()
    if try moveLogDown() { moved = true }
    try trimFile()
    noteRoom()
    return moved && isFileTooLong
  }

  /// Takes what commits owe a step further: at once where little is committed that is not in pages yet, since the log
  /// can be moved then; else what it answers is for a checkpoint to move, a few pages with every commit. Nil if there
  /// is nothing for one to do. With the turn, and no checkpoint under way.
  func planForRoom() throws(StoreError) -> RelocationPlan? {
    roomLooks &+= 1
    guard owesRoom, roomLooks % Self.commitsBetweenLooks == 0 else { return nil }
    try releaseDeadSegments()
    guard isFileTooLong else { return nil }
    if current.frozen == nil, current.active.bytes <= Self.mostToPublish {
      _ = try roomStep(budget: Self.leastBudget)
      return nil
    }
    let victims = compactionVictims(Self.leastBudget, filling: 4)
    if victims.isEmpty { return nil }
    try leaveSegments { s in victims.contains { $0.start == s.start } }
    return try plan(emptying: victims)
  }
}
