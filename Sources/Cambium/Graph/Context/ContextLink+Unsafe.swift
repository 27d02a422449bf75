import Synchronization

/// How the objects of a context find it: one for all of them, so that it is the only weak reference.
final class ContextLink: @unchecked Sendable {
  // `@unchecked`: a weak reference is read and cleared atomically; it is set before anyone else has the link.
  @exclusivity(unchecked) private(set) weak var context: ManagedObjectContext?
  /// See ``ManagedObjectContext/observeObjects(_:)``.
  @exclusivity(unchecked) var objectObserver: (any ObjectObserver)?
  /// See ``ManagedObjectContext/face``. Objects ask for it at every change, and a weak reference would take longer.
  @exclusivity(unchecked) fileprivate var face: Unmanaged<AnyObject>?
  /// Whether methods that validate are being called.
  let isValidating = Atomic(false)
  private let isCut = Atomic(false)

  /// Whether there is a context. To ask for it by a weak reference takes longer.
  var isThere: Bool { !isCut.load(ordering: .relaxed) }

  /// To be called by the context at its end.
  func cut() { isCut.store(true, ordering: .relaxed) }

  /// To be called once, by the context when it is made.
  func lead(to context: ManagedObjectContext) { self.context = context }
}

extension ManagedObjectContext {
  /// The context of another API that works by this one, and keeps it. It must clear this at its end.
  package var face: AnyObject? {
    get { link.face?.takeUnretainedValue() }
    set { link.face = newValue.map { .passUnretained($0) } }
  }
}

extension ManagedObject {
  /// See ``ManagedObjectContext/face``.
  package final var face: AnyObject? { withHome { $0.link?.face?.takeUnretainedValue() } }
}
