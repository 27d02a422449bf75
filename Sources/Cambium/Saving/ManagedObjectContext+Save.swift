import CambiumEngine

// Saving, in Core Data's order: willSave until nothing changes any more; one validation of what is deleted, inserted and updated; for
// each store one transaction (conflicts, rows, links, deletions, derived values, history), the first of which ends when all are
// written; then what the objects learn of it.
extension ManagedObjectContext {
  /// Puts the context's changes into the stores, each store's in one transaction; or, if it has a ``parent``, into that. When it returns, they are as durable as
  /// the stores' ``Durability`` says; inserted objects have permanent identifiers. When it throws, nothing was saved and
  /// the changes are still there. Of several stores no transaction ends before all are written and checked: conflicts and rules in one
  /// are in the way of all. If a device fails after one of them has ended, what is in that one stays saved, which
  /// is ``CambiumError/Code/persistentStoreIncompleteSave``. In which order a save calls and tells: <doc:FromCoreData>.
  ///
  /// - Throws: a noted error by which a change was lost (once); validation errors, several as
  ///   ``CambiumError/Code/validationMultipleErrors``; ``CambiumError/Code/managedObjectMerge`` with the conflicts, if others
  ///   changed the objects since they were read and the merge policy is ``MergePolicy/error``;
  ///   ``CambiumError/Code/managedObjectConstraintMerge`` with the conflicts, if objects are not unique and the merge policy
  ///   does not say which stays; what writing throws.
  public func save() throws {
    try lock.run {
      guard !isSavedByMigration else {
        throw CambiumError(
          .persistentStoreSave, "a migration saves its contexts itself; a policy leaves its changes to the manager")
      }
      guard validation == nil else {
        throw CambiumError(
          .persistentStoreSave,
          "a method that validates has called save() while a save is under way, which saves what that method changes as well"
        )
      }
      let hook = persistentStoreCoordinator.eventHook
      guard hook.isOn else { return try savingPastGeneration { try saveLocked() } }
      let counts = (inserted.count, updated.values.count { $0.isUpdated }, deleted.count)
      try hook.run(
        .save(inserted: counts.0, updated: counts.1, deleted: counts.2), by: self,
        count: { _ in counts.0 + counts.1 + counts.2 }, plan: { nil }
      ) { try savingPastGeneration { try saveLocked() } }
    }
  }

  /// Saves what a migration has made so far: no rule of the model is checked, and no object is told.
  func saveForMigration() throws { try lock.run { try saveLocked(isMigrating: true) } }

  private func saveLocked(isMigrating: Bool = false) throws {
    try throwLostChange()
    if !isMigrating {
      takeInMail()
      processEvent()
      if hasChanges { tell { ContextNotification(.willSave, self) } }
      try callWillSave()
      processEvent()
      try throwLostChange()
    }
    notesChangesBySaving = !isMigrating && persistentStoreCoordinator.saveObservers.follow(self)
    if let parent {
      do { return try push(to: parent) } catch {
        tellChangesBySaving()
        throw error
      }
    }
    // What a save computes is not undone.
    let wasNotingEvents = isNotingEvents
    isNotingEvents = false
    defer { isNotingEvents = wasNotingEvents }
    // Told in the end, also of the stores that were saved before one failed or was tried again.
    var settled = SettledObjects()
    defer { if !isMigrating { tell(settled) } }
    do {
      try deriveFromOwnAttributes()
      if !isMigrating { try validate() }
      // A policy changes objects in memory, and the save is tried again.
      for _ in 0..<100 {
        try deriveFromOwnAttributes()
        do { return try saveChanges(isMigrating: isMigrating, &settled) } catch is ResolvedConflicts {}
      }
      throw CambiumError(
        .managedObjectMerge, "the merge policy resolved conflicts a hundred times, and there were others")
    } catch { throw settled.completed(error) }
  }

  /// Throws the first change that was lost in a call that cannot throw: once.
  private func throwLostChange() throws {
    guard let first = lostChanges.first else { return }
    lostChanges = []
    throw first
  }

