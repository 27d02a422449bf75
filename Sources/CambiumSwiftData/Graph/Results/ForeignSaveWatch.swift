import Cambium
import Synchronization

/// Looks in the history, every tenth of a second, for saves of other coordinators, of this process and of others.
///
/// The coordinator itself tells its contexts of its own saves. So the transactions that it made are left out.
final class ForeignSaveWatch: Sendable {
  private let hasFound = Atomic(false)
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Begins to watch behind a place in the history.
  ///
  /// - Parameter tell: Is called on any thread after each find.
  init(
    _ coordinator: PersistentStoreCoordinator, after start: PersistentHistoryToken,
    _ tell: @escaping @Sendable () -> Void
  ) {
    let changes = coordinator.remoteChanges()
    let task = Task.detached { [weak self, weak coordinator] in
      var known = start
      func look() {
        guard let self, let coordinator else { return }
        let found = coordinator.foreignChanges(after: known)
        known = found.token
        if found.isEmpty { return }
        self.hasFound.store(true, ordering: .releasing)
        tell()
      }
      look()
      for await _ in changes { look() }
    }
    self.task.withLock { $0 = task }
  }

  deinit { task.withLock { $0?.cancel() } }

  /// Returns whether a save was found since this was last asked.
  func takeFind() -> Bool { hasFound.exchange(false, ordering: .acquiring) }
}

extension ModelContext {
  /// Begins to merge the saves of other coordinators, unless the context does so already. Returns the place in the
  /// history behind which they count.
  func beginMergingForeignSaves() throws -> PersistentHistoryToken {
    if let known = foreignToken { return known }
    let token =
      try mappingErrors { try stores.coordinator.currentPersistentHistoryToken() } ?? PersistentHistoryToken([:])
    foreignToken = token
    return token
  }

  /// Merges the saves of other coordinators that the context does not have yet. If the history of some was deleted
  /// before, all unchanged models are read again when they are used, and ``historyGaps`` grows.
  func mergeForeignSaves() {
    guard let foreignToken else { return }
    let found = stores.coordinator.foreignChanges(after: foreignToken)
    self.foreignToken = found.token
    if found.hasGap {
      historyGaps += 1
      managedObjectContext.refreshAllObjects()
    } else if !found.isEmpty {
      managedObjectContext.mergeChanges(fromContextDidSave: found.changes)
    }
  }
}
