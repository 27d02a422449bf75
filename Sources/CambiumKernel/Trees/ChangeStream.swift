/// The net changes of one tree from several deltas, from runs, and from a batch, in key order: of each key, what the
/// newest says.
struct ChangeStream {
  /// A list, and the sequences that count.
  typealias Window = (list: DeltaList, after: UInt64, upTo: UInt64)

  private var cursors: [DeltaCursor]
  /// So many of the cursors are newer than the runs, the others older.
  private let newer: Int
  /// The newest first.
  private let runs: [RunCursor]
  /// Whether there is nothing but the batch.
  private let isBatchAlone: Bool
  private var batch: BatchCursor?
  /// Where ``change`` comes from: a cursor, or, behind those, a run; -1 for the batch.
  private var winner = -1
  private(set) var change: MergeChange?
  /// How many keys lie behind.
  private(set) var passed = 0

  /// - Parameters:
  ///   - lists: the newest first.
  ///   - batch: sorted, and newer than all of them.
  init(_ lists: [Window], batch: BatchCursor? = nil) {
    cursors = lists.map { DeltaCursor($0.list, after: $0.after, upTo: $0.upTo) }
    newer = lists.count
    runs = []
    self.batch = batch
    isBatchAlone = lists.isEmpty
  }

  /// - Parameters:
  ///   - newer: the lists that are newer than the runs, the newest first.
  ///   - runs: the newest first.
  ///   - older: the lists that are older, the newest first.
  init(_ newer: [Window], runs: [RunCursor], _ older: [Window]) {
    cursors = (newer + older).map { DeltaCursor($0.list, after: $0.after, upTo: $0.upTo) }
    self.newer = newer.count
    self.runs = runs
    batch = nil
    isBatchAlone = false
  }

  mutating func begin() {
    for i in cursors.indices { cursors[i].seekFirst() }
    for run in runs { run.seekFirst() }
    choose()
  }

  /// Why a run could not be read to its end.
  var failure: StoreError? {
    for run in runs { if let failure = run.failure { return failure } }
    return nil
  }

  var key: TreeKey? { change?.key }

  /// Whether a copy of the stream goes on by itself, and its changes stay good meanwhile.
  var canBeCopied: Bool { runs.isEmpty && batch?.canBeCopied ?? true }

  private mutating func choose() {
    change = batch?.change
    winner = -1
    for i in 0..<newer { offer(cursors[i].node.map(MergeChange.init), i) }
    for i in runs.indices { offer(runs[i].change, cursors.count + i) }
    for i in newer..<cursors.count { offer(cursors[i].node.map(MergeChange.init), i) }
  }

  /// Takes a change for the present one if its key is less.
  @inline(__always)
  private mutating func offer(_ other: MergeChange?, _ place: Int) {
    guard let other else { return }
    if let change, TreeKey.compare(other.key, change.key) >= (isPlanted(.mergeTakesOlderChange) ? 1 : 0) { return }
    change = other
    winner = place
  }

  /// To the next key; tells `superseded` of the older changes that are passed over.
  @inline(__always)
  mutating func next(_ superseded: (MergeChange) -> Void) {
    passed &+= 1
    if isBatchAlone {
      batch?.next()
      change = batch?.change
    } else {
      nextOfAll(superseded)
    }
  }

  private mutating func nextOfAll(_ superseded: (MergeChange) -> Void) {
    guard let current = change else { return }
    for i in cursors.indices {
      if i != winner {
        guard let other = cursors[i].node, TreeKey.compare(other.key, current.key) == 0 else { continue }
        superseded(MergeChange(other))
      }
      cursors[i].next { superseded(MergeChange($0)) }
    }
    for i in runs.indices where cursors.count + i != winner {
      guard let other = runs[i].change, TreeKey.compare(other.key, current.key) == 0 else { continue }
      superseded(other)
      runs[i].next()
    }
    // Last, since the present change lies in its memory.
    if winner < 0 { batch?.next() } else if winner >= cursors.count { runs[winner - cursors.count].next() }
    choose()
  }
}