  /// Computes the derived attributes that depend on their own objects alone, of what is about to be saved.
  private func deriveFromOwnAttributes() throws {
    for object in inserted.values + updated.values where object.pending == .inserted || object.isWrittenBySave {
      for rule in object.space.derivedRules where rule.relationship == nil && object.info.isKind(of: rule.entity.id) {
        // One that others have deleted has no values. Whether that is a conflict, writing will tell.
        try unlessGone {
          let value = try rule.ownValue(of: object)
          guard let coerced = rule.attribute.coerce(value) else {
            throw CambiumError(
              .managedObjectValidation,
              "the derived attribute '\(rule.attribute.name)' is of type \(rule.attribute.type.name), which cannot hold \(value)",
              entityName: object.entity.name, key: rule.attribute.name, objectID: object.objectID)
          }
          // A new object has null without a change.
          if coerced.isNull, object.state == .inserted, try object.currentValue(rule.attribute).isNull { return }
          try object.assign(coerced, to: rule.attribute)
        }
      }
    }
  }

  /// What a save has put into stores so far.
  private struct SettledObjects {
    var deletions: [ManagedObject] = []
    var insertions: [ManagedObject] = []
    var updates: [ManagedObject] = []
    var identifiers = SavedObjects()
    /// What delete rules changed and deleted though it was not of the save.
    var changedByRules: [ManagedObjectID] = []
    var deletedByRules: [ManagedObjectID] = []
    /// Whether a store was come to, even if there was nothing for any.
    var isToBeTold = false
    var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && updates.isEmpty }

    mutating func add(_ batch: SaveBatch) {
      // As a rule there is one store, and nothing is copied.
      func joined(_ known: [ManagedObject], _ new: [ManagedObject]) -> [ManagedObject] {
        known.isEmpty ? new : known + new
      }
      deletions = joined(deletions, batch.deletions)
      insertions = joined(insertions, batch.insertions)
      updates = joined(updates, batch.updates)
    }

