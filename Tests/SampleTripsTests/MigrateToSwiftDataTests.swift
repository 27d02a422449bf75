import CambiumCoreData
import CambiumSwiftData
import Foundation
import Testing

@testable import SampleTrips

// "Migrate to SwiftData": a test for each of its features, by their numbers. F1 is in `GeneratedCodeTests`. The code of
// the talk is as it is there; what needs SwiftUI has its stand-in beside it.

/// F2, F14: an application that begins with SwiftData needs neither a model file nor another language than Swift.
@Model private final class Note {
  var text: String
  init(_ text: String) { self.text = text }
}

@Suite @MainActor struct MigrateToSwiftDataTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("F-\(UUID())")
  private var url: URL { folder.appendingPathComponent("Trips.store") }

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  private func remove() { try? FileManager.default.removeItem(at: folder) }

  /// Runs a block with the Core Data stack open.
  private func withCoreData(tracksHistory: Bool = true, _ body: (NSManagedObjectContext) throws -> Void) throws {
    let persistence = try PersistenceController(
      store: url, model: PersistenceController.model(), tracksHistory: tracksHistory)
    try body(persistence.container.viewContext)
    try persistence.close()
  }

  private func makeTrip(_ name: String, in viewContext: NSManagedObjectContext) {
    let newTrip = CDTrip(context: viewContext)
    newTrip.name = name
    newTrip.destination = "Yosemite"
    newTrip.startDate = Date(timeIntervalSince1970: 1_700_000_000)
    newTrip.endDate = Date(timeIntervalSince1970: 1_700_600_000)
  }

  @Test("F2, F14: an application may begin with code alone") func codeAlone() throws {
    let context = ModelContext(
      try ModelContainer(for: Note.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    context.insert(Note("a"))
    try context.save()
    #expect(try context.fetch(FetchDescriptor<Note>()).map(\.text) == ["a"])
  }

  @Test("F3: complete adoption opens the Core Data store with classes of the same entities and properties")
  func completeAdoption() throws {
    defer { remove() }
    try withCoreData { viewContext in
      makeTrip("Summer", in: viewContext)
      try viewContext.save()
    }
    // The model file and the other stack may go: nothing below names them.
    let container = try TripsStore.container(store: url)
    let trips = try ModelContext(container).fetch(FetchDescriptor<Trip>())
    #expect(trips.map(\.name) == ["Summer"] && trips.map(\.destination) == ["Yosemite"])
  }

  @Test("F3: a class that lacks a property of its entity is refused, and the store stays as it is")
  func incompleteAdoption() throws {
    defer { remove() }
    try withCoreData { viewContext in
      makeTrip("Summer", in: viewContext)
      try viewContext.save()
    }
    #expect {
      try ModelContainer(for: Incomplete.Trip.self, configurations: ModelConfiguration(url: url))
    } throws: { error in
      let text = "\(error)"
      return ["destination", "startDate", "endDate", "bucketList"].allSatisfy { text.contains($0) }
    }
    try withCoreData { viewContext in
      let left = try viewContext.fetch(NSFetchRequest<CDTrip>(entityName: "Trip"))
      #expect(left.map(\.destination) == ["Yosemite"])
    }
  }

  @Test("F4: ModelContainer(for:) and mainContext stand for .modelContainer(for:) and the environment's context")
  func modelContainer() throws {
    defer { remove() }
    let container = try ModelContainer(
      for: Trip.self, BucketListItem.self, LivingAccommodation.self, configurations: ModelConfiguration(url: url))
    #expect(container.mainContext === container.mainContext && container.mainContext.autosaveEnabled)
    #expect(container.schema.entities.map(\.name) == ["BucketListItem", "LivingAccommodation", "Trip"])
  }

  @Test("F5: objects are created by an initializer and inserted") func objectCreation() throws {
    defer { remove() }
    let modelContext = try TripsStore.container(store: url).mainContext
    let (name, destination) = ("Summer", "Yosemite")
    let (startDate, endDate) = (Date(timeIntervalSince1970: 1_700_000_000), Date(timeIntervalSince1970: 1_700_600_000))
    let trip = Trip(
      name: name,
      destination: destination,
      startDate: startDate,
      endDate: endDate
    )
    modelContext.insert(trip)
    #expect(trip.modelContext === modelContext && trip.hasChanges)
    try modelContext.save()
    #expect(!trip.persistentModelID.description.contains("/t"))
  }

  @Test("F6: the main context saves by itself") func implicitSave() async throws {
    defer { remove() }
    let container = try TripsStore.container(store: url)
    container.mainContext.insert(Trip(name: "Summer", destination: "Oslo", startDate: .now, endDate: .now))
    for _ in 0..<1_000 where container.mainContext.hasChanges { try await Task.sleep(for: .milliseconds(5)) }
    #expect(try ModelContext(container).fetchCount(FetchDescriptor<Trip>()) == 1)
  }

  @Test("F7: a results observer stands for @Query, sorted, filtered and live") func query() throws {
    defer { remove() }
    let context = ModelContext(try TripsStore.container(store: url))
    let limit = Date(timeIntervalSince1970: 50)
    let trips = try ResultsObserver<Trip, Never>(
      filterBy: #Predicate { $0.startDate > limit }, sortBy: [SortDescriptor(\.startDate, order: .forward)],
      modelContext: context)
    for day in [300.0, 10, 100] {
      let start = Date(timeIntervalSince1970: day)
      context.insert(Trip(name: "\(Int(day))", destination: "", startDate: start, endDate: start))
    }
    context.processPendingChanges()
    #expect(trips.results.map(\.name) == ["100", "300"])
  }

  @Test("F8, F9, F11: two separate stacks on one store, with history tracking in both") func coexistence() throws {
    defer { remove() }
    let container = NSPersistentContainer(name: "Trips", managedObjectModel: try PersistenceController.model())
    if let description = container.persistentStoreDescriptions.first {
      description.url = url
      description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    }
    try container.loadPersistentStores()
    let models = ModelContext(try TripsStore.container(store: url))
    #expect(models.container.persistentStoreCoordinator !== container.persistentStoreCoordinator)
    makeTrip("of Core Data", in: container.viewContext)
    try container.viewContext.save()
    models.insert(Trip(name: "of SwiftData", destination: "", startDate: .now, endDate: .now))
    try models.save()
    let names: Set = ["of Core Data", "of SwiftData"]
    #expect(try Set(models.fetch(FetchDescriptor<Trip>()).map(\.name)) == names)
    #expect(
      try Set(container.viewContext.fetch(NSFetchRequest<CDTrip>(entityName: "Trip")).map(\.name)) == names)
  }

  @Test("F10: without history tracking, the Core Data stack may only read") func readOnlyRule() throws {
    defer { remove() }
    do { _ = try TripsStore.container(store: url) }
    try withCoreData(tracksHistory: false) { viewContext in
      #expect(viewContext.persistentStoreCoordinator?.persistentStores.first?.isReadOnly == true)
      makeTrip("Summer", in: viewContext)
      #expect(throws: CambiumError.self) { try viewContext.save() }
      viewContext.rollback()
    }
  }

  @Test("F12: class names differ, entity names and hashes are the same") func requirements() throws {
    defer { remove() }
    let written = try PersistenceController.model()
    let made = try #require(NSManagedObjectModel.makeManagedObjectModel(for: Trip.self))
    #expect(written.entityVersionHashesByName == made.entityVersionHashesByName)
    #expect(written.entitiesByName["Trip"]?.managedObjectClassName == "CDTrip")
    #expect(Schema.entityName(for: Trip.self) == "Trip")
  }

  @Test("F12: a version that only SwiftData knows is told apart by its number") func versionsAreTracked() throws {
    defer { remove() }
    do { _ = try TripsStore.container(store: url) }
    let two = try ModelContainer(
      for: Schema([Later.Trip.self], version: Schema.Version(2, 0, 0)), configurations: ModelConfiguration(url: url))
    #expect(two.schema.version == Schema.Version(2, 0, 0))
  }

  @Test("F13: models are plain Swift classes, which any user interface may wrap") func plainClasses() throws {
    let model = Trip(name: "Summer", destination: "Oslo", startDate: .now, endDate: .now)
    model.bucketList.append(BucketListItem(title: "Swim"))
    #expect(model.modelContext == nil && model.bucketList.map(\.title) == ["Swim"])
    let cell = Cell(trip: model)
    model.name = "Autumn"
    #expect(cell.title == "Autumn, 1")
  }
}

/// A part of a user interface of another kind than SwiftUI.
@MainActor private struct Cell {
  let trip: Trip
  var title: String { "\(trip.name), \(trip.bucketList.count)" }
}

private enum Incomplete {
  @Model final class Trip {
    var name: String
    init(name: String) { self.name = name }
  }
}

/// The next version: an attribute more, and the place to stay is gone.
private enum Later {
  @Model final class Trip {
    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date
    var rating: Int?
    @Relationship(deleteRule: .cascade, inverse: \BucketListItem.trip) var bucketList: [BucketListItem] = []
    init(name: String) {
      self.name = name
      destination = ""
      startDate = .now
      endDate = .now
    }
  }

  @Model final class BucketListItem {
    var title: String
    var isInPlan: Bool = false
    var trip: Trip?
    init(title: String) { self.title = title }
  }
}
