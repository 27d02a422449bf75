/// What saving does about objects that others changed since they were read, and about objects that are not unique. Core
/// Data: `NSMergePolicy`.
///
/// A policy of one's own inherits from one of these and overrides a `resolve` method; what it does not resolve itself,
/// it hands to `super`. The methods are called on the context's queue, outside of any transaction, and the save is
/// tried again when they return:
///
///     final class LatestWins: MergePolicy, @unchecked Sendable {
///       override func resolve(optimisticLockingConflicts conflicts: [MergeConflict]) throws {
///         for conflict in conflicts {
///           let theirs = conflict.persistedSnapshot?["edited"] as? Date ?? .distantPast
///           let mine = conflict.objectSnapshot["edited"] as? Date ?? .distantPast
///           let policy: MergePolicy = theirs > mine ? .rollback : .mergeByPropertyObjectTrump
///           try policy.resolve(optimisticLockingConflicts: [conflict])
///         }
///       }
///     }
///     context.mergePolicy = LatestWins(merge: .error)
open class MergePolicy: @unchecked Sendable {
  // `@unchecked`: nothing of it changes; a subclass that has something that does answers for it.

  /// The kinds of policy, with Core Data's raw values.
  ///
  /// Of relationships both sides agree afterwards, whichever of the two objects others have changed. Of an unordered
  /// to-many relationship, what came and went in the context is applied to what is in the store, except with
  /// `rollback`; of an ordered one too, unless the context's whole list counts (`overwrite`): its order is the store's
  /// with `mergeByPropertyStoreTrump`, else the context's, and what else came is at the end. Nothing is led to an
  /// object that others have deleted.
  ///
  /// The policies that decide property by property decide about each element of a composite, at any depth, as they
  /// decide about an attribute. If one context sets `place.latitude` and another `place.longitude`, both changes are
  /// kept. An element counts as changed if its value differs from the one that the context read: to set a composite
  /// changes the elements whose values differ. A composite that is null in the context, in the store, or before both
  /// changes is one value for this conflict.
  ///
  /// A uniqueness constraint is broken by new objects that have the values of a stored object, or of each other. Of
  /// these one stays: the stored one, else the first that was made. What it takes over of the others is said below. The
  /// others are dropped: they have no context any more. What the save has led to them leads to the one that stays, and
  /// their children (destinations of a to-many relationship whose inverse is to-one) become its children. If the
  /// application had no object of the stored row yet, the first of the new ones becomes it, and has its identifier.
  /// What was noted for undoing before is forgotten.
  ///
  /// Two stored objects are never made one: where a stored object was changed to the values of another, `rollback`
  /// drops the changes, `mergeByPropertyStoreTrump` those of the constraint's properties, and the rest fail as `error`;
  /// so they do if the objects are of different entities.
  public enum MergePolicyType: Int, Sendable {
    /// Saving fails with ``CambiumError/Code/managedObjectMerge`` or
    /// ``CambiumError/Code/managedObjectConstraintMerge``, and the conflicts.
    case error = 0
    /// Property by property, what others saved is kept. Of objects that are not unique, the one that stays is left as
    /// it is.
    case mergeByPropertyStoreTrump = 1
    /// Property by property, the context's changes are kept. Of objects that are not unique, the one that stays gets
    /// the values that new ones have; where they have none, it keeps its own, and destinations of to-many relationships
    /// are added. A value that the model gave a new object by default counts like one that was set, as in Core Data:
    /// set it to `nil` to keep what is there, or insert by a ``BatchInsertRequest``, of which only what is given
    /// counts.
    case mergeByPropertyObjectTrump = 2
    /// The context's state of the whole object is kept. Of objects that are not unique, the one that stays becomes what
    /// the new one is, also where that has no value.
    case overwrite = 3
    /// The context's changes of the object are dropped, with the other sides of its relationships; destinations whose
    /// to-one relationship was set to it, and decides by itself, stay. Of objects that are not unique, the one that
    /// stays is left as it is.
    case rollback = 4
  }

