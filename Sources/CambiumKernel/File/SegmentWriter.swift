/// Appends pages or extents to segments, buffered: one write call for many pages.
///
/// Nothing written here is reached by anything before its publication; until then a crash forgets it, and an abandoned
/// pass takes its segments back.
final class SegmentWriter {
  /// Whom writes are for.
  enum Pace {
    /// A buffer at a time.
    case even
    /// Nothing but the pass matters: full buffers are written by another thread, and begin to be synced. Commits beside
    /// it would wait longer for their syncs.
    case eager
    /// Others wait for the turn meanwhile, and sync what they have written: a little at a time, which begins to be
    /// synced without the turn, so that their syncs have less to do.
    case considerate
  }

  private let space: FileSpace
  private let kind: Segment.Kind
  /// There while something is being written: from the first byte to the flush.
  @exclusivity(unchecked) private var buffer: UnsafeMutableRawPointer?
  private let bufferSize: Int
  private var consideratePiece: Int { bufferSize / 4 }
  /// Each pass begins at a multiple of this: a torn write may harm the whole block of the medium that it falls into, so
  /// at `.strict` no block holds bytes of two passes.
  private let alignment: Int
  /// Whether there will be a sync of what is written.
  private let beginsSyncs: Bool
  /// Where full buffers go while another thread writes them; nil where that is never so.
  let behind: WriteBehind?
  /// How much a write takes, and when.
  var pace = Pace.even
  @exclusivity(unchecked) private var written: Range<UInt64>?
  @exclusivity(unchecked) private var bufferAddress: UInt64 = 0
  @exclusivity(unchecked) private var buffered = 0
  @exclusivity(unchecked) private var currentStart: UInt32 = 0
  /// Segments that this writer allocated since ``begin(born:)``.
  private(set) var allocated: [UInt32] = []
  /// Which of all that were taken since then each of them was, by where it begins.
  private var numbers: [UInt32: Int] = [:]
  /// How many were taken since then, those included that were given up again.
  private(set) var taken = 0
  /// Bytes that were appended since then.
  @exclusivity(unchecked) private(set) var bytesAppended: UInt64 = 0
  /// Segments, by their numbers, that are given up as soon as nothing in them is reached any more, for the same pass to
  /// use again.
  var reusable = 0..<0
  /// How many were, since the writer was made.
  private(set) var givenUp = 0
  private var beganWith: (start: UInt32, used: UInt32) = (0, 0)
  private var born: UInt64 = 0
  /// Bytes written since the writer was made.
  @exclusivity(unchecked) private(set) var bytesWritten: UInt64 = 0
  /// While a compaction's pass knows about how much it is going to append: that, less what was appended. New segments
  /// are as long as it needs, since every segment's end is lost in part; ``FileSpace/cutUnusedUnits(at:fresh:)`` takes
  /// the rest back.
  var expected: UInt64?

  init(
    space: FileSpace, kind: Segment.Kind, bufferSize: Int, alignment: Int, beginsSyncs: Bool = false,
    behind: WriteBehind? = nil
  ) {
    self.beginsSyncs = beginsSyncs
    self.alignment = alignment
    self.behind = behind
    self.space = space
    self.kind = kind
    self.bufferSize = bufferSize
  }

  deinit { buffer?.deallocate() }

  /// Values are divided so that no part is longer, in bytes.
  var longestPart: Int { max(1 << 14, bufferSize * 16) }

  /// The buffer, made if there is none.
  @inline(__always)
  private var madeBuffer: UnsafeMutableRawPointer {
    if let buffer { return buffer }
    let made = UnsafeMutableRawPointer.allocate(byteCount: bufferSize, alignment: 64)
    buffer = made
    return made
  }

  /// Gives the memory of the buffer back. Nothing is in it.
  private func dropBuffer() {
    buffer?.deallocate()
    buffer = nil
  }

