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
