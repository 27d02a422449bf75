/// Reads the log forward from where a superblock says it begins.
///
/// Of each log segment as much is read as holds records that are asked for, once; behind their end it is looked through, but
/// not kept.
final class LogScanner {
  private let device: any StorageDevice
  private let storeSeed: UInt64
  /// Segments read so far, in the order of the log.
  private(set) var segments: [LoadedSegment] = []

  final class LoadedSegment {
    let header: SegmentHeader
    /// Room for the whole segment, of which ``loaded`` has been read.
    let bytes: UnsafeMutableRawBufferPointer
    private(set) var loaded: Range<Int>
    private let device: any StorageDevice

    /// Takes `first` over, what was read of the segment already.
    init(header: SegmentHeader, first: UnsafeMutableRawBufferPointer, device: any StorageDevice) {
      self.header = header
      self.device = device
      loaded = 0..<first.count
      let size = Int(header.units) * SegmentTable.unitSize
      if size == first.count {
        bytes = first
      } else {
        bytes = .allocate(byteCount: size, alignment: 4096)
        bytes.copyMemory(from: UnsafeRawBufferPointer(first))
        first.deallocate()
      }
    }
    deinit { bytes.deallocate() }
    var address: UInt64 { UInt64(header.start) * UInt64(SegmentTable.unitSize) }
    var end: UInt64 { address + UInt64(bytes.count) }

    /// Has these bytes read, which lie within the segment. The log goes forward: what lies before them is not read for their
    /// sake, nor for that of others later on.
    func load(_ wanted: Range<Int>) throws(StoreError) {
      if wanted.lowerBound >= loaded.lowerBound, wanted.upperBound <= loaded.upperBound { return }
      var begin = loaded.upperBound
      var step = LogScanner.chunkSize
      if wanted.lowerBound < loaded.lowerBound || wanted.lowerBound > loaded.upperBound {
        // Where a log goes on that was closed, there is little behind it as a rule.
        step = SegmentTable.unitSize
        begin = wanted.lowerBound / step * step
        loaded = begin..<begin
      }
      let end = max(begin, min(bytes.count, roundUp(wanted.upperBound, to: step)))
      try LogScanner.read(
        device, at: address + UInt64(begin), UnsafeMutableRawBufferPointer(rebasing: bytes[begin..<end]))
      loaded = loaded.lowerBound..<end
    }
  }

