import CambiumKernel

/// A disk in memory that remembers everything done to it, in order, and knows what of it a power cut would have spared.
///
/// **Operations** are writes, resizes and syncs; reads are not. A *point* `k` is the instant after the first `k` of
/// them.
///
/// **Durable** at a point are the writes and resizes made before some sync *began* that had *returned* by then.
/// Everything else is *volatile*: a power cut at that point may keep it, lose it, or keep parts; see
/// ``crashImages(at:limit:tearing:seed:)``. A killed process loses nothing; see ``killed(at:partialBytes:)``.
///
/// **A sync that fails** (``failSyncs(_:error:)``) does what Linux does: the writes before it read back as written, but
/// count as clean from then on, so that no later sync makes them durable. A later crash may keep or lose them.
///
/// Thread-safe. Memory: all bytes ever written.
public final class SimulatedDisk: StorageDevice {
  enum Effect: Sendable {
    case write(at: Int, bytes: [UInt8], grows: Bool)
    case resize(to: Int)
    /// `begun`: how many operations there were when it began.
    case sync(begun: Int, failed: Bool)
  }

  struct Operation: Sendable {
    var effect: Effect
    /// The sync that made it durable.
    var durableAt = Int.max
    /// The failed sync after which it counts as clean without being durable.
    var cleanedAt = Int.max

    var isSync: Bool { if case .sync = effect { true } else { false } }
  }

  struct State: Sendable {
    /// What was there, durably, before the first operation.
    var initial: [UInt8]
    var log: [Operation] = []
    /// What a read sees.
    var content: [UInt8]
    /// Operations that the next successful sync makes durable.
    var dirty: [Int] = []
    /// The first `basePosition` operations applied to `initial`, kept from one crash point to the next.
    var base: DiskImage
    var basePosition = 0
    var failingSyncs = 0
    var syncError: StoreError?
    var duringSync: (@Sendable () -> Void)?

    init(_ bytes: [UInt8]) {
      initial = bytes
      content = bytes
      base = DiskImage(bytes)
    }
  }

  let state: Locked<State>

  /// A disk that durably holds `bytes`.
  public init(_ bytes: [UInt8] = []) { state = Locked(State(bytes)) }

  /// The disk that a machine finds after a power cut.
  public convenience init(image: CrashImage) { self.init(image.bytes) }

  init(state: State) { self.state = Locked(state) }

  // MARK: - The device

  /// The size in bytes, as `StorageDevice` has it.
  public func size() throws(StoreError) -> UInt64 { state.withLock { UInt64($0.content.count) } }

