/// The net changes of one tree from several deltas, in key order: of each key, what the newest delta says.
struct ChangeStream {
  private var cursors: [DeltaCursor]
  private var best = -1

  /// - Parameter lists: the newest first, each with the window of sequences that counts.
  init(_ lists: [(list: DeltaList, after: UInt64, upTo: UInt64)]) {
    cursors = lists.map { DeltaCursor($0.list, after: $0.after, upTo: $0.upTo) }
  }

  mutating func begin() {
    for i in cursors.indices { cursors[i].seekFirst() }
    choose()
  }

  var node: DeltaNode? { best >= 0 ? cursors[best].node : nil }
  var key: TreeKey? { node?.key }

  private mutating func choose() {
    best = -1
    var key = TreeKey(0)
    for i in cursors.indices {
      guard let node = cursors[i].node else { continue }
      if best < 0 || TreeKey.compare(node.key, key) < 0 {
        best = i
        key = node.key
      }
    }
  }

  /// To the next key; tells `superseded` of the older changes that are passed over.
  mutating func next(_ superseded: (DeltaNode) -> Void) {
    guard let current = node else { return }
    let winner = best
    for i in cursors.indices {
      guard let other = cursors[i].node, TreeKey.compare(other.key, current.key) == 0 else { continue }
      if i != winner { superseded(other) }
      cursors[i].next(superseded)
    }
    choose()
  }
}
