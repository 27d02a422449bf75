import CambiumEngine

/// The commits of the stores that a context reads. Use them with the context's lock held.
///
/// The context reads one commit of each store until it advances. It reads the newest commit then, unless it reads a
/// query generation.
final class ContextSnapshots {
  private var coordinator: PersistentStoreCoordinator
  /// The views by their stores. A store must stay open until its view is done.
  private var views: [ObjectIdentifier: (store: PersistentStore, view: EntityView)] = [:]
  /// The view that was used last.
  private var lastView: (space: StoreSpace, view: EntityView, closings: Int)?
  /// The readers of relationships, which are kept because many objects follow the same relationship.
  private var readers: [(relationship: RelationshipInfo, view: EntityView, reader: RelationshipReader)] = []
  /// The query generation that the context reads.
  private(set) var generation = QueryGeneration()
  /// See ``ManagedObjectContext/stalenessInterval``.
  var stalenessInterval = -1.0
  /// Objects of which others' changes are a conflict though they have none here.
  var watched: [ManagedObjectID: WatchedObject] = [:]

  init(_ coordinator: PersistentStoreCoordinator) { self.coordinator = coordinator }

  /// Reads the stores of another coordinator from now on.
  func move(to coordinator: PersistentStoreCoordinator) {
    self.coordinator = coordinator
    advance()
    generation = QueryGeneration()
  }

  // MARK: Views

  /// Returns the snapshot of a store that the context reads.
  func view(of space: StoreSpace) throws -> EntityView {
    if let pinned = try pinnedView(of: space) { return pinned }
    let closings = StoreUses.closings
    if let lastView, lastView.space === space, lastView.closings == closings { return lastView.view }
    if let known = views[ObjectIdentifier(space)], !known.store.uses.isClosed {
      lastView = (space, known.view, closings)
      return known.view
    }
    guard let store = coordinator.store(of: space) else { throw Self.removed }
    let view = try mapping { () throws(EngineError) in try store.view() }
    views[ObjectIdentifier(space)] = (store, view)
    lastView = (space, view, closings)
    return view
  }

  private static var removed: CambiumError {
    CambiumError(
      .persistentStoreOperation, "the object's store was removed from the coordinator, or is another coordinator's")
  }

  /// Returns the newest commit of a store. The context does not advance to it. `nil` if the context reads a query
  /// generation, or if the coordinator does not have the store.
  func newestView(of space: StoreSpace) throws -> EntityView? {
    if generation.isPinned { return nil }
    guard let store = coordinator.store(of: space) else { return nil }
    return try mapping { () throws(EngineError) in try store.view() }
  }

  /// Reads the newest commit from now on.
  func advance() {
    if !readers.isEmpty { readers = [] }
    if lastView == nil, views.isEmpty { return }
    lastView = nil
    views = [:]
  }

  /// Returns whether the row that the context sees of an object is newer than the row that the object has.
  ///
  /// A higher version is newer. Undoing a migration may bring back a lower version, or another row of the same version.
  /// Without one, a row of a lower version is older: the context may read a generation, or a refused save may have gone
  /// back to an older commit.
  ///
  /// - Parameters:
  ///   - version: The version of the row that the context sees.
  ///   - row: That row. It is read only if the version does not decide.
  func isNewer(
    _ version: UInt32, than known: Row, in space: StoreSpace, _ row: @autoclosure () throws(EngineError) -> Row?
  ) throws(EngineError) -> Bool {
    if version > known.version { return true }
    guard !generation.isPinned, coordinator.store(of: space)?.hasChangedModel == true else { return false }
    if version < known.version { return true }
    return try row().map { !$0.isSame(as: known) } ?? true
  }

  /// Returns the reader of a relationship in the snapshot of a store that the context reads.
  func destinations(of relationship: RelationshipInfo, in space: StoreSpace) throws -> RelationshipReader {
    let view = try view(of: space)
    if let known = readers.first(where: { $0.relationship === relationship && $0.view === view }) {
      return known.reader
    }
    let reader = try mapping { () throws(EngineError) in try view.destinations(of: relationship.schema) }
    if readers.count >= 16 { readers = [] }
    readers.append((relationship, view, reader))
    return reader
  }

  // MARK: Query generation

  /// Reads a query generation from now on, or the newest commits if there is no token.
  ///
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a token of another coordinator's stores.
  func read(_ token: QueryGenerationToken?) throws {
    let stores = coordinator.persistentStores
    for snapshot in (token?.snapshots ?? [:]).values where !stores.contains(where: { $0 === snapshot.store }) {
      throw CambiumError(
        .invalidArgument, "the query generation is of a store that the context's coordinator does not have")
    }
    generation.token = token
    advance()
  }

  /// Returns the snapshot of a store in the query generation. `nil` if the context reads the newest commits.
  private func pinnedView(of space: StoreSpace) throws -> EntityView? {
    guard generation.isPinned else { return nil }
    guard let snapshot = try pinned()?.snapshots[space.identifier] else {
      throw CambiumError(
        .persistentStoreOperation,
        "the object's store is not in the context's query generation: it was added later, or removed; set another "
          + "generation")
    }
    if snapshot.store.uses.isClosed { throw Self.removed }
    return snapshot.view
  }

  /// Returns the stores that the query generation has, out of some.
  func pinned(of stores: [PersistentStore]) throws -> [PersistentStore] {
    guard generation.isPinned, let token = try pinned() else { return stores }
    return stores.filter { token.snapshots[$0.identifier] != nil }
  }

  /// Returns the query generation. The first read after ``QueryGenerationToken/current`` was set pins the newest
  /// commits.
  private func pinned() throws -> QueryGenerationToken? {
    guard let token = generation.token, token === QueryGenerationToken.current else { return generation.token }
    // Without stores there is nothing to pin yet.
    guard let newest = try newestGeneration() else { return nil }
    generation.token = newest
    return newest
  }

  /// Returns a token of the newest commits. `nil` without stores.
  private func newestGeneration() throws -> QueryGenerationToken? {
    var snapshots: [String: QueryGenerationToken.Snapshot] = [:]
    for store in coordinator.persistentStores {
      let view = try mapping { () throws(EngineError) in try store.view() }
      snapshots[store.identifier] = QueryGenerationToken.Snapshot(store: store, view: view)
    }
    return snapshots.isEmpty ? nil : QueryGenerationToken(snapshots)
  }

  /// Returns the token that a notification carries.
  ///
  /// - Parameter isSaved: Whether the notification is about a save into the stores, which makes newest commits.
  func toldGeneration(isSaved: Bool) -> QueryGenerationToken? {
    guard let token = generation.token else { return nil }
    // The notification goes without a token if reading fails. The next read of the observer throws the error.
    if isSaved { return try? newestGeneration() }
    return token === QueryGenerationToken.current ? nil : token
  }

  /// Advances, and has the next read pin the newest commits if the context reads a query generation.
  func advanceGeneration() {
    if generation.token != nil { generation.token = .current }
    advance()
  }

  /// Saves on top of the newest commits. The next read pins the newest commits of that time.
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
