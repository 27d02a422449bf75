import CambiumKernel
import Foundation

/// Passes everything on to another device, and says that several threads may write to it at the same time: whoever
/// writes pages hands them to another thread then.
public final class ConcurrentDevice: StorageDevice {
  /// What was asked for.
  public struct Counts: Equatable, Sendable {
    /// Writes by another thread than the one that made the device.
    public var writesElsewhere = 0
    /// Calls of `beginSync`.
    public var begunSyncs = 0
    /// Calls of either after `close`.
    public var callsAfterClose = 0
  }

  private struct State {
    var counts = Counts()
    var isClosed = false
    let thread: ObjectIdentifier
  }

  /// The device behind.
  public let base: any StorageDevice
  private let state: Locked<State>
  private let delay: (@Sendable () -> Void)?

  /// - Parameter delay: Called before each write that another thread makes.
  public init(_ base: any StorageDevice, delay: (@Sendable () -> Void)? = nil) {
    self.base = base
    self.delay = delay
    state = Locked(State(thread: ObjectIdentifier(Thread.current)))
  }

  /// What was asked for so far.
  public var counts: Counts { state.withLock { $0.counts } }

  /// Yes.
  public var allowsConcurrentWrites: Bool { true }

  /// The size in bytes, as `StorageDevice` has it.
  public func size() throws(StoreError) -> UInt64 { try base.size() }

  /// Reads, as `StorageDevice` has it.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    try base.read(at: offset, into: buffer)
  }

  /// Writes, as `StorageDevice` has it.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    let thread = ObjectIdentifier(Thread.current)
    let isElsewhere = state.withLock { state in
      if state.isClosed { state.counts.callsAfterClose += 1 }
      guard thread != state.thread else { return false }
      state.counts.writesElsewhere += 1
      return true
    }
    if isElsewhere { delay?() }
    try base.write(bytes, at: offset)
  }

  /// Counts, as `StorageDevice` has it.
  public func beginSync(at offset: UInt64, byteCount: Int) {
    state.withLock { state in
      state.counts.begunSyncs += 1
      if state.isClosed { state.counts.callsAfterClose += 1 }
    }
  }

  /// Syncs, as `StorageDevice` has it.
  public func sync() throws(StoreError) { try base.sync() }

  /// Returns the state of the file behind.
  public func fileState() -> DeviceFileState? { base.fileState() }

  /// Resizes, as `StorageDevice` has it.
  public func resize(to size: UInt64) throws(StoreError) { try base.resize(to: size) }

  /// The locks of the device behind.
  public var locks: (any StoreLocks)? { base.locks }

  /// Closes the device behind.
  public func close() {
    state.withLock { $0.isClosed = true }
    base.close()
  }
}
