import Cambium
import Testing

/// Merge policies decide about each element of a composite as they decide about each attribute.
@Suite struct CompositeMergeTests {
  /// A policy that the push of a child asks before it writes anything.
  private final class Own: MergePolicy, @unchecked Sendable {}

  /// How the other change comes between.
  enum Way: CaseIterable {
    case store, storeByOwnPolicy, parent, parentByOwnPolicy
  }

  private typealias Edit = (ManagedObject) throws -> Void

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Location") {
        Attribute("latitude", .double)
        Attribute("longitude", .double)
      }
      Entity("Airport") {
        Attribute("name", .string)
        Attribute("place") {
          Attribute("timeZone", .string)
          Attribute("location", composite: "Location")
        }
      }
    }
  }

  private static var place: [String: Any] { ["timeZone": "PST", "location": ["latitude": 1.0, "longitude": 2.0]] }

  private static func text(_ object: ManagedObject) -> String {
    guard let place = object.value(forKey: "place") as? [String: Any] else { return "nil" }
    let location = place["location"] as? [String: Double]
    func number(_ name: String) -> String { location?[name].map { "\($0)" } ?? "nil" }
    let numbers = location == nil ? "nil" : "\(number("latitude")) \(number("longitude"))"
    return "\(place["timeZone"] ?? "nil"), \(numbers)"
  }

  /// The composite that a store has after two contexts changed it.
  private func merged(
    _ type: MergePolicy.MergePolicyType, _ way: Way, from place: [String: Any]? = CompositeMergeTests.place, mine: Edit,
    theirs: Edit
  ) throws -> String {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model())
    let other = container.newBackgroundContext()
    let object = try other.make("Airport", ["place": place])
    try other.save()
    let isChild = way == .parent || way == .parentByOwnPolicy
    let context =
      isChild
      ? ManagedObjectContext(concurrencyType: .privateQueue, parent: other) : container.newBackgroundContext()
    context.mergePolicy =
      way == .storeByOwnPolicy || way == .parentByOwnPolicy ? Own(merge: type) : MergePolicy(merge: type)
    let own = context.object(with: object.objectID)
    try mine(own)
    try theirs(object)
    if !isChild { try other.save() }
    try context.save()
    if isChild { try other.save() }
    let reader = try directory.container(model: Self.model()).newBackgroundContext()
    let found = try #require(try reader.all("Airport").first)
    #expect(Self.text(own) == Self.text(found))
    return Self.text(found)
  }

  private func expect(
    _ way: Way, from place: [String: Any]? = CompositeMergeTests.place, storeTrump: String, objectTrump: String,
    mine: Edit, theirs: Edit
  ) throws {
    let store = try merged(.mergeByPropertyStoreTrump, way, from: place, mine: mine, theirs: theirs)
    #expect(store == storeTrump, "\(way)")
    let object = try merged(.mergeByPropertyObjectTrump, way, from: place, mine: mine, theirs: theirs)
    #expect(object == objectTrump, "\(way)")
  }

  @Test(arguments: Way.allCases) func differentElements(_ way: Way) throws {
    try expect(way, storeTrump: "CET, 1.0 9.0", objectTrump: "CET, 1.0 9.0") {
      try $0.set("CET", forKeyPath: "place.timeZone")
    } theirs: {
      try $0.set(9.0, forKeyPath: "place.location.longitude")
    }
    try expect(way, storeTrump: "PST, 8.0 9.0", objectTrump: "PST, 8.0 9.0") {
      try $0.set(8.0, forKeyPath: "place.location.latitude")
    } theirs: {
      try $0.set(9.0, forKeyPath: "place.location.longitude")
    }
  }

  @Test(arguments: Way.allCases) func theSameElement(_ way: Way) throws {
    try expect(way, storeTrump: "EST, 7.0 9.0", objectTrump: "CET, 7.0 9.0") {
      try $0.set("CET", forKeyPath: "place.timeZone")
      try $0.set(7.0, forKeyPath: "place.location.latitude")
    } theirs: {
      try $0.set("EST", forKeyPath: "place.timeZone")
      try $0.set(9.0, forKeyPath: "place.location.longitude")
    }
  }

  /// Elements that a dictionary sets to the values that they have are not changed.
  @Test(arguments: Way.allCases) func wholeComposites(_ way: Way) throws {
    try expect(way, storeTrump: "CET, 1.0 9.0", objectTrump: "CET, 1.0 9.0") {
      try $0.set(["timeZone": "CET", "location": ["latitude": 1, "longitude": 2]], forKey: "place")
    } theirs: {
      try $0.set(["timeZone": "PST", "location": ["latitude": 1, "longitude": 9]], forKey: "place")
    }
    try expect(way, storeTrump: "EST, 1.0 2.0", objectTrump: "CET, 1.0 2.0") {
      try $0.set(["timeZone": "CET", "location": ["latitude": 1, "longitude": 2]], forKey: "place")
    } theirs: {
      try $0.set(["timeZone": "EST", "location": ["latitude": 1, "longitude": 2]], forKey: "place")
    }
  }

  /// A composite is one value where it is null in one of the three versions.
  @Test(arguments: Way.allCases) func nullComposites(_ way: Way) throws {
    try expect(way, storeTrump: "nil", objectTrump: "CET, 1.0 2.0") {
      try $0.set("CET", forKeyPath: "place.timeZone")
    } theirs: {
      try $0.set(nil, forKey: "place")
    }
    try expect(way, storeTrump: "CET, 1.0 2.0", objectTrump: "nil") {
      try $0.set(nil, forKey: "place")
    } theirs: {
      try $0.set("CET", forKeyPath: "place.timeZone")
    }
    try expect(way, from: nil, storeTrump: "CET, nil", objectTrump: "nil, 5.0 nil") {
      try $0.set(5.0, forKeyPath: "place.location.latitude")
    } theirs: {
      try $0.set("CET", forKeyPath: "place.timeZone")
    }
    try expect(way, from: ["timeZone": "PST"], storeTrump: "CET, nil 9.0", objectTrump: "CET, 5.0 nil") {
      try $0.set("CET", forKeyPath: "place.timeZone")
      try $0.set(5.0, forKeyPath: "place.location.latitude")
    } theirs: {
      try $0.set(9.0, forKeyPath: "place.location.longitude")
    }
  }

  /// An object that is refreshed with its changes has them over the newest elements.
  @Test(arguments: [false, true]) func refreshedObjects(isChild: Bool) throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model())
    let other = container.newBackgroundContext()
    let object = try other.make("Airport", ["place": Self.place])
    try other.save()
    let context =
      isChild
      ? ManagedObjectContext(concurrencyType: .privateQueue, parent: other) : container.newBackgroundContext()
    let own = context.object(with: object.objectID)
    try own.set("CET", forKeyPath: "place.timeZone")
    try object.set(9.0, forKeyPath: "place.location.longitude")
    try other.save()
    context.refresh(own, mergeChanges: true)
    #expect(Self.text(own) == "CET, 1.0 9.0")
    try context.save()
    try other.save()
    let reader = try directory.container(model: Self.model()).newBackgroundContext()
    let found = try #require(try reader.all("Airport").first)
    #expect(Self.text(found) == "CET, 1.0 9.0")
  }
}
