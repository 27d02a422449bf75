/// A log segment as a log piece, a record or a segment header names it: where it begins, and how long it is. Readers
/// need no more to find records in it, because records are verified without their segment's header.
struct LogSegment: Equatable {
  /// In units from the start of the file; 0 names no segment.
  var start: UInt32
  var units: UInt32

  static let none = LogSegment(start: 0, units: 0)

  /// Whether a segment can be there. Check every place that a file names before using it.
  var isPossible: Bool {
    Verification.logSegmentUnits.holds(units > 0 && units <= UInt32(SegmentTable.maxUnits))
      && Verification.logSegmentStart.holds(start >= SegmentTable.firstUnit)
      && Verification.logSegmentNumbers.holds(!start.addingReportingOverflow(units).overflow)
  }

  var address: UInt64 { UInt64(start) * UInt64(SegmentTable.unitSize) }
  /// Where the segment ends.
  var end: UInt64 { address + UInt64(units) * UInt64(SegmentTable.unitSize) }

  /// Where the first record of the segment begins: behind the header, at `.strict` at the next block.
  func firstRecord(strict: Bool) -> UInt64 { address + UInt64(strict ? LogWriter.strictBlock : SegmentHeader.size) }
}

/// A stretch of the log, within which records follow one another and name their predecessor.
///
///     0        8          16               24                    32      40         48
///     +--------+----------+----------------+---------------------+-------+----------+----------+
///     | start  | session  | first sequence | checksum before the | end   | next     | segment  |
///     |        |          |                | first record        | 0=open| log seg. | of start |
///     +--------+----------+----------------+---------------------+-------+----------+----------+
///     next, segment: start unit (u32), units (u16), zero (u16)
///
/// `start` and `end` are addresses in the file. `segment` is the log segment that `start` lies in, or just behind.
/// `next` is the log segment behind it, for the case that the piece has no record in it yet.
struct LogPiece: Equatable {
  static let size = 56

  var start: UInt64
  var segment: LogSegment
  var session: UInt64
  var firstSequence: UInt64
  var checksumBefore: UInt64
  var end: UInt64 = 0
  var next: LogSegment

  init(
    start: UInt64, segment: LogSegment, session: UInt64, firstSequence: UInt64, checksumBefore: UInt64,
    next: LogSegment
  ) {
    self.start = start
    self.segment = segment
    self.session = session
    self.firstSequence = firstSequence
    self.checksumBefore = checksumBefore
    self.next = next
  }

  init(_ p: UnsafeRawPointer, _ o: Int) {
    start = p.u64(o)
    session = p.u64(o + 8)
    firstSequence = p.u64(o + 16)
    checksumBefore = p.u64(o + 24)
    end = p.u64(o + 32)
    next = LogSegment(start: p.u32(o + 40), units: UInt32(p.u16(o + 44)))
    segment = LogSegment(start: p.u32(o + 48), units: UInt32(p.u16(o + 52)))
  }

  func write(to w: inout ByteWriter) {
    w.u64(start)
    w.u64(session)
    w.u64(firstSequence)
    w.u64(checksumBefore)
    w.u64(end)
    for place in [next, segment] {
      w.u32(place.start)
      w.u16(UInt16(truncatingIfNeeded: place.units))
      w.u16(0)
    }
  }
}
