/// Reads the log forward from where a superblock says it begins.
///
/// Records prove, headers of segments do not: a record is verified by itself, and names the log segment behind its own.
/// So a damaged header loses nothing. Specs/03, section 10, has the cases.
///
/// Of each log segment the scanner reads as much as holds records that are asked for, once. Behind their end it looks
/// through the segment without keeping it.
final class LogScanner {
  private let device: any StorageDevice
  private let superblock: Superblock
  private let seed: UInt64
  /// Segments read so far.
  private var segments: [LoadedSegment] = []
  /// Where the segments begin that a piece or a record that was taken lies in. Records found there are lent as long as
  /// the scanner lives, so their segment must not be read again.
  private var used: Set<UInt32> = []

  init(device: any StorageDevice, superblock: Superblock) {
    self.device = device
    self.superblock = superblock
    seed = superblock.logSeed
  }

  deinit { scratch.deallocate() }

  /// For looking through a segment without keeping it.
  private let scratch = UnsafeMutableRawBufferPointer.allocate(
    byteCount: LoadedLogSegment.chunkSize, alignment: 4096)

  typealias LoadedSegment = LoadedLogSegment

  /// The log segment at a place; nil if there can be none, or if the scanner has met another one that begins there.
  func segment(_ place: LogSegment) throws(StoreError) -> LoadedSegment? {
    for s in segments where s.place.start == place.start { return s.place == place ? s : nil }
    guard place.isPossible else { return nil }
    let s = try LoadedSegment(place, device: device, storeSeed: superblock.storeSeed)
    segments.append(s)
    return s
  }

  /// The whole record at `address` of `segment`, if there is one.
  func record(
    _ segment: LoadedSegment, at address: UInt64
  ) throws(StoreError) -> (header: LogRecordHeader, bytes: UnsafeRawBufferPointer)? {
    guard
      Verification.recordHead.holds(
        address >= segment.address && address + UInt64(LogRecordHeader.size) <= segment.end)
    else { return nil }
    let offset = Int(address - segment.address)
    let available = segment.bytes.count - offset
    guard let base = segment.bytes.baseAddress else { return nil }
    let p = UnsafeRawPointer(base) + offset
    try segment.load(offset..<(offset + LogRecordHeader.size))
    let length = Int(truncatingIfNeeded: p.u32(4))
    if Verification.recordMagic.holds(p.u32(0) == LogRecordHeader.magic) {
      try segment.load(offset..<(offset + min(max(LogRecordHeader.size, length), available)))
    }
    guard let header = LogRecordHeader.valid(p, available: available, seed: seed, address: address) else { return nil }
    return (header, UnsafeRawBufferPointer(start: p, count: header.length))
  }

  /// How long a record says that it is, whole or not; at most what the segment has room for.
  private func claimedLength(_ segment: LoadedSegment, at address: UInt64) -> Int {
    let offset = Int(address - segment.address)
    let isLoaded = segment.loaded.contains(offset) && segment.loaded.contains(offset + 7)
    guard isLoaded, let base = segment.bytes.baseAddress else { return 0 }
    let length = Int(truncatingIfNeeded: (UnsafeRawPointer(base) + offset).u32(4) & 0x7FFF_FFFF)
    return min(length, segment.bytes.count - offset)
  }

  struct Found {
    var header: LogRecordHeader
    var address: UInt64
    var bytes: UnsafeRawBufferPointer
    var piece: Int
    var segment: LogSegment
  }

  struct Outcome {
    /// The bytes of the records last as long as the scanner.
    var records: [Found] = []
    /// Behind the last record, and the segment it lies in.
    var end: UInt64
    var endSegment: LogSegment
    /// Whether that segment has its header.
    var endHeaderIsWhole = true
    /// The log segment behind that.
    var next: LogSegment
    var lastSequence: UInt64
    var lastChecksum: UInt64
    /// The newest commit and publication that anything found says were durable.
    var durableSequence: UInt64
    var durablePublication: UInt64
  }

