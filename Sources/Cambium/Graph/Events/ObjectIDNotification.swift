/// The objects that were changed elsewhere, by their identifiers.
public struct ObjectIDNotification: Sendable, Hashable {
  /// Those that are new.
  public var insertedObjectIDs: Set<ManagedObjectID> = []
  /// Those that have other values.
  public var updatedObjectIDs: Set<ManagedObjectID> = []
  /// Those that are no more.
  public var deletedObjectIDs: Set<ManagedObjectID> = []
  /// Those that show newer rows in the context that tells, or gave up their changes there.
  public var refreshedObjectIDs: Set<ManagedObjectID> = []
  /// Those that the context that tells had, and has given up: of no use to others, who merge nothing of it.
  public var invalidatedObjectIDs: Set<ManagedObjectID> = []

  /// About no objects.
  public init() {}

  /// About objects that were inserted, updated and deleted, of any collections of their identifiers.
  public init(
    inserted: some Sequence<ManagedObjectID> = [ManagedObjectID](),
    updated: some Sequence<ManagedObjectID> = [ManagedObjectID](),
    deleted: some Sequence<ManagedObjectID> = [ManagedObjectID]()
  ) {
    insertedObjectIDs = Set(inserted)
    updatedObjectIDs = Set(updated)
    deletedObjectIDs = Set(deleted)
  }

  /// Whether it names no objects that a context could merge or show.
  var isEmpty: Bool {
    insertedObjectIDs.isEmpty && updatedObjectIDs.isEmpty && deletedObjectIDs.isEmpty && refreshedObjectIDs.isEmpty
  }

  /// Adds the objects of a later notification.
  mutating func formUnion(_ later: ObjectIDNotification) {
    insertedObjectIDs.formUnion(later.insertedObjectIDs)
    updatedObjectIDs.formUnion(later.updatedObjectIDs)
    deletedObjectIDs.formUnion(later.deletedObjectIDs)
    refreshedObjectIDs.formUnion(later.refreshedObjectIDs)
  }
}
