/// Entries in key order on their way into pages: keys and values copied into one buffer.
///
/// Leaves are built of keys and values, inner pages of separators and references with entry counts. A run of lent keys
/// copies none.
struct EntryRun: ~Copyable {
  /// In 16 bytes: a run of short keys has more than a thousand.
  struct Entry {
    var head: UInt64
    /// Where key and value lie; of lent keys, nothing.
    var offset: UInt32
    /// The length of the key, at most a quarter of a page, and above it a bit for a stub.
    private let keyWord: UInt16
    /// The length of the value, which has no more bytes than a page.
    private let valueBytes: UInt16

    @inline(__always)
    init(head: UInt64, offset: Int = 0, keyCount: Int, valueCount: Int = 0, isStub: Bool = false) {
      self.head = head
      self.offset = UInt32(truncatingIfNeeded: offset)
      keyWord = UInt16(truncatingIfNeeded: keyCount) & 0x7FFF | (isStub ? 0x8000 : 0)
      valueBytes = UInt16(truncatingIfNeeded: valueCount)
    }

    @inline(__always) var keyCount: Int { Int(truncatingIfNeeded: keyWord & 0x7FFF) }
    @inline(__always) var valueCount: Int { Int(truncatingIfNeeded: valueBytes) }
    @inline(__always) var isStub: Bool { keyWord & 0x8000 != 0 }
  }

  /// The page that an entry of an inner page leads to, and how many entries of the tree lie below it.
  private struct Child {
    var ref: PageRef
    var below: UInt64
  }

  let kind: TreeKind
  let isLeaf: Bool
  /// Whether entries say where their keys lie elsewhere.
  private let isLent: Bool
  private var entries: [Entry] = []
  /// Those of the entries, in an inner page.
  private var children: [Child] = []
  /// Where the keys of the entries lie, if they are lent.
  private var lent: [UnsafeRawPointer] = []
  /// The first entry that was not forgotten.
  private var begin = 0
  private var storage: UnsafeMutableRawPointer
  private var capacity: Int
  /// A run of leaf entries that grows becomes so long: two full pages and some more.
  private let usualLength: Int
  private var used = 0
  /// Key and value bytes of all entries: a lower bound of the encoded size, kept to decide when to look closer.
  private(set) var payload = 0

  init(kind: TreeKind, isLeaf: Bool, pageSize: Int) {
    self.kind = kind
    self.isLeaf = isLeaf
    isLent = false
    // The inner pages of most trees have a few entries.
    capacity = isLeaf ? pageSize : pageSize / 8
    usualLength = isLeaf ? pageSize * 2 + 1024 : 0
    storage = .allocate(byteCount: capacity, alignment: 8)
  }

  /// A run of leaf entries without values, whose keys are lent until they are forgotten.
  init(lentKeys kind: TreeKind) {
    self.kind = kind
    isLeaf = true
    isLent = true
    capacity = 16
    usualLength = 0
    storage = .allocate(byteCount: capacity, alignment: 8)
  }

  deinit { storage.deallocate() }

  @inline(__always) var count: Int { entries.count &- begin }
  @inline(__always) var isEmpty: Bool { entries.count == begin }

  /// An entry; numbers begin at the first one that was not forgotten.
  @inline(__always)
  subscript(_ i: Int) -> Entry { entries[begin &+ i] }

  /// How many entries of the tree lie below an entry.
  @inline(__always)
  func below(_ i: Int) -> UInt64 { isLeaf ? 1 : children[begin &+ i].below }

  /// The page that an entry of an inner page leads to.
  @inline(__always)
  func ref(_ i: Int) -> PageRef { children[begin &+ i].ref }

  /// What an entry adds to ``payload``.
  @inline(__always)
  func size(_ i: Int) -> Int {
    let e = entries[begin &+ i]
    return e.keyCount &+ e.valueCount &+ 2 &+ (isLeaf ? 0 : PageRef.size)
  }

