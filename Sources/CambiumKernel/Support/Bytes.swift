// Unaligned little-endian access to raw memory, and byte-string order. Offsets are the caller's to check: these are the
// primitives under the page, log and directory readers, each of which checks its bounds once.

extension UnsafeRawPointer {
  @inlinable @inline(__always)
  func u8(_ offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }
  @inlinable @inline(__always)
  func u16(_ offset: Int) -> UInt16 {
    UInt16(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
  @inlinable @inline(__always)
  func u32(_ offset: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
  @inlinable @inline(__always)
  func u64(_ offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

extension UnsafeMutableRawPointer {
  @inlinable @inline(__always)
  func put(_ value: UInt8, _ offset: Int) { storeBytes(of: value, toByteOffset: offset, as: UInt8.self) }
  @inlinable @inline(__always)
  func put(_ value: UInt16, _ offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt16.self)
  }
  @inlinable @inline(__always)
  func put(_ value: UInt32, _ offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt32.self)
  }
  @inlinable @inline(__always)
  func put(_ value: UInt64, _ offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: UInt64.self)
  }
  /// Copies `bytes` to `offset`. Nothing happens for an empty buffer, whose base may be nil.
  @inlinable @inline(__always)
  func put(_ bytes: UnsafeRawBufferPointer, _ offset: Int) {
    if let base = bytes.baseAddress, bytes.count > 0 { (self + offset).copyMemory(from: base, byteCount: bytes.count) }
  }
  /// Copies `count` bytes, few as a rule, which do not overlap these: a call would take longer than the bytes.
  @inlinable @inline(__always)
  func copyFew(from p: UnsafeRawPointer, _ count: Int) {
    // Each piece is copied from both of its ends, which may overlap each other.
    if count > 16 {
      copyMemory(from: p, byteCount: count)
    } else if count >= 8 {
      let (first, last) = (
        p.loadUnaligned(as: UInt64.self), p.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      )
      storeBytes(of: first, as: UInt64.self)
      storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
    } else if count >= 4 {
      let (first, last) = (
        p.loadUnaligned(as: UInt32.self), p.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      )
      storeBytes(of: first, as: UInt32.self)
      storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
    } else if count > 0 {
      let (first, middle, last) = (p.u8(0), p.u8(count / 2), p.u8(count &- 1))
      put(first, 0)
      put(middle, count / 2)
      put(last, count &- 1)
    }
  }
  @inlinable @inline(__always)
  func zero(_ count: Int) {
    if count > 0 { initializeMemory(as: UInt8.self, repeating: 0, count: count) }
  }
}

extension String {
  /// A text of UTF-8 that is well-formed; what is not is repaired. Short ones, which a string keeps within itself, are
  /// not gone through once more.
  @inline(__always)
  init(wellFormed utf8: UnsafeRawBufferPointer) {
    guard utf8.count <= 15, let from = utf8.baseAddress else {
      self.init(decoding: utf8, as: UTF8.self)
      return
    }
    self.init(unsafeUninitializedCapacity: utf8.count) { to in
      guard let to = UnsafeMutableRawPointer(to.baseAddress) else { return 0 }
      to.copyFew(from: from, utf8.count)
      return utf8.count
    }
  }
}

/// Lexicographic order of two byte strings: negative, zero or positive.
@inlinable
func compareBytes(_ a: UnsafeRawPointer, _ aCount: Int, _ b: UnsafeRawPointer, _ bCount: Int) -> Int {
  let shared = aCount < bCount ? aCount : bCount
  if shared < 8 {
    let (x, y) = (keyHead(a, shared), keyHead(b, shared))
    return x == y ? aCount &- bCount : x < y ? -1 : 1
  }
  var i = 0
  repeat {
    let x = UInt64(bigEndian: a.loadUnaligned(fromByteOffset: i, as: UInt64.self))
    let y = UInt64(bigEndian: b.loadUnaligned(fromByteOffset: i, as: UInt64.self))
    if x != y { return x < y ? -1 : 1 }
    // The last eight may have some bytes in common with those before, which are equal.
    i = i &+ 16 <= shared || i &+ 8 == shared ? i &+ 8 : shared &- 8
  } while i < shared
  return aCount &- bCount
}

/// Whether two byte strings of the same length, few bytes as a rule, are equal.
@inlinable @inline(__always)
func areEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Bool {
  // As in `keyHead`.
  if count >= 8 { return compareBytes(a, count, b, count) == 0 }
  if count >= 4 {
    let first = a.loadUnaligned(as: UInt32.self) ^ b.loadUnaligned(as: UInt32.self)
    let last =
      a.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      ^ b.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
    return first | last == 0
  }
  if count <= 0 { return true }
  let (middle, last) = (count &>> 1, count &- 1)
  return (a.u8(0) ^ b.u8(0)) | (a.u8(middle) ^ b.u8(middle)) | (a.u8(last) ^ b.u8(last)) == 0
}

/// How many leading bytes two byte strings share.
@inlinable
func sharedPrefix(_ a: UnsafeRawPointer, _ aCount: Int, _ b: UnsafeRawPointer, _ bCount: Int) -> Int {
  let shared = aCount < bCount ? aCount : bCount
  var i = 0
  while i &+ 8 <= shared {
    let x = UInt64(bigEndian: a.loadUnaligned(fromByteOffset: i, as: UInt64.self))
    let y = UInt64(bigEndian: b.loadUnaligned(fromByteOffset: i, as: UInt64.self))
    if x != y { return i &+ (x ^ y).leadingZeroBitCount / 8 }
    i &+= 8
  }
  while i < shared, a.u8(i) == b.u8(i) { i &+= 1 }
  return i
}

/// The first eight bytes of a byte string as a big-endian number, zeros behind its end: most comparisons are settled by
/// two of these.
@inlinable @inline(__always)
func keyHead(_ p: UnsafeRawPointer, _ count: Int) -> UInt64 {
  if count >= 8 { return UInt64(bigEndian: p.loadUnaligned(as: UInt64.self)) }
  // Fewer are read from both ends, and those in the middle twice.
  if count >= 4 {
    let first = UInt32(bigEndian: p.loadUnaligned(as: UInt32.self))
    let last = UInt32(bigEndian: p.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
    return UInt64(first) &<< 32 | UInt64(last) &<< UInt64(64 &- 8 &* count)
  }
  if count <= 0 { return 0 }
  let (first, middle, last) = (UInt64(p.u8(0)), UInt64(p.u8(count &>> 1)), UInt64(p.u8(count &- 1)))
  return first &<< 56 | middle &<< UInt64(56 &- 8 &* (count &>> 1)) | last &<< UInt64(64 &- 8 &* count)
}

/// An address that empty byte strings may point to; it is never read from.
@inlinable @inline(__always)
var emptyBytes: UnsafeRawPointer { UnsafeRawPointer(bitPattern: UInt(16)).unsafelyUnwrapped }

extension UnsafeRawBufferPointer {
  /// The base address, or one that may be pointed to when there are no bytes.
  @inlinable @inline(__always)
  var start: UnsafeRawPointer { baseAddress ?? emptyBytes }
}

@inlinable @inline(__always)
func roundUp(_ value: Int, to unit: Int) -> Int { (value &+ unit &- 1) / unit &* unit }

/// A growable little-endian output buffer.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  var count: Int { bytes.count }

  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
  mutating func u8(_ v: UInt8) { bytes.append(v) }
  mutating func u16(_ v: UInt16) { for i in 0..<2 { bytes.append(UInt8(truncatingIfNeeded: v &>> UInt16(8 * i))) } }
  mutating func u32(_ v: UInt32) { for i in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: v &>> UInt32(8 * i))) } }
  mutating func u64(_ v: UInt64) { for i in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: v &>> UInt64(8 * i))) } }
  mutating func varint(_ value: UInt64) {
    var v = value
    while v >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: v) | 0x80)
      v &>>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: v))
  }
  mutating func raw(_ b: UnsafeRawBufferPointer) { bytes.append(contentsOf: b) }
  mutating func zeros(_ n: Int) { for _ in 0..<max(0, n) { bytes.append(0) } }
}

