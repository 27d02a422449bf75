import CambiumCoreData
import Testing

// "Migrate to SwiftData": what of it is Core Data code. 4:57 object creation, 7:30 setting the path of the store and
// history tracking, 9:11 unique class names (`CDTrip`, whose entity stays `Trip`).

class CDTrip: NSManagedObject {
  @Managed var name: String?
  @Managed var destination: String?
  @Managed var startDate: Date?
  @Managed var endDate: Date?
}

private typealias Trip = CDTrip

@Suite struct Seed2CoexistenceTests {
  private func model() -> NSManagedObjectModel {
    let trip = NSEntityDescription()
    trip.name = "Trip"
    trip.managedObjectClassName = "CDTrip"
    trip.properties = [
      FlightLog.attribute("name", .stringAttributeType), FlightLog.attribute("destination", .stringAttributeType),
      FlightLog.attribute("startDate", .dateAttributeType), FlightLog.attribute("endDate", .dateAttributeType),
    ]
    let model = NSManagedObjectModel()
    model.entities = [trip]
    return model
  }

  @Test func tripsWithHistory() throws {
    let folder = try Folder()
    let container = NSPersistentContainer(name: "Trips", managedObjectModel: model())
    let url = URL(fileURLWithPath: folder.file("Trips.store").path)
    if let description = container.persistentStoreDescriptions.first {
      description.url = url
      description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    }
    container.loadPersistentStores { _, error in
      if let error { Issue.record(error) }
    }
    let viewContext = container.viewContext
    let (name, destination) = ("Summer", "Yosemite")
    let (startDate, endDate) = (Date(timeIntervalSince1970: 1_700_000_000), Date(timeIntervalSince1970: 1_700_600_000))

    let newTrip = Trip(context: viewContext)
    newTrip.name = name
    newTrip.destination = destination
    newTrip.startDate = startDate
    newTrip.endDate = endDate
    viewContext.transactionAuthor = "app"
    try viewContext.save()

    let request = NSFetchRequest<CDTrip>(entityName: "Trip")
    request.predicate = NSPredicate(format: "startDate >= %@ AND destination == %@", startDate as NSDate, "Yosemite")
    request.sortDescriptors = [NSSortDescriptor(key: "startDate", ascending: true)]
    #expect(try viewContext.fetch(request).map(\.name) == ["Summer"])

    let history = try viewContext.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
    let transactions = try #require(history.result as? [NSPersistentHistoryTransaction])
    #expect(transactions.map(\.author) == ["app"])
    #expect(transactions.first?.changes?.first?.changeType == NSPersistentHistoryChangeType.insert)

    // Without history the store is read-only, as the talk warns.
    let other = NSPersistentStoreCoordinator(managedObjectModel: model())
    let store = try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url)
    #expect(store.isReadOnly && store.readOnlyReason == .historyNotTracked)
  }
}
