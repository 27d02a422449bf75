// How a store notices what those of other processes have done to the file: behind the newest record lies a mark, which
// whoever changes anything overwrites or replaces.
//
//      0          4       8                 16
//     +----------+-------+-----------------+
//     | "CEND"   | zero  | a random number |       no part of the log: the next record overwrites it
//     +----------+-------+-----------------+

/// What was last seen at the end of the log.
struct LogEndMark {
  static let size = 16
  static let magic: UInt32 = 0x444E_4543  // "CEND"

  /// Where it lies; 0 if there is none.
  var address: UInt64 = 0
  var number: UInt64 = 0
  /// The newest publication then.
  var publication: UInt64 = 0
  /// Whether it was written or read with the turn, so that nothing else went on meanwhile.
  var isCertain = false
}

/// What a store keeps track of that shares its file with stores of other processes.
final class StoreShare {
  let locks: any StoreLocks
  /// The process that opened the store.
  let process: UInt64

  // Guarded by the state lock.
  /// Whether what belongs to the turn is being changed: by who has the turn, or by a reader that catches up.
  var isStateTaken = false
  /// Whether this store has the turn among processes, and has caught up.
  var hasTurn = false
  var isSuspended = false
  var mark = LogEndMark()
  /// Generations whose pin is locked.
  var lockedPins: Set<UInt64> = []
  /// The newest commit that another process appended, as far as is known.
  var foreignSequence: UInt64 = 0
  /// Views made before so many suspensions, of generations below this one, can no longer be relied on.
  var expiredUpTo = 0
  var expiredBelow: UInt64 = 0
  /// How often a thread of this process has passed the turn on since it was taken from the others.
  var handovers = 0

  // With the state taken.
  /// The generation that is pinned while a store that is open for reading is looked at.
  var lookedAt: UInt64 = 0
  /// Something went wrong half-way: what is in memory must not be gone on with.
  var mustReload = false
  /// The store was suspended, and the others were told so; the next turn tells them that it is back.
  var mustAnnounce = false
  /// Another process waited for the turn when it was given up: it is to get it first.
  var mustQueue = false
  private var random: UInt64

  /// A turn that is asked for by threads of one process only, or that its conversion comes back for, is passed on so
  /// often before others get a chance.
  static let mostHandovers = 64

  init(locks: any StoreLocks, process: UInt64, seed: UInt64) {
    self.locks = locks
    self.process = process
    random = seed
  }

  /// A number that no mark has had.
  func nextNumber() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    let mixed = Checksum.mix(random, 0x6361_6D62_6975_6D21)
    return mixed == 0 ? 1 : mixed
  }
}
