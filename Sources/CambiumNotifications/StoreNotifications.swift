import Cambium
import Foundation

extension PersistentStoreCoordinator {
  /// Posted for ``Cambium/CoordinatorNotification/Kind/storesWillChange``, on the thread that adds or removes the
  /// store.
  public static var storesWillChangeNotification: Notification.Name { PostedName.storesWillChange.posted }
  /// Posted for ``Cambium/CoordinatorNotification/Kind/storesDidChange``, on the thread that has added or removed the
  /// store.
  public static var storesDidChangeNotification: Notification.Name { PostedName.storesDidChange.posted }
  /// Posted for ``Cambium/CoordinatorNotification/Kind/willRemoveStore``, on the thread that removes the store; as in
  /// Core Data without `userInfo`.
  public static var willRemoveStoreNotification: Notification.Name { PostedName.willRemoveStore.posted }
  /// Posted for ``Cambium/CoordinatorNotification/Kind/remoteChange``, on a thread of its own: for what is saved in
  /// stores with ``Cambium/PersistentStoreDescription/postsRemoteChanges``, in this process or another. Stores are
  /// looked at from the first time that this name is asked for, until ``CambiumNotifications/stop()``.
  public static var remoteChangeNotification: Notification.Name {
    CambiumNotifications.startRemoteChanges()
    return PostedName.remoteChange.name
  }

  /// What a notification's `userInfo` has.
  public enum NotificationKey: String, Sendable {
    /// `[PersistentStore]`; left out if it would be empty.
    case addedStores = "CambiumAddedPersistentStores"
    /// `[PersistentStore]`; left out if it would be empty.
    case removedStores = "CambiumRemovedPersistentStores"
    /// `String`: ``Cambium/PersistentStore/identifier``.
    case storeUUID = "CambiumStoreUUID"
    /// `URL`; left out for a store in memory.
    case storeURL = "CambiumStoreURL"
    /// ``Cambium/PersistentHistoryToken``; left out if the store never kept history.
    case historyToken = "CambiumHistoryToken"
  }
}

extension CambiumNotifications {
  static func post(_ told: CoordinatorNotification) {
    typealias Key = PersistentStoreCoordinator.NotificationKey
    var info: [AnyHashable: Any] = [:]
    let name: PostedName
    switch told.kind {
    case .storesWillChange, .storesDidChange:
      name = told.kind == .storesWillChange ? .storesWillChange : .storesDidChange
      if !told.addedStores.isEmpty { info[Key.addedStores.rawValue] = told.addedStores }
      if !told.removedStores.isEmpty { info[Key.removedStores.rawValue] = told.removedStores }
    case .willRemoveStore: name = .willRemoveStore
    case .remoteChange:
      name = .remoteChange
      info[Key.storeUUID.rawValue] = told.remoteChange?.storeIdentifier
      info[Key.storeURL.rawValue] = told.remoteChange?.storeURL
      info[Key.historyToken.rawValue] = told.remoteChange?.historyToken
    }
    NotificationCenter.default.post(name: name.name, object: told.coordinator, userInfo: info.isEmpty ? nil : info)
  }
}
