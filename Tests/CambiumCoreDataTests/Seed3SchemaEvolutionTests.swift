import CambiumCoreData
import Testing

// "Evolve your Core Data schema": 6:16. The code is the talk's but for the import, the paths, and what is done instead
// of ending the process.
@Suite struct Seed3SchemaEvolutionTests {
  private func migrate(store: String, model: String) throws -> NSPersistentStoreCoordinator? {
    let storeURL = NSURL.fileURL(withPath: store)
    let momURL = NSURL.fileURL(withPath: model)
    guard let mom = NSManagedObjectModel(contentsOf: momURL) else {
      Issue.record("Error initializing managed object model for URL: \(momURL)")
      return nil
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: mom)
    do {
      let opts = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: Optional<String>.none, at: storeURL, options: opts)
    } catch {
      Issue.record("Error configuring persistent store: \(error)")
    }
    return coordinator
  }

  @Test func theTalk() throws {
    let folder = try Folder()
    let store = folder.file("store").path
    try FlightLog.write(try FlightLog.model(2), "model", in: folder)
    do {
      let container = try FlightLog.container(URL(fileURLWithPath: store), try FlightLog.model(0))
      let aircraft = Aircraft(context: container.viewContext)
      aircraft.tailNumber = "N1"
      try container.viewContext.save()
    }
    let coordinator = try #require(try migrate(store: store, model: folder.file("model.cambiummodel").path))
    let context = NSManagedObjectContext(
      concurrencyType: .mainQueueConcurrencyType, persistentStoreCoordinator: coordinator)
    let request = NSFetchRequest<NSManagedObject>(entityName: "Aircraft")
    let aircraft = try #require(try context.fetch(request).first)
    #expect(aircraft.value(forKey: "tailNumber") as? String == "N1")
    aircraft.setValue(Data([7]), forKey: "flightData")
    try context.save()
    #expect(NSManagedObjectModel(contentsOf: folder.file("none.cambiummodel")) == nil)
  }

  /// "To determine in advance whether Core Data can infer the mapping model": the talk names the method.
  @Test func inferenceInAdvance() throws {
    _ = try NSMappingModel.inferredMappingModel(
      forSourceModel: try FlightLog.model(0), destinationModel: try FlightLog.model(3))
    let other = try FlightLog.model(0)
    let aircraft = try #require(other.entitiesByName["Aircraft"])
    aircraft.attributesByName["tailNumber"]?.attributeType = .binaryDataAttributeType
    #expect(throws: CambiumError.self) {
      _ = try NSMappingModel.inferredMappingModel(
        forSourceModel: try FlightLog.model(0), destinationModel: other)
    }
  }
}
