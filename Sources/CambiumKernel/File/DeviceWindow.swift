/// A part of the device that moves forward over the log, or over a segment: the bytes that were read and are still
/// looked at.
///
///     device    ... | records before | record | records to come | ...
///                                    +--------------------------+
///                                    | loaded                   |   one buffer
///                                    +--------------------------+
///
/// The buffer has the length that the options ask for, or that of the longest item, whichever is more. Bytes behind the
/// end of the device read as zeros.
final class DeviceWindow {
  private let device: any StorageDevice
  private var buffer: UnsafeMutableRawBufferPointer
  /// The addresses whose bytes the buffer holds, from its start on.
  private(set) var loaded: Range<UInt64> = 0..<0

  /// Makes a window that holds nothing yet.
  ///
  /// - Parameter bufferBytes: The length of the buffer in bytes, which is rounded down to a multiple of 64.
  init(device: any StorageDevice, bufferBytes: Int) {
    self.device = device
    buffer = .allocate(byteCount: max(64, bufferBytes & ~63), alignment: 16)
  }

  deinit { buffer.deallocate() }

  /// The bytes at `address`, as far as they are loaded.
  func loadedBytes(at address: UInt64) -> UnsafeRawBufferPointer {
    guard loaded.contains(address), let base = buffer.baseAddress else {
      return UnsafeRawBufferPointer(start: nil, count: 0)
    }
    return UnsafeRawBufferPointer(
      start: UnsafeRawPointer(base) + Int(address - loaded.lowerBound), count: Int(loaded.upperBound - address))
  }

  /// Returns `count` bytes at `address`, or more, good until the window is asked again.
  ///
  /// What is read for them goes on where the window ends, and fills the buffer. Elsewhere no more than a unit is read,
  /// because little follows where a log goes on that was closed.
  ///
  /// - Parameter limit: No byte is read from here on, unless it is asked for.
  /// - Throws: What the device throws. The window holds nothing then.
  func bytes(at address: UInt64, count: Int, limit: UInt64) throws(StoreError) -> UnsafeRawBufferPointer {
    let end = address + UInt64(count)
    if address >= loaded.lowerBound, end <= loaded.upperBound { return loadedBytes(at: address) }
    let isNear = address >= loaded.lowerBound && address <= loaded.upperBound
    // The wanted bytes that are loaded move to the front.
    let kept = isNear ? Int(loaded.upperBound - address) : 0
    if count > buffer.count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: roundUp(count, to: 16), alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: loadedBytes(at: address)[..<kept]))
      buffer.deallocate()
      buffer = larger
    } else if kept > 0, let base = buffer.baseAddress {
      base.copyMemory(from: base + Int(address - loaded.lowerBound), byteCount: kept)
    }
    let begin = address + UInt64(kept)
    let room = isNear ? buffer.count : max(count, min(buffer.count, SegmentTable.unitSize))
    let length = Int(min(address + UInt64(room), max(limit, end)) - begin)
    let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[kept..<kept + length])
    loaded = 0..<0
    try DeviceWindow.read(device, at: begin, rest)
    loaded = address..<begin + UInt64(length)
    return loadedBytes(at: address)
  }

  /// Fills `out`; behind the end of the device with zeros.
  static func read(
    _ device: any StorageDevice, at address: UInt64, _ out: UnsafeMutableRawBufferPointer
  ) throws(StoreError) {
    let got = try device.read(at: address, into: out)
    if got < out.count {
      UnsafeMutableRawBufferPointer(rebasing: out[max(0, got)...]).initializeMemory(as: UInt8.self, repeating: 0)
    }
  }
}
