import CambiumKernel
import CambiumSystem
import Synchronization

/// A lock that the thread which holds it may take again.
///
/// A block that runs with it is synchronous, so that it stays on one thread, whether that thread runs a task or not.
final class ContextLock: @unchecked Sendable {
  // `@unchecked`: `depth` is touched with the lock held only.

  // The lock itself: free, held, or held while others may wait. A waiter says so with `gate` held, and whoever gives
  // the lock up and finds it said takes `gate` before waking, so that no waiter is missed between looking and waiting.
  private static var free: UInt8 { 0 }
  private static var held: UInt8 { 1 }
  private static var awaited: UInt8 { 2 }
  private let state = Atomic<UInt8>(ContextLock.free)
  private let gate: any StoreLock = SystemEnvironment().makeLock()
  /// The thread that holds the lock; 0 for none. A thread finds its own number here only if it wrote it.
  private let owner = Atomic<UInt>(0)
  private var depth = 0
  /// The depth at which the job of a queue runs that holds the lock; 0 if none does.
  private var jobDepth = 0

  /// Whether the thread that asks holds the lock.
  var isHeldHere: Bool { owner.load(ordering: .relaxed) == SystemEnvironment.currentThread() }

  /// Whether the block that runs was begun by nobody who had the lock, but for the queue that runs it. To be asked
  /// within ``run(_:)``.
  var isOutermost: Bool { depth == jobDepth + 1 }

  /// Runs `body` with the lock held.
  ///
  /// Always inlined, because it is two calls around `body`: a copy for each closure would cost more.
  @inline(__always)
  func run<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
    enter()
    defer { leave() }
    return try body()
  }

  /// Runs a job of a queue with the lock held, which nobody has on this thread. What the job runs with the lock counts
  /// as outermost.
  func runJob(_ body: () -> Void) {
    run {
      let outer = jobDepth
      jobDepth = depth
      defer { jobDepth = outer }
      body()
    }
  }

  @inline(never)
  private func enter() {
    if isHeldHere { depth += 1 } else { lock() }
  }

  @inline(never)
  private func leave() {
    if depth > 1 { depth -= 1 } else { unlock() }
  }

  /// Runs `body` with the lock held, if nobody holds it; otherwise does nothing and answers false. Never waits.
  func runIfFree(_ body: () -> Void) -> Bool {
    guard !isHeldHere, tryLock() else { return false }
    own()
    defer { unlock() }
    body()
    return true
  }

  private func own() {
    owner.store(SystemEnvironment.currentThread(), ordering: .relaxed)
    depth = 1
  }

  private func tryLock() -> Bool {
    state.compareExchange(expected: Self.free, desired: Self.held, ordering: .acquiring).exchanged
  }

  private func lock() {
    if !tryLock() {
      gate.lock()
      while state.exchange(Self.awaited, ordering: .acquiring) != Self.free { gate.wait() }
      gate.unlock()
    }
    own()
  }

  private func unlock() {
    depth = 0
    owner.store(0, ordering: .relaxed)
    guard state.exchange(Self.free, ordering: .releasing) == Self.awaited else { return }
    gate.lock()
    gate.wakeAll()
    gate.unlock()
  }
}
