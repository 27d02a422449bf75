import Synchronization

/// The changes to one tree since a checkpoint, ordered by key: a B+tree in memory, and for one key a chain from the
/// newest change to the oldest. One writer at a time; readers need no lock and see, of each key, the newest change up
/// to their sequence.
///
///      0        8      12     16        24        32        40         48      56        64       72
///     +--------+------+------+---------+---------+---------+----------+-------+---------+--------+
///     | next   | tree | kind | newest  | created | dropped | counters | root  | last    | finger |
///     | bucket |      |      | count   | (event) | (event) |          |       | leaf    | (leaf) |
///     +--------+------+------+---------+---------+---------+----------+-------+---------+--------+
///                            | Atomic words                                   | for the writer
///
/// Nothing that a reader may stand on is changed under it. Leaves and inner nodes are only added to (see
/// ``DeltaOrder``). One that is full is replaced by two new ones and stays as it is, for readers that are in it:
/// whatever was in it when they came is all that they may see, and where it leads on to was, at that time, complete as
/// well. Keys are never taken out. The new ones become known from right to left: first the right one, by its separator;
/// until the left one takes the old one's place, a reader finds in the old one what it does not find in the right one.
///
/// A reader that has chosen a child by the separators of before, and follows it when the left one has taken its place,
/// comes out too far left, at whatever level it was. So a key behind all those of a leaf is looked for in the leaves
/// behind it, as long as they begin with it or before it (as in a B-link tree): see ``lookFurther(_:_:_:strictly:)``.
struct DeltaList {
  static let size = 72

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
      }
    return (p + offset).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  /// The counters that changed (``DeltaCounter``).
  @inline(__always) var counters: UnsafeMutablePointer<Atomic<UInt>> {
    (p + 40).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  @inline(__always) private var root: UnsafeMutablePointer<Atomic<UInt>> {
    (p + 48).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  @inline(__always) private var lastLeaf: DeltaLeaf? {
    DeltaLeaf(word: UnsafeRawPointer(p).load(fromByteOffset: 56, as: UInt.self))
  }
  private func setLastLeaf(_ leaf: DeltaLeaf) { p.storeBytes(of: leaf.word, toByteOffset: 56, as: UInt.self) }
  /// The leaf that the writer looked into last.
  @inline(__always) private var finger: DeltaLeaf? {
    DeltaLeaf(word: UnsafeRawPointer(p).load(fromByteOffset: 64, as: UInt.self))
  }
  @inline(__always)
  private func setFinger(_ leaf: DeltaLeaf) { p.storeBytes(of: leaf.word, toByteOffset: 64, as: UInt.self) }

  static func initialize(_ p: UnsafeMutableRawPointer, tree: TreeID, kind: TreeKind, next: UInt) -> DeltaList {
    p.zero(size)
    p.storeBytes(of: next, as: UInt.self)
    p.storeBytes(of: tree.rawValue, toByteOffset: 8, as: UInt32.self)
    p.storeBytes(of: kind.rawValue, toByteOffset: 12, as: UInt8.self)
    let list = DeltaList(p: p)
    for kind in [DeltaEvent.Kind.count, .created, .dropped] { list.events(kind).initialize(to: Atomic(0)) }
    list.counters.initialize(to: Atomic(0))
    list.root.initialize(to: Atomic(0))
    return list
  }

  // MARK: Reading

  /// A place in the list: a key with all its changes. It stays good while the list is written to, and does not see keys
  /// that were added to its leaf since.
  struct Place {
    fileprivate var leaf: DeltaLeaf
    fileprivate var order: DeltaOrder
    fileprivate var rank: Int

    /// The newest change of the key.
    @inline(__always) var newest: DeltaNode? { leaf.node(order.slot(rank)) }

    /// To the next key; answers whether there is one.
    @inline(__always)
    mutating func next() -> Bool {
      rank &+= 1
      return rank < order.count || nextLeaf()
    }

    @inline(never)
    fileprivate mutating func nextLeaf() -> Bool {
      guard let next = DeltaLeaf(word: leaf.next.pointee.load(ordering: .acquiring)) else { return false }
      leaf = next
      order = DeltaOrder(word: next.order.pointee.load(ordering: .acquiring))
      rank = 0
      return order.count > 0
    }

    /// To the key before, if that is in the same leaf.
    @inline(__always)
    mutating func previousInLeaf() -> Bool {
      if rank == 0 { return false }
      rank &-= 1
      return true
    }
  }

  /// The leaf that `key` belongs to.
  @inline(__always)
  private func leaf(_ key: TreeKey, strictly: Bool = false) -> DeltaLeaf? {
    var word = root.pointee.load(ordering: .acquiring)
    while let inner = DeltaInner(word: word) {
      let order = DeltaOrder(word: inner.order.pointee.load(ordering: .acquiring))
      let rank = inner.rank(key, order, strictly: strictly)
      word = inner.child(inner.slot(ofChild: rank, order)).pointee.load(ordering: .acquiring)
    }
    return DeltaLeaf(word: word)
  }

  /// The first key.
  func first() -> Place? {
    var word = root.pointee.load(ordering: .acquiring)
    while let inner = DeltaInner(word: word) { word = inner.child(-1).pointee.load(ordering: .acquiring) }
    guard let leaf = DeltaLeaf(word: word) else { return nil }
    let order = DeltaOrder(word: leaf.order.pointee.load(ordering: .acquiring))
    return order.count > 0 ? Place(leaf: leaf, order: order, rank: 0) : nil
  }

  /// Where a key belongs, as a reader has found it.
  private struct Look {
    var leaf: DeltaLeaf
    var order: DeltaOrder
    /// The first entry that is not less than the key; as many as there are for none.
    var rank: Int
    var isEqual: Bool
  }

  /// Where `key` belongs; if `strictly`, the last leaf that has a lesser key.
  @inline(__always)
  private func look(_ key: TreeKey, strictly: Bool = false) -> Look? {
    guard let leaf = leaf(key, strictly: strictly) else { return nil }
    let order = DeltaOrder(word: leaf.order.pointee.load(ordering: .acquiring))
    let (rank, isEqual) = leaf.lowerBound(key, order)
    if rank == order.count { return Self.lookFurther(leaf, order, key, strictly: strictly) }
    return Look(leaf: leaf, order: order, rank: rank, isEqual: isEqual)
  }

  /// The same for a key behind all those of a leaf, which may have been split on the way there.
  @inline(never)
  private static func lookFurther(_ start: DeltaLeaf, _ order: DeltaOrder, _ key: TreeKey, strictly: Bool) -> Look {
    var look = Look(leaf: start, order: order, rank: order.count, isEqual: false)
    while look.rank == look.order.count, let next = DeltaLeaf(word: look.leaf.next.pointee.load(ordering: .acquiring)) {
      let order = DeltaOrder(word: next.order.pointee.load(ordering: .acquiring))
      let first = order.slot(0)
      if order.count == 0 || next.head(first) > key.head { break }
      if next.head(first) == key.head, let node = next.node(first) {
        let sign = TreeKey.compareBehindHead(node.key, key)
        if strictly ? sign >= 0 : sign > 0 { break }
      }
      let (rank, isEqual) = next.lowerBound(key, order)
      look = Look(leaf: next, order: order, rank: rank, isEqual: isEqual)
    }
    return look
  }

  /// The first key that is not less than `key`.
  @inline(__always)
  func lowerBound(_ key: TreeKey) -> Place? {
    guard let found = look(key) else { return nil }
    var place = Place(leaf: found.leaf, order: found.order, rank: found.rank)
    if found.rank == found.order.count, !place.nextLeaf() { return nil }
    return place
  }

  /// The last key that is less than `key`; nil if there is none. With nil for `key`, the last key of all.
  func lastBefore(_ key: TreeKey?) -> Place? {
    guard let key else { return last() }
    // The separator on the left of the leaf is less than the key, and in the leaf.
    guard let found = look(key, strictly: !isPlanted(.lastBeforeNotStrict)), found.rank > 0 else { return nil }
    return Place(leaf: found.leaf, order: found.order, rank: found.rank - 1)
  }

  /// The last key.
  private func last() -> Place? {
    var word = root.pointee.load(ordering: .acquiring)
    while let inner = DeltaInner(word: word) {
      let order = DeltaOrder(word: inner.order.pointee.load(ordering: .acquiring))
      word = inner.child(inner.slot(ofChild: order.count, order)).pointee.load(ordering: .acquiring)
    }
    guard var leaf = DeltaLeaf(word: word) else { return nil }
    // Splits that were under way have led too far left.
    while let next = DeltaLeaf(word: leaf.next.pointee.load(ordering: .acquiring)) { leaf = next }
    let order = DeltaOrder(word: leaf.order.pointee.load(ordering: .acquiring))
    return order.count > 0 ? Place(leaf: leaf, order: order, rank: order.count - 1) : nil
  }

  /// The newest change of `key` in (`after`, `upTo`].
  @inline(__always)
  func find(_ key: TreeKey, after: UInt64, upTo: UInt64) -> DeltaNode? {
    guard let found = look(key), found.isEqual else { return nil }
    return Self.visible(found.leaf.node(found.order.slot(found.rank)), after: after, upTo: upTo)
  }

  /// Of a key's changes, the newest one in (`after`, `upTo`].
  @inline(__always)
  static func visible(_ newest: DeltaNode?, after: UInt64, upTo: UInt64) -> DeltaNode? {
    var node = newest
    while let n = node {
      let s = n.sequence
      if s <= upTo { return s > after ? n : nil }
      node = n.older
    }
    return nil
  }

  /// About how many keys there are from `lower` up to, not including, `upper`; nil for no end. `total` is about how
  /// many there are in the list, and matters only where there are too many to be counted, leaf by leaf.
  func estimatedCount(from lower: TreeKey, to upper: TreeKey?, total: UInt64) -> UInt64 {
    guard var place = lowerBound(lower) else { return 0 }
    var n: UInt64 = 0
    for _ in 0..<Self.mostCountedLeaves {
      let count = place.order.count
      if let upper, let last = place.leaf.node(place.order.slot(count &- 1)), !(TreeKey.compare(last.key, upper) < 0) {
        let end = place.leaf.lowerBound(upper, place.order).rank
        return n &+ UInt64(max(0, end &- place.rank))
      }
      n &+= UInt64(count &- place.rank)
      if !place.nextLeaf() { return n }
    }
    let share = (upper.map { fraction($0) } ?? 1) - fraction(lower)
    return max(n, UInt64(Double(total) * max(0, min(1, share))))
  }

  private static let mostCountedLeaves = 64

  /// How far from the first key, 0, to the last one, 1, a key stands, if all nodes hold the same number of keys.
  private func fraction(_ key: TreeKey) -> Double {
    var word = root.pointee.load(ordering: .acquiring)
    var start = 0.0
    var width = 1.0
    while let inner = DeltaInner(word: word) {
      let order = DeltaOrder(word: inner.order.pointee.load(ordering: .acquiring))
      let rank = inner.rank(key, order)
      width /= Double(order.count + 1)
      start += width * Double(rank)
      word = inner.child(inner.slot(ofChild: rank, order)).pointee.load(ordering: .acquiring)
    }
    return start + width / 2
  }

  // MARK: Writing

  /// Where a change of a key belongs: its leaf, its rank there, and whether the key is in the list already.
  struct WritePlace {
    fileprivate var leaf: DeltaLeaf?
    fileprivate var order = DeltaOrder(word: 0)
    fileprivate var rank = 0
    fileprivate var isEqual = false

    /// The newest change of the key, if it has one.
    @inline(__always) var newest: DeltaNode? { isEqual ? leaf?.node(order.slot(rank)) : nil }
  }

  /// Looks for where `key` belongs; good until the next change is added. For the writer only. Keys behind the last one,
  /// and those that fall into the same leaf as the one before, are found without a descent.
  @inline(__always)
  func locate(_ key: TreeKey) -> WritePlace {
    if let last = lastLeaf, let place = Self.place(key, inside: last) { return place }
    if let near = finger, let place = Self.place(key, inside: near) { return place }
    guard let leaf = leaf(key) else { return WritePlace() }
    setFinger(leaf)
    let order = DeltaOrder(word: leaf.order.pointee.load(ordering: .relaxed))
    let (rank, isEqual) = leaf.lowerBound(key, order)
    return WritePlace(leaf: leaf, order: order, rank: rank, isEqual: isEqual)
  }

  /// The place of `key` if it lies behind the first key of `leaf` and before that of the next one.
  @inline(__always)
  private static func place(_ key: TreeKey, inside leaf: DeltaLeaf) -> WritePlace? {
    let order = DeltaOrder(word: leaf.order.pointee.load(ordering: .relaxed))
    if key.head < leaf.head(order.slot(0)) { return nil }
    let next = DeltaLeaf(word: leaf.next.pointee.load(ordering: .relaxed))
    var nextSlot = 0
    if let next {
      nextSlot = DeltaOrder(word: next.order.pointee.load(ordering: .relaxed)).slot(0)
      if key.head > next.head(nextSlot) { return nil }
    }
    let (rank, isEqual) = leaf.lowerBound(key, order)
    if rank == 0 { return nil }
    if rank == order.count, let first = next?.node(nextSlot),
      TreeKey.compare(key, first.key) >= (isPlanted(.leafTakesKeyOfNext) ? 1 : 0)
    {
      return nil
    }
    return WritePlace(leaf: leaf, order: order, rank: rank, isEqual: isEqual)
  }

  /// Adds `node` where its key belongs: before older changes of the same key. For the writer only.
  @inline(__always)
  func insert(_ node: DeltaNode, _ arena: inout Arena) { insert(node, at: locate(node.key), &arena) }

  /// The same when the place is known.
  @inline(__always)
  func insert(_ node: DeltaNode, at place: WritePlace, _ arena: inout Arena) {
    guard let leaf = place.leaf else {
      let leaf = DeltaLeaf.initialize(arena.allocateLines(DeltaLeaf.size))
      leaf.fill(0, head: node.head, change: UInt(bitPattern: node.p))
      leaf.order.pointee.store(DeltaOrder.straight(1).word, ordering: .relaxed)
      setLastLeaf(leaf)
      setFinger(leaf)
      root.pointee.store(leaf.word, ordering: .releasing)
      return
    }
    if place.isEqual {
      let change = leaf.change(place.order.slot(place.rank))
      if let older = DeltaNode(word: change.pointee.load(ordering: .relaxed)) { node.setOlder(older) }
      change.pointee.store(UInt(bitPattern: node.p), ordering: .releasing)
      return
    }
    let count = place.order.count
    if count < DeltaOrder.room {
      leaf.fill(count, head: node.head, change: UInt(bitPattern: node.p))
      leaf.order.pointee.store(place.order.adding(at: place.rank).word, ordering: .releasing)
      return
    }
    split(leaf, place.order, place.rank, node, &arena)
  }

  @inline(never)
  private func split(
    _ leaf: DeltaLeaf, _ order: DeltaOrder, _ rank: Int, _ node: DeltaNode, _ arena: inout Arena
  ) {
    let following = DeltaLeaf(word: leaf.next.pointee.load(ordering: .relaxed))
    let right = DeltaLeaf.initialize(arena.allocateLines(DeltaLeaf.size))
    right.next.pointee.store(following?.word ?? 0, ordering: .relaxed)
    let room = DeltaOrder.room
    if rank == room {
      // Growing keys, those of new rows or those of one value of an index: full leaves are what is wanted.
      right.fill(0, head: node.head, change: UInt(bitPattern: node.p))
      right.order.pointee.store(DeltaOrder.straight(1).word, ordering: .relaxed)
      right.setBefore(leaf)
      following?.setBefore(right)
      if following == nil { setLastLeaf(right) }
      setFinger(right)
      leaf.next.pointee.store(right.word, ordering: .releasing)
      grow(leaf.word, leaf.word, separator: node, right.word, &arena)
      return
    }
    let left = DeltaLeaf.initialize(arena.allocateLines(DeltaLeaf.size))
    let middle = (room + 1) / 2
    var separator = node
    for i in 0...room {
      // The entries with the new one among them.
      let from = i == rank ? -1 : order.slot(i < rank ? i : i - 1)
      let head = from < 0 ? node.head : leaf.head(from)
      let change = from < 0 ? UInt(bitPattern: node.p) : leaf.change(from).pointee.load(ordering: .relaxed)
      if i < middle {
        left.fill(i, head: head, change: change)
      } else {
        right.fill(i - middle, head: head, change: change)
        if i == middle, let first = DeltaNode(word: change) { separator = first }
      }
    }
    left.order.pointee.store(DeltaOrder.straight(middle).word, ordering: .relaxed)
    right.order.pointee.store(DeltaOrder.straight(room + 1 - middle).word, ordering: .relaxed)
    let before = leaf.before
    left.setBefore(before)
    left.next.pointee.store(right.word, ordering: .relaxed)
    right.setBefore(left)
    following?.setBefore(right)
    if following == nil { setLastLeaf(right) }
    setFinger(rank < middle ? left : right)
    grow(leaf.word, left.word, separator: separator, right.word, &arena)
    before?.next.pointee.store(left.word, ordering: .releasing)
  }

  /// Puts `left` in the place of `old` (they may be the same), and `right` behind it. Recursion ends at the root.
  private func grow(
    _ old: UInt, _ left: UInt, separator: DeltaNode, _ right: UInt, _ arena: inout Arena
  ) {
    guard let (parent, rank) = parent(of: old, separator.key) else {
      let top = DeltaInner.initialize(arena.allocateLines(DeltaInner.size), leftmost: left)
      top.fill(0, head: separator.head, separator: UInt(bitPattern: separator.p), child: right)
      top.order.pointee.store(DeltaOrder.straight(1).word, ordering: .relaxed)
      root.pointee.store(top.word, ordering: .releasing)
      return
    }
    let order = DeltaOrder(word: parent.order.pointee.load(ordering: .relaxed))
    let count = order.count
    let oldChild = parent.child(parent.slot(ofChild: rank, order))
    let room = DeltaOrder.room
    if count < room {
      parent.fill(count, head: separator.head, separator: UInt(bitPattern: separator.p), child: right)
      // The right one first: until the left one is in place, the old one holds what is in both.
      parent.order.pointee.store(order.adding(at: rank).word, ordering: .releasing)
      if left != old { oldChild.pointee.store(left, ordering: .releasing) }
      return
    }
    if rank == room {
      let sibling = DeltaInner.initialize(arena.allocateLines(DeltaInner.size), leftmost: right)
      grow(parent.word, parent.word, separator: separator, sibling.word, &arena)
      if left != old { oldChild.pointee.store(left, ordering: .releasing) }
      return
    }
    // The separators with the new one among them; the middle one goes up.
    let middle = room / 2
    let low = DeltaInner.initialize(
      arena.allocateLines(DeltaInner.size),
      leftmost: rank == 0 ? left : parent.child(-1).pointee.load(ordering: .relaxed))
    var high: DeltaInner?
    var up = separator
    for i in 0...room {
      let from = i == rank ? -1 : order.slot(i < rank ? i : i - 1)
      let between = from < 0 ? separator : parent.separator(from) ?? separator
      var child = from < 0 ? right : parent.child(from).pointee.load(ordering: .relaxed)
      // The child before the new separator.
      if from >= 0, i == rank - 1 { child = left }
      if i < middle {
        low.fill(i, head: between.head, separator: UInt(bitPattern: between.p), child: child)
      } else if i == middle {
        up = between
        high = DeltaInner.initialize(arena.allocateLines(DeltaInner.size), leftmost: child)
      } else {
        high?.fill(i - middle - 1, head: between.head, separator: UInt(bitPattern: between.p), child: child)
      }
    }
    low.order.pointee.store(DeltaOrder.straight(middle).word, ordering: .relaxed)
    guard let high else { return }
    high.order.pointee.store(DeltaOrder.straight(room - middle).word, ordering: .relaxed)
    grow(parent.word, low.word, separator: up, high.word, &arena)
  }

  /// The inner node that leads to `child`, in which `key` belongs, and the rank of the child in it; nil for the root.
  private func parent(of child: UInt, _ key: TreeKey) -> (DeltaInner, rank: Int)? {
    var word = root.pointee.load(ordering: .relaxed)
    while let inner = DeltaInner(word: word), word != child {
      let order = DeltaOrder(word: inner.order.pointee.load(ordering: .relaxed))
      let rank = inner.rank(key, order)
      word = inner.child(inner.slot(ofChild: rank, order)).pointee.load(ordering: .relaxed)
      if word == child { return (inner, rank) }
    }
    return nil
  }
}
