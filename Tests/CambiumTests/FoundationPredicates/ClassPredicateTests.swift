import Cambium
import Foundation
import Testing

class ClassTrip: ManagedObject, PredicateKeyPaths {
  @Managed var name: String
  @Managed var leader: ClassTrip?
  @Managed var stops: Set<ClassStop>

  class var predicateKeyPaths: [AnyKeyPath: String] {
    [\ClassTrip.name: "name", \ClassTrip.leader: "leader", \ClassTrip.stops: "stops"]
  }
}

final class ClassBusinessTrip: ClassTrip {
  @Managed var reason: String?
  @Managed var cost: Int

  override class var predicateKeyPaths: [AnyKeyPath: String] {
    [\ClassBusinessTrip.reason: "reason", \ClassBusinessTrip.cost: "cost"]
  }
}

final class ClassPersonalTrip: ClassTrip {
  @Managed var reason: String?

  override class var predicateKeyPaths: [AnyKeyPath: String] { [\ClassPersonalTrip.reason: "reason"] }
}

final class ClassStop: ManagedObject, PredicateKeyPaths {
  @Managed var place: String
  @Managed var trip: ClassTrip?

  static var predicateKeyPaths: [AnyKeyPath: String] { [\ClassStop.place: "place", \ClassStop.trip: "trip"] }
}

/// `is`, `as?` and `as!` of managed object classes in `#Predicate`, asked of saved objects, of unsaved ones, and of
/// both.
@Suite struct ClassPredicateTests {
  private let directory: TemporaryDirectory
  private let context: ManagedObjectContext

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Trip", class: ClassTrip.self) {
        Attribute("name", .string, optional: false)
        ToOne("leader", "Trip", inverse: "followers")
        ToMany("followers", "Trip", inverse: "leader")
        ToMany("stops", "Stop", inverse: "trip")
      }
      Entity("Business", parent: "Trip", class: ClassBusinessTrip.self) {
        Attribute("reason", .string)
        Attribute("cost", .integer32, default: 0)
      }
      Entity("Personal", parent: "Trip", class: ClassPersonalTrip.self) { Attribute("reason", .string) }
      Entity("Stop", class: ClassStop.self) {
        Attribute("place", .string, optional: false)
        ToOne("trip", "Trip", inverse: "stops")
      }
    }
  }

  init() throws {
    directory = try TemporaryDirectory()
    context = try directory.container(model: try Self.model()).viewContext
  }

  private func insert() {
    let plain = ClassTrip(context: context)
    plain.name = "plain"
    let fair = ClassBusinessTrip(context: context)
    (fair.name, fair.reason, fair.cost) = ("fair", "expo", 900)
    let board = ClassBusinessTrip(context: context)
    (board.name, board.reason, board.cost, board.leader) = ("board", nil, 50, fair)
    let beach = ClassPersonalTrip(context: context)
    (beach.name, beach.reason, beach.leader) = ("beach", "sun", plain)
    for (place, trip) in [("hall", fair), ("office", board), ("sea", beach), ("home", nil)] as [(String, ClassTrip?)] {
      let stop = ClassStop(context: context)
      (stop.place, stop.trip) = (place, trip)
    }
  }

  private func trips(_ predicate: Predicate<ClassTrip>) throws -> [String] {
    let request = FetchRequest<ClassTrip>(entityName: "Trip")
    request.predicate = try FetchPredicate(predicate)
    return try context.fetch(request).map { $0.name }.sorted()
  }

  private func stops(_ predicate: Predicate<ClassStop>) throws -> [String] {
    let request = FetchRequest<ClassStop>(entityName: "Stop")
    request.predicate = try FetchPredicate(predicate)
    return try context.fetch(request).map { $0.place }.sorted()
  }

  private func check() throws {
    #expect(try trips(#Predicate { $0 is ClassBusinessTrip }) == ["board", "fair"])
    #expect(try trips(#Predicate { !($0 is ClassBusinessTrip) }) == ["beach", "plain"])
    #expect(try trips(trip(is: ClassTrip.self)).count == 4)
    #expect(try trips(#Predicate { $0 is ClassBusinessTrip || $0 is ClassPersonalTrip }) == ["beach", "board", "fair"])
    #expect(try trips(#Predicate { $0 is ClassBusinessTrip && $0.name.starts(with: "f") }) == ["fair"])
    let reason = "sun"
    #expect(try trips(#Predicate { ($0 as? ClassPersonalTrip)?.reason == reason }) == ["beach"])
    #expect(try trips(#Predicate { ($0 as? ClassBusinessTrip)?.reason == nil }) == ["beach", "board", "plain"])
    // swift-format-ignore: NeverForceUnwrap
    #expect(try trips(#Predicate { ($0 as! ClassBusinessTrip).cost > 100 }) == ["fair"])
    #expect(
      try trips(#Predicate { if let trip = $0 as? ClassBusinessTrip { trip.cost < 100 } else { false } }) == ["board"])
    #expect(try trips(#Predicate { $0.leader is ClassBusinessTrip }) == ["board"])
    #expect(try trips(#Predicate { ($0.leader as? ClassBusinessTrip)?.cost == 900 }) == ["board"])
    #expect(try stops(#Predicate { $0.trip is ClassBusinessTrip }) == ["hall", "office"])
    #expect(try stops(trip(of: ClassTrip.self)) == ["hall", "office", "sea"])
    #expect(try stops(#Predicate { $0.trip?.leader is ClassBusinessTrip }) == ["office"])
    #expect(try stops(#Predicate { ($0.trip as? ClassPersonalTrip)?.reason == reason }) == ["sea"])
    #expect(
      try trips(#Predicate { $0.stops.contains { ($0.trip as? ClassPersonalTrip)?.reason == reason } }) == ["beach"])
    #expect(try trips(#Predicate { $0.stops.filter { $0.trip is ClassBusinessTrip }.count == 1 }) == ["board", "fair"])
    // A class that cannot match.
    #expect(try trips(trip(is: ClassStop.self)).isEmpty)
    #expect(try stops(trip(of: ClassStop.self)).isEmpty)
  }

  @Test func unsaved() throws {
    insert()
    try check()
  }

  @Test func saved() throws {
    insert()
    try context.save()
    try check()
    context.reset()
    try check()
  }

  @Test func changedSinceTheSave() throws {
    insert()
    try context.save()
    let request = FetchRequest<ClassBusinessTrip>(entityName: "Business")
    request.predicate = try FetchPredicate(format: "name == 'fair'")
    let fair = try #require(try context.fetch(request).first)
    fair.cost = 10
    #expect(
      try trips(#Predicate { ($0 as? ClassBusinessTrip).flatMap { $0.cost < 100 } ?? false }) == ["board", "fair"])
    #expect(try trips(#Predicate { ($0.leader as? ClassBusinessTrip)?.cost == 10 }) == ["board"])
    fair.cost = 900
    try check()
  }

  @Test func classWithoutEntity() throws {
    final class Other: ClassTrip {}
    #expect(throws: (any Error).self) { try trips(#Predicate { $0 is Other }) }
  }
}

// The compiler warns of a test whose outcome it knows.
private func trip<T: ManagedObject>(is type: T.Type) -> FoundationPredicate<ClassTrip> { #Predicate { $0 is T } }

private func trip<T: ManagedObject>(of type: T.Type) -> FoundationPredicate<ClassStop> { #Predicate { $0.trip is T } }
