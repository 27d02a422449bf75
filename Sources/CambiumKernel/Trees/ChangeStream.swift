/// The net changes of one tree from several deltas, and from a batch, in key order: of each key, what the newest says.
struct ChangeStream {
  /// A list, and the sequences that count.
  typealias Window = (list: DeltaList, after: UInt64, upTo: UInt64)

  private var cursors: [DeltaCursor]
  private var batch: BatchCursor?
  private var winner = -1
  private(set) var node: DeltaNode?

  /// - Parameters:
  ///   - lists: the newest first.
  ///   - batch: sorted, and newer than all of them.
  init(_ lists: [Window], batch: BatchCursor? = nil) {
    cursors = lists.map { DeltaCursor($0.list, after: $0.after, upTo: $0.upTo) }
    self.batch = batch
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
  mutating func next(_ superseded: (DeltaNode) -> Void) {
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

/// A position in a batch, as nodes like those of lists.
struct BatchCursor {
  private final class Memory {
    let p = UnsafeMutableRawPointer.allocate(byteCount: ChangeBatch.longestNode, alignment: 16)
    deinit { p.deallocate() }
  }

  private enum Source {
    case keys(ChangeBatch, Memory)
    case rows(RowBatch)
  }

  private let source: Source
  /// The number of the next change, or where it lies.
  private var place = 0
  /// Good until the next one is asked for.
  private(set) var node: DeltaNode?

  /// Whether nodes stay good when the next one is asked for.
  var hasLastingNodes: Bool {
    if case .rows = source { return true }
    return false
  }

  /// - Parameter batch: sorted.
  init(_ batch: ChangeBatch) {
    source = .keys(batch, Memory())
    next()
  }

  init(_ batch: RowBatch) {
    source = .rows(batch)
    next()
  }

  mutating func next() {
    switch source {
    case .keys(let batch, let memory):
      node = place < batch.count ? batch.writeNode(place, to: memory.p) : nil
      place += 1
    case .rows(let batch):
      guard let found = batch.node(at: place) else { return node = nil }
      (node, place) = (found.node, found.next)
    }
  }
}
