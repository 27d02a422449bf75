import CambiumCoreData
import Synchronization
import Testing

/// Notifications of coordinators, as Core Data code takes them.
@Suite struct StoreNotificationTests {
  private func container(_ url: URL, posts: Bool) throws -> NSPersistentContainer {
    let container = NSPersistentContainer(name: "Flights", managedObjectModel: try FlightLog.model())
    let description = NSPersistentStoreDescription(url: url)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    if posts { description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey) }
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  @Test func remoteChanges() async throws {
    let folder = try Folder()
    let listening = try container(folder.file("store"), posts: true)
    let coordinator: NSPersistentStoreCoordinator = listening.persistentStoreCoordinator
    let told = Mutex<[(String?, URL?, NSPersistentHistoryToken?)]>([])
    let other = try container(folder.file("store"), posts: false)
    for _ in 0..<5 where told.withLock({ $0.isEmpty }) {
      // The test of another target ends the posting, which asking for a name begins again.
      let observer = NotificationCenter.default.addObserver(
        forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
      ) { notification in
        let info = notification.userInfo
        told.withLock {
          $0.append(
            (
              info?[NSStoreUUIDKey] as? String, info?[NSPersistentStoreURLKey] as? URL,
              info?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
            ))
        }
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      let context = other.newBackgroundContext()
      try await context.perform {
        _ = NSEntityDescription.insertNewObject(forEntityName: "Aircraft", into: context)
        try context.save()
      }
      for _ in 0..<100 where told.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(20)) }
    }
    let (uuid, url, token) = try #require(told.withLock { $0.first })
    let store = try #require(coordinator.persistentStores.first)
    #expect(uuid == store.identifier && url == store.url)
    let current = coordinator.currentPersistentHistoryToken(fromStores: nil)
    #expect(token != nil && token == current)
  }

  @Test func storesComeAndGo() throws {
    let folder = try Folder()
    let told = Mutex<[String]>([])
    for _ in 0..<5 where told.withLock({ $0.count < 5 }) {
      told.withLock { $0 = [] }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model())
      let names: [(Notification.Name, String)] = [
        (.NSPersistentStoreCoordinatorStoresWillChange, "will"), (.NSPersistentStoreCoordinatorStoresDidChange, "did"),
        (.NSPersistentStoreCoordinatorWillRemoveStore, "remove"),
      ]
      let observers = names.map { name, text in
        NotificationCenter.default.addObserver(forName: name, object: coordinator, queue: nil) { notification in
          let info = notification.userInfo
          let added = (info?[NSAddedPersistentStoresKey] as? [NSPersistentStore])?.count ?? 0
          let removed = (info?[NSRemovedPersistentStoresKey] as? [NSPersistentStore])?.count ?? 0
          told.withLock { $0.append("\(text) \(added) \(removed)") }
        }
      }
      defer { for observer in observers { NotificationCenter.default.removeObserver(observer) } }
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("store"))
      try coordinator.remove(store)
    }
    #expect(told.withLock { $0 } == ["will 1 0", "did 1 0", "remove 0 0", "will 0 1", "did 0 1"])
  }

  /// What coordinators, stores and descriptions have beside.
  @Test func partsOfStores() throws {
    let folder = try Folder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model())
    let url = folder.file("store")
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: url,
      options: [NSPersistentHistoryTrackingKey: true as NSNumber, NSPersistentStoreConnectionPoolMaxSizeKey: 5])
    #expect(store.options?[NSPersistentHistoryTrackingKey] as? Bool == true)
    let place: URL = coordinator.url(for: store)
    #expect(place == url)
    let memory = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    #expect(memory.options == nil && memory.persistentStoreCoordinator === coordinator)
    #expect(coordinator.url(for: memory).path == "/dev/null")
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    let object = NSEntityDescription.insertNewObject(forEntityName: "Aircraft", into: context)
    try context.save()
    #expect(object.objectID.persistentStore === store)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Aircraft")
    #expect((try coordinator.execute(request, with: context) as? [NSManagedObject]) == [object])
    let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url, options: nil)
    #expect(model?.entitiesByName["Aircraft"] != nil)
    let description = NSPersistentStoreDescription(url: url)
    description.setValue("WAL" as NSString, forPragmaNamed: "journal_mode")
    #expect(description.sqlitePragmas.isEmpty)
  }
}
