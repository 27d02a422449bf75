import CambiumKernel

/// Passes everything on to another device, until a planned fault is due.
///
/// Operations are counted from 0, since the device was made or ``reset()``: over all kinds, and per kind. A test that
/// wants to fail each operation of a workload in turn runs it once without a fault, reads ``operationCount``, and then
/// once per number.
public final class FaultDevice: StorageDevice {
  /// The kinds of operation that can fail.
  public enum Kind: Int, CaseIterable, Sendable {
    case read, write, sync, resize, size
  }

  /// A fault: when, what, and for how long.
  public struct Fault: Sendable {
    /// Counts operations of this kind only; `nil` counts all.
    public var kind: Kind?
    /// The number of the operation that fails, counted from 0.
    public var index: Int
    /// What it throws. `nil`: an I/O error of that operation.
    public var error: StoreError?
    /// Whether every operation after it, of any kind, fails too.
    public var forGood: Bool
    /// If the operation is a write: how many bytes reach the device before it fails.
    public var writtenBytes: Int

    /// Plans a fault; see its properties.
    public init(
      _ kind: Kind? = nil, at index: Int, error: StoreError? = nil, forGood: Bool = false, writtenBytes: Int = 0
    ) {
      self.kind = kind
      self.index = index
      self.error = error
      self.forGood = forGood
      self.writtenBytes = writtenBytes
    }
  }

  private struct State {
    var total = 0
    var counts = [Int](repeating: 0, count: Kind.allCases.count)
    var faults: [Fault] = []
    var broken: Fault?
    var failures = 0
  }

  /// The device behind.
  public let base: any StorageDevice
  private let state = Locked(State())

  /// Passes to `base` all but what meets one of `faults`.
  public init(_ base: any StorageDevice, _ faults: Fault...) {
    self.base = base
    state.withLock { $0.faults = faults }
  }

  /// Plans one more fault. Its number counts from the same start as the others'.
  public func plan(_ fault: Fault) { state.withLock { $0.faults.append(fault) } }

  /// Forgets all faults, those that hold for good included, and counts from 0 again.
  public func reset() { state.withLock { $0 = State() } }

  /// How many operations were asked for, failed ones included.
  public var operationCount: Int { state.withLock { $0.total } }

  /// The same, of one kind.
  public func operationCount(of kind: Kind) -> Int { state.withLock { $0.counts[kind.rawValue] } }

  /// How many operations failed by plan.
  public var failureCount: Int { state.withLock { $0.failures } }

  /// The size in bytes, as `StorageDevice` has it.
  public func size() throws(StoreError) -> UInt64 {
    if let fault = due(.size) { throw fault.error ?? failure(.size, 0) }
    return try base.size()
  }

  /// Reads, as `StorageDevice` has it.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    if let fault = due(.read) { throw fault.error ?? failure(.read, offset) }
    return try base.read(at: offset, into: buffer)
  }

  /// Writes, as `StorageDevice` has it.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    guard let fault = due(.write) else { return try base.write(bytes, at: offset) }
    let count = min(fault.writtenBytes, bytes.count)
    if count > 0 { try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: offset) }
    throw fault.error ?? failure(.write, offset)
  }

  /// Syncs, as `StorageDevice` has it.
  public func sync() throws(StoreError) {
    if let fault = due(.sync) { throw fault.error ?? failure(.sync, 0) }
    try base.sync()
  }

  /// Returns the state of the file behind.
  public func fileState() -> DeviceFileState? { base.fileState() }

  /// Resizes, as `StorageDevice` has it.
  public func resize(to size: UInt64) throws(StoreError) {
    if let fault = due(.resize) { throw fault.error ?? failure(.resize, size) }
    try base.resize(to: size)
  }

  /// Closes the device behind.
  public func close() { base.close() }

  private func failure(_ operation: DeviceOperation, _ offset: UInt64) -> StoreError {
    .device(operation: operation, offset: offset, code: ioErrorCode)
  }

  /// Counts an operation and returns the fault that it meets, if any.
  private func due(_ kind: Kind) -> Fault? {
    state.withLock { state in
      let total = state.total
      let count = state.counts[kind.rawValue]
      state.total += 1
      state.counts[kind.rawValue] += 1
      var met = state.broken
      // Once broken, nothing is written any more, not even in part.
      met?.writtenBytes = 0
      if met == nil {
        met = state.faults.first { $0.kind == nil ? $0.index == total : $0.kind == kind && $0.index == count }
        if let met, met.forGood { state.broken = met }
      }
      if met != nil { state.failures += 1 }
      return met
    }
  }
}

/// EIO, where there is an `errno`.
let ioErrorCode: Int32 = 5
