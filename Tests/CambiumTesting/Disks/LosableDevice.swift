import CambiumKernel

/// Passes everything on to another device, which plays a file that somebody deletes or cuts while it is open.
public final class LosableDevice: StorageDevice {
  private struct State {
    var isDeleted = false
    var duringSync: (@Sendable (LosableDevice) -> Void)?
    var writes = 0
    var syncs = 0
    var looks = 0
    var growths = 0
  }

  /// The device behind.
  public let base: any StorageDevice
  private let state = Locked(State())

  /// Plays a file with the content of `base`.
  public init(_ base: any StorageDevice) { self.base = base }

  /// Takes the last name away.
  public func delete() { state.withLock { $0.isDeleted = true } }

  /// Cuts the file, as a stranger would.
  public func cut(to size: UInt64) throws(StoreError) { try base.resize(to: size) }

  /// Calls a closure in the middle of each sync.
  public func duringSyncs(_ hook: (@Sendable (LosableDevice) -> Void)?) { state.withLock { $0.duringSync = hook } }

  /// How many writes and resizes were asked for.
  public var writes: Int { state.withLock { $0.writes } }

  /// How many syncs were asked for.
  public var syncs: Int { state.withLock { $0.syncs } }

  /// How many of the resizes made it longer.
  public var growths: Int { state.withLock { $0.growths } }

  /// How often the state of the file was asked for.
  public var looks: Int { state.withLock { $0.looks } }

  /// The size in bytes, as `StorageDevice` has it.
  public func size() throws(StoreError) -> UInt64 { try base.size() }

  /// Reads, as `StorageDevice` has it.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    try base.read(at: offset, into: buffer)
  }

  /// Writes, as `StorageDevice` has it.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    state.withLock { $0.writes += 1 }
    try base.write(bytes, at: offset)
  }

  /// Syncs, as `StorageDevice` has it. A file without a name is synced like any other.
  public func sync() throws(StoreError) {
    let hook = state.withLock { state in
      state.syncs += 1
      return state.duringSync
    }
    hook?(self)
    try base.sync()
  }

  /// Returns the length, and whether the name was taken away.
  public func fileState() -> DeviceFileState? {
    let isDeleted = state.withLock { state in
      state.looks += 1
      return state.isDeleted
    }
    guard let size = try? base.size() else { return nil }
    return DeviceFileState(sizeBytes: size, isDeleted: isDeleted)
  }

  /// Resizes, as `StorageDevice` has it.
  public func resize(to size: UInt64) throws(StoreError) {
    let isGrowth = try size > base.size()
    state.withLock { state in
      state.writes += 1
      if isGrowth { state.growths += 1 }
    }
    try base.resize(to: size)
  }

  /// Closes the device behind.
  public func close() { base.close() }
}
