/// A log segment of which a scanner has read a part.
final class LoadedLogSegment {
  let place: LogSegment
  /// The header of the segment; nil if its first bytes are not the header of a log segment of this place.
  let header: SegmentHeader?
  /// Room for the whole segment, of which ``loaded`` has been read.
  let bytes: UnsafeMutableRawBufferPointer
  private(set) var loaded: Range<Int>
  private let device: any StorageDevice

  /// The number of bytes that one read takes.
  static let chunkSize = 65536

  /// Reads as much as the shortest segment has: a segment is looked into next. What lies behind the end of the device
  /// counts as zeros.
  init(_ place: LogSegment, device: any StorageDevice, storeSeed: UInt64) throws(StoreError) {
    self.place = place
    self.device = device
    let size = Int(place.units) * SegmentTable.unitSize
    bytes = .allocate(byteCount: size, alignment: 4096)
    loaded = 0..<min(size, SegmentTable.unitSize)
    let first = UnsafeMutableRawBufferPointer(rebasing: bytes[loaded])
    do throws(StoreError) {
      try Self.read(device, at: place.address, first)
    } catch {
      bytes.deallocate()
      throw error
    }
    let head = UnsafeRawBufferPointer(rebasing: first[..<SegmentHeader.size])
    header = SegmentHeader(logSegmentIn: head, at: place, storeSeed: storeSeed)
  }

  deinit { bytes.deallocate() }

  var address: UInt64 { place.address }
  var end: UInt64 { place.end }

  /// Reads these bytes, which lie within the segment. The log goes forward: what lies before them is not read for their
  /// sake, nor for that of later ones.
  func load(_ wanted: Range<Int>) throws(StoreError) {
    if wanted.lowerBound >= loaded.lowerBound, wanted.upperBound <= loaded.upperBound { return }
    var begin = loaded.upperBound
    var step = Self.chunkSize
    if wanted.lowerBound < loaded.lowerBound || wanted.lowerBound > loaded.upperBound {
      // Where a log goes on that was closed, there is little behind it as a rule.
      step = SegmentTable.unitSize
      begin = wanted.lowerBound / step * step
      loaded = begin..<begin
    }
    let end = max(begin, min(bytes.count, roundUp(wanted.upperBound, to: step)))
    try Self.read(device, at: address + UInt64(begin), UnsafeMutableRawBufferPointer(rebasing: bytes[begin..<end]))
    loaded = loaded.lowerBound..<end
  }

  /// Fills `out`; behind the end of the device with zeros.
  static func read(
    _ device: any StorageDevice, at address: UInt64, _ out: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    let got = try device.read(at: address, into: out)
    if got < out.count {
      UnsafeMutableRawBufferPointer(rebasing: out[got...]).initializeMemory(as: UInt8.self, repeating: 0)
    }
  }
}

extension SegmentHeader {
  /// Reads the header of the log segment at `place`; nil if the bytes are not one.
  init?(logSegmentIn bytes: UnsafeRawBufferPointer, at place: LogSegment, storeSeed: UInt64) {
    self.init(bytes, start: place.start, storeSeed: storeSeed)
    guard Verification.logSegmentKind.holds(kind == .log), units == place.units else { return nil }
  }
}
