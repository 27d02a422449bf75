/// Keys to be put (without a value) or deleted, gathered in any order, and then made in the order of the keys: for
/// indexes.
///
/// Made one by one, the keys of a large transaction would touch every page of a tree again and again; sorted, they touch
/// each once, and many go straight into pages (``WriteTransaction/apply(_:to:)``).
///
/// One thread at a time uses it. A change takes 16 bytes and those of its key.
public final class ChangeBatch {
  /// One key and what is to become of it.
  public struct Change {
    /// The first bytes of the key as a big-endian number: decides most comparisons.
    var head: UInt64
    var offset: UInt32
    /// The length of the key, and in the highest bit whether it is put. Keys have up to a quarter of 64 KiB.
    var word: UInt16
    /// The caller's mark, and in the highest bit its flag.
    var note: UInt16

    /// Whether the key is put; else it is deleted.
    public var isPut: Bool { word & 0x8000 != 0 }
    /// Whatever the caller wants to know of it again, up to 32,767.
    public var mark: UInt16 { note & 0x7FFF }
    /// The same, yes or no.
    public var flag: Bool { note & 0x8000 != 0 }
    var count: Int { Int(word & 0x7FFF) }
  }

  /// The longest key that any page takes.
  private static let longestKey = 0x4000

  // Exclusive access is not checked at run time, since the checks would take longer than adding a change; no method calls
  // out while it changes one of these.
  @exclusivity(unchecked) private var changes: [Change] = []
  @exclusivity(unchecked) private var bytes: [UInt8] = []
  private var isSorted = true

  /// An empty batch.
  public init() {}

  /// How many changes there are.
  public var count: Int { changes.count }

  /// Whether there are none.
  public var isEmpty: Bool { changes.isEmpty }

  /// Adds a change behind those before it; of the changes of one key the last counts. Amortized O(length of the key).
  ///
  /// Answers how many bytes it takes; nil, having added nothing, if it cannot be held: the key is longer than any page
  /// takes, `mark` is above 32,767, or the batch has 4 GiB of keys.
  @inline(__always)
  public func add(_ key: [UInt8], isPut: Bool, mark: UInt16 = 0, flag: Bool = false) -> Int? {
    guard key.count <= Self.longestKey, mark < 0x8000, let offset = UInt32(exactly: bytes.count) else { return nil }
    let word = UInt16(truncatingIfNeeded: key.count) | (isPut ? 0x8000 : 0)
    let head = key.withUnsafeBytes { keyHead($0.start, $0.count) }
    bytes.append(contentsOf: key)
    changes.append(Change(head: head, offset: offset, word: word, note: mark | (flag ? 0x8000 : 0)))
    isSorted = false
    return key.count &+ MemoryLayout<Change>.stride
  }

  /// Forgets all changes, and keeps their memory for the next ones.
  public func removeAll() {
    if changes.isEmpty { return }
    changes.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    isSorted = true
  }

  /// Gives the memory of a batch without changes back, if it is much.
  public func trim() {
    guard changes.isEmpty, bytes.capacity > 1 << 16 || changes.capacity > 1 << 13 else { return }
    changes = []
    bytes = []
  }

  /// Sorts by key, and leaves of the changes of each key the last.
  public func sort() {
    if isSorted { return }
    isSorted = true
    if changes.count < 2 { return }
    bytes.withUnsafeBytes { bytes in
      RadixSort.sort(&changes)
      // What agrees in its first eight bytes.
      var from = 0
      while from < changes.count {
        var to = from + 1
        while to < changes.count, changes[to].head == changes[from].head { to += 1 }
        if to - from > 1 { Self.sort(&changes, from..<to, bytes) }
        from = to
      }
      var kept = 0
      for change in changes {
        if kept > 0, changes[kept - 1].head == change.head,
          compareKeys(Self.key(changes[kept - 1], bytes), Self.key(change, bytes)) == 0
        {
          changes[kept - 1] = change
        } else {
          changes[kept] = change
          kept += 1
        }
      }
      changes.removeLast(changes.count - kept)
    }
  }

  /// Sorts some by what comes behind their heads, and those of one key by their age.
  private static func sort(_ changes: inout [Change], _ range: Range<Int>, _ bytes: UnsafeRawBufferPointer) {
    changes.withUnsafeMutableBufferPointer { all in
      var some = UnsafeMutableBufferPointer(rebasing: all[range])
      some.sort { a, b in
        let order = compareKeys(key(a, bytes), key(b, bytes))
        return order == 0 ? a.offset < b.offset : order < 0
      }
    }
  }

  @inline(__always)
  private static func key(_ change: Change, _ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let start = Int(change.offset)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start &+ change.count])
  }

  /// Tells `body` every change, in the present order, with its key, which is lent. `body` must not change the batch.
  public func forEach(
    _ body: (Change, UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try bytes.withUnsafeBytesTyped { (bytes) throws(StoreError) in
      for change in changes { try body(change, Self.key(change, bytes)) }
    }
  }

  /// The change at a place of the present order.
  subscript(_ i: Int) -> Change { changes[i] }

  /// Writes the change at a place as a node of no list; `p` has room for ``nodeSize(_:)`` bytes.
  func writeNode(_ i: Int, to p: UnsafeMutableRawPointer) -> DeltaNode {
    let change = changes[i]
    return bytes.withUnsafeBytes { b in
      let key = TreeKey(head: change.head, bytes: b.start + Int(change.offset), count: change.count)
      return DeltaNode.initialize(
        p, sequence: 0, key: key, value: UnsafeRawBufferPointer(start: nil, count: 0),
        op: change.isPut ? .put : .delete, effect: 0)
    }
  }

  /// The longest node that ``writeNode(_:to:)`` writes.
  static let longestNode = DeltaNode.headerSize + longestKey
}

/// Sorting by the heads of keys, byte by byte from the lowest: stable, in time that grows with the number alone.
enum RadixSort {
  /// Below this, comparing is faster.
  private static let least = 256

  static func sort(_ changes: inout [ChangeBatch.Change]) {
    if changes.count < least {
      changes.sort { $0.head != $1.head ? $0.head < $1.head : $0.offset < $1.offset }
      return
    }
    var differing: UInt64 = 0
    let first = changes[0].head
    for change in changes { differing |= change.head ^ first }
    var other = changes
    for digit in 0..<8 where (differing &>> UInt64(8 &* digit)) & 0xFF != 0 {
      pass(changes, &other, UInt64(8 &* digit))
      swap(&changes, &other)
    }
  }

  private static func pass(_ from: [ChangeBatch.Change], _ to: inout [ChangeBatch.Change], _ shift: UInt64) {
    withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
      places.initialize(repeating: 0)
      from.withUnsafeBufferPointer { from in
        for change in from { places[Int(truncatingIfNeeded: (change.head &>> shift) & 0xFF)] &+= 1 }
        var sum = 0
        for i in 0..<256 {
          let n = places[i]
          places[i] = sum
          sum &+= n
        }
        to.withUnsafeMutableBufferPointer { to in
          for change in from {
            let bucket = Int(truncatingIfNeeded: (change.head &>> shift) & 0xFF)
            to[places[bucket]] = change
            places[bucket] &+= 1
          }
        }
      }
    }
  }
}
