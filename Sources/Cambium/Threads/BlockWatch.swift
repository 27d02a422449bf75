import CambiumSystem

/// Tells of blocks that do not begin for long: ``DebugLog/Topic/stalledBlocks``. Only while that is on.
///
/// A block that waits for another one by means that Cambium does not see, such as a semaphore, keeps its thread. If all
/// threads wait so, nothing goes on, and nothing but this says why.
final class BlockWatch: @unchecked Sendable {
  // `@unchecked`: everything that changes is touched with `gate` held only.
  private struct Expected {
    weak var queue: WorkQueue?
    /// How many blocks the queue has begun when this one has.
    let number: Int
    let end: ContinuousClock.Instant
  }

  private let gate = ThreadGate()
  private var expected: [Expected] = []
  private var isWatching = false
  private let milliseconds: Int

  /// - Parameter milliseconds: How long a block may take to begin.
  init(milliseconds: Int) { self.milliseconds = milliseconds }

  /// Expects a block of a queue to begin.
  func expect(_ queue: WorkQueue, number: Int) {
    gate.lock()
    defer { gate.unlock() }
    expected.append(Expected(queue: queue, number: number, end: .now.advanced(by: .milliseconds(milliseconds))))
    if !isWatching { isWatching = gate.startThread { self.watch() } }
  }

  private func tell(of queue: WorkQueue) {
    let line =
      "a block of \(queue.name.map { "the context '\($0)'" } ?? "a context") has not begun for \(milliseconds) ms, because the blocks before "
      + "it take long or wait. A block must not wait for one behind it by a semaphore or by sync(): await that outside of the block, "
      + "or call performAndWait(_:)"
    if QueueCheck.told.isNew(line) { DebugLog.write(.stalledBlocks, line) }
  }

  private func watch() {
    gate.lock()
    while let first = expected.first {
      let left = ContinuousClock.Instant.now.duration(to: first.end)
      if left > .zero {
        _ = gate.wait(milliseconds: 1 + Int(left / .milliseconds(1)))
        continue
      }
      expected.removeFirst()
      gate.unlock()
      if let queue = first.queue, queue.begun < first.number { tell(of: queue) }
      gate.lock()
    }
    isWatching = false
    gate.unlock()
  }
}
