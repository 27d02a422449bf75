// The superblock: two slots of two copies each, at the start of the file. Each copy is 2,048 bytes long and lies in a
// block of its own of 4,096 bytes, at the block's start or at its end.
//
//     0               4096            8192            12288           16384
//     +-------+-------+-------+-------+-------+-------+-------+-------+------ segments
//     | 0, 0  |       | 1, 0  |       |       | 0, 1  |       | 1, 1  |         slot, copy
//     +-------+-------+-------+-------+-------+-------+-------+-------+------
//
// Between the two copies of a slot lie 8,192 bytes. So damage to any 8 KiB of the file leaves one copy of each slot
// whole.
//
// Publication n goes to slot n mod 2. A copy:
//
//        0  magic "CAMBIUM\0"                       96  reference of the directory's index (16)
//        8  format version (u32)                   112  bytes of the directory (u64)
//       12  size of a segment unit (u32)           120  session (u64)
//       16  features: compatible (u64)             128  sequence known durable when this was written (u64)
//       24  features: read-only compatible (u64)   136  clean (u8), number of log pieces (u8), checksum kind (u8),
//       32  features: incompatible (u64)                zero (u8)
//       40  UUID (16)                              140  Unicode version of the keys (u32)
//       56  page size (u32)                        144  file length in units (u64)
//       60  cipher nonce, tag sizes (u16, u16)     152  publication of the directory, "generation" (u64)
//       64  made, ms since 1970 (u64)              160  log pieces, 56 bytes each, at most 16
//       72  random number of the log (u64)         ...  zero
//       80  zero (u64)                            2040  checksum of bytes 0..<2040, seeded with the copy's offset
//       88  publication (u64)
//
// Log pieces are the stretches of log that hold the commits after the directory, in order; see LogPiece.

struct Superblock {
  static let copySize = 2048
  /// Each copy lies in a block of its own, because a torn write may harm the whole block that it falls into.
  static let blockSize = 4096
  static let regionSize = 16384
  static let formatVersion: UInt32 = 2
  static let maxPieces = 16
  static let magic: UInt64 = 0x004D_5549_424D_4143  // "CAMBIUM\0" read as a little-endian number
  static let checksumKind: UInt8 = 1
  /// No store gets here: a million publications a second take half a million years. One more can always be counted.
  static let highestPublication: UInt64 = 1 << 63

  var featuresCompatible: UInt64 = 0
  var featuresReadOnly: UInt64 = 0
  var featuresIncompatible: UInt64 = 0
  var uuid: (UInt64, UInt64) = (0, 0)
  var pageSize: UInt32 = 4096
  var created: UInt64 = 0
  /// A random number, made with the store: the checksums of log records depend on it, because an older store with the
  /// same UUID may have left records in the same places.
  var logNumber: UInt64 = 0
  var publication: UInt64 = 0
  var directory: PageRef = .none
  var directoryBytes: UInt64 = 0
  var session: UInt64 = 0
  var durableSequence: UInt64 = 0
  var isClean = false
  var unicodeVersion: UInt32 = 0
  var fileUnits: UInt64 = 0
  var generation: UInt64 = 0
  var pieces: [LogPiece] = []

  /// The seed of every checksum in this store.
  var storeSeed: UInt64 { Checksum.mix(uuid.0, uuid.1) }

  /// The seed of the checksums of log records.
  var logSeed: UInt64 { Checksum.mix(storeSeed, logNumber) }

  var slot: Int { Int(truncatingIfNeeded: publication & 1) }

  static func offset(slot: Int, copy: Int) -> UInt64 {
    UInt64(copy == 0 ? slot * blockSize : (slot + 3) * blockSize - copySize)
  }

  /// Where the four copies begin.
  static let offsets: [UInt64] = [(0, 0), (1, 0), (0, 1), (1, 1)].map { offset(slot: $0, copy: $1) }

  private static func seed(_ offset: UInt64) -> UInt64 { Checksum.mix(magic, offset) }

