import CambiumEngine
import Foundation
import Testing

@testable import Cambium

/// Migrations that are undone, and contexts that read meanwhile.
@Suite(.serialized) struct MigrationRollbackTests {
  /// Without colors.
  static func plain() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("engines", .integer16)
        ToMany("flights", "Flight", inverse: "aircraft")
      }
      Entity("Flight") {
        Attribute("number", .string)
        ToOne("aircraft", "Aircraft", inverse: "flights")
      }
    }
  }

  private func migrated(
    _ directory: TemporaryDirectory, _ model: ManagedObjectModel, defers: Bool = true, keeps: Bool = false
  ) throws -> PersistentContainer {
    let container = PersistentContainer(name: "Flights", managedObjectModel: model)
    let description = PersistentStoreDescription(url: directory.url.appendingPathComponent("flights.cambium"))
    description.shouldDeferLightweightMigration = defers
    description.keepsStateBeforeMigration = keeps
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  @Test func aMigrationIsUndone() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    do {
      let container = try migrated(directory, Self.plain())
      let coordinator = container.persistentStoreCoordinator
      #expect(try coordinator.statesBeforeMigration().map { $0.commitsSince } == [0])
      #expect(
        try coordinator.statesBeforeMigration()[0].schema.entity(named: "Aircraft")?.attribute(named: "color") != nil)
      try coordinator.finishDeferredLightweightMigration(rowsAtATime: 7) { $0[0].nextRow < 8 }
      try coordinator.rollBackMigration()
      // The coordinator has the other model.
      let context = container.newBackgroundContext()
      let error = cambiumError { _ = try context.performAndWait { try context.all("Aircraft") } }
      #expect(error?.code == .persistentStoreIncompatibleSchema)
    }
    try MigrationTests.check(
      try directory.container(model: MigrationTests.v1()).viewContext, color: "color", seats: false)
    // And forth again, for good.
    let again = try migrated(directory, Self.plain())
    try again.persistentStoreCoordinator.finishDeferredLightweightMigration()
    let error = cambiumError { try again.persistentStoreCoordinator.rollBackMigration() }
    #expect(error?.code == .migration)
    guard case .noMigrationToRollBack? = error?.underlyingErrors.first as? EngineError else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try again.retainedCommits().isEmpty)
  }

  @Test func whatWasSavedSinceIsCountedAndDiscardedOnDemand() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    do {
      let container = try migrated(directory, MigrationTests.v2(), defers: false, keeps: true)
      let context = container.viewContext
      for n in 0..<3 {
        try context.make("Flight", ["number": "new \(n)"])
        try context.save()
      }
      let coordinator = container.persistentStoreCoordinator
      let error = cambiumError { try coordinator.rollBackMigration() }
      #expect(error?.code == .migration)
      guard case .commitsSinceMigration(3)? = error?.underlyingErrors.first as? EngineError else {
        Issue.record("\(String(describing: error))")
        return
      }
      // Nothing has changed.
      #expect(try context.all("Flight").count == 23)
    }
    try Migration.rollBack(storeAt: directory.url.appendingPathComponent("flights.cambium"), discardsCommits: true)
    let container = try directory.container(model: MigrationTests.v1())
    #expect(try container.viewContext.all("Flight").count == 20)
    try MigrationTests.check(container.viewContext, color: "color", seats: false)
  }

  @Test func aConfirmedMigrationStays() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let container = try migrated(directory, MigrationTests.v2(), keeps: true)
    #expect(try container.persistentStoreCoordinator.statesBeforeMigration()[0].isKeptUntilConfirmed)
    try container.persistentStoreCoordinator.confirmMigration()
    #expect(try container.persistentStoreCoordinator.statesBeforeMigration().isEmpty)
    #expect(try container.retainedCommits().isEmpty)
    #expect(cambiumError { try container.persistentStoreCoordinator.rollBackMigration() }?.code == .migration)
  }

  /// A context of the old model reads on while the store is migrated, and after: what it has, it has. Then it is told.
  @Test func contextsOfTheOldModelReadOnAndAreTold() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let old = try directory.container(model: MigrationTests.v1())
    let context = old.newBackgroundContext()
    let first = try context.performAndWait {
      try context.all("Aircraft", sort: [FetchSortDescriptor(key: "tailNumber")])
    }
    let new = try migrated(directory, Self.plain())
    try new.persistentStoreCoordinator.finishDeferredLightweightMigration()
    let writer = new.newBackgroundContext()
    try writer.performAndWait {
      for aircraft in try writer.all("Aircraft") { writer.delete(aircraft) }
      try writer.save()
    }
    try context.performAndWait {
      // Neither dropped attributes nor deleted rows are gone from a snapshot.
      for aircraft in first {
        let n = try #require((aircraft.value(forKey: "tailNumber") as? String).flatMap { Int($0.dropFirst()) })
        #expect(aircraft.value(forKey: "color") as? String == (n % 3 == 0 ? nil : "blue \(n)"))
        let flights = try #require(aircraft.value(forKey: "flights") as? Set<ManagedObject>)
        #expect(flights.compactMap { $0.value(forKey: "number") as? String } == ["F\(n)"])
      }
      let error = cambiumError { _ = try context.all("Aircraft") }
      #expect(error?.code == .persistentStoreIncompatibleSchema)
      #expect(error?.message.contains("open it again") ?? false, "\(String(describing: error))")
      try first[0].set("N0000", forKey: "tailNumber")
      #expect(cambiumError { try context.save() }?.code == .persistentStoreIncompatibleSchema)
    }
  }
}
