// Catching up with other processes: finds out whether they did anything, takes in the records that they appended, and
// reads everything anew if they published.

extension Store {
  /// Brings the state in memory up to that of the file. The caller has taken the state.
  ///
  /// A caller without the turn must have locked the pin of the present generation, or must not read its pages.
  ///
  /// - Parameter holdingTurn: Whether this process has the turn, so that no other process changes the file meanwhile.
  func catchUp(holdingTurn: Bool) throws(StoreError) {
    guard let share else { return }
    lock.lock()
    let mark = share.mark
    lock.unlock()
    if !share.mustReload, mark.isCertain || !holdingTurn, try isUnchanged(since: mark) { return }
    // This process has merged pages that it did not publish. Other processes may have written to the same room since,
    // even if they published nothing either. If there was no mark, a new publication shows it.
    if holdingTurn, mark.address != 0, checkpointUnderWay != nil || current.frozen != nil { share.mustReload = true }
    var rounds = 0
    while true {
      rounds += 1
      // The order matters. A process that publishes after the second line, or appends after the third, has by then
      // changed the mark that the first line saw.
      let seen = try readMark(at: logTail)
      let newest = try Store.readSuperblock(device, readOnly: options.isReadOnly).0
      let isSame = newest.publication == superblock.publication && newest.session == superblock.session
      if share.mustReload || !isSame {
        try reload(share, holdingTurn: holdingTurn)
        // A reader may be outrun. What it read was the newest state a while ago, and is pinned.
        if !holdingTurn, rounds >= Store.mostRounds { return noteMark(LogEndMark()) }
        continue
      }
      let isFollowed: Bool
      do throws(StoreError) { isFollowed = try followLog(share) } catch {
        // Without the turn, this process may have been overtaken: the room that a record named holds something else by
        // now. Reading everything anew tells that case from damage.
        guard case .corrupt = error, !holdingTurn else { throw error }
        share.mustReload = true
        continue
      }
      // If another process used a record's room again while it was read, the record seems not to be there. A
      // publication shows that.
      if !isFollowed, !holdingTurn, try isPublished(after: superblock.publication) { continue }
      // A reader may be outrun by processes that commit. Then the state of a moment ago is new enough.
      if isFollowed, holdingTurn || share.mustReload || rounds < Store.mostRounds { continue }
      if isFollowed { return noteMark(LogEndMark()) }
      lock.lock()
      share.mark = LogEndMark(
        address: seen == 0 ? 0 : logTail, number: seen, publication: superblock.publication, isCertain: holdingTurn)
      lock.unlock()
      if holdingTurn {
        space.table.fileUnits = max(
          space.table.usedUnits, UInt32(clamping: try device.size() / UInt64(SegmentTable.unitSize)))
        // A process that was killed in its turn may have left anything there.
        if seen == 0, logTail != 0 {
          // If the file was cut, the mark would lengthen it again.
          try requireFile()
          try renewMark()
        }
        if share.mustAnnounce { try announceWriter(share) }
      }
      return
    }
  }

  private static let mostRounds = 16

  /// Tells the other processes that a writer is back that may use any free room. One of them may have merged pages
  /// there that it has not published, and must give them up. The caller has the turn.
  private func announceWriter(_ share: StoreShare) throws(StoreError) {
    if logTail != 0 {
      try renewMark()
    } else {
      // Without a mark, only a new publication tells them.
      var next = superblock
      next.publication += 1
      try writeSuperblock(next)
      try syncNow()
      superblock = next
      space.durablePublication = next.publication
    }
    share.mustAnnounce = false
  }

  // MARK: The mark

  /// The address of the mark behind the log; 0 if there is no room for it, or at `.strict`, which writes no block
  /// twice.
  var logTail: UInt64 {
    guard log.present != .none, options.durability != .strict,
      log.position + UInt64(LogEndMark.size) <= log.present.end
    else { return 0 }
    return log.position
  }

  /// Whether the mark is still there. If it is, no process has appended or published anything since this one saw the
  /// mark. Reads 16 bytes.
  func isUnchanged(since mark: LogEndMark) throws(StoreError) -> Bool {
    guard mark.address != 0, try readMark(at: mark.address) == mark.number else { return false }
    // A writer at `.strict` leaves alone a mark that was there before it. No other kind of writer opens the store
    // beside it, but a reader may.
    if options.isReadOnly { return try peekPublication(after: mark.publication) <= mark.publication }
    return true
  }

