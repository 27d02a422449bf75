import Observation
import Synchronization

/// Tells Observation and sequences that results changed. Thread-safe, because another context may tell of its save.
final class ResultsSignal: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let state = Mutex(State())

  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var count = 0
  }

  /// The property that readers of the results are registered with.
  private var results: Void { () }

  /// Notes that the results are read.
  func access() { registrar.access(self, keyPath: \.results) }

  /// Tells that the results changed.
  ///
  /// - Parameter isInPlace: Whether all models have kept their places, so that Observation learns of the change by the
  ///   models.
  func tell(isInPlace: Bool = false) {
    if !isInPlace { registrar.withMutation(of: self, keyPath: \.results) {} }
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
  }

  /// An element at once, and one after changes, until this object is gone.
  var changes: AsyncStream<Void> {
    AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let number = state.withLock {
        $0.count += 1
        $0.listeners[$0.count] = continuation
        return $0.count
      }
      continuation.onTermination = { [weak self] _ in
        _ = self?.state.withLock { $0.listeners.removeValue(forKey: number) }
      }
      continuation.yield()
    }
  }

  deinit { for listener in state.withLock({ Array($0.listeners.values) }) { listener.finish() } }
}
