import CambiumKernel
import Synchronization

/// A store's file.
///
/// Reads and writes are positioned, so any number of threads share one descriptor; a call interrupted by a signal is
/// made again, and one that moved a part of the bytes goes on with the rest. `sync` waits for the medium
/// (`fdatasync`, on Darwin `F_FULLFSYNC`). After a sync that failed, one that succeeds proves nothing about what was
/// written before the first: Linux counts pages that it could not write as clean. Close the file then.
///
/// Thread rule: as `StorageDevice` says. ``close()`` waits for the calls that run; a call after it throws.
///
/// A process that forks must not use the device in the child: both would share the descriptor and its locks.
public final class FileDevice: StorageDevice {
  /// What the device may be used for.
  public enum Access: Sendable {
    /// Writes and resizes throw.
    case readOnly
    /// Nothing is refused.
    case readWrite
  }

  /// How the file is shared with other devices, in this process and in others.
  public enum Sharing: Sendable {
    /// One device that writes, or any number that only read; any other is refused with `StoreError.busy` when it opens.
    ///
    /// The operating system keeps this by an open-file-description lock, and drops it when the device is closed or
    /// the process ends. WASI has no such locks: there, keeping to one device is up to whoever opens.
    case exclusive
    /// Any number of devices, in any number of processes, that are opened so; one that is ``exclusive``, or any if one
    /// is, is refused. The stores on them take turns, by `StorageDevice.locks`.
    ///
    /// Needs locks that belong to an open file (Linux, Darwin); elsewhere opening throws `StoreError.misuse`. Not for
    /// file systems whose clients see one another's writes late (NFS).
    case shared
    /// Nothing is refused. The layer above takes ranges with ``FileDevice/tryLock(_:_:)`` as it needs.
    case cooperative
  }

  /// The byte that ``Sharing/exclusive`` locks. No data ever lies at it, or past it: locks of other purposes may.
  public static let exclusiveLockOffset: UInt64 = 1 << 62

  /// Whether this platform has the locks that ``Sharing/shared`` needs.
  public static var canShare: Bool {
    #if os(WASI) || os(Windows)
      false
    #else
      true
    #endif
  }

  /// Which file this is. See ``StoreRegistry``.
  public let identity: FileIdentity
  /// What it was opened for.
  public let access: Access

  let calls: FileCalls
  private let isShared: Bool
  /// Whether the file had a name when it was opened. Some file systems count no names, and some files never have one.
  private let hadName: Bool
  /// The descriptor, or -1 once closed: the number may belong to another file by then.
  private let descriptor: Atomic<Int>
  /// How many calls use the descriptor, which is not closed before they return: its number may be another file's right
  /// after.
  private let users = Atomic(0)
  /// Whether the device has ever locked anything.
  private let hasLocked = Atomic<Bool>(false)
  /// The process that opened the file.
  private let process = SystemEnvironment().processIdentifier()

  /// Opens the file at `path`.
  ///
  /// - Parameters:
  ///   - path: An existing regular file; a symbolic link is followed.
  ///   - access: What it is opened for.
  ///   - sharing: Who else may have it open.
  ///
  /// Throws `StoreError.busy` if `sharing` rules it out, `StoreError.notAStore` if it is no regular file, and
  /// `StoreError.device(operation: .open, ...)` if there is none or it may not be opened.
  public convenience init(
    path: String, access: Access = .readWrite, sharing: Sharing = .exclusive
  ) throws(StoreError) {
    try self.init(path: path, access: access, sharing: sharing, calls: .system)
  }

  convenience init(path: String, access: Access, sharing: Sharing, calls: FileCalls) throws(StoreError) {
    let purpose: FileCalls.Purpose = access == .readOnly ? .reading : .readingAndWriting
    let file = calls.open(try checkedPath(path), purpose)
    if file < 0 { throw .device(operation: .open, offset: 0, code: Int32(truncatingIfNeeded: -file)) }
    try self.init(file: file, access: access, calls: calls, isShared: sharing == .shared)
    // From here on `deinit` closes the file.
    if sharing == .shared, !FileDevice.canShare {
      throw .misuse("there are no locks between processes on this platform: open the store exclusively")
    }
    if sharing == .shared { try waitForMaker() }
    guard sharing == .exclusive else { return }
    // One that shares the file takes its lock first and looks at this one then, so that one of two sees the other.
    if try !tryLock(access == .readOnly ? .shared : .exclusive, StoreLockPlace.exclusiveUse) { throw .busy }
    if !isPlanted(.sharedUseUnseen), try isLockedByOther(.exclusive, StoreLockPlace.sharedUse) { throw .busy }
  }

