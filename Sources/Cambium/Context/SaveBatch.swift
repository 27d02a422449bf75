import CambiumEngine

/// The changes of one store that a save writes.
struct SaveBatch {
  let space: StoreSpace
  let deletions: [ManagedObject]
  let insertions: [ManagedObject]
  let updates: [ManagedObject]
  let policy: MergePolicy
  /// Unchanged objects that others must not have changed either.
  var watched: [ManagedObject] = []
}

/// What a written batch leaves to do in memory.
struct SaveOutcome {
  let batch: SaveBatch
  /// The permanent identifiers of the inserted objects, by the temporary ones.
  var permanent: IDMap<ManagedObjectID> = [:]
}

/// What an update is going to write; nil lists nothing.
private struct PendingUpdate {
  let object: ManagedObject
  let values: PendingValues
  /// The version of the row that the changes are based on; `nil` if only derived relationships changed, for which nothing
  /// is written.
  let version: UInt32?
}

extension ManagedObjectContext {
  func write(_ batch: SaveBatch) throws -> SaveOutcome {
    guard let store = persistentStoreCoordinator.store(of: batch.space) else {
      throw CambiumError(.persistentStoreSave, "the store was removed from the coordinator")
    }
    if store.isReadOnly {
      throw store.readOnlyError
    }
    // Everything that reads happens before the transaction: ordered and many-to-many relationships are written whole.
    let insertions = try batch.insertions.map { try PendingValues($0) }
    var updates: [PendingUpdate] = []
    updates.reserveCapacity(batch.updates.count)
    for object in batch.updates {
      let pending = try PendingValues(object)
      if !pending.isEmpty {
        // A fault whose relationships were set was never read: its changes are based on the row as it is now.
        if object.row == nil { try object.load() }
      }
      updates.append(
        PendingUpdate(object: object, values: pending, version: pending.isEmpty ? nil : object.row?.version))
    }

    let history = HistoryRecorder(self, store)
    var outcome = SaveOutcome(batch: batch)
    var conflicts: [(object: ManagedObject, row: Row?)] = []
    // Conflicts are resolved outside of the transaction. A deletion is one only for who wants to know.
    let asksBeforeDeleting = !batch.policy.isPlain || batch.policy.mergeType == .error
    var missing: CambiumError?
    do throws(EngineError) {
      try store.write { (t) throws(EngineError) in
        var permanent: IDMap<ManagedObjectID> = [:]
        for object in batch.insertions {
          let id = object.objectID
          permanent[id] =
            id.isTemporaryID
            ? ManagedObjectID(space: batch.space, reference: try t.reserveReference(object.info.schema)) : id
        }
        func resolve(_ id: ManagedObjectID) throws(EngineError) -> ObjectReference {
          if let id = permanent[id] { return id.reference }
          guard !id.isTemporaryID else {
            missing = CambiumError(
              .managedObjectReferentialIntegrity,
              "a relationship leads to \(id), which is neither saved nor inserted in this context", objectID: id)
            throw .misuse("a relationship leads to an object that is not saved")
          }
          return id.reference
        }
        var skipped = Set<ManagedObjectID>()
        for object in batch.deletions {
          let id = object.objectID
          let current = try t.row(id.reference)
          if let base = object.row?.version, let current, base != current.version, asksBeforeDeleting {
            conflicts.append((object, current))
          }
          if current == nil { skipped.insert(id) }
        }
        for update in updates {
          guard let base = update.version else { continue }
          let current = try t.row(update.object.objectID.reference)
          if current?.version != base { conflicts.append((update.object, current)) }
        }
        for object in batch.watched {
          let current = try t.row(object.objectID.reference)
          if let base = object.row?.version, base != current?.version { conflicts.append((object, current)) }
        }
        guard conflicts.isEmpty else { throw .misuse("conflicts") }
        for (object, pending) in zip(batch.insertions, insertions) {
          guard let id = permanent[object.objectID] else { continue }
          try t.insert(id.reference, try pending.rowValues(resolve))
          history?.inserted(id.reference)
        }
        for update in updates {
          let object = update.object
          history?.updated(object.objectID.reference, object.info, object.changedKeys)
          if update.version == nil || update.values.isEmpty { continue }
          try t.update(object.objectID.reference, try update.values.rowValues(resolve))
        }
        for object in batch.deletions where !skipped.contains(object.objectID) {
          try history?.deleted(object.objectID.reference, object.info, t)
          try t.delete(object.objectID.reference)
        }
        try history?.finish(t)
        outcome.permanent = permanent
      }
    } catch {
      if !conflicts.isEmpty {
        throw CambiumError(mergeConflicts: conflicts.map { MergeConflict($0.object, persisted: $0.row) })
      }
      if let missing { throw missing }
      var result = CambiumError(error, during: .persistentStoreSave)
      result.storeURL = store.url
      if case .uniqueViolation(_, _, let existing, let offending) = error {
        result.affectedObjectIDs = [existing, offending].map { ManagedObjectID(space: batch.space, reference: $0) }
      }
      throw result
    }
    return outcome
  }
}

/// The properties of an object that a save writes, read before the transaction.
struct PendingValues {
  private var attributes: NameMap<Value> = [:]
  private var toOne: NameMap<ManagedObjectID?> = [:]
  private var toMany: NameMap<[ManagedObjectID]> = [:]

  init(_ object: ManagedObject) throws {
    attributes = object.attributeChanges
    if object.state == .inserted, attributes.values.contains(where: { $0.isNull }) {
      attributes = attributes.filter { !$1.isNull }
    }
    if object.toOneChanges.isEmpty, object.toManyChanges.isEmpty { return }
    for (name, id) in object.toOneChanges {
      if object.info.properties[name]?.isTransient == true { continue }
      toOne.updateValue(id, forKey: name)
    }
    for (name, _) in object.toManyChanges {
      guard let property = object.info.properties[name], let r = property.relationship else { continue }
      if r.isDerived || property.isTransient { continue }
      toMany[name] = try object.currentToMany(r)
    }
  }

  var isEmpty: Bool { attributes.isEmpty && toOne.isEmpty && toMany.isEmpty }

  func rowValues(
    _ resolve: (ManagedObjectID) throws(EngineError) -> ObjectReference
  ) throws(EngineError) -> RowValues {
    var result = RowValues(attributes)
    for (name, id) in toOne {
      if let id { result.set(toOne: name, try resolve(id)) } else { result.set(toOne: name, nil) }
    }
    for (name, ids) in toMany {
      var references: [ObjectReference] = []
      for id in ids { references.append(try resolve(id)) }
      result.set(toMany: name, references)
    }
    return result
  }
}
