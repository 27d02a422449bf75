import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// What cannot be inferred, and which objects stand in the way of what can, on a store in a file with objects: the
/// error of the opening, the plan beforehand, the store that is as it was, and the way out.
@Suite struct LightweightRefusalsTests {
  // MARK: What cannot be inferred

  /// A change, with the entities and properties that are named.
  struct Refusal: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var from: @Sendable () throws -> ManagedObjectModel
    var to: @Sendable () throws -> ManagedObjectModel
    var make: @Sendable (ManagedObjectContext) throws -> Void
    var places: [String]
    /// What the remedy tells to do.
    var remedy: String
  }

  /// Whether there is one hierarchy and not two, and whether the hierarchies are more than single entities.
  private static func fleet(merged: Bool, children: Bool = true) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      if merged { Entity("Vehicle", abstract: true) { Attribute("name", .string) } }
      Entity("Aircraft", parent: merged ? "Vehicle" : nil) { if !merged { Attribute("name", .string) } }
      Entity("Ship", parent: merged ? "Vehicle" : nil) { if !merged { Attribute("name", .string) } }
      if children {
        Entity("Glider", parent: "Aircraft") { Attribute("span", .double) }
        Entity("Boat", parent: "Ship") { Attribute("length", .double) }
      }
    }
  }

  @Sendable private static func makeFleet(_ context: ManagedObjectContext) throws {
    for n in 0..<8 {
      try context.make("Aircraft", ["name": "A\(n)"])
      try context.make("Glider", ["name": "G\(n)", "span": Double(n)])
      try context.make("Ship", ["name": "S\(n)"])
      try context.make("Boat", ["name": "B\(n)", "length": Double(n)])
    }
  }

  private static func flights(_ version: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Flight") {
        Attribute("name", .string)
        Attribute("date", version == 1 ? .date : .string)
        if version == 2 {
          ToOne("pilots", "Pilot", inverse: "flights")
        } else {
          ToMany("pilots", "Pilot", inverse: "flights")
        }
        ToOne("origin", version == 3 ? "Airport" : "Place")
      }
      Entity("Pilot") {
        Attribute("name", .string)
        ToMany("flights", "Flight", inverse: "pilots")
      }
      Entity("Place") { Attribute("name", .string) }
      Entity("Airport") { Attribute("name", .string) }
    }
  }

  @Sendable private static func makeFlights(_ context: ManagedObjectContext) throws {
    for n in 0..<8 {
      let pilots = try ["a", "b"].map { try context.make("Pilot", ["name": "P\(n)\($0)"]) }
      let origin = try context.make("Place", ["name": "L\(n)"])
      try context.make("Flight", ["name": "F\(n)", "date": "2 May", "pilots": Set(pilots), "origin": origin])
    }
  }

  static let refusals: [Refusal] = [
    Refusal(
      testDescription: "two hierarchies merged", from: { try fleet(merged: false) }, to: { try fleet(merged: true) },
      make: makeFleet, places: ["Ship", "Boat"], remedy: "let the application copy the objects"),
    Refusal(
      testDescription: "two entities under a new parent", from: { try fleet(merged: false, children: false) },
      to: { try fleet(merged: true, children: false) },
      make: { context in
        for n in 0..<8 {
          try context.make("Aircraft", ["name": "A\(n)"])
          try context.make("Ship", ["name": "S\(n)"])
        }
      },
      places: ["Ship"], remedy: "let the application copy the objects"),
    Refusal(
      testDescription: "text becomes a date", from: { try flights(0) }, to: { try flights(1) }, make: makeFlights,
      places: ["Flight.date"], remedy: "add an attribute of the new type under another name"),
    Refusal(
      testDescription: "to-many becomes to-one", from: { try flights(0) }, to: { try flights(2) }, make: makeFlights,
      places: ["Flight.pilots"], remedy: "add a to-one relationship under another name"),
    Refusal(
      testDescription: "another destination", from: { try flights(0) }, to: { try flights(3) }, make: makeFlights,
      places: ["Flight.origin"], remedy: "add a relationship to Airport under another name"),
  ]

  @Test(arguments: Self.refusals) func whatCannotBeInferredIsToldWithAWay(_ refusal: Refusal) throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: refusal.from()).viewContext
    try refusal.make(context)
    try context.save()
    let before = try ObjectListing.lines(context, refusal.from())
    let file = directory.url.appendingPathComponent("flights.cambium")
    for attempt in [
      { _ = try directory.container(model: refusal.to()) }, { _ = try Migration.plan(storeAt: file, to: refusal.to()) },
    ] {
      let error = try #require(cambiumError(attempt))
      #expect(error.code.rawValue == 134100)
      let missing = try #require(error.underlyingErrors.first as? CambiumError)
      #expect(missing.code.rawValue == 134140)
      let causes = missing.underlyingErrors.compactMap { $0 as? CambiumError }
      #expect(causes.allSatisfy { $0.code.rawValue == 134190 })
      #expect(
        causes.map { cause in [cause.entityName, cause.key].compactMap { $0 }.joined(separator: ".") }.sorted()
          == refusal.places.sorted())
      let obstacles = causes.flatMap(\.underlyingErrors).compactMap { $0 as? MappingObstacle }
      #expect(obstacles.count == causes.count && obstacles.allSatisfy { $0.remedy.contains(refusal.remedy) })
      for cause in causes { #expect(cause.message.contains(refusal.remedy), "\(cause.message)") }
    }
    // Nothing was touched.
    let again = try directory.container(model: refusal.from()) { $0.shouldMigrateStoreAutomatically = false }
    #expect(try ObjectListing.lines(again.viewContext, refusal.from()) == before)
  }

  /// What the remedy for hierarchies says: new entities, copies, and without the old ones, whose names the new ones
  /// take.
  @Test func hierarchiesAreMergedInSteps() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: Self.fleet(merged: false)).viewContext
    try Self.makeFleet(context)
    try context.save()
    let kinds = ["Aircraft", "Glider", "Ship", "Boat"]
    let between = try ManagedObjectModel {
      Entity("Aircraft") { Attribute("name", .string) }
      Entity("Glider", parent: "Aircraft") { Attribute("span", .double) }
      Entity("Ship") { Attribute("name", .string) }
      Entity("Boat", parent: "Ship") { Attribute("length", .double) }
      Entity("Vehicle", abstract: true) { Attribute("name", .string) }
      Entity("NewAircraft", parent: "Vehicle") {}
      Entity("NewGlider", parent: "NewAircraft") { Attribute("span", .double) }
      Entity("NewShip", parent: "Vehicle") {}
      Entity("NewBoat", parent: "NewShip") { Attribute("length", .double) }
    }
    let middle = try directory.container(model: between).viewContext
    for kind in kinds {
      for old in try middle.all(kind) where old.entity.name == kind {
        let new = try middle.insertNewObject(forEntityName: "New" + kind)
        for key in old.entity.attributesByName.keys { try new.set(old.value(forKey: key), forKey: key) }
      }
    }
    try middle.save()
    let end = try Self.fleet(merged: true)
    for kind in kinds { end.entitiesByName[kind]?.renamingIdentifier = "New" + kind }
    let merged = try directory.container(model: end) { $0.sourceModels = [between] }.viewContext
    let expected = (0..<8).flatMap { n in
      ["Aircraft A\(n)", "Boat B\(n) length=\(Double(n))", "Glider G\(n) span=\(Double(n))", "Ship S\(n)"]
    }
    #expect(try ObjectListing.lines(merged, end) == expected.sorted())
    #expect(try merged.all("Vehicle").count == 32 && merged.all("Ship").count == 16)
    // The names that the entities had on the way are no part of the version.
    let meant = try Self.fleet(merged: true)
    let again = try directory.container(model: meant) { $0.shouldMigrateStoreAutomatically = false }
    #expect(try ObjectListing.lines(again.viewContext, meant) == expected.sorted())
  }

  /// What the remedy for a to-many relationship that becomes to-one says.
  @Test func toManyBecomesToOneInSteps() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: Self.flights(0)).viewContext
    try Self.makeFlights(context)
    try context.save()
    let between = try ManagedObjectModel {
      Entity("Flight") {
        Attribute("name", .string)
        Attribute("date", .string)
        ToMany("pilots", "Pilot", inverse: "flights")
        ToOne("captain", "Pilot", inverse: "commands")
        ToOne("origin", "Place")
      }
      Entity("Pilot") {
        Attribute("name", .string)
        ToMany("flights", "Flight", inverse: "pilots")
        ToMany("commands", "Flight", inverse: "captain")
      }
      Entity("Place") { Attribute("name", .string) }
      Entity("Airport") { Attribute("name", .string) }
    }
    let middle = try directory.container(model: between).viewContext
    for flight in try middle.all("Flight") {
      let pilots = try #require(flight.value(forKey: "pilots") as? Set<ManagedObject>)
      // The application knows which one it is: here the one whose name ends with b.
      let captain = pilots.first { ($0.value(forKey: "name") as? String)?.hasSuffix("b") == true }
      try flight.set(captain, forKey: "captain")
    }
    try middle.save()
    let end = try Self.flights(2)
    end.entitiesByName["Flight"]?.relationshipsByName["pilots"]?.renamingIdentifier = "captain"
    end.entitiesByName["Pilot"]?.relationshipsByName["flights"]?.renamingIdentifier = "commands"
    let led = try directory.container(model: end) { $0.sourceModels = [between] }.viewContext
    let expected = (0..<8).flatMap { n in
      [
        "Flight F\(n) date=2 May origin=L\(n) pilots=P\(n)b", "Pilot P\(n)a flights={}", "Pilot P\(n)b flights={F\(n)}",
        "Place L\(n)",
      ]
    }
    #expect(try ObjectListing.lines(led, end) == expected.sorted())
  }

  // MARK: What is in the way

  /// A change that can be inferred, with objects that it cannot be made with, and what the application does about them.
  struct Blocked: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var from: @Sendable () throws -> ManagedObjectModel
    var to: @Sendable () throws -> ManagedObjectModel
    var make: @Sendable (ManagedObjectContext) throws -> Void
    var place: String
    var reason: MigrationBlock.Reason
    var count: Int
    var advice: String
    var mend: @Sendable (ManagedObjectContext) throws -> Void
    /// What the store holds in the end.
    var lines: [String]
  }

  static let blocked: [Blocked] = [
    Blocked(
      testDescription: "numbers overflow",
      from: { try seats(.integer32) }, to: { try seats(.integer16) },
      make: { for n in 0..<20 { try $0.make("Aircraft", ["name": "A\(n)", "seats": n % 5 == 4 ? 32_768 + n : -n]) } },
      place: "Aircraft.seats", reason: .overflow(.integer16), count: 4, advice: "change them first",
      mend: { for aircraft in try $0.all("Aircraft", "seats > 32767") { try aircraft.set(32_767, forKey: "seats") } },
      lines: (0..<20).map { "Aircraft A\($0) seats=\($0 % 5 == 4 ? 32_767 : -$0)" }),
    Blocked(
      testDescription: "numbers in a composite overflow",
      from: { try limits(.double) }, to: { try limits(.integer32) },
      make: { context in
        for n in 0..<20 {
          let limits: [String: Any]? = n % 5 == 0 ? nil : ["speed": n % 5 == 4 ? 1e10 : Double(n) + 0.5]
          try context.make("Aircraft", ["name": "A\(n)", "limits": limits])
        }
      },
      place: "Aircraft.limits.speed", reason: .overflow(.integer32), count: 4, advice: "change them first",
      mend: {
        for aircraft in try $0.all("Aircraft", "limits.speed > 1e9") { try aircraft.set(nil, forKey: "limits") }
      },
      lines: (0..<20).map { "Aircraft A\($0) limits=\($0 % 5 % 4 == 0 ? "nil" : "(speed=\($0))")" }),
    Blocked(
      testDescription: "an entity with objects becomes abstract",
      from: { try vehicles(abstract: false) }, to: { try vehicles(abstract: true) },
      make: { context in
        for n in 0..<20 { try context.make(n < 12 ? "Vehicle" : "Aircraft", ["name": "V\(n)"]) }
      },
      place: "Vehicle", reason: .abstractEntity, count: 12, advice: "move them to a subentity first",
      mend: { context in
        for vehicle in try context.all("Vehicle") where vehicle.entity.name == "Vehicle" {
          try context.make("Aircraft", ["name": vehicle.value(forKey: "name") as? String])
          context.delete(vehicle)
        }
      },
      lines: (0..<20).map { "Aircraft V\($0) seats=nil" }),
    Blocked(
      testDescription: "a required to-one is new",
      from: { try owned(nil) }, to: { try owned(false) },
      make: { context in
        try context.make("Owner", ["name": "O"])
        for n in 0..<20 { try context.make("Aircraft", ["name": "A\(n)"]) }
      },
      place: "Aircraft.owner", reason: .missingValue, count: 20, advice: "make it optional and fill it in first",
      // A version with the relationship, optional so far: that one can be inferred.
      mend: { context in
        let owner = try #require(try context.all("Owner").first)
        for aircraft in try context.all("Aircraft") { try aircraft.set(owner, forKey: "owner") }
      },
      lines: (0..<20).map { "Aircraft A\($0) owner=O" } + ["Owner O"]),
    Blocked(
      testDescription: "a to-one becomes required",
      from: { try owned(true) }, to: { try owned(false) },
      make: { context in
        let owner = try context.make("Owner", ["name": "O"])
        for n in 0..<20 { try context.make("Aircraft", ["name": "A\(n)", "owner": n % 4 == 0 ? nil : owner]) }
      },
      place: "Aircraft.owner", reason: .missingValue, count: 5, advice: "make it optional and fill it in first",
      mend: { context in
        let owner = try #require(try context.all("Owner").first)
        for aircraft in try context.all("Aircraft", "owner == nil") { try aircraft.set(owner, forKey: "owner") }
      },
      lines: (0..<20).map { "Aircraft A\($0) owner=O" } + ["Owner O"]),
    Blocked(
      testDescription: "values are alike under a new constraint",
      from: { try seats(.integer32) }, to: { try seats(.integer32, unique: true) },
      make: { for n in 0..<20 { try $0.make("Aircraft", ["name": "A\(n)", "seats": n == 7 ? 6 : n]) } },
      place: "Aircraft", reason: .duplicate(["seats"]), count: 2, advice: "make them so first",
      mend: { for aircraft in try $0.all("Aircraft", "name == 'A7'") { try aircraft.set(7, forKey: "seats") } },
      lines: (0..<20).map { "Aircraft A\($0) seats=\($0)" }),
  ]

  private static func seats(_ type: AttributeType, unique: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("name", .string)
        Attribute("seats", type)
        if unique { Unique("seats") }
      }
    }
  }

  private static func limits(_ type: AttributeType) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("name", .string)
        Attribute("limits") { Attribute("speed", type) }
      }
    }
  }

  private static func vehicles(abstract: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Vehicle", abstract: abstract) { Attribute("name", .string) }
      Entity("Aircraft", parent: "Vehicle") { Attribute("seats", .integer16) }
    }
  }

  /// Without a relationship, or with one that is optional or not; none has an inverse.
  private static func owned(_ optional: Bool?) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("name", .string)
        if let optional { ToOne("owner", "Owner", optional: optional) }
      }
      Entity("Owner") { Attribute("name", .string) }
    }
  }

  @Test(arguments: Self.blocked) func objectsInTheWayAreNamedAndOnceMendedItGoes(_ blocked: Blocked) throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: blocked.from()).viewContext
    try blocked.make(context)
    try context.save()
    let before = try ObjectListing.lines(context, blocked.from())
    let file = directory.url.appendingPathComponent("flights.cambium")
    // The models alone tell nothing: it is the objects.
    _ = try MappingModel.inferred(from: blocked.from(), to: blocked.to())
    let planned = try Migration.plan(storeAt: file, to: blocked.to()).blocks
    for defers in [false, true] {
      let error = try #require(
        cambiumError {
          _ = try directory.container(model: blocked.to()) { $0.shouldDeferLightweightMigration = defers }
        })
      let isDuplicate = if case .duplicate = blocked.reason { true } else { false }
      #expect(error.code.rawValue == (isDuplicate ? 134111 : 134110))
      #expect(error.underlyingErrors.compactMap { $0 as? MigrationBlock } == planned)
      #expect(error.message.contains(blocked.place) && error.message.contains(blocked.advice), "\(error.message)")
      let again = try directory.container(model: blocked.from()) { $0.shouldMigrateStoreAutomatically = false }
      #expect(try ObjectListing.lines(again.viewContext, blocked.from()) == before)
    }
    let block = try #require(planned.first)
    #expect(planned.count == 1)
    #expect([block.entity, block.property].compactMap { $0 }.joined(separator: ".") == blocked.place)
    #expect(block.reason == blocked.reason)
    #expect(block.count == blocked.count)
    #expect(block.objects.count == min(blocked.count, MigrationBlock.sampleLimit))

    let isNew = try blocked.from().entitiesByName["Aircraft"]?.relationshipsByName.isEmpty == true
    let middle = try isNew && blocked.place == "Aircraft.owner" ? Self.owned(true) : blocked.from()
    let mending = try directory.container(model: middle).viewContext
    try blocked.mend(mending)
    try mending.save()
    #expect(try Migration.plan(storeAt: file, to: blocked.to()).blocks.isEmpty)
    let end = try directory.container(model: blocked.to())
    #expect(try ObjectListing.lines(end.viewContext, blocked.to()) == blocked.lines.sorted())
    let reopened = try directory.container(model: blocked.to()) { $0.shouldMigrateStoreAutomatically = false }
    #expect(try ObjectListing.lines(reopened.viewContext, blocked.to()) == blocked.lines.sorted())
  }
}
