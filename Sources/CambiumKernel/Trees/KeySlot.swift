/// Room for one key, in plain memory: nothing is counted for it, and it is set again and again. Keys of integers take
/// none.
///
/// Whoever made it gives it back with ``deallocate()``, once, and keeps no copy beside the one that is set.
struct KeySlot {
  private var bytes: UnsafeMutableRawPointer?
  private var capacity = 0
  private var head: UInt64 = 0
  private var count = 0

  func deallocate() { bytes?.deallocate() }

  /// The key, good until another is set; of an integer, or none at all, one without bytes.
  @inline(__always)
  var key: TreeKey { TreeKey(head: head, bytes: bytes.map { UnsafeRawPointer($0) } ?? emptyBytes, count: count) }

  @inline(__always)
  mutating func set(_ key: TreeKey) {
    head = key.head
    if key.count > 0 { room(for: key.count).copyMemory(from: key.bytes, byteCount: key.count) }
    count = key.count
  }

  /// Makes it the separator in front of child `i` of an inner page.
  @inline(__always)
  mutating func set(separator i: Int, of page: UnsafeRawPointer, _ kind: TreeKind) {
    if kind == .integer {
      head = IntegerInner(page).separator(i)
      count = 0
    } else {
      let inner = BytesInner(page)
      let bytes = room(for: inner.separatorLength(i))
      count = inner.copySeparator(i, to: bytes)
      head = keyHead(UnsafeRawPointer(bytes), count)
    }
  }

  /// Makes it entry `i` of a leaf of byte keys.
  @inline(__always)
  mutating func set(entry i: Int, of leaf: BytesLeaf) {
    let bytes = room(for: leaf.keyLength(i))
    count = leaf.copyKey(i, to: bytes)
    head = keyHead(UnsafeRawPointer(bytes), count)
  }

  /// Room for a key of `count` bytes. What is there may be lost.
  @inline(__always)
  private mutating func room(for count: Int) -> UnsafeMutableRawPointer {
    if let bytes, count <= capacity { return bytes }
    return grow(count)
  }

  @inline(never)
  private mutating func grow(_ count: Int) -> UnsafeMutableRawPointer {
    bytes?.deallocate()
    // Heads are read in one go: there are eight bytes at least.
    capacity = roundUp(max(count, 64), to: 64)
    let fresh = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
    bytes = fresh
    return fresh
  }
}
