/// Compares two keys byte by byte, a prefix first: -1 if `a` sorts before `b`, 0 if they are equal, 1 if it sorts after.
public func compareKeys(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  let count = min(a.count, b.count)
  var index = 0
  while index &+ 8 <= count {
    let x = a.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    let y = b.loadUnaligned(fromByteOffset: index, as: UInt64.self)
    if x != y { return UInt64(bigEndian: x) < UInt64(bigEndian: y) ? -1 : 1 }
    index &+= 8
  }
  while index < count {
    if a[index] != b[index] { return a[index] < b[index] ? -1 : 1 }
    index &+= 1
  }
  return a.count == b.count ? 0 : a.count < b.count ? -1 : 1
}

/// Whether a key begins with some bytes.
@inlinable @inline(__always)
public func hasPrefix(_ key: UnsafeRawBufferPointer, _ prefix: UnsafeRawBufferPointer) -> Bool {
  let count = prefix.count
  if key.count < count { return false }
  var i = 0
  while i &+ 8 <= count {
    if key.loadUnaligned(fromByteOffset: i, as: UInt64.self) != prefix.loadUnaligned(fromByteOffset: i, as: UInt64.self)
    {
      return false
    }
    i &+= 8
  }
  while i < count {
    if key[i] != prefix[i] { return false }
    i &+= 1
  }
  return true
}
