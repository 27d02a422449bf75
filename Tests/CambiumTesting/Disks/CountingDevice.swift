import CambiumKernel

/// Passes everything on to another device, and counts.
public final class CountingDevice: StorageDevice {
  /// How often each operation was called, failed calls included, and how many bytes were asked for or given.
  public struct Counts: Equatable, Sendable {
    /// Calls of `read`.
    public var reads = 0
    /// Bytes that they returned.
    public var readBytes: UInt64 = 0
    /// Calls of `write`.
    public var writes = 0
    /// Bytes that they were given.
    public var writtenBytes: UInt64 = 0
    /// Calls of `sync`.
    public var syncs = 0
    /// Calls of `resize`.
    public var resizes = 0
    /// Calls of `fileState`.
    public var fileLooks = 0

    /// Nothing counted.
    public init() {}
  }

  private struct State {
    var counts = Counts()
    var writes: [Range<UInt64>] = []
    var longest: UInt64 = 0
  }

  /// The device behind.
  public let base: any StorageDevice
  private let state = Locked(State())

  /// Counts what passes to `base`.
  public init(_ base: any StorageDevice) { self.base = base }

  /// What was counted since the start or the last ``reset()``.
  public var counts: Counts { state.withLock { $0.counts } }

  /// The ranges written, in order.
  public var writes: [Range<UInt64>] { state.withLock { $0.writes } }

  /// The longest that the file was made.
  public var longest: UInt64 { state.withLock { $0.longest } }

  /// Starts counting from nothing.
  public func reset() { state.withLock { $0 = State() } }

  /// The size in bytes, as `StorageDevice` has it.
  public func size() throws(StoreError) -> UInt64 { try base.size() }

  /// Reads, as `StorageDevice` has it.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    state.withLock { $0.counts.reads += 1 }
    let count = try base.read(at: offset, into: buffer)
    state.withLock { $0.counts.readBytes += UInt64(count) }
    return count
  }

  /// Writes, as `StorageDevice` has it.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    state.withLock { state in
      state.counts.writes += 1
      state.counts.writtenBytes += UInt64(bytes.count)
      state.writes.append(offset..<offset + UInt64(bytes.count))
    }
    try base.write(bytes, at: offset)
  }

  /// Syncs, as `StorageDevice` has it.
  public func sync() throws(StoreError) {
    state.withLock { $0.counts.syncs += 1 }
    try base.sync()
  }

  /// Returns the state of the file behind.
  public func fileState() -> DeviceFileState? {
    state.withLock { $0.counts.fileLooks += 1 }
    return base.fileState()
  }

  /// Resizes, as `StorageDevice` has it.
  public func resize(to size: UInt64) throws(StoreError) {
    state.withLock { state in
      state.counts.resizes += 1
      state.longest = max(state.longest, size)
    }
    try base.resize(to: size)
  }

  /// The locks of the device behind.
  public var locks: (any StoreLocks)? { base.locks }

  /// Closes the device behind.
  public func close() { base.close() }
}