  /// Reads, as `StorageDevice` has it.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    // An address that travels into the lock's closure; the closure has returned before this does.
    nonisolated(unsafe) let buffer = buffer
    return state.withLock { state in
      guard let start = Int(exactly: offset), start < state.content.count else { return 0 }
      let count = min(buffer.count, state.content.count - start)
      state.content.withUnsafeBytes {
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count]))
      }
      return count
    }
  }

  /// Writes, as `StorageDevice` has it.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    if bytes.count == 0 { return }
    let copy = [UInt8](bytes)
    guard let start = Int(exactly: offset), start <= Int.max - copy.count else {
      throw .device(operation: .write, offset: offset, code: ioErrorCode)
    }
    state.withLock { state in
      let grows = start + copy.count > state.content.count
      state.append(.write(at: start, bytes: copy, grows: grows))
    }
  }

  /// Syncs, as `StorageDevice` has it.
  public func sync() throws(StoreError) {
    let (begun, hook) = state.withLock { ($0.log.count, $0.duringSync) }
    hook?()
    let failure: StoreError? = state.withLock { state in
      let failed = state.failingSyncs > 0
      if failed { state.failingSyncs -= 1 }
      state.append(.sync(begun: begun, failed: failed))
      return failed ? state.syncError : nil
    }
    if let failure { throw failure }
  }

  /// Returns the length. The disk keeps its name.
  public func fileState() -> DeviceFileState? {
    DeviceFileState(sizeBytes: state.withLock { UInt64($0.content.count) }, isDeleted: false)
  }

  /// Resizes, as `StorageDevice` has it.
  public func resize(to size: UInt64) throws(StoreError) {
    guard let size = Int(exactly: size) else { throw .device(operation: .resize, offset: size, code: ioErrorCode) }
    state.withLock { state in
      if size != state.content.count { state.append(.resize(to: size)) }
    }
  }

  /// Does nothing: what was done before stays in the log, and the disk may be used again.
  public func close() {}

  // MARK: - What a test asks and sets

  /// How many operations there were. Points run from 0 up to and including this.
  public var operationCount: Int { state.withLock { $0.log.count } }

  /// What a read of everything would give.
  public var contents: [UInt8] { state.withLock { $0.content } }

  /// The operations in words, one a line: for the message of a failed test.
  public var story: [String] { state.withLock { $0.log.enumerated().map { "\($0): \($1.effect.text)" } } }

  /// Lets the next `count` syncs fail, by default with an I/O error.
  public func failSyncs(_ count: Int = 1, error: StoreError? = nil) {
    state.withLock { state in
      state.failingSyncs = count
      state.syncError = error ?? .device(operation: .sync, offset: 0, code: ioErrorCode)
    }
  }

  /// Calls a closure in the middle of each sync, after it began and before it returns. What the closure writes is not
  /// covered by that sync.
  public func duringSync(_ hook: (@Sendable () -> Void)?) { state.withLock { $0.duringSync = hook } }

  /// How many writes and resizes are volatile at a point. If none is, a crash there has one image only.
  public func volatileOperationCount(at point: Int) -> Int {
    state.withLock { state in
      state.log.prefix(point).count { !$0.isSync && $0.durableAt >= point }
    }
  }

  /// The disk that the next process finds when this one is killed at a point: everything written until then is there,
  /// durable or not, and the log goes on. So a power cut of the returned disk may still lose what this one never
  /// synced. This disk is left as it is.
  ///
  /// - Parameters:
  ///   - point: After how many operations; `nil` for now.
  ///   - partialBytes: If the operation at `point` is a write, so many bytes of it are written as well: the kill hit in
  ///     the middle of it.
  public func killed(at point: Int? = nil, partialBytes: Int = 0) -> SimulatedDisk {
    SimulatedDisk(
      state: state.withLock { state in
        let point = min(point ?? state.log.count, state.log.count)
        var next = State(state.initial)
        for var operation in state.log.prefix(point) {
          if operation.durableAt >= point { operation.durableAt = .max }
          if operation.cleanedAt >= point { operation.cleanedAt = .max }
          next.content.apply(operation.effect)
          next.log.append(operation)
        }
        next.dirty = next.log.indices.filter {
          !next.log[$0].isSync && next.log[$0].durableAt == .max && next.log[$0].cleanedAt == .max
        }
        if partialBytes > 0, point < state.log.count, case .write(let start, let bytes, _) = state.log[point].effect {
          let part = [UInt8](bytes.prefix(partialBytes))
          next.append(.write(at: start, bytes: part, grows: start + part.count > next.content.count))
        }
        return next
      })
  }
}

extension SimulatedDisk.State {
  /// Does an operation and logs it.
  mutating func append(_ effect: SimulatedDisk.Effect) {
    let index = log.count
    content.apply(effect)
    log.append(SimulatedDisk.Operation(effect: effect))
    guard case .sync(let begun, let failed) = effect else {
      dirty.append(index)
      return
    }
    for covered in dirty where covered < begun {
      if failed { log[covered].cleanedAt = index } else { log[covered].durableAt = index }
    }
    dirty.removeAll { $0 < begun }
  }

  /// The image after the first `position` operations, all of them applied.
  mutating func base(at position: Int) -> DiskImage {
    if position < basePosition {
      base = DiskImage(initial)
      basePosition = 0
    }
    while basePosition < position {
      base.apply(log[basePosition].effect)
      basePosition += 1
    }
    // So that each image made from it need not hash all pages.
    _ = base.hash()
    return base
  }
}

extension SimulatedDisk.Effect {
  var text: String {
    switch self {
    case .write(let start, let bytes, let grows): "write \(start)..<\(start + bytes.count)\(grows ? ", growing" : "")"
    case .resize(let size): "resize to \(size)"
    case .sync(let begun, let failed): "sync of operations before \(begun)\(failed ? ", failed" : "")"
    }
  }
}

extension DiskImage {
  mutating func apply(_ effect: SimulatedDisk.Effect) {
    switch effect {
    case .write(let start, let bytes, _): write(bytes, 0..<bytes.count, at: start)
    case .resize(let size): resize(to: size)
    case .sync: break
    }
  }
}

extension [UInt8] {
  fileprivate mutating func apply(_ effect: SimulatedDisk.Effect) {
    switch effect {
    case .write(let start, let bytes, _):
      if start + bytes.count > count { appendZeros(start + bytes.count - count) }
      withUnsafeMutableBytes {
        let place = UnsafeMutableRawBufferPointer(rebasing: $0[start..<start + bytes.count])
        bytes.withUnsafeBytes { place.copyMemory(from: $0) }
      }
    case .resize(let size):
      if size > count { appendZeros(size - count) } else { removeLast(count - size) }
    case .sync: break
    }
  }
}
