import CambiumEngine

/// The execution of a batch delete request.
struct BatchDeletion {
  let context: ManagedObjectContext
  let request: BatchDeleteRequest

  /// The objects to delete.
  private enum Objects {
    /// The objects that a fetch finds in the transaction.
    case found(EngineFetch)
    case known([ObjectReference])
  }

  func run() throws -> BatchResult {
    guard let (store, objects) = try target() else { return BatchResult(.delete, request.resultType, []) }
    let identifiers = try BatchTransaction(context: context, store: store).run { (t, history, _) throws(BatchError) in
      let references: [ObjectReference]
      switch objects {
      case .found(let fetch): references = try engine { () throws(EngineError) in try t.fetch(fetch) }
      case .known(let known): references = known
      }
      return Array(try t.deleteByRules(references, in: store.space, history).found)
    }
    return BatchResult(.delete, request.resultType, identifiers)
  }

  /// The store of the objects. `nil` if the request names no objects.
  private func target() throws -> (PersistentStore, Objects)? {
    switch request.which {
    case .found(let search):
      let fetch = try ContextFetch(context, search)
      guard fetch.plan.parts.count == 1, let part = fetch.plan.parts.first else {
        throw CambiumError(
          .invalidArgument, "objects of several stores cannot be deleted together: name one by affectedStores")
      }
      return (part.store, .found(try fetch.wholeEngineFetch(part.info)))
    case .identifiers(let identifiers):
      guard let first = identifiers.first else { return nil }
      guard let store = context.persistentStoreCoordinator.store(of: first.space),
        identifiers.allSatisfy({ $0.space.identifier == first.space.identifier })
      else {
        throw CambiumError(.invalidArgument, "the objects are not of one store that the coordinator has")
      }
      return (store, .known(identifiers.filter { !$0.isTemporaryID }.map { $0.reference }))
    }
  }
}
