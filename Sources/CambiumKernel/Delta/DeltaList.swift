import Synchronization

/// The changes to one tree since a checkpoint: a skip list ordered by key, and for one key from the newest change to the
/// oldest. One writer at a time; readers need no lock and see, of each key, the newest change up to their sequence.
///
///      0        8      12     16        24        32        40         48                 ...
///     +--------+------+------+---------+---------+---------+----------+------------------+----------------+
///     | next   | tree | kind | newest  | created | dropped | newest   | first, per level | last, per      |
///     | bucket |      |      | count   | (event) | (event) | counter  | (Atomic words)   | level (writer) |
///     +--------+------+------+---------+---------+---------+----------+------------------+----------------+
struct DeltaList {
  static let size = 48 + 2 * DeltaNode.tallest * 8

  let p: UnsafeMutableRawPointer

  @inline(__always) var tree: TreeID { TreeID(rawValue: UnsafeRawPointer(p).load(fromByteOffset: 8, as: UInt32.self)) }
  @inline(__always) var kind: TreeKind {
    UnsafeRawPointer(p).load(fromByteOffset: 12, as: UInt8.self) == TreeKind.integer.rawValue ? .integer : .bytes
  }
  @inline(__always) var nextInBucket: DeltaList? {
    UnsafeMutableRawPointer(bitPattern: UnsafeRawPointer(p).load(as: UInt.self)).map(DeltaList.init(p:))
  }
  /// The lists of events, newest first.
  @inline(__always)
  func events(_ kind: DeltaEvent.Kind) -> UnsafeMutablePointer<Atomic<UInt>> {
    let offset =
      switch kind {
      case .count: 16
      case .created: 24
      case .dropped: 32
      case .counter: 40
      }
    return (p + offset).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  @inline(__always)
  private func first(_ level: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    (p + 48 + level &* 8).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  @inline(__always)
  private func lastSlot(_ level: Int) -> Int { 48 + DeltaNode.tallest * 8 + level &* 8 }

  static func initialize(_ p: UnsafeMutableRawPointer, tree: TreeID, kind: TreeKind, next: UInt) -> DeltaList {
    p.zero(size)
    p.storeBytes(of: next, as: UInt.self)
    p.storeBytes(of: tree.rawValue, toByteOffset: 8, as: UInt32.self)
    p.storeBytes(of: kind.rawValue, toByteOffset: 12, as: UInt8.self)
    let list = DeltaList(p: p)
    for kind in [DeltaEvent.Kind.count, .created, .dropped, .counter] { list.events(kind).initialize(to: Atomic(0)) }
    for level in 0..<DeltaNode.tallest { list.first(level).initialize(to: Atomic(0)) }
    return list
  }

  var firstNode: DeltaNode? {
    UnsafeMutableRawPointer(bitPattern: first(0).pointee.load(ordering: .acquiring)).map(DeltaNode.init(p:))
  }

  /// The last node; for the writer only.
  var lastNode: DeltaNode? {
    UnsafeMutableRawPointer(bitPattern: UnsafeRawPointer(p).load(fromByteOffset: lastSlot(0), as: UInt.self))
      .map(DeltaNode.init(p:))
  }

  /// The first node whose key is not less than `key`.
  func lowerBound(_ key: TreeKey) -> DeltaNode? {
    var level = DeltaNode.tallest - 1
    var before: DeltaNode?
    var after: DeltaNode?
    while true {
      let link = before.map { $0.link(level) } ?? first(level)
      let next = UnsafeMutableRawPointer(bitPattern: link.pointee.load(ordering: .acquiring)).map(DeltaNode.init(p:))
      if let node = next, node.p != after?.p, TreeKey.compare(node.key, key) < 0 {
        before = node
      } else {
        if level == 0 { return next }
        after = next
        level &-= 1
      }
    }
  }

  /// The last node whose key is less than `key` (any version of that key); nil if there is none. With nil for `key`, the
  /// last node of all.
  func lastBefore(_ key: TreeKey?) -> DeltaNode? {
    var level = DeltaNode.tallest - 1
    var before: DeltaNode?
    while true {
      let link = before.map { $0.link(level) } ?? first(level)
      if let next = UnsafeMutableRawPointer(bitPattern: link.pointee.load(ordering: .acquiring)).map(
        DeltaNode.init(p:)),
        key.map({ TreeKey.compare(next.key, $0) < 0 }) ?? true
      {
        before = next
      } else {
        if level == 0 { return before }
        level &-= 1
      }
    }
  }

  /// The newest change of `key` in (`after`, `upTo`].
  @inline(__always)
  func find(_ key: TreeKey, after: UInt64, upTo: UInt64) -> DeltaNode? {
    var node = lowerBound(key)
    while let n = node, TreeKey.compare(n.key, key) == 0 {
      let s = n.sequence
      if s <= upTo { return s > after ? n : nil }
      node = n.next(0)
    }
    return nil
  }

  /// Links `node` in: before older changes of the same key. For the writer only.
  func insert(_ node: DeltaNode) {
    let key = node.key
    if lastNode.map({ TreeKey.compare($0.key, key) < 0 }) ?? true {
      // Growing keys, the usual case of new rows: behind everything.
      append(node)
      return
    }
    withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<Atomic<UInt>>.self, capacity: DeltaNode.tallest) { links in
      var level = DeltaNode.tallest - 1
      var before: DeltaNode?
      while true {
        let link = before.map { $0.link(level) } ?? first(level)
        let raw = link.pointee.load(ordering: .relaxed)
        if let next = UnsafeMutableRawPointer(bitPattern: raw).map(DeltaNode.init(p:)),
          TreeKey.compare(next.key, key) < 0
        {
          before = next
          continue
        }
        if level < node.height {
          node.link(level).pointee.store(raw, ordering: .relaxed)
          links.initializeElement(at: level, to: link)
          if raw == 0 { p.storeBytes(of: UInt(bitPattern: node.p), toByteOffset: lastSlot(level), as: UInt.self) }
        }
        if level == 0 { break }
        level -= 1
      }
      // Only now: a reader that comes to the node on one level goes on from it on those below.
      for level in 0..<node.height { links[level].pointee.store(UInt(bitPattern: node.p), ordering: .releasing) }
    }
  }

  private func append(_ node: DeltaNode) {
    for level in 0..<node.height {
      let last = UnsafeRawPointer(p).load(fromByteOffset: lastSlot(level), as: UInt.self)
      let link = UnsafeMutableRawPointer(bitPattern: last).map { DeltaNode(p: $0).link(level) } ?? first(level)
      link.pointee.store(UInt(bitPattern: node.p), ordering: .releasing)
      p.storeBytes(of: UInt(bitPattern: node.p), toByteOffset: lastSlot(level), as: UInt.self)
    }
  }

  /// Links many nodes into an empty list, given in the order in which they were made. Sorting them first takes a fraction
  /// of what finding the place of each would. For the writer, while no reader knows the list.
  func link(_ nodes: [DeltaNode]) {
    func precedes(_ a: Int, _ b: Int) -> Bool {
      let order = TreeKey.compare(nodes[a].key, nodes[b].key)
      // Of one key, the newest first.
      return order != 0 ? order < 0 : a > b
    }
    var order = Array(nodes.indices)
    var isSorted = true
    for i in order.indices.dropFirst() where !precedes(i - 1, i) {
      isSorted = false
      break
    }
    if !isSorted { order.sort(by: precedes) }
    for i in order { append(nodes[i]) }
  }
}