  /// Begins a pass. No view of a generation before `born` may ever reach what the pass writes.
  func begin(born: UInt64) {
    self.born = born
    forgetAllocated()
    taken = 0
    bytesAppended = 0
    if currentStart != 0, let i = space.table.index(start: currentStart), space.table[i].kind == kind {
      beganWith = (currentStart, space.table[i].used)
      let boundary = isPlanted(.strictPassSharesBlock) ? 16 : alignment
      space.table[i].used = UInt32(min(roundUp(Int(space.table[i].used), to: boundary), space.table[i].length))
    } else {
      currentStart = 0
      beganWith = (0, 0)
    }
  }

  /// Goes on with a segment that has room, as found at opening.
  func adopt(start: UInt32) { currentStart = start }

  /// The segment being filled; 0 if there is none.
  var current: UInt32 { currentStart }

  /// Gives back what the pass took: the content was never reached.
  func abandon() {
    buffered = 0
    written = nil
    dropBuffer()
    // Before its segments are anybody else's.
    behind?.discard()
    for start in allocated { space.table.remove(start: start) }
    forgetAllocated()
    currentStart = beganWith.start
    if currentStart != 0, let i = space.table.index(start: currentStart) { space.table[i].used = beganWith.used }
  }

  private func forgetAllocated() {
    allocated.removeAll()
    numbers.removeAll()
    reusable = 0..<0
    if kind == .pages { space.forgetEmptied() }
  }

  /// Gives segments up of this pass in which nothing is reached any more, as far as they are ``reusable``.
  private func giveUpEmptied() {
    if space.emptied.isEmpty || reusable.isEmpty { return }
    var kept: [UInt32] = []
    for start in space.emptied {
      guard let number = numbers[start], let i = space.table.index(start: start), space.table[i].live == 0 else {
        continue
      }
      guard reusable.contains(number), start != currentStart else {
        kept.append(start)
        continue
      }
      space.table.remove(start: start)
      numbers[start] = nil
      givenUp += 1
      allocated.removeAll { $0 == start }
    }
    space.forgetEmptied(but: kept)
  }

  /// Makes the writer forget its segment, so that the next byte goes to a new one.
  func leaveSegment() throws(StoreError) {
    try flush()
    currentStart = 0
  }

  /// Bytes that fit behind one another into the present segment.
  var room: Int {
    guard currentStart != 0, let i = space.table.index(start: currentStart) else { return 0 }
    return space.table[i].length - Int(space.table[i].used)
  }

  /// Appends `bytes`, whose count is a multiple of 16, and answers their address. They are on the device after
  /// ``flush()``. `wantedUnits` is the size of a segment to be allocated for them.
  func append(_ bytes: UnsafeRawBufferPointer, wantedUnits: UInt32? = nil) throws(StoreError) -> UInt64 {
    let address = try makeRoom(bytes.count, wantedUnits: wantedUnits)
    try fill(bytes, at: address)
    return address
  }

  /// Returns the address that the next `count` bytes will have. The caller hands them to ``fill(_:at:)`` next.
  func makeRoom(_ count: Int, wantedUnits: UInt32? = nil) throws(StoreError) -> UInt64 {
    if room < count {
      try handOver()
      let least = UInt32((count + SegmentHeader.size + SegmentTable.unitSize - 1) / SegmentTable.unitSize)
      try openSegment(wanted: wantedUnits ?? space.preferredUnits, least: least)
    }
    guard let i = space.table.index(start: currentStart) else { throw .misuse("segment writer without a segment") }
    let address = space.table[i].address + UInt64(space.table[i].used)
    if buffered == 0 { bufferAddress = address }
    if buffered + count > (pace == .considerate ? consideratePiece : bufferSize) {
      try handOver()
      bufferAddress = address
    }
    return address
  }