  /// Follows the pieces of the superblock.
  ///
  /// - Throws: ``StoreError/corrupt(place:offset:detail:)`` if a record that was durable is missing.
  func scan() throws(StoreError) -> Outcome {
    guard let firstPiece = superblock.pieces.first else {
      throw .corrupt(place: .superblock, offset: 0, detail: "no log is named")
    }
    var out = Outcome(
      end: firstPiece.start, endSegment: firstPiece.segment, next: firstPiece.next,
      lastSequence: firstPiece.firstSequence &- 1, lastChecksum: firstPiece.checksumBefore,
      durableSequence: superblock.durableSequence, durablePublication: superblock.publication)
    for (n, piece) in superblock.pieces.enumerated() { try follow(piece, n, &out) }
    out.endHeaderIsWhole = try segment(out.endSegment)?.header != nil
    let brokenAt = try lookBehindTheEnd(&out)
    let found = out
    let isWhole = found.durableSequence <= found.lastSequence || isPlanted(.lostRecordsUnseen)
    guard Verification.durableSequence.holds(isWhole) else {
      throw .corrupt(place: .log, offset: brokenAt, detail: "a record that was durable is damaged")
    }
    guard Verification.durablePublication.holds(found.durablePublication <= superblock.publication) else {
      throw .corrupt(
        place: .superblock, offset: Superblock.offset(slot: superblock.slot ^ 1, copy: 0),
        detail: "the newest superblock is damaged")
    }
    return out
  }

  /// Takes the records of a piece, as far as each follows the one before it.
  private func follow(_ piece: LogPiece, _ n: Int, _ out: inout Outcome) throws(StoreError) {
    let last = (sequence: out.lastSequence, checksum: out.lastChecksum)
    guard Verification.pieceSequence.holds(piece.firstSequence == last.sequence &+ 1),
      Verification.pieceChecksum.holds(piece.checksumBefore == last.checksum || n == 0),
      Verification.pieceAlignment.holds(piece.start % 16 == 0)
    else { throw .corrupt(place: .superblock, offset: piece.start, detail: "log pieces do not follow one another") }
    guard let first = try segment(piece.segment), piece.next.isPossible else {
      throw .corrupt(place: .superblock, offset: piece.start, detail: "the log is said to lie where it cannot")
    }
    note(first, &out)
    let room = first.address + UInt64(SegmentHeader.size)...first.end
    guard Verification.pieceStart.holds(room.contains(piece.start)) else {
      throw .corrupt(place: .superblock, offset: piece.start, detail: "the log begins outside its segment")
    }
    var segment = first
    used.insert(piece.segment.start)
    out.end = piece.start
    out.endSegment = piece.segment
    out.next = piece.next
    while piece.end == 0 || out.end != piece.end {
      if let found = try chained(segment, out.end, piece, out) {
        try take(found, n, &out)
        continue
      }
      // Behind the last record of a segment the log goes on in the next one.
      // It never goes back. To a reader without the turn it may seem to, if a writer has used the former segment again.
      guard !used.contains(out.next.start), let following = try self.segment(out.next),
        let found = try chained(following, following.place.firstRecord(strict: false), piece, out)
      else { break }
      segment = following
      used.insert(segment.place.start)
      note(segment, &out)
      try take(found, n, &out)
    }
    guard Verification.pieceEnd.holds(piece.end == 0 || out.end == piece.end) else {
      throw .corrupt(place: .log, offset: out.end, detail: "a record that was durable is damaged")
    }
    // The header was durable before the superblock named the segment. Without it, the room may have been used for
    // something else since, by a publication whose superblock is lost. A closed log is known to hold nothing here.
    let isProven = superblock.isClean || first.header != nil || out.lastSequence != last.sequence
    guard Verification.logSegmentHeader.holds(isProven) else {
      throw .corrupt(place: .log, offset: piece.start, detail: "the log segment is damaged")
    }
  }

