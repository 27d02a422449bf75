/// A key of either kind while it is looked for: borrowed, never stored.
///
/// An integer key is its head; a byte key carries its bytes as well, and its head is the first eight of them. One
/// comparison serves both: heads first, then the bytes, of which integer keys have none.
struct TreeKey {
  var head: UInt64
  var bytes: UnsafeRawPointer
  var count: Int

  @inline(__always)
  init(_ integer: UInt64) {
    head = integer
    bytes = emptyBytes
    count = 0
  }

  @inline(__always)
  init(_ buffer: UnsafeRawBufferPointer) {
    bytes = buffer.start
    count = buffer.count
    head = keyHead(bytes, count)
  }

  @inline(__always)
  init(head: UInt64, bytes: UnsafeRawPointer, count: Int) {
    self.head = head
    self.bytes = bytes
    self.count = count
  }

  var buffer: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

  @inline(__always)
  static func compare(_ a: TreeKey, _ b: TreeKey) -> Int {
    if a.head != b.head { return a.head < b.head ? -1 : 1 }
    return compareBehindHead(a, b)
  }

  /// The order of two keys whose heads are equal.
  @inline(__always)
  static func compareBehindHead(_ a: TreeKey, _ b: TreeKey) -> Int {
    if a.count <= 8 || b.count <= 8 { return a.count &- b.count }
    return compareBytes(a.bytes + 8, a.count &- 8, b.bytes + 8, b.count &- 8)
  }
}

/// A key that owns its bytes.
struct OwnedKey {
  var head: UInt64 = 0
  var bytes: [UInt8] = []

  init() {}
  init(_ key: TreeKey) {
    head = key.head
    bytes = Array(key.buffer)
  }

  mutating func set(_ key: TreeKey) {
    head = key.head
    bytes.removeAll(keepingCapacity: true)
    bytes.append(contentsOf: key.buffer)
  }

  /// Lends the key.
  @inline(__always)
  func with<R>(_ body: (TreeKey) throws(StoreError) -> R) throws(StoreError) -> R {
    let head = self.head
    return try bytes.withUnsafeBytesTyped { (b) throws(StoreError) -> R in
      try body(TreeKey(head: head, bytes: b.start, count: b.count))
    }
  }
}

extension Array where Element == UInt8 {
  /// `withUnsafeBytes` that keeps the error's type, which Embedded Swift needs.
  @inlinable @inline(__always)
  func withUnsafeBytesTyped<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    let result: Result<R, E> = withUnsafeBytes { (b) -> Result<R, E> in
      do throws(E) { return .success(try body(b)) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
