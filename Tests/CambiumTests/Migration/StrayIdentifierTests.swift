import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// A renaming identifier that names nothing in the store's model is an error if the same step drops something in that
/// entity: it is a slip of the pen, and would cost the values.
@Suite struct StrayIdentifierTests {
  private static func model(
    _ names: [String], renamed: [String: String] = [:], removed: [String] = []
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Trip") {
        for name in names { Attribute(name, .double, renamed: renamed[name]) }
        for name in removed { Removed(name) }
      }
      Entity("Hotel") { Attribute("name", .string) }
    }
  }

  private static func store(_ names: [String] = ["hours"]) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: model(names)).viewContext
    try context.make("Trip", [names[0]: 2.5])
    try context.save()
    return directory
  }

  private static func url(_ directory: TemporaryDirectory) -> URL {
    directory.url.appendingPathComponent("flights.cambium")
  }

  /// Also if the application knows the store's model, and allows to drop what it has.
  @Test(arguments: [false, true]) func openingAndPlanningFail(isAllowed: Bool) throws {
    let directory = try Self.store()
    let model = try Self.model(["duration"], renamed: ["duration": "hour"])
    let known = try Self.model(["hours"])
    let errors = [
      cambiumError {
        _ = try directory.container(model: model) {
          $0.allowsDroppingUnknownData = isAllowed
          if isAllowed { $0.sourceModels = [known] }
        }
      },
      cambiumError { _ = try Migration.plan(storeAt: Self.url(directory), to: model) },
    ]
    for error in errors {
      #expect(error?.code == .migrationMissingSourceModel)
      for text in ["'hour' of Trip.duration", "would drop Trip.hours"] {
        #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
      }
      #expect(error?.entityName == "Trip" && error?.key == "duration")
    }
    let context = try directory.container(model: Self.model(["duration"], renamed: ["duration": "hours"])).viewContext
    #expect(try context.all("Trip").map { $0["duration"] as? Double } == [2.5])
  }

  /// An entity's own identifier.
  @Test func entitiesHaveIdentifiers() throws {
    let directory = try Self.store()
    let model = try ManagedObjectModel {
      Entity("Trip") { Attribute("hours", .double) }
      Entity("Inn", renamed: "Hotels") { Attribute("name", .string) }
    }
    let error = cambiumError { _ = try directory.container(model: model) }
    #expect(error?.message.contains("'Hotels' of Inn") == true, "\(error?.message ?? "")")
  }

  /// Nothing is lost, or elsewhere, or on purpose.
  @Test func withoutALossThereIsNoError() throws {
    let directory = try Self.store()
    _ = try directory.container(model: Self.model(["hours", "duration"], renamed: ["duration": "hour"]))
    let elsewhere = try Self.store()
    let model = try ManagedObjectModel {
      Entity("Trip") {
        Attribute("hours", .double)
        Attribute("duration", .double, renamed: "hour")
      }
      Entity("Hotel") { Removed("name") }
    }
    _ = try elsewhere.container(model: model)
    let named = try Self.store()
    _ = try named.container(model: Self.model(["duration"], renamed: ["duration": "hour"], removed: ["hours"]))
  }

  /// A store may skip the version in which the property had the name that the identifier gives.
  @Test func knownModelsHaveTheName() throws {
    let directory = try Self.store()
    let model = try Self.model(["duration"], renamed: ["duration": "minutes"])
    let (first, between) = (try Self.model(["hours"]), try Self.model(["minutes"]))
    #expect(
      cambiumError { _ = try directory.container(model: model) { $0.sourceModels = [first] } }?.message.contains(
        "'minutes'") == true)
    let plan = try Migration.plan(storeAt: Self.url(directory), to: model, sourceModels: [between])
    #expect(plan.drops.map { $0.description } == ["drop Trip.hours (1 value)"])
    _ = try directory.container(model: model) { $0.sourceModels = [first, between] }
  }

  /// A plan lists what goes, with the number of values.
  @Test func plansCountDrops() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: DropRuleTests.model()).viewContext
    let hotel = try context.make("Hotel", ["name": "Ritz"])
    try context.make("Hotel", [:])
    try context.make("Trip", ["notes": "cold", "start": ["latitude": 1.5, "altitude": 2.5], "hotel": hotel])
    try context.make("Trip", ["notes": "wet", "start": ["latitude": 1.5]])
    try context.make("Trip", ["hotel": hotel])
    try context.save()
    let model = try ManagedObjectModel {
      Entity("Trip") {
        Attribute("title", .string)
        Attribute("start") { Attribute("latitude", .double) }
        Removed("notes")
      }
    }
    let plan = try Migration.plan(storeAt: Self.url(directory), to: model)
    #expect(
      plan.drops.map { $0.description } == [
        "drop entity Hotel (2 objects)", "drop Trip.notes (2 values)", "drop Trip.start.altitude (1 value)",
        "drop Trip.hotel (2 links)",
      ])
    #expect(plan.drops.map { $0.isNamed } == [false, true, false, false])
    #expect(
      plan.drops.map { $0.line } == [
        "RemovedEntity(\"Hotel\")", "Removed(\"notes\")", "Removed(\"start.altitude\")", "Removed(\"hotel\")",
      ])
    #expect(try Migration.plan(storeAt: Self.url(directory), to: DropRuleTests.model()).drops.isEmpty)
  }
}
