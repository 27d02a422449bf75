// Locks between the processes that share a file. They are advisory, belong to one open file each, and lie on bytes
// beyond any data:
//
//     2^62         +1        +2       +3        +4         +5 ... +7       +8        + 2^20 + g
//     +-----------+---------+--------+---------+----------+---------------+---------+--------------------------
//     | exclusive | shared  | turn   | queue   | writers  | durability    | stages  | pins: one byte a generation
//     | use       | use     |        |         |          | full, .., none|         |
//     +-----------+---------+--------+---------+----------+---------------+---------+--------------------------

/// Whether a lock shuts out every other, or only exclusive ones.
public enum StoreLockKind: Sendable {
  /// Beside any number of other shared locks.
  case shared
  /// Beside none.
  case exclusive
}

/// Locks on ranges of a device, by which the processes that have it open agree. Each device object is an owner of its
/// own: its locks are dropped when it is closed or its process ends, and never stand in its own way.
///
/// Any thread may call. Throws `StoreError.device(operation: .lock, ...)` only.
public protocol StoreLocks: AnyObject, Sendable {
  /// Tries to lock a range, without waiting. False if another owner has a lock that rules it out.
  func tryLock(_ kind: StoreLockKind, _ range: Range<UInt64>) throws(StoreError) -> Bool

  /// Locks a range exclusively; waits for other owners.
  func waitForLock(_ range: Range<UInt64>) throws(StoreError)

  /// Locks a range exclusively; waits for other owners, for so many milliseconds at most. Answers how many of them are
  /// left, nil if the range could not be locked. A host without a clock may wait without end, as the one that every
  /// host has does.
  func waitForLock(_ range: Range<UInt64>, atMost milliseconds: Int) throws(StoreError) -> Int?

  /// Gives up this owner's locks on a range.
  func unlock(_ range: Range<UInt64>) throws(StoreError)

  /// Where a lock of another owner, of either kind, lies in a range; nil if there is none. Of several, any.
  func othersLock(in range: Range<UInt64>) throws(StoreError) -> UInt64?
}

extension StoreLocks {
  /// Waits without end.
  public func waitForLock(_ range: Range<UInt64>, atMost milliseconds: Int) throws(StoreError) -> Int? {
    try waitForLock(range)
    return milliseconds
  }

  /// The same if there is a limit at all; 0 is none.
  func waitForLock(_ range: Range<UInt64>, limit: inout Int) throws(StoreError) {
    if limit <= 0 { return try waitForLock(range) }
    guard let left = try waitForLock(range, atMost: limit) else { throw .busy }
    // What was left of it is what the next wait has.
    limit = max(1, left)
  }
}

/// The bytes that are locked, and what a lock on each says.
public enum StoreLockPlace {
  /// Exclusively: a device that shares the file with none. Shared: one that only reads, beside others of its kind.
  public static let exclusiveUse = place(0)
  /// Shared: a store that shares the file with those of other processes.
  public static let sharedUse = place(1)
  /// Exclusively: who has the turn to write.
  static let turn = place(2)
  /// Exclusively: the first of those that wait for the turn.
  static let queue = place(3)
  /// Shared: each store that is open for writing.
  static let writers = place(4)
  /// Exclusively: who migrates the store by stages.
  static let stages = place(8)
  /// The first generation's pin.
  static let pins: UInt64 = 1 << 62 + 1 << 20
  private static let lastPin: UInt64 = 1 << 62 + 1 << 61

  /// All that a store that shares its file locks.
  static let all = sharedUse.lowerBound..<lastPin + 1

  private static func place(_ n: UInt64) -> Range<UInt64> { (1 << 62 + n)..<(1 << 62 + n + 1) }

  /// Shared: each writer, by what it promises. Only those of one of the three kinds go together: what one of them says
  /// to be durable, the others rely on; and at `.strict` nothing shares a block with what came before.
  static func durability(_ durability: Durability) -> Range<UInt64> {
    switch durability {
    case .full, .normal: place(5)
    case .strict: place(6)
    case .none: place(7)
    }
  }

  static let allDurabilities: [Durability] = [.full, .strict, .none]

  /// Shared: who has a view that descends from the generation.
  static func pin(_ generation: UInt64) -> Range<UInt64> {
    let byte = min(pins &+ min(generation, lastPin), lastPin)
    return byte..<(byte + 1)
  }

  /// The pins of the generations before one.
  static func pins(before generation: UInt64) -> Range<UInt64> { pins(0..<generation) }

  /// The pins of some generations.
  static func pins(_ generations: Range<UInt64>) -> Range<UInt64> {
    pin(generations.lowerBound).lowerBound..<pin(generations.upperBound).lowerBound
  }
}
