import CambiumEngine

extension ManagedObjectContext {
  /// The generation that the context reads; `nil` if each fetch reads the newest commit,
  /// ``QueryGenerationToken/current`` if the next read sets it.
  public var queryGenerationToken: QueryGenerationToken? { lock.run { snapshots.generation.token } }

  /// Has the context read a state of the stores, until it saves, merges changes or is reset, after which it reads the
  /// state at the next read. Rows that the context has are not read again; ``refreshAllObjects()`` gives them up.
  ///
  ///     try context.setQueryGenerationFrom(.current)
  ///     let first = try context.fetch(request)      // pins
  ///     let second = try context.fetch(request)     // the same objects and values, whatever others have saved
  ///
  /// Conflicts are found by the newest commits all the same. The context does not find objects of stores that the
  /// coordinator was given later, and cannot read them.
  ///
  /// - Parameter token: ``QueryGenerationToken/current`` for the state at the next read; the token of another context
  ///   of the coordinator; `nil` for the newest commit at each fetch, as without.
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a token of another coordinator's stores.
  public func setQueryGenerationFrom(_ token: QueryGenerationToken?) throws {
    try lock.run { try snapshots.read(token) }
  }

  /// Returns the snapshot of a store that the context reads.
  func view(of space: StoreSpace) throws -> EntityView { try snapshots.view(of: space) }

  /// Returns the newest commit of a store. See ``ContextSnapshots/newestView(of:)``.
  func newestView(of space: StoreSpace) throws -> EntityView? { try snapshots.newestView(of: space) }

  /// Reads the newest commit from now on.
  func advance() { snapshots.advance() }

  /// Returns the token that a notification carries. See ``ContextSnapshots/toldGeneration(isSaved:)``.
  func toldGeneration(isSaved: Bool) -> QueryGenerationToken? {
    snapshots.toldGeneration(isSaved: isSaved && parent == nil)
  }

  /// Saves on top of the newest commits. See ``ContextSnapshots/savingPastGeneration(_:)``.
  func savingPastGeneration(_ save: () throws -> Void) throws { try snapshots.savingPastGeneration(save) }
}
