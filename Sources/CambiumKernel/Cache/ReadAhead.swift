/// Leaves that lie one behind the other in the file, read together for somebody who goes through a tree that the cache
/// has no room for. They do not come into the cache: they would only drive out what others read, and be driven out
/// before they are read again. One call of the device, and none of what it takes to bring a page into the cache, for as
/// much as the buffer holds.
final class ReadAhead {
  private let capacity: Int
  private let buffer: UnsafeMutableRawPointer
  private var start: UInt64 = 0
  private var count = 0

  /// - Parameter capacity: The bytes of the buffer; a page at least.
  init(capacity: Int) {
    self.capacity = capacity
    buffer = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// The bytes of a page that was read, unlooked at; nil if it was not.
  private func bytes(_ ref: PageRef) -> UnsafeRawPointer? {
    guard ref.address >= start, ref.address - start + UInt64(ref.length) <= UInt64(count) else { return nil }
    return UnsafeRawPointer(buffer) + Int(ref.address - start)
  }

  private func read(_ address: UInt64, _ length: Int, _ cache: PageCache) throws(StoreError) {
    count = 0
    let got = try cache.device.read(at: address, into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
    start = address
    count = max(0, min(got, length))
  }

  /// Child `i` of a page of integer keys, a leaf: good until this is asked again. What is read with it are the children
  /// behind it, as far as they lie behind one another.
  ///
  /// - Throws: as ``PageCache/page(_:tree:level:)``.
  func leaf(
    _ i: Int, of parent: IntegerInner, tree: TreeID, _ cache: PageCache
  ) throws(StoreError) -> UnsafeRawPointer {
    let ref = parent.ref(i)
    try cache.requireLength(ref, tree: tree)
    if let page = bytes(ref) {
      try cache.check(page, ref, tree: tree, level: 0)
      return page
    }
    // No page is longer.
    var length = min(ref.length, capacity)
    var next = i &+ 1
    while next < parent.count, case let other = parent.ref(next), other.address == ref.address + UInt64(length),
      other.length > 0, other.length <= capacity - length
    {
      length += other.length
      next &+= 1
    }
    do throws(StoreError) {
      try read(ref.address, length, cache)
    } catch {
      // What cannot be read may be what comes behind.
      if length == ref.length { throw error }
      try read(ref.address, ref.length, cache)
    }
    guard let page = bytes(ref) else { throw cache.endsBefore(ref, tree: tree) }
    try cache.check(page, ref, tree: tree, level: 0)
    return page
  }
}
