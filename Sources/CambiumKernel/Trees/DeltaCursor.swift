/// A position in one delta list: on the newest visible change of a key.
struct DeltaCursor {
  let list: DeltaList
  let after: UInt64
  let upTo: UInt64
  private(set) var node: DeltaNode?

  init(_ list: DeltaList, after: UInt64, upTo: UInt64) {
    self.list = list
    self.after = after
    self.upTo = upTo
  }

  @inline(__always)
  private func isVisible(_ n: DeltaNode) -> Bool { n.sequence <= upTo && n.sequence > after }

  private mutating func settleForward(_ start: DeltaNode?) {
    var n = start
    while let candidate = n, !isVisible(candidate) { n = candidate.next(0) }
    node = n
  }

  mutating func seekFirst() { settleForward(list.firstNode) }

  mutating func seek(_ key: TreeKey) { settleForward(list.lowerBound(key)) }

  /// To the next key. Older visible changes of the present key are passed over; `superseded` is told of them.
  mutating func next(_ superseded: (DeltaNode) -> Void = { _ in }) {
    guard let current = node else { return }
    var n = current.next(0)
    while let candidate = n, TreeKey.compare(candidate.key, current.key) == 0 {
      if isVisible(candidate) { superseded(candidate) }
      n = candidate.next(0)
    }
    settleForward(n)
  }

  mutating func seekBefore(_ key: TreeKey?) {
    var last = list.lastBefore(key)
    while let candidate = last {
      if let visible = list.find(candidate.key, after: after, upTo: upTo) {
        node = visible
        return
      }
      last = list.lastBefore(candidate.key)
    }
    node = nil
  }

  mutating func previous() {
    guard let current = node else { return }
    seekBefore(current.key)
  }
}
