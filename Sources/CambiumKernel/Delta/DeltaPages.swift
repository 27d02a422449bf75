import Synchronization

// The memory of a ``DeltaList``: leaves with changes, and inner nodes that lead to them.
//
// Leaf, four cache lines:
//      0        8       16        24       32                      +room*8
//     +--------+-------+---------+--------+-----------------------+------------------------+
//     | order  | next  | before  | unused | heads of keys, by     | newest change, by slot |
//     | (word) | leaf  | (writer)|        | slot (u64)            | (Atomic words)         |
//     +--------+-------+---------+--------+-----------------------+------------------------+
//
// Inner node, six cache lines:
//      0        8           16                  +room*8              +room*8
//     +--------+-----------+-------------------+--------------------+-----------------------+
//     | order  | leftmost  | heads of          | children, by slot  | a change with that    |
//     | (word) | child     | separators (u64)  | (Atomic words)     | separator's key       |
//     +--------+-----------+-------------------+--------------------+-----------------------+
//
// On a machine of 32 bits the words of a slot take four bytes, and there are no cache lines.
//
// Slots are filled in the order in which entries come and never emptied; the order says which of them, in which
// succession, hold the keys. So an entry is added by writing a slot that nobody looks at yet and then storing the new
// order: a reader goes by the old order or by the new one, and both are whole.

/// The number of entries of a leaf or an inner node in the lowest four bits, and above them four bits for each: the
/// slots in key order.
struct DeltaOrder {
  /// Entries of a node: as many as a word has room for besides their number, and a leaf of four cache lines for them.
  static let room = UInt.bitWidth == 64 ? 14 : 7

  var word: UInt

  @inline(__always) var count: Int { Int(truncatingIfNeeded: word & 15) }

  @inline(__always)
  func slot(_ rank: Int) -> Int {
    Int(truncatingIfNeeded: (word &>> UInt(truncatingIfNeeded: 4 &* (rank &+ 1))) & 15)
  }

  /// The order with one entry more, which lies in the next slot, at `rank`.
  func adding(at rank: Int) -> DeltaOrder {
    let shift = 4 * (rank + 1)
    let low = word & ((1 << shift) - 1)
    let high = (word >> shift) << (shift + 4)
    return DeltaOrder(word: (low | UInt(count) << shift | high) + 1)
  }

  /// The number of entries that lie before a key, by halving: those whose slots `isBefore` answers true for come first.
  @inline(__always)
  func partition(_ isBefore: (_ slot: Int) -> Bool) -> Int {
    var low = 0
    var length = count
    while length > 0 {
      let half = length &>> 1
      if isBefore(slot(low &+ half)) {
        low = low &+ half &+ 1
        length = length &- half &- 1
      } else {
        length = half
      }
    }
    return low
  }

  /// `count` entries in the order of their slots.
  static func straight(_ count: Int) -> DeltaOrder {
    var order = DeltaOrder(word: 0)
    for i in 0..<count { order = order.adding(at: i) }
    return order
  }
}

/// The bytes of a word that leads to a child or to a change.
@inline(__always) private var wordBytes: Int { MemoryLayout<UInt>.size }

struct DeltaLeaf: DeltaAddress {
  static let size = 32 + DeltaOrder.room * (8 + wordBytes)

  let p: UnsafeMutableRawPointer

  @inline(__always)
  init(p: UnsafeMutableRawPointer) { self.p = p }

  static func initialize(_ p: UnsafeMutableRawPointer) -> DeltaLeaf {
    let leaf = DeltaLeaf(p: p)
    leaf.order.initialize(to: Atomic(0))
    leaf.next.initialize(to: Atomic(0))
    leaf.setBefore(nil)
    return leaf
  }

