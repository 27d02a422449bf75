import CambiumKernel

/// Passes everything on to another device, tells a hook of each write before it is made, and notes writes and shrinks
/// that touch protected bytes: what a snapshot, a retained commit, or the newest durable checkpoint still needs.
public final class RecordingDevice: StorageDevice {
  private struct State {
    var protected: [Range<UInt64>] = []
    var violations: [Range<UInt64>] = []
  }

  /// The device behind.
  public let base: any StorageDevice
  private let onWrite: @Sendable (Range<UInt64>) -> Void
  private let state = Locked(State())

  /// - Parameter onWrite: Called on the writing thread with the range of each write and of each cut, before it is made.
  public init(_ base: any StorageDevice, onWrite: @escaping @Sendable (Range<UInt64>) -> Void = { _ in }) {
    self.base = base
    self.onWrite = onWrite
  }

  /// From now on, the range must not be written or cut off.
  public func protect(_ range: Range<UInt64>) {
    if !range.isEmpty { state.withLock { $0.protected.append(range) } }
  }

  /// Ends the protection of all bytes of the range, whichever calls protected them.
  public func unprotect(_ range: Range<UInt64>) {
    state.withLock { state in
      state.protected = state.protected.flatMap { held -> [Range<UInt64>] in
        guard held.overlaps(range) else { return [held] }
        var rest: [Range<UInt64>] = []
        if held.lowerBound < range.lowerBound { rest.append(held.lowerBound..<range.lowerBound) }
        if range.upperBound < held.upperBound { rest.append(range.upperBound..<held.upperBound) }
        return rest
      }
    }
  }

  /// The parts of protected ranges that were written or cut off, in order. A test asserts that there are none.
  public var violations: [Range<UInt64>] { state.withLock { $0.violations } }

  /// The size in bytes, as `StorageDevice` has it.
  public func size() throws(StoreError) -> UInt64 { try base.size() }

  /// Reads, as `StorageDevice` has it.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    try base.read(at: offset, into: buffer)
  }

  /// Writes, as `StorageDevice` has it.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    let range = offset..<offset + UInt64(bytes.count)
    onWrite(range)
    note(range)
    try base.write(bytes, at: offset)
  }

  /// Syncs, as `StorageDevice` has it.
  public func sync() throws(StoreError) { try base.sync() }

  /// Returns the state of the file behind.
  public func fileState() -> DeviceFileState? { base.fileState() }

  /// Resizes, as `StorageDevice` has it.
  public func resize(to size: UInt64) throws(StoreError) {
    let old = try base.size()
    if size < old {
      onWrite(size..<old)
      note(size..<old)
    }
    try base.resize(to: size)
  }

  /// Closes the device behind.
  public func close() { base.close() }

  private func note(_ range: Range<UInt64>) {
    state.withLock { state in
      for held in state.protected where held.overlaps(range) { state.violations.append(held.clamped(to: range)) }
    }
  }
}
