import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// An older version of an application opens a store that a newer one has migrated. The store refuses to drop the newer
/// parts, unless the application allows it.
@Suite struct FormerModelTests {
  private static func v1(_ extra: String? = nil) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        if let extra { Attribute(extra, .string) }
        Attribute("base") { Attribute("latitude", .double) }
      }
    }
  }

  private static func v2() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("seats", .integer16)
        Attribute("base") {
          Attribute("latitude", .double)
          Attribute("longitude", .double)
        }
        ToMany("legs", "Leg", inverse: "aircraft")
      }
      Entity("Leg") {
        Attribute("minutes", .integer32)
        ToOne("aircraft", "Aircraft", inverse: "legs")
      }
    }
  }

  /// A store of the first model, migrated to the second, with values of what is new.
  private func migrated(_ directory: TemporaryDirectory) throws {
    let first = try directory.container(model: Self.v1()).viewContext
    try first.make("Aircraft", ["tailNumber": "N1", "base": ["latitude": 1.5]])
    try first.save()
    let context = try directory.container(model: Self.v2()).viewContext
    let aircraft = try #require(try context.all("Aircraft").first)
    try aircraft.set(4, forKey: "seats")
    try aircraft.set(2.5, forKeyPath: "base.longitude")
    try context.make("Leg", ["minutes": 95, "aircraft": aircraft])
    try context.save()
  }

  private func requireUntouched(_ directory: TemporaryDirectory) throws {
    let context = try directory.container(model: Self.v2()) { $0.shouldMigrateStoreAutomatically = false }.viewContext
    let aircraft = try #require(try context.all("Aircraft").first)
    #expect(aircraft.value(forKey: "seats") as? Int == 4)
    #expect(aircraft.value(forKeyPath: "base.longitude") as? Double == 2.5)
    #expect(try context.all("Leg").map { $0.value(forKey: "minutes") as? Int } == [95])
  }

  @Test(arguments: [false, true]) func goingBackIsRefused(defers: Bool) throws {
    let directory = try TemporaryDirectory()
    try migrated(directory)
    let error = cambiumError {
      _ = try directory.container(model: Self.v1()) { $0.shouldDeferLightweightMigration = defers }
    }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash && error?.code.rawValue == 134100)
    #expect(error?.mismatchedEntities == ["Aircraft", "Leg"])
    for text in ["Leg, Aircraft.seats, Aircraft.base.longitude, Aircraft.legs", "allowsReturningToFormerModels"] {
      #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
    }
    try requireUntouched(directory)
  }

  @Test(arguments: [false, true]) func goingBackIsAllowed(byOption: Bool) throws {
    let directory = try TemporaryDirectory()
    try migrated(directory)
    if byOption {
      let coordinator = PersistentStoreCoordinator(managedObjectModel: try Self.v1())
      var options: [String: any Sendable] = [
        PersistentStoreCoordinator.migratePersistentStoresAutomaticallyOption: true,
        PersistentStoreCoordinator.inferMappingModelAutomaticallyOption: true,
      ]
      let url = directory.url.appendingPathComponent("flights.cambium")
      #expect(
        cambiumError { try coordinator.addPersistentStore(type: .file, at: url, options: options) }?.code
          == .persistentStoreIncompatibleVersionHash)
      options[PersistentStoreCoordinator.allowReturningToFormerModelsOption] = true
      try coordinator.addPersistentStore(type: .file, at: url, options: options)
    } else {
      _ = try directory.container(model: Self.v1()) { $0.allowsReturningToFormerModels = true }
    }
    let context = try directory.container(model: Self.v1()) { $0.shouldMigrateStoreAutomatically = false }.viewContext
    #expect(try context.all("Aircraft").map { $0.value(forKey: "tailNumber") as? String } == ["N1"])
    #expect(try context.all("Aircraft", "base.latitude == 1.5").count == 1)
    // And on again, which drops nothing: no leave is needed.
    _ = try directory.container(model: Self.v2())
    #expect(
      cambiumError { _ = try directory.container(model: Self.v1()) }?.code == .persistentStoreIncompatibleVersionHash)
  }

  /// Who goes on again after a return that was allowed is no older version.
  @Test func afterAReturnTheNewerOneGoesOn() throws {
    let directory = try TemporaryDirectory()
    let known = try Self.v1("remarks")
    for (model, isBack) in [("remarks", false), ("notes", false), ("remarks", true), ("notes", false)] {
      _ = try directory.container(model: Self.v1(model)) {
        $0.sourceModels = [known]
        $0.allowsReturningToFormerModels = isBack
      }
    }
    #expect(
      cambiumError { _ = try directory.container(model: Self.v1("remarks")) }?.code
        == .persistentStoreIncompatibleVersionHash)
  }

  /// A model that the store never had may drop parts of a model that the application knows. It may not return by that.
  @Test func knownModelsAllowNoReturn() throws {
    let directory = try TemporaryDirectory()
    let (one, two) = (try Self.v1("remarks"), try Self.v1("notes"))
    _ = try directory.container(model: one)
    _ = try directory.container(model: two) { $0.sourceModels = [one] }
    let error = cambiumError { _ = try directory.container(model: one) { $0.sourceModels = [two] } }
    #expect(error?.code == .persistentStoreIncompatibleVersionHash && error?.message.contains("Aircraft.notes") == true)
    _ = try directory.container(model: one) { $0.allowsDroppingUnknownData = true }
  }

  @Test func stagesAndRollbackNeedNoLeave() throws {
    let directory = try TemporaryDirectory()
    try migrated(directory)
    let (one, two) = (
      ManagedObjectModelReference(model: try Self.v1(), versionChecksum: try Self.v1().versionChecksum),
      ManagedObjectModelReference(model: try Self.v2(), versionChecksum: try Self.v2().versionChecksum)
    )
    let stage = CustomMigrationStage(migratingFrom: two, to: one)
    let manager = try StagedMigrationManager([stage])
    let back = try directory.container(model: Self.v1()) { $0.stagedMigrationManager = manager }
    #expect(try back.viewContext.all("Aircraft").count == 1)
    let kept = try directory.container(model: Self.v2()) { $0.keepsStateBeforeMigration = true }
    try kept.persistentStoreCoordinator.rollBackMigration()
    _ = try directory.container(model: Self.v1()) { $0.shouldMigrateStoreAutomatically = false }
  }

  /// A mapping model makes another file, which knows all the same.
  @Test func aReplacedFileRemembers() throws {
    let directory = try TemporaryDirectory()
    _ = try directory.container(model: Self.v1())
    _ = try directory.container(model: Self.v1("remarks"))
    let mapping = try MappingModel.inferred(from: Self.v1("remarks"), to: Self.v2())
    _ = try directory.container(model: Self.v2()) { $0.mappingModels = [mapping] }
    for model in [try Self.v1(), try Self.v1("remarks")] {
      #expect(
        cambiumError { _ = try directory.container(model: model) }?.code == .persistentStoreIncompatibleVersionHash)
    }
  }

  @Test func noMoreThanSomeAreRemembered() throws {
    let directory = try TemporaryDirectory()
    for number in 0..<70 {
      _ = try directory.container(model: Self.v1("extra\(number)")) { $0.allowsDroppingUnknownData = true }
    }
    let container = try directory.container(model: Self.v1("extra70")) { $0.allowsDroppingUnknownData = true }
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let former = try store.engine.view().formerModels()
    #expect(former.count == 64)
    #expect(former.last?.base64 == (try Self.v1("extra69").versionChecksum))
    #expect(former.first?.base64 == (try Self.v1("extra6").versionChecksum))
    #expect(try store.engine.check().isSound)
  }
}
