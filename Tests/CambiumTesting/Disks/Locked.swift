/// A value behind a lock that Thread Sanitizer sees.
///
/// The library's `Mutex` waits in code that was not built for the sanitizer: of two threads that meet at one, the
/// second is told of a race that there is none of. So what tests share between threads is behind this.
public final class Locked<Value>: @unchecked Sendable {
  // `@unchecked`: `value` is touched with `lock` held only.
  private let lock = ThreadLock()
  private var value: Value

  /// Puts a value behind a lock.
  public init(_ value: sending Value) { self.value = value }

  /// Calls `body` with the value while no other thread has it. It may not be called from within `body`.
  public func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
