import CambiumKernel

/// What a coordinator tells of itself, on the thread where it happens. Core Data: the notifications of
/// `NSPersistentStoreCoordinator`.
public struct CoordinatorNotification: Sendable {
  /// What happened.
  public enum Kind: String, Sendable, CaseIterable {
    /// The coordinator is about to have other stores: those to come are open, and not among its stores yet.
    case storesWillChange
    /// The coordinator has other stores. Where moving a store failed, which was told to begin, no store is named.
    case storesDidChange
    /// The coordinator is about to give up a store. It is among its stores yet.
    case willRemoveStore
    /// A store has something new, whoever saved it: of stores with ``PersistentStoreDescription/postsRemoteChanges``
    /// only.
    case remoteChange
  }

  /// What happened.
  public let kind: Kind
  /// The coordinator that tells.
  public let coordinator: PersistentStoreCoordinator
  /// The stores that are new.
  public internal(set) var addedStores: [PersistentStore] = []
  /// The stores that are gone, or about to.
  public internal(set) var removedStores: [PersistentStore] = []
  /// What a store has that is new; `nil` of another ``kind``.
  public internal(set) var remoteChange: PersistentStoreRemoteChange?

  init(_ kind: Kind, _ coordinator: PersistentStoreCoordinator) {
    self.kind = kind
    self.coordinator = coordinator
  }
}

extension PersistentStoreCoordinator {
  /// Calls a closure with what the coordinator tells: on the thread that adds or removes a store, and without a lock
  /// held, so that the closure may use the coordinator; of remote changes on a thread of its own, one after the other.
  ///
  ///     let observation = coordinator.observe([.storesDidChange]) { print($0.addedStores.count, "stores more") }
  ///
  /// Stores are looked at for remote changes ten times a second, which costs microseconds, from the first call for them
  /// on: as long as somebody listens, and a coordinator is there that has a store with
  /// ``PersistentStoreDescription/postsRemoteChanges``. Several saves in one look are told of once. The coordinator is
  /// not kept alive by this. Thread-safe.
  ///
  /// - Parameters:
  ///   - kinds: What is wanted of what the coordinator tells.
  ///   - handler: What is called.
  /// - Returns: what keeps the closure being called as long as it lives.
  public func observe(
    _ kinds: Set<CoordinatorNotification.Kind> = Set(CoordinatorNotification.Kind.allCases),
    _ handler: @escaping @Sendable (CoordinatorNotification) -> Void
  ) -> ContextObservation {
    CoordinatorObservers.everywhere.observe(kinds, of: self, handler)
  }

  /// The same of all coordinators of the process, those to come included. For modules that pass on what coordinators
  /// tell, as `CambiumNotifications` does to `NotificationCenter`.
  public static func observeAll(
    _ kinds: Set<CoordinatorNotification.Kind> = Set(CoordinatorNotification.Kind.allCases),
    _ handler: @escaping @Sendable (CoordinatorNotification) -> Void
  ) -> ContextObservation {
    CoordinatorObservers.everywhere.observe(kinds, of: nil, handler)
  }

  /// Tells of stores that come and go.
  func tell(_ kind: CoordinatorNotification.Kind, added: [PersistentStore] = [], removed: [PersistentStore] = []) {
    CoordinatorObservers.everywhere.tell(kind, of: self) { notification in
      notification.addedStores = added
      notification.removedStores = removed
    }
  }
}

/// Those who listen to one coordinator, or to all. Thread-safe.
final class CoordinatorObservers: @unchecked Sendable {
  // `@unchecked`: touched with `lock` held only.
  private struct Observer {
    let kinds: Set<CoordinatorNotification.Kind>
    /// Whose notifications are wanted; of one that is gone there are none.
    weak var coordinator: PersistentStoreCoordinator?
    let isForAll: Bool
    let handler: @Sendable (CoordinatorNotification) -> Void
  }

  static let everywhere = CoordinatorObservers()

  private let lock = StateLock()
  private var observers: [Int: Observer] = [:]
  private var count = 0

  func observe(
    _ kinds: Set<CoordinatorNotification.Kind>, of coordinator: PersistentStoreCoordinator?,
    _ handler: @escaping @Sendable (CoordinatorNotification) -> Void
  ) -> ContextObservation {
    let observer = Observer(
      kinds: kinds, coordinator: coordinator, isForAll: coordinator == nil, handler: handler)
    let number = lock.locked {
      count += 1
      observers[count] = observer
      return count
    }
    let listensToChanges = kinds.contains(.remoteChange)
    if listensToChanges { RemoteChangeLookout.everywhere.listen(number) }
    return ContextObservation {
      if listensToChanges { RemoteChangeLookout.everywhere.stopListening(number) }
      CoordinatorObservers.everywhere.remove(number)
    }
  }

  private func remove(_ number: Int) {
    // What the handler holds may itself listen, and must not go with the lock held.
    let gone = lock.locked { observers.removeValue(forKey: number) }
    withExtendedLifetime(gone) {}
  }

  func tell(
    _ kind: CoordinatorNotification.Kind, of coordinator: PersistentStoreCoordinator,
    _ fill: (inout CoordinatorNotification) -> Void
  ) {
    // Looked at without the lock: a coordinator that is held for the comparison may be let go of by all others
    // meanwhile, and ends here then. A list of its own, made with the lock: that nobody else has the dictionary any
    // more, so that it is changed in place, is nothing that Thread Sanitizer sees.
    let all = lock.locked { observers.isEmpty ? [] : observers.ordered { $0.key < $1.key }.map { $0.value } }
    if all.isEmpty { return }
    let handlers = all.filter { observer in
      observer.kinds.contains(kind) && (observer.isForAll || observer.coordinator === coordinator)
    }.map { $0.handler }
    if handlers.isEmpty { return }
    var notification = CoordinatorNotification(kind, coordinator)
    fill(&notification)
    for handler in handlers { handler(notification) }
  }
}
