/// A log segment, and the header that was found at its start.
struct LoadedLogSegment {
  let place: LogSegment
  /// The header of the segment; nil if its first bytes are not the header of a log segment of this place.
  let header: SegmentHeader?

  /// Reads the header of the segment at `place` through `window`.
  init(_ place: LogSegment, _ window: DeviceWindow, storeSeed: UInt64) throws(StoreError) {
    self.place = place
    let bytes = try window.bytes(at: place.address, count: SegmentHeader.size, limit: place.end)
    let head = UnsafeRawBufferPointer(rebasing: bytes[..<SegmentHeader.size])
    header = SegmentHeader(logSegmentIn: head, at: place, storeSeed: storeSeed)
  }

  var address: UInt64 { place.address }
  var end: UInt64 { place.end }
}

extension SegmentHeader {
  /// Reads the header of the log segment at `place`; nil if the bytes are not one.
  init?(logSegmentIn bytes: UnsafeRawBufferPointer, at place: LogSegment, storeSeed: UInt64) {
    self.init(bytes, start: place.start, storeSeed: storeSeed)
    guard Verification.logSegmentKind.holds(kind == .log), units == place.units else { return nil }
  }
}
