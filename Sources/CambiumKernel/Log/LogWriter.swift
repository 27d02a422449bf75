/// The end of the log: where the next record goes.
///
/// The segment behind the present one is prepared (header written, room filled with zeros) before a record names it. So
/// a record is always one write into room that exists, and recovery can follow the log past any damaged record.
struct LogWriter {
  /// At `.strict`, records begin at a block of this size each.
  static let strictBlock = 4096

  var session: UInt64 = 0
  /// The log segments in use by their starts, oldest first; the last two are the present one and the one prepared
  /// behind it.
  var segments: [UInt32] = []
  /// Address behind the last record.
  var position: UInt64 = 0
  var present = LogSegment.none
  /// Whether the header of ``present`` was whole when the store was opened.
  var headerIsWhole = true
  /// Prepared, and named by every record of the present segment.
  var next = LogSegment.none
  var lastChecksum: UInt64 = 0
  var pieces: [LogPiece] = []
  /// Bytes of log since the last checkpoint.
  var length: UInt64 = 0
  /// The longest record that was asked for: the next segment is made to hold a few of those.
  var demand = 0

  static let maxUnits: UInt32 = 32

  /// A piece that begins where the log ends now, and whose first record will have `firstSequence`.
  func piece(firstSequence: UInt64) -> LogPiece {
    LogPiece(
      start: position, segment: present, session: session, firstSequence: firstSequence, checksumBefore: lastChecksum,
      next: next)
  }

  /// Where a record of `length` bytes would begin: in the present segment or the next; nil if it fits neither.
  func place(_ length: Int, strict: Bool) -> (address: UInt64, movesOn: Bool)? {
    let block = UInt64(strict ? Self.strictBlock : 16)
    let address = (position + block - 1) / block * block
    if present != .none, address + UInt64(length) <= present.end { return (address, false) }
    guard next != .none else { return nil }
    let first = next.firstRecord(strict: strict)
    return first + UInt64(length) <= next.end ? (first, true) : nil
  }
}

/// Log records on their way to the device, many in one write. Nothing of them is durable, nor acknowledged, before a
/// sync that follows ``flush(_:)``; until then it makes no difference in how many pieces they were written.
final class LogBatch {
  private let longest: Int
  private var bytes: [UInt8] = []
  private var address: UInt64 = 0

  /// - Parameter longest: So many bytes are written together at most, unless a record is longer.
  init(longest: Int) { self.longest = longest }

  /// Takes a record, behind the one before or elsewhere.
  func append(_ record: UnsafeRawBufferPointer, at place: UInt64, _ device: any StorageDevice) throws(StoreError) {
    if place != address + UInt64(bytes.count) || bytes.count + record.count > longest {
      try flush(device)
      address = place
    }
    bytes.append(contentsOf: record)
  }

  /// Hands over what there is.
  func flush(_ device: any StorageDevice) throws(StoreError) {
    if bytes.isEmpty { return }
    let address = self.address
    try bytes.withUnsafeBytesTyped { (b) throws(StoreError) in try device.write(b, at: address) }
    bytes.removeAll(keepingCapacity: true)
  }
}

extension Store {
  /// The shortest log segment that is of use: a run too short for the longest record seen would only send the next such
  /// record past the log.
  private var leastLogUnits: UInt32 {
    UInt32(clamping: (log.demand + LogWriter.strictBlock + SegmentTable.unitSize - 1) / SegmentTable.unitSize)
  }

  /// How long the present segment and the one behind it have to be when the log is moved: no longer than they are.
  var movedLogUnits: [UInt32] {
    log.segments.suffix(2).map { start in
      min(leastLogUnits, space.table.index(start: start).map { space.table[$0].units } ?? 1)
    }
  }

