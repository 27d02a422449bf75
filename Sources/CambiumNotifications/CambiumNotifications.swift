import Cambium
import Foundation

/// Posts what contexts and coordinators tell to `NotificationCenter.default`, as Core Data does.
///
///     CambiumNotifications.start()
///     NotificationCenter.default.addObserver(
///       forName: ManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
///     ) { notification in
///       let inserted = notification.userInfo?[ManagedObjectContext.NotificationKey.insertedObjects.rawValue]
///     }
///
/// A module of its own, because `NotificationCenter` is in Foundation's large library, which `Cambium` does without.
/// Without it listen by ``Cambium/ManagedObjectContext/observe(_:)`` or
/// ``Cambium/ManagedObjectContext/events(_:bufferingPolicy:)``.
public enum CambiumNotifications {
  private final class State: @unchecked Sendable {
    // `@unchecked`: touched with `lock` held only.
    let lock = NSLock()
    var observations: [ContextObservation] = []
    var remoteChanges: ContextObservation?
  }

  private static let state = State()

  /// Posts from now on, for all contexts of the process, on the queue of the context, and for all coordinators: as long
  /// as the process runs, or until ``stop()``. Doing it again changes nothing. Changes of stores are posted when
  /// somebody asks for ``Cambium/PersistentStoreCoordinator/remoteChangeNotification``, since stores have to be looked
  /// at for that.
  public static func start() {
    state.lock.withLock {
      guard state.observations.isEmpty else { return }
      state.observations = [
        ManagedObjectContext.observeAll { post($0) },
        PersistentStoreCoordinator.observeAll([.storesWillChange, .storesDidChange, .willRemoveStore]) { post($0) },
      ]
    }
  }

  /// Posts changes of stores as well.
  static func startRemoteChanges() {
    state.lock.withLock {
      guard state.remoteChanges == nil else { return }
      state.remoteChanges = PersistentStoreCoordinator.observeAll([.remoteChange]) { post($0) }
    }
  }

  /// Posts changes of stores no more, and has nobody look for them.
  static func stopRemoteChanges() {
    state.lock.withLock {
      state.remoteChanges?.cancel()
      state.remoteChanges = nil
    }
  }

  /// Posts nothing any more.
  public static func stop() {
    state.lock.withLock {
      for observation in state.observations { observation.cancel() }
      state.observations = []
    }
    stopRemoteChanges()
  }

  private static func post(_ told: ContextNotification) {
    func post(_ name: PostedName, _ userInfo: [AnyHashable: Any]) {
      NotificationCenter.default.post(name: name.name, object: told.context, userInfo: userInfo)
    }
    switch told.kind {
    case .objectsDidChange: post(.didChangeObjects, objects(of: told))
    case .willSave: post(.willSaveObjects, [:])
    case .didSave:
      post(.didSaveObjects, objects(of: told))
      post(.didSaveObjectIDs, identifiers(of: told))
    case .didMergeChanges: post(.didMergeChangesObjectIDs, identifiers(of: told))
    }
  }

  private typealias Key = ManagedObjectContext.NotificationKey

  /// The `userInfo` with objects.
  static func objects(of told: ContextNotification) -> [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    for (key, value) in [
      (Key.insertedObjects, told.insertedObjects), (.updatedObjects, told.updatedObjects),
      (.deletedObjects, told.deletedObjects), (.refreshedObjects, told.refreshedObjects),
      (.invalidatedObjects, told.invalidatedObjects),
    ] where !value.isEmpty { info[key.rawValue] = value }
    if told.isInvalidatedAll { info[Key.invalidatedAllObjects.rawValue] = true }
    info[Key.queryGeneration.rawValue] = told.queryGeneration
    return info
  }

