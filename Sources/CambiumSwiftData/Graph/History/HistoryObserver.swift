import Cambium
import Foundation
import Observation
import Synchronization

/// Counts news in the history of a container's stores, whoever saved it. SwiftData: `HistoryObserver`.
///
///     let observer = try HistoryObserver(observedModels: [Trip.self], modelContainer: container)
///     withObservationTracking { _ = observer.eventCounter } onChange: { … read the history … }
///
/// Thread-safe.
public final class HistoryObserver: Observable, Sendable {
  /// The container of the stores.
  public let modelContainer: ModelContainer
  /// The classes whose models count, with their subclasses; all classes, if this is empty.
  public let observedModels: [any PersistentModel.Type]
  /// The authors whose saves count; all of them, if this is empty.
  public let authors: Set<String>
  private let registrar = ObservationRegistrar()
  private let state: Mutex<State>
  private let task = Mutex<Task<Void, Never>?>(nil)

  private struct State {
    /// The place behind all that was looked at.
    var position: [String: Int64]
    var counter = 0
    /// Whether the counter grew since it was last read.
    var isUnread = false
  }

  /// Observes what is saved from now on, or behind tokens.
  ///
  /// - Parameters:
  ///   - historyTokens: The place to begin at, by the identifiers of stores. Of stores that are not named, what is
  ///     saved from now on counts.
  ///   - observedModels: The classes whose models count; all of them, if this is empty.
  ///   - authors: The authors whose saves count; all of them, if this is empty.
  ///   - isolation: The actor that Observation is told on. Without one, it is told on any thread.
  /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` for a token of another container;
  ///   ``SwiftDataError/loadIssueModelContainer`` if the container was closed; what reading the stores throws.
  public init(
    historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
    authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    self.modelContainer = modelContainer
    self.observedModels = observedModels
    self.authors = authors
    try modelContainer.stores.requireOpen()
    let coordinator = modelContainer.persistentStoreCoordinator
    // Before the token is read, so that nothing is saved between the two.
    let changes = coordinator.remoteChanges()
    var position = try mappingErrors { try coordinator.currentPersistentHistoryToken() }?.positions ?? [:]
    for (store, token) in historyTokens ?? [:] {
      guard let token = token as? DefaultHistoryToken, position[store] != nil else {
        throw SwiftDataError(
          .invalidTransactionFetchRequest,
          "'\(store)' is not the identifier of a store with history of this container, or its token is no "
            + "DefaultHistoryToken; use the storeIdentifier and the token of a transaction")
      }
      position[store] = token.position(in: store)
    }
    state = Mutex(State(position: position))
    let place = JobPlace(isolation: isolation)
    let task = Task.detached { [weak self] in
      // News behind a token that was given is there already.
      self?.tellOfNews(at: place)
      for await _ in changes { self?.tellOfNews(at: place) }
    }
    self.task.withLock { $0 = task }
  }

  deinit { task.withLock { $0?.cancel() } }

  /// The number of times that there was news. It grows by one when something was saved since it was last read,
  /// however many saves there were. It grows as well if history that the observer had not seen was deleted.
  ///
  /// Reading looks at the stores. Observation is told within about a tenth of a second.
  public var eventCounter: Int {
    // Other observers learn of the transactions, too, which this reading takes from the next look.
    if lookForNews() { registrar.withMutation(of: self, keyPath: \.eventCounter) {} }
    registrar.access(self, keyPath: \.eventCounter)
    return state.withLock {
      $0.isUnread = false
      return $0.counter
    }
  }

  private func tellOfNews(at place: JobPlace) {
    guard lookForNews() else { return }
    place.start { self.registrar.withMutation(of: self, keyPath: \.eventCounter) {} }
  }

  /// Looks at the transactions behind the known place. Returns whether the counter has grown.
  private func lookForNews() -> Bool {
    state.withLock { state in
      var isNews = false
      for store in modelContainer.persistentStoreCoordinator.persistentStores {
        do { isNews = try look(at: store, &state.position) || isNews } catch {
          // The history behind the place is gone: nobody knows what was in it.
          isNews = true
          let end = try? modelContainer.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: [store])
          state.position[store.identifier] = end?.positions[store.identifier] ?? 0
        }
      }
      guard isNews, !state.isUnread else { return false }
      state.counter += 1
      state.isUnread = true
      return true
    }
  }

  private func look(at store: PersistentStore, _ position: inout [String: Int64]) throws -> Bool {
    let known = PersistentHistoryToken([store.identifier: position[store.identifier] ?? 0])
    var request = PersistentHistoryChangeRequest.fetchHistory(after: known)
    request.affectedStores = [store.identifier]
    if observedModels.isEmpty { request.resultType = .transactionsOnly }
    let reader = ManagedObjectContext(
      concurrencyType: .confinement, persistentStoreCoordinator: modelContainer.persistentStoreCoordinator)
    let found = try reader.execute(request).transactions
    if let last = found.last { position[store.identifier] = last.transactionNumber }
    return found.contains { concerns($0) }
  }

  private func concerns(_ transaction: PersistentHistoryTransaction) -> Bool {
    guard authors.isEmpty || transaction.author.map({ authors.contains($0) }) ?? false else { return false }
    if observedModels.isEmpty { return true }
    return (transaction.changes ?? []).contains { change in
      guard let lineage = modelContainer.stores.classes[change.changedObjectID.entityName]?.lineage else {
        return false
      }
      return observedModels.contains { lineage.contains(ObjectIdentifier($0)) }
    }
  }
}
