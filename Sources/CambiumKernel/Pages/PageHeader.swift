// Every page opens with the same 32 bytes:
//
//      0                                8      9       10        12
//     +--------------------------------+------+-------+---------+----------------+
//     | checksum                       | kind | level | count   | tree           |
//     +--------------------------------+------+-------+---------+----------------+
//     | generation                     | length        | flags | width  | prefix length | fixed length |
//     +--------------------------------+---------------+-------+--------+---------------+--------------+
//     16                               24              26      27       28              30
//
// The checksum covers the stored bytes behind it. The reference to a page holds the same checksum, so that a stale page
// is told from the right one; the page's own copy lets a page be verified by itself, without its parent. The upper four
// bits of the flags are the count width.
//
// A stored page is padded with zeros to a multiple of 16 bytes. A page never changes after it was written. In memory it
// is as it is in the file, without slack, and a page that is half full takes half the room.

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

  // Where fields that are changed one at a time lie.
  static let countOffset = 10
  static let generationOffset = 16
  static let lengthOffset = 24
  static let widthOffset = 27

  /// Writes the header of a page. ``seal(_:count:seed:)`` puts its checksum in when the page is complete.
  static func write(
    to p: UnsafeMutableRawPointer, kind: PageKind, level: UInt8, count: Int, tree: TreeID, generation: UInt64,
    length: Int, flags: UInt8, width: Int, prefix: Int, fixed: Int, countWidth: Int
  ) {
    p.put(UInt64(0), 0)
    p.put(kind.rawValue, 8)
    p.put(level, 9)
    p.put(UInt16(truncatingIfNeeded: count), countOffset)
    p.put(tree.rawValue, 12)
    p.put(generation, generationOffset)
    p.put(UInt16(truncatingIfNeeded: length), lengthOffset)
    p.put(flags | UInt8(truncatingIfNeeded: countWidth &<< 4), 26)
    p.put(UInt8(truncatingIfNeeded: width), widthOffset)
    p.put(UInt16(truncatingIfNeeded: prefix), 28)
    p.put(UInt16(truncatingIfNeeded: fixed), 30)
  }

  /// The checksum of the page of `count` stored bytes at `p`.
  static func sum(_ p: UnsafeRawPointer, count: Int, seed: UInt64) -> UInt64 {
    Checksum.of(UnsafeRawBufferPointer(start: p + 8, count: count - 8), seed: seed)
  }

  /// Puts the checksum into a complete page of `count` stored bytes, and returns it for the reference to the page.
  static func seal(_ p: UnsafeMutableRawPointer, count: Int, seed: UInt64) -> UInt64 {
    let sum = sum(UnsafeRawPointer(p), count: count, seed: seed)
    p.put(sum, 0)
    return sum
  }
}

extension UnsafeRawPointer {
  @inline(__always) var pageChecksum: UInt64 { u64(0) }
  @inline(__always) var pageKind: UInt8 { u8(8) }
  @inline(__always) var pageLevel: UInt8 { u8(9) }
  @inline(__always) var pageCount: Int { Int(u16(10)) }
  @inline(__always) var pageTree: TreeID { TreeID(rawValue: u32(12)) }
  @inline(__always) var pageGeneration: UInt64 { u64(16) }
  @inline(__always) var pageLength: Int { Int(u16(24)) }
  @inline(__always) var pageFlags: UInt8 { u8(26) }
  @inline(__always) var pageWidth: Int { Int(u8(27)) }
  @inline(__always) var pagePrefix: Int { Int(u16(28)) }
  @inline(__always) var pageFixed: Int { Int(u16(30)) }
  @inline(__always) var pageCountWidth: Int { Int(u8(26) &>> 4) }
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
