import CambiumEngine
import CambiumKernel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PersistentStore {
  /// The store as it was at a retained commit, for reading, with the model that it had then: a container with that
  /// store alone. Its contexts fetch and follow relationships as ever; saving throws. Nothing is copied, and what is
  /// saved or migrated meanwhile changes nothing about it.
  ///
  ///     let before = try store.retain(reason: "before the import")
  ///     // ...
  ///     let then = try store.snapshot(at: before)
  ///     let entries = try then.viewContext.fetch(FetchRequest<ManagedObject>(entityName: "LogEntry"))
  ///
  /// The state stays readable as long as the container is held, and the file is not closed before.
  ///
  /// - Throws: ``CambiumError/Code/snapshotExpired`` if the state was released, or has lapsed; what reading throws.
  public func snapshot(at commit: RetainedCommit) throws -> PersistentContainer {
    let kernel = engine.kernel
    let state = try mapping { () throws(EngineError) in
      let state = try EntityStore.state(retained: commit.id, in: kernel)
      // Another one may have got the identifier.
      guard try state.sequence == commit.sequence else { throw .store(.snapshotExpired) }
      return state
    }
    let container = PersistentContainer(
      name: url?.deletingPathExtension().lastPathComponent ?? "memory",
      managedObjectModel: ManagedObjectModel(schema: state.schema))
    let description: PersistentStoreDescription
    if let url {
      description = PersistentStoreDescription(url: url)
    } else {
      description = PersistentStoreDescription(type: .inMemory)
    }
    description.isReadOnly = true
    container.persistentStoreDescriptions = [description]
    do {
      try container.persistentStoreCoordinator.borrow(state, as: description, origin: self, state: commit)
    } catch let error
      as EngineError
    {
      throw CambiumError(error)
    }
    return container
  }
}

extension PersistentContainer {
  /// ``PersistentStore/retain(reason:limitBytes:expires:)`` of the container's store, of which there is one.
  public func retain(reason: String, limitBytes: UInt64? = nil, expires: Date? = nil) throws -> RetainedCommit {
    try onlyStore().retain(reason: reason, limitBytes: limitBytes, expires: expires)
  }

  /// ``PersistentStore/retainedCommits()`` of the container's store, of which there is one.
  public func retainedCommits() throws -> [RetainedCommit] { try onlyStore().retainedCommits() }

  /// ``PersistentStore/release(_:)`` of the container's store, of which there is one.
  public func release(_ commit: RetainedCommit) throws { try onlyStore().release(commit) }

  /// ``PersistentStore/snapshot(at:)`` of the container's store, of which there is one.
  public func snapshot(at commit: RetainedCommit) throws -> PersistentContainer { try onlyStore().snapshot(at: commit) }

  private func onlyStore() throws -> PersistentStore {
    try persistentStoreCoordinator.requireStores()
    let stores = persistentStoreCoordinator.persistentStores
    guard let store = stores.first, stores.count == 1 else {
      throw CambiumError(
        .invalidArgument,
        "the container has \(stores.count) stores, not one; load its store, or ask the store itself")
    }
    return store
  }
}
