/// Reads the log forward from where a superblock says it begins, through a ``DeviceWindow``: at no time is more of the
/// log in memory than the window holds.
///
/// Records prove, headers of segments do not: a record is verified by itself, and names the log segment behind its own.
/// So a damaged header loses nothing. Specs/03, section 10, has the cases.
final class LogScanner {
  private let device: any StorageDevice
  private let superblock: Superblock
  private let seed: UInt64
  private let window: DeviceWindow
  /// Segments whose headers were read.
  private var segments: [LoadedLogSegment] = []
  /// Where the segments begin that a piece or a record that was taken lies in. The log does not go back to one of them.
  private var used: Set<UInt32> = []
  /// Places of the log to go on from, one for each piece and about four for as many bytes as the window has, in order.
  private var places: [Place] = []
  private let bytesBetweenPlaces: UInt64

  /// - Parameter bufferBytes: How much of the log is read at a time: see ``StoreOptions/bufferBytes``.
  init(device: any StorageDevice, superblock: Superblock, bufferBytes: Int = StoreOptions().bufferBytes) {
    self.device = device
    self.superblock = superblock
    seed = superblock.logSeed
    window = DeviceWindow(device: device, bufferBytes: bufferBytes)
    bytesBetweenPlaces = UInt64(bufferBytes / 4)
  }

  /// The log segment at a place; nil if there can be none, or if the scanner has met another one that begins there.
  func segment(_ place: LogSegment) throws(StoreError) -> LoadedLogSegment? {
    for s in segments where s.place.start == place.start { return s.place == place ? s : nil }
    guard place.isPossible else { return nil }
    let s = try LoadedLogSegment(place, window, storeSeed: superblock.storeSeed)
    segments.append(s)
    return s
  }

  /// The whole record at `address` of `segment`, if there is one. Its bytes are good until the scanner reads on.
  func record(
    _ segment: LogSegment, at address: UInt64
  ) throws(StoreError) -> (header: LogRecordHeader, bytes: UnsafeRawBufferPointer)? {
    guard
      Verification.recordHead.holds(
        address >= segment.address && address + UInt64(LogRecordHeader.size) <= segment.end)
    else { return nil }
    let available = Int(segment.end - address)
    var p = try window.bytes(at: address, count: LogRecordHeader.size, limit: segment.end).start
    let length = Int(truncatingIfNeeded: p.u32(4))
    if Verification.recordMagic.holds(p.u32(0) == LogRecordHeader.magic) {
      let count = min(max(LogRecordHeader.size, length), available)
      p = try window.bytes(at: address, count: count, limit: segment.end).start
    }
    guard let header = LogRecordHeader.valid(p, available: available, seed: seed, address: address) else { return nil }
    return (header, UnsafeRawBufferPointer(start: p, count: header.length))
  }

  /// How long a record says that it is, whole or not; at most what the segment has room for.
  private func claimedLength(_ segment: LogSegment, at address: UInt64) -> Int {
    let bytes = window.loadedBytes(at: address)
    guard bytes.count >= 8 else { return 0 }
    let length = Int(truncatingIfNeeded: bytes.start.u32(4) & 0x7FFF_FFFF)
    return min(length, Int(segment.end - address))
  }

  struct Found {
    var header: LogRecordHeader
    var address: UInt64
    /// Good until the scanner reads on.
    var bytes: UnsafeRawBufferPointer
    var piece: Int
    var segment: LogSegment
  }

  /// A place of the log, between two records.
  struct Place {
    /// The piece that the record before it belongs to.
    var piece: Int
    /// Behind that record, and the segment it lies in.
    var end: UInt64
    var segment: LogSegment
    /// The log segment behind that.
    var next: LogSegment
    var sequence: UInt64
    var checksum: UInt64
    /// The bytes of all records before it.
    var recordBytes: UInt64 = 0
  }

  /// A segment that a piece or a record lies in.
  struct UsedSegment {
    var place: LogSegment
    /// The sequence of the first record of the log that lies in it; nil if there is none.
    var firstSequence: UInt64?
  }

  struct Outcome {
    /// Behind the last record.
    var last: Place
    /// In the order of the log.
    var segments: [UsedSegment] = []
    /// How many records there are, and the bytes of the longest.
    var recordCount = 0
    var longestRecord = 0
    /// Whether the segment of the last record has its header.
    var endHeaderIsWhole = true
    /// The newest commit and publication that anything found says were durable.
    var durableSequence: UInt64
    var durablePublication: UInt64

