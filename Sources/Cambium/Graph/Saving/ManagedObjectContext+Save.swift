import CambiumEngine

extension ManagedObjectContext {
  /// Puts the context's changes into the stores, each store's in one transaction; or, if it has a ``parent``, into
  /// that. When it returns, they are as durable as the stores' ``Durability`` says; inserted objects have permanent
  /// identifiers. When it throws, nothing was saved and the changes are still there. Of several stores no transaction
  /// ends before all are written and checked: conflicts and rules in one are in the way of all. If a device fails after
  /// one of them has ended, what is in that one stays saved, which is
  /// ``CambiumError/Code/persistentStoreIncompleteSave``. In which order a save calls and tells: <doc:FromCoreData>.
  ///
  /// - Throws: a noted error by which a change was lost (once); validation errors, several as
  ///   ``CambiumError/Code/validationMultipleErrors``; ``CambiumError/Code/managedObjectMerge`` with the conflicts, if
  ///   others changed the objects since they were read and the merge policy is ``MergePolicy/error``;
  ///   ``CambiumError/Code/managedObjectConstraintMerge`` with the conflicts, if objects are not unique and the merge
  ///   policy does not say which stays; what writing throws.
  public func save() throws {
    try lock.run {
      guard !isSavedByMigration else {
        throw CambiumError(
          .persistentStoreSave, "a migration saves its contexts itself; a policy leaves its changes to the manager")
      }
      guard session?.validation == nil else {
        throw CambiumError(
          .persistentStoreSave,
          "a method that validates has called save() while a save is under way, which saves what that method changes as well"
        )
      }
      let hook = persistentStoreCoordinator.eventHook
      guard hook.isOn else { return try savingPastGeneration { try SaveSession(self).run() } }
      let counts = (inserted.count, updated.values.count { $0.isUpdated }, deleted.count)
      try hook.run(
        .save(inserted: counts.0, updated: counts.1, deleted: counts.2), name: name,
        author: transactionAuthor, count: { _ in counts.0 + counts.1 + counts.2 }, plan: { nil }
      ) { try savingPastGeneration { try SaveSession(self).run() } }
    }
  }

  /// Saves what a migration has made so far: no rule of the model is checked, and no object is told.
  func saveForMigration() throws { try lock.run { try SaveSession(self, isMigrating: true).run() } }

  /// The values of objects that are about to be deleted, if their deletion can be undone. The entry of an object that
  /// another context has deleted as well is nil: the undo manager then forgets older values of that object.
  func remains(of deletions: [ManagedObject]) throws -> [ObjectIdentifier: ObjectRemains?] {
    guard let undoManager, undoManager.canUndo || undoManager.canRedo else { return [:] }
    var result: [ObjectIdentifier: ObjectRemains?] = [:]
    for object in deletions {
      var remains: ObjectRemains?
      try unlessGone { remains = try ObjectRemains(object, in: self) }
      result.updateValue(remains, forKey: ObjectIdentifier(object))
    }
    return result
  }
}
