import CambiumCoreData
import Testing

// "What's new in Core Data": 16:00 model references, 16:19 stages, 16:54 handlers, 17:41 loading with a staged
// migration manager. Corrected where the talk's code is not Swift: commas, quotation marks, `NSBundle.mainBundle`,
// which is a bundle of the test's here, and the context of the handler's fetch. The checksums are those of the models.
@Suite struct Seed0StagedMigrationTests {
  private func migrate(_ folder: Folder, to myModel: NSManagedObjectModel) throws -> NSPersistentContainer? {
    let bundle = try #require(Bundle(path: folder.url.path))
    let v1ModelChecksum = try FlightLog.model(1).versionChecksum
    let v1ModelReference = NSManagedObjectModelReference(
      modelName: "modelV1", in: bundle, versionChecksum: v1ModelChecksum)
    let v2ModelChecksum = try FlightLog.model(2).versionChecksum
    let v2ModelReference = NSManagedObjectModelReference(
      modelName: "modelV2", in: bundle, versionChecksum: v2ModelChecksum)
    let v3ModelChecksum = try FlightLog.model(3).versionChecksum
    let v3ModelReference = NSManagedObjectModelReference(
      modelName: "modelV3", in: bundle, versionChecksum: v3ModelChecksum)
    #expect(v1ModelReference.versionChecksum == v1ModelChecksum)

    let lightweightStage = NSLightweightMigrationStage([v1ModelChecksum])
    lightweightStage.label = "V1 to V2: Add flightData attribute"
    let customStage = NSCustomMigrationStage(migratingFrom: v2ModelReference, to: v3ModelReference)
    customStage.label = "V2 to V3: Denormalize model with FlightData entity"

    customStage.willMigrateHandler = { migrationManager, currentStage in
      guard let container = migrationManager.container else { return }
      let context = container.newBackgroundContext()
      context.performAndWait {
        let fetchRequest = NSFetchRequest<NSFetchRequestResult>(entityName: "Aircraft")
        fetchRequest.predicate = NSPredicate(format: "flightData != nil")
        do {
          var fetchedResults: [NSManagedObject]
          fetchedResults = try context.fetch(fetchRequest)
          for airplane in fetchedResults {
            let fdEntity = NSEntityDescription.insertNewObject(forEntityName: "FlightData", into: context)
            let flightData = airplane.value(forKey: "flightData")
            fdEntity.setValue(flightData, forKey: "data")
            fdEntity.setValue(airplane, forKey: "aircraft")
            airplane.setValue(nil, forKey: "flightData")
          }
          try context.save()
        } catch {
          Issue.record(error)
        }
      }
    }

    let migrationStages = [lightweightStage, customStage]
    let migrationManager = NSStagedMigrationManager(migrationStages)
    let persistentContainer = NSPersistentContainer(
      path: folder.file("store.sqlite").path, managedObjectModel: myModel)
    let storeDescription = persistentContainer?.persistentStoreDescriptions.first
    storeDescription?.setOption(migrationManager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    persistentContainer?.loadPersistentStores { storeDescription, error in
      if let error = error { Issue.record(error) }
    }
    return persistentContainer
  }

  @Test(arguments: [1, 2]) func storesOfEarlierVersions(version: Int) throws {
    let folder = try Folder()
    for version in 1...3 { try FlightLog.write(try FlightLog.model(version), "modelV\(version)", in: folder) }
    do {
      let container = try FlightLog.container(folder.file("store.sqlite"), try FlightLog.model(version))
      for number in 0..<5 {
        let aircraft = NSEntityDescription.insertNewObject(forEntityName: "Aircraft", into: container.viewContext)
        aircraft.setValue("N\(number)", forKey: "tailNumber")
        if number != 2 { aircraft.setValue(Data([UInt8(number)]), forKey: "flightData") }
      }
      try container.viewContext.save()
    }
    let container = try #require(try migrate(folder, to: try FlightLog.model(3)))
    let request = NSFetchRequest<NSManagedObject>(entityName: "FlightData")
    let found = try container.viewContext.fetch(request)
    #expect(found.count == 4)
    for data in found {
      let tail = data.value(forKeyPath: "aircraft.tailNumber") as? String
      #expect((data.value(forKey: "data") as? Data)?.first.map { "N\($0)" } == tail)
    }
    #expect(try container.viewContext.count(for: NSFetchRequest<NSManagedObject>(entityName: "Aircraft")) == 5)
  }

  @Test func stagesThatCannotBe() throws {
    let folder = try Folder()
    let checksum = try FlightLog.model(1).versionChecksum
    // Core Data raises; here the opening fails.
    let manager = NSStagedMigrationManager([NSLightweightMigrationStage([checksum, checksum])])
    let container = NSPersistentContainer(name: "Flights", managedObjectModel: try FlightLog.model(1))
    let description = NSPersistentStoreDescription(url: folder.file("store.sqlite"))
    description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
    container.persistentStoreDescriptions = [description]
    #expect(throws: CambiumError.self) { try container.loadPersistentStores() }
  }
}
