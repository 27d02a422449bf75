/// The observers of the saves and events of a coordinator's contexts, held weakly. All of them are ``SaveObserver``s.
/// Thread-safe.
final class SaveObservers: @unchecked Sendable {
  // `@unchecked`: touched with `lock` held only.
  private struct WeakObserver { weak var observer: (any AnyObject & Sendable)? }

  private let lock = StateLock()
  private var observers: [WeakObserver] = []

  /// Adds an observer. Call ``add(_:)``, which takes only a ``SaveObserver``.
  func hold(_ observer: any AnyObject & Sendable) {
    // Who is let go of meanwhile goes with these, when the lock is not held.
    var held: [any AnyObject & Sendable] = []
    lock.locked {
      observers.removeAll { one in
        guard let known = one.observer else { return true }
        held.append(known)
        return known === observer
      }
      observers.append(WeakObserver(observer: observer))
    }
    withExtendedLifetime(held) {}
  }

  /// Whether there is nobody to tell.
  var isEmpty: Bool { living.isEmpty }

  /// The observers that still exist.
  var living: [any AnyObject & Sendable] { lock.locked { observers.compactMap { $0.observer } } }
}
