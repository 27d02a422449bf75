import CambiumEngine
import CambiumKernel

// Conflicts are looked for when a write was refused, outside of the transaction, so that a save without any pays
// nothing; who resolves them changes the objects in memory, and the save is tried again.
extension SaveSession {
  /// A save that is to be tried again, since its conflicts were resolved.
  struct ResolvedConflicts: Error {}

  /// Writes a batch.
  ///
  /// - Throws: as ``resolve(_:of:watched:)``.
  func writeOrResolve(_ batch: SaveBatch) throws -> SaveOutcome {
    do { return try write(batch) } catch { throw try resolve(error, of: batch) }
  }

  /// Does what is to be done about what writing a batch has thrown.
  ///
  /// - Returns: ``ResolvedConflicts`` if there were conflicts, and the policy has resolved them; else the error.
  /// - Throws: what the policy throws, or in place of the error.
  private func resolve(
    _ error: any Error, of batch: SaveBatch, watched: [WatchedObject]? = nil
  ) throws -> any Error {
    let watched = watched ?? batch.watched
    guard let error = error as? CambiumError else { return error }
    switch error.code {
    case .managedObjectMerge where !error.conflicts.isEmpty && batch.policy != .error:
      // Objects without changes are looked after for who wants to know of every conflict.
      if batch.policy.isPlain,
        error.conflicts.contains(where: { conflict in
          watched.contains { $0.object === conflict.sourceObject }
        })
      {
        return error
      }
      try resolve(error.conflicts, by: batch.policy)
    case .managedObjectConstraintMerge:
      let conflicts = try constraintConflicts(batch)
      // Another writer may have been in the way for a moment.
      guard !conflicts.isEmpty else { break }
      if batch.policy == .error {
        return CambiumError(constraintConflicts: conflicts, underlying: error.underlyingErrors)
      }
      try batch.policy.resolve(constraintConflicts: conflicts)
    default: return error
    }
    return ResolvedConflicts()
  }

  /// Writes batches of several stores, in a transaction each: the first one ends when all are written and checked, so
  /// that what one refuses is saved in none.
  ///
  /// - Parameter settle: Is told each that was saved, also if then one fails.
  /// - Throws: as ``writeOrResolve(_:)``; if one has been told, what kept the transaction of another from ending.
  func writeOrResolve(
    _ batches: [SaveBatch], _ settle: (SaveOutcome) -> Void
  ) throws {
    // In one order for all who write into these stores: none waits for another who waits for it.
    let ordered = batches.ordered { $0.space.identifier < $1.space.identifier }
    var prepared: [PreparedBatch] = []
    for batch in ordered {
      do { prepared.append(try prepare(batch)) } catch { throw try resolve(error, of: batch) }
    }
    if zip(prepared, prepared.dropFirst()).contains(where: { $0.isOfSameStore(as: $1) }) {
      // Two transactions of one store cannot be one within the other.
      for batch in ordered { settle(try writeOrResolve(batch)) }
      return
    }
    var written: [SaveOutcome] = []
    // The innermost of the transactions that do not end is the one that was refused.
    var refusedPlace: Int?
    func writeAll(from place: Int) throws {
      let next = place + 1
      do {
        written.append(
          try write(prepared[place], further: next == prepared.count ? nil : { try writeAll(from: next) }))
      } catch {
        refusedPlace = refusedPlace ?? place
        throw error
      }
    }
    do { try writeAll(from: 0) } catch {
      guard let refused = error as? RefusedBatch, let place = refusedPlace else { throw error }
      let batch = prepared[place].batch
      var error = explained(refused, of: prepared[place])
      for outcome in written { settle(outcome) }
      if !written.isEmpty { throw error }
      var watched = batch.watched
      if error.code == .managedObjectMerge, !error.conflicts.isEmpty {
        // All that are in the way are told, and decided about, at once. In the stores before this one there are none.
        let later = prepared[(place + 1)...]
        let further = later.flatMap { mergeConflicts(of: $0) }
        watched += later.flatMap { $0.batch.watched }
        if !further.isEmpty { error = CambiumError(mergeConflicts: error.conflicts + further) }
      }
      throw try resolve(error, of: batch, watched: watched)
    }
    for outcome in written { settle(outcome) }
  }