  /// The number of the mark at `address`; 0 if there is none.
  private func readMark(at address: UInt64) throws(StoreError) -> UInt64 {
    if address == 0 { return 0 }
    var bytes: (UInt64, UInt64) = (0, 0)
    let got = try readWords(address, &bytes)
    guard got == LogEndMark.size, UInt32(truncatingIfNeeded: UInt64(littleEndian: bytes.0)) == LogEndMark.magic
    else { return 0 }
    return UInt64(littleEndian: bytes.1)
  }

  private func readWords(_ address: UInt64, _ words: inout (UInt64, UInt64)) throws(StoreError) -> Int {
    var failure: StoreError?
    var got = 0
    withUnsafeMutableBytes(of: &words) { buffer in
      do throws(StoreError) { got = try device.read(at: address, into: buffer) } catch { failure = error }
    }
    if let failure { throw failure }
    return got
  }

  /// The publication number that stands in the slot of the next publication.
  func peekPublication(after publication: UInt64) throws(StoreError) -> UInt64 {
    var words: (UInt64, UInt64) = (0, 0)
    let slot = Int(truncatingIfNeeded: ~publication & 1)
    let got = try readWords(Superblock.offset(slot: slot, copy: 0) + 88, &words)
    return got < 8 ? 0 : UInt64(littleEndian: words.0)
  }

  /// Whether a whole superblock is newer than `publication`. The part of one that a killed process left does not count.
  private func isPublished(after publication: UInt64) throws(StoreError) -> Bool {
    guard try peekPublication(after: publication) > publication else { return false }
    return try Store.readSuperblock(device, readOnly: options.isReadOnly).0.publication > publication
  }

  /// Replaces the mark at the end of the log by a new one, so that other processes look at the file again. The caller
  /// has the turn.
  func renewMark() throws(StoreError) {
    guard let share, !options.isReadOnly else { return }
    noteMark(LogEndMark())
    let address = logTail
    guard address != 0 else { return }
    let number = share.nextNumber()
    try writeWords((UInt64(LogEndMark.magic), number), at: address)
    noteMark(address, number)
  }

  /// Removes the mark at the end of the log. Call this before a write that does not overwrite the mark. Until the next
  /// mark is there, other processes look at everything, even if this process is killed meanwhile. The caller has the
  /// turn.
  func eraseMark() throws(StoreError) {
    guard share != nil, !options.isReadOnly else { return }
    noteMark(LogEndMark())
    let address = logTail
    if address != 0 { try writeWords((0, 0), at: address) }
  }

