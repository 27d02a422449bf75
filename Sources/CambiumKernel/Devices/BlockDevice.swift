/// A device on a ``BlockMedium``: for a platform that has blocks and no files.
///
///     bytes    | part of a block |  whole blocks  | part |
///              +-----------------+----------------+------+
///     blocks   | read, changed,  | written as     | read, changed, written
///              | written         | they come      |
///
/// The whole medium is the file: it is as long as the medium when it is opened. What a store cuts off and asks for
/// again is filled with zeros, which happens while the store is made. A store asks for whole units of 16 KiB, and what
/// is left of the medium behind the last one is not used.
///
/// It takes the memory of one block. Thread-safe to the degree of the lock it is made with: without one, one thread at
/// a time may use it.
public final class BlockDevice: StorageDevice, @unchecked Sendable {
  // `@unchecked`: what changes is touched with `guardian` held only.
  private let medium: any BlockMedium
  private let guardian: any StoreLock
  private let blockBytes: Int
  private let block: UnsafeMutableRawBufferPointer
  private var extent: FileExtent

  /// Whether it was made without a lock.
  public let isForOneThread: Bool

  /// The bytes that the medium has room for.
  public let capacityBytes: UInt64

  /// Makes a device on all of `medium`.
  ///
  /// - Parameter lock: Guards the device; see the type's thread rule.
  /// - Throws: ``StoreError/misuse(_:)`` if the medium's blocks have no length, or are longer than 1 MiB.
  public init(_ medium: any BlockMedium, lock: (any StoreLock)? = nil) throws(StoreError) {
    let bytes = medium.blockBytes
    guard bytes > 0, bytes <= 1 << 20 else { throw .misuse("a block has from 1 byte to 1 MiB") }
    self.medium = medium
    guardian = lock ?? SingleThreadLock()
    isForOneThread = lock == nil
    blockBytes = bytes
    let (all, overflow) = medium.blockCount.multipliedReportingOverflow(by: UInt64(bytes))
    capacityBytes = overflow ? UInt64(Int64.max) : all
    extent = FileExtent(capacity: capacityBytes)
    block = .allocate(byteCount: bytes, alignment: 16)
  }

  deinit { block.deallocate() }

  /// The device takes all of the medium.
  public var isOfFixedSize: Bool { true }

  /// The size in bytes: that of the medium, unless the store has made the file shorter since.
  public func size() throws(StoreError) -> UInt64 {
    guardian.lock()
    defer { guardian.unlock() }
    return extent.length
  }

  /// Fills `buffer` from `offset` on and returns how many bytes there were: fewer than asked only at the end.
  ///
  /// - Throws: What the medium throws.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    let count = extent.readable(buffer.count, at: offset)
    var done = 0
    while done < count {
      let (number, within) = (offset + UInt64(done)).quotientAndRemainder(dividingBy: UInt64(blockBytes))
      let left = count - done
      let skip = Int(within)
      if skip == 0, left >= blockBytes {
        let whole = left / blockBytes * blockBytes
        try medium.read(from: number, into: UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + whole]))
        done += whole
      } else {
        let n = min(left, blockBytes - skip)
        try medium.read(from: number, into: block)
        UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + n])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: block[skip..<skip + n]))
        done += n
      }
    }
    return count
  }

  /// Writes all of `bytes` at `offset`.
  ///
  /// - Throws: ``StoreError/deviceFull(bytes:)``, with nothing written, if they would end behind the medium; what the
  ///   medium throws.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    if bytes.isEmpty { return }
    let end = try extent.end(of: bytes.count, at: offset)
    if offset > extent.length { try zero(extent.length..<offset) }
    var done = 0
    while done < bytes.count {
      let (number, within) = (offset + UInt64(done)).quotientAndRemainder(dividingBy: UInt64(blockBytes))
      let left = bytes.count - done
      let skip = Int(within)
      if skip == 0, left >= blockBytes {
        let whole = left / blockBytes * blockBytes
        try medium.write(UnsafeRawBufferPointer(rebasing: bytes[done..<done + whole]), from: number)
        done += whole
      } else {
        let n = min(left, blockBytes - skip)
        try change(number) {
          UnsafeMutableRawBufferPointer(rebasing: block[skip..<skip + n])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[done..<done + n]))
        }
        done += n
      }
    }
    extent.length = max(extent.length, end)
  }

  /// Makes everything written before the call durable.
  ///
  /// - Throws: What the medium throws.
  public func sync() throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    try medium.sync()
  }

  /// Makes the file `size` bytes long. Bytes that it gains are filled with zeros.
  ///
  /// - Throws: ``StoreError/deviceFull(bytes:)``, with nothing changed, if that is more than the medium has room for;
  ///   what the medium throws.
  public func resize(to size: UInt64) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    try extent.requireRoom(for: size)
    if size > extent.length { try zero(extent.length..<size) }
    extent.length = size
  }

  /// Does nothing: the medium is the caller's.
  public func close() {}

  // MARK: With the lock held

  /// Changes a part of a block.
  private func change(_ number: UInt64, _ body: () -> Void) throws(StoreError) {
    try medium.read(from: number, into: block)
    body()
    try medium.write(UnsafeRawBufferPointer(block), from: number)
  }

  private func zero(_ range: Range<UInt64>) throws(StoreError) {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let (number, within) = offset.quotientAndRemainder(dividingBy: UInt64(blockBytes))
      let skip = Int(within)
      let n = Int(min(range.upperBound - offset, UInt64(blockBytes - skip)))
      if n < blockBytes { try medium.read(from: number, into: block) }
      UnsafeMutableRawBufferPointer(rebasing: block[skip..<skip + n]).initializeMemory(as: UInt8.self, repeating: 0)
      try medium.write(UnsafeRawBufferPointer(block), from: number)
      offset += UInt64(n)
    }
  }
}