  /// Waits a second at most while a device has the file for itself: it may be the one that makes it, which lasts until
  /// the file's name is durable. If it stays so, the store says that it is busy.
  private func waitForMaker() throws(StoreError) {
    for _ in 0..<200 {
      if try !isLockedByOther(.exclusive, StoreLockPlace.exclusiveUse) { return }
      calls.pause(5)
    }
  }

  /// Takes over an open file, and closes it if that fails.
  init(file: Int, access: Access, calls: FileCalls, isShared: Bool = false) throws(StoreError) {
    self.isShared = isShared
    var status = FileStatus()
    let result = calls.status(file, &status)
    self.calls = calls
    self.access = access
    self.identity = status.identity
    hadName = status.links > 0
    self.descriptor = Atomic(file)
    if result < 0 { throw failure(.open, 0, result) }
    if !status.isRegular { throw .notAStore }
  }

  deinit { close() }

  /// Writes are positioned, and the operating system orders them.
  public var allowsConcurrentWrites: Bool { true }

  /// The size in bytes.
  public func size() throws(StoreError) -> UInt64 { try sizeAndLinks().sizeBytes }

  /// Fills `buffer` from `offset` on and returns how many bytes there were: fewer than asked only at the end.
  public func read(at offset: UInt64, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
    guard let target = buffer.baseAddress else { return 0 }
    let file = try openFile(.read, offset)
    defer { leaveFile() }
    var done = 0
    while done < buffer.count {
      // No file reaches past the largest offset there is.
      guard let position = Int64(exactly: offset.addingReportingOverflow(UInt64(done)).partialValue) else { break }
      let result = calls.read(file, target + done, buffer.count - done, position)
      if result == 0 { break }
      if result > 0 {
        done = isPlanted(.shortReadTakenForWhole) ? buffer.count : done + result
      } else if !interrupted(result) {
        throw failure(.read, offset + UInt64(done), result)
      }
    }
    return done
  }

  /// Writes all of `bytes` at `offset`. If it throws, any part of them may have been written.
  public func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(StoreError) {
    guard bytes.count > 0, let source = bytes.baseAddress else { return }
    let file = try openFile(.write, offset)
    defer { leaveFile() }
    guard let start = Int64(exactly: offset), !start.addingReportingOverflow(Int64(bytes.count)).overflow else {
      throw .device(operation: .write, offset: offset, code: ErrorCode.tooLarge)
    }
    var done = 0
    while done < bytes.count {
      let result = calls.write(file, source + done, bytes.count - done, start + Int64(done))
      if result > 0 {
        done = isPlanted(.shortWriteTakenForWhole) ? bytes.count : done + result
      } else if result == 0 {
        // Not in the book for a regular file; asking again could go on for ever.
        throw .device(operation: .write, offset: offset + UInt64(done), code: ErrorCode.writeStalled)
      } else if !interrupted(result) {
        throw failure(.write, offset + UInt64(done), result, bytesLeft: UInt64(bytes.count - done))
      }
    }
  }

  /// Begins to write what the operating system holds of the range, on Linux.
  public func beginSync(at offset: UInt64, byteCount: Int) {
    guard byteCount > 0, let start = Int64(exactly: offset), let file = try? openFile(.sync, offset) else { return }
    defer { leaveFile() }
    _ = calls.beginSync(file, start, Int64(byteCount))
  }

  /// Waits until everything written before the call, the size included, is on the medium.
  public func sync() throws(StoreError) {
    let file = try openFile(.sync, 0)
    defer { leaveFile() }
    while true {
      let result = SystemEnvironment.waiting { calls.sync(file) }
      if result >= 0 || isPlanted(.failedSyncSwallowed) { return }
      if !interrupted(result) { throw failure(.sync, 0, result) }
    }
  }

  /// Returns the length of the file, and whether it has lost its last name since it was opened. Costs one
  /// system call that asks for no times: `statx` on Linux, `fstat` elsewhere.
  ///
  /// A renamed file keeps its name count, and so does a file that another NFS client deletes. WASI and Windows cannot
  /// tell.
  public func fileState() -> DeviceFileState? {
    #if os(WASI) || os(Windows)
      return nil
    #else
      guard let status = try? sizeAndLinks() else { return nil }
      return DeviceFileState(sizeBytes: status.sizeBytes, isDeleted: hadName && status.links == 0)
    #endif
  }

