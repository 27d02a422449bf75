import CambiumEngine

/// The changes of one store that a save writes.
struct SaveBatch {
  let space: StoreSpace
  let deletions: [ManagedObject]
  let insertions: [ManagedObject]
  let updates: [ManagedObject]
  let policy: MergePolicy
  /// Unchanged objects that others must not have changed either.
  var watched: [WatchedObject] = []
}

/// What a written batch leaves to do in memory.
struct SaveOutcome {
  let batch: SaveBatch
  /// The permanent references of the inserted objects, in their order.
  var permanent: [ObjectReference] = []
  /// Objects that are not of the save, and were changed or deleted by delete rules, since others have led them to what it
  /// deletes.
  var changedByRules: [ManagedObjectID] = []
  var deletedByRules: [ManagedObjectID] = []
}

/// The destinations of the to-many relationships that a save writes.
private typealias PendingDestinations = [(key: PropertyKey, ids: [ManagedObjectID])]

/// What an update is going to write.
private struct PendingUpdate {
  let object: ManagedObject
  let destinations: PendingDestinations
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
    let destinations = try batch.insertions.map { try $0.pendingDestinations() }
    var updates: [PendingUpdate] = []
    updates.reserveCapacity(batch.updates.count)
    var deletedByOthers: [MergeConflict] = []
    for object in batch.updates {
      let destinations = try object.pendingDestinations()
      let isWritten = object.hasRowChanges || !destinations.isEmpty
      if isWritten, object.row == nil {
        // A fault whose relationships were set was never read: its changes are based on the row as it is now.
        do { try object.load() } catch let error as CambiumError
          where error.code == .managedObjectReferentialIntegrity
        {
          deletedByOthers.append(MergeConflict(object, persisted: nil))
          continue
        }
      }
      updates.append(
        PendingUpdate(object: object, destinations: destinations, version: isWritten ? object.row?.version : nil))
    }
    if !deletedByOthers.isEmpty { throw CambiumError(mergeConflicts: deletedByOthers) }

