/// Keeps one who listens to a context, or to a coordinator, listening, until it is cancelled or gone. Thread-safe.
public final class ContextObservation: Sendable {
  private let cancellation: @Sendable () -> Void

  init(_ cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

  deinit { cancellation() }

  /// Nothing is told any more. A call that has begun in another thread is not waited for.
  public func cancel() { cancellation() }
}
