import CambiumEngine

/// A state of a coordinator's stores, which contexts read whatever is saved meanwhile. Core Data: `NSQueryGenerationToken`.
///
/// A token holds a snapshot of each store: their files are not closed before it is gone, and the room of what is changed or
/// deleted is not used again. Nothing is copied.
public final class QueryGenerationToken: Hashable, Sendable {
  /// Stands for the state at the next read of the context that it is set on.
  public static let current = QueryGenerationToken([:])

  struct Snapshot {
    let store: PersistentStore
    let view: EntityView
  }

  /// By the stores' identifiers. A view of a snapshot may be used by any number of threads.
  nonisolated(unsafe) let snapshots: [String: Snapshot]

  init(_ snapshots: [String: Snapshot]) { self.snapshots = snapshots }

  /// Whether both are of the same commits of the same stores, or both are ``current``.
  public static func == (a: QueryGenerationToken, b: QueryGenerationToken) -> Bool {
    a.snapshots.mapValues { $0.view.sequence } == b.snapshots.mapValues { $0.view.sequence }
  }

  /// Hashes the stores.
  public func hash(into hasher: inout Hasher) { hasher.combine(Set(snapshots.keys)) }
}

/// Which generation a context reads.
struct QueryGeneration {
  /// What was asked for; `nil` for the newest commit at each fetch.
  var token: QueryGenerationToken?
  /// Whether the newest commits count all the same, since the context is saving.
  var isSaving = false

  /// Whether fetches and faults read a generation.
  var isPinned: Bool { token != nil && !isSaving }
}

extension ManagedObjectContext {
  /// The generation that the context reads; `nil` if each fetch reads the newest commit, ``QueryGenerationToken/current`` if
  /// the next read sets it.
  public var queryGenerationToken: QueryGenerationToken? { lock.run { generation.token } }

  /// Has the context read a state of the stores, until it saves, merges changes or is reset, after which it reads the state at
  /// the next read. Rows that the context has are not read again; ``refreshAllObjects()`` gives them up.
  ///
  ///     try context.setQueryGenerationFrom(.current)
  ///     let first = try context.fetch(request)      // pins
  ///     let second = try context.fetch(request)     // the same objects and values, whatever others have saved
  ///
  /// Conflicts are found by the newest commits all the same. What stores that the coordinator was given later hold is not
  /// found, and their objects cannot be read.
  ///
  /// - Parameter token: ``QueryGenerationToken/current`` for the state at the next read; the token of another context of the
  ///   coordinator; `nil` for the newest commit at each fetch, as without.
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a token of another coordinator's stores.
  public func setQueryGenerationFrom(_ token: QueryGenerationToken?) throws {
    try lock.run {
      for snapshot in (token?.snapshots ?? [:]).values
      where !persistentStoreCoordinator.persistentStores.contains(where: { $0 === snapshot.store }) {
        throw CambiumError(
          .invalidArgument, "the query generation is of a store that the context's coordinator does not have")
      }
      generation.token = token
      advance()
    }
  }

  /// The snapshot of a store that the context's generation has; `nil` if it reads the newest commits.
  func pinnedView(of space: StoreSpace) throws -> EntityView? {
    guard generation.isPinned else { return nil }
    guard let snapshot = try pinned()?.snapshots[space.identifier] else {
      throw CambiumError(
        .persistentStoreOperation,
        "the object's store is not in the context's query generation: it was added later, or removed; set another generation"
      )
    }
    return snapshot.view
  }

  /// The stores that the context's generation has, of some.
  func pinned(of stores: [PersistentStore]) throws -> [PersistentStore] {
    guard generation.isPinned, let token = try pinned() else { return stores }
    return stores.filter { token.snapshots[$0.identifier] != nil }
  }

  /// The generation; made now if this is the read that does.
  private func pinned() throws -> QueryGenerationToken? {
    guard let token = generation.token, token === QueryGenerationToken.current else { return generation.token }
    // Without stores there is nothing to be pinned yet.
    guard let newest = try newestGeneration() else { return nil }
    generation.token = newest
    return newest
  }

  /// The newest commits; `nil` without stores.
  private func newestGeneration() throws -> QueryGenerationToken? {
    var snapshots: [String: QueryGenerationToken.Snapshot] = [:]
    for store in persistentStoreCoordinator.persistentStores {
      let view = try mapping { () throws(EngineError) in try store.view() }
      snapshots[store.identifier] = QueryGenerationToken.Snapshot(store: store, view: view)
    }
    return snapshots.isEmpty ? nil : QueryGenerationToken(snapshots)
  }

  /// What those who listen are told of the generation.
  ///
  /// - Parameter isSaved: Whether they are told of a save, which is of the newest commits.
  func toldGeneration(isSaved: Bool) -> QueryGenerationToken? {
    guard let token = generation.token else { return nil }
    // What cannot be read is not told; whoever reads on will hear of it.
    if isSaved, parent == nil { return try? newestGeneration() }
    return token === QueryGenerationToken.current ? nil : token
  }

  /// Has the next read pin the newest commits, if the context reads a generation.
  func advanceGeneration() {
    if generation.token != nil { generation.token = .current }
    advance()
  }

  /// Saves by the newest commits, and has the next read pin what they are then.
  func savingPastGeneration(_ save: () throws -> Void) throws {
    guard generation.isPinned else { return try save() }
    generation.isSaving = true
    advance()
    defer {
      generation.isSaving = false
      advance()
    }
    try save()
    advanceGeneration()
  }
}
