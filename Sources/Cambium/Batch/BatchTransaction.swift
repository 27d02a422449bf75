import CambiumEngine

/// A transaction of its own for a batch request, which the store's history records.
struct BatchTransaction {
  let context: ManagedObjectContext
  let store: PersistentStore

  /// Runs a batch, and returns the identifiers of the objects that it concerns.
  func run(
    _ body: (EntityTransaction, HistoryRecorder?, inout DerivedValues?) throws(BatchError) -> [ObjectReference]
  ) throws -> [ManagedObjectID] {
    if store.isReadOnly { throw store.readOnlyError }
    var refusal: CambiumError?
    defer { context.advance() }
    do throws(EngineError) {
      let references = try store.write { (t) throws(EngineError) -> [ObjectReference] in
        let history = HistoryRecorder(context, store)
        var derived = DerivedValues(store.space)
        t.notesChangedEnds = history != nil || derived != nil
        do throws(BatchError) {
          let references = try body(t, history, &derived)
          _ = try derived?.write(t, history, checks: false, isOwn: { _ in false })
          try engine { () throws(EngineError) in try history?.finish(t, store.space) }
          return references
        } catch {
          switch error {
          case .engine(let error): throw error
          case .refused(let error):
            refusal = error
            throw .misuse("the batch was refused")
          }
        }
      }
      return references.map { identifier($0) }
    } catch {
      throw refusal ?? failure(error)
    }
  }

  private func failure(_ error: EngineError) -> CambiumError {
    var result = CambiumError(error, during: .persistentStoreSave)
    result.storeURL = store.url
    if case .missingDestinations(let gone) = error { result.affectedObjectIDs = gone.map { identifier($0) } }
    if case .uniqueViolation(_, _, let existing, let offending) = error {
      result.affectedObjectIDs = [existing, offending].map { identifier($0) }
    }
    return result
  }

  private func identifier(_ reference: ObjectReference) -> ManagedObjectID {
    ManagedObjectID(space: store.space, reference: reference)
  }
}

/// Runs `body`, and turns its error into a refusal of the batch.
func accepting<R>(_ body: () throws -> R) throws(BatchError) -> R {
  do { return try body() } catch {
    throw .refused(error as? CambiumError ?? CambiumError(.coreData, "\(error)", underlying: [error]))
  }
}
