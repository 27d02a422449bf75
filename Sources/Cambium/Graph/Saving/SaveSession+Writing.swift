import CambiumEngine
import CambiumKernel

/// A batch of which all is known that its transaction asks for.
struct PreparedBatch {
  let batch: SaveBatch
  fileprivate let store: PersistentStore
  fileprivate let history: HistoryRecorder?
  fileprivate let writer: SaveWriter
  fileprivate let updates: [PendingUpdate]

  /// Whether both are written into one store, which may have two spaces if it was opened again.
  func isOfSameStore(as other: PreparedBatch) -> Bool { store === other.store }
}

/// Why a batch could not be written. What that means for the objects is looked for when no transaction is under way any
/// more, since objects are made and read for it: ``ManagedObjectContext/explained(_:of:)``.
struct RefusedBatch: Error {
  fileprivate let error: EngineError
}

extension SaveSession {
  func write(_ batch: SaveBatch) throws -> SaveOutcome {
    let prepared = try prepare(batch)
    do { return try write(prepared) } catch let refused as RefusedBatch { throw explained(refused, of: prepared) }
  }

  /// Reads what has to be known of a batch before its transaction begins.
  func prepare(_ batch: SaveBatch) throws -> PreparedBatch {
    guard let store = context.persistentStoreCoordinator.store(of: batch.space) else {
      throw CambiumError(StoreError.closed)
    }
    if store.isReadOnly {
      throw store.readOnlyError
    }
    // Everything that reads happens before the transaction. History tells of objects too of which nothing is written.
    let history = HistoryRecorder(context, store)
    var updates: [PendingUpdate] = []
    var deletedByOthers: [MergeConflict] = []
    try batch.updates.lend { _, object in
      let isWritten = object.isWrittenBySave
      if isWritten { try object.requirePermanentIdentifiers() }
      if isWritten, object.row == nil {
        // A fault whose relationships were set was never read: its changes are based on the row as it is now, and so is
        // what they are added to.
        do { try object.load() } catch let error as CambiumError
          where error.code == .managedObjectReferentialIntegrity
        {
          deletedByOthers.append(MergeConflict(object, persisted: nil))
          return
        }
      }
      let links = object.pendingLinks()
      if !isWritten, links == nil, history == nil { return }
      updates.append(PendingUpdate(object: object, links: links, version: isWritten ? object.row?.version : nil))
    }
    // After what may have called the application, which may have asked for permanent identifiers.
    let writer = SaveWriter(context, batch)
    try writer.prepare()
    if !deletedByOthers.isEmpty { throw CambiumError(mergeConflicts: deletedByOthers) }
    return PreparedBatch(batch: batch, store: store, history: history, writer: writer, updates: updates)
  }

  /// Writes a batch in one transaction.
  ///
  /// - Parameter further: Called when all is written and checked, before the transaction ends; if it throws, the
  ///   transaction is rolled back.
  /// - Throws: ``RefusedBatch``; what `further` throws, as it is.
  func write(_ prepared: PreparedBatch, further: (() throws -> Void)? = nil) throws -> SaveOutcome {
    let (batch, store, writer) = (prepared.batch, prepared.store, prepared.writer)
    var outcome = SaveOutcome(batch: batch)
    var failure: (any Error)?
    do throws(EngineError) {
      try store.write { (t) throws(EngineError) in
        do throws(BatchError) { try write(prepared, t, &outcome) } catch {
          switch error {
          case .engine(let error): throw error
          case .refused(let error):
            writer.refusal = error
            throw .misuse("the save was refused")
          }
        }
        guard let further else { return }
        try t.prepareToCommit()
        do { try further() } catch {
          failure = error
          throw .misuse("what belongs to the transaction failed")
        }
      }
    } catch {
      throw failure ?? RefusedBatch(error: error)
    }
    if let number = prepared.history?.number { store.ownTransactions.note(number) }
    return outcome
  }

