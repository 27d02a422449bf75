import Foundation

/// The names of what is posted.
enum PostedName: String {
  case didChangeObjects = "CambiumObjectsDidChangeInManagedObjectContext"
  case willSaveObjects = "CambiumManagedObjectContextWillSave"
  case didSaveObjects = "CambiumManagedObjectContextDidSave"
  case didSaveObjectIDs = "CambiumManagedObjectContextDidSaveObjectIDs"
  case didMergeChangesObjectIDs = "CambiumManagedObjectContextDidMergeChangesObjectIDs"
  case storesWillChange = "CambiumPersistentStoreCoordinatorStoresWillChange"
  case storesDidChange = "CambiumPersistentStoreCoordinatorStoresDidChange"
  case willRemoveStore = "CambiumPersistentStoreCoordinatorWillRemoveStore"
  case remoteChange = "CambiumPersistentStoreRemoteChange"

  var name: Notification.Name { Notification.Name(rawValue) }

  /// The name; who asks for it wants it posted.
  var posted: Notification.Name {
    CambiumNotifications.start()
    return name
  }
}
