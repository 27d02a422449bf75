// swift-format-ignore-file: AlwaysUseLowerCamelCase

// Core Data's names of notifications. They are posted from the first time that one of these names is asked for, which
// who observes them does.

@_spi(CoreData) import Cambium

extension Notification.Name {
  private static func posted(_ name: Notification.Name) -> Notification.Name {
    CambiumNotifications.start()
    return name
  }

  /// Objects of a context were inserted, changed, deleted or refreshed.
  public static var NSManagedObjectContextObjectsDidChange: Notification.Name {
    posted(ManagedObjectContext.didChangeObjectsNotification)
  }
  /// A context is about to save.
  public static var NSManagedObjectContextWillSave: Notification.Name {
    posted(ManagedObjectContext.willSaveObjectsNotification)
  }
  /// A context has saved.
  public static var NSManagedObjectContextDidSave: Notification.Name {
    posted(ManagedObjectContext.didSaveObjectsNotification)
  }
  /// A context has saved; with identifiers.
  public static var NSManagedObjectContextDidSaveObjectIDs: Notification.Name {
    posted(ManagedObjectContext.didSaveObjectIDsNotification)
  }
  /// A context has taken changes in.
  public static var NSManagedObjectContextDidMergeChangesObjectIDs: Notification.Name {
    posted(ManagedObjectContext.didMergeChangesObjectIDsNotification)
  }

  /// A coordinator is about to have other stores.
  public static var NSPersistentStoreCoordinatorStoresWillChange: Notification.Name {
    PersistentStoreCoordinator.storesWillChangeNotification
  }
  /// A coordinator has other stores.
  public static var NSPersistentStoreCoordinatorStoresDidChange: Notification.Name {
    PersistentStoreCoordinator.storesDidChangeNotification
  }
  /// A coordinator is about to give up a store.
  public static var NSPersistentStoreCoordinatorWillRemoveStore: Notification.Name {
    PersistentStoreCoordinator.willRemoveStoreNotification
  }
  /// Something was saved in a store that has the option ``NSPersistentStoreRemoteChangeNotificationPostOptionKey``, by
  /// whomever.
  public static var NSPersistentStoreRemoteChange: Notification.Name {
    PersistentStoreCoordinator.remoteChangeNotification
  }
}

/// The key of the stores that are new, in a notification.
public let NSAddedPersistentStoresKey = PersistentStoreCoordinator.NotificationKey.addedStores.rawValue
/// The key of the stores that are gone, in a notification.
public let NSRemovedPersistentStoresKey = PersistentStoreCoordinator.NotificationKey.removedStores.rawValue
/// A key that no notification has: a store keeps its UUID when it is moved.
public let NSUUIDChangedPersistentStoresKey = "CambiumUUIDChangedPersistentStores"
/// The key of a store's file in a notification of its changes.
public let NSPersistentStoreURLKey = PersistentStoreCoordinator.NotificationKey.storeURL.rawValue
/// The key of the place behind what is new, in a notification of a store's changes.
public let NSPersistentHistoryTokenKey = PersistentStoreCoordinator.NotificationKey.historyToken.rawValue

