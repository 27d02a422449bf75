#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentContainer {
  /// Opens the stores; when it returns, they are open. Those that are open already are passed over.
  ///
  /// - Throws: as ``PersistentStoreCoordinator/addPersistentStore(_:)``. Stores opened before stay open.
  public func loadPersistentStores() throws {
    makeDefaultDirectory()
    for description in persistentStoreDescriptions where !isLoaded(description) {
      try persistentStoreCoordinator.addPersistentStore(description)
    }
  }

  private func isLoaded(_ description: PersistentStoreDescription) -> Bool {
    switch description.usedType {
    case .file: return description.url.flatMap { persistentStoreCoordinator.persistentStore(for: $0) } != nil
    // Nothing but its description tells one store in memory from another.
    case .inMemory: return persistentStoreCoordinator.persistentStores.contains { $0.description === description }
    }
  }

  /// Makes ``defaultDirectoryURL()`` if a store is to go there. If that fails, opening the store says so.
  private func makeDefaultDirectory() {
    let directory = Self.defaultDirectoryURL().standardizedFileURL
    // By their paths: a folder's URL may end with a slash or not.
    for case let url? in persistentStoreDescriptions.map({ $0.url })
    where url.deletingLastPathComponent().standardizedFileURL.path == directory.path {
      try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }
  }

  /// Opens the stores that are not open yet, and calls the handler once for each, with what went wrong if anything did.
  /// Descriptions that want it are loaded in the background, the others before this returns.
  public func loadPersistentStores(
    completionHandler: @escaping @Sendable (PersistentStoreDescription, (any Error)?) -> Void
  ) {
    makeDefaultDirectory()
    let coordinator = persistentStoreCoordinator
    for description in persistentStoreDescriptions where !isLoaded(description) {
      let load: @Sendable () -> Void = {
        do {
          try coordinator.addPersistentStore(description)
          completionHandler(description, nil)
        } catch {
          completionHandler(description, error)
        }
      }
      if description.shouldAddStoreAsynchronously { coordinator.threads.run(load) } else { load() }
    }
  }
}
