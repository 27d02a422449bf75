import CambiumTesting

@testable import CambiumKernel

/// Changes a store, with checksums that are right, in ways that no writer would.
struct Forge {
  private(set) var mender: Mender
  /// The newest superblock.
  private(set) var superblock: Superblock
  let directory: Directory
  let outcome: ScannedLog
  private let logSeed: UInt64
  private var extra: [UInt8] = []

  struct Missing: Error {}

  init(_ whole: [UInt8]) throws {
    mender = try Mender(whole)
    var options = DamageStore.options
    options.isReadOnly = true
    let device = MemoryDevice(copying: whole)
    let store = try Store.open(on: device, environment: TestEnvironment(), options: options)
    superblock = store.superblock
    directory = try Store.readDirectory(superblock, superblock.directory, superblock.directoryBytes, device).0
    logSeed = superblock.logSeed
    outcome = try ScannedLog(LogScanner(device: device, superblock: superblock))
  }

  /// The store as it is now.
  var bytes: [UInt8] { mender.bytes + extra }

  // MARK: Superblock

  /// Writes the superblock, changed, to both copies of its slot.
  mutating func superblock(_ change: (inout Superblock) -> Void) {
    change(&superblock)
    write(superblock, slot: superblock.slot)
  }

  mutating func write(_ s: Superblock, slot: Int) {
    for copy in 0..<2 {
      let offset = Superblock.offset(slot: slot, copy: copy)
      mender.overwrite(at: Int(offset), s.encoded(at: offset))
    }
  }

  // MARK: Log

  /// Changes the header of a log segment.
  mutating func segmentHeader(_ start: UInt32, _ change: (UnsafeMutableRawPointer) -> Void) {
    let at = Int(start) * SegmentTable.unitSize
    var head = Array(mender.bytes[at..<at + SegmentHeader.size])
    let seed = mender.seed
    head.withUnsafeMutableBytes { b in
      guard let p = b.baseAddress else { return }
      change(p)
      p.put(SegmentHeader.sum(UnsafeRawPointer(p), seed, start), 8)
    }
    mender.overwrite(at: at, head)
  }

  /// Changes the newest record, and gives it other operations if told to.
  mutating func lastRecord(
    operations: [UInt8]? = nil, _ change: (UnsafeMutableRawPointer) -> Void = { _ in }
  ) throws {
    guard let last = outcome.records.last else { throw Missing() }
    try record(at: Int(last.address), operations: operations, change)
  }

  /// Puts a record at a place of a log segment: the one that is there, or the newest one, changed.
  mutating func record(
    at address: Int, operations: [UInt8]? = nil, _ change: (UnsafeMutableRawPointer) -> Void
  ) throws {
    guard let last = outcome.records.last else { throw Missing() }
    let old = Int(last.address)
    var record = Array(mender.bytes[old..<old + last.header.length])
    if let operations {
      record = record[..<LogRecordHeader.size] + operations
      record.withUnsafeMutableBytes { $0.baseAddress?.put(UInt32($0.count), 4) }
    }
    let room = record.count
    let seed = logSeed
    record.withUnsafeMutableBytes { b in
      guard let p = b.baseAddress else { return }
      change(p)
      let length = Int(UnsafeRawPointer(p).u32(4))
      guard length >= 16, length <= room else { return }
      p.put(
        LogRecordHeader.sum(UnsafeRawPointer(p), length: length, seed: seed, address: UInt64(address)), 8)
    }
    mender.overwrite(at: address, record + [UInt8](repeating: 0, count: roundUp(room, to: 16) - room))
  }

  // MARK: Pages and extents

  /// Appends bytes at the end of the file; answers the address.
  mutating func append(_ new: [UInt8]) -> UInt64 {
    let address = UInt64(mender.bytes.count + extra.count)
    extra += new + [UInt8](repeating: 0, count: roundUp(new.count, to: 16) - new.count)
    return address
  }

  /// Appends a page; answers the reference to it.
  mutating func append(page: [UInt8]) -> PageRef {
    let stored = roundUp(page.count, to: 16)
    var ref = PageRef(address: append(page), length: stored, checksum: 0)
    let place = extra.count - stored
    extra.withUnsafeMutableBytes { b in
      guard let p = b.baseAddress, stored >= 8 else { return }
      ref.checksum = PageHeader.seal(
        p + place, count: stored, seed: PageRef.seed(store: mender.seed, location: ref.location))
    }
    return ref
  }

  /// Replaces bytes that occur in pages, and mends what is above.
  mutating func replace(_ old: [UInt8], with new: [UInt8], in part: Range<Int>? = nil) throws {
    guard let at = mender.find(old, in: part) else { throw Missing() }
    mender.mutate(at: at, new)
    superblock = try newestSuperblock()
  }

  mutating func mutate(at offset: Int, _ new: [UInt8]) throws {
    mender.mutate(at: offset, new)
    superblock = try newestSuperblock()
  }

  private func newestSuperblock() throws -> Superblock {
    let offset = Superblock.offset(slot: superblock.slot, copy: 0)
    let copy = mender.bytes[Int(offset)..<Int(offset) + Superblock.copySize]
    guard
      case .valid(let s) = Array(copy).withUnsafeBytes({ Superblock.decode($0, at: offset, readOnly: true) })
    else { throw Missing() }
    return s
  }

  static func bytes(_ ref: PageRef) -> [UInt8] {
    var w = ByteWriter()
    w.u64(ref.location)
    w.u64(ref.checksum)
    return w.bytes
  }

  static func bytes(_ segment: Segment) -> [UInt8] {
    var w = ByteWriter()
    segment.write(to: &w)
    return w.bytes
  }

  static func bytes(_ value: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) } }
  static func bytes(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) } }
}

/// Reads well, and then says that it got less.
final class ShortReadingDevice: StorageDevice {
  private let device: MemoryDevice
  private let isShort: @Sendable (UInt64, Int) -> Bool

  init(_ bytes: [UInt8], _ isShort: @escaping @Sendable (UInt64, Int) -> Bool) {
    device = MemoryDevice(copying: bytes)
    self.isShort = isShort
  }

  func size() throws(StoreError) -> UInt64 { try device.size() }
  func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    let got = try device.read(at: offset, into: buffer)
    return isShort(offset, buffer.count) ? 0 : got
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    try device.write(bytes, at: offset)
  }
  func sync() throws(StoreError) { try device.sync() }
  func resize(to size: UInt64) throws(StoreError) { try device.resize(to: size) }
  func close() { device.close() }
}
