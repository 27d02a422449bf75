import CambiumKernel

/// A simulated disk that several processes have open, with the locks by which they agree. A process is a
/// ``SharedHandle``; it may be killed at any of its calls.
public final class SharedDisk: Sendable {
  struct Lock {
    var owner: Int
    var kind: StoreLockKind
    var range: Range<UInt64>
  }

  struct State {
    var locks: [Lock] = []
    var handles = 0
    var failedSyncs = 0
  }

  /// What is behind.
  public let disk: SimulatedDisk
  let state = Locked(State())

  /// Shares a disk.
  public init(_ disk: SimulatedDisk = SimulatedDisk()) { self.disk = disk }

  /// Opens the disk, as another process.
  public func open() -> SharedHandle {
    let (owner, failures) = state.withLock { state in
      state.handles += 1
      return (state.handles, state.failedSyncs)
    }
    return SharedHandle(self, owner: owner, failures: failures)
  }

  /// Locks that anyone holds: none when all processes have ended.
  public var lockCount: Int { state.withLock { $0.locks.count } }
}

/// A disk as one process has it open.
///
/// A sync that fails is told once to each process that has the disk open then, as Linux does.
public final class SharedHandle: StorageDevice, StoreLocks {
  private struct Process {
    var isDead = false
    var callsLeft = Int.max
    var partialBytes = 0
    var seenFailures: Int
    var hook: (@Sendable () -> Void)?
    var readHook: (@Sendable (UInt64) -> Void)?
    var isLockTestRefused: (@Sendable (Range<UInt64>) -> Bool)?
    var lockTests = 0
  }

  let shared: SharedDisk
  private let owner: Int
  private let process: Locked<Process>

  init(_ shared: SharedDisk, owner: Int, failures: Int) {
    self.shared = shared
    self.owner = owner
    process = Locked(Process(seenFailures: failures))
  }

  /// Kills the process at one of its next calls that change anything or concern a lock: of a write, `partialBytes` are
  /// still done, other calls are not.
  public func kill(afterCalls count: Int, partialBytes: Int = 0) {
    process.withLock {
      $0.callsLeft = count
      $0.partialBytes = partialBytes
    }
  }

  /// Kills the process now.
  public func kill() {
    process.withLock { $0.isDead = true }
    dropLocks()
  }

  /// Whether the process was killed.
  public var isDead: Bool { process.withLock { $0.isDead } }

  /// Calls a closure before each call that changes anything: what other processes do meanwhile.
  public func beforeChanges(_ hook: (@Sendable () -> Void)?) { process.withLock { $0.hook = hook } }

  /// Calls a closure before each read, with its offset: what other processes do meanwhile.
  public func beforeReads(_ hook: (@Sendable (UInt64) -> Void)?) { process.withLock { $0.readHook = hook } }

  /// Lets lock tests fail where the closure says so, given the range that is asked about.
  public func refuseLockTests(where isRefused: (@Sendable (Range<UInt64>) -> Bool)?) {
    process.withLock { $0.isLockTestRefused = isRefused }
  }

  /// How often the process has asked for locks of others.
  public var lockTestCount: Int { process.withLock { $0.lockTests } }

  private static let dead = StoreError.device(operation: .close, offset: 0, code: ioErrorCode)

  private func dropLocks() { shared.state.withLock { $0.locks.removeAll { $0.owner == owner } } }

  /// Counts a call; answers how many bytes of a write are still done if the process is killed by it.
  private func call() throws(StoreError) -> Int? {
    let (isDead, isLast, partial, hook) = process.withLock { process in
      if process.isDead { return (true, false, 0, process.hook) }
      if process.callsLeft == 0 {
        process.isDead = true
        return (false, true, process.partialBytes, process.hook)
      }
      if process.callsLeft != .max { process.callsLeft -= 1 }
      return (false, false, 0, process.hook)
    }
    if isDead { throw Self.dead }
    hook?()
    return isLast ? partial : nil
  }

  private func end() throws(StoreError) -> Never {
    dropLocks()
    throw Self.dead
  }

  // MARK: The device

  /// The size in bytes, as `StorageDevice` has it.
  public func size() throws(StoreError) -> UInt64 { try shared.disk.size() }

