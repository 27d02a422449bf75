/// A growable device in memory: for stores that need not outlive the process, for targets without a file system, and
/// for tests.
///
///     table    chunk 0         chunk 1         chunk 2
///     +---+    +-----------+   +-----------+   +-----------+
///     | o-+--> |           |   |           |   | used |  0 |   bytes at and past `size` are zero
///     | o-+--------------------^               ^-----------+
///     | o-+------------------------------------+
///     +---+
///
/// Growing adds chunks of 64 KiB, or of the length that it is made with, and never moves one, so it costs what it adds.
/// Reads and writes cost the bytes they copy.
///
/// Thread-safe to the degree of the lock it is made with: without one, one thread at a time may use it; with a lock of
/// the host's ``StoreEnvironment``, any number.
///
/// Closing keeps the bytes, so that a store can be opened again on the same device; they go with the last reference.
public final class MemoryDevice: StorageDevice, @unchecked Sendable {
  // `@unchecked`: `chunks` and `sizeBytes` are touched with `guardian` held only.
  private let chunkBytes: Int
  private let guardian: any StoreLock
  private var chunks: [UnsafeMutableRawPointer] = []
  private var sizeBytes = 0

  /// Whether it was made without a lock.
  public let isForOneThread: Bool

  /// The most bytes that the device holds; a write or a resize past it throws ``StoreError/deviceFull(bytes:)``.
  public let capacityBytes: UInt64

  /// Makes an empty device.
  ///
  /// - Parameters:
  ///   - capacityBytes: The most bytes it will hold. Without one it grows until the process has no memory left, which
  ///     ends the process.
  ///   - chunkBytes: By how many bytes it grows at a time, from 1,024 to 1 MiB: shorter chunks waste less memory.
  ///   - lock: Guards the device; see the type's thread rule.
  public init(capacityBytes: UInt64? = nil, chunkBytes: Int = 65_536, lock: (any StoreLock)? = nil) {
    self.chunkBytes = max(1024, min(chunkBytes, 1 << 20))
    // A chunk less than the address space, so that rounding a size up to whole chunks stays within `Int`.
    let addressable = UInt64(Int.max - self.chunkBytes)
    self.capacityBytes = min(capacityBytes ?? addressable, addressable)
    self.guardian = lock ?? SingleThreadLock()
    isForOneThread = lock == nil
  }

  /// Makes a device that holds a copy of `bytes`.
  ///
  /// - Parameters:
  ///   - bytes: The content; its length is the size of the device, even if that is more than `capacityBytes`.
  ///   - capacityBytes: The most bytes that the device will grow to.
  ///   - lock: Guards the device; see the type's thread rule.
  public convenience init(
    copying bytes: [UInt8], capacityBytes: UInt64? = nil, lock: (any StoreLock)? = nil
  ) {
    self.init(capacityBytes: capacityBytes, lock: lock)
    grow(to: bytes.count)
    bytes.withUnsafeBytes { store($0, at: 0) }
  }

  deinit {
    for chunk in chunks { chunk.deallocate() }
  }

  /// A copy of the whole content.
  public func contents() -> [UInt8] {
    guardian.lock()
    defer { guardian.unlock() }
    return [UInt8](unsafeUninitializedCapacity: sizeBytes) { buffer, count in
      load(into: UnsafeMutableRawBufferPointer(buffer), count: sizeBytes, at: 0)
      count = sizeBytes
    }
  }

  /// The size in bytes.
  public func size() throws(StoreError) -> UInt64 {
    guardian.lock()
    defer { guardian.unlock() }
    return UInt64(sizeBytes)
  }

  /// Fills `buffer` from `offset` on and returns how many bytes there were: fewer than asked only at the end.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    guard let start = Int(exactly: offset), start < sizeBytes else { return 0 }
    let count = min(buffer.count, sizeBytes - start)
    load(into: buffer, count: count, at: start)
    return count
  }

  /// Writes all of `bytes` at `offset`. Throws ``StoreError/deviceFull(bytes:)``, with nothing written, when they would
  /// end past ``capacityBytes``.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    if bytes.count == 0 { return }
    let (end, overflow) = offset.addingReportingOverflow(UInt64(bytes.count))
    if overflow { throw .deviceFull(bytes: UInt64.max) }
    if end > UInt64(sizeBytes) { grow(to: try checked(end)) }
    // `offset` is below `end`, which is in `Int` by now.
    store(bytes, at: Int(truncatingIfNeeded: offset))
  }

  /// Does nothing: memory is as durable as it gets.
  public func sync() throws(StoreError) {}

  /// Makes the device `size` bytes long. Throws ``StoreError/deviceFull(bytes:)``, with nothing changed, when that is
  /// more than ``capacityBytes``.
  public func resize(to size: UInt64) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    if size > UInt64(sizeBytes) {
      grow(to: try checked(size))
    } else {
      shrink(to: Int(truncatingIfNeeded: size))
    }
  }

  /// Does nothing: the bytes stay, and the device may be used again.
  public func close() {}

  // MARK: - With the lock held

  /// `size` as an `Int`, if the device may be that large.
  private func checked(_ size: UInt64) throws(StoreError) -> Int {
    guard size <= capacityBytes, let size = Int(exactly: size) else {
      throw .deviceFull(bytes: size - UInt64(sizeBytes))
    }
    return size
  }

  private func grow(to size: Int) {
    let count = (size + chunkBytes - 1) / chunkBytes
    while chunks.count < count {
      let chunk = UnsafeMutableRawPointer.allocate(byteCount: chunkBytes, alignment: 16)
      chunk.initializeMemory(as: UInt8.self, repeating: 0, count: chunkBytes)
      chunks.append(chunk)
    }
    sizeBytes = size
  }

  private func shrink(to size: Int) {
    let count = (size + chunkBytes - 1) / chunkBytes
    while chunks.count > count, let chunk = chunks.popLast() { chunk.deallocate() }
    // What growing again uncovers must read as zero.
    let used = size % chunkBytes
    if used > 0, let last = chunks.last {
      (last + used).initializeMemory(as: UInt8.self, repeating: 0, count: chunkBytes - used)
    }
    sizeBytes = size
  }

  /// Copies `count` bytes from `start` on into `buffer`. They must lie within the size and the buffer.
  private func load(into buffer: UnsafeMutableRawBufferPointer, count: Int, at start: Int) {
    guard count > 0, let target = buffer.baseAddress else { return }
    var done = 0
    while done < count {
      let (chunk, within) = (start + done).quotientAndRemainder(dividingBy: chunkBytes)
      let step = min(count - done, chunkBytes - within)
      (target + done).copyMemory(from: chunks[chunk] + within, byteCount: step)
      done += step
    }
  }

  /// Copies `bytes` to `start`. They must lie within the size.
  private func store(_ bytes: UnsafeRawBufferPointer, at start: Int) {
    guard let source = bytes.baseAddress else { return }
    var done = 0
    while done < bytes.count {
      let (chunk, within) = (start + done).quotientAndRemainder(dividingBy: chunkBytes)
      let step = min(bytes.count - done, chunkBytes - within)
      (chunks[chunk] + within).copyMemory(from: source + done, byteCount: step)
      done += step
    }
  }
}
