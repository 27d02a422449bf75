#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentStoreCoordinator {
  /// Moves a store into another file: copies what it holds, history, metadata and ``PersistentStore/identifier`` included, opens the
  /// copy in its place, and gives the old one up, whose file stays. A store in memory comes into a file by that. Core Data:
  /// `migratePersistentStore(_:to:options:type:)`.
  ///
  ///     let stored = try coordinator.migratePersistentStore(store, to: url)
  ///
  /// Identifiers, and their URIs, mean the same objects as before. Contexts that have objects of the store are to be reset, and
  /// nothing is to be saved into it, before this is called: objects that contexts still have read the old store, and their changes
  /// are refused. Other processes go on with the old file.
  ///
  /// - Parameters:
  ///   - url: A file that is not there yet.
  ///   - type: ``PersistentStoreType/file``.
  ///   - options: Those of ``addPersistentStore(type:configuration:at:durability:isReadOnly:options:)``, beside what the store was
  ///     opened with.
  /// - Returns: The store in its new place.
  /// - Throws: ``CambiumError/Code/invalidArgument`` for a store of another coordinator; ``CambiumError/Code/unsupported`` for a move
  ///   into memory; what ``PersistentStore/backup(to:progress:)`` and ``addPersistentStore(_:)`` throw. The coordinator has the old
  ///   store then, as before.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore, to url: URL, type: PersistentStoreType = .file, options: [String: any Sendable]? = nil
  ) throws -> PersistentStore {
    guard type == .file else {
      throw CambiumError(.unsupported, "a store is moved into a file only; open one in memory, and fill it")
    }
    let description = PersistentStoreDescription(url: url)
    let old = store.description
    description.configuration = old.configuration
    description.isReadOnly = old.isReadOnly
    description.isSharedBetweenProcesses = old.isSharedBetweenProcesses
    description.durability = old.durability
    description.cacheBytes = old.cacheBytes
    description.tracksHistory = old.tracksHistory
    for (key, value) in options ?? [:] { try description.apply(option: key, value) }
    let place = persistentStores.firstIndex { $0 === store }
    // Nobody is to save what the copy would not have, and a store is in a coordinator once.
    try remove(store)
    do {
      try store.backup(to: url)
      let moved = try addPersistentStore(description)
      put(moved, at: place ?? 0)
      return moved
    } catch {
      put(store, at: place ?? 0)
      throw error
    }
  }
}