  /// Reads, as `StorageDevice` has it.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    let (isDead, hook) = process.withLock { ($0.isDead, $0.readHook) }
    if isDead { throw Self.dead }
    hook?(offset)
    return try shared.disk.read(at: offset, into: buffer)
  }

  /// Writes, as `StorageDevice` has it.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    if let partial = try call() {
      try shared.disk.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(partial)), at: offset)
      try end()
    }
    try shared.disk.write(bytes, at: offset)
  }

  /// Syncs, as `StorageDevice` has it.
  public func sync() throws(StoreError) {
    if try call() != nil { try end() }
    do throws(StoreError) { try shared.disk.sync() } catch {
      shared.state.withLock { $0.failedSyncs += 1 }
    }
    let failures = shared.state.withLock { $0.failedSyncs }
    let isNews = process.withLock { process in
      defer { process.seenFailures = failures }
      return process.seenFailures < failures
    }
    if isNews { throw .device(operation: .sync, offset: 0, code: ioErrorCode) }
  }

  /// Returns the length of the disk, or nil if the process was killed.
  public func fileState() -> DeviceFileState? { isDead ? nil : shared.disk.fileState() }

  /// Resizes, as `StorageDevice` has it.
  public func resize(to size: UInt64) throws(StoreError) {
    if try call() != nil { try end() }
    try shared.disk.resize(to: size)
  }

  /// Ends the process.
  public func close() { kill() }

  // MARK: Locks

  /// The handle itself.
  public var locks: (any StoreLocks)? { self }

  /// Tries to lock, as `StoreLocks` has it.
  public func tryLock(_ kind: StoreLockKind, _ range: Range<UInt64>) throws(StoreError) -> Bool {
    if try call() != nil { try end() }
    return shared.state.withLock { state in
      let isRefused = state.locks.contains {
        $0.owner != owner && $0.range.overlaps(range) && ($0.kind == .exclusive || kind == .exclusive)
      }
      if isRefused { return false }
      state.drop(owner, range)
      state.locks.append(SharedDisk.Lock(owner: owner, kind: kind, range: range))
      return true
    }
  }

  /// Locks. Tests take turns on one thread: nobody else could end the waiting.
  public func waitForLock(_ range: Range<UInt64>) throws(StoreError) {
    if try !tryLock(.exclusive, range) { throw .device(operation: .lock, offset: range.lowerBound, code: 35) }
  }

  /// Locks if that is possible at once: nobody else could end the waiting.
  public func waitForLock(_ range: Range<UInt64>, atMost milliseconds: Int) throws(StoreError) -> Int? {
    try tryLock(.exclusive, range) ? milliseconds : nil
  }

  /// Unlocks, as `StoreLocks` has it.
  public func unlock(_ range: Range<UInt64>) throws(StoreError) {
    if try call() != nil { try end() }
    shared.state.withLock { $0.drop(owner, range) }
  }

  /// Looks for locks of others, as `StoreLocks` has it.
  public func othersLock(in range: Range<UInt64>) throws(StoreError) -> UInt64? {
    let (isDead, isRefused) = process.withLock { process in
      process.lockTests += 1
      return (process.isDead, process.isLockTestRefused?(range) ?? false)
    }
    if isDead { throw Self.dead }
    if isRefused { throw .device(operation: .lock, offset: range.lowerBound, code: ioErrorCode) }
    return shared.state.withLock { state in
      // The last one, which need not be the lowest.
      state.locks.last { $0.owner != owner && $0.range.overlaps(range) }.map {
        max($0.range.lowerBound, range.lowerBound)
      }
    }
  }
}

extension SharedDisk.State {
  /// Takes a range out of the locks of one owner.
  fileprivate mutating func drop(_ owner: Int, _ range: Range<UInt64>) {
    locks = locks.flatMap { lock -> [SharedDisk.Lock] in
      guard lock.owner == owner, lock.range.overlaps(range) else { return [lock] }
      var rest: [SharedDisk.Lock] = []
      for part in [
        lock.range.lowerBound..<max(lock.range.lowerBound, range.lowerBound),
        min(lock.range.upperBound, range.upperBound)..<lock.range.upperBound,
      ] where !part.isEmpty {
        rest.append(SharedDisk.Lock(owner: owner, kind: lock.kind, range: part))
      }
      return rest
    }
  }
}
