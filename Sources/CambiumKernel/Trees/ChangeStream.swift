/// The net changes of one tree from several deltas, and from a batch, in key order: of each key, what the newest says.
struct ChangeStream {
  /// A list, and the sequences that count.
  typealias Window = (list: DeltaList, after: UInt64, upTo: UInt64)

  private var cursors: [DeltaCursor]
  /// Whether there is nothing but the batch.
  private let isBatchAlone: Bool
  private var batch: BatchCursor?
  private var winner = -1
  private(set) var node: DeltaNode?

  /// - Parameters:
  ///   - lists: the newest first.
  ///   - batch: sorted, and newer than all of them.
  init(_ lists: [Window], batch: BatchCursor? = nil) {
    cursors = lists.map { DeltaCursor($0.list, after: $0.after, upTo: $0.upTo) }
    self.batch = batch
    isBatchAlone = lists.isEmpty
  }

  mutating func begin() {
    for i in cursors.indices { cursors[i].seekFirst() }
    choose()
  }

  var key: TreeKey? { node?.key }

  /// Whether a copy of the stream may go on by itself: the node of a batch of keys lies where the next one will.
  var canBeCopied: Bool { batch?.hasLastingNodes ?? true }

  private mutating func choose() {
    node = batch?.node
    winner = -1
    for i in cursors.indices {
      guard let other = cursors[i].node else { continue }
      if let node, TreeKey.compare(other.key, node.key) >= 0 { continue }
      node = other
      winner = i
    }
  }

  /// To the next key; tells `superseded` of the older changes that are passed over.
  @inline(__always)
  mutating func next(_ superseded: (DeltaNode) -> Void) {
    if isBatchAlone {
      batch?.next()
      node = batch?.node
    } else {
      nextOfAll(superseded)
    }
  }

  private mutating func nextOfAll(_ superseded: (DeltaNode) -> Void) {
    guard let current = node else { return }
    for i in cursors.indices {
      if i != winner {
        guard let other = cursors[i].node, TreeKey.compare(other.key, current.key) == 0 else { continue }
        superseded(other)
      }
      cursors[i].next(superseded)
    }
    // Last, since the present node lies in its memory.
    if winner < 0 { batch?.next() }
    choose()
  }
}
