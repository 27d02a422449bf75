#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A save or batch request, as the history of its store tells of it. Core Data: `NSPersistentHistoryTransaction`.
///
/// In the predicate of a fetch of transactions it has `transactionNumber`, `timestamp`, `author`, `contextName`,
/// `bundleID`, `processID` and `storeID`.
public struct PersistentHistoryTransaction: Sendable, Hashable, FetchRequestResult {
  /// Its number in the store's history, from 1; later ones have greater numbers.
  public let transactionNumber: Int64
  /// When it was made.
  public let timestamp: Date
  /// Who made it: ``ManagedObjectContext/transactionAuthor``.
  public let author: String?
  /// The name of the context: ``ManagedObjectContext/name``.
  public let contextName: String?
  /// The name of the program that made it. (Core Data has the identifier of its bundle here.)
  public let bundleID: String?
  /// The number of the process that made it.
  public let processID: String?
  /// The store.
  public let storeID: String
  /// What was changed, in the order of saving; `nil` if the request asked for transactions alone.
  public let changes: [PersistentHistoryChange]?
  /// How many objects were changed.
  public let changeCount: Int

  /// The place in the store's history behind this transaction.
  public var token: PersistentHistoryToken { PersistentHistoryToken([storeID: transactionNumber]) }

  /// What contexts need to take the transaction in:
  /// ``ManagedObjectContext/mergeChanges(fromContextDidSave:)-(ObjectIDNotification)``.
  public func objectIDNotification() -> ObjectIDNotification {
    var notification = ObjectIDNotification()
    for change in changes ?? [] {
      switch change.changeType {
      case .insert: notification.insertedObjectIDs.insert(change.changedObjectID)
      case .update: notification.updatedObjectIDs.insert(change.changedObjectID)
      case .delete: notification.deletedObjectIDs.insert(change.changedObjectID)
      }
    }
    return notification
  }
}