  /// Makes the file `size` bytes long. Room for what it grows by is taken at once; if there is not enough, it stays as
  /// it was.
  public func resize(to size: UInt64) throws(StoreError) {
    let file = try openFile(.resize, size)
    defer { leaveFile() }
    guard let target = Int64(exactly: size) else {
      throw .device(operation: .resize, offset: size, code: ErrorCode.tooLarge)
    }
    let old = Int64(clamping: try sizeAndLinks().sizeBytes)
    if target <= old {
      if target < old { try truncate(file, target) }
      return
    }
    do throws(StoreError) {
      try grow(file, from: old, to: target)
    } catch {
      // A reservation that failed may have taken a part. What matters more than giving it back is why it failed.
      if !isPlanted(.failedGrowthStays) { try? truncate(file, old) }
      throw error
    }
  }

  /// Waits for calls that run, gives up all locks and closes the file. Calling it again does nothing.
  public func close() {
    let file = descriptor.exchange(-1, ordering: .sequentiallyConsistent)
    if file < 0 { return }
    let isForked = process != SystemEnvironment().processIdentifier()
    // In a forked child nobody ends the calls that ran in the parent.
    while !isForked, users.load(ordering: .sequentiallyConsistent) > 0, !isPlanted(.closesUnderReaders) {
      calls.pause(1)
    }
    // Closing alone would leave them to a program that another thread is about to start: until it runs, it has a copy
    // of every descriptor, and with it the locks. A forked child must not give up what its parent has locked.
    if hasLocked.load(ordering: .relaxed), !isForked {
      _ = calls.lock(file, nil, 0, 0)
    }
    // Not again when interrupted: the descriptor is gone then, and its number may be another thread's new file.
    _ = calls.close(file)
  }

  /// Tries to lock a range of the file against other devices, without waiting. False if one of them has a lock that
  /// rules it out. Ranges may lie past the end; a device's own locks are merged, split, and change kind in place.
  ///
  /// The locks are advisory, and are dropped when the device is closed or the process ends. On WASI there are none, and
  /// the answer is always true.
  public func tryLock(_ kind: FileLockKind, _ range: Range<UInt64>) throws(StoreError) -> Bool {
    let result = try lock(kind, range)
    if result >= 0 { return true }
    if ErrorCode.meansRefused(Int32(truncatingIfNeeded: -result)) { return false }
    throw failure(.lock, range.lowerBound, result)
  }

  /// Gives up this device's locks on a range.
  public func unlock(_ range: Range<UInt64>) throws(StoreError) {
    let result = try lock(nil, range)
    if result < 0 { throw failure(.lock, range.lowerBound, result) }
  }

  /// Whether another device, of this process or another, holds a lock on a part of the range that rules out one of
  /// `kind`.
  public func isLockedByOther(_ kind: FileLockKind, _ range: Range<UInt64>) throws(StoreError) -> Bool {
    try placeOfOthersLock(kind, range) != nil
  }

  /// Where a lock of another device that rules out one of `kind` lies in the range.
  private func placeOfOthersLock(_ kind: FileLockKind, _ range: Range<UInt64>) throws(StoreError) -> UInt64? {
    let file = try openFile(.lock, range.lowerBound)
    defer { leaveFile() }
    let (start, count) = try lockRange(range)
    var found = start
    let result = calls.testLock(file, kind, start, count, &found)
    if result < 0 { throw failure(.lock, range.lowerBound, result) }
    return result > 0 ? UInt64(max(found, start)) : nil
  }

  // MARK: - Parts

  /// Its identity, size and number of names.
  func status() throws(StoreError) -> FileStatus {
    var status = FileStatus()
    let file = try openFile(.size, 0)
    defer { leaveFile() }
    let result = calls.status(file, &status)
    if result < 0 { throw failure(.size, 0, result) }
    return status
  }

  /// Its size and number of names.
  private func sizeAndLinks() throws(StoreError) -> FileStatus {
    var status = FileStatus()
    let file = try openFile(.size, 0)
    defer { leaveFile() }
    let result = calls.sizeAndLinks(file, &status)
    if result < 0 { throw failure(.size, 0, result) }
    return status
  }

  /// The descriptor, which stays open until ``leaveFile()``.
  private func openFile(_ operation: DeviceOperation, _ offset: UInt64) throws(StoreError) -> Int {
    // One of the two sees the other: this one that it is closed, or who closes that it is used.
    users.add(1, ordering: .sequentiallyConsistent)
    let file = descriptor.load(ordering: .sequentiallyConsistent)
    if file < 0 {
      leaveFile()
      throw .device(operation: operation, offset: offset, code: ErrorCode.closed)
    }
    return file
  }

  private func leaveFile() { users.subtract(1, ordering: .releasing) }

  private func interrupted(_ result: Int) -> Bool {
    ErrorCode.meansInterrupted(Int32(truncatingIfNeeded: -result)) && !isPlanted(.interruptionFails)
  }

