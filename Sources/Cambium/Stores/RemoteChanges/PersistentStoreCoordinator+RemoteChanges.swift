#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A store has something new, whoever saved it. Core Data: `NSPersistentStoreRemoteChangeNotification`.
public struct PersistentStoreRemoteChange: Sendable, Hashable {
  /// The store's identifier.
  public let storeIdentifier: String
  /// Its file; `nil` in memory.
  public let storeURL: URL?
  /// The place behind what is new in the store's history; `nil` if it never kept history.
  public let historyToken: PersistentHistoryToken?
}

extension PersistentStoreCoordinator {
  /// Tells of what is saved from now on, by this coordinator and others, in this process and others, as long as
  /// somebody listens.
  ///
  ///     for await change in coordinator.remoteChanges() {
  ///       // What is it?
  ///       let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
  ///     }
  ///
  /// Stores are looked at in intervals, which costs microseconds; several saves in one are told of once. Stores that
  /// are added later are looked at as well.
  ///
  /// - Parameter interval: How often; at most every millisecond.
  public func remoteChanges(interval: Duration = .milliseconds(100)) -> AsyncStream<PersistentStoreRemoteChange> {
    let start = RemoteChangeMarks(of: persistentStores)
    return AsyncStream(bufferingPolicy: .bufferingNewest(64)) { continuation in
      let task = Task.detached { [weak self] in
        var marks = start
        while !Task.isCancelled {
          // Who has let go of the coordinator listens to nothing any more.
          guard let stores = self?.persistentStores else { break }
          for change in marks.changes(of: stores) { continuation.yield(change) }
          try? await Task.sleep(for: max(interval, .milliseconds(1)))
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}
