/// Compares two keys byte by byte, a prefix first: -1 if `a` sorts before `b`, 0 if they are equal, 1 if it sorts
/// after.
public func compareKeys(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  compareBytes(a.start, a.count, b.start, b.count).signum()
}

/// Whether a key begins with some bytes.
@inlinable @inline(__always)
public func hasPrefix(_ key: UnsafeRawBufferPointer, _ prefix: UnsafeRawBufferPointer) -> Bool {
  let count = prefix.count
  return key.count >= count && areEqual(key.start, prefix.start, count)
}