/// A checked reader of little-endian input: every read past the end answers nil.
struct ByteReader {
  let base: UnsafeRawPointer
  let end: Int
  private(set) var offset = 0

  init(_ buffer: UnsafeRawBufferPointer) {
    base = buffer.start
    end = buffer.count
  }

  var remaining: Int { end - offset }

  mutating func u8() -> UInt8? {
    guard Verification.fieldEnd.holds(remaining >= 1) else { return nil }
    defer { offset += 1 }
    return base.u8(offset)
  }
  mutating func u16() -> UInt16? {
    guard Verification.fieldEnd.holds(remaining >= 2) else { return nil }
    defer { offset += 2 }
    return base.u16(offset)
  }
  mutating func u32() -> UInt32? {
    guard Verification.fieldEnd.holds(remaining >= 4) else { return nil }
    defer { offset += 4 }
    return base.u32(offset)
  }
  mutating func u64() -> UInt64? {
    guard Verification.fieldEnd.holds(remaining >= 8) else { return nil }
    defer { offset += 8 }
    return base.u64(offset)
  }
  mutating func varint() -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while shift < 64 {
      guard let byte = u8() else { return nil }
      let part = UInt64(byte & 0x7F)
      guard Verification.varintRange.holds(shift < 63 || part <= 1) else { return nil }
      value |= part &<< shift
      if byte < 0x80 { return value }
      shift += 7
    }
    return nil
  }
  /// A length that fits what is left.
  mutating func length() -> Int? {
    guard let v = varint(), let n = Int(exactly: v), Verification.fieldLength.holds(n <= remaining) else { return nil }
    return n
  }
  mutating func raw(_ count: Int) -> UnsafeRawBufferPointer? {
    guard Verification.fieldLength.holds(count >= 0 && count <= remaining) else { return nil }
    defer { offset += count }
    return UnsafeRawBufferPointer(start: base + offset, count: count)
  }
}

/// A small temporary buffer.
@inline(__always)
func withUnsafeTemporary(_ count: Int, _ body: (UnsafeMutableRawPointer) -> Void) {
  let p = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 8)
  body(p)
  p.deallocate()
}
