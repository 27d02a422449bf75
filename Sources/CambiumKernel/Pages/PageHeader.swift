// Every tree page opens with the same 32 bytes:
//
//      0      1       2        4                8
//     +------+-------+--------+----------------+--------------------------------+
//     | kind | level | count  | tree           | generation                     |
//     +------+-------+--------+----------------+------+------+--------+---------+
//     | length (unpadded)     | flags | width  | prefix length | fixed length   |
//     +-----------------------+-------+--------+---------------+----------------+
//     16                      20      21       22              24        28 count width, 29...31 zero
//
// A stored page is padded with zeros to a multiple of 16 bytes. Pages are never changed after they were written: in
// memory they are as they are in the file, without slack, and a page that is half full takes half the room.

enum PageKind: UInt8 {
  case integerLeaf = 1
  case integerInner = 2
  case bytesLeaf = 3
  case bytesInner = 4
  case directory = 5
}

extension TreeKind {
  /// What the pages of a tree of this kind are at `level`.
  @inline(__always)
  func page(atLevel level: UInt8) -> PageKind {
    switch (self, level == 0) {
    case (.integer, true): .integerLeaf
    case (.integer, false): .integerInner
    case (.bytes, true): .bytesLeaf
    case (.bytes, false): .bytesInner
    }
  }
}

enum PageHeader {
  static let size = 32

  static let flagStubs: UInt8 = 1
  static let flagNoValues: UInt8 = 2
  static let flagFixedKeys: UInt8 = 4

  static func write(
    to p: UnsafeMutableRawPointer, kind: PageKind, level: UInt8, count: Int, tree: TreeID, generation: UInt64,
    length: Int, flags: UInt8, width: Int, prefix: Int, fixed: Int, countWidth: Int
  ) {
    p.put(kind.rawValue, 0)
    p.put(level, 1)
    p.put(UInt16(truncatingIfNeeded: count), 2)
    p.put(tree.rawValue, 4)
    p.put(generation, 8)
    p.put(UInt32(truncatingIfNeeded: length), 16)
    p.put(flags, 20)
    p.put(UInt8(truncatingIfNeeded: width), 21)
    p.put(UInt16(truncatingIfNeeded: prefix), 22)
    p.put(UInt16(truncatingIfNeeded: fixed), 24)
    p.put(UInt16(0), 26)
    p.put(UInt8(truncatingIfNeeded: countWidth), 28)
    p.put(UInt8(0), 29)
    p.put(UInt16(0), 30)
  }
}

extension UnsafeRawPointer {
  @inline(__always) var pageKind: UInt8 { u8(0) }
  @inline(__always) var pageLevel: UInt8 { u8(1) }
  @inline(__always) var pageCount: Int { Int(u16(2)) }
  @inline(__always) var pageTree: TreeID { TreeID(rawValue: u32(4)) }
  @inline(__always) var pageGeneration: UInt64 { u64(8) }
  @inline(__always) var pageLength: Int { Int(truncatingIfNeeded: u32(16)) }
  @inline(__always) var pageFlags: UInt8 { u8(20) }
  @inline(__always) var pageWidth: Int { Int(u8(21)) }
  @inline(__always) var pagePrefix: Int { Int(u16(22)) }
  @inline(__always) var pageFixed: Int { Int(u16(24)) }
  @inline(__always) var pageCountWidth: Int { Int(u8(28)) }
}

/// Reads entry `i` of an array of little-endian numbers that are `width` bytes each (0, 1, 2, 4 or 8; 0 means that
/// entry i is i).
@inlinable @inline(__always)
func loadWidth(_ p: UnsafeRawPointer, _ width: Int, _ i: Int) -> UInt64 {
  switch width {
  case 0: return UInt64(truncatingIfNeeded: i)
  case 1: return UInt64(p.u8(i))
  case 2: return UInt64(p.u16(i &* 2))
  case 4: return UInt64(p.u32(i &* 4))
  default: return p.u64(i &* 8)
  }
}

@inline(__always)
func storeWidth(_ p: UnsafeMutableRawPointer, _ width: Int, _ i: Int, _ value: UInt64) {
  switch width {
  case 0: break
  case 1: p.put(UInt8(truncatingIfNeeded: value), i)
  case 2: p.put(UInt16(truncatingIfNeeded: value), i &* 2)
  case 4: p.put(UInt32(truncatingIfNeeded: value), i &* 4)
  default: p.put(value, i &* 8)
  }
}

/// The smallest width that holds `value`.
func widthFor(_ value: UInt64) -> Int {
  if value <= 0xFF { return 1 }
  if value <= 0xFFFF { return 2 }
  if value <= 0xFFFF_FFFF { return 4 }
  return 8
}