  /// Allocates and prepares a log segment, of `units` if that is given.
  func prepareLogSegment(units: UInt32? = nil) throws(StoreError) -> LogSegment {
    let most = LogWriter.maxUnits
    let forDemand = UInt32(clamping: (log.demand * 4 + SegmentTable.unitSize - 1) / SegmentTable.unitSize)
    let wanted = min(most, units ?? max(space.preferredUnits, forDemand))
    let least = units ?? min(leastLogUnits, wanted)
    let s = try space.allocate(.log, wanted: wanted, least: min(least, wanted), born: nextPublication)
    // Zero-filled ahead of use: a sync costs half as much where the file system has nothing to allocate or convert.
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: min(s.length, options.bufferLength), alignment: 4096)
    defer { chunk.deallocate() }
    guard let base = chunk.baseAddress else { throw .misuse("no memory") }
    base.zero(chunk.count)
    space.header(for: s).write(to: base, storeSeed: storeSeed)
    var offset = 0
    do throws(StoreError) {
      while offset < s.length {
        let n = min(chunk.count, s.length - offset)
        try device.write(UnsafeRawBufferPointer(start: base, count: n), at: s.address + UInt64(offset))
        if offset == 0 { base.zero(SegmentHeader.size) }
        offset += n
      }
    } catch {
      space.table.remove(start: s.start)
      throw error
    }
    if let i = space.table.index(start: s.start) { space.table[i].used = UInt32(s.length) }
    log.segments.append(s.start)
    return LogSegment(start: s.start, units: s.units)
  }

  /// Writes the record in ``recordBuilder`` as commit `sequence`. Nothing is changed if it does not fit the log, which
  /// is answered with false.
  func appendRecord(sequence: UInt64) throws(StoreError) -> Bool {
    let strict = options.durability == .strict
    let length = recordBuilder.length
    let stored = roundUp(length, to: 16)
    guard let (address, movesOn) = log.place(stored, strict: strict) else {
      if length > log.demand { log.demand = length }
      return false
    }
    // Stores of other processes look there for the next record.
    if address != log.position, !isPlanted(.markNotErased) { try eraseMark() }
    if movesOn {
      // The segment behind the next one has to be there before a record can name it.
      let behind = try prepareLogSegment()
      log.present = log.next
      log.next = behind
    }
    let written = stored + (logBatch == nil ? markLength(behind: address + UInt64(stored)) : 0)
    let p = recordBuilder.padded(more: written - stored)
    lock.lock()
    let durable = durableSequence
    lock.unlock()
    p.put(LogRecordHeader.magic, 0)
    p.put(UInt32(length), 4)
    p.put(log.lastChecksum, 16)
    p.put(sequence, 24)
    p.put(log.session, 32)
    p.put(isPlanted(.recordClaimsItself) ? sequence : durable, 40)
    p.put(space.durablePublication, 48)
    let next = isPlanted(.recordNamesItsSegment) ? log.present : log.next
    p.put(next.start, 56)
    p.put(UInt16(truncatingIfNeeded: next.units), 60)
    p.put(UInt16(truncatingIfNeeded: recordBuilder.operations), 62)
    let sum = LogRecordHeader.sum(UnsafeRawPointer(p), length: length, seed: logSeed, address: address)
    p.put(sum, 8)
    let mark = written > stored ? putMark(p + stored) : 0
    // The first record of a segment comes with the segment's header, which names the segment behind from now on: if the
    // record is damaged later, the log can still be followed. Nothing in the segment is acknowledged yet that a torn
    // write could take.
    let lead = movesOn && !isPlanted(.headerNotWrittenAnew) ? Int(address - log.present.address) : 0
    if lead > 0 { putLogHeader(p - lead, lead) }
    do throws(StoreError) {
      let bytes = UnsafeRawBufferPointer(start: p - lead, count: lead + written)
      if let batch = logBatch {
        try batch.append(bytes, at: address - UInt64(lead), device)
      } else {
        try device.write(bytes, at: address - UInt64(lead))
      }
    } catch {
      // How much of the record is on the device is unknown, so whether it will be found at the next opening is, too.
      throw poisoned(by: error)
    }
    log.length += UInt64(stored)
    log.position = address + UInt64(stored)
    log.lastChecksum = sum
    if share != nil { if mark != 0 { noteMark(log.position, mark) } else { noteMark(LogEndMark()) } }
    counters.logBytes += UInt64(stored)
    return true
  }

  /// Writes the header of the present log segment to the device.
  func writeLogHeader() throws(StoreError) {
    let p = UnsafeMutableRawPointer.allocate(byteCount: SegmentHeader.size, alignment: 16)
    defer { p.deallocate() }
    putLogHeader(p, SegmentHeader.size)
    try device.write(UnsafeRawBufferPointer(start: p, count: SegmentHeader.size), at: log.present.address)
  }

  /// Writes the header of the present log segment to `p`, and zeros behind it up to `count`.
  private func putLogHeader(_ p: UnsafeMutableRawPointer, _ count: Int) {
    p.zero(count)
    guard let i = space.table.index(start: log.present.start) else { return }
    space.header(for: space.table[i], next: log.next).write(to: p, storeSeed: storeSeed)
  }
}