  /// Appends bytes at the address that ``makeRoom(_:wantedUnits:)`` gave for them.
  func fill(_ bytes: UnsafeRawBufferPointer, at address: UInt64) throws(StoreError) {
    guard let i = space.table.index(start: currentStart) else { throw .misuse("segment writer without a segment") }
    noteAppended(bytes.count)
    if bytes.count > bufferSize {
      try space.device.write(bytes, at: address)
      bytesWritten += UInt64(bytes.count)
    } else {
      madeBuffer.put(bytes, buffered)
      buffered += bytes.count
    }
    space.table[i].used += UInt32(bytes.count)
    bytesAppended += UInt64(bytes.count)
  }

  /// Goes on in a new segment. Nothing is buffered.
  private func openSegment(wanted: UInt32, least: UInt32) throws(StoreError) {
    var wanted = wanted
    if let expected {
      // No hole is left between the segments of a pass: nothing older knows the one that is left now.
      if allocated.last == currentStart, let i = space.table.index(start: currentStart), space.table[i].hasUnusedUnits {
        space.table[i].units = space.table[i].usedUnits
      }
      let units = (expected + UInt64(SegmentHeader.size)) / UInt64(SegmentTable.unitSize) + 1
      wanted = UInt32(min(units, UInt64(SegmentTable.maxUnits)))
    }
    giveUpEmptied()
    let segment = try space.allocate(kind, wanted: max(least, wanted), least: least, born: born)
    currentStart = segment.start
    allocated.append(segment.start)
    numbers[segment.start] = taken
    taken += 1
    bufferAddress = segment.address
    space.header(for: segment).write(to: madeBuffer, storeSeed: space.storeSeed)
    buffered = SegmentHeader.size
  }

  private func noteAppended(_ count: Int) {
    if let expected { self.expected = expected - min(expected, UInt64(count)) }
  }

  /// Hands what is buffered to the device, and returns when everything is there. The buffer's memory is free then.
  func flush() throws(StoreError) {
    try writeBuffer()
    try behind?.drain()
    dropBuffer()
  }

  /// Makes room in the buffer: what is in it goes to the device, or to who writes it there.
  private func handOver() throws(StoreError) {
    guard let full = buffer, buffered > 0, pace == .eager else { return try writeBuffer() }
    if let next = try behind?.take(full, buffered, at: bufferAddress) {
      bytesWritten += UInt64(buffered)
      buffer = next
      buffered = 0
    } else {
      let count = buffered
      try writeBuffer()
      if beginsSyncs { space.device.beginSync(at: bufferAddress, byteCount: count) }
    }
  }

  /// What was written at ``Pace/considerate`` and has not begun to be synced, if it is worth that: a buffer at least.
  /// Whoever takes it begins it without the turn (``WriteBehind/beginSync(_:)``).
  func takeWritten() -> Range<UInt64>? {
    guard let range = written, range.count >= bufferSize else { return nil }
    written = nil
    return range
  }

  private func writeBuffer() throws(StoreError) {
    guard buffered > 0, let buffer else { return }
    try space.device.write(UnsafeRawBufferPointer(start: buffer, count: buffered), at: bufferAddress)
    if pace == .considerate, beginsSyncs {
      let follows = written?.upperBound == bufferAddress
      written = (follows ? written?.lowerBound ?? 0 : bufferAddress)..<bufferAddress + UInt64(buffered)
    }
    bytesWritten += UInt64(buffered)
    buffered = 0
  }
}

extension SegmentWriter {
  /// Takes `length` bytes of room (a multiple of 16) without writing, and answers their address; the caller writes
  /// there itself. What was appended before is handed to the device first.
  func place(_ length: Int) throws(StoreError) -> UInt64 {
    try flush()
    if room < length {
      let least = UInt32((length + SegmentHeader.size + SegmentTable.unitSize - 1) / SegmentTable.unitSize)
      try openSegment(wanted: space.preferredUnits, least: least)
      try flush()
    }
    noteAppended(length)
    guard let i = space.table.index(start: current) else { throw .misuse("segment writer without a segment") }
    let address = space.table[i].address + UInt64(space.table[i].used)
    space.table[i].used += UInt32(length)
    return address
  }
}
