/// What a batch request has done. Core Data: `NSBatchInsertResult`, `NSBatchUpdateResult`, `NSBatchDeleteResult`.
public struct BatchResult: Sendable {
  /// What was asked for.
  public let resultType: BatchResultType
  /// The objects, in the order of their rows; empty unless they were asked for.
  public internal(set) var objectIDs: [ManagedObjectID] = []
  /// How many there were.
  public internal(set) var count = 0
  private let kind: Kind

  /// What kind of request it was.
  enum Kind { case insert, update, delete }

  /// What the result type says: `Bool`, `[ManagedObjectID]` or `Int`.
  public var result: Any {
    switch resultType {
    case .statusOnly: return true
    case .objectIDs: return objectIDs
    case .count: return count
    }
  }

  init(_ kind: Kind, _ type: BatchResultType, _ identifiers: [ManagedObjectID]) {
    self.kind = kind
    resultType = type
    if type == .objectIDs { objectIDs = identifiers }
    count = identifiers.count
  }

  /// What contexts take in to be up to date with the request, which they are not told of otherwise.
  ///
  ///     var request = BatchUpdateRequest(entityName: "LogEntry")
  ///     request.propertiesToUpdate = ["remarks": ""]
  ///     request.resultType = .objectIDs
  ///     let done = try context.execute(request)
  ///     ManagedObjectContext.mergeChanges(fromRemoteContextSave: done.objectIDNotification(), into: [container.viewContext])
  ///
  /// Names no objects unless ``resultType`` is ``BatchResultType/objectIDs``. Objects that were deleted or changed
  /// along with those asked for, by rules of relationships, are not among them: the store's history names all.
  public func objectIDNotification() -> ObjectIDNotification {
    switch kind {
    case .insert: return ObjectIDNotification(inserted: objectIDs)
    case .update: return ObjectIDNotification(updated: objectIDs)
    case .delete: return ObjectIDNotification(deleted: objectIDs)
    }
  }
}
