/// A tree as a transaction sees it, so that a put need not look it up; how much the number of its entries changed since
/// ``WriteTransaction/figures`` was last told.
struct KnownTree {
  var access: TreeAccess?
  var list: DeltaList?
  var change: Int64 = 0
  /// Whether puts don't look for what was there; see ``WriteTransaction/runs``.
  var isBlind = false
  /// How many puts in turn were new, each under a greater key than the one before, which was ``lastPut``.
  var rising: Int32 = 0
  var lastPut: UInt64 = 0

  /// Notes a put under a key that begins with `head`.
  @inline(__always)
  mutating func notePut(_ head: UInt64, isNew: Bool) {
    rising = isNew && head > lastPut ? rising &+ 1 : 0
    lastPut = head
  }
}

/// Memory that serves one transaction after the other: making it anew would take longer than a transaction of one row.
final class TransactionMemory {
  static let knownCount = 8
  private static let mostNodes = 1024

  /// Trees that were written to last, by the lowest bits of their identifiers. Behind them one that is no tree: its
  /// change says whether any of the others has one.
  let known: UnsafeMutablePointer<KnownTree>
  private let largestChunk: Int
  private var table: DeltaTable?
  private var journal: [DeltaNode] = []
  private var figures = FigureTable()

  /// - Parameter largestChunk: See ``StoreOptions/largestDeltaChunk``.
  init(largestChunk: Int) {
    self.largestChunk = largestChunk
    known = .allocate(capacity: Self.knownCount + 1)
    known.initialize(repeating: KnownTree(), count: Self.knownCount + 1)
  }

  deinit { known.deallocate() }

  /// Hands out what a transaction keeps elsewhere while it runs.
  func take() -> (table: DeltaTable, journal: [DeltaNode], figures: FigureTable) {
    let taken = (table ?? DeltaTable(bucketCount: 8, largestChunk: largestChunk), journal, figures)
    table = nil
    journal = []
    figures = FigureTable()
    return taken
  }

  /// Takes back what ``take()`` handed out; a table only if nobody else holds it: a cursor or a savepoint may.
  func giveBack(_ table: inout DeltaTable, _ journal: inout [DeltaNode], _ figures: inout FigureTable) {
    if table.bytes <= 1 << 16, isKnownUniquelyReferenced(&table) {
      table.reset()
      self.table = table
    }
    if journal.capacity <= Self.mostNodes {
      journal.removeAll(keepingCapacity: true)
      swap(&self.journal, &journal)
    }
    if figures.entries.count <= Self.mostNodes {
      figures.removeAll()
      swap(&self.figures, &figures)
    }
    for i in 0...Self.knownCount {
      known[i].access = nil
      known[i].list = nil
      known[i].change = 0
    }
  }
}
