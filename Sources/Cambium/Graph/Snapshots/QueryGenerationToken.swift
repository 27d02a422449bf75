import CambiumEngine

/// A state of a coordinator's stores, which contexts read whatever is saved meanwhile. Core Data:
/// `NSQueryGenerationToken`.
///
/// A token holds a snapshot of each store: their files are not closed before it is gone, and the room of changed or
/// deleted rows is not used again. Nothing is copied.
public final class QueryGenerationToken: Hashable, Sendable {
  /// Stands for the state at the next read of the context that it is set on.
  public static let current = QueryGenerationToken([:])

  struct Snapshot {
    let store: PersistentStore
    let view: EntityView
  }

  /// By the stores' identifiers. Any number of threads may use a view of a snapshot.
  nonisolated(unsafe) let snapshots: [String: Snapshot]

  init(_ snapshots: [String: Snapshot]) { self.snapshots = snapshots }

  /// Whether both are of the same commits of the same stores, or both are ``current``.
  public static func == (a: QueryGenerationToken, b: QueryGenerationToken) -> Bool {
    a.snapshots.mapValues { $0.view.sequence } == b.snapshots.mapValues { $0.view.sequence }
  }

  /// Hashes the stores.
  public func hash(into hasher: inout Hasher) { hasher.combine(Set(snapshots.keys)) }
}

/// The query generation of a context.
struct QueryGeneration {
  /// The token that was set. `nil` for the newest commit at each fetch.
  var token: QueryGenerationToken?
  /// Whether the context reads the newest commits in spite of the token, because it is saving.
  var isSaving = false

  /// Whether fetches and faults read a generation.
  var isPinned: Bool { token != nil && !isSaving }
}
