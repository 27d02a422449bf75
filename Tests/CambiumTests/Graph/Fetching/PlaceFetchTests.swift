import Cambium
import CambiumTesting
import Foundation
import Testing

/// Fetches by places: boxes, distances and the nearest first, with an R-tree index and without one.
@Suite struct PlaceFetchTests {
  private final class Airport: ManagedObject, FetchPaths {
    struct Paths: Sendable {
      let code = FetchPath<Airport, String>("code")
      let location = FetchPath<Airport, Location>("place.location")
    }
    static let paths = Paths()
  }

  private struct Location: CompositeRepresentable {
    var latitude: Double
    var longitude: Double

    init(_ latitude: Double, _ longitude: Double) { (self.latitude, self.longitude) = (latitude, longitude) }

    init?(compositeValues values: [String: Any]) {
      guard let latitude = values["latitude"] as? Double, let longitude = values["longitude"] as? Double else {
        return nil
      }
      self.init(latitude, longitude)
    }

    var compositeValues: [String: Any] { ["latitude": latitude, "longitude": longitude] }
  }

  private static func model(indexed: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Location") {
        Attribute("latitude", .double)
        Attribute("longitude", .double)
      }
      Composite("Place") {
        Attribute("city", .string)
        Attribute("location", composite: "Location")
      }
      if indexed {
        Entity("Airport", class: Airport.self) {
          Attribute("code", .string)
          Attribute("place", composite: "Place")
          Index("byPlace", "place.location.latitude", "place.location.longitude", kind: .rTree)
        }
      } else {
        Entity("Airport", class: Airport.self) {
          Attribute("code", .string)
          Attribute("place", composite: "Place")
        }
      }
    }
  }

  private static func values(_ code: String, _ latitude: Double?, _ longitude: Double) -> [String: Any?] {
    [
      "code": code,
      "place": latitude.map { ["city": code, "location": ["latitude": $0, "longitude": longitude]] },
    ]
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    var random = SplitMix64(seed: 61)
    try context.make("Airport", values("nowhere", nil, 0))
    for (code, latitude, longitude) in [
      ("ZRH", 47.458, 8.548), ("BRN", 46.914, 7.497), ("GVA", 46.238, 6.109), ("LUG", 46.004, 8.911),
      ("AKL", -37.008, 174.792), ("NAN", -17.755, 177.443), ("APW", -13.83, -172.008), ("HNL", 21.325, -157.925),
    ] {
      try context.make("Airport", values(code, latitude, longitude))
    }
    for number in 0..<200 {
      try context.make(
        "Airport",
        values("X\(number)", .random(in: -80...40, using: &random), .random(in: -150...(-10), using: &random)))
    }
    try context.make("Airport", values("unplaced", nil, 0))
    try context.save()
  }

  private func codes(
    _ context: ManagedObjectContext, _ format: String? = nil, _ arguments: [Any?] = [],
    sort: [FetchSortDescriptor] = [FetchSortDescriptor(key: "code")], limit: Int = 0, offset: Int = 0
  ) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: "Airport")
    request.predicate = try format.map { try FetchPredicate(format: $0, argumentArray: arguments) }
    request.sortDescriptors = sort
    request.fetchLimit = limit
    request.fetchOffset = offset
    return try context.fetch(request).compactMap { $0.value(forKey: "code") as? String }
  }

  private static let near = "distanceToLocation:fromLocation:(place.location, %@) < %f"

  @Test(arguments: [true, false]) func boxesAndDistances(_ indexed: Bool) throws {
    let directory = try TemporaryDirectory()
    try Self.fill(try directory.container(model: Self.model(indexed: indexed)).viewContext)
    let context = try directory.container(model: Self.model(indexed: indexed)).viewContext
    let box =
      "place.location.latitude BETWEEN {45, 47} AND place.location.longitude > 5 AND place.location.longitude < 9"
    #expect(try codes(context, box) == ["BRN", "GVA", "LUG"])
    #expect(try codes(context, box + " AND code != 'GVA'") == ["BRN", "LUG"])
    #expect(try codes(context, Self.near, [[46.948, 7.447], 150_000.0]) == ["BRN", "GVA", "ZRH"])
    // Over the antimeridian.
    #expect(try codes(context, Self.near, [[-16.0, -179.0], 1_000_000.0]) == ["APW", "NAN"])
    let typed = FetchRequest<Airport>(entityName: "Airport")
    typed.filter { $0.location.distance(fromLatitude: 46.948, longitude: 7.447) < 150_000 }
      .sort { [$0.location.nearest(toLatitude: 46.948, longitude: 7.447)] }
    #expect(try context.fetch(typed).map { $0.value(forKey: "code") as? String } == ["BRN", "ZRH", "GVA"])
  }

  @Test(arguments: [true, false]) func nearestFirst(_ indexed: Bool) throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: Self.model(indexed: indexed)).viewContext
    try Self.fill(context)
    let byDistance = FetchSortDescriptor(distanceOf: "place.location", fromLatitude: 46.948, longitude: 7.447)
    #expect(try codes(context, sort: [byDistance], limit: 4) == ["BRN", "ZRH", "GVA", "LUG"])
    #expect(try codes(context, sort: [byDistance], limit: 2, offset: 1) == ["ZRH", "GVA"])
    #expect(try codes(context, "code BEGINSWITH 'G' OR code == 'APW'", sort: [byDistance], limit: 2) == ["GVA", "APW"])
    let all = try codes(context, sort: [byDistance])
    #expect(all.count == 210 && Array(all.suffix(2)) == ["nowhere", "unplaced"])
    #expect(try codes(context, sort: [byDistance], limit: 1000) == all)
    #expect(try codes(context, sort: [byDistance], limit: 3, offset: 207) == Array(all.suffix(3)))
    // All the way round: without a place is furthest.
    let furthest = try codes(context, sort: [byDistance.reversedSortDescriptor], limit: 3)
    #expect(furthest == ["nowhere", "unplaced", "AKL"])
    #expect(try codes(context, "code == 'unplaced'", sort: [byDistance], limit: 1) == ["unplaced"])
    // What is not saved yet is in order as well.
    let new = try context.make("Airport", Self.values("NEW", 46.95, 7.45))
    #expect(try codes(context, sort: [byDistance], limit: 3) == ["NEW", "BRN", "ZRH"])
    try context.save()
    #expect(try codes(context, sort: [byDistance], limit: 3) == ["NEW", "BRN", "ZRH"])
    context.delete(new)
    try context.save()
    #expect(try codes(context, sort: [byDistance], limit: 3) == ["BRN", "ZRH", "GVA"])
    // A second key decides between places equally near.
    try context.make("Airport", Self.values("B", 46.914, 7.497))
    try context.make("Airport", Self.values("A", 46.914, 7.497))
    try context.save()
    let both = [byDistance, FetchSortDescriptor(key: "code")]
    #expect(try codes(context, sort: both, limit: 3) == ["A", "B", "BRN"])
    #expect(try codes(context, sort: [byDistance], limit: 3) == ["BRN", "B", "A"])
  }

  @Test func misuse() throws {
    let context = try memoryContainer(Self.model(indexed: true)).viewContext
    try Self.fill(context)
    for key in ["place", "code", "place.location.latitude", "nothing"] {
      let sort = FetchSortDescriptor(distanceOf: key, fromLatitude: 0, longitude: 0)
      #expect(cambiumError { _ = try codes(context, sort: [sort], limit: 1) } != nil, "\(key)")
    }
    // Without a place to begin at, no place is near.
    let nowhere = FetchSortDescriptor(distanceOf: "place.location", fromLatitude: .nan, longitude: 0)
    #expect(try codes(context, sort: [nowhere], limit: 2) == ["nowhere", "ZRH"])
    let dictionaries = FetchRequest<[String: Any]>(entityName: "Airport")
    dictionaries.propertiesToFetch = ["code"]
    dictionaries.sortDescriptors = [
      FetchSortDescriptor(distanceOf: "place.location", fromLatitude: 0, longitude: 0)
    ]
    dictionaries.propertiesToGroupBy = ["code"]
    let error = cambiumError { _ = try context.fetch(dictionaries) }
    #expect(error?.description.contains("groups have not") ?? false)
    dictionaries.propertiesToGroupBy = nil
    dictionaries.sortDescriptors = [FetchSortDescriptor(distanceOf: "code", fromLatitude: 0, longitude: 0)]
    #expect(cambiumError { _ = try context.fetch(dictionaries) }?.description.contains("has no distance") ?? false)
  }

  /// Dictionaries come in the order in which the objects do.
  @Test(arguments: [true, false]) func dictionariesNearestFirst(_ indexed: Bool) throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: Self.model(indexed: indexed)).viewContext
    try Self.fill(context)
    for byDistance in [true, false].map({
      FetchSortDescriptor(distanceOf: "place.location", fromLatitude: 46.948, longitude: 7.447, ascending: $0)
    }) {
      for (offset, limit) in [(0, 4), (1, 2), (0, 0), (207, 5)] {
        let request = FetchRequest<[String: Any]>(entityName: "Airport")
        request.propertiesToFetch = ["code"]
        request.sortDescriptors = [byDistance]
        request.fetchOffset = offset
        request.fetchLimit = limit
        let expected = try codes(context, sort: [byDistance], limit: limit, offset: offset)
        #expect(try context.fetch(request).compactMap { $0["code"] as? String } == expected)
        request.returnsDistinctResults = true
        #expect(cambiumError { _ = try context.fetch(request) } != nil)
        request.propertiesToFetch = ["code", "place.location"]
        #expect(try context.fetch(request).compactMap { $0["code"] as? String } == expected)
      }
    }
  }

  /// An index that a migration adds is used when it is whole, and answers the same before.
  @Test func addedLater() throws {
    let directory = try TemporaryDirectory()
    try Self.fill(try directory.container(model: Self.model(indexed: false)).viewContext)
    let container = try directory.container(model: Self.model(indexed: true)) {
      $0.shouldDeferLightweightMigration = true
    }
    let byDistance = FetchSortDescriptor(distanceOf: "place.location", fromLatitude: 46.948, longitude: 7.447)
    let expected = ["BRN", "ZRH", "GVA", "LUG"]
    #expect(try codes(container.viewContext, sort: [byDistance], limit: 4) == expected)
    try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
    #expect(try codes(container.newBackgroundContext(), sort: [byDistance], limit: 4) == expected)
    #expect(
      try codes(container.newBackgroundContext(), Self.near, [[46.948, 7.447], 150_000.0]) == ["BRN", "GVA", "ZRH"])
  }
}
