/// An object that others changed or deleted in the store since the context read it. Core Data: `NSMergeConflict`.
public struct MergeConflict: Sendable, Hashable {
  /// The object.
  public let objectID: ManagedObjectID
  /// The version of the row that the context's changes are based on.
  public let oldVersionNumber: UInt32
  /// The version of the row in the store; 0 if the object was deleted.
  public let newVersionNumber: UInt32
  /// The properties that the context changed, in order.
  public let changedKeys: [String]
}

/// What saving does about objects that others changed since they were read. Core Data: `NSMergePolicy`.
public struct MergePolicy: Hashable, Sendable {
  /// The kinds of policy, with Core Data's raw values.
  public enum MergePolicyType: Int, Sendable {
    /// Saving fails with ``CambiumError/Code/managedObjectMerge``.
    case error = 0
    /// Property by property, what others saved is kept.
    case mergeByPropertyStoreTrump = 1
    /// Property by property, the context's changes are kept.
    case mergeByPropertyObjectTrump = 2
    /// The context's state of the whole object is kept.
    case overwrite = 3
    /// The context's changes of the object are dropped.
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
}
