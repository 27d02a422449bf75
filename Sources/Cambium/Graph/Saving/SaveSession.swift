import CambiumEngine
import Synchronization

/// One save of a context, and what lives as long as it.
///
/// It goes in Core Data's order: `willSave` until nothing changes any more; one validation of what is deleted, inserted
/// and updated; for each store one transaction (conflicts, rows, links, deletions, derived values, history), the first
/// of which ends when all are written; then what the objects learn of it.
final class SaveSession {
  let context: ManagedObjectContext
  /// Whether a migration saves what it has made so far: no rule of the model is checked, and no object is told.
  let isMigrating: Bool
  /// Tells this save from others.
  let number: UInt64
  /// While objects are told of the save, those that were told and have changed since; nil otherwise.
  var changedWhileTold: [ManagedObject]?
  /// While methods that validate are called, in which nobody saves; nil otherwise.
  var validation: ValidationWatch?
  /// The objects that were put into stores so far. Observers are told at the end, also if a later store fails.
  private var settled = SavedObjects()
  /// Whether observers are told even if there was nothing to save.
  private var isToBeTold = false

  private static let count = Atomic<UInt64>(0)

  init(_ context: ManagedObjectContext, isMigrating: Bool = false) {
    self.context = context
    self.isMigrating = isMigrating
    number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
  }

  /// Saves, with the context's lock held.
  func run() throws {
    let outer = context.session
    context.session = self
    defer { context.session = outer }
    try throwLostChange()
    if !isMigrating {
      context.takeInMail()
      context.processEvent()
      if context.hasChanges { context.tell { ContextNotification(.willSave, self.context) } }
      try callWillSave()
      context.processEvent()
      try throwLostChange()
    }
    context.events.notesChangesBySaving =
      !isMigrating && context.persistentStoreCoordinator.saveObservers.follow(context)
    if let parent = context.parent {
      do { return try context.push(to: parent, in: self) } catch {
        tellChangesBySaving()
        throw error
      }
    }
    // What a save computes is not undone.
    let wasNotingEvents = context.events.isNoting
    context.events.isNoting = false
    defer { context.events.isNoting = wasNotingEvents }
    defer { if !isMigrating { tellSettled() } }
    do {
      try deriveFromOwnAttributes()
      if !isMigrating { try validate() }
      for _ in 0..<100 {
        do { return try saveChanges() } catch is ResolvedConflicts {}
        // A policy has changed objects in memory: what it decided is checked as all else is.
        try deriveFromOwnAttributes()
        if !isMigrating { try validate() }
      }
      throw CambiumError(
        .managedObjectMerge, "the merge policy resolved conflicts a hundred times, and there were others")
    } catch { throw completed(error) }
  }

  /// Throws the first change that was lost in a call that cannot throw: once.
  private func throwLostChange() throws {
    guard let first = context.lostChanges.first else { return }
    context.lostChanges = []
    throw first
  }

  /// Computes the derived attributes that depend on their own objects alone, of what is about to be saved.
  private func deriveFromOwnAttributes() throws {
    if context.homes.onlySpace?.derivedRules.isEmpty == true { return }
    for object in context.inserted.values + context.updated.values
    where object.pending == .inserted || object.isWrittenBySave {
      for rule in object.space.derivedRules where rule.relationship == nil && object.info.isKind(of: rule.entity.id) {
        // One that others have deleted has no values. Whether that is a conflict, writing will tell.
        try unlessGone {
          let value = try rule.ownValue(of: object)
          guard let coerced = rule.attribute.coerce(value) else {
            throw rule.unfit(value, of: object.objectID)
          }
          // A new object has null without a change.
          if coerced.isNull, object.state == .inserted, try object.currentValue(rule.attribute).isNull { return }
          try object.assign(coerced, to: rule.attribute)
        }
      }
    }
  }