/// The key of the inserted objects in a notification.
public let NSInsertedObjectsKey = ManagedObjectContext.NotificationKey.insertedObjects.rawValue
/// The key of the changed objects in a notification.
public let NSUpdatedObjectsKey = ManagedObjectContext.NotificationKey.updatedObjects.rawValue
/// The key of the deleted objects in a notification.
public let NSDeletedObjectsKey = ManagedObjectContext.NotificationKey.deletedObjects.rawValue
/// The key of the refreshed objects in a notification.
public let NSRefreshedObjectsKey = ManagedObjectContext.NotificationKey.refreshedObjects.rawValue
/// The key of the objects that a context has given up, in a notification.
public let NSInvalidatedObjectsKey = ManagedObjectContext.NotificationKey.invalidatedObjects.rawValue
/// The key of the generation of the stores (``NSQueryGenerationToken``) that a context reads or has saved, in a
/// notification.
public let NSManagedObjectContextQueryGenerationKey = ManagedObjectContext.NotificationKey.queryGeneration.rawValue
/// The key that is there if a context has forgotten everything.
public let NSInvalidatedAllObjectsKey = ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue
/// The key of the identifiers of inserted objects in a notification.
public let NSInsertedObjectIDsKey = ManagedObjectContext.NotificationKey.insertedObjectIDs.rawValue
/// The key of the identifiers of changed objects in a notification.
public let NSUpdatedObjectIDsKey = ManagedObjectContext.NotificationKey.updatedObjectIDs.rawValue
/// The key of the identifiers of deleted objects in a notification.
public let NSDeletedObjectIDsKey = ManagedObjectContext.NotificationKey.deletedObjectIDs.rawValue
/// The key of the identifiers of objects that a context has given up, in a notification.
public let NSInvalidatedObjectIDsKey = ManagedObjectContext.NotificationKey.invalidatedObjectIDs.rawValue
/// The key of the identifiers of refreshed objects in a notification.
public let NSRefreshedObjectIDsKey = ManagedObjectContext.NotificationKey.refreshedObjectIDs.rawValue

extension ManagedObjectContext {
  /// Takes into contexts what was saved elsewhere: arrays or sets of identifiers, or of their URIs, under
  /// `NSInsertedObjectsKey`, `NSUpdatedObjectsKey` and `NSDeletedObjectsKey`, or the keys of identifiers. See
  /// ``mergeChanges(fromRemoteContextSave:into:isolation:)-(ObjectIDNotification,_,_)``.
  public static func mergeChanges(
    fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext],
    isolation: isolated (any Actor)? = #isolation
  ) {
    let coordinators = contexts.map { $0.ownCoordinator }
    func identifiers(_ keys: [String]) -> Set<ManagedObjectID> {
      var result = Set<ManagedObjectID>()
      for key in keys {
        let all: [Any]
        switch changes[key] {
        case let set as Set<AnyHashable>: all = set.map { $0.base }
        case let array as [Any]: all = array
        case let set as NSSet: all = set.allObjects
        default: continue
        }
        for element in all {
          switch element {
          case let id as ManagedObjectID: result.insert(id)
          case let object as ManagedObject: result.insert(object.objectID)
          case let url as URL:
            if let id = coordinators.lazy.compactMap({ $0.managedObjectID(forURIRepresentation: url) }).first {
              result.insert(id)
            }
          default: continue
          }
        }
      }
      return result
    }
    var notification = ObjectIDNotification()
    notification.insertedObjectIDs = identifiers([NSInsertedObjectsKey, NSInsertedObjectIDsKey])
    notification.updatedObjectIDs = identifiers([NSUpdatedObjectsKey, NSUpdatedObjectIDsKey])
      .union(identifiers([NSRefreshedObjectsKey, NSRefreshedObjectIDsKey]))
    notification.deletedObjectIDs = identifiers([NSDeletedObjectsKey, NSDeletedObjectIDsKey])
    mergeChanges(fromRemoteContextSave: notification, into: contexts, isolation: isolation)
  }
}

extension ObjectIDNotification {
  /// What a notification of it would have, and `mergeChanges(fromRemoteContextSave:into:)` takes: sets of identifiers
  /// by `NSInsertedObjectIDsKey` and so on, none of which is empty. Never `nil`; optional as Core Data's.
  public var userInfo: [AnyHashable: Any]? {
    var info: [AnyHashable: Any] = [:]
    for (key, identifiers) in [
      (NSInsertedObjectIDsKey, insertedObjectIDs), (NSUpdatedObjectIDsKey, updatedObjectIDs),
      (NSDeletedObjectIDsKey, deletedObjectIDs), (NSRefreshedObjectIDsKey, refreshedObjectIDs),
      (NSInvalidatedObjectIDsKey, invalidatedObjectIDs),
    ] where !identifiers.isEmpty { info[key] = identifiers }
    return info
  }
}

/// ``SnapshotEventType``.
public typealias NSSnapshotEventType = SnapshotEventType
