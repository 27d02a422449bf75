import CambiumSystem

/// The threads that run the blocks of a coordinator and its contexts.
///
/// As many blocks run at a time as there are processors. A thread that waits (for a context's lock, the turn to write,
/// a sync, or another process) does not count, and another one goes on in its place. Queues take turns: each runs one
/// block, then goes to the end of the line. Threads are started when there is work for them, and end when there was
/// none for a while.
///
/// Where no thread can be started, as on WASI, a task of the concurrency runtime runs the blocks.
final class WorkerThreads: ThreadWaiting, @unchecked Sendable {
  // `@unchecked`: everything that changes is touched with `gate` held only.
  private let gate = ThreadGate()
  /// The queues that have work and wait for their turn.
  private var ready = Line()
  /// How many blocks run and do not wait.
  private var running = 0
  /// How many threads wait for work.
  private var idle = 0
  /// How many threads there are.
  private var count = 0
  private let mostRunning: Int
  /// How many milliseconds a thread waits for work before it ends.
  private let patience: Int
  private var threadLimit: Int
  let watch: BlockWatch

  /// - Parameters:
  ///   - mostRunning: How many blocks run at a time.
  ///   - mostThreads: How many threads there are at most, those that wait included.
  ///   - patience: How many milliseconds a thread waits for work before it ends.
  ///   - stall: After how many milliseconds the log tells of a block that has not begun.
  init(
    mostRunning: Int = SystemEnvironment().processorCount(), mostThreads: Int = 64, patience: Int = 2_000,
    stall: Int = 5_000
  ) {
    self.mostRunning = max(1, mostRunning)
    threadLimit = max(1, mostThreads)
    self.patience = patience
    watch = BlockWatch(milliseconds: stall)
  }

  /// How many threads there are at the moment.
  var threadCount: Int {
    gate.lock()
    defer { gate.unlock() }
    return count
  }

  /// How many threads there are at most, those that wait included. Those that are there already stay until they have no
  /// work.
  var mostThreads: Int {
    get {
      gate.lock()
      defer { gate.unlock() }
      return threadLimit
    }
    set {
      gate.lock()
      threadLimit = max(1, newValue)
      gate.unlock()
    }
  }

  /// Has a queue's work run when its turn comes.
  func add(_ queue: WorkQueue) {
    gate.lock()
    ready.append(queue)
    unlockCallingThread()
  }

  /// Runs a block when its turn comes.
  func run(_ block: @escaping @Sendable () -> Void) { WorkQueue(ContextLock(), self).start(block) }

  // MARK: Threads

  /// Gives the gate up, and wakes or starts a thread if there is work for one more.
  private func unlockCallingThread() {
    let isNeeded = !ready.isEmpty && running < mostRunning
    if isNeeded, idle > 0 {
      // Woken while the gate was held, it would wait for the gate next.
      gate.unlock()
      return gate.wakeOne()
    }
    if isNeeded, count < threadLimit { startThread() }
    gate.unlock()
  }

  private func startThread() {
    count += 1
    if gate.startThread({ self.work() }) { return }
    count -= 1
    // The threads that there are come to it. If there is none, the runtime has one.
    if count > 0 { return }
    count = 1
    Task.detached { self.work() }
  }

  private func work() {
    SystemEnvironment.tellWaits(to: self)
    defer { SystemEnvironment.tellWaits(to: nil) }
    gate.lock()
    while true {
      if running < mostRunning, let queue = ready.takeFirst() {
        running += 1
        // add(_:) may have woken this thread for the next queue, too, so call another one.
        unlockCallingThread()
        let hasMore = queue.runNext()
        gate.lock()
        running -= 1
        if hasMore { ready.append(queue) }
        continue
      }
      idle += 1
      let isCalled = gate.wait(milliseconds: patience)
      idle -= 1
      if isCalled || !ready.isEmpty && running < mostRunning { continue }
      count -= 1
      return gate.unlock()
    }
  }

  override func threadWillWait() {
    gate.lock()
    running -= 1
    unlockCallingThread()
  }

  override func threadDidWait() {
    // It has waited, perhaps with a lock that others want, and goes on at once, even if as many others run as may.
    gate.lock()
    running += 1
    gate.unlock()
  }

  /// Queues, the first one that came in front.
  private struct Line {
    private var queues: [WorkQueue?] = []
    private var first = 0

    var isEmpty: Bool { first == queues.count }

    mutating func append(_ queue: WorkQueue) { queues.append(queue) }

    mutating func takeFirst() -> WorkQueue? {
      if isEmpty { return nil }
      let queue = queues[first]
      queues[first] = nil
      first += 1
      // What was taken is dropped when it is half of all.
      if first * 2 >= queues.count {
        queues.removeFirst(first)
        first = 0
      }
      return queue
    }
  }
}