  /// Adds the objects of a batch to those that were put into stores.
  private func noteSettled(_ outcome: SaveOutcome) {
    // The delete rules have deleted these objects in the transaction, whatever was written of them before.
    let gone = Set(outcome.deletedByRules)
    if !outcome.changedByRules.isEmpty || !gone.isEmpty {
      settled.byRules.formUnion(ObjectIDNotification(updated: outcome.changedByRules, deleted: gone))
    }
    // With one store, which is usual, no array is copied.
    func joined(_ known: [ManagedObject], _ new: [ManagedObject]) -> [ManagedObject] {
      let new = gone.isEmpty ? new : new.filter { !gone.contains($0.objectID) }
      return known.isEmpty ? new : known + new
    }
    settled.deleted = joined(settled.deleted, outcome.batch.deletions)
    settled.inserted = joined(settled.inserted, outcome.batch.insertions)
    settled.updated = joined(settled.updated, outcome.batch.updates)
  }

  /// Returns an error with a mention of the stores that were saved before it.
  private func completed(_ error: any Error) -> any Error {
    if settled.isEmpty { return error }
    let stores = Set(settled.all.lazy.map { ObjectIdentifier($0.space) }).count
    return CambiumError(
      .persistentStoreIncompleteSave,
      "the changes of \(stores) of the stores were saved, then one failed", underlying: [error])
  }

  private func tellSettled() {
    if !settled.isEmpty {
      context.events.isNoting = !context.isSavedByMigration
      for list in [settled.deleted, settled.inserted, settled.updated] { list.lend { $1.didSave() } }
      context.tellDidSave(settled)
    }
    guard isToBeTold else { return tellChangesBySaving() }
    let changedBySaving = context.takeChangedBySaving()
    if context.persistentStoreCoordinator.saveObservers.isEmpty { return }
    var identifiers = settled.identifiers
    identifiers.refreshedObjectIDs = changedBySaving
    context.persistentStoreCoordinator.saveObservers.tell(.saved(identifiers), of: context)
  }

  /// Tells what a save has changed that was refused then, as methods that validate do.
  private func tellChangesBySaving() {
    let changed = context.takeChangedBySaving()
    if changed.isEmpty { return }
    context.persistentStoreCoordinator.saveObservers.tell(.takenIn(ObjectIDNotification(updated: changed)), of: context)
  }

  private func saveChanges() throws {
    let saved = context.pendingObjects
    guard !saved.isEmpty else {
      context.updated.removeAll()
      isToBeTold = true
      return
    }
    let spaces = spaces(of: saved)
    func part(_ objects: [ManagedObject], of space: StoreSpace) -> [ManagedObject] {
      spaces.count == 1 ? objects : objects.filter { $0.space === space }
    }
    let remains = try isMigrating ? [:] : context.remains(of: saved.deleted)
    isToBeTold = true
    let batches = spaces.map { space in
      SaveBatch(
        space: space, deletions: part(saved.deleted, of: space), insertions: part(saved.inserted, of: space),
        updates: part(saved.updated, of: space), policy: context.mergePolicy,
        watched: context.watchedObjects.filter { $0.object.space === space })
    }
    func settle(_ outcome: SaveOutcome) {
      self.settle(outcome)
      context.undoManager?.keep(remains)
      noteSettled(outcome)
    }
    if isMigrating {
      for batch in batches { settle(try write(batch)) }
    } else if batches.count > 1 {
      try writeOrResolve(batches, settle)
    } else if let batch = batches.first {
      settle(try writeOrResolve(batch))
    }
    context.snapshots.watched = [:]
  }

  /// The stores that objects are in, in the order of the objects.
  private func spaces(of saved: SavedObjects) -> [StoreSpace] {
    if let only = context.homes.onlySpace { return [only] }
    var spaces: [StoreSpace] = []
    for object in saved.all where !spaces.contains(where: { $0 === object.space }) { spaces.append(object.space) }
    return spaces
  }
}