    /// An error, with word of the stores that were saved before it.
    func completed(_ error: any Error) -> any Error {
      if isEmpty { return error }
      let stores = Set((deletions + insertions + updates).lazy.map { ObjectIdentifier($0.space) }).count
      return CambiumError(
        .persistentStoreIncompleteSave,
        "the changes of \(stores) of the stores were saved, then one failed", underlying: [error])
    }
  }

  private func tell(_ settled: SettledObjects) {
    if !settled.isEmpty {
      isNotingEvents = !isSavedByMigration
      settled.deletions.lend { $1.didSave() }
      for list in [settled.insertions, settled.updates] { list.lend { $1.didSave() } }
      var byRules = ObjectIDNotification()
      byRules.updatedObjectIDs = Set(settled.changedByRules)
      byRules.deletedObjectIDs = Set(settled.deletedByRules)
      tellDidSave(settled.insertions, settled.updates, settled.deletions, byRules: byRules)
    }
    guard settled.isToBeTold else { return tellChangesBySaving() }
    var identifiers = settled.identifiers
    identifiers.changedBySaving = takeChangedBySaving()
    persistentStoreCoordinator.saveObservers.tell(identifiers, from: self)
  }

  /// Tells what a save has changed that was refused then, as methods that validate do.
  private func tellChangesBySaving() {
    let changed = takeChangedBySaving()
    if changed.isEmpty { return }
    persistentStoreCoordinator.saveObservers.tell(takenIn: SavedObjects(changed: changed), in: self)
  }

  private func saveChanges(isMigrating: Bool, _ settled: inout SettledObjects) throws {
    let lists = pendingLists()
    guard !lists.isEmpty else {
      updated.removeAll()
      settled.isToBeTold = true
      return
    }
    let (deletions, insertions, updates) = (lists.deletions, lists.insertions, lists.updates)
    let spaces = spaces(of: [deletions, insertions, updates])
    func part(_ objects: [ManagedObject], of space: StoreSpace) -> [ManagedObject] {
      spaces.count == 1 ? objects : objects.filter { $0.space === space }
    }
    let remains = try isMigrating ? [:] : remains(of: deletions)
    settled.isToBeTold = true
    let batches = spaces.map { space in
      SaveBatch(
        space: space, deletions: part(deletions, of: space), insertions: part(insertions, of: space),
        updates: part(updates, of: space), policy: mergePolicy,
        watched: watchedObjects.filter { $0.object.space === space })
    }
    func settle(_ outcome: SaveOutcome) {
      let batch = outcome.batch
      self.settle(outcome)
      note(remains, of: batch.deletions)
      settled.add(batch)
      settled.changedByRules += outcome.changedByRules
      settled.deletedByRules += outcome.deletedByRules
      if persistentStoreCoordinator.saveObservers.isEmpty { return }
      settled.identifiers.changed.formUnion((batch.insertions + batch.updates).map { $0.objectID })
      settled.identifiers.deleted.formUnion(batch.deletions.map { $0.objectID } + outcome.deletedByRules)
      settled.identifiers.changed.formUnion(outcome.changedByRules)
    }
    if isMigrating {
      for batch in batches { settle(try write(batch)) }
    } else if batches.count > 1 {
      try writeOrResolve(batches, settle)
    } else if let batch = batches.first {
      settle(try writeOrResolve(batch))
    }
    watched = [:]
  }

  /// The stores that objects are in, in the order of the objects.
  private func spaces(of lists: [[ManagedObject]]) -> [StoreSpace] {
    if let only = homes.onlySpace { return [only] }
    var spaces: [StoreSpace] = []
    for object in lists.joined() where !spaces.contains(where: { $0 === object.space }) { spaces.append(object.space) }
    return spaces
  }

  // MARK: Before

  /// Tells the objects that the save concerns; again those that are changed meanwhile, until none is.
  private func callWillSave() throws {
    // What was told is marked with the number of the save.
    saveNumber += 1
    changedWhileTold = []
    defer { changedWhileTold = nil }
    var last: ManagedObject?
    for _ in 0..<1000 {
      let again = changedWhileTold ?? []
      changedWhileTold = []
      let seen = (changeCount, updated.count)
      var (pending, told) = (0, 0)
      func tell(_ object: ManagedObject) {
        object.noteTold(ofSave: saveNumber)
        told += 1
        object.willSave()
      }
      let (deletions, insertions, updates) = (deleted.ordered(), inserted.ordered(), updated.ordered())
      for object in again where object.hasChanges { tell(object) }
      deletions.lend { _, object in
        if object.toldOfSave != saveNumber { tell(object) }
      }
      insertions.lend { _, object in
        if object.toldOfSave != saveNumber { tell(object) }
      }
      updates.lend { _, object in
        if !object.isUpdated { return }
        pending += 1
        if object.toldOfSave != saveNumber { tell(object) }
      }
      if told == 0 { return }
      last = changedWhileTold?.first
      // Nothing was changed, nothing came to what is, and nothing of that had been taken back.
      if last == nil, seen == (changeCount, pending), seen.1 == updated.count { return }
    }
    let entity = last.map { "'\($0.entity.name)'" } ?? "an entity"
    throw CambiumError(
      .persistentStoreSave,
      "willSave() of \(entity) changes objects whenever it is called, and was called in 1,000 rounds; compare before setting, or use "
        + "setPrimitiveValue(_:forKey:)",
      entityName: last?.entity.name, objectID: last?.objectID)
  }

  /// Notes an object that was told of the save under way, and is about to change.
  func noteChangeWhileToldOfSave(_ object: ManagedObject) { changedWhileTold?.append(object) }

  // MARK: After

  /// What objects that are about to be deleted have, if their deletion can be undone.
  func remains(of deletions: [ManagedObject]) throws -> [ObjectIdentifier: ObjectRemains] {
    guard let undoManager, undoManager.canUndo || undoManager.canRedo else { return [:] }
    var result: [ObjectIdentifier: ObjectRemains] = [:]
    for object in deletions {
      // An object that others have deleted as well has nothing left.
      do { result[ObjectIdentifier(object)] = try ObjectRemains(object, in: self) } catch let error as CambiumError
        where error.code == .managedObjectReferentialIntegrity
      { continue }
    }
    return result
  }

  /// Notes what objects had whose deletion is saved.
  func note(_ remains: [ObjectIdentifier: ObjectRemains], of deletions: [ManagedObject]) {
    undoManager?.keep(remains)
    deletions.lend { _, object in
      // As a rule there are none, and objects without a state have nothing to be taken away.
      let remains = remains.isEmpty ? nil : remains[ObjectIdentifier(object)]
      object.eventState = remains.map { .removed(WeakRemains($0)) }
    }
  }

  /// Has the objects of a save show the rows that were written. What they are given next is based on these: what others save behind them is
  /// a conflict.
  private func showSaved(_ outcome: SaveOutcome) {
    let batch = outcome.batch
    guard let rows = outcome.rows else { return }
    var next = 0
    let written = outcome.writtenUpdates
    rows.forEach { row, reference in
      let object = next < written.count ? written[next] : batch.insertions[next - written.count]
      next += 1
      object.row = outcome.rewritten.isEmpty ? row.row : outcome.rewritten[reference] ?? row.row
      object.state = .loaded
    }
  }

  private func settle(_ outcome: SaveOutcome) {
    let batch = outcome.batch
    advance()
    // What is in another store, or was changed too late for this save.
    let leavesSome =
      deleted.count + inserted.count + updated.count
      > batch.deletions.count + batch.insertions.count + batch.updates.count
    deleted.remove(contentsOf: batch.deletions)
    batch.deletions.lend { _, object in
      registry.remove(batch.space, object.reference)
      object.dropChanges()
      object.leaveContext()
      object.state = .detached
    }
    // Who looks on, as results do, may have told of inserted objects.
    let isToldOn = !eventObjects.isEmpty || !children.living.isEmpty || notesChangesBySaving
    let isRenaming = isToldOn || leavesSome
    var renamed: [ManagedObjectID: ManagedObjectID] = [:]
    if isRenaming { renamed.reserveCapacity(batch.insertions.count) }
    // Nothing in these two loops calls the application, which would find the lists half-way.
    var count = 0
    batch.insertions.lend { place, object in
      if object.pending == .inserted {
        object.pending = .none
        count += 1
      }
      let temporary = object.reference
      if temporary.row >= ManagedObjectID.firstTemporaryRow {
        object.become(permanent: outcome.permanent[place])
        registry.rename(object, batch.space, from: temporary, to: outcome.permanent[place])
      }
      if isRenaming { renamed[ManagedObjectID(space: batch.space, reference: temporary)] = object.objectID }
      object.dropChanges()
      if object.heldRow != nil { object.row = nil }
      object.state = .stale
    }
    inserted.forget(count)
    count = 0
    batch.updates.lend { _, object in
      if object.pending == .updated {
        object.pending = .none
        count += 1
      }
      object.dropChanges()
      // What was not written is read anew.
      if object.state != .fault { object.state = .stale }
      if object.heldRow != nil { object.row = nil }
    }
    updated.forget(count)
    updated.removeAll { $0.space === batch.space && !$0.isUpdated }
    for id in outcome.changedByRules + outcome.deletedByRules {
      guard let object = registered(id), object.isPresent, !object.isUpdated else { continue }
      object.row = nil
      if object.state == .loaded { object.state = .stale }
    }
    showSaved(outcome)
    if leavesSome { renameChanges(renamed) }
    if !isToldOn { return }
    // The event may have begun in the save, with who was told of the one before.
    renameEventStates(renamed)
    // To children they are told, which notes them. Of very many, nobody has been told one by one.
    let isFollowed = notesChangesBySaving && children.living.isEmpty && renamed.count <= permanentIDs.limit
    if isFollowed { permanentIDs.merge(renamed) }
    tellChildren(permanent: renamed)
  }
}