    let history = HistoryRecorder(self, store)
    var outcome = SaveOutcome(batch: batch)
    var conflicts: [(object: ManagedObject, row: Row?)] = []
    // Conflicts are resolved outside of the transaction. A deletion is one only for who wants to know.
    let asksBeforeDeleting = !batch.policy.isPlain || batch.policy.mergeType == .error
    // What says more than the engine's error.
    var refusal: CambiumError?
    var gone: [ManagedObjectID] = []
    do throws(EngineError) {
      try store.write { (t) throws(EngineError) in
        var permanent: [ObjectReference] = []
        permanent.reserveCapacity(batch.insertions.count)
        for (place, object) in batch.insertions.enumerated() {
          object.ownOverlay.savePlace = place
          let reference = object.reference
          permanent.append(
            reference.row >= ManagedObjectID.firstTemporaryRow
              ? try t.reserveReference(entity: reference.entity) : reference)
        }
        // Others may have deleted what the changes lead to, and have known nothing of that.
        var found = Set<ObjectReference>()
        var lastFound: ObjectReference?
        func resolve(_ id: ManagedObjectID) throws(EngineError) -> ObjectReference {
          if id.reference == lastFound, !id.isTemporaryID { return id.reference }
          if let object = inserted[id], let place = object.overlay?.savePlace, batch.insertions.indices.contains(place),
            batch.insertions[place] === object
          {
            return permanent[place]
          }
          guard !id.isTemporaryID else {
            refusal = CambiumError(
              .managedObjectReferentialIntegrity,
              "a relationship leads to \(id), which is neither saved nor inserted in this context", objectID: id)
            throw .misuse("a relationship leads to an object that is not saved")
          }
          if id.reference != lastFound, !found.contains(id.reference) {
            if try t.contains(id.reference) { found.insert(id.reference) } else { gone.append(id) }
          }
          lastFound = id.reference
          return id.reference
        }
        var skipped = Set<ManagedObjectID>()
        // Whether others may have led something to what is deleted since the delete rules were applied.
        var areRulesOld = deletionSequences[ObjectIdentifier(batch.space)] != t.sequence
        for object in batch.deletions {
          let id = object.objectID
          let current = try t.row(id.reference)
          if let base = object.row?.version, let current, base != current.version, asksBeforeDeleting {
            conflicts.append((object, current))
          }
          if current == nil { skipped.insert(id) }
          if let base = object.row?.version, base != current?.version { areRulesOld = true }
        }
        for update in updates {
          guard let base = update.version else { continue }
          let current = try t.row(update.object.reference)
          if current?.version != base { conflicts.append((update.object, current)) }
        }
        for one in batch.watched {
          let current = try t.row(one.object.reference)
          if let base = one.version, base != current?.version { conflicts.append((one.object, current)) }
        }
        guard conflicts.isEmpty else { throw .misuse("conflicts") }
        for (place, object) in batch.insertions.enumerated() {
          try t.insert(permanent[place]) { (writer) throws(EngineError) in
            try object.write(destinations[place], isNew: true, writer, resolve)
          }
          history?.inserted(permanent[place])
        }
        for update in updates {
          let object = update.object
          history?.updated(object.reference, object.info, object.changedKeys)
          if update.version == nil { continue }
          try t.update(object.reference) { (writer) throws(EngineError) in
            try object.write(update.destinations, isNew: false, writer, resolve)
          }
        }
        guard gone.isEmpty else { throw .misuse("destinations are gone") }
        let deletions = batch.deletions.filter { !skipped.contains($0.objectID) }
        if areRulesOld, !deletions.isEmpty {
          var deletion = BatchDeletion(batch.space, history, asksOtherSides: true)
          do throws(BatchError) { _ = try deletion.delete(deletions.map { $0.reference }, t) } catch {
            switch error {
            case .engine(let error): throw error
            case .refused(let error):
              refusal = error
              throw .misuse("the deletion was refused")
            }
          }
          let known = Set(deletions.map { $0.objectID })
          outcome.deletedByRules = deletion.deleted.filter { !known.contains($0) }
          outcome.changedByRules = deletion.changed
        } else {
          for object in deletions {
            try history?.deleted(object.reference, object.info, t)
            try t.delete(object.reference)
          }
        }
        try history?.finish(t)
        outcome.permanent = permanent
      }
    } catch {
      for id in gone { conflicts.append((object(with: id), nil)) }
      if !conflicts.isEmpty {
        throw CambiumError(mergeConflicts: conflicts.map { MergeConflict($0.object, persisted: $0.row) })
      }
      if let refusal { throw refusal }
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

extension ManagedObject {
  /// Whether a save writes attributes or to-one relationships of the object.
  fileprivate var hasRowChanges: Bool {
    guard let overlay else { return false }
    if !overlay.attributeChanges.isEmpty { return true }
    return overlay.toOneChanges.keys.contains { info.relationships[$0].isTransient == false }
  }

  /// The destinations of the to-many relationships that a save writes.
  fileprivate func pendingDestinations() throws -> PendingDestinations {
    guard let overlay, !overlay.toManyChanges.isEmpty else { return [] }
    var result: PendingDestinations = []
    for place in overlay.toManyChanges.keys {
      guard let r = info.relationships[place].relationship, !r.isDerived, !r.isTransient else { continue }
      result.append((r.key, try currentToMany(r)))
    }
    return result
  }

  /// Writes the changes into the row that the writer has begun.
  fileprivate func write(
    _ destinations: PendingDestinations, isNew: Bool, _ writer: RowWriter,
    _ resolve: (ManagedObjectID) throws(EngineError) -> ObjectReference
  ) throws(EngineError) {
    guard let overlay else { return }
    let info = info
    try overlay.attributeChanges.forEach { (place, value) throws(EngineError) in
      // All is null in a new row.
      if isNew, value.isNull { return }
      try writer.set(attribute: info.attributeKeys[place], value)
    }
    try overlay.toOneChanges.forEach { (place, id) throws(EngineError) in
      guard let r = info.relationships[place].relationship, !r.isTransient else { return }
      if let id { try writer.set(toOne: r.key, try resolve(id)) } else { try writer.set(toOne: r.key, nil) }
    }
    for (key, ids) in destinations {
      var references: [ObjectReference] = []
      references.reserveCapacity(ids.count)
      for id in ids { references.append(try resolve(id)) }
      try writer.set(toMany: key, references)
    }
  }
}
