import CambiumCoreData
import Synchronization
import Testing

/// Stores by Core Data's calls, those of either generation.
@Suite struct StoreAdapterTests {
  private func fill(_ url: URL, _ tailNumbers: [String]) throws {
    let context = try FlightLog.container(url, try FlightLog.model()).newBackgroundContext()
    try context.performAndWait {
      for tailNumber in tailNumbers {
        let aircraft = NSEntityDescription.insertNewObject(forEntityName: "Aircraft", into: context)
        aircraft.setValue(tailNumber, forKey: "tailNumber")
      }
      try context.save()
    }
  }

  private func tailNumbers(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let request = NSFetchRequest<[String: Any]>(entityName: "Aircraft")
    return try context.performAndWait { try context.fetch(request).compactMap { $0["tailNumber"] as? String } }
  }

  @Test(arguments: [false, true]) func filesAreReplacedMovedAndDestroyed(byNewerNames isNewer: Bool) throws {
    let folder = try Folder()
    let (first, second, third) = (folder.file("first"), folder.file("second"), folder.file("third"))
    try fill(first, ["N1"])
    try fill(second, ["N2", "N3"])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model())
    let (readOnly, notReadOnly): ([AnyHashable: Any], [AnyHashable: Any]) = (
      [NSReadOnlyPersistentStoreOption: NSNumber(value: 1)], [NSReadOnlyPersistentStoreOption: NSNumber(value: 0)]
    )
    let (store, moved): (NSPersistentStore, NSPersistentStore)
    if isNewer {
      try coordinator.replacePersistentStore(at: first, withPersistentStoreFrom: second, type: .sqlite)
      store = try coordinator.addPersistentStore(type: .sqlite, at: first, options: readOnly)
      #expect(store.isReadOnly && store.readOnlyReason == .requested)
      moved = try coordinator.migratePersistentStore(store, to: third, options: notReadOnly, type: .sqlite)
    } else {
      try coordinator.replacePersistentStore(
        at: first, destinationOptions: nil, withPersistentStoreFrom: second, sourceOptions: nil,
        ofType: NSSQLiteStoreType)
      store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: first, options: readOnly)
      #expect(store.isReadOnly && store.readOnlyReason == .requested)
      moved = try coordinator.migratePersistentStore(
        store, to: third, options: notReadOnly, withType: NSSQLiteStoreType)
    }
    #expect(!moved.isReadOnly && moved.url == third && coordinator.persistentStores.map(\.url) == [third])
    #expect(try tailNumbers(coordinator).sorted() == ["N2", "N3"])
    let type: NSPersistentStore.StoreType = .sqlite
    if isNewer {
      try coordinator.destroyPersistentStore(at: second, type: type, options: nil)
      #expect(throws: CambiumError.self) {
        try coordinator.destroyPersistentStore(at: third, type: type, options: [:])
      }
    } else {
      try coordinator.destroyPersistentStore(at: second, ofType: NSSQLiteStoreType)
      #expect(throws: CambiumError.self) {
        try coordinator.destroyPersistentStore(at: third, ofType: NSSQLiteStoreType, options: nil)
      }
    }
    #expect(!FileManager.default.fileExists(atPath: second.path))
    #expect(FileManager.default.fileExists(atPath: third.path))
  }

  /// Options as they are written where a store is opened, and left out.
  @Test func optionsWrittenOut() throws {
    let folder = try Folder()
    let (first, second) = (folder.file("first"), folder.file("second"))
    try fill(first, ["N1"])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model(3))
    #expect(throws: CambiumError.self) { try coordinator.addPersistentStore(type: .sqlite, at: first) }
    #expect(throws: CambiumError.self) { try coordinator.addPersistentStore(type: .sqlite, at: first, options: nil) }
    let store = try coordinator.addPersistentStore(
      type: .sqlite, configuration: nil, at: first,
      options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
    #expect(!store.isReadOnly)
    let moved = try coordinator.migratePersistentStore(store, to: second, type: .sqlite)
    try coordinator.remove(moved)
    let readOnly = try coordinator.addPersistentStore(
      type: .sqlite, configuration: nil, at: second,
      options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true), NSSQLitePragmasOption: ["journal_mode": "WAL"]])
    #expect(readOnly.isReadOnly)
    #expect(try tailNumbers(coordinator) == ["N1"])
    try fill(folder.file("third"), [])
    try coordinator.destroyPersistentStore(at: folder.file("third"), type: .sqlite)
    #expect(!FileManager.default.fileExists(atPath: folder.file("third").path))
  }

  @Test func metadataOfFiles() throws {
    let folder = try Folder()
    let url = folder.file("store")
    try fill(url, [])
    try NSPersistentStoreCoordinator.setMetadata(
      ["note": "first"], forPersistentStoreOfType: NSSQLiteStoreType, at: url, options: nil)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
      ofType: NSSQLiteStoreType, at: url, options: nil)
    #expect(metadata["note"] as? String == "first" && metadata[NSStoreUUIDKey] is String)
    try NSPersistentStoreCoordinator.setMetadata(["note": "second"], type: .sqlite, at: url)
    #expect(
      try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)["note"] as? String == "second"
    )
    try NSPersistentStoreCoordinator.setMetadata(nil, type: .sqlite, at: url)
    #expect(try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)["note"] == nil)
  }

  @Test(arguments: [false, true]) func migrationsByHand(byNewerNames isNewer: Bool) throws {
    let folder = try Folder()
    let (old, new) = (folder.file("old"), folder.file("new"))
    try fill(old, ["N1", "N2"])
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: old)
    let models = [try FlightLog.model(), try FlightLog.model(3)]
    let source = try #require(NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata))
    let destination = models[1]
    let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
    let manager = NSMigrationManager(sourceModel: source, destinationModel: destination)
    if isNewer {
      try manager.migrateStore(from: old, type: .sqlite, mapping: mapping, to: new, type: .sqlite)
    } else {
      // Core Data raises.
      #expect(throws: CambiumError.self) {
        try manager.migrateStore(
          from: old, sourceType: NSSQLiteStoreType, options: nil, with: nil, toDestinationURL: new,
          destinationType: NSSQLiteStoreType, destinationOptions: nil)
      }
      try manager.migrateStore(
        from: old, sourceType: NSSQLiteStoreType, options: nil, with: mapping, toDestinationURL: new,
        destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destination)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: new)
    #expect(try tailNumbers(coordinator).sorted() == ["N1", "N2"])
  }

  @Test func storesByDescriptions() throws {
    let folder = try Folder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model())
    let description = NSPersistentStoreDescription(url: folder.file("store"))
    // Of no effect here.
    description.shouldAddStoreAsynchronously = true
    var told: [(description: NSPersistentStoreDescription, error: (any Error)?)] = []
    coordinator.addPersistentStore(with: description) { told.append(($0, $1)) }
    #expect(told.count == 1 && told[0].description === description && told[0].error == nil)
    #expect(coordinator.persistentStores.map(\.url) == [description.url])
    // A store is added once.
    coordinator.addPersistentStore(with: description) { told.append(($0, $1)) }
    #expect(told.count == 2 && (told.last?.error).map { ($0 as NSError).code } == NSPersistentStoreOpenError)
  }

  @Test func requestsOfCoordinators() throws {
    let folder = try Folder()
    let container = NSPersistentContainer(name: "Flights", managedObjectModel: try FlightLog.model())
    let description = NSPersistentStoreDescription(url: folder.file("store"))
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let (coordinator, context) = (container.persistentStoreCoordinator, container.newBackgroundContext())
    let insert = NSBatchInsertRequest(entityName: "Aircraft", objects: [["tailNumber": "A"], ["tailNumber": "B"]])
    insert.resultType = .count
    #expect((try coordinator.execute(insert, with: context) as? NSBatchInsertResult)?.result as? Int == 2)
    let update = NSBatchUpdateRequest(entityName: "Aircraft")
    update.propertiesToUpdate = ["numPassengers": 4]
    update.resultType = .updatedObjectsCountResultType
    #expect((try coordinator.execute(update, with: context) as? NSBatchUpdateResult)?.result as? Int == 2)
    let which = NSFetchRequest<NSFetchRequestResult>(entityName: "Aircraft")
    which.predicate = NSPredicate(format: "tailNumber == 'A' AND numPassengers == 4")
    let delete = NSBatchDeleteRequest(fetchRequest: which)
    delete.resultType = .resultTypeCount
    #expect((try coordinator.execute(delete, with: context) as? NSBatchDeleteResult)?.result as? Int == 1)
    #expect(try coordinator.execute(which, with: context) as? [NSManagedObject] == [])
    let history = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
    let result = try coordinator.execute(history, with: context) as? NSPersistentHistoryResult
    #expect(result?.transactions.count == 3)
  }

  /// A container whose stores are somewhere else than the application's.
  private final class Apart: NSPersistentContainer, @unchecked Sendable {
    static let place = Mutex<URL?>(nil)

    override class func defaultDirectoryURL() -> URL {
      place.withLock { $0 } ?? FileManager.default.temporaryDirectory
    }
  }

  @Test func containersByName() throws {
    let name = "Flights-" + UUID().uuidString
    #expect(
      NSPersistentContainer(name: name).persistentStoreDescriptions.map(\.url)
        == [NSPersistentContainer.defaultDirectoryURL().appendingPathComponent(name + ".cambium")])
    let folder = try Folder()
    // Which is not there yet.
    let stores = folder.file("stores")
    Apart.place.withLock { $0 = stores }
    // Without a model of the name: Core Data raises.
    let empty = Apart(name: name)
    #expect(empty.managedObjectModel.entities.isEmpty)
    let error = #expect(throws: CambiumError.self) { try empty.loadPersistentStores() }
    #expect(error?.code == .fileReadNoSuchFile && error?.message.contains(name) == true)
    #expect(!FileManager.default.fileExists(atPath: stores.appendingPathComponent(name + ".cambium").path))
    // With one, as in an application's bundle; where tests may write into theirs.
    let bundle = Bundle.main.resourceURL ?? Bundle.main.bundleURL
    guard FileManager.default.isWritableFile(atPath: bundle.path) else { return }
    try FlightLog.write(try FlightLog.model(), name, in: bundle)
    defer { try? FileManager.default.removeItem(at: bundle.appendingPathComponent(name + ".cambiummodel")) }
    // One that cannot be read says so.
    let broken = bundle.appendingPathComponent(name + "-broken.xcdatamodel")
    try FileManager.default.createDirectory(at: broken, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: broken) }
    try Data("<model>".utf8).write(to: broken.appendingPathComponent("contents"))
    let unreadable = Apart(name: name + "-broken")
    let reason = #expect(throws: CambiumError.self) { try unreadable.loadPersistentStores() }
    #expect(reason?.code == .invalidModel)
    try FileManager.default.removeItem(at: broken)
    let container = Apart(name: name)
    #expect(container.managedObjectModel.entitiesByName["Aircraft"] != nil)
    #expect(NSManagedObjectModel.mergedModel(from: nil)?.entitiesByName["Aircraft"] != nil)
    try container.loadPersistentStores()
    let file = stores.appendingPathComponent(name + ".cambium")
    #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [file])
    #expect(FileManager.default.fileExists(atPath: file.path))
  }
}
