import Cambium
import CambiumSwiftData
import Foundation
import Testing

// A Core Data stack and a SwiftData stack on one store, as in the mission's rows F8 to F12.

private enum Version {
  @Model final class Trip {
    var name: String?
    var destination: String?
    var startDate: Date?
    var isDone: Bool = false
    var price: Decimal?
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
    init(_ name: String) { self.name = name }
  }

  @Model final class Stop {
    var place: String
    var trip: Trip?
    init(_ place: String) { self.place = place }
  }
}

/// F12: the classes of the two stacks have names of their own. The entity's name is the same.
private final class CDTrip: ManagedObject {
  @Managed var name: String?
  @Managed var destination: String?
  @Managed var startDate: Date?
  @Managed var isDone: Bool
  @Managed var price: Decimal?
  @Managed var stops: Set<CDStop>
}

private final class CDStop: ManagedObject {
  @Managed var place: String
  @Managed var trip: CDTrip?
}

/// The model of the Core Data stack, written by hand.
private func handWritten(additional: [Cambium.Attribute] = []) throws -> ManagedObjectModel {
  try ManagedObjectModel {
    Cambium.Entity("Trip", class: CDTrip.self) {
      Cambium.Attribute("name", .string)
      Cambium.Attribute("destination", .string)
      Cambium.Attribute("startDate", .date)
      Cambium.Attribute("isDone", .boolean, optional: false, default: false)
      Cambium.Attribute("price", .decimal)
      ToMany("stops", "Stop", inverse: "trip", deleteRule: .cascade)
      for attribute in additional { attribute }
    }
    Cambium.Entity("Stop", class: CDStop.self) {
      Cambium.Attribute("place", .string, optional: false)
      ToOne("trip", "Trip", inverse: "stops")
    }
  }
}

private final class Stacks {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent("coexistence-\(UUID()).store")

  deinit { try? FileManager.default.removeItem(at: url) }

  func swiftData(_ schema: Schema = Schema([Version.Trip.self])) throws -> ModelContainer {
    try ModelContainer(for: schema, configurations: ModelConfiguration(url: url))
  }

  func coreData(_ model: ManagedObjectModel? = nil, tracksHistory: Bool = true) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Trips", managedObjectModel: try model ?? handWritten())
    let description = PersistentStoreDescription(url: url)
    description.tracksHistory = tracksHistory
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }
}

@Suite struct CoexistenceTests {
  @Test func bothModelsHaveTheSameHashes() throws {
    let schema = Schema([Version.Trip.self])
    let made = try #require(ManagedObjectModel.makeManagedObjectModel(for: schema))
    let written = try handWritten()
    #expect(try made.entityVersionHashesByName == written.entityVersionHashesByName)
    #expect(made.entities.map(\.name).sorted() == ["Stop", "Trip"])
  }

