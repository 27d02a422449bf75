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

struct ModelIsolationTests {
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