  /// The `userInfo` with identifiers.
  static func identifiers(of told: ContextNotification) -> [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    for (key, value) in [
      (Key.insertedObjectIDs, told.objectIDs.insertedObjectIDs), (.updatedObjectIDs, told.objectIDs.updatedObjectIDs),
      (.deletedObjectIDs, told.objectIDs.deletedObjectIDs), (.refreshedObjectIDs, told.objectIDs.refreshedObjectIDs),
      (.invalidatedObjectIDs, told.objectIDs.invalidatedObjectIDs),
    ] where !value.isEmpty { info[key.rawValue] = value }
    info[Key.queryGeneration.rawValue] = told.queryGeneration
    return info
  }
}

extension ManagedObjectContext {
  /// Posted for ``Cambium/ContextNotification/Kind/objectsDidChange``.
  public static var didChangeObjectsNotification: Notification.Name { PostedName.didChangeObjects.posted }
  /// Posted for ``Cambium/ContextNotification/Kind/willSave``.
  public static var willSaveObjectsNotification: Notification.Name { PostedName.willSaveObjects.posted }
  /// Posted for ``Cambium/ContextNotification/Kind/didSave``, with objects.
  public static var didSaveObjectsNotification: Notification.Name { PostedName.didSaveObjects.posted }
  /// Posted for ``Cambium/ContextNotification/Kind/didSave``, with identifiers.
  public static var didSaveObjectIDsNotification: Notification.Name { PostedName.didSaveObjectIDs.posted }
  /// Posted for ``Cambium/ContextNotification/Kind/didMergeChanges``.
  public static var didMergeChangesObjectIDsNotification: Notification.Name {
    PostedName.didMergeChangesObjectIDs.posted
  }

  /// What a notification's `userInfo` has: sets of objects, or of identifiers, beside flags. A set that would be empty
  /// is left out.
  public enum NotificationKey: String, Sendable {
    /// `Set<ManagedObject>`
    case insertedObjects = "inserted"
    /// `Set<ManagedObject>`
    case updatedObjects = "updated"
    /// `Set<ManagedObject>`
    case deletedObjects = "deleted"
    /// `Set<ManagedObject>`
    case refreshedObjects = "refreshed"
    /// `Set<ManagedObject>`: those that the context had and has given up.
    case invalidatedObjects = "invalidated"
    /// `true`, if the context has forgotten everything.
    case invalidatedAllObjects = "invalidatedAll"
    /// `Set<ManagedObjectID>`
    case insertedObjectIDs = "inserted_objectIDs"
    /// `Set<ManagedObjectID>`
    case updatedObjectIDs = "updated_objectIDs"
    /// `Set<ManagedObjectID>`
    case deletedObjectIDs = "deleted_objectIDs"
    /// `Set<ManagedObjectID>`
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// `Set<ManagedObjectID>`
    case invalidatedObjectIDs = "invalidated_objectIDs"
    /// ``Cambium/QueryGenerationToken``: what the context reads, or has saved; left out if it reads the newest commits.
    case queryGeneration = "queryGeneration"
  }

  /// Takes in what another context has saved. Notifications of other kinds are left alone.
  public func mergeChanges(fromContextDidSave notification: Notification) {
    guard [Self.didSaveObjectsNotification, Self.didSaveObjectIDsNotification].contains(notification.name) else {
      return
    }
    let info = notification.userInfo ?? [:]
    func identifiers(_ objects: NotificationKey, _ identifiers: NotificationKey) -> Set<ManagedObjectID> {
      let named = info[identifiers.rawValue] as? Set<ManagedObjectID> ?? []
      let given = info[objects.rawValue] as? Set<ManagedObject> ?? []
      return named.union(given.map { $0.objectID })
    }
    var changes = ObjectIDNotification()
    changes.insertedObjectIDs = identifiers(.insertedObjects, .insertedObjectIDs)
    changes.updatedObjectIDs = identifiers(.updatedObjects, .updatedObjectIDs)
    changes.deletedObjectIDs = identifiers(.deletedObjects, .deletedObjectIDs)
    mergeChanges(fromContextDidSave: changes)
  }
}
