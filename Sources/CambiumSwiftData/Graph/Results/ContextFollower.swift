import Cambium
import Synchronization

/// Merges into a context the saves of other coordinators, of this process and of others, as long as this object lives.
///
/// The coordinator itself tells its contexts of its own saves. So the transactions that it made are left out.
final class ContextFollower: Sendable {
  private let place: JobPlace
  private let news = Mutex(ObjectIDNotification())
  private let task = Mutex<Task<Void, Never>?>(nil)
  private let context: WeakContext

  private struct WeakContext: @unchecked Sendable {
    // `@unchecked`: the context is used at its place alone, or by a reader of results, who may use the context.
    weak var context: ModelContext?
  }

  /// Returns the follower of a context, which all its observers share.
  static func follower(of context: ModelContext, place: JobPlace) -> ContextFollower {
    if let known = context.follower { return known }
    let made = ContextFollower(context, place)
    context.follower = made
    return made
  }

  private init(_ context: ModelContext, _ place: JobPlace) {
    self.place = place
    self.context = WeakContext(context: context)
    let coordinator = context.stores.coordinator
    let changes = coordinator.remoteChanges()
    let start = (try? coordinator.currentPersistentHistoryToken()) ?? nil
    let task = Task.detached { [weak self, weak coordinator] in
      var known = start
      for await change in changes {
        guard let token = change.historyToken, let coordinator else { continue }
        let found = coordinator.foreignChanges(after: known, in: change.storeIdentifier)
        known = known?.merging(token) ?? token
        if !found.isEmpty { self?.tell(found) }
      }
    }
    self.task.withLock { $0 = task }
  }

  deinit { task.withLock { $0?.cancel() } }

  private func tell(_ changes: ObjectIDNotification) {
    news.withLock { $0.formUnion(changes) }
    if place.runsBlocks { place.start { self.takeIn() } }
  }

  /// Merges the waiting changes. Call it where the context is used.
  func takeIn() {
    let waiting = news.withLock { waiting in
      defer { waiting = ObjectIDNotification() }
      return waiting
    }
    guard !waiting.isEmpty, let context = context.context else { return }
    context.managedObjectContext.mergeChanges(fromContextDidSave: waiting)
  }
}
