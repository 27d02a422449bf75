/// A device on a ``FlashChip``: for a platform with raw NOR flash, and an example of a translation layer.
///
///     blocks    0      1      2      3            the store's file, in parts of a sector less its header
///                \      \      \      \
///     map         4      2      9      -          the sector that holds each block; none reads as zeros
///
///     sectors   0      1      2      3      4      5 ...
///               free   old    1      old    0      head: the next write goes here, then to 6, 7, ... and round
///
/// A write never changes a sector that holds a block. It programs the block's new content into the next free sector,
/// and the header last; from then on the block is there, and the sector that held it before is free. So a power cut
/// leaves each block as it was or as it was to be. Nothing is waiting to be written, so ``sync()`` has nothing to do.
///
/// When the device is made it reads the headers of all sectors, and takes for each block the one with the highest
/// number.
///
/// **Wear.** Writes go round the chip. A sector that a block has rested in while others were erased a third more often
/// is collected: its block moves to a free sector, and the sector serves again. So no sector is erased twice as often
/// as another one, once each was erased some dozens of times.
///
/// **Worn sectors.** What was programmed is read back and compared. A sector that fails is left alone from then on, and
/// the write goes to the next one; the spare sectors make up for it. When there are none left, a write throws
/// `StoreError.device` with ``wornOut``, and the blocks are as they were: open the store for reading only, and copy it.
///
/// It takes 12 bytes of memory for each sector, and 512. Thread-safe to the degree of the lock it is made with: without
/// one, one thread at a time may use it.
public final class FlashDevice: StorageDevice, @unchecked Sendable {
  // `@unchecked`: what changes is touched with `guardian` held only.

  /// The code of the error of a write for which no sector is left that can be programmed.
  public static let wornOut: Int32 = 1
  /// The code of the error of a read that the chip refused.
  public static let unreadable: Int32 = 2

  /// The most bytes that are programmed at a time.
  private static let page = 256
  private static let none: Int32 = -1
  /// In ``blocks``, a sector that was found to be worn.
  private static let worn: Int32 = -2

  private let chip: any FlashChip
  private let guardian: any StoreLock
  private let contentBytes: Int
  /// The sector of each block.
  private var sectors: [Int32]
  /// The block of each sector.
  private var blocks: [Int32]
  /// How often each sector was erased.
  private var erasures: [UInt32]
  private var mostErasures: UInt32 = 0
  /// The number of the next write.
  private var number: UInt64 = 1
  /// The sector that was taken last.
  private var head: Int
  private var extent: FileExtent
  private let pageBuffer: UnsafeMutableRawBufferPointer
  private let readBack: UnsafeMutableRawBufferPointer

  /// Whether it was made without a lock.
  public let isForOneThread: Bool

  /// The bytes that a store may take.
  public let capacityBytes: UInt64

  /// Reads the headers of all sectors, and makes a device of what they hold. On a chip without any, all bytes are zero.
  ///
  /// - Parameters:
  ///   - chip: The chip, which nobody else changes.
  ///   - spareSectors: The sectors that are kept free, for writes and in place of worn ones; nil for a sixteenth of
  ///     all, and at least four. With more of them, fewer blocks are moved.
  ///   - lock: Guards the device; see the type's thread rule.
  /// - Throws: ``StoreError/misuse(_:)`` if the chip has too few sectors, or sectors of a length that cannot be, and if
  ///   it holds blocks that do not fit beside so many spare sectors; `StoreError.device` if a header cannot be read.
  public init(
    _ chip: any FlashChip, spareSectors: Int? = nil, lock: (any StoreLock)? = nil
  ) throws(StoreError) {
    let count = chip.sectorCount
    let spare = spareSectors ?? max(4, count / 16)
    guard count <= Int(Int32.max), spare >= 2, count > spare else {
      throw .misuse("a flash needs two spare sectors at least, and others beside them")
    }
    let bytes = chip.sectorBytes
    guard bytes >= 1024, bytes <= 1 << 20, bytes % Self.page == 0 else {
      throw .misuse("a sector of a flash is a multiple of 256 bytes, from 1,024 bytes to 1 MiB")
    }
    self.chip = chip
    guardian = lock ?? SingleThreadLock()
    isForOneThread = lock == nil
    contentBytes = bytes - FlashSectorHeader.size
    let unit = UInt64(SegmentTable.unitSize)
    capacityBytes = UInt64(count - spare) * UInt64(contentBytes) / unit * unit
    extent = FileExtent(capacity: capacityBytes)
    sectors = [Int32](repeating: Self.none, count: count - spare)
    blocks = [Int32](repeating: Self.none, count: count)
    erasures = [UInt32](repeating: 0, count: count)
    head = count - 1
    pageBuffer = .allocate(byteCount: Self.page, alignment: 16)
    readBack = .allocate(byteCount: Self.page, alignment: 16)
    try mount()
  }

  deinit {
    pageBuffer.deallocate()
    readBack.deallocate()
  }

