import CambiumKernel
import CambiumSystem

/// A lock that the call chain that holds it may take again, made without threads' identities, so that it needs neither
/// libc nor Dispatch.
///
/// Who holds what is kept in a task-local value, which on a thread outside of any task is local to the thread. A task
/// started inside inherits the value but is another task, so the task is part of what is compared; one task, and one
/// thread, runs a single synchronous chain of calls at a time.
final class ContextLock: Sendable {
  private final class Holding: Sendable {
    let lock: ContextLock
    let task: Int?
    let outer: Holding?

    init(_ lock: ContextLock, _ task: Int?, _ outer: Holding?) {
      self.lock = lock
      self.task = task
      self.outer = outer
    }
  }

  @TaskLocal private static var holding: Holding?
  private let lock: any StoreLock = SystemEnvironment().makeLock()

  /// Runs `body` with the lock held.
  func run<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
    let task = withUnsafeCurrentTask { $0?.hashValue }
    let outer = Self.holding
    var holding = outer
    while let found = holding {
      if found.lock === self, found.task == task { return try body() }
      holding = found.outer
    }
    lock.lock()
    defer { lock.unlock() }
    let result = Self.$holding.withValue(Holding(self, task, outer)) { () -> Result<R, Failure> in
      do throws(Failure) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}

/// Runs the blocks of a private queue one after the other.
actor ContextQueue {
  func run<R: Sendable, Failure: Error>(
    _ lock: ContextLock, _ body: @Sendable () throws(Failure) -> R
  ) throws(Failure) -> R {
    try lock.run(body)
  }
}