  /// The bytes of the copy at `offset`.
  func encoded(at offset: UInt64) -> [UInt8] {
    var w = ByteWriter()
    w.u64(Self.magic)
    w.u32(Self.formatVersion)
    w.u32(UInt32(SegmentTable.unitSize))
    w.u64(featuresCompatible)
    w.u64(featuresReadOnly)
    w.u64(featuresIncompatible)
    w.u64(uuid.0)
    w.u64(uuid.1)
    w.u32(pageSize)
    w.u32(0)
    w.u64(created)
    w.u64(logNumber)
    w.u64(0)
    w.u64(publication)
    w.u64(directory.location)
    w.u64(directory.checksum)
    w.u64(directoryBytes)
    w.u64(session)
    w.u64(durableSequence)
    w.u8(isClean ? 1 : 0)
    w.u8(UInt8(truncatingIfNeeded: pieces.count))
    w.u8(Self.checksumKind)
    w.u8(0)
    w.u32(unicodeVersion)
    w.u64(fileUnits)
    w.u64(generation)
    for piece in pieces { piece.write(to: &w) }
    w.zeros(Self.copySize - 8 - w.count)
    let sum = w.bytes.withUnsafeBytes { Checksum.of($0, seed: Self.seed(offset)) }
    w.u64(sum)
    return w.bytes
  }

  enum Decoded {
    case valid(Superblock)
    /// No Cambium magic here.
    case foreign
    /// The magic is there, but the checksum or a field is not right.
    case damaged
    case unsupported(version: UInt32, features: UInt64)
  }

  static func decode(_ b: UnsafeRawBufferPointer, at offset: UInt64, readOnly: Bool) -> Decoded {
    guard b.count == copySize else { return .foreign }
    let p = b.start
    guard Verification.superblockMagic.holds(p.u64(0) == magic) else { return .foreign }
    let sum = Checksum.of(UnsafeRawBufferPointer(rebasing: b[0..<(copySize - 8)]), seed: seed(offset))
    guard Verification.superblockChecksum.holds(p.u64(copySize - 8) == sum) else { return .damaged }
    let version = p.u32(8)
    var s = Superblock()
    s.featuresCompatible = p.u64(16)
    s.featuresReadOnly = p.u64(24)
    s.featuresIncompatible = p.u64(32)
    let unknown = s.featuresIncompatible | (readOnly ? 0 : s.featuresReadOnly)
    guard Verification.superblockVersion.holds(version == formatVersion),
      Verification.superblockFeatures.holds(unknown == 0), Verification.superblockCipher.holds(p.u32(60) == 0),
      Verification.superblockChecksumKind.holds(p.u8(138) == checksumKind)
    else {
      return .unsupported(version: version, features: unknown)
    }
    s.uuid = (p.u64(40), p.u64(48))
    s.pageSize = p.u32(56)
    s.created = p.u64(64)
    s.logNumber = p.u64(72)
    s.publication = p.u64(88)
    s.directory = PageRef(p, 96)
    s.directoryBytes = p.u64(112)
    s.session = p.u64(120)
    s.durableSequence = p.u64(128)
    s.isClean = p.u8(136) == 1
    s.unicodeVersion = p.u32(140)
    s.fileUnits = p.u64(144)
    s.generation = p.u64(152)
    let count = Int(p.u8(137))
    guard Verification.superblockUnit.holds(p.u32(12) == UInt32(SegmentTable.unitSize)),
      Verification.superblockPageSize.holds(Int(exactly: s.pageSize).map(StoreOptions.isPageSize) ?? false),
      Verification.superblockPieceCount.holds(count >= 1 && count <= maxPieces),
      Verification.superblockSlot.holds(s.slot == Int(offset / UInt64(blockSize)) & 1),
      Verification.superblockPublication.holds(s.publication < highestPublication)
    else { return .damaged }
    for i in 0..<count { s.pieces.append(LogPiece(p, 160 + i * LogPiece.size)) }
    return .valid(s)
  }
}

/// The superblock of format version 1, which this code refuses by its number.
enum FormerSuperblock {
  private static let copySize = 4096

  /// Whether `region`, the first bytes of a file, holds a whole superblock of version 1.
  static func isThere(_ region: UnsafeRawBufferPointer) -> Bool {
    stride(from: 0, to: region.count - copySize + 1, by: copySize).contains { offset in
      let p = region.start + offset
      guard p.u64(0) == Superblock.magic, p.u32(8) == 1 else { return false }
      let content = UnsafeRawBufferPointer(start: p, count: copySize - 8)
      return p.u64(copySize - 8) == Checksum.of(content, seed: Checksum.mix(Superblock.magic, UInt64(offset)))
    }
  }
}