  /// Writes a batch: conflicts are found first, then come changes, new rows, links, deletions by the delete rules,
  /// derived values and history.
  private func write(
    _ prepared: PreparedBatch, _ t: EntityTransaction, _ outcome: inout SaveOutcome
  ) throws(BatchError) {
    let (batch, history, writer) = (prepared.batch, prepared.history, prepared.writer)
    var derived = DerivedValues(batch.space)
    t.notesChangedEnds = history != nil || derived != nil
    let isThere = try engine { () throws(EngineError) -> [Bool] in
      outcome.permanent = try writer.reserve(t)
      let isThere = try writer.findConflicts(
        prepared.updates, t, hasChangedModel: prepared.store.hasChangedModel || batch.space !== prepared.store.space)
      t.keepsRows = !context.isSavedByMigration
      // Lists come before the rows that they lead to: these need not look for their places then.
      for update in prepared.updates { try writer.update(update, t) }
      try writer.insertAll(t)
      t.keepsRows = false
      try writer.writeEdits(prepared.updates, t)
      return isThere
    }
    try engine { () throws(EngineError) in
      if let history { for reference in outcome.permanent { history.inserted(reference) } }
      for update in prepared.updates {
        let object = update.object
        // Of what nothing is written nothing has told whether others have deleted it.
        let isThere = update.version == nil ? try t.contains(object.reference) : true
        if isThere { history?.updated(object.reference, object.info, object.changedKeys) }
      }
    }
    let gone = zip(batch.deletions, isThere).filter { $0.1 }.map { $0.0 }
    if !gone.isEmpty {
      try engine { () throws(EngineError) in try writer.writeDepartures(gone, t) }
      let others = try t.deleteByRules(gone.map { $0.reference }, areThere: true, in: batch.space, history).others
      outcome.deletedByRules = others.map { ManagedObjectID(space: batch.space, reference: $0) }
    }
    try finish(prepared, t, &derived, &outcome)
  }

  /// Writes what follows from all else: derived values and history. Notes the rows that others than the objects of the
  /// batch have got.
  private func finish(
    _ prepared: PreparedBatch, _ t: EntityTransaction, _ derived: inout DerivedValues?, _ outcome: inout SaveOutcome
  ) throws(BatchError) {
    let (batch, history) = (prepared.batch, prepared.history)
    var changed = t.changedByLinks
    if derived != nil || !changed.isEmpty || !t.newChangedByLinks.isEmpty {
      var own = Set(outcome.permanent.lazy.map { $0.row })
      for update in prepared.updates where update.version != nil { own.insert(update.object.reference.row) }
      if derived != nil {
        for (object, reference) in zip(batch.insertions, outcome.permanent) {
          derived?.note(reference, object.info, isComputed: true)
        }
        for update in prepared.updates {
          let object = update.object
          derived?.note(object.reference, object.info, changed: object.changedKeys, isComputed: true)
        }
        changed +=
          try derived?.write(t, history, checks: !context.isSavedByMigration, isOwn: { own.contains($0.row) }) ?? []
      }
      var seen = Set<UInt64>()
      try engine { () throws(EngineError) in
        for reference in changed + t.newChangedByLinks where seen.insert(reference.row).inserted {
          guard let row = try t.row(reference) else { continue }
          if own.contains(reference.row) {
            outcome.rewritten[row.reference] = row
          } else {
            outcome.changedByRules.append(ManagedObjectID(space: batch.space, reference: reference))
          }
        }
      }
    }
    if !context.isSavedByMigration {
      outcome.rows = t.keptRows
    }
    try engine { () throws(EngineError) in try history?.finish(t, batch.space) }
  }

  /// What others have changed of a batch of which nothing was written, as far as that can be read.
  func mergeConflicts(of prepared: PreparedBatch) -> [MergeConflict] {
    do throws(EngineError) {
      try prepared.store.write { (t) throws(EngineError) in
        _ = try prepared.writer.findConflicts(
          prepared.updates, t, hasChangedModel: prepared.store.hasChangedModel)
        throw .misuse("nothing is to be written")
      }
    } catch {
      // If it is anything else, who tries to write it will be told.
    }
    return prepared.writer.conflicts.map { MergeConflict($0.object, persisted: $0.row) }
  }

  /// The error of a batch that could not be written.
  func explained(_ refused: RefusedBatch, of prepared: PreparedBatch) -> CambiumError {
    let (writer, space) = (prepared.writer, prepared.batch.space)
    var conflicts = writer.conflicts
    // What changes lead to, and others have deleted.
    if case .missingDestinations(let gone) = refused.error {
      for reference in gone {
        conflicts.append((context.object(with: ManagedObjectID(space: space, reference: reference)), nil))
      }
    }
    if !conflicts.isEmpty {
      return CambiumError(mergeConflicts: conflicts.map { MergeConflict($0.object, persisted: $0.row) })
    }
    if let refusal = writer.refusal { return refusal }
    var result = CambiumError(refused.error, during: .persistentStoreSave)
    result.storeURL = prepared.store.url
    if case .uniqueViolation(_, _, let existing, let offending) = refused.error {
      result.affectedObjectIDs = [existing, offending].map { ManagedObjectID(space: space, reference: $0) }
    }
    return result
  }
}