  /// The kind of policy.
  public let mergeType: MergePolicyType

  /// A policy.
  public init(merge type: MergePolicyType) { mergeType = type }

  /// Saving fails; the default.
  public static let error = MergePolicy(merge: .error)
  /// Property by property, what others saved is kept.
  public static let mergeByPropertyStoreTrump = MergePolicy(merge: .mergeByPropertyStoreTrump)
  /// Property by property, the context's changes are kept.
  public static let mergeByPropertyObjectTrump = MergePolicy(merge: .mergeByPropertyObjectTrump)
  /// The context's state of the whole object is kept.
  public static let overwrite = MergePolicy(merge: .overwrite)
  /// The context's changes of the object are dropped.
  public static let rollback = MergePolicy(merge: .rollback)

  /// Whether the policy is exactly what its kind says.
  var isPlain: Bool { type(of: self) == MergePolicy.self }

  /// Resolves conflicts of both kinds. Not called by saving, which calls the other two; for policies that hand on.
  ///
  /// - Throws: as the other two.
  open func resolve(
    mergeConflicts: [MergeConflict] = [], constraintConflicts: [ConstraintConflict] = []
  ) throws {
    if !mergeConflicts.isEmpty { try resolve(optimisticLockingConflicts: mergeConflicts) }
    if !constraintConflicts.isEmpty { try resolve(constraintConflicts: constraintConflicts) }
  }

  /// Decides about objects that others have changed: what the objects' changes are when it returns is then saved over
  /// the rows as they are in the store. An object that was deleted in the store stays deleted.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectMerge`` if the kind is ``MergePolicyType/error``. The save fails then.
  open func resolve(optimisticLockingConflicts conflicts: [MergeConflict]) throws {
    try resolve(mergeConflicts: conflicts as [Any])
  }

  /// Decides about objects that are not unique. The save is tried again when it returns, and fails if they still are
  /// not, a hundred times in a row.
  ///
  /// - Throws: ``CambiumError/Code/managedObjectConstraintMerge`` if the kind is ``MergePolicyType/error``, or the kind
  ///   does not say what to do. The save fails then.
  open func resolve(constraintConflicts conflicts: [ConstraintConflict]) throws {
    try resolve(mergeConflicts: conflicts as [Any])
  }

  /// Decides about conflicts of either kind: ``MergeConflict`` and ``ConstraintConflict``. The methods for one kind
  /// call it, and saves call these.
  ///
  /// - Throws: as the methods for one kind.
  open func resolve(mergeConflicts conflicts: [Any]) throws {
    let locking = conflicts.compactMap { $0 as? MergeConflict }
    if !locking.isEmpty { try resolveLocking(locking) }
    let constraints = conflicts.compactMap { $0 as? ConstraintConflict }
    if !constraints.isEmpty { try resolveConstraints(constraints) }
  }

  private func resolveLocking(_ conflicts: [MergeConflict]) throws {
    if mergeType == .error { throw CambiumError(mergeConflicts: conflicts) }
    // The other kinds ask what the parent has otherwise than the object read it.
    if mergeType == .rollback { for conflict in conflicts { conflict.takeParentState() } }
    for conflict in conflicts {
      try conflict.apply(mergeType)
      if conflict.sourceObject.isPresent { conflict.sourceObject.awake(fromSnapshotEvents: .mergePolicy) }
    }
  }

  private func resolveConstraints(_ conflicts: [ConstraintConflict]) throws {
    if mergeType == .error { throw CambiumError(constraintConflicts: conflicts) }
    try mergeType.check(conflicts)
    for conflict in conflicts { try conflict.apply(mergeType, mayReplaceDatabaseObject: isPlain) }
  }
}

extension MergePolicy: Hashable {
  /// Whether both are the same, or do the same.
  public static func == (a: MergePolicy, b: MergePolicy) -> Bool {
    a === b || (a.isPlain && b.isPlain && a.mergeType == b.mergeType)
  }

  /// Hashes the kind.
  public func hash(into hasher: inout Hasher) { hasher.combine(mergeType) }
}
