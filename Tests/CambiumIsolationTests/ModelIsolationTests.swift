import CambiumSwiftData
import Foundation
import Testing

// Models in a module whose declarations are the main actor's by default, as Xcode sets it for new applications.

nonisolated enum Weather: String, Codable { case dry, wet }

@Model final class Hike {
  @Attribute(.unique) var name: String
  var weather: Weather = Weather.dry
  var length: Double?
  @Relationship(deleteRule: .cascade, inverse: \Stop.hike) var stops: [Stop] = []

  init(name: String) { self.name = name }
}

@Model final class Stop {
  var place: String
  var hike: Hike?

  init(place: String) { self.place = place }
}

enum Walks1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Walk.self] }

  @Model final class Walk {
    var name: String
    init(name: String) { self.name = name }
  }
}

enum Walks2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Walk.self] }

  @Model final class Walk {
    @Attribute(originalName: "name") var title: String
    var steps: Int = 0
    init(title: String) { self.title = title }
  }
}

enum WalkPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [Walks1.self, Walks2.self] }
  static var stages: [MigrationStage] { [toWalks2] }
  static let toWalks2 = MigrationStage.custom(
    fromVersion: Walks1.self, toVersion: Walks2.self, willMigrate: nil
  ) { context in
    for walk in try context.fetch(FetchDescriptor<Walks2.Walk>()) { walk.steps = walk.title.count }
    try context.save()
  }
}

struct ModelIsolationTests {
  @Test func aPlanNeedsNoAnnotation() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("walks-\(UUID()).store")
    defer { try? FileManager.default.removeItem(at: url) }
    do {
      let context = ModelContext(
        try ModelContainer(for: Walks1.Walk.self, configurations: ModelConfiguration(url: url)))
      context.insert(Walks1.Walk(name: "Ridge"))
      try context.save()
    }
    let container = try ModelContainer(
      for: Walks2.Walk.self, migrationPlan: WalkPlan.self, configurations: ModelConfiguration(url: url))
    #expect(try container.mainContext.fetch(FetchDescriptor<Walks2.Walk>()).map(\.steps) == [5])
  }

  @Test func theMainContextIsUsedWithoutAnyAnnotation() async throws {
    let container = try ModelContainer(for: Hike.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = container.mainContext
    let hike = Hike(name: "Ridge")
    hike.stops = [Stop(place: "Hut"), Stop(place: "Top")]
    context.insert(hike)
    try context.save()
    let wet = Weather.wet
    hike.weather = .wet
    let found = try context.fetch(
      FetchDescriptor<Hike>(
        predicate: #Predicate { $0.weather == wet && $0.stops.contains { $0.place == "Top" } },
        sortBy: [SortDescriptor(\.name)]))
    #expect(found.map(\.name) == ["Ridge"] && found[0].stops.map(\.place) == ["Hut", "Top"])
    let names = try await container.perform { context in
      try context.fetch(FetchDescriptor<Stop>(sortBy: [SortDescriptor(\.place)])).map(\.place)
    }
    #expect(names == ["Hut", "Top"])
  }
}