  private func take(_ found: Found, _ piece: Int, _ out: inout Outcome) throws(StoreError) {
    guard found.header.next.isPossible else {
      throw .corrupt(place: .log, offset: found.address, detail: "a record names a log segment that cannot be")
    }
    var found = found
    found.piece = piece
    out.end = found.address + UInt64(roundUp(found.header.length, to: 16))
    out.endSegment = found.segment
    out.next = found.header.next
    out.lastSequence = found.header.sequence
    out.lastChecksum = found.header.checksum
    out.durableSequence = max(out.durableSequence, found.header.durableSequence)
    out.durablePublication = max(out.durablePublication, found.header.durablePublication)
    out.records.append(found)
  }

  private func note(_ segment: LoadedSegment, _ out: inout Outcome) {
    out.durablePublication = max(out.durablePublication, segment.header?.durablePublication ?? 0)
  }

  /// The record that follows, at `position` or at the 4 KiB block behind it.
  private func chained(_ segment: LoadedSegment, _ position: UInt64, _ piece: LogPiece, _ out: Outcome)
    throws(StoreError) -> Found?
  {
    let block = UInt64(LogWriter.strictBlock)
    let aligned = (position + block - 1) / block * block
    for address in position == aligned ? [position] : [position, aligned] {
      if let (header, bytes) = try record(segment, at: address),
        Verification.recordSession.holds(header.session == piece.session),
        Verification.recordSequence.holds(header.sequence == out.lastSequence &+ 1),
        Verification.recordBefore.holds(header.before == out.lastChecksum)
      {
        return Found(header: header, address: address, bytes: bytes, piece: 0, segment: segment.place)
      }
    }
    return nil
  }

  /// The first place from `position` on and before `limit`, a multiple of 16, where a record may begin; nil if there is none. Most
  /// of a prepared segment is zeros.
  private func magic(
    in segment: LoadedSegment, from position: UInt64, before limit: UInt64
  ) throws(StoreError) -> UInt64? {
    guard position >= segment.address, position <= segment.end, let base = segment.bytes.baseAddress else { return nil }
    var offset = Int(position - segment.address)
    let end = limit < segment.end ? max(offset, Int(limit - segment.address)) : segment.bytes.count
    if segment.loaded.contains(offset) {
      if let found = Self.magic(UnsafeRawPointer(base), offset, min(segment.loaded.upperBound, end)) {
        return segment.address + UInt64(found)
      }
      offset = segment.loaded.upperBound
    }
    while offset &+ LogRecordHeader.size <= end, let chunk = scratch.baseAddress {
      let count = min(LoadedSegment.chunkSize, end - offset)
      try LoadedSegment.read(
        device, at: segment.address + UInt64(offset), UnsafeMutableRawBufferPointer(start: chunk, count: count))
      if let found = Self.magic(UnsafeRawPointer(chunk), 0, count) {
        return segment.address + UInt64(offset + found)
      }
      offset &+= count
    }
    return nil
  }

  /// The first multiple of 16 from `from` on and before `end` where the magic of a record stands.
  private static func magic(_ p: UnsafeRawPointer, _ from: Int, _ end: Int) -> Int? {
    var offset = from
    // Four places at once, none of which has it as a rule.
    while offset &+ 64 <= end {
      let isThere =
        p.u32(offset) == LogRecordHeader.magic || p.u32(offset &+ 16) == LogRecordHeader.magic
        || p.u32(offset &+ 32) == LogRecordHeader.magic || p.u32(offset &+ 48) == LogRecordHeader.magic
      if isThere { break }
      offset &+= 64
    }
    while offset &+ 16 <= end {
      if p.u32(offset) == LogRecordHeader.magic { return offset }
      offset &+= 16
    }
    return nil
  }

