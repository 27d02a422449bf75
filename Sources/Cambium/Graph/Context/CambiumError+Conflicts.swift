extension CambiumError {
  /// The conflicts, for ``Code/managedObjectMerge``. Core Data: `NSPersistentStoreSaveConflictsErrorKey`.
  public var conflicts: [MergeConflict] {
    get { userInfo["conflicts"] as? [MergeConflict] ?? [] }
    set { userInfo["conflicts"] = newValue }
  }

  /// The objects that are not unique, for ``Code/managedObjectConstraintMerge``. Core Data:
  /// `NSPersistentStoreSaveConflictsErrorKey`.
  public var constraintConflicts: [ConstraintConflict] {
    get { userInfo["constraintConflicts"] as? [ConstraintConflict] ?? [] }
    set { userInfo["constraintConflicts"] = newValue }
  }

  init(mergeConflicts conflicts: [MergeConflict]) {
    let names = conflicts.prefix(10).map { "\($0.objectID)" }.joined(separator: ", ")
    self.init(
      .managedObjectMerge,
      conflicts.count == 1
        ? "1 object was changed or deleted by others since it was read (\(names)); refresh it, or set a merge policy"
        : "\(conflicts.count) objects were changed or deleted by others since they were read (\(names)); refresh them, or set a "
          + "merge policy")
    self.conflicts = conflicts
    affectedObjectIDs = conflicts.map { $0.objectID }
    objectID = conflicts.first?.objectID
  }

  /// - Parameter policy: What was to decide, if it had anything to say.
  init(
    constraintConflicts conflicts: [ConstraintConflict], policy: MergePolicy.MergePolicyType = .error,
    underlying: [any Error] = []
  ) {
    let objects = conflicts.flatMap { ($0.databaseObject.map { [$0] } ?? []) + $0.conflictingObjects }
    let names = conflicts.prefix(10).map { conflict in
      let values = conflict.constraint.map { "\($0) \(conflict.constraintValues[$0] ?? "nil")" }
      return (conflict.conflictingObjects.first?.entity.name ?? "") + " with " + values.joined(separator: ", ")
    }
    self.init(
      .managedObjectConstraintMerge,
      "objects that must be unique are not: \(names.joined(separator: "; ")); "
        + (policy == .error
          ? "change them, or set a merge policy"
          : "the merge policy cannot make one of them: they are of several entities, or more than one is in the store"),
      entityName: objects.first?.entity.name, objectID: conflicts.first?.conflictingObjects.first?.objectID,
      underlying: underlying)
    self.constraintConflicts = conflicts
    affectedObjectIDs = objects.map { $0.objectID }
  }
}
