/// Keys to be put (without a value) or deleted, gathered in any order, and then made in the order of the keys: for
/// indexes.
///
/// Made one by one, the keys of a large transaction would touch every page of a tree again and again; sorted, they
/// touch each once, and many go straight into pages (``WriteTransaction/apply(_:to:)-(ChangeBatch,_)``).
///
/// One thread at a time uses it. A change takes 16 bytes and those of its key.
public final class ChangeBatch {
  /// One key and what is to become of it.
  public struct Change: RadixSorted {
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
    /// Keys are added one behind the other.
    var ordinal: Int { Int(truncatingIfNeeded: offset) }
  }

  /// The longest key that any page takes.
  private static let longestKey = 0x4000

  // Plain memory, since the checks that arrays come with would take longer than adding a change.
  @exclusivity(unchecked) private var changes: UnsafeMutablePointer<Change>
  @exclusivity(unchecked) private var capacity: Int
  /// How many changes there are.
  @exclusivity(unchecked) public private(set) var count = 0
  @exclusivity(unchecked) private var bytes: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var byteCapacity: Int
  @exclusivity(unchecked) private var byteCount = 0
  @exclusivity(unchecked) private var isSorted = true
  /// Whether all changes are of keys of which the caller knows that they are not in the tree.
  @exclusivity(unchecked) private(set) var isAllNew = true

  /// What an empty batch has room for, and what it keeps.
  private static let leastCapacity = 64
  private static let keptCapacity = 1 << 13
  /// With fewer changes than this their keys are in the processor's caches anyway.
  private static let leastToOrder = 256

  /// An empty batch.
  public init() {
    capacity = Self.leastCapacity
    changes = .allocate(capacity: capacity)
    byteCapacity = Self.leastCapacity * 16
    bytes = .allocate(byteCount: byteCapacity, alignment: 8)
  }

  deinit {
    changes.deallocate()
    bytes.deallocate()
  }

  /// Whether there are none.
  public var isEmpty: Bool { count == 0 }

  /// No more bytes than this are the keys of all changes.
  var keyBytes: Int { byteCount }

  /// Adds a change behind those before it; of the changes of one key the last counts. Amortized O(length of the key).
  ///
  /// Answers how many bytes it takes; nil, having added nothing, if it cannot be held: the key is longer than any page
  /// takes, `mark` is above 32,767, or the batch has 4 GiB of keys.
  ///
  /// - Parameter isNew: whether the caller knows that the tree does not have the key, and no change before this one is
  ///   of it. Of a batch of nothing else the keys are not looked for.
  @inline(__always)
  public func add(_ key: [UInt8], isPut: Bool, mark: UInt16 = 0, flag: Bool = false, isNew: Bool = false) -> Int? {
    key.withUnsafeBytes { add($0, isPut: isPut, mark: mark, flag: flag, isNew: isNew) }
  }

  /// The same for a key that is lent.
  @inline(__always)
  public func add(
    _ key: UnsafeRawBufferPointer, isPut: Bool, mark: UInt16 = 0, flag: Bool = false, isNew: Bool = false
  ) -> Int? {
    guard key.count <= Self.longestKey, mark < 0x8000, let offset = UInt32(exactly: byteCount) else { return nil }
    if count == capacity || key.count > byteCapacity &- byteCount { grow(key.count) }
    let word = UInt16(truncatingIfNeeded: key.count) | (isPut ? 0x8000 : 0)
    (bytes + byteCount).copyFew(from: key.start, key.count)
    let head = keyHead(key.start, key.count)
    (changes + count).initialize(
      to: Change(head: head, offset: offset, word: word, note: mark | (flag ? 0x8000 : 0)))
    count &+= 1
    byteCount &+= key.count
    isSorted = false
    if !isNew { isAllNew = false }
    return key.count &+ MemoryLayout<Change>.stride
  }

