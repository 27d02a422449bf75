/// A run of whole units of the file that holds one kind of content.
struct Segment {
  enum Kind: UInt8 {
    case log = 1
    case pages = 2
    case values = 3
  }

  /// In units from the start of the file.
  var start: UInt32
  var units: UInt32
  var kind: Kind
  /// Bytes appended so far, the header included.
  var used: UInt32
  /// Bytes of pages or extents in it that the newest state reaches.
  var live: UInt32 = 0
  /// No generation before this one reaches anything in the segment. For large values that a record commits, it is the
  /// generation whose delta the record joins. For all else, it is the publication that lists the segment first.
  var born: UInt64
  /// The publication from which on nothing in it is reached any more; 0 while something is.
  var dead: UInt64 = 0

  var address: UInt64 { UInt64(start) * UInt64(SegmentTable.unitSize) }
  var length: Int { Int(units) * SegmentTable.unitSize }
  var end: UInt32 { start + units }
  /// Bytes in it that nothing reaches.
  var wasted: UInt64 { UInt64(length) - min(UInt64(length), UInt64(live)) }
  /// Units that something was appended to.
  var usedUnits: UInt32 { UInt32((Int(used) + SegmentTable.unitSize - 1) / SegmentTable.unitSize) }
  /// Whether whole units at its end could be used for something else.
  var hasUnusedUnits: Bool { kind != .log && dead == 0 && used > 0 && usedUnits < units }

  // In the directory, 36 bytes: start, units (u32), kind (u8), zero (u8, u16), used, live (u32), born, dead (u64).
  static let encodedSize = 36

  func write(to w: inout ByteWriter) {
    w.u32(start)
    w.u32(units)
    w.u8(kind.rawValue)
    w.u8(0)
    w.u16(0)
    w.u32(used)
    w.u32(live)
    w.u64(born)
    w.u64(dead)
  }

  init(start: UInt32, units: UInt32, kind: Kind, used: UInt32, born: UInt64) {
    self.start = start
    self.units = units
    self.kind = kind
    self.used = used
    self.born = born
  }

  /// A segment of the log, all of which counts as used.
  init(log place: LogSegment) {
    self.init(start: place.start, units: place.units, kind: .log, used: 0, born: 0)
    used = UInt32(clamping: length)
  }

  init?(_ r: inout ByteReader) {
    guard let p = r.raw(Self.encodedSize)?.start else { return nil }
    let (start, units, used, live) = (p.u32(0), p.u32(4), p.u32(12), p.u32(16))
    guard let kind = Kind(rawValue: p.u8(8)),
      Verification.segmentUnits.holds(units > 0 && units <= UInt32(SegmentTable.maxUnits)),
      Verification.segmentStart.holds(start >= SegmentTable.firstUnit),
      Verification.segmentNumbers.holds(!start.addingReportingOverflow(units).overflow),
      Verification.segmentUsed.holds(UInt64(used) <= UInt64(units) * UInt64(SegmentTable.unitSize)),
      Verification.segmentLive.holds(live <= used)
    else { return nil }
    self.start = start
    self.units = units
    self.kind = kind
    self.used = used
    self.live = live
    born = p.u64(20)
    dead = p.u64(28)
  }
}

/// A segment of which a publication keeps only the first units.
struct SegmentCut {
  /// Where the segment begins.
  var start: UInt32
  /// Units that are kept.
  var units: UInt32
  /// Bytes in the others that are reached: none any more when it is cut.
  var live: UInt64

  /// Where the kept units end.
  var address: UInt64 { UInt64(start + units) * UInt64(SegmentTable.unitSize) }
}

/// The first 64 bytes of every segment.
///
///      0       4       8          16      24        32          40      48      52     53
///     +-------+-------+----------+-------+---------+-----------+-------+-------+------+------+
///     | magic | units | checksum | next  | session | durable   | born  | start | kind | zero |
///     |       |       |          |       |         | publicat. |       | unit  |      |      |
///     +-------+-------+----------+-------+---------+-----------+-------+-------+------+------+
///     next: start unit (u32), units (u16), zero (u16)
///
/// `next` is zero, but for a log segment that holds records: there it names the log segment behind this one.
struct SegmentHeader {
  static let size = 64
  static let magic: UInt32 = 0x4745_5343  // "CSEG"

  var units: UInt32
  /// The log segment behind this one, once this one holds records.
  var next: LogSegment
  var session: UInt64
  var durablePublication: UInt64
  var born: UInt64
  var start: UInt32
  var kind: Segment.Kind

  func write(to p: UnsafeMutableRawPointer, storeSeed: UInt64) {
    p.zero(Self.size)
    p.put(Self.magic, 0)
    p.put(units, 4)
    p.put(next.start, 16)
    p.put(UInt16(truncatingIfNeeded: next.units), 20)
    p.put(session, 24)
    p.put(durablePublication, 32)
    p.put(born, 40)
    p.put(start, 48)
    p.put(kind.rawValue, 52)
    p.put(Self.sum(UnsafeRawPointer(p), storeSeed, start), 8)
  }

  static func sum(_ p: UnsafeRawPointer, _ storeSeed: UInt64, _ start: UInt32) -> UInt64 {
    let seed = Checksum.mix(storeSeed, UInt64(start) ^ p.u64(0))
    return Checksum.of(UnsafeRawBufferPointer(start: p + 16, count: Self.size - 16), seed: seed)
  }

  init(
    units: UInt32, next: LogSegment = .none, session: UInt64, durablePublication: UInt64, born: UInt64, start: UInt32,
    kind: Segment.Kind
  ) {
    self.units = units
    self.next = next
    self.session = session
    self.durablePublication = durablePublication
    self.born = born
    self.start = start
    self.kind = kind
  }

  /// Reads the header of the segment at unit `start`; nil if the bytes are not one.
  init?(_ b: UnsafeRawBufferPointer, start: UInt32, storeSeed: UInt64) {
    guard b.count >= Self.size else { return nil }
    let p = b.start
    guard Verification.logSegmentMagic.holds(p.u32(0) == Self.magic),
      Verification.logSegmentChecksum.holds(p.u64(8) == Self.sum(p, storeSeed, start)),
      let kind = Segment.Kind(rawValue: p.u8(52))
    else { return nil }
    units = p.u32(4)
    next = LogSegment(start: p.u32(16), units: UInt32(p.u16(20)))
    session = p.u64(24)
    durablePublication = p.u64(32)
    born = p.u64(40)
    self.start = start
    self.kind = kind
  }
}
