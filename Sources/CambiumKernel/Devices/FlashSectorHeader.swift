/// The first 32 bytes of a sector that holds a block.
///
///      0       4       8         16       20     24         32
///     +-------+-------+---------+--------+------+----------+---------
///     | magic | block | number  | erased | zero | checksum | content
///     |       |       | of the  | how    |      | of bytes |
///     |       |       | write   | often  |      | 0 to 23  |
///     +-------+-------+---------+--------+------+----------+---------
///
/// It is programmed after the content, so a sector with a whole header has all of its content.
struct FlashSectorHeader {
  static let size = 32
  static let magic: UInt32 = 0x4146_4243  // "CBFA"
  private static let seed: UInt64 = 0x666C_6173_6873_6563

  /// The number of the block that the sector holds.
  var block: UInt32
  /// The number of the write: the highest of a block's sectors holds its content.
  var number: UInt64
  /// How often the sector was erased.
  var erasures: UInt32

  init(block: UInt32, number: UInt64, erasures: UInt32) {
    self.block = block
    self.number = number
    self.erasures = erasures
  }

  /// Reads a header; nil if the bytes are not a whole one.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.size else { return nil }
    let p = bytes.start
    guard p.u32(0) == Self.magic, p.u64(24) == Self.sum(p) else { return nil }
    block = p.u32(4)
    number = p.u64(8)
    erasures = p.u32(16)
  }

  func write(to p: UnsafeMutableRawPointer) {
    p.zero(Self.size)
    p.put(Self.magic, 0)
    p.put(block, 4)
    p.put(number, 8)
    p.put(erasures, 16)
    p.put(Self.sum(UnsafeRawPointer(p)), 24)
  }

  private static func sum(_ p: UnsafeRawPointer) -> UInt64 {
    Checksum.of(UnsafeRawBufferPointer(start: p, count: 24), seed: seed)
  }
}
