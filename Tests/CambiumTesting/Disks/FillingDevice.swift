import CambiumKernel

/// Passes everything on to another device, until it is full: from then on nothing makes it longer, and all the rest
/// goes on working, until there is room again.
public final class FillingDevice: StorageDevice {
  private struct State {
    var growths = 0
    var fullAt: Int?
    var refusals = 0
  }

  /// The device behind.
  public let base: any StorageDevice
  private let state: Locked<State>

  /// - Parameter fullAt: The number of the first write or resize past the end that is refused, counted from 0; `nil`:
  ///   it is not full yet.
  public init(_ base: any StorageDevice, fullAt: Int? = nil) {
    self.base = base
    state = Locked(State(fullAt: fullAt))
  }

  /// How many operations were to make the device longer, refused ones included.
  public var growthCount: Int { state.withLock { $0.growths } }

  /// How many of them were refused.
  public var refusalCount: Int { state.withLock { $0.refusals } }

  /// From now on there is no room.
  public func fillUp() { state.withLock { $0.fullAt = 0 } }

  /// From now on there is room.
  public func makeRoom() { state.withLock { $0.fullAt = nil } }

  /// The size in bytes, as `StorageDevice` has it.
  public func size() throws(StoreError) -> UInt64 { try base.size() }

  /// Reads, as `StorageDevice` has it.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    try base.read(at: offset, into: buffer)
  }

  /// Writes, as `StorageDevice` has it; throws ``StoreError/deviceFull(bytes:)`` with nothing written where there is no
  /// room.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    try grow(to: offset &+ UInt64(bytes.count))
    try base.write(bytes, at: offset)
  }

  /// Syncs, as `StorageDevice` has it.
  public func sync() throws(StoreError) { try base.sync() }

  /// Returns the state of the file behind.
  public func fileState() -> DeviceFileState? { base.fileState() }

  /// Resizes, as `StorageDevice` has it; throws ``StoreError/deviceFull(bytes:)`` where there is no room.
  public func resize(to size: UInt64) throws(StoreError) {
    try grow(to: size)
    try base.resize(to: size)
  }

  /// Closes the device behind.
  public func close() { base.close() }

  private func grow(to end: UInt64) throws(StoreError) {
    let size = try base.size()
    if end <= size { return }
    let isRefused = state.withLock { state in
      let isRefused = state.fullAt.map { state.growths >= $0 } ?? false
      state.growths += 1
      if isRefused { state.refusals += 1 }
      return isRefused
    }
    if isRefused { throw .deviceFull(bytes: end - size) }
  }
}