  // F8, F9, F12: either stack may come first; each sees the saves of the other.
  @Test(arguments: [true, false]) func bothStacksWorkOnOneStore(coreDataFirst: Bool) throws {
    let stacks = Stacks()
    let first = coreDataFirst ? try stacks.coreData() : nil
    let models = try stacks.swiftData()
    let objects = try first ?? stacks.coreData()
    let context = ModelContext(models)
    let view = objects.viewContext
    for round in 0..<3 {
      let trip = Version.Trip("model \(round)")
      trip.stops = [Version.Stop("Oslo"), Version.Stop("Bergen")]
      trip.price = 12.5
      context.insert(trip)
      try context.save()
      let request = FetchRequest<CDTrip>()
      request.predicate = try FetchPredicate(format: "name == %@", "model \(round)")
      let same = try #require(try view.fetch(request).first)
      #expect(same.price == 12.5 && Set(same.stops.map(\.place)) == ["Oslo", "Bergen"] && !same.isDone)
      same.isDone = true
      let own = CDTrip(context: view)
      own.name = "object \(round)"
      let stop = CDStop(context: view)
      stop.place = "Voss"
      stop.trip = own
      try view.save()
      let name = "object \(round)"
      let found = try context.fetch(FetchDescriptor<Version.Trip>(predicate: #Predicate { $0.name == name }))
      #expect(found.first?.stops.map(\.place) == ["Voss"])
      let read = try #require(
        try ModelContext(models).fetch(
          FetchDescriptor<Version.Trip>(predicate: #Predicate { $0.isDone })
        ).first)
      #expect(read.name?.hasPrefix("model") == true)
    }
    let history = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(history.count == 6)
  }

  // F10: the store keeps history from the first opening with it on, before anything is saved.
  @Test func aStackWithoutHistoryMayOnlyRead() throws {
    let stacks = Stacks()
    do { _ = try stacks.swiftData() }
    let objects = try stacks.coreData(tracksHistory: false)
    let store = try #require(objects.persistentStoreCoordinator.persistentStores.first)
    #expect(store.isReadOnly && store.readOnlyReason == .historyNotTracked)
    _ = CDTrip(context: objects.viewContext)
    #expect {
      try objects.viewContext.save()
    } throws: { "\($0)".contains("tracksHistory") }
    // The other stack is not concerned.
    let models = try stacks.swiftData()
    let context = ModelContext(models)
    context.insert(Version.Trip("a"))
    try context.save()
    objects.viewContext.rollback()
    #expect(try objects.viewContext.fetch(FetchRequest<CDTrip>()).map(\.name) == ["a"])
  }

  private func differs(_ error: any Error) -> Bool {
    let text = "\(error)"
    return text.contains("Trip") && text.contains("rating") && text.contains("open")
  }

  // F12: a model that differs is refused while the other stack is open, whichever comes second.
  @Test func aDifferentModelIsRefusedWhileTheOtherStackIsOpen() throws {
    let stacks = Stacks()
    let rating = Cambium.Attribute("rating", .integer64, optional: false, default: 0)
    do {
      let models = try stacks.swiftData()
      #expect { try stacks.coreData(try handWritten(additional: [rating])) } throws: { differs($0) }
      try ModelContext(models).save()
    }
    do {
      // Alone, it may migrate the store.
      let objects = try stacks.coreData(try handWritten(additional: [rating]))
      _ = CDTrip(context: objects.viewContext)
      try objects.viewContext.save()
      #expect { try stacks.swiftData() } throws: { differs($0) && SwiftDataError.loadIssueModelContainer ~= $0 }
      _ = CDTrip(context: objects.viewContext)
      try objects.viewContext.save()
    }
  }

  @Test func aModelMadeForTheOtherStackServesIt() throws {
    let stacks = Stacks()
    let models = try stacks.swiftData()
    let model = try #require(ManagedObjectModel.makeManagedObjectModel(for: Version.Trip.self))
    model.entitiesByName["Trip"]?.managedObjectClass = CDTrip.self
    let objects = try stacks.coreData(model)
    let trip = CDTrip(context: objects.viewContext)
    trip.name = "made"
    try objects.viewContext.save()
    let context = ModelContext(models)
    #expect(try context.fetch(FetchDescriptor<Version.Trip>()).map(\.name) == ["made"])
  }

  @Test func aModelIsMergedWithAnother() throws {
    let other = try ManagedObjectModel { Cambium.Entity("Note") { Cambium.Attribute("text", .string) } }
    let merged = try #require(
      ManagedObjectModel.makeManagedObjectModel(for: [Version.Trip.self], mergedWith: other))
    #expect(merged.entities.map(\.name).sorted() == ["Note", "Stop", "Trip"])
    let clash = try ManagedObjectModel { Cambium.Entity("Trip") { Cambium.Attribute("text", .string) } }
    #expect(ManagedObjectModel.makeManagedObjectModel(for: [Version.Trip.self], mergedWith: clash) == nil)
  }
}
