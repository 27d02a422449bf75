/// Pieces of a pass on their way to the device: the thread that merges fills them, another one writes them meanwhile.
///
/// Without another thread, or with as many waiting as there may be, whoever has a piece writes it itself. Nothing reads
/// what lies here: like what a ``SegmentWriter`` has in its buffer, it is on the device after a flush.
///
/// A write that fails is told to the next one who brings a piece or waits for all, and to everybody until the pass is
/// given up.
final class WriteBehind: @unchecked Sendable {
  // Unchecked: all of it is used with the lock held, but for the bytes of a piece, which belong to who fills or writes
  // them.

  fileprivate struct Piece {
    var bytes: UnsafeMutableRawPointer
    var count: Int
    var address: UInt64
  }

  /// The time for which a thread helps.
  final class Shift: @unchecked Sendable {
    // Unchecked: with the lock of its ``WriteBehind``.
    fileprivate var isOver = false
  }

  private let device: any StorageDevice
  private let lock: any StoreLock
  private let pieceSize: Int
  private let beginsSyncs: Bool
  /// Enough that a thread which waits for the processor once does not hold the other one up.
  private static let mostWaiting = 16

  /// In the order in which they came.
  private var waiting: [Piece] = []
  private var spare: [UnsafeMutableRawPointer] = []
  /// How many are being written.
  private var beingWritten = 0
  /// How many begin a sync: only who closes waits for these.
  private var syncsBeginning = 0
  private var helpers = 0
  private var failure: StoreError?
  private var isClosed = false
  /// What was written in turn and has not begun to be synced.
  private var written: Range<UInt64>?

  /// - Parameters:
  ///   - pieceSize: The bytes of a buffer.
  ///   - beginsSyncs: Whether there will be a sync of what is written.
  init(_ device: any StorageDevice, _ lock: any StoreLock, pieceSize: Int, beginsSyncs: Bool = true) {
    self.beginsSyncs = beginsSyncs
    self.device = device
    self.lock = lock
    self.pieceSize = pieceSize
  }

  deinit {
    for piece in waiting { piece.bytes.deallocate() }
    for bytes in spare { bytes.deallocate() }
  }

  /// Takes a full buffer, to be written at `address`, and answers another one in its place; nil if it is for the caller
  /// to write.
  func take(
    _ bytes: UnsafeMutableRawPointer, _ count: Int, at address: UInt64
  ) throws(StoreError) -> UnsafeMutableRawPointer? {
    lock.lock()
    defer { lock.unlock() }
    if let failure { throw failure }
    if helpers == 0 || waiting.count >= Self.mostWaiting { return nil }
    waiting.append(Piece(bytes: bytes, count: count, address: address))
    // Who waits is told of the first; after that somebody is awake.
    if waiting.count == 1 { lock.wakeAll() }
    return spare.popLast() ?? .allocate(byteCount: pieceSize, alignment: 64)
  }

