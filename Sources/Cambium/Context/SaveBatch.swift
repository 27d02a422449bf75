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
  /// What the store has with it; nil if it could not be had.
  var view: EntityView?
}

/// The destinations of the to-many relationships that a save writes.
typealias PendingDestinations = [(key: PropertyKey, ids: [ManagedObjectID])]

/// What an update is going to write.
struct PendingUpdate {
  let object: ManagedObject
  let destinations: PendingDestinations
  /// The version of the row that the changes are based on; `nil` if only derived relationships changed, for which nothing
  /// is written.
  let version: UInt32?
}

/// A batch of which all is known that its transaction asks for.
struct PreparedBatch {
  let batch: SaveBatch
  fileprivate let store: PersistentStore
  fileprivate let history: HistoryRecorder?
  fileprivate let writer: SaveWriter
  fileprivate let updates: [PendingUpdate]
  fileprivate let departures: [BatchDeletion.Lead]
  fileprivate let omissions: Set<BatchDeletion.Lead>

  /// Whether both are written into one store, which may have two spaces if it was opened again.
  func isOfSameStore(as other: PreparedBatch) -> Bool { store === other.store }
}

/// Why a batch could not be written. What that means for the objects is looked for when no transaction is under way any more, since
/// objects are made and read for it: ``ManagedObjectContext/explained(_:of:)``.
struct RefusedBatch: Error {
  fileprivate let error: EngineError
}

extension ManagedObjectContext {
  func write(_ batch: SaveBatch) throws -> SaveOutcome {
    let prepared = try prepare(batch)
    do { return try write(prepared) } catch let refused as RefusedBatch { throw explained(refused, of: prepared) }
  }

  /// Reads the faults that a batch changes, which calls the application: before anything is prepared of batches that are written together.
  func readFaults(of batch: SaveBatch) throws {
    try batch.updates.lend { _, object in
      if object.heldRow == nil, object.isWrittenBySave { try unlessGone { try object.load() } }
    }
  }

  /// Reads what has to be known of a batch before its transaction begins.
  func prepare(_ batch: SaveBatch) throws -> PreparedBatch {
    guard let store = persistentStoreCoordinator.store(of: batch.space) else {
      throw CambiumError(.persistentStoreSave, "the store was removed from the coordinator")
    }
    if store.isReadOnly {
      throw store.readOnlyError
    }
    // Everything that reads happens before the transaction: ordered and many-to-many relationships are written whole.
    // History tells of objects too of which nothing is written.
    let history = HistoryRecorder(self, store)
    var updates: [PendingUpdate] = []
    var deletedByOthers: [MergeConflict] = []
    var omissions: Set<BatchDeletion.Lead> = []
    try batch.updates.lend { _, object in
      let isWritten = object.isWrittenBySave
      if !isWritten, history == nil { return }
      if isWritten { try object.requirePermanentIdentifiers() }
      if isWritten, object.row == nil {
        // A fault whose relationships were set was never read: its changes are based on the row as it is now, and so is what they are added to.
        do { try object.load() } catch let error as CambiumError
          where error.code == .managedObjectReferentialIntegrity
        {
          deletedByOthers.append(MergeConflict(object, persisted: nil))
          return
        }
      }
      let destinations = try object.pendingDestinations(&omissions)
      updates.append(
        PendingUpdate(object: object, destinations: destinations, version: isWritten ? object.row?.version : nil))
    }
    // After what may have called the application, which may have asked for permanent identifiers.
    let writer = SaveWriter(self, batch)
    try batch.insertions.lend { place, object in
      try object.requirePermanentIdentifiers()
      writer.prepare(object, at: place, try object.pendingDestinations(&omissions))
    }
    if !deletedByOthers.isEmpty { throw CambiumError(mergeConflicts: deletedByOthers) }
    var departures: [BatchDeletion.Lead] = []
    try batch.deletions.lend(areFar: true) { _, object in
      if object.changesRelationships { try object.addDepartures(to: &departures) }
    }
    return PreparedBatch(
      batch: batch, store: store, history: history, writer: writer, updates: updates, departures: departures,
      omissions: omissions)
  }

