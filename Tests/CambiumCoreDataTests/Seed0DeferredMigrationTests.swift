import CambiumCoreData
import Testing

// "What's new in Core Data": 21:01 adding a store with the option, 21:17 executing deferred migrations; and the page of
// the key (seed 1), which opens the store by `type: .sqlite`. Corrected: a value of a dictionary is no `Bool` without a
// cast, and what throws is tried.
@Suite struct Seed0DeferredMigrationTests {
  private func oldStore(_ folder: Folder) throws -> URL {
    let storeURL = folder.file("store.sqlite")
    let container = try FlightLog.container(storeURL, try FlightLog.model(2))
    let aircraft = NSEntityDescription.insertNewObject(forEntityName: "Aircraft", into: container.viewContext)
    aircraft.setValue("N1", forKey: "tailNumber")
    aircraft.setValue(Data([1]), forKey: "flightData")
    try container.viewContext.save()
    return storeURL
  }

  @Test func theTalk() throws {
    let folder = try Folder()
    let storeURL = try oldStore(folder)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model(3))

    let options = [
      NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
      NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true,
    ]
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: options)

    // After using BGProcessingTask to run migration work
    let metadata = coordinator.metadata(for: store)
    #expect(metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true)
    if metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true {
      try coordinator.finishDeferredLightweightMigration()
    }
    #expect(coordinator.metadata(for: store)[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
    let context = NSManagedObjectContext(
      concurrencyType: .privateQueueConcurrencyType, persistentStoreCoordinator: coordinator)
    let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Aircraft"))
    #expect(found.map { $0.value(forKey: "tailNumber") as? String } == ["N1"])
  }

  @Test func thePageOfTheKey() throws {
    let folder = try Folder()
    let storeURL = try oldStore(folder)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model(3))

    let options = [
      // Enable deferred lightweight migrations.
      NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
      // Enable lightweight migrations.
      NSMigratePersistentStoresAutomaticallyOption: true,
      NSInferMappingModelAutomaticallyOption: true,
    ]
    let store = try coordinator.addPersistentStore(type: .sqlite, at: storeURL, options: options)

    let key = NSPersistentStoreDeferredLightweightMigrationOptionKey
    #expect(store.metadata[key] != nil)
    if let hasMigration = store.metadata[key] as? Bool, hasMigration == true {
      try coordinator.finishDeferredLightweightMigrationTask()
    }
    #expect(store.metadata[key] == nil)
  }

  @Test func withoutTheOptionsTheStoreIsRefused() throws {
    let folder = try Folder()
    let storeURL = try oldStore(folder)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try FlightLog.model(3))
    do {
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL)
      Issue.record("opened")
    } catch {
      #expect((error as NSError).domain == NSCocoaErrorDomain)
      #expect((error as NSError).code == NSPersistentStoreIncompatibleVersionHashError)
    }
  }
}