  // MARK: Wear

  /// How often the sectors of a flash were erased.
  public struct Wear: Equatable, Sendable {
    /// The erasures of the sector that was erased least, worn ones aside.
    public var leastErasures: UInt32
    /// The erasures of the sector that was erased most.
    public var mostErasures: UInt32
    /// The sectors that failed since the device was made.
    public var wornSectors: Int
    /// The sectors that hold nothing, and can.
    public var freeSectors: Int
  }

  /// How often the sectors were erased, as far as is known: a power cut during an erasure takes a sector's count, which
  /// is then taken to be the highest. O(sectors).
  public var wear: Wear {
    guardian.lock()
    defer { guardian.unlock() }
    var wear = Wear(leastErasures: .max, mostErasures: mostErasures, wornSectors: 0, freeSectors: 0)
    for (sector, block) in blocks.enumerated() {
      if block == Self.worn {
        wear.wornSectors += 1
        continue
      }
      if block == Self.none { wear.freeSectors += 1 }
      wear.leastErasures = min(wear.leastErasures, erasures[sector])
    }
    return wear
  }

  // MARK: The device

  /// The device takes all of the chip.
  public var isOfFixedSize: Bool { true }

  /// The size in bytes: ``capacityBytes``, unless the store has made the file shorter since.
  public func size() throws(StoreError) -> UInt64 {
    guardian.lock()
    defer { guardian.unlock() }
    return extent.length
  }

