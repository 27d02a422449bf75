/// A position in one delta list: on the newest visible change of a key.
struct DeltaCursor {
  let list: DeltaList
  let after: UInt64
  let upTo: UInt64
  private var place: DeltaList.Place?
  private(set) var node: DeltaNode?

  init(_ list: DeltaList, after: UInt64, upTo: UInt64) {
    self.list = list
    self.after = after
    self.upTo = upTo
  }

  @inline(__always)
  private mutating func settleForward(_ start: DeltaList.Place?) {
    guard var at = start else {
      node = nil
      return
    }
    repeat {
      if let visible = DeltaList.visible(at.newest, after: after, upTo: upTo) {
        place = at
        node = visible
        return
      }
    } while at.next()
    node = nil
  }

  private mutating func settleBackward(_ start: DeltaList.Place?) {
    var next = start
    while var at = next {
      if let visible = DeltaList.visible(at.newest, after: after, upTo: upTo) {
        place = at
        node = visible
        return
      }
      if at.previousInLeaf() { next = at } else { next = at.newest.flatMap { list.lastBefore($0.key) } }
    }
    node = nil
  }

  mutating func seekFirst() { settleForward(list.first()) }

  @inline(__always)
  mutating func seek(_ key: TreeKey) { settleForward(list.lowerBound(key)) }

  /// To the next key.
  @inline(__always)
  mutating func next() {
    guard node != nil, var at = place else { return }
    if at.next() { settleForward(at) } else { node = nil }
  }

  /// To the next key; tells `superseded` of the older visible changes of the present key.
  mutating func next(_ superseded: (DeltaNode) -> Void) {
    guard let current = node else { return }
    var older = current.older
    while let n = older {
      if n.sequence <= upTo, n.sequence > after { superseded(n) }
      older = n.older
    }
    next()
  }

  mutating func seekBefore(_ key: TreeKey?) { settleBackward(list.lastBefore(key)) }

  mutating func previous() {
    guard node != nil, var at = place else { return }
    if at.previousInLeaf() { settleBackward(at) } else { settleBackward(at.newest.flatMap { list.lastBefore($0.key) }) }
  }
}

extension DeltaNode: Equatable {
  static func == (a: DeltaNode, b: DeltaNode) -> Bool { a.p == b.p }
}

extension DeltaList {
  /// Tells `body` the newest change of each key, in key order, whatever its sequence; the older ones hang on it.
  @inline(__always)
  func forEachKey(_ body: (DeltaNode) -> Void) {
    guard var at = first() else { return }
    repeat {
      if let newest = at.newest { body(newest) }
    } while at.next()
  }

  /// Tells `body` every change of every key.
  func forEachChange(_ body: (DeltaNode) -> Void) {
    forEachKey { newest in
      var node: DeltaNode? = newest
      while let n = node {
        body(n)
        node = n.older
      }
    }
  }
}