    /// Behind the last record, and the segment it lies in.
    var end: UInt64 { last.end }
    var endSegment: LogSegment { last.segment }
    /// The log segment behind that.
    var next: LogSegment { last.next }
    var lastSequence: UInt64 { last.sequence }
    var lastChecksum: UInt64 { last.checksum }
  }

  /// Follows the pieces of the superblock, and hands each record to `body`, in order.
  ///
  /// - Throws: ``StoreError/corrupt(place:offset:detail:)`` if a record that was durable is missing; what `body`
  ///   throws.
  func scan(_ body: (Found) throws(StoreError) -> Void) throws(StoreError) -> Outcome {
    guard let firstPiece = superblock.pieces.first else {
      throw .corrupt(place: .superblock, offset: 0, detail: "no log is named")
    }
    let start = Place(
      piece: 0, end: firstPiece.start, segment: firstPiece.segment, next: firstPiece.next,
      sequence: firstPiece.firstSequence &- 1, checksum: firstPiece.checksumBefore)
    var out = Outcome(
      last: start, durableSequence: superblock.durableSequence, durablePublication: superblock.publication)
    for (n, piece) in superblock.pieces.enumerated() { try follow(piece, n, &out, body) }
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

  /// Returns the place behind the last record whose commit is `sequence` or an earlier one, of a log that was scanned.
  func place(behind sequence: UInt64, of outcome: Outcome) throws(StoreError) -> Place {
    guard let start = places.last(where: { $0.sequence <= sequence }) ?? places.first else { return outcome.last }
    var wanted = start
    try forEachRecord(from: start, of: outcome) { (found, place) in
      if found.header.sequence > sequence { return false }
      wanted = place
      return true
    }
    return wanted
  }

  /// Hands the records from `place` on to `body`, in order, each with the place behind it, of a log that was scanned,
  /// until `body` answers false.
  func forEachRecord(
    from place: Place, of outcome: Outcome, _ body: (Found, Place) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var out = outcome
    out.last = place
    used = [place.segment.start]
    for n in place.piece..<superblock.pieces.count {
      let piece = superblock.pieces[n]
      if n > place.piece { enter(piece, n, &out) }
      while out.last.sequence < outcome.lastSequence, let found = try next(piece, n, &out) {
        if try !body(found, out.last) { return }
      }
    }
  }

  /// Goes to the start of a piece.
  private func enter(_ piece: LogPiece, _ n: Int, _ out: inout Outcome) {
    used.insert(piece.segment.start)
    out.last.piece = n
    out.last.end = piece.start
    out.last.segment = piece.segment
    out.last.next = piece.next
  }

  /// Takes the records of a piece, as far as each follows the one before it.
  private func follow(
    _ piece: LogPiece, _ n: Int, _ out: inout Outcome, _ body: (Found) throws(StoreError) -> Void
  ) throws(StoreError) {
    let last = out.last
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
    enter(piece, n, &out)
    noteUsed(piece.segment, nil, &out)
    places.append(out.last)
    while let found = try next(piece, n, &out) {
      out.recordCount += 1
      out.longestRecord = max(out.longestRecord, found.header.length)
      noteUsed(found.segment, found.header.sequence, &out)
      try body(found)
      if let place = places.last, out.last.recordBytes - place.recordBytes >= bytesBetweenPlaces {
        places.append(out.last)
      }
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

  /// Takes the next record of a piece; nil if the piece ends here.
  private func next(_ piece: LogPiece, _ n: Int, _ out: inout Outcome) throws(StoreError) -> Found? {
    if piece.end != 0, out.end == piece.end { return nil }
    if var found = try chained(out.last.segment, out.end, piece, out) {
      found.piece = n
      try take(found, &out)
      return found
    }
    // Behind the last record of a segment the log goes on in the next one.
    // It never goes back. To a reader without the turn it may seem to, if a writer has used the former segment again.
    guard !used.contains(out.next.start), let following = try segment(out.next),
      var found = try chained(following.place, following.place.firstRecord(strict: false), piece, out)
    else { return nil }
    used.insert(following.place.start)
    note(following, &out)
    found.piece = n
    try take(found, &out)
    return found
  }

  private func take(_ found: Found, _ out: inout Outcome) throws(StoreError) {
    guard found.header.next.isPossible else {
      throw .corrupt(place: .log, offset: found.address, detail: "a record names a log segment that cannot be")
    }
    out.last = Place(
      piece: found.piece, end: found.address + UInt64(roundUp(found.header.length, to: 16)), segment: found.segment,
      next: found.header.next, sequence: found.header.sequence, checksum: found.header.checksum,
      recordBytes: out.last.recordBytes + UInt64(found.header.length))
    out.durableSequence = max(out.durableSequence, found.header.durableSequence)
    out.durablePublication = max(out.durablePublication, found.header.durablePublication)
  }

  private func note(_ segment: LoadedLogSegment, _ out: inout Outcome) {
    out.durablePublication = max(out.durablePublication, segment.header?.durablePublication ?? 0)
  }

  /// Notes that a piece, or the record with a sequence, lies in a segment.
  private func noteUsed(_ place: LogSegment, _ sequence: UInt64?, _ out: inout Outcome) {
    if let last = out.segments.indices.last, out.segments[last].place == place {
      if out.segments[last].firstSequence == nil { out.segments[last].firstSequence = sequence }
      return
    }
    out.segments.append(UsedSegment(place: place, firstSequence: sequence))
  }

  /// The record that follows, at `position` or at the 4 KiB block behind it.
  private func chained(_ segment: LogSegment, _ position: UInt64, _ piece: LogPiece, _ out: Outcome)
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
        return Found(header: header, address: address, bytes: bytes, piece: 0, segment: segment)
      }
    }
    return nil
  }

