import CambiumCoreData
import CambiumSwiftData

/// The way of the application from Core Data to SwiftData, step by step, on one store.
@MainActor struct Story {
  let store: URL
  let say: (String) -> Void

  /// Tells all steps.
  func tell() async throws {
    try beginWithCoreData()
    try compareModels()
    try await useBothStacks()
    try openWithoutHistory()
    try changeOneModelOnly()
    try await adoptSwiftData()
  }

  /// Returns a day of the year 2026, by its distance from the first one.
  func day(_ number: Int) -> Date { Date(timeIntervalSince1970: 1_767_225_600 + Double(number) * 86_400) }

  // MARK: 1

  private func beginWithCoreData() throws {
    say("1. The Core Data application saves two trips.")
    let persistence = try PersistenceController(store: store, model: PersistenceController.model())
    let viewContext = persistence.container.viewContext
    for (name, destination, start) in [("Fjords", "Bergen", 160), ("Volcanoes", "Vik", 200)] {
      let newTrip = CDTrip(context: viewContext)
      newTrip.name = name
      newTrip.destination = destination
      newTrip.startDate = day(start)
      newTrip.endDate = day(start + 7)
      for title in ["Hike", "Swim"] {
        let item = CDBucketListItem(context: viewContext)
        item.title = "\(title) in \(destination)"
        item.trip = newTrip
      }
      let accommodation = CDLivingAccommodation(context: viewContext)
      accommodation.placeName = "Hut \(destination)"
      newTrip.livingAccommodation = accommodation
    }
    try viewContext.save()
    let request = NSFetchRequest<CDTrip>(entityName: "Trip")
    request.sortDescriptors = [NSSortDescriptor(key: "startDate", ascending: true)]
    for trip in try viewContext.fetch(request) {
      say(
        "   \(trip.name), \(trip.bucketList.count) items, \(trip.livingAccommodation?.placeName ?? "no place to stay")")
    }
    try persistence.close()
  }

  // MARK: 2

  private func compareModels() throws {
    say("2. The model classes of SwiftData describe the same entities.")
    let written = try PersistenceController.model().entityVersionHashesByName
    guard let made = NSManagedObjectModel.makeManagedObjectModel(for: Trip.self) else {
      throw SampleTripsError("the classes make no schema")
    }
    for (entity, hash) in made.entityVersionHashesByName.sorted(by: { $0.key < $1.key }) {
      say("   \(entity): \(written[entity] == hash ? "same hash" : "another hash")")
    }
  }

  // MARK: 3

  private func useBothStacks() async throws {
    say("3. Both stacks have the store open.")
    let persistence = try PersistenceController(store: store, model: PersistenceController.model())
    let container = try TripsStore.container(store: store)
    let (viewContext, modelContext) = (persistence.container.viewContext, container.mainContext)
    modelContext.autosaveEnabled = false
    viewContext.transactionAuthor = "core data"
    modelContext.author = "swiftdata"

    // Stands for @Query in a view.
    let trips = try ResultsObserver<Trip, Never>(sortBy: [SortDescriptor(\.startDate)], modelContext: modelContext)
    say("   SwiftData reads \(trips.results.map(\.name))")

    let trip = Trip(name: "Museums", destination: "Rome", startDate: day(90), endDate: day(93))
    trip.bucketList = [BucketListItem(title: "Forum", isInPlan: true)]
    modelContext.insert(trip)
    try modelContext.save()
    let request = NSFetchRequest<CDTrip>(entityName: "Trip")
    request.predicate = NSPredicate(format: "ANY bucketList.isInPlan == YES")
    guard let same = try viewContext.fetch(request).first else {
      throw SampleTripsError("Core Data does not see the trip that SwiftData saved")
    }
    say("   SwiftData saved a trip, and Core Data reads \(same.name) to \(same.destination)")

    same.name = "Museums and ruins"
    try viewContext.save()
    for await results in trips.values where results.first?.name == "Museums and ruins" { break }
    say("   Core Data renamed it, and SwiftData shows \(trips.results.map(\.name))")

    let history = try modelContext.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    say("   The history has saves by \(history.map { $0.author ?? "nobody" })")
    try await container.close()
    try persistence.close()
  }

  // MARK: 4 and 5

  private func openWithoutHistory() throws {
    say("4. A Core Data stack without history tracking may only read.")
    let persistence = try PersistenceController(
      store: store, model: PersistenceController.model(), tracksHistory: false)
    let opened = persistence.container.persistentStoreCoordinator.persistentStores.first
    say("   read-only: \(opened?.isReadOnly ?? false)")
    try persistence.close()
  }

  private func changeOneModelOnly() throws {
    say("5. A model that only one stack changed is refused while the other stack is open.")
    let container = try TripsStore.container(store: store)
    let changed = try PersistenceController.model()
    let rating = NSAttributeDescription()
    rating.name = "rating"
    rating.attributeType = .integer64AttributeType
    rating.isOptional = true
    changed.entitiesByName["Trip"]?.properties.append(rating)
    do {
      _ = try PersistenceController(store: store, model: changed)
      throw SampleTripsError("a model that differs was accepted")
    } catch let error as CambiumError {
      say("   \(error.message)")
    }
    withExtendedLifetime(container) {}
  }

  // MARK: 6

  private func adoptSwiftData() async throws {
    say("6. The application adopts SwiftData completely, and opens the store without Core Data.")
    let container = try TripsStore.container(store: store)
    let modelContext = container.mainContext
    let limit = day(100)
    let upcoming = FetchDescriptor<Trip>(
      predicate: #Predicate { $0.startDate > limit }, sortBy: [SortDescriptor(\.startDate, order: .forward)])
    say("   upcoming: \(try modelContext.fetch(upcoming).map(\.name))")

    // The main context saves by itself.
    let trip = Trip(name: "Lights", destination: "Kiruna", startDate: day(340), endDate: day(345))
    modelContext.insert(trip)
    while modelContext.hasChanges { try await Task.sleep(for: .milliseconds(5)) }
    say("   saved by itself: \(try ModelContext(container).fetchCount(upcoming)) upcoming trips")

    for trip in try modelContext.fetch(upcoming) { modelContext.delete(trip) }
    try await container.close()
    let again = try TripsStore.container(store: store)
    let left = ModelContext(again)
    say(
      "   after deleting them: \(try left.fetchCount(FetchDescriptor<Trip>())) trip, "
        + "\(try left.fetchCount(FetchDescriptor<BucketListItem>())) item, "
        + "\(try left.fetchCount(FetchDescriptor<LivingAccommodation>())) places to stay")
  }
}
