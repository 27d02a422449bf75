import CambiumKernel
import CambiumSystem
import Synchronization

/// A lock that the thread which holds it may take again.
///
/// A block that runs with it is synchronous, so that it stays on one thread, whether that thread runs a task or not.
final class ContextLock: @unchecked Sendable {
  // `@unchecked`: `depth` is touched with `lock` held only.
  private let lock: any StoreLock = SystemEnvironment().makeLock()
  /// The thread that holds the lock; 0 for none. A thread finds its own number here only if it wrote it.
  private let owner = Atomic<UInt>(0)
  private var depth = 0

  /// Whether the block that runs was begun by nobody who had the lock. To be asked within ``run(_:)``.
  var isOutermost: Bool { depth == 1 }

  /// Runs `body` with the lock held.
  func run<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
    let thread = SystemEnvironment.currentThread()
    if owner.load(ordering: .relaxed) == thread {
      depth += 1
      defer { depth -= 1 }
      return try body()
    }
    lock.lock()
    owner.store(thread, ordering: .relaxed)
    depth = 1
    defer {
      depth = 0
      owner.store(0, ordering: .relaxed)
      lock.unlock()
    }
    return try body()
  }
}

/// Runs the blocks of a private queue one after the other.
actor ContextQueue {
  func run<R: Sendable, Failure: Error>(
    _ context: ManagedObjectContext, _ body: @Sendable () throws(Failure) -> R
  ) throws(Failure) -> R {
    try context.performAndWait(body)
  }
}