  /// Makes room for another entry, whose key and value have so many bytes.
  @inline(__always)
  private mutating func reserve(_ bytes: Int) {
    if used &+ bytes > capacity || entries.count == entries.capacity { grow(bytes) }
  }

  @inline(never)
  private mutating func grow(_ bytes: Int) {
    // Room at the front serves first.
    if begin > 0 { moveToFront() }
    // Arrays would double, which is more than a run of many short keys needs. Growing step by step takes the memory of
    // two runs each time, and leaves holes in a small heap. So the entries so far tell how many there will be.
    if entries.count == entries.capacity {
      let usual = entries.count < 32 ? 0 : usualLength / max(1, payload / entries.count)
      entries.reserveCapacity(max(usual, entries.count + max(16, entries.count / 4)))
    }
    if used + bytes <= capacity { return }
    var grown = max(capacity, usualLength)
    while grown < used + bytes { grown += grown / 2 }
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 8)
    fresh.copyMemory(from: storage, byteCount: used)
    storage.deallocate()
    storage = fresh
    capacity = grown
  }

  /// Only for a run of lent keys.
  @inline(__always)
  mutating func append(lent key: TreeKey) {
    entries.append(Entry(head: key.head, keyCount: key.count))
    lent.append(key.bytes)
    payload += key.count + 2
  }

  mutating func append(_ key: TreeKey, value: UnsafeRawBufferPointer, isStub: Bool) {
    reserve(key.count + value.count)
    (storage + used).put(key.buffer, 0)
    (storage + used).put(value, key.count)
    entries.append(
      Entry(head: key.head, offset: used, keyCount: key.count, valueCount: value.count, isStub: isStub))
    used += key.count + value.count
    payload += key.count + value.count + 2
  }

  mutating func append(_ key: TreeKey, ref: PageRef, below: UInt64) {
    reserve(key.count)
    (storage + used).put(key.buffer, 0)
    entries.append(Entry(head: key.head, offset: used, keyCount: key.count))
    children.append(Child(ref: ref, below: below))
    used += key.count
    payload += key.count + PageRef.size + 2
  }

  @inline(__always)
  func key(_ i: Int) -> TreeKey {
    let e = entries[begin &+ i]
    let bytes = isLent ? lent[begin &+ i] : UnsafeRawPointer(storage) + Int(truncatingIfNeeded: e.offset)
    return TreeKey(head: e.head, bytes: bytes, count: e.keyCount)
  }

  @inline(__always)
  func value(_ i: Int) -> UnsafeRawBufferPointer {
    let e = entries[begin &+ i]
    return UnsafeRawBufferPointer(
      start: UnsafeRawPointer(storage) + Int(truncatingIfNeeded: e.offset) + e.keyCount, count: e.valueCount)
  }

  /// Forgets the first `n` entries.
  mutating func removeFirst(_ n: Int) {
    for i in 0..<n { payload -= size(i) }
    begin += n
    if begin == entries.count {
      entries.removeAll(keepingCapacity: true)
      children.removeAll(keepingCapacity: true)
      lent.removeAll(keepingCapacity: true)
      begin = 0
      used = 0
      return
    }
    if isLent {
      if begin > entries.count / 2 {
        entries.removeFirst(begin)
        lent.removeFirst(begin)
        begin = 0
      }
      return
    }
    // The rest moves to the front only when it is the smaller part.
    if Int(truncatingIfNeeded: entries[begin].offset) > used / 2 { moveToFront() }
  }

  /// Gives the room of forgotten entries back.
  private mutating func moveToFront() {
    let shift = Int(truncatingIfNeeded: entries[begin].offset)
    storage.copyMemory(from: storage + shift, byteCount: used - shift)
    used -= shift
    entries.removeFirst(begin)
    if !isLeaf { children.removeFirst(begin) }
    begin = 0
    for i in entries.indices { entries[i].offset &-= UInt32(truncatingIfNeeded: shift) }
  }
}