  /// Looks for whole records behind the end: one that says that more was durable shows that damage, and not a power
  /// cut, took the missing records. Returns the place where the log broke, if it did.
  ///
  /// Segments are followed by whatever names the next one: the last record, records behind it, the header of a segment
  /// that holds records. A wrong name does no harm, because only a whole record proves anything.
  ///
  /// Behind the end of a log that was closed there is nothing, unless a newer superblock was lost to damage. The
  /// session that wrote that one began right there, or in the segment behind, and its records follow one another. So
  /// only the places where the first of them may be are looked at.
  private func lookBehindTheEnd(_ out: inout Outcome) throws(StoreError) -> UInt64 {
    let end = out.end
    let last = out.lastSequence
    guard let piece = superblock.pieces.last, let endSegment = try segment(out.endSegment) else { return end }
    var isBrokenHere = try holdsSomething(endSegment, at: end)
    var waiting = [out.next]
    var visited: [UInt32] = [endSegment.place.start]
    // A file that lies can name many long segments. Those of a right one do not overlap.
    var unitsLeft = try device.size() / UInt64(SegmentTable.unitSize) + 2 * UInt64(SegmentTable.maxUnits)
    var behind: (segment: LoadedSegment, position: UInt64)? = (endSegment, end)
    while let (segment, position) = behind {
      behind = nil
      try eachRecord(of: segment, from: position) { header in
        if Verification.behindSession.holds(
          header.session == piece.session || header.durablePublication > superblock.publication)
        {
          out.durablePublication = max(out.durablePublication, header.durablePublication)
          if Verification.behindSession.holds(header.session == piece.session),
            Verification.behindSequence.holds(header.sequence > last)
          {
            out.durableSequence = max(out.durableSequence, header.durableSequence)
            if segment === endSegment { isBrokenHere = true }
          }
          waiting.append(header.next)
        }
      }
      if let header = segment.header, header.session == piece.session, !isPlanted(.headerNamesNothing) {
        waiting.append(header.next)
      }
      // One proof is enough.
      if out.durableSequence > last || isPlanted(.searchBehindEndsEarly) && segment !== endSegment { break }
      while let place = waiting.popLast() {
        guard Verification.behindTwice.holds(!visited.contains(place.start)),
          Verification.behindSteps.holds(UInt64(place.units) <= unitsLeft), let next = try self.segment(place)
        else { continue }
        visited.append(place.start)
        unitsLeft -= min(unitsLeft, UInt64(place.units))
        note(next, &out)
        behind = (next, place.firstRecord(strict: false))
        break
      }
    }
    return isBrokenHere ? end : out.next.firstRecord(strict: false)
  }

  /// Whether something other than zeros and the mark of shared stores stands at `position`.
  private func holdsSomething(_ segment: LoadedSegment, at position: UInt64) throws(StoreError) -> Bool {
    guard position + 16 <= segment.end, let base = segment.bytes.baseAddress else { return false }
    let offset = Int(position - segment.address)
    try segment.load(offset..<offset + 16)
    let p = UnsafeRawPointer(base) + offset
    return (p.u64(0) != 0 || p.u64(8) != 0) && p.u32(0) != LogEndMark.magic
  }

  /// Hands the whole records to `body` that lie in `segment` from `position` on. In a closed log, only those near
  /// there.
  private func eachRecord(
    of segment: LoadedSegment, from begin: UInt64, _ body: (LogRecordHeader) -> Void
  ) throws(StoreError) {
    let isClosed = superblock.isClean
    /// How far is looked behind a place where there was, or would be, a record.
    func reach(behind place: UInt64) -> UInt64 { isClosed ? place + UInt64(SegmentTable.unitSize) : .max }
    var position = begin
    var limit = reach(behind: position)
    while let found = try magic(in: segment, from: position, before: limit) {
      position = found
      if let (header, _) = try record(segment, at: position) {
        body(header)
        position += UInt64(roundUp(header.length, to: 16))
        limit = max(limit, reach(behind: position))
      } else {
        // A damaged one tells how far off the next may be.
        limit = max(limit, reach(behind: position + UInt64(claimedLength(segment, at: position))))
        position += 16
      }
    }
  }
}