  /// Has a policy decide, with what the objects have based on the rows that are in the store: only so does it see which
  /// objects relationships lead to by now.
  private func resolve(_ conflicts: [MergeConflict], by policy: MergePolicy) throws {
    context.advance()
    for conflict in conflicts {
      if let persisted = conflict.persisted { conflict.sourceObject.row = persisted }
    }
    do { try policy.resolve(optimisticLockingConflicts: conflicts) } catch {
      // They stay conflicts.
      for conflict in conflicts where conflict.sourceObject.managedObjectContext === context {
        conflict.sourceObject.row = conflict.cached
      }
      throw error
    }
    for conflict in conflicts {
      try settle(conflict)
    }
  }

  /// Bases an object's changes on the row that is in the store.
  private func settle(_ conflict: MergeConflict) throws {
    let object = conflict.sourceObject
    guard object.managedObjectContext === context else { return }
    context.noteChangeBySaving(object)
    context.snapshots.watched[object.objectID] = nil
    if let persisted = conflict.persisted {
      object.row = persisted
    } else if !object.isDeleted {
      try object.withdrawChanges()
      try release(object)
    }
    if !object.isDeleted, !object.isUpdated {
      context.updated.remove(object)
      object.row = nil
      if object.state != .fault { object.state = .stale }
    }
  }

  /// Has no unsaved change lead to an object that is gone, by relationships without an inverse.
  private func release(_ gone: ManagedObject) throws {
    for object in context.inserted.values + context.updated.values where object !== gone {
      for r in object.info.storedRelationships {
        if r.isToMany {
          guard object.toManyChanges[r.place] != nil else { continue }
          if try object.contains(gone.objectID, r) { try object.recordRemove(gone.objectID, r) }
        } else if let changed = object.toOneChanges[r.place], changed == gone.objectID {
          try object.recordToOne(r, nil)
        }
      }
    }
  }

  // MARK: Constraints

  private struct Group {
    let constraint: UniquenessConstraint
    let entity: EntitySchema
    let values: [Value]
    var objects: [ManagedObject] = []
  }

  /// The objects of a batch that are not unique among themselves and the rows in the store, as they are now.
  private func constraintConflicts(_ batch: SaveBatch) throws -> [ConstraintConflict] {
    var groups: [[Value]: Group] = [:]
    var order: [[Value]] = []
    for object in batch.insertions + batch.updates {
      var entity: EntitySchema? = object.info.schema
      while let current = entity {
        for constraint in current.uniquenessConstraints {
          guard let values = try values(of: object, under: constraint) else { continue }
          let key = [.integer(Int64(constraint.id))] + values
          if groups[key] == nil { order.append(key) }
          groups[key, default: Group(constraint: constraint, entity: current, values: values)].objects.append(object)
        }
        entity = current.parentID.flatMap { id in object.info.storeSchema?.entity(id: id) }
      }
    }
    context.advance()
    let view = try context.view(of: batch.space)
    var result: [ConstraintConflict] = []
    for key in order {
      guard let group = groups[key] else { continue }
      let found = try mapping { () throws(EngineError) in
        try view.lookup(group.entity, by: group.constraint.paths).first(group.values)
      }
      let database = try found.flatMap { try holder(ManagedObjectID(space: batch.space, reference: $0), of: group) }
      guard group.objects.count + (database == nil ? 0 : 1) > 1 else { continue }
      var values: [String: Any] = [:]
      for (path, value) in zip(group.constraint.paths, group.values) {
        values[path] = value.foundation(type: .undefined, objects: batch.space)
      }
      result.append(
        ConstraintConflict(group.constraint.paths, values, database: database, objects: group.objects))
    }
    return result
  }

  /// What an object has under a constraint; nil if it has not all of it, or is stored and has changed nothing of it.
  private func values(of object: ManagedObject, under constraint: UniquenessConstraint) throws -> [Value]? {
    let names = constraint.paths.map { path in path.split(separator: ".").first.map { String($0) } ?? path }
    guard
      object.isInserted
        || names.contains(where: { object.info.properties[$0].map(object.isChanged) ?? false })
    else { return nil }
    let values = try constraint.paths.map { try object.engineValue(keyPath: $0) }
    // Null is like nothing else.
    return values.contains { $0.isNull } ? nil : values
  }

  /// The object of a row that has a group's values in the store, unless the save takes them from it, or it is in the
  /// group.
  private func holder(_ id: ManagedObjectID, of group: Group) throws -> (object: ManagedObject, isNew: Bool)? {
    guard let known = context.registered(id) else { return (context.object(with: id), true) }
    if known.isDeleted || group.objects.contains(known) { return nil }
    guard known.pending == .updated else {
      // What the context has of it may be old.
      if known.state == .loaded { context.rebase(known) } else { known.row = nil }
      return (known, false)
    }
    return try values(of: known, under: group.constraint).map { $0 == group.values } ?? true ? (known, false) : nil
  }
}