  private func writeWords(_ words: (UInt64, UInt64), at address: UInt64) throws(StoreError) {
    var words = (words.0.littleEndian, words.1.littleEndian)
    var failure: StoreError?
    withUnsafeBytes(of: &words) { bytes in
      do throws(StoreError) { try device.write(bytes, at: address) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// The length of the mark that is written together with a record that ends at `end`; 0 if there is none.
  func markLength(behind end: UInt64) -> Int {
    share == nil || options.durability == .strict || end + UInt64(LogEndMark.size) > log.present.end
      ? 0 : LogEndMark.size
  }

  /// Writes a new mark to memory; answers its number.
  func putMark(_ p: UnsafeMutableRawPointer) -> UInt64 {
    guard let share else { return 0 }
    let number = share.nextNumber()
    p.put(UInt64(LogEndMark.magic), 0)
    p.put(number, 8)
    return number
  }

  /// Notes that a mark was written, with the turn, at the end of the log.
  func noteMark(_ address: UInt64, _ number: UInt64) {
    noteMark(LogEndMark(address: address, number: number, publication: superblock.publication, isCertain: true))
  }

  func noteMark(_ mark: LogEndMark) {
    guard let share else { return }
    lock.lock()
    share.mark = mark
    lock.unlock()
  }

  // MARK: Records

  /// Takes in the records that other processes appended. Answers whether there were any, or whether everything must be
  /// read anew.
  private func followLog(_ share: StoreShare) throws(StoreError) -> Bool {
    var any = false
    while let found = try nextRecord() {
      defer { found.buffer.deallocate() }
      if checkpointUnderWay != nil || current.frozen != nil {
        // The pages that this process merged and did not publish may lie in room that another process has taken by now.
        share.mustReload = true
        return true
      }
      // If taking the record in fails half-way, everything must be read anew.
      share.mustReload = true
      try take(found, share)
      share.mustReload = false
      any = true
    }
    return any
  }

  /// A record behind the end of the log.
  private struct NextRecord {
    var header: LogRecordHeader
    var address: UInt64
    var segment: LogSegment
    var buffer: UnsafeMutableRawBufferPointer
  }

  /// The record that follows, at one of the places where it may begin; see Specs.
  private func nextRecord() throws(StoreError) -> NextRecord? {
    let block = UInt64(LogWriter.strictBlock)
    let here = log.position
    let aligned = (here + block - 1) / block * block
    for address in here == aligned ? [here] : [here, aligned] {
      if let found = try record(at: address, in: log.present) { return found }
    }
    for strict in [false, true] {
      if let found = try record(at: log.next.firstRecord(strict: strict), in: log.next) { return found }
    }
    return nil
  }

  private func record(at address: UInt64, in segment: LogSegment) throws(StoreError) -> NextRecord? {
    guard address >= segment.address, address + UInt64(LogRecordHeader.size) <= segment.end else { return nil }
    let room = segment.end - address
    var words: (UInt64, UInt64) = (0, 0)
    guard try readWords(address, &words) == 16 else { return nil }
    let first = UInt64(littleEndian: words.0)
    let length = UInt64(UInt32(truncatingIfNeeded: first >> 32))
    guard UInt32(truncatingIfNeeded: first) == LogRecordHeader.magic, length >= UInt64(LogRecordHeader.size),
      length <= room, let count = Int(exactly: length)
    else { return nil }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    var isKept = false
    defer { if !isKept { buffer.deallocate() } }
    guard try device.read(at: address, into: buffer) == count,
      let header = LogRecordHeader.valid(
        UnsafeRawBufferPointer(buffer).start, available: count, seed: logSeed, address: address),
      header.length == count, Verification.recordSession.holds(header.session == log.session),
      Verification.recordSequence.holds(header.sequence == appendedSequence &+ 1),
      Verification.recordBefore.holds(header.before == log.lastChecksum)
    else { return nil }
    isKept = true
    return NextRecord(header: header, address: address, segment: segment, buffer: buffer)
  }

  /// Takes one record in, as if it had been committed here.
  private func take(_ found: NextRecord, _ share: StoreShare) throws(StoreError) {
    let header = found.header
    log.present = found.segment
    if header.next != log.next { try noteLogSegment(header.next, from: found.address) }
    log.position = found.address + UInt64(roundUp(header.length, to: 16))
    log.lastChecksum = header.checksum
    log.length += UInt64(roundUp(header.length, to: 16))
    var replayed = Replay()
    try replay(
      LogScanner.Found(
        header: header, address: found.address, bytes: UnsafeRawBufferPointer(found.buffer), piece: 0,
        segment: found.segment), &replayed)
    takeIn(&replayed)
    lock.lock()
    appendedSequence = header.sequence
    share.foreignSequence = header.sequence
    if durableSequence < header.durableSequence { durableSequence = header.durableSequence }
    switch options.durability {
    case .full, .strict: if visibleSequence < durableSequence { visibleSequence = durableSequence }
    case .normal, .none: visibleSequence = header.sequence
    }
    lock.unlock()
  }

  /// Takes note of a log segment that another process has prepared. Its header is not needed.
  private func noteLogSegment(_ place: LogSegment, from record: UInt64) throws(StoreError) {
    guard place.isPossible else {
      throw .corrupt(place: .log, offset: record, detail: "a record names a log segment that cannot be")
    }
    dropDeadSegments(place.start..<(place.start + place.units))
    guard space.table.insert(Segment(log: place)) else {
      throw .corrupt(place: .log, offset: place.address, detail: "a log segment overlaps another segment")
    }
    log.segments.append(place.start)
    log.next = place
  }

  /// Forgets dead segments in these units, because another process uses their room again. That process has made sure
  /// that no view needs them.
  func dropDeadSegments(_ units: Range<UInt32>) {
    space.table.removeAll { $0.dead != 0 && $0.start < units.upperBound && units.lowerBound < $0.end }
  }
}