  private func failure(
    _ operation: DeviceOperation, _ offset: UInt64, _ result: Int, bytesLeft: UInt64 = 0
  ) -> StoreError {
    let code = Int32(truncatingIfNeeded: -result)
    if ErrorCode.meansFull(code) { return .deviceFull(bytes: bytesLeft) }
    return .device(operation: operation, offset: offset, code: code)
  }

  private func lockRange(_ range: Range<UInt64>) throws(StoreError) -> (start: Int64, count: Int64) {
    // To the system, a length of zero means up to the end of all offsets.
    guard !range.isEmpty, let start = Int64(exactly: range.lowerBound), let end = Int64(exactly: range.upperBound)
    else { throw .device(operation: .lock, offset: range.lowerBound, code: ErrorCode.invalid) }
    return (start, end - start)
  }

  private func lock(_ kind: FileLockKind?, _ range: Range<UInt64>) throws(StoreError) -> Int {
    let file = try openFile(.lock, range.lowerBound)
    defer { leaveFile() }
    let (start, count) = try lockRange(range)
    while true {
      let result = calls.lock(file, kind, start, count)
      if interrupted(result) { continue }
      if kind != nil, result >= 0 { hasLocked.store(true, ordering: .relaxed) }
      return result
    }
  }

  private func truncate(_ file: Int, _ size: Int64) throws(StoreError) {
    while true {
      let result = calls.truncate(file, size)
      if result >= 0 { return }
      if !interrupted(result) { throw failure(.resize, UInt64(clamping: size), result) }
    }
  }

  private func grow(_ file: Int, from old: Int64, to new: Int64) throws(StoreError) {
    let growth = UInt64(clamping: new - old)
    while true {
      let result = calls.reserve(file, old, new - old)
      if result >= 0 { return }
      if interrupted(result) { continue }
      guard ErrorCode.meansUnsupported(Int32(truncatingIfNeeded: -result)) else {
        throw failure(.resize, UInt64(clamping: new), result, bytesLeft: growth)
      }
      break
    }
    // The file system can't set room aside, so the zeros are written.
    try truncate(file, new)
    let zeros = [UInt8](repeating: 0, count: Int(clamping: min(growth, 1 << 20)))
    var position = UInt64(clamping: old)
    while position < UInt64(clamping: new), !isPlanted(.zerosNotWritten) {
      let count = min(UInt64(zeros.count), UInt64(clamping: new) - position)
      var thrown: StoreError?
      zeros.withUnsafeBytes { bytes in
        do throws(StoreError) {
          try write(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(clamping: count))), at: position)
        } catch { thrown = error }
      }
      if let thrown { throw thrown }
      position += count
    }
  }
}

extension FileDevice: StoreLocks {
  /// The device itself, if it was opened as ``Sharing/shared``.
  public var locks: (any StoreLocks)? { isShared ? self : nil }

  /// Locks a range exclusively; waits while other devices hold locks on it.
  public func waitForLock(_ range: Range<UInt64>) throws(StoreError) {
    let file = try openFile(.lock, range.lowerBound)
    defer { leaveFile() }
    let (start, count) = try lockRange(range)
    while true {
      let result = SystemEnvironment.waiting { calls.waitForLock(file, .exclusive, start, count) }
      if result >= 0 {
        hasLocked.store(true, ordering: .relaxed)
        return
      }
      if !interrupted(result) { throw failure(.lock, range.lowerBound, result) }
    }
  }

  /// Locks a range exclusively; waits while other devices hold locks on it, for so many milliseconds at most. Answers
  /// how many are left, nil if it was not locked. There is no waiting with an end in the system: it is tried again
  /// after 1 ms, 2, 4 and so on, and then every 25.
  public func waitForLock(_ range: Range<UInt64>, atMost milliseconds: Int) throws(StoreError) -> Int? {
    let start = ContinuousClock.now
    let limit = Duration.milliseconds(max(0, min(milliseconds, Int(Int32.max))))
    var pause = 1
    while true {
      let isLocked = try tryLock(.exclusive, range)
      let left = limit - (ContinuousClock.now - start)
      let (seconds, rest) = left.components
      let leftMilliseconds = Int(clamping: seconds) * 1000 + Int(rest / 1_000_000_000_000_000)
      if isLocked { return max(0, leftMilliseconds) }
      if leftMilliseconds <= 0 { return nil }
      SystemEnvironment.waiting { calls.pause(min(pause, leftMilliseconds)) }
      pause = min(pause * 2, 25)
    }
  }

  /// Where a lock of another device lies in a range; nil if there is none.
  public func othersLock(in range: Range<UInt64>) throws(StoreError) -> UInt64? {
    range.isEmpty ? nil : try placeOfOthersLock(.exclusive, range)
  }
}
