// A record of the redo log: one commit. Records start at multiples of 16 bytes (of 4,096 at durability `.strict`).
//
//      0        4        8          16             24         32        40        48            56      60     62
//     +--------+--------+----------+--------------+----------+---------+---------+-------------+-------+------+------+
//     | magic  | length | checksum | checksum of  | sequence | session | durable | durable     | next  | units| op   |
//     | "CLOG" |        |          | the record   |          |         | sequence| publication | log   | of it| count|
//     |        |        |          | before       |          |         |         |             | segm. |      |      |
//     +--------+--------+----------+--------------+----------+---------+---------+-------------+-------+------+------+
//     64: operations
//
// The checksum covers bytes 16 to the end. Its seed is made of the store's log seed, the record's address and the
// record's first 8 bytes, so that a record can be verified without its segment's header. "Durable" is what the writer
// knew to be durable when it wrote the record. Recovery tells by it a record that was lost to rot from one that a power
// cut tore.
//
// Operations (varints are LEB128):
//     0x01 put, 0x03 put of a stub:  tree varint, key, value length varint, value     | flags 0x10: a new key
//     0x02 delete:                   tree varint, key
//     0x04 tree made:                tree varint, kind u8
//     0x05 tree dropped:             tree varint
//     0x06 counter:                  tree varint, index varint, change zigzag varint
//     0x07 segment of values:        start varint, units varint, used varint, bytes added varint
//     0x08 next large value id:      varint
// A key is a varint in a tree of integers; else shared varint, rest length varint, rest: its first `shared` bytes are
// those of the byte key before it in the record (of any tree; empty at the start).

struct LogRecordHeader {
  static let size = 64
  static let magic: UInt32 = 0x474F_4C43  // "CLOG"

  var length: Int
  var checksum: UInt64
  var before: UInt64
  var sequence: UInt64
  var session: UInt64
  var durableSequence: UInt64
  var durablePublication: UInt64
  /// The log segment behind the one that the record lies in.
  var next: LogSegment

  init(_ p: UnsafeRawPointer) {
    length = Int(truncatingIfNeeded: p.u32(4))
    checksum = p.u64(8)
    before = p.u64(16)
    sequence = p.u64(24)
    session = p.u64(32)
    durableSequence = p.u64(40)
    durablePublication = p.u64(48)
    next = LogSegment(start: p.u32(56), units: UInt32(p.u16(60)))
  }

  /// The checksum of the record at `p`, whose bytes 0 to 7 are written already.
  static func sum(_ p: UnsafeRawPointer, length: Int, seed: UInt64, address: UInt64) -> UInt64 {
    Checksum.of(
      UnsafeRawBufferPointer(start: p + 16, count: length - 16),
      seed: Checksum.mix(seed, Checksum.mix(address, p.u64(0))))
  }

  /// Returns the header of the record at `p` if a whole record stands there. `available` bytes may be read, at least
  /// ``size``.
  ///
  /// - Parameter seed: The store's log seed.
  static func valid(_ p: UnsafeRawPointer, available: Int, seed: UInt64, address: UInt64) -> LogRecordHeader? {
    guard Verification.recordMagic.holds(p.u32(0) == magic) else { return nil }
    let header = LogRecordHeader(p)
    guard Verification.recordShortest.holds(header.length >= size),
      Verification.recordLongest.holds(header.length <= available),
      Verification.recordChecksum.holds(
        sum(p, length: header.length, seed: seed, address: address) == header.checksum)
    else { return nil }
    return header
  }
}

/// One operation of a record, as read.
enum LogOperation {
  case put(TreeID, TreeKeyOperand, UnsafeRawBufferPointer, isStub: Bool, isNew: Bool)
  case delete(TreeID, TreeKeyOperand)
  case created(TreeID, TreeKind)
  case dropped(TreeID)
  case counter(TreeID, UInt32, Int64)
  case valueSegment(start: UInt32, units: UInt32, used: UInt32, added: UInt32)
  case nextValueID(UInt64)
}

/// Where the reader put the key of an operation.
enum TreeKeyOperand {
  case integer(UInt64)
  /// In the reader's ``LogOperationReader/key``.
  case bytes
}

/// Reads the operations of a record. The kinds of trees are asked for, since keys are coded by them.
struct LogOperationReader {
  private var reader: ByteReader
  /// The last byte key.
  private(set) var key: [UInt8] = []

  init(_ payload: UnsafeRawBufferPointer) { reader = ByteReader(payload) }

  enum Next {
    case operation(LogOperation)
    case end
    case malformed
  }

  private mutating func tree() -> TreeID? {
    reader.varint().flatMap { UInt32(exactly: $0) }.map(TreeID.init(rawValue:))
  }

  private mutating func operand(_ kind: TreeKind?) -> TreeKeyOperand? {
    switch kind {
    case .integer: return reader.varint().map(TreeKeyOperand.integer)
    case .bytes:
      guard let shared = reader.varint().flatMap({ Int(exactly: $0) }),
        Verification.operationShared.holds(shared <= key.count),
        let n = reader.length(), let rest = reader.raw(n)
      else { return nil }
      key.removeLast(key.count - shared)
      key.append(contentsOf: rest)
      return .bytes
    case nil: return nil
    }
  }

  mutating func next(kindOf: (TreeID) -> TreeKind?) -> Next {
    guard let code = reader.u8() else { return .end }
    switch code & 0x0F {
    case 0x01, 0x03:
      guard let t = tree(), let k = operand(kindOf(t)), let n = reader.length(), let value = reader.raw(n) else {
        return .malformed
      }
      return .operation(.put(t, k, value, isStub: code & 0x0F == 0x03, isNew: code & 0x10 != 0))
    case 0x02:
      guard let t = tree(), let k = operand(kindOf(t)) else { return .malformed }
      return .operation(.delete(t, k))
    case 0x04:
      guard let t = tree(), let kind = reader.u8().flatMap(TreeKind.init(rawValue:)) else { return .malformed }
      return .operation(.created(t, kind))
    case 0x05:
      guard let t = tree() else { return .malformed }
      return .operation(.dropped(t))
    case 0x06:
      guard let t = tree(), let index = reader.varint().flatMap({ UInt32(exactly: $0) }), let z = reader.varint() else {
        return .malformed
      }
      return .operation(.counter(t, index, Int64(bitPattern: (z &>> 1) ^ (0 &- (z & 1)))))
    case 0x07:
      guard let start = reader.varint().flatMap({ UInt32(exactly: $0) }),
        let units = reader.varint().flatMap({ UInt32(exactly: $0) }),
        let used = reader.varint().flatMap({ UInt32(exactly: $0) }),
        let added = reader.varint().flatMap({ UInt32(exactly: $0) })
      else { return .malformed }
      return .operation(.valueSegment(start: start, units: units, used: used, added: added))
    case 0x08:
      guard let id = reader.varint() else { return .malformed }
      return .operation(.nextValueID(id))
    default:
      return .malformed
    }
  }
}