  @inline(__always) var word: UInt { UInt(bitPattern: p) }
  @inline(__always) var order: UnsafeMutablePointer<Atomic<UInt>> { p.assumingMemoryBound(to: Atomic<UInt>.self) }
  @inline(__always) var next: UnsafeMutablePointer<Atomic<UInt>> {
    (p + 8).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  /// The leaf before this one; for the writer only.
  var before: DeltaLeaf? { DeltaLeaf(word: UnsafeRawPointer(p).load(fromByteOffset: 16, as: UInt.self)) }
  func setBefore(_ leaf: DeltaLeaf?) { p.storeBytes(of: leaf?.word ?? 0, toByteOffset: 16, as: UInt.self) }

  @inline(__always)
  func head(_ slot: Int) -> UInt64 { UnsafeRawPointer(p).load(fromByteOffset: 32 &+ slot &* 8, as: UInt64.self) }
  @inline(__always)
  func change(_ slot: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    (p + (32 &+ DeltaOrder.room &* 8 &+ slot &* wordBytes)).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  @inline(__always)
  func node(_ slot: Int) -> DeltaNode? { DeltaNode(word: change(slot).pointee.load(ordering: .acquiring)) }

  /// Fills a slot that no order names yet.
  @inline(__always)
  func fill(_ slot: Int, head: UInt64, change word: UInt) {
    p.storeBytes(of: head, toByteOffset: 32 &+ slot &* 8, as: UInt64.self)
    change(slot).initialize(to: Atomic(word))
  }

  /// The rank of the first entry not less than `key`, and whether it has that very key.
  @inline(__always)
  func lowerBound(_ key: TreeKey, _ order: DeltaOrder) -> (rank: Int, isEqual: Bool) {
    var isEqual = false
    let rank = order.partition { slot in
      let h = head(slot)
      guard h == key.head, let node = node(slot) else { return h < key.head }
      let sign = TreeKey.compareBehindHead(node.key, key)
      if sign == 0 { isEqual = true }
      return sign < 0
    }
    return (rank, isEqual)
  }
}

struct DeltaInner {
  static let size = 16 + DeltaOrder.room * (8 + 2 * wordBytes)
  /// Words that lead to an inner node, and not to a leaf, have this bit.
  static let tag: UInt = 1

  let p: UnsafeMutableRawPointer

  @inline(__always)
  init(p: UnsafeMutableRawPointer) { self.p = p }

  @inline(__always)
  init?(word: UInt) {
    guard word & Self.tag != 0, let p = UnsafeMutableRawPointer(bitPattern: word & ~Self.tag) else { return nil }
    self.p = p
  }

  static func initialize(_ p: UnsafeMutableRawPointer, leftmost: UInt) -> DeltaInner {
    let inner = DeltaInner(p: p)
    inner.order.initialize(to: Atomic(0))
    inner.child(-1).initialize(to: Atomic(leftmost))
    return inner
  }

  @inline(__always) var word: UInt { UInt(bitPattern: p) | Self.tag }
  @inline(__always) var order: UnsafeMutablePointer<Atomic<UInt>> { p.assumingMemoryBound(to: Atomic<UInt>.self) }

  @inline(__always)
  func head(_ slot: Int) -> UInt64 { UnsafeRawPointer(p).load(fromByteOffset: 16 &+ slot &* 8, as: UInt64.self) }
  /// A child; that of slot -1 is the leftmost, which has no separator.
  @inline(__always)
  func child(_ slot: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
    let offset = slot < 0 ? 8 : 16 &+ DeltaOrder.room &* 8 &+ slot &* wordBytes
    return (p + offset).assumingMemoryBound(to: Atomic<UInt>.self)
  }
  /// The slot of the child of a rank: one more children than separators.
  @inline(__always)
  func slot(ofChild rank: Int, _ order: DeltaOrder) -> Int { rank == 0 ? -1 : order.slot(rank &- 1) }

  @inline(__always)
  func separator(_ slot: Int) -> DeltaNode? {
    DeltaNode(
      word: UnsafeRawPointer(p).load(
        fromByteOffset: 16 &+ DeltaOrder.room &* (8 &+ wordBytes) &+ slot &* wordBytes, as: UInt.self))
  }

  /// Fills a slot that no order names yet.
  func fill(_ slot: Int, head: UInt64, separator: UInt, child word: UInt) {
    p.storeBytes(of: head, toByteOffset: 16 &+ slot &* 8, as: UInt64.self)
    p.storeBytes(
      of: separator, toByteOffset: 16 &+ DeltaOrder.room &* (8 &+ wordBytes) &+ slot &* wordBytes, as: UInt.self)
    child(slot).initialize(to: Atomic(word))
  }

  /// The rank of the child that holds `key`: the number of separators that are not greater (less, if `strictly`).
  @inline(__always)
  func rank(_ key: TreeKey, _ order: DeltaOrder, strictly: Bool = false) -> Int {
    order.partition { slot in
      let h = head(slot)
      guard h == key.head, let node = separator(slot) else { return h < key.head }
      let sign = TreeKey.compareBehindHead(node.key, key)
      return strictly ? sign < 0 : sign <= 0
    }
  }
}