  /// The first place from `position` on and before `limit`, a multiple of 16, where a record may begin; nil if there is
  /// none. Most of a prepared segment is zeros.
  private func magic(
    in segment: LogSegment, from position: UInt64, before limit: UInt64
  ) throws(StoreError) -> UInt64? {
    guard position >= segment.address, position <= segment.end else { return nil }
    var place = position
    let end = max(position, min(limit, segment.end))
    while place < end {
      // Of the last bytes of a segment none is the start of a record, and few need be read for that.
      let wanted = Int(min(UInt64(LogRecordHeader.size), end - place))
      let bytes = try window.bytes(at: place, count: wanted, limit: end)
      let count = Int(min(UInt64(bytes.count), end - place))
      if let found = Self.magic(bytes.start, 0, count) { return place + UInt64(found) }
      place += UInt64(count & ~15)
      if count < 16 { break }
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
    var isBrokenHere = try holdsSomething(endSegment.place, at: end)
    var waiting = [out.next]
    var visited: [UInt32] = [endSegment.place.start]
    // A file that lies can name many long segments. Those of a right one do not overlap.
    var unitsLeft = try device.size() / UInt64(SegmentTable.unitSize) + 2 * UInt64(SegmentTable.maxUnits)
    var behind: (segment: LoadedLogSegment, position: UInt64)? = (endSegment, end)
    while let (segment, position) = behind {
      behind = nil
      try eachRecord(of: segment.place, from: position) { header in
        if Verification.behindSession.holds(
          header.session == piece.session || header.durablePublication > superblock.publication)
        {
          out.durablePublication = max(out.durablePublication, header.durablePublication)
          if Verification.behindSession.holds(header.session == piece.session),
            Verification.behindSequence.holds(header.sequence > last)
          {
            out.durableSequence = max(out.durableSequence, header.durableSequence)
            if segment.place == endSegment.place { isBrokenHere = true }
          }
          waiting.append(header.next)
        }
      }
      if let header = segment.header, header.session == piece.session, !isPlanted(.headerNamesNothing) {
        waiting.append(header.next)
      }
      // One proof is enough.
      if out.durableSequence > last || isPlanted(.searchBehindEndsEarly) && segment.place != endSegment.place { break }
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
  private func holdsSomething(_ segment: LogSegment, at position: UInt64) throws(StoreError) -> Bool {
    guard position + 16 <= segment.end else { return false }
    let p = try window.bytes(at: position, count: 16, limit: segment.end).start
    return (p.u64(0) != 0 || p.u64(8) != 0) && p.u32(0) != LogEndMark.magic
  }

  /// Hands the whole records to `body` that lie in `segment` from `position` on. In a closed log, only those near
  /// there.
  private func eachRecord(
    of segment: LogSegment, from begin: UInt64, _ body: (LogRecordHeader) -> Void
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