  /// Makes room for one more change, with a key of so many bytes.
  @inline(never)
  private func grow(_ keyBytes: Int) {
    if count == capacity {
      capacity *= 2
      let fresh = UnsafeMutablePointer<Change>.allocate(capacity: capacity)
      fresh.moveInitialize(from: changes, count: count)
      changes.deallocate()
      changes = fresh
    }
    if keyBytes > byteCapacity - byteCount {
      while keyBytes > byteCapacity - byteCount { byteCapacity *= 2 }
      let fresh = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 8)
      fresh.copyMemory(from: bytes, byteCount: byteCount)
      bytes.deallocate()
      bytes = fresh
    }
  }

  /// Forgets all changes, and keeps their memory for the next ones.
  public func removeAll() {
    count = 0
    byteCount = 0
    isSorted = true
    isAllNew = true
  }

  /// Gives the memory of a batch without changes back, if it is much.
  public func trim() {
    guard isEmpty, byteCapacity > Self.keptCapacity * 16 || capacity > Self.keptCapacity else { return }
    changes.deallocate()
    bytes.deallocate()
    capacity = Self.leastCapacity
    changes = .allocate(capacity: capacity)
    byteCapacity = Self.leastCapacity * 16
    bytes = .allocate(byteCount: byteCapacity, alignment: 8)
  }

  /// Sorts by key, and leaves of the changes of each key the last.
  public func sort() {
    if isSorted { return }
    isSorted = true
    if count < 2 { return }
    changes = RadixSort.sort(changes, count, capacity)
    // Neighbours are compared where they lie next to each other: else each would have to be waited for.
    if count >= Self.leastToOrder { bringKeysInOrder() }
    // What agrees in its first eight bytes.
    var (from, moved, anySuperseded) = (0, 0, false)
    while from < count {
      var to = from + 1
      while to < count, changes[to].head == changes[from].head { to += 1 }
      if to - from > 1 { sort(from..<to, &moved, &anySuperseded) }
      from = to
    }
    if anySuperseded { forgetSuperseded() }
    if moved > count / 8, count >= Self.leastToOrder { bringKeysInOrder() }
  }

  /// Sorts some by what comes behind their heads, and those of one key by their age. Adds to `moved` how many were not
  /// in order, and tells whether any has the same key as another.
  private func sort(_ range: Range<Int>, _ moved: inout Int, _ anySuperseded: inout Bool) {
    // Rows come in their order as a rule, and equal values with them.
    var isInOrder = true
    for i in range.dropFirst() where isInOrder {
      let order = TreeKey.compareBehindHead(key(at: i &- 1), key(at: i))
      if order == 0 { anySuperseded = true }
      isInOrder = order <= 0
    }
    if isInOrder { return }
    moved += range.count
    anySuperseded = true
    var some = UnsafeMutableBufferPointer(start: changes + range.lowerBound, count: range.count)
    some.sort { isLess($0, $1) }
  }

  private func isLess(_ a: Change, _ b: Change) -> Bool {
    let order = compareKeys(key(a), key(b))
    return order == 0 ? a.offset < b.offset : order < 0
  }

  /// Whether the change behind one, in order, is a newer one of the same key.
  @inline(__always)
  private func isSuperseded(_ i: Int) -> Bool {
    i &+ 1 < count && changes[i &+ 1].head == changes[i].head
      && compareKeys(key(changes[i &+ 1]), key(changes[i])) == 0
  }

  /// Leaves the newest change of each key.
  private func forgetSuperseded() {
    var kept = 0
    for i in 0..<count where !isSuperseded(i) {
      changes[kept] = changes[i]
      kept += 1
    }
    count = kept
  }

  /// Puts the keys one behind the other, as the changes are: they are read several times after this.
  private func bringKeysInOrder() {
    let ordered = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 8)
    var used = 0
    for i in 0..<count {
      let length = changes[i].count
      (ordered + used).copyFew(from: bytes + Int(changes[i].offset), length)
      // No more than before, which was in range.
      changes[i].offset = UInt32(truncatingIfNeeded: used)
      used += length
    }
    bytes.deallocate()
    bytes = ordered
    byteCount = used
  }

  /// Takes the changes of other batches over, in order, into this one, which must be empty: of the changes of one key
  /// those of the later batch count. The others are sorted by it, and otherwise stay. Answers false, having taken
  /// nothing, if this one is not empty, or for more than 4 GiB of keys. O(n) for a few batches that are sorted.
  public func merge(_ others: [ChangeBatch]) -> Bool {
    var (all, bytesOfAll) = (0, 0)
    for other in others {
      other.sort()
      all += other.count
      bytesOfAll += other.byteCount
    }
    guard isEmpty, UInt32(exactly: bytesOfAll) != nil else { return false }
    makeRoom(changes: all, bytes: bytesOfAll)
    let cursor = KeyCursor(others)
    while let (change, bytes) = cursor.next() { append(change, bytes) }
    isSorted = true
    isAllNew = false
    return true
  }

  @inline(__always)
  private func append(_ change: Change, _ from: UnsafeRawPointer) {
    var change = change
    (bytes + byteCount).copyFew(from: from + Int(change.offset), change.count)
    // In range: there is room for the bytes of all.
    change.offset = UInt32(truncatingIfNeeded: byteCount)
    (changes + count).initialize(to: change)
    byteCount &+= change.count
    count &+= 1
  }

  /// Makes room in a batch without changes.
  private func makeRoom(changes count: Int, bytes byteCount: Int) {
    if count > capacity {
      changes.deallocate()
      capacity = count
      changes = .allocate(capacity: capacity)
    }
    if byteCount > byteCapacity {
      bytes.deallocate()
      byteCapacity = byteCount
      bytes = .allocate(byteCount: byteCapacity, alignment: 8)
    }
  }

  @inline(__always)
  private func key(_ change: Change) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + Int(change.offset), count: change.count)
  }

  /// Tells `body` every change, in the present order, with its key, which is lent. `body` must not change the batch.
  public func forEach(
    _ body: (Change, UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    for i in 0..<count { try body(changes[i], key(changes[i])) }
  }

  /// The change at a place of the present order.
  subscript(_ i: Int) -> Change { changes[i] }

  /// The key of the change at a place of the present order, which is not before the first nor behind the last: good
  /// until the batch is changed.
  func key(at i: Int) -> TreeKey { changes[i].key(in: UnsafeRawPointer(bytes)) }

  /// The place of the first change, in a batch that is sorted, whose key is not less than `key`. O(log n).
  func lowerBound(_ key: TreeKey) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if TreeKey.compare(self.key(at: middle), key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Where the changes and the bytes of their keys lie, until the batch is changed.
  var contents: (changes: UnsafePointer<Change>, bytes: UnsafeRawPointer) {
    (UnsafePointer(changes), UnsafeRawPointer(bytes))
  }
}
