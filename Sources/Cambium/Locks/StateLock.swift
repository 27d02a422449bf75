import CambiumKernel
import CambiumSystem

/// A lock for short critical sections.
final class StateLock: Sendable {
  private let lock: any StoreLock = SystemEnvironment().makeLock()

  /// Runs `body` with the lock held. Not re-entrant.
  func locked<R>(_ body: () throws -> R) rethrows -> R {
    lock.lock()
    defer { lock.unlock() }
    return try body()
  }
}
