// A leaf of a tree with integer keys:
//
//     32        40                      keys + count*width      ends + count*2     [bitmap]
//     +---------+-----------------------+-----------------------+------------------+---------------+
//     | base    | key i - base (width)  | end of value i (u16)  | stub bits, if    | values, one   |
//     | (u64)   | none if width is 0:   | from the values' start| flagged          | after another |
//     |         | key i = base + i      |                       |                  |               |
//     +---------+-----------------------+-----------------------+------------------+---------------+

struct IntegerLeaf {
  let p: UnsafeRawPointer
  let count: Int
  let width: Int
  let base: UInt64

  static let keysOffset = 40

  @inline(__always)
  init(_ page: UnsafeRawPointer) {
    p = page
    count = page.pageCount
    width = page.pageWidth
    base = page.u64(32)
  }

  @inline(__always) var endsOffset: Int { Self.keysOffset &+ count &* width }
  @inline(__always) var bitmapOffset: Int { endsOffset &+ count &* 2 }
  @inline(__always) var hasStubs: Bool { p.pageFlags & PageHeader.flagStubs != 0 }
  @inline(__always) var valuesOffset: Int { bitmapOffset &+ (hasStubs ? (count &+ 7) / 8 : 0) }

  @inline(__always)
  func key(_ i: Int) -> UInt64 { base &+ loadWidth(p + Self.keysOffset, width, i) }

  @inline(__always)
  func value(_ i: Int) -> UnsafeRawBufferPointer {
    let ends = endsOffset
    let start = i == 0 ? 0 : Int(p.u16(ends &+ (i &- 1) &* 2))
    let end = Int(p.u16(ends &+ i &* 2))
    return UnsafeRawBufferPointer(start: p + valuesOffset + start, count: end &- start)
  }

  @inline(__always)
  func isStub(_ i: Int) -> Bool {
    hasStubs && p.u8(bitmapOffset &+ i / 8) & (1 &<< UInt8(truncatingIfNeeded: i & 7)) != 0
  }

  /// The first entry whose key is not less than `key`; `count` if there is none.
  @inline(__always)
  func lowerBound(_ key: UInt64) -> Int {
    if key <= base { return 0 }
    let target = key &- base
    if width == 0 { return target >= UInt64(count) ? count : Int(truncatingIfNeeded: target) }
    return firstGreater(p + Self.keysOffset, width, count, target &- 1)
  }

  /// Whether the structure is sound: asked once, when the page is read from the device.
  static func isSound(_ p: UnsafeRawPointer) -> Bool {
    let leaf = IntegerLeaf(p)
    let length = p.pageLength
    let w = leaf.width
    guard Verification.leafCount.holds(leaf.count > 0),
      Verification.leafWidth.holds(w == 0 || w == 1 || w == 2 || w == 4 || w == 8),
      Verification.leafArrays.holds(leaf.valuesOffset <= length)
    else { return false }
    // Keys that ascend from the first one on, which is no less than what they are counted from, are counted from it
    // without overflow, and so ascend where they are searched as well.
    guard Verification.leafOrder.holds(leaf.key(0) >= leaf.base) else { return false }
    var previous = 0
    for i in 0..<leaf.count {
      let end = Int(p.u16(leaf.endsOffset + i * 2))
      guard Verification.leafValuesOrder.holds(end >= previous),
        Verification.leafValuesEnd.holds(leaf.valuesOffset + end <= length),
        Verification.leafStub.holds(!leaf.isStub(i) || end - previous == LargeValueStub.size),
        Verification.leafOrder.holds(i == 0 || leaf.key(i) > leaf.key(i - 1))
      else { return false }
      previous = end
    }
    return true
  }
}

/// What a leaf holds of a value that lies in extents of its own: its identifier and length, 8 bytes each.
struct LargeValueStub {
  static let size = 16
  var id: UInt64
  var length: UInt64

  init(id: UInt64, length: UInt64) {
    self.id = id
    self.length = length
  }

  init?(_ bytes: UnsafeRawBufferPointer) {
    guard Verification.stubLength.holds(bytes.count == Self.size) else { return nil }
    id = bytes.start.u64(0)
    length = bytes.start.u64(8)
  }

  func write(to p: UnsafeMutableRawPointer, _ offset: Int) {
    p.put(id, offset)
    p.put(length, offset + 8)
  }
}
