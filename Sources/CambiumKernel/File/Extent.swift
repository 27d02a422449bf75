/// A piece of a large value, as the tree of extents describes it.
///
///     entry, 20 bytes:   u64 address | u32 bytes of the value in it | u64 checksum
///     stored, at a multiple of 16:   u64 key | u32 bytes | u32 zero | the bytes | zeros to a multiple of 16
///
/// The key in the tree of extents is the value's id times 2^20 plus the extent's number. The checksum covers the stored
/// bytes without the padding, seeded like a page's.
struct Extent {
  static let entrySize = 20
  static let headerSize = 16
  static let numberBits: UInt64 = 20
  static let longest = UInt32(SegmentTable.maxUnits * SegmentTable.unitSize)

  var address: UInt64
  var count: UInt32
  var checksum: UInt64

  var storedLength: Int { roundUp(Self.headerSize + Int(count), to: 16) }

  init(address: UInt64, count: UInt32, checksum: UInt64) {
    self.address = address
    self.count = count
    self.checksum = checksum
  }

  init?(_ b: UnsafeRawBufferPointer) {
    guard Verification.extentEntry.holds(b.count == Self.entrySize) else { return nil }
    address = b.start.u64(0)
    count = b.start.u32(8)
    checksum = b.start.u64(12)
    let count = count
    guard Verification.extentCount.holds(count > 0 && count <= Self.longest) else { return nil }
  }

  var encoded: [UInt8] {
    var w = ByteWriter()
    w.u64(address)
    w.u32(count)
    w.u64(checksum)
    return w.bytes
  }
}

enum Extents {
  /// The longest value: 2^20 extents of the smallest size that a large value is cut into.
  static let maxValueBytes: UInt64 = 1 << 36
  /// Identifiers of values leave room in a key for the number of an extent.
  static let highestID: UInt64 = 1 << (64 - Extent.numberBits)

  static func key(_ id: UInt64, _ number: UInt64) -> UInt64 { id &<< Extent.numberBits | number }

  static func seed(store: UInt64, address: UInt64) -> UInt64 { PageRef.seed(store: store, location: address | 1) }

  /// Cuts `value` into extents, appends them, and tells `note` each entry for the tree of extents.
  static func write(
    _ value: UnsafeRawBufferPointer, id: UInt64, to writer: SegmentWriter, space: FileSpace,
    note: (UInt64, [UInt8]) -> Void
  ) throws(StoreError) {
    // An extent is copied to be written, and read as a whole: with short buffers, extents are short as well.
    let most = min(
      SegmentTable.maxUnits * SegmentTable.unitSize - SegmentHeader.size - Extent.headerSize - 16,
      writer.longestPart)
    var offset = 0
    var number: UInt64 = 0
    var scratch: [UInt8] = []
    while offset < value.count {
      let left = value.count - offset
      // Fill what the segment under way has left, unless that is a sliver.
      let room = writer.room - Extent.headerSize - 16
      let n = room >= min(left, 65536) ? min(left, room, most) : min(left, most)
      let part = UnsafeRawBufferPointer(start: value.start + offset, count: n)
      let entry = try writeOne(part, key: key(id, number), to: writer, space: space, scratch: &scratch)
      note(key(id, number), entry)
      offset += n
      number += 1
    }
  }

  /// Appends one extent and answers its entry.
  static func writeOne(
    _ part: UnsafeRawBufferPointer, key: UInt64, to writer: SegmentWriter, space: FileSpace, scratch: inout [UInt8]
  ) throws(StoreError) -> [UInt8] {
    let used = Extent.headerSize + part.count
    let stored = roundUp(used, to: 16)
    scratch.removeAll(keepingCapacity: true)
    scratch.reserveCapacity(stored)
    for i in 0..<8 { scratch.append(UInt8(truncatingIfNeeded: key &>> UInt64(8 * i))) }
    for i in 0..<4 { scratch.append(UInt8(truncatingIfNeeded: UInt32(part.count) &>> UInt32(8 * i))) }
    scratch.append(contentsOf: [0, 0, 0, 0])
    scratch.append(contentsOf: part)
    scratch.append(contentsOf: repeatElement(0, count: stored - used))
    let wanted = UInt32((stored + SegmentHeader.size + SegmentTable.unitSize - 1) / SegmentTable.unitSize)
    let address = try scratch.withUnsafeBytesTyped { (b) throws(StoreError) in
      try writer.append(b, wantedUnits: max(wanted, space.preferredUnits))
    }
    let sum = scratch.withUnsafeBytes {
      Checksum.of(UnsafeRawBufferPointer(rebasing: $0[0..<used]), seed: seed(store: space.storeSeed, address: address))
    }
    space.retain(address, stored)
    return Extent(address: address, count: UInt32(part.count), checksum: sum).encoded
  }

  /// Reads the bytes of one extent behind `out`.
  static func read(
    _ extent: Extent, key: UInt64, device: any StorageDevice, storeSeed: UInt64, into out: inout [UInt8]
  ) throws(StoreError) {
    let used = Extent.headerSize + Int(extent.count)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: used, alignment: 16)
    defer { buffer.deallocate() }
    let place = StorePlace.extent(value: key >> Extent.numberBits)
    let got = try device.read(at: extent.address, into: buffer)
    guard Verification.extentEnd.holds(got == used) else {
      throw .corrupt(place: place, offset: extent.address, detail: "the file ends before this extent")
    }
    let bytes = UnsafeRawBufferPointer(buffer)
    let sum = Checksum.of(bytes, seed: seed(store: storeSeed, address: extent.address))
    guard Verification.extentChecksum.holds(sum == extent.checksum),
      Verification.extentKey.holds(bytes.start.u64(0) == key),
      Verification.extentLength.holds(bytes.start.u32(8) == extent.count)
    else { throw .corrupt(place: place, offset: extent.address, detail: "extent checksum does not match") }
    out.append(contentsOf: bytes[Extent.headerSize...])
  }
}