  /// What is read at a time.
  private static let chunkSize = 65536
  /// For looking through a segment without keeping it.
  private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkSize, alignment: 4096)

  /// Fills `out`; behind the end of the file with zeros.
  private static func read(
    _ device: any StorageDevice, at address: UInt64, _ out: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    clear(out, from: try device.read(at: address, into: out))
  }

  /// Puts zeros behind the `got` bytes that were read.
  private static func clear(_ out: UnsafeMutableRawBufferPointer, from got: Int) {
    if got < out.count {
      UnsafeMutableRawBufferPointer(rebasing: out[got...]).initializeMemory(as: UInt8.self, repeating: 0)
    }
  }

  deinit { scratch.deallocate() }

  init(device: any StorageDevice, storeSeed: UInt64) {
    self.device = device
    self.storeSeed = storeSeed
  }

  /// The log segment at unit `start`; nil if none stands there.
  func segment(_ start: UInt32) throws(StoreError) -> LoadedSegment? {
    for s in segments where s.header.start == start { return s }
    let address = UInt64(start) * UInt64(SegmentTable.unitSize)
    // With the header as much as the shortest has: a segment is looked into next.
    let first = UnsafeMutableRawBufferPointer.allocate(byteCount: SegmentTable.unitSize, alignment: 4096)
    var isTaken = false
    defer { if !isTaken { first.deallocate() } }
    let got = try device.read(at: address, into: first)
    let head = UnsafeRawBufferPointer(rebasing: first[..<SegmentHeader.size])
    guard Verification.logSegmentEnd.holds(got >= SegmentHeader.size),
      let header = SegmentHeader(head, start: start, storeSeed: storeSeed),
      Verification.logSegmentKind.holds(header.kind == .log)
    else { return nil }
    Self.clear(first, from: got)
    isTaken = true
    let s = LoadedSegment(header: header, first: first, device: device)
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
    guard
      let header = LogRecordHeader.valid(
        p, available: available, store: storeSeed, salt: segment.header.salt, address: address)
    else { return nil }
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

  /// Forgets the segments that are not in `needed`. No record of theirs may be used any more.
  func forget(allBut needed: Set<UInt32>) { segments.removeAll { !needed.contains($0.header.start) } }

  struct Found {
    var header: LogRecordHeader
    var address: UInt64
    var bytes: UnsafeRawBufferPointer
    var piece: Int
    var segment: UInt32
  }

  struct Outcome {
    var records: [Found] = []
    /// Behind the last record, and the segment it lies in.
    var end: UInt64
    var endSegment: UInt32
    var nextSegment: UInt32
    var lastSequence: UInt64
    var lastChecksum: UInt64
    /// The newest commit and publication that anything found says were durable.
    var durableSequence: UInt64
    var durablePublication: UInt64
  }

  /// Follows the pieces of `superblock`.
  ///
  /// - Throws: ``StoreError/corrupt(place:offset:detail:)`` when a record that was durable is missing.
  func scan(_ superblock: Superblock) throws(StoreError) -> Outcome {
    guard let firstPiece = superblock.pieces.first else {
      throw .corrupt(place: .superblock, offset: 0, detail: "no log is named")
    }
    var out = Outcome(
      end: firstPiece.start, endSegment: firstPiece.segment, nextSegment: firstPiece.next,
      lastSequence: firstPiece.firstSequence &- 1, lastChecksum: firstPiece.checksumBefore,
      durableSequence: superblock.durableSequence, durablePublication: superblock.publication)
    for (n, piece) in superblock.pieces.enumerated() {
      let last = (sequence: out.lastSequence, checksum: out.lastChecksum)
      guard Verification.pieceSequence.holds(piece.firstSequence == last.sequence &+ 1),
        Verification.pieceChecksum.holds(piece.checksumBefore == last.checksum || n == 0),
        Verification.pieceAlignment.holds(piece.start % 16 == 0)
      else { throw .corrupt(place: .superblock, offset: piece.start, detail: "log pieces do not follow one another") }
      guard var segment = try segment(piece.segment) else {
        throw .corrupt(place: .log, offset: piece.start, detail: "the log segment is damaged")
      }
      note(segment, &out)
      let room = segment.address + UInt64(SegmentHeader.size)...segment.end
      guard Verification.pieceStart.holds(room.contains(piece.start)) else {
        throw .corrupt(place: .superblock, offset: piece.start, detail: "the log begins outside its segment")
      }
      var position = piece.start
      var next = piece.next
      while piece.end == 0 || position != piece.end {
        if let found = try chained(segment, position, piece, out) {
          position = found.address + UInt64(roundUp(found.header.length, to: 16))
          next = found.header.next
          take(found, n, &out)
          continue
        }
        // Behind the last record of a segment the log goes on in the next one.
        if next != 0, next != segment.header.start, let following = try self.segment(next),
          let found = try chained(following, following.address + UInt64(SegmentHeader.size), piece, out)
        {
          segment = following
          note(segment, &out)
          position = found.address + UInt64(roundUp(found.header.length, to: 16))
          next = found.header.next
          take(found, n, &out)
          continue
        }
        break
      }
      out.end = position
      out.endSegment = segment.header.start
      out.nextSegment = next
      guard Verification.pieceEnd.holds(piece.end == 0 || position == piece.end) else {
        throw .corrupt(place: .log, offset: position, detail: "a record that was durable is damaged")
      }
    }
    try lookBehindTheEnd(superblock, &out)
    let found = out
    guard Verification.durableSequence.holds(found.durableSequence <= found.lastSequence) else {
      throw .corrupt(place: .log, offset: out.end, detail: "a record that was durable is damaged")
    }
    guard Verification.durablePublication.holds(found.durablePublication <= superblock.publication) else {
      throw .corrupt(
        place: .superblock, offset: Superblock.offset(slot: superblock.slot ^ 1, copy: 0),
        detail: "the newest superblock is damaged")
    }
    return out
  }

  private func take(_ found: Found, _ piece: Int, _ out: inout Outcome) {
    var found = found
    found.piece = piece
    out.lastSequence = found.header.sequence
    out.lastChecksum = found.header.checksum
    out.durableSequence = max(out.durableSequence, found.header.durableSequence)
    out.durablePublication = max(out.durablePublication, found.header.durablePublication)
    out.records.append(found)
  }

  private func note(_ segment: LoadedSegment, _ out: inout Outcome) {
    out.durablePublication = max(out.durablePublication, segment.header.durablePublication)
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
        return Found(header: header, address: address, bytes: bytes, piece: 0, segment: segment.header.start)
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
      let count = min(Self.chunkSize, end - offset)
      try Self.read(
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

  /// Looks for whole records behind the end: one that says that more was durable shows that what is missing was lost to
  /// damage, and not to a power cut.
  ///
  /// Behind the end of a log that was closed there is nothing, unless a newer superblock was lost to damage. The session that
  /// wrote that one began right there, or in the segment behind, and its records follow one another: the first of them are
  /// looked for, not all.
  private func lookBehindTheEnd(_ superblock: Superblock, _ out: inout Outcome) throws(StoreError) {
    guard let piece = superblock.pieces.last, var segment = try segment(out.endSegment) else { return }
    let isClosed = superblock.isClean
    /// How far is looked behind a place where there was, or would be, a record.
    func reach(behind place: UInt64) -> UInt64 { isClosed ? place + UInt64(SegmentTable.unitSize) : .max }
    var position = out.end
    var limit = reach(behind: position)
    var next = out.nextSegment
    var steps = 0
    while true {
      while let found = try magic(in: segment, from: position, before: limit) {
        position = found
        if let (header, _) = try record(segment, at: position) {
          if Verification.behindSession.holds(
            header.session == piece.session || header.durablePublication > superblock.publication)
          {
            out.durablePublication = max(out.durablePublication, header.durablePublication)
            let last = out.lastSequence
            if Verification.behindSession.holds(header.session == piece.session),
              Verification.behindSequence.holds(header.sequence > last)
            {
              out.durableSequence = max(out.durableSequence, header.durableSequence)
            }
            next = header.next
          }
          position += UInt64(roundUp(header.length, to: 16))
          limit = max(limit, reach(behind: position))
        } else {
          // A damaged one tells how far off the next may be.
          limit = max(limit, reach(behind: position + UInt64(claimedLength(segment, at: position))))
          position += 16
        }
      }
      steps += 1
      let (from, first) = (next, out.nextSegment)
      guard Verification.behindSteps.holds(steps <= 64), next != 0, next != segment.header.start,
        Verification.behindTwice.holds(!segments.contains { $0.header.start == from } || from == first),
        let following = try self.segment(next)
      else { return }
      segment = following
      note(segment, &out)
      position = segment.address + UInt64(SegmentHeader.size)
      limit = reach(behind: position)
      next = 0
    }
  }
}
