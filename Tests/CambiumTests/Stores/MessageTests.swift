import Cambium
import Foundation
import Testing

private final class Thing: ManagedObject {
  @Managed var name: String?
  @Managed var weight: Double
}

private final class NamedThing: ManagedObject, PredicateKeyPaths {
  @Managed var name: String?
  @Managed var weight: Double

  static var predicateKeyPaths: [AnyKeyPath: String] { [\NamedThing.name: "name"] }
}

/// What errors tell a person: the value and the limit, the file, the entity, what to declare.
@Suite struct MessageTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Thing", class: Thing.self) {
        Attribute("name", .string, minimum: 2, maximum: 6, pattern: "[a-z]+")
        Attribute("weight", .double, minimum: 0.5, maximum: 90)
        Attribute("made", .date, maximum: Date(timeIntervalSinceReferenceDate: 0))
        Attribute("photo", .binary, maximum: 3)
        Attribute("base") { Attribute("latitude", .double, minimum: -90, maximum: 90) }
      }
    }
  }

  @Test func brokenRulesNameValueAndLimit() throws {
    let context = try memoryContainer(Self.model()).viewContext
    func told(_ path: String, _ value: Any) throws -> String {
      let thing = try context.make("Thing", [:])
      try thing.set(value, forKeyPath: path)
      defer { context.rollback() }
      let error = try #require(cambiumError { try context.save() })
      #expect(error.key == path && error.entityName == "Thing")
      return error.message
    }
    #expect(try told("base.latitude", 95.2).hasSuffix("'base.latitude' is 95.2, above the greatest allowed, 90.0"))
    #expect(try told("weight", 0).hasSuffix("'weight' is 0.0, below the least allowed, 0.5"))
    #expect(try told("name", "a").hasSuffix("'name' has 1 character, below the least allowed, 2"))
    #expect(try told("name", "abcdefgh").hasSuffix("'name' has 8 characters, above the greatest allowed, 6"))
    #expect(try told("name", "AB").hasSuffix("'name' is 'AB', which the pattern '[a-z]+' does not match"))
    #expect(try told("photo", Data([1, 2, 3, 4])).hasSuffix("'photo' has 4 bytes, above the greatest allowed, 3"))
    let late = Date(timeIntervalSinceReferenceDate: 60)
    #expect(try told("made", late).hasSuffix("'made' is \(late), above the greatest allowed, \(late - 60)"))
  }

  @Test func filesAreNamed() throws {
    let directory = try TemporaryDirectory()
    let url = directory.url.appendingPathComponent("notes.txt")
    try Data(repeating: 65, count: 10_000).write(to: url)
    let coordinator = PersistentStoreCoordinator(managedObjectModel: try Self.model())
    let error = cambiumError { try coordinator.addPersistentStore(type: .file, at: url) }
    #expect(error?.message.contains("'\(url.path)' is not a Cambium store") == true)
  }

  @Test func whatMigratesAStoreIsNamed() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.container(model: Self.model())
    let error = cambiumError { _ = try directory.container { $0.shouldMigrateStoreAutomatically = false } }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash)
    #expect(error?.message.contains("shouldMigrateStoreAutomatically") == true)
    let plan = try Migration.plan(
      storeAt: directory.url.appendingPathComponent("flights.cambium"), to: try Self.model())
    #expect(!plan.isNeeded && plan.steps.isEmpty && plan.blocks.isEmpty)
    let other = try Migration.plan(
      storeAt: directory.url.appendingPathComponent("flights.cambium"), to: try FlightModel.make())
    #expect(other.isNeeded && other.steps.map { "\($0)" }.first == "write the model")
  }

  @Test func defaultsOfTheWrongTypeNameTheirEntity() throws {
    let error = cambiumError {
      let model = try ManagedObjectModel { Entity("Thing") { Attribute("weight", .double, default: "much") } }
      _ = try model.schema()
    }
    #expect(error?.code == .invalidModel)
    #expect(
      error?.message.contains("attribute 'weight' of 'Thing' is a String, which is no") == true,
      "\(error?.message ?? "")")
  }

  @Test func propertiesWithoutANameSayWhatToDeclare() throws {
    let bare = cambiumError { _ = try FetchPredicate(#Predicate<Thing> { $0.weight > 1 }) }
    #expect(bare?.code == .invalidPredicate)
    #expect(bare?.message.contains("a property of type Double of Thing has no name in the model") == true)
    #expect(bare?.message.contains("conform Thing to PredicateKeyPaths") == true)
    #expect(bare?.message.contains("0x") == false)
    let forgotten = cambiumError { _ = try FetchPredicate(#Predicate<NamedThing> { $0.weight > 1 }) }
    #expect(forgotten?.message.contains("add it to the predicateKeyPaths of NamedThing") == true)
  }
}
