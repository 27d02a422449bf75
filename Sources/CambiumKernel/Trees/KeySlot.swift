/// Room for one key, in plain memory: nothing is counted for it, and it is set again and again.
///
/// Whoever made it gives it back with ``deallocate()``, once, and keeps no copy beside the one that is set.
struct KeySlot {
  private let bytes: UnsafeMutableRawPointer
  private var head: UInt64 = 0
  private var count = 0

  /// - Parameter pageSize: no key of a page is longer.
  init(pageSize: Int) { bytes = .allocate(byteCount: pageSize, alignment: 16) }

  func deallocate() { bytes.deallocate() }

  /// The key, good until another is set; of an integer, or none at all, one without bytes.
  @inline(__always)
  var key: TreeKey { TreeKey(head: head, bytes: UnsafeRawPointer(bytes), count: count) }

  @inline(__always)
  mutating func set(_ key: TreeKey) {
    head = key.head
    count = key.count
    if count > 0 { bytes.copyMemory(from: key.bytes, byteCount: count) }
  }

  /// Makes it the separator in front of child `i` of an inner page.
  @inline(__always)
  mutating func set(separator i: Int, of page: UnsafeRawPointer, _ kind: TreeKind) {
    if kind == .integer {
      head = IntegerInner(page).separator(i)
      count = 0
    } else {
      count = BytesInner(page).copySeparator(i, to: bytes)
      head = keyHead(UnsafeRawPointer(bytes), count)
    }
  }
}
