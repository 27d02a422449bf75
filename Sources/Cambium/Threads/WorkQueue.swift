#if canImport(ObjectiveC)
  import ObjectiveC
#endif

/// Runs jobs of the concurrency runtime and blocks one after the other, in the order in which they came, on the threads
/// of a coordinator.
///
/// It is the serial executor of a context with a private queue. While one of its jobs or blocks runs, the thread holds
/// the context's lock, which ``ManagedObjectContext/performAndWait(_:)`` takes on other threads.
final class WorkQueue: SerialExecutor, @unchecked Sendable {
  // `@unchecked`: everything that changes is touched with `state` held only.
  private enum Work {
    case job(UnownedJob)
    case block(@Sendable () -> Void)
  }

  private let lock: ContextLock
  private let state = StateLock()
  private var threads: WorkerThreads
  /// What came and has not begun, from ``first`` on.
  private var waiting: [Work?] = []
  private var first = 0
  /// Whether the threads have the queue, or run something of it.
  private var isInLine = false
  /// How many came.
  private var count = 0
  private var label: String?

  init(_ lock: ContextLock, _ threads: WorkerThreads) {
    self.lock = lock
    self.threads = threads
  }

  /// Has other threads run what comes from now on.
  func move(to threads: WorkerThreads) { state.locked { self.threads = threads } }

  /// Runs a block behind all that came before. Its priority does not matter.
  func start(_ block: @escaping @Sendable () -> Void) { add(.block(block)) }

  func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Whether the calling thread keeps all others from running anything of the queue.
  func isIsolatingCurrentContext() -> Bool? { lock.isHeldHere }

  func checkIsolated() { precondition(lock.isHeldHere, "this is outside of the queue of the context") }

  /// What the log calls the queue.
  var name: String? {
    get { state.locked { label } }
    set { state.locked { label = newValue } }
  }

  /// How many jobs and blocks have begun.
  var begun: Int { state.locked { count - (waiting.count - first) } }

  private func add(_ work: Work) {
    let (threads, number, isFirst) = state.locked {
      waiting.append(work)
      count += 1
      defer { isInLine = true }
      return (self.threads, count, !isInLine)
    }
    if BlockCheck.isOn { threads.watch.expect(self, number: number) }
    if isFirst { threads.add(self) }
  }

  private func run(_ work: Work) {
    func runHere() {
      lock.runJob {
        switch work {
        case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
        case .block(let block): block()
        }
      }
    }
    #if canImport(ObjectiveC)
      // A thread that always has work would keep what Foundation hands out autoreleased.
      autoreleasepool { runHere() }
    #else
      runHere()
    #endif
  }

  /// Runs what came first; to be called by the threads that have the queue.
  ///
  /// - Returns: Whether there is more.
  func runNext() -> Bool {
    let work = state.locked {
      // What the block holds goes with it.
      defer {
        waiting[first] = nil
        first += 1
      }
      return waiting[first]
    }
    if let work { run(work) }
    return state.locked {
      if first == waiting.count {
        waiting.removeAll(keepingCapacity: first <= 64)
        first = 0
        isInLine = false
        return false
      }
      if first * 2 >= waiting.count {
        waiting.removeFirst(first)
        first = 0
      }
      return true
    }
  }
}
