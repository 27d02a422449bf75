import CambiumKernel
import Foundation

/// An environment of which a test decides everything: the random bits follow from a seed, the clock stands where it is
/// set. The locks are real.
public final class TestEnvironment: StoreEnvironment {
  private struct State {
    var chance: DiskChance
    var milliseconds: Int64
    var process: UInt64 = 1
    var memory = Memory()
  }

  /// Memory that stores asked for.
  public struct Memory: Sendable {
    /// How many times.
    public var allocations = 0
    /// Bytes that were not given back.
    public var bytes = 0
  }

  private let state: Locked<State>
  private let processors: Int
  private let hasThreads: Bool
  private let waitsForThreads: Bool

  /// Makes an environment; its clock stands at `milliseconds` since 1970. It has as many processors as it is told,
  /// and a thread for each unless there are none to be had.
  ///
  /// - Parameter waitsForThreads: Whether the caller of ``runConcurrently(_:_:)`` does its own part only when each of
  ///   the other threads runs. Otherwise the caller may be done on a busy machine before another thread has begun.
  public init(
    seed: UInt64 = 1, milliseconds: Int64 = 1_700_000_000_000, processors: Int = 1, hasThreads: Bool = true,
    waitsForThreads: Bool = false
  ) {
    self.processors = processors
    self.hasThreads = hasThreads
    self.waitsForThreads = waitsForThreads
    state = Locked(State(chance: DiskChance(seed: seed), milliseconds: milliseconds))
  }

  /// As many as it was made with.
  public func processorCount() -> Int { processors }

  /// On threads, if there are any.
  public func runConcurrently(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
    let group = DispatchGroup()
    let running = DispatchSemaphore(value: 0)
    for i in 1..<max(1, count) where hasThreads {
      group.enter()
      Thread.detachNewThread {
        running.signal()
        work(i)
        group.leave()
      }
    }
    if hasThreads, waitsForThreads { for _ in 1..<max(1, count) { running.wait() } }
    if count > 0 { work(0) }
    for i in 1..<max(1, count) where !hasThreads { work(i) }
    group.wait()
  }

  /// A lock that really excludes and waits.
  public func makeLock() -> any StoreLock { ThreadLock() }

  /// What was asked for so far.
  public var memory: Memory { state.withLock { $0.memory } }

  /// Memory of the language's allocator, which is counted.
  public func allocateMemory(byteCount: Int) -> UnsafeMutableRawPointer {
    state.withLock {
      $0.memory.allocations += 1
      $0.memory.bytes += byteCount
    }
    return .allocate(byteCount: byteCount, alignment: 128)
  }

  /// Gives it back.
  public func freeMemory(_ start: UnsafeMutableRawPointer, byteCount: Int) {
    state.withLock { $0.memory.bytes -= byteCount }
    start.deallocate()
  }

  /// The next bits that follow from the seed.
  public func randomBits() -> UInt64 { state.withLock { $0.chance.next() } }

  /// The time that the clock was set to.
  public func nowMilliseconds() -> Int64 { state.withLock { $0.milliseconds } }

  /// The process that was set; 1 at first.
  public func processIdentifier() -> UInt64 { state.withLock { $0.process } }

  /// Makes it look as if another process went on from here: a forked child.
  public func setProcess(_ process: UInt64) { state.withLock { $0.process = process } }

  /// Sets the clock.
  public func setClock(milliseconds: Int64) { state.withLock { $0.milliseconds = milliseconds } }

  /// Moves the clock on.
  public func advanceClock(milliseconds: Int64) { state.withLock { $0.milliseconds += milliseconds } }
}

/// A lock that really excludes and waits.
public final class ThreadLock: StoreLock {
  private let condition = NSCondition()

  /// Makes a lock.
  public init() {}
  /// Takes the lock.
  public func lock() { condition.lock() }
  /// Gives the lock up.
  public func unlock() { condition.unlock() }
  /// Waits for ``wakeAll()``.
  public func wait() { condition.wait() }
  /// Wakes all that wait.
  public func wakeAll() { condition.broadcast() }
}