  /// Fills `buffer` from `offset` on and returns how many bytes there were: fewer than asked only at the end.
  ///
  /// - Throws: `StoreError.device` with ``unreadable``.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    let count = extent.readable(buffer.count, at: offset)
    var done = 0
    while done < count {
      let (block, within) = place(offset + UInt64(done))
      let n = min(count - done, contentBytes - within)
      try read(block, within, into: UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + n]))
      done += n
    }
    return count
  }

  /// Writes all of `bytes` at `offset`, block by block. Each block is durable when it is written.
  ///
  /// - Throws: ``StoreError/deviceFull(bytes:)``, with nothing written, if they would end behind ``capacityBytes``;
  ///   `StoreError.device` with ``wornOut`` or ``unreadable``.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    if bytes.isEmpty { return }
    let end = try extent.end(of: bytes.count, at: offset)
    if offset > extent.length { try zero(extent.length..<offset) }
    var done = 0
    while done < bytes.count {
      let (block, within) = place(offset + UInt64(done))
      let n = min(bytes.count - done, contentBytes - within)
      try write(block, within, UnsafeRawBufferPointer(rebasing: bytes[done..<done + n]))
      done += n
    }
    extent.length = max(extent.length, end)
  }

  /// Does nothing: what was written is durable.
  public func sync() throws(StoreError) {}

  /// Makes the file `size` bytes long. Bytes that it gains are filled with zeros.
  ///
  /// - Throws: ``StoreError/deviceFull(bytes:)``, with nothing changed, if that is more than ``capacityBytes``;
  ///   `StoreError.device`.
  public func resize(to size: UInt64) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    try extent.requireRoom(for: size)
    if size > extent.length { try zero(extent.length..<size) }
    extent.length = size
  }

  /// Does nothing: the chip is the caller's.
  public func close() {}

  // MARK: With the lock held

  private func place(_ offset: UInt64) -> (block: Int, within: Int) {
    let (block, within) = offset.quotientAndRemainder(dividingBy: UInt64(contentBytes))
    // Both are within the capacity, which is that of an array.
    return (Int(block), Int(within))
  }

  private func mount() throws(StoreError) {
    var newest = [UInt64](repeating: 0, count: sectors.count)
    var isKnown = [Bool](repeating: false, count: blocks.count)
    for sector in blocks.indices {
      let bytes = UnsafeMutableRawBufferPointer(rebasing: pageBuffer[..<FlashSectorHeader.size])
      guard chip.read(sector, at: 0, into: bytes) else { throw failure(.read, 0, Self.unreadable) }
      guard let header = FlashSectorHeader(UnsafeRawBufferPointer(bytes)), header.number < .max else { continue }
      guard let block = Int(exactly: header.block), block < sectors.count else {
        throw .misuse("the flash holds more than fits beside so many spare sectors: keep fewer of them")
      }
      isKnown[sector] = true
      erasures[sector] = header.erasures
      mostErasures = max(mostErasures, header.erasures)
      if header.number >= number {
        number = header.number + 1
        head = sector
      }
      if header.number <= newest[block] { continue }
      newest[block] = header.number
      if sectors[block] != Self.none { blocks[Int(sectors[block])] = Self.none }
      sectors[block] = Int32(sector)
      blocks[sector] = Int32(block)
    }
    for sector in blocks.indices where !isKnown[sector] { erasures[sector] = mostErasures }
  }

  private func failure(_ operation: DeviceOperation, _ block: Int, _ code: Int32) -> StoreError {
    .device(operation: operation, offset: UInt64(block) * UInt64(contentBytes), code: code)
  }

  private func read(
    _ block: Int, _ within: Int, into buffer: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    let sector = sectors[block]
    if sector == Self.none {
      buffer.initializeMemory(as: UInt8.self, repeating: 0)
    } else if !chip.read(Int(sector), at: FlashSectorHeader.size + within, into: buffer) {
      throw failure(.read, block, Self.unreadable)
    }
  }

  /// Fills a range of the file with zeros. A block that was never written is left as it is.
  private func zero(_ range: Range<UInt64>) throws(StoreError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let (block, within) = place(offset)
      let n = Int(min(range.upperBound - offset, UInt64(contentBytes - within)))
      if sectors[block] != Self.none { try write(block, within, count: n, nil) }
      offset += UInt64(n)
    }
  }

  private func write(_ block: Int, _ within: Int, _ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    try write(block, within, count: bytes.count, bytes)
  }

  /// Puts a block with a changed part into a free sector; the part becomes zeros where there are no bytes for it.
  private func write(
    _ block: Int, _ within: Int, count: Int, _ bytes: UnsafeRawBufferPointer?
  ) throws(StoreError) {
    while true {
      let sector = try takeSector(for: block)
      guard try put(block, within..<within + count, bytes, into: sector) else { continue }
      return
    }
  }

  /// The next free sector. A sector on the way that was spared for long is freed.
  private func takeSector(for block: Int) throws(StoreError) -> Int {
    var steps = blocks.count * 2
    while steps > 0 {
      steps -= 1
      head = (head + 1) % blocks.count
      if blocks[head] == Self.none { return head }
      if blocks[head] == Self.worn || UInt64(erasures[head]) * 4 + 16 >= UInt64(mostErasures) * 3 { continue }
      let (spared, rested) = (head, Int(blocks[head]))
      guard let free = blocks.indices.first(where: { blocks[($0 + spared) % blocks.count] == Self.none }) else { break }
      // If the new sector proves worn, the block stays where it is.
      if try put(rested, 0..<0, nil, into: (free + spared) % blocks.count) { return spared }
    }
    throw failure(.write, block, Self.wornOut)
  }

  /// Erases a free sector and programs a block into it, with a changed part. Answers false if the sector proves worn;
  /// the block is where it was then.
  private func put(
    _ block: Int, _ changed: Range<Int>, _ bytes: UnsafeRawBufferPointer?, into sector: Int
  ) throws(StoreError) -> Bool {
    erasures[sector] = erasures[sector].addingReportingOverflow(1).overflow ? .max : erasures[sector] + 1
    mostErasures = max(mostErasures, erasures[sector])
    guard chip.erase(sector) else { return giveUp(sector) }
    var offset = 0
    while offset < contentBytes {
      // Up to the end of a page.
      let n = Self.page - (FlashSectorHeader.size + offset) % Self.page
      let part = UnsafeMutableRawBufferPointer(rebasing: pageBuffer[..<n])
      if !(changed.lowerBound <= offset && changed.upperBound >= offset + n) { try read(block, offset, into: part) }
      let overlap = changed.clamped(to: offset..<offset + n)
      if !overlap.isEmpty {
        let target = UnsafeMutableRawBufferPointer(
          rebasing: part[overlap.lowerBound - offset..<overlap.upperBound - offset])
        if let bytes {
          let from = overlap.lowerBound - changed.lowerBound
          target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[from..<from + overlap.count]))
        } else {
          target.initializeMemory(as: UInt8.self, repeating: 0)
        }
      }
      guard program(sector, FlashSectorHeader.size + offset, UnsafeRawBufferPointer(part)) else {
        return giveUp(sector)
      }
      offset += n
    }
    let header = UnsafeMutableRawBufferPointer(rebasing: pageBuffer[..<FlashSectorHeader.size])
    guard let start = header.baseAddress else { return false }
    FlashSectorHeader(block: UInt32(block), number: number, erasures: erasures[sector]).write(to: start)
    number += 1
    guard program(sector, 0, UnsafeRawBufferPointer(header)) else { return giveUp(sector) }
    if sectors[block] != Self.none { blocks[Int(sectors[block])] = Self.none }
    sectors[block] = Int32(sector)
    blocks[sector] = Int32(block)
    return true
  }

  /// Programs bytes and reads them back.
  private func program(_ sector: Int, _ offset: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    let back = UnsafeMutableRawBufferPointer(rebasing: readBack[..<bytes.count])
    guard chip.program(sector, at: offset, bytes), chip.read(sector, at: offset, into: back) else { return false }
    return compareBytes(bytes.start, bytes.count, UnsafeRawBufferPointer(back).start, back.count) == 0
  }

  /// Leaves a sector alone from now on. Answers false.
  private func giveUp(_ sector: Int) -> Bool {
    blocks[sector] = Self.worn
    return false
  }
}
