/// The length of the one file on a device of fixed size, and the most that it may become.
struct FileExtent {
  /// The bytes that the device has room for.
  let capacity: UInt64

  /// The bytes of the file. At first it takes the whole device.
  var length: UInt64

  init(capacity: UInt64) {
    self.capacity = capacity
    length = capacity
  }

  /// How many of `count` bytes from `offset` on the file has.
  func readable(_ count: Int, at offset: UInt64) -> Int {
    offset < length ? Int(min(UInt64(count), length - offset)) : 0
  }

  /// Where `count` bytes written at `offset` end.
  ///
  /// - Throws: ``StoreError/deviceFull(bytes:)`` if the device has no room for all of them.
  func end(of count: Int, at offset: UInt64) throws(StoreError) -> UInt64 {
    let (end, overflow) = offset.addingReportingOverflow(UInt64(count))
    if overflow { throw .deviceFull(bytes: .max) }
    try requireRoom(for: end)
    return end
  }

  /// Checks that the file may become `size` bytes long.
  ///
  /// - Throws: ``StoreError/deviceFull(bytes:)`` if the device has no room for them.
  func requireRoom(for size: UInt64) throws(StoreError) {
    if size > capacity { throw .deviceFull(bytes: size - capacity) }
  }
}
