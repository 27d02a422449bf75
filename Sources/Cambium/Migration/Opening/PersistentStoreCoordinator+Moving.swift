#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentStoreCoordinator {
  /// Moves a store into another file: copies what it holds, history, metadata and ``PersistentStore/identifier``
  /// included, opens the copy in its place, and gives the old one up, whose file stays. A store in memory comes into a
  /// file by that. Core Data: `migratePersistentStore(_:to:options:type:)`.
  ///
  ///     let stored = try coordinator.migratePersistentStore(store, to: url)
  ///
  /// What is saved into it meanwhile, or was looking for it when the move began, fails with
  /// ``CambiumError/Code/persistentStoreSave`` or ``CambiumError/Code/persistentStoreOperation``.
  ///
  /// Identifiers, and their URIs, mean the same objects as before. Save and reset contexts that have objects of the
  /// store before: a change of an object that a context had before is saved into the new file, but new objects cannot
  /// lead to it. Other processes go on with the old file.
  ///
  /// - Parameters:
  ///   - url: A file that is not there yet.
  ///   - type: ``PersistentStoreType/file``.
  ///   - options: Those of ``addPersistentStore(type:configuration:at:durability:isReadOnly:options:)``, beside what
  ///     the store was opened with.
  /// - Returns: The store in its new place.
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a store of another coordinator;
  ///   ``CambiumError/Code/unsupported`` for a move into memory; what ``PersistentStore/backup(to:progress:)`` and
  ///   ``addPersistentStore(_:)`` throw. The coordinator has the old store then, as before.
  @discardableResult
  @_optimize(none)
  public func migratePersistentStore(
    _ store: PersistentStore, to url: URL, type: PersistentStoreType = .file, options: [String: any Sendable]? = nil
  ) throws -> PersistentStore {
    guard type == .file else {
      throw CambiumError(.unsupported, "a store is moved into a file only; open one in memory, and fill it")
    }
    let description = PersistentStoreDescription(url: url)
    let old = store.description
    for (key, value) in old.options { description.setOption(value, forKey: key) }
    description.configuration = old.configuration
    description.isReadOnly = old.isReadOnly
    description.isSharedBetweenProcesses = old.isSharedBetweenProcesses
    description.durability = old.durability
    description.cacheBytes = old.cacheBytes
    description.maximumThreads = old.maximumThreads
    description.timeout = old.timeout
    description.tracksHistory = old.tracksHistory
    description.postsRemoteChanges = old.postsRemoteChanges
    try description.take(options ?? [:])
    let place = persistentStores.firstIndex { $0 === store }
    var isCopied = false
    // Nobody is to save what the copy would not have, and a store is in a coordinator once.
    try withdraw(store)
    do {
      store.refuseWrites(true)
      try store.backup(to: url)
      isCopied = true
      let moved = try addPersistentStore(description, tells: false)
      put(moved, at: place ?? 0)
      tell(.storesDidChange, added: [moved], removed: [store])
      return moved
    } catch {
      store.refuseWrites(false)
      put(store, at: place ?? 0)
      tell(.storesDidChange)
      // The copy would be in the way of another try. What removing it throws says less than why this failed.
      if isCopied { try? destroyPersistentStore(at: url) }
      throw error
    }
  }
}