/// The exact size of a page made of a range of entries, kept up to date while the range grows by one.
struct PageSizer {
  let kind: TreeKind
  let isLeaf: Bool
  private(set) var count = 0
  private var keyBytes = 0
  private var valueBytes = 0
  private var shortest = Int.max
  private var longest = 0
  private var prefix = 0
  private var stubs = false
  private var firstHead: UInt64 = 0
  private var lastHead: UInt64 = 0
  private var baseHead: UInt64 = 0
  private var lowCount = 0
  private var belowLargest: UInt64 = 0

  /// No page of the entries is larger: as if each had the widest fields, and shared nothing with the others.
  private(set) var atMost: Int
  /// What an entry adds to that beside its key, its value and its reference: in leaves the end of its value, its number
  /// or the end of its key and its bit, in inner pages its number and how many entries are below.
  static let mostAnEntry = 24

  init(kind: TreeKind, isLeaf: Bool) {
    self.kind = kind
    self.isLeaf = isLeaf
    // What pages of all kinds have in front, and what rounding adds.
    atMost = PageHeader.size + 64
  }

  /// Adds entry `i` of `run`, where `first` is the index of the first entry of the page.
  mutating func add(_ run: borrowing EntryRun, _ i: Int, first: Int) {
    let e = run[i]
    if !isLeaf, run.below(i) > belowLargest { belowLargest = run.below(i) }
    if i == first {
      firstHead = e.head
      lowCount = e.keyCount
    }
    lastHead = e.head
    if isLeaf || i > first {
      let base = isLeaf ? first : first + 1
      if i == base {
        baseHead = e.head
        prefix = e.keyCount
      } else if kind == .bytes {
        let a = run.key(base)
        let b = run.key(i)
        prefix = sharedPrefix(a.bytes, prefix, b.bytes, b.count)
      }
      keyBytes += e.keyCount
      shortest = e.keyCount < shortest ? e.keyCount : shortest
      longest = e.keyCount > longest ? e.keyCount : longest
    }
    valueBytes += e.valueCount
    if e.isStub { stubs = true }
    atMost += e.keyCount + e.valueCount + Self.mostAnEntry + (isLeaf ? 0 : PageRef.size)
    count += 1
  }

  var layout: PageLayout {
    var l = PageLayout()
    l.keys = isLeaf ? count : count - 1
    l.hasValues = valueBytes > 0
    l.hasStubs = stubs
    l.countWidth = isLeaf ? 0 : widthFor(belowLargest)
    switch (kind, isLeaf) {
    case (.integer, true):
      let span = lastHead &- firstHead
      l.width = span == UInt64(count - 1) ? 0 : widthFor(span)
      l.hasValues = true
      l.size = IntegerLeaf.keysOffset + count * (l.width + 2) + (stubs ? (count + 7) / 8 : 0) + valueBytes
    case (.integer, false):
      l.width = count > 1 ? widthFor(lastHead &- baseHead) : 1
      l.size = IntegerInner.keysOffset + (count - 1) * l.width + count * (PageRef.size + l.countWidth)
    case (.bytes, _):
      let n = l.keys
      l.prefix = n > 0 ? prefix : 0
      let left = n > 0 ? shortest - l.prefix : 0
      l.width = left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : left >= 1 ? 1 : 0
      l.fixed = n > 0 && shortest == longest ? shortest - l.prefix - l.width : -1
      let keys = l.prefix + keyBytes - n * l.prefix + (l.fixed >= 0 ? 0 : n * 2)
      if isLeaf {
        l.size = PageHeader.size + keys + valueBytes + (l.hasValues ? n * 2 : 0) + (stubs ? (n + 7) / 8 : 0)
      } else {
        l.size = PageHeader.size + keys + count * (PageRef.size + l.countWidth) + 2 + lowCount
      }
    }
    return l
  }
}

/// How the entries of a page are laid out.
struct PageLayout {
  var size = 0
  var keys = 0
  var prefix = 0
  var width = 0
  var fixed = -1
  var countWidth = 0
  var hasValues = false
  var hasStubs = false
}