  /// Returns when everything that was taken is written.
  func drain() throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    while !waiting.isEmpty { writeFirst() }
    while beingWritten > 0, !isPlanted(.drainDoesNotWait) { lock.wait() }
    // What is left of a megabyte is synced by who drains.
    written = nil
    dropSpare()
    if let failure { throw failure }
  }

  /// Forgets what was taken and is not written. When it returns, nothing more of it reaches the device; and nothing at
  /// all any more if it is closed.
  func discard(closing: Bool = false) {
    lock.lock()
    defer { lock.unlock() }
    if closing { isClosed = true }
    for piece in waiting { spare.append(piece.bytes) }
    waiting.removeAll(keepingCapacity: true)
    while beingWritten > 0 || (closing && syncsBeginning > 0) { lock.wait() }
    written = nil
    dropSpare()
    failure = nil
  }

  /// Begins to bring a range to the medium that was written: see `StorageDevice.beginSync`. For who does not have the
  /// turn: the device may have been given up.
  func beginSync(_ range: Range<UInt64>) {
    lock.lock()
    let isOpen = !isClosed
    if isOpen { syncsBeginning += 1 }
    lock.unlock()
    if !isOpen { return }
    device.beginSync(at: range.lowerBound, byteCount: range.count)
    lock.lock()
    syncsBeginning -= 1
    lock.unlock()
    lock.wakeAll()
  }

  /// Writes what is taken until the shift is over and nothing is left.
  func help(_ shift: Shift) {
    lock.lock()
    defer { lock.unlock() }
    helpers += 1
    while true {
      if !waiting.isEmpty {
        writeFirst()
      } else if shift.isOver {
        break
      } else {
        lock.wait()
      }
    }
    helpers -= 1
    dropSpare()
  }

  /// Gives memory back that only whoever helps has a use for.
  private func dropSpare() {
    if helpers > 0 { return }
    for bytes in spare { bytes.deallocate() }
    spare.removeAll()
  }

  /// Ends the shift of a thread.
  func end(_ shift: Shift) {
    lock.lock()
    shift.isOver = true
    lock.wakeAll()
    lock.unlock()
  }

  /// Writes the piece that came first, without the lock.
  private func writeFirst() {
    let piece = waiting.removeFirst()
    beingWritten += 1
    let mayWrite = failure == nil
    lock.unlock()
    var error: StoreError?
    // Behind a failed write nothing is worth writing: the pass will be given up.
    if mayWrite {
      do throws(StoreError) {
        try device.write(UnsafeRawBufferPointer(start: piece.bytes, count: piece.count), at: piece.address)
      } catch let failed { error = failed }
    }
    lock.lock()
    if mayWrite, error == nil, beginsSyncs, let range = noteWritten(piece) {
      lock.unlock()
      device.beginSync(at: range.lowerBound, byteCount: range.count)
      lock.lock()
    }
    if failure == nil, !isPlanted(.failedWriteBehindForgotten) { failure = error }
    beingWritten -= 1
    spare.append(piece.bytes)
    if beingWritten == 0 { lock.wakeAll() }
  }
}

extension WriteBehind {
  /// So many bytes begin to be synced together: each time costs the system a request to the device.
  private static let leastToSync: UInt64 = 1 << 20

  /// Notes a piece that is on its way to the device; answers what is to begin to be synced, if that is enough.
  private func noteWritten(_ piece: Piece) -> Range<UInt64>? {
    let range = piece.address..<piece.address + UInt64(piece.count)
    guard let before = written, before.upperBound == range.lowerBound else {
      let before = written
      written = range
      return before
    }
    let all = before.lowerBound..<range.upperBound
    written = UInt64(all.count) < Self.leastToSync ? all : nil
    return written == nil ? all : nil
  }
}

extension Store {
  /// Calls `body`, on the calling thread, while another one writes the pages that it makes, and a third makes leaves
  /// ahead of its merges, where the host and the device allow that. What was made is on the device after a flush, as
  /// ever.
  ///
  /// Worth the tens of microseconds that a thread takes for passes over megabytes.
  ///
  /// - Parameters:
  ///   - isEager: Whether the caller has the turn all the time, so that nothing matters but that it ends soon.
  ///     Otherwise `body` sets ``SegmentWriter/pace`` when that is so.
  ///   - count: How many parts of other work are done beside it, where several threads may be used, else before it.
  ///   - work: Does the part of a number below `count`, on any thread.
  func writingBehind<Value>(
    isEager: Bool = true, beside count: Int = 0, _ work: @escaping @Sendable (Int) -> Void = { _ in },
    body: @escaping () throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    if isEager { pageWriter.pace = .eager }
    defer { if isEager { pageWriter.pace = .even } }
    let behind = pageWriter.behind
    if behind == nil, threadCount == 1 || count == 0 {
      for part in 0..<count { work(part) }
      return try body()
    }
    let ahead = ahead
    // What is done beside has the processors that are left.
    let helpers = behind == nil ? 0 : ahead == nil || count > 0 ? 1 : 2
    let shift = WriteBehind.Shift()
    let shiftAhead = helpers == 2 ? ahead?.makeShift() : nil
    // Called once, on the calling thread, which alone looks at the outcome. Neither outlives the call.
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var outcome: Result<Value, StoreError>?
    environment.runConcurrently(1 + helpers + count) { (thread) in
      if thread > helpers { return work(thread - helpers - 1) }
      if thread == 2 {
        if let shiftAhead { ahead?.help(shiftAhead) }
        return
      }
      if thread > 0 {
        behind?.help(shift)
        return
      }
      do throws(StoreError) { outcome = .success(try body()) } catch { outcome = .failure(error) }
      behind?.end(shift)
      if let shiftAhead { ahead?.end(shiftAhead) }
    }
    guard let outcome else { throw .misuse("the host did not call the work that it was given") }
    return try outcome.get()
  }
}