  /// Writes a batch in one transaction.
  ///
  /// - Parameter further: Called when all is written and checked, before the transaction ends; if it throws, the transaction is rolled back.
  /// - Throws: ``RefusedBatch``; what `further` throws, as it is.
  func write(_ prepared: PreparedBatch, further: (() throws -> Void)? = nil) throws -> SaveOutcome {
    let (batch, store, history, writer) = (prepared.batch, prepared.store, prepared.history, prepared.writer)
    var outcome = SaveOutcome(batch: batch)
    var failure: (any Error)?
    var view: EntityView?
    do throws(EngineError) {
      try store.write(keeping: &view) { (t) throws(EngineError) in
        let permanent = try writer.reserve(t)
        // Whether others may have led something to what is deleted, or away from what is changed, without the context's knowing.
        var isOld = knowsLess(than: t.sequence, of: batch.space)
        let isThere = try writer.findConflicts(
          prepared.updates, t, hasChangedModel: store.hasChangedModel || batch.space !== store.space, &isOld)
        let inserted = isOld ? Set(permanent.lazy.map { $0.row }) : []
        var links = isOld ? LinkAgreement(batch, history, inserted) : nil
        try links?.noteBefore(prepared.updates, t)
        try writer.insertAll(history, t)
        for update in prepared.updates {
          let object = update.object
          // Of what nothing is written nothing has told whether others have deleted it.
          if let history {
            let isThere = update.version == nil ? try t.contains(object.reference) : true
            if isThere { history.updated(object.reference, object.info, object.changedKeys) }
          }
          if update.version == nil { continue }
          try t.update(object.reference) { (row) throws(EngineError) in
            try writer.write(object, update.destinations, isNew: false, row)
          }
        }
        try writer.requireDestinations(t)
        try links?.restore(insertions: permanent, isThere, t)
        if isOld, isThere.contains(true) {
          let deletions = zip(batch.deletions, isThere).filter { $0.1 }.map { $0.0 }
          var deletion = BatchDeletion(batch.space, history, asksOtherSides: true, inserted: inserted)
          (deletion.departures, deletion.omissions) = (Set(prepared.departures), prepared.omissions)
          do throws(BatchError) { _ = try deletion.delete(deletions.map { $0.reference }, t) } catch {
            switch error {
            case .engine(let error): throw error
            case .refused(let error):
              writer.refusal = error
              throw .misuse("the deletion was refused")
            }
          }
          let known = Set(deletions.map { $0.objectID })
          outcome.deletedByRules = deletion.deleted.filter { !known.contains($0) }
          outcome.changedByRules = deletion.changed.filter { links?.isOwn($0) != true }
        } else {
          try batch.deletions.lend(areFar: true) { (place, object) throws(EngineError) in
            if !isThere[place] { return }
            try history?.deleted(object.reference, object.info, t)
            try t.delete(object.reference)
          }
        }
        if let changed = try links?.finish(t) { outcome.changedByRules += changed }
        try history?.finish(t)
        outcome.permanent = permanent
        // Of deletions alone nothing is left to be shown, and views keep their room from being used again.
        t.keepsView =
          !isSavedByMigration
          && !(batch.insertions.isEmpty && batch.updates.isEmpty && outcome.changedByRules.isEmpty)
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
    outcome.view = view
    return outcome
  }

  /// What others have changed of a batch of which nothing was written, as far as that can be read.
  func mergeConflicts(of prepared: PreparedBatch) -> [MergeConflict] {
    do throws(EngineError) {
      try prepared.store.write { (t) throws(EngineError) in
        var isOld = false
        _ = try prepared.writer.findConflicts(
          prepared.updates, t, hasChangedModel: prepared.store.hasChangedModel, &isOld)
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
    for id in writer.gone { conflicts.append((object(with: id), nil)) }
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

extension ManagedObject {
  /// Whether a save writes anything of the object itself, so that it finds out what others have done to it.
  var isWrittenBySave: Bool { hasRowChanges || overlay?.changesToMany(where: isWritten) == true }

  /// Refuses to save identifiers that objects have until they are saved only: an attribute holds them as they are.
  @inline(__always)
  fileprivate func requirePermanentIdentifiers() throws {
    if !info.identifierPlaces.isEmpty { try requirePermanent(info.identifierPlaces) }
  }

  private func requirePermanent(_ places: [Int]) throws {
    for place in places {
      guard case .reference(let reference)? = changedAttribute(at: place) else { continue }
      let id = ManagedObjectID(space: space, reference: reference)
      if !id.isTemporaryID { continue }
      let name = info.ordered[place].name
      throw CambiumError(
        .managedObjectReferentialIntegrity,
        "'\(name)' of '\(entity.name)' holds \(id), which is the identifier of an object until it is saved: save that before, or "
          + "give it another by obtainPermanentIDs(for:)", entityName: entity.name, key: name, objectID: objectID)
    }
  }

  /// Adds where to-one relationships led before they were changed, of an object that was deleted then.
  fileprivate func addDepartures(to departures: inout [BatchDeletion.Lead]) throws {
    guard heldRow != nil, let overlay, !overlay.toOneChanges.isEmpty else { return }
    for property in info.relationships where !property.isTransient {
      guard let r = property.relationship, overlay.toOneChanges.contains(r.place) else { continue }
      let old = try committedToOne(r)
      guard let old, try currentToOne(r) != old else { continue }
      departures.append(
        BatchDeletion.Lead(object: reference, relationship: r.schema.id, destination: old.reference))
    }
  }

  /// Whether a save writes attributes or to-one relationships of the object.
  fileprivate var hasRowChanges: Bool {
    guard let overlay else { return false }
    if overlay.changesAttributes { return true }
    return overlay.toOneChanges.containsKey { !info.relationships[$0].isTransient }
  }

  /// Whether anything is written for the relationship at a place, if it is to-many.
  private func isWritten(_ place: Int) -> Bool {
    guard let r = info.relationships[place].relationship else { return false }
    return !r.isDerived && !r.isTransient
  }

  /// The destinations of the to-many relationships that a save writes.
  ///
  /// - Parameter omissions: Gets what is not among them because it is deleted: what others have put under that is to go along, though it
  ///   is written without it.
  fileprivate func pendingDestinations(_ omissions: inout Set<BatchDeletion.Lead>) throws -> PendingDestinations {
    guard let heldOverlay, heldOverlay._withUnsafeGuaranteedRef({ $0.changesToMany(where: isWritten) }), let overlay,
      let context = managedObjectContext
    else { return [] }
    var result: PendingDestinations = []
    for place in overlay.toManyChanges.keys {
      guard isWritten(place), let r = info.relationships[place].relationship else { continue }
      var ids = try knownToMany(r)
      if !context.deleted.isEmpty {
        for id in ids where context.pending(id) == .deleted {
          guard let inverse = r.inverse else { break }
          omissions.insert(
            BatchDeletion.Lead(object: id.reference, relationship: inverse.id, destination: reference))
        }
        ids.removeAll { context.pending($0) == .deleted }
      }
      result.append((r.key, ids))
    }
    return result
  }
}
