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
  @exclusivity(unchecked) var changedWhileTold: [ManagedObject]?
  /// While methods that validate are called, in which nobody saves; nil otherwise.
  @exclusivity(unchecked) var validation: ValidationWatch?
  /// What was put into stores so far: told in the end, also if a later store fails.
  private var settled = SettledObjects()

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
    } catch { throw settled.completed(error) }
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

    /// - Parameter gone: Objects that the delete rules have deleted in the transaction, whatever was written of them
    ///   before.
    mutating func add(_ batch: SaveBatch, without gone: Set<ManagedObjectID>) {
      // As a rule there is one store, and nothing is copied.
      func joined(_ known: [ManagedObject], _ new: [ManagedObject]) -> [ManagedObject] {
        let new = gone.isEmpty ? new : new.filter { !gone.contains($0.objectID) }
        return known.isEmpty ? new : known + new
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

  private func tellSettled() {
    if !settled.isEmpty {
      context.events.isNoting = !context.isSavedByMigration
      settled.deletions.lend { $1.didSave() }
      for list in [settled.insertions, settled.updates] { list.lend { $1.didSave() } }
      var byRules = ObjectIDNotification()
      byRules.updatedObjectIDs = Set(settled.changedByRules)
      byRules.deletedObjectIDs = Set(settled.deletedByRules)
      context.tellDidSave(settled.insertions, settled.updates, settled.deletions, byRules: byRules)
    }
    guard settled.isToBeTold else { return tellChangesBySaving() }
    var identifiers = settled.identifiers
    identifiers.changedBySaving = context.takeChangedBySaving()
    context.persistentStoreCoordinator.saveObservers.tell(identifiers, from: context)
  }

  /// Tells what a save has changed that was refused then, as methods that validate do.
  private func tellChangesBySaving() {
    let changed = context.takeChangedBySaving()
    if changed.isEmpty { return }
    context.persistentStoreCoordinator.saveObservers.tell(takenIn: SavedObjects(changed: changed), in: context)
  }

  private func saveChanges() throws {
    let lists = context.pendingLists()
    guard !lists.isEmpty else {
      context.updated.removeAll()
      settled.isToBeTold = true
      return
    }
    let (deletions, insertions, updates) = (lists.deletions, lists.insertions, lists.updates)
    let spaces = spaces(of: [deletions, insertions, updates])
    func part(_ objects: [ManagedObject], of space: StoreSpace) -> [ManagedObject] {
      spaces.count == 1 ? objects : objects.filter { $0.space === space }
    }
    let remains = try isMigrating ? [:] : context.remains(of: deletions)
    settled.isToBeTold = true
    let batches = spaces.map { space in
      SaveBatch(
        space: space, deletions: part(deletions, of: space), insertions: part(insertions, of: space),
        updates: part(updates, of: space), policy: context.mergePolicy,
        watched: context.watchedObjects.filter { $0.object.space === space })
    }
    func settle(_ outcome: SaveOutcome) {
      let batch = outcome.batch
      self.settle(outcome)
      context.undoManager?.keep(remains)
      settled.add(batch, without: Set(outcome.deletedByRules))
      settled.changedByRules += outcome.changedByRules
      settled.deletedByRules += outcome.deletedByRules
      if context.persistentStoreCoordinator.saveObservers.isEmpty { return }
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
    context.snapshots.watched = [:]
  }

  /// The stores that objects are in, in the order of the objects.
  private func spaces(of lists: [[ManagedObject]]) -> [StoreSpace] {
    if let only = context.homes.onlySpace { return [only] }
    var spaces: [StoreSpace] = []
    for object in lists.joined() where !spaces.contains(where: { $0 === object.space }) { spaces.append(object.space) }
    return spaces
  }
}
