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
    description.allowsDroppingUnknownData = true
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

  // MARK: Contexts that go on, since the models describe the same rows

  private func indexed(_ directory: TemporaryDirectory) throws -> PersistentContainer {
    try migrated(directory, try MigrationTests.v1(isIndexed: true), defers: false, keeps: true)
  }

  /// A row that was written again after the migration was undone may have the version of one that was discarded.
  @Test(arguments: [
    MergePolicy.error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
  ])
  func rowsThatWereDiscardedAreConflicts(policy: MergePolicy) throws {
    for isDeletion in [false, true] {
      let directory = try TemporaryDirectory()
      try MigrationTests.fill(directory)
      let container = try indexed(directory)
      let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
      context.mergePolicy = policy
      let aircraft = try #require(try context.all("Aircraft", "tailNumber == 'N1'").first)
      try aircraft.set("discarded", forKey: "color")
      try context.save()
      #expect(aircraft.value(forKey: "color") as? String == "discarded")
      try container.persistentStoreCoordinator.rollBackMigration(discardsCommits: true)
      let theirs = other.object(with: aircraft.objectID)
      #expect(theirs.value(forKey: "color") as? String == "blue 1")
      try theirs.set("theirs", forKey: "color")
      try other.save()
      if isDeletion { context.delete(aircraft) } else { try aircraft.set("mine", forKey: "color") }
      let error = cambiumError { try context.save() }
      let fresh = container.newBackgroundContext()
      let stored = try fresh.all("Aircraft", "tailNumber == 'N1'").first?.value(forKey: "color") as? String
      guard policy == .error else {
        #expect(error == nil)
        let isTheirs = policy == .mergeByPropertyStoreTrump || policy == .rollback
        #expect(stored == (isDeletion ? nil : isTheirs ? "theirs" : "mine"))
        continue
      }
      #expect(error?.code == .managedObjectMerge)
      let conflict = try #require(error?.conflicts.first)
      let persisted = conflict.persistedSnapshot?["color"] as? String
      #expect(conflict.sourceObject === aircraft && persisted == "theirs")
      #expect(stored == "theirs")
    }
  }

  /// The row as it was before the migration has a lower version, and is the newest one.
  @Test func rulesFollowRowsThatAreBack() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let container = try indexed(directory)
    let context = container.newBackgroundContext()
    let flight = try #require(try context.all("Flight", "number == 'F1'").first)
    let all = try context.all("Aircraft", sort: [FetchSortDescriptor(key: "tailNumber")])
    let (one, two) = (all[1], all[2])
    let before = try #require(flight.value(forKey: "aircraft") as? ManagedObject)
    try flight.set(before === one ? two : one, forKey: "aircraft")
    try context.save()
    #expect(flight.value(forKey: "aircraft") as? ManagedObject !== before)
    try container.persistentStoreCoordinator.rollBackMigration(discardsCommits: true)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Flight")) == 20)
    context.delete(before)
    try context.save()
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
    let fresh = container.newBackgroundContext()
    #expect(try fresh.object(with: flight.objectID).count(ofRelationship: "aircraft") == 0)
  }

  private func expectSound(_ container: PersistentContainer, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)", sourceLocation: sourceLocation)
  }

  /// The row that others have written after the migration was undone has the version of the one that was discarded, and
  /// is a newer one.
  @Test func rulesFollowRowsOfTheSameVersion() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let container = try indexed(directory)
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let flight = try #require(try context.all("Flight", "number == 'F1'").first)
    let all = try context.all("Aircraft", sort: [FetchSortDescriptor(key: "tailNumber")])
    let (second, third) = (all[2], all[3])
    try flight.set(second, forKey: "aircraft")
    try context.save()
    #expect(flight.value(forKey: "aircraft") as? ManagedObject === second)
    try container.persistentStoreCoordinator.rollBackMigration(discardsCommits: true)
    try other.object(with: flight.objectID).set(other.object(with: third.objectID), forKey: "aircraft")
    try other.save()
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Flight")) == 20)
    #expect(try flight.isOutdated())
    context.delete(third)
    try context.save()
    try expectSound(container)
    let fresh = container.newBackgroundContext()
    #expect(try fresh.object(with: flight.objectID).count(ofRelationship: "aircraft") == 0)
  }

  /// A child finds that its parent has another row of the same version, and results tell it.
  @Test(arguments: [0, 10], [true, false])
  func childrenAndResultsFollowRowsOfTheSameVersion(limit: Int, refreshes: Bool) throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let container = try indexed(directory)
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
    let aircraft = try #require(try context.all("Aircraft", "tailNumber == 'N1'").first)
    try aircraft.set("discarded", forKey: "color")
    try context.save()
    #expect(aircraft.value(forKey: "color") as? String == "discarded")
    let request = FetchRequest<ManagedObject>(entityName: "Aircraft")
    request.predicate = try FetchPredicate(format: "tailNumber == 'N1'")
    request.sortDescriptors = [FetchSortDescriptor(key: "tailNumber")]
    request.fetchLimit = limit
    let (controller, told) = try context.controller(request)
    let childs = child.object(with: aircraft.objectID)
    #expect(childs.value(forKey: "color") as? String == "discarded")
    try container.persistentStoreCoordinator.rollBackMigration(discardsCommits: true)
    try other.object(with: aircraft.objectID).set("theirs", forKey: "color")
    try other.save()
    if refreshes { context.refresh(aircraft, mergeChanges: true) } else { _ = try context.fetch(request) }
    context.processPendingChanges()
    controller.processPendingChanges()
    #expect(aircraft.value(forKey: "color") as? String == "theirs")
    #expect(told.take() == ["update 0.0 0.0"])
    try childs.set("child's", forKey: "color")
    let error = cambiumError { try child.save() }
    #expect(error?.code == .managedObjectMerge)
    let conflict = try #require(error?.conflicts.first)
    #expect(conflict.cachedSnapshot?["color"] as? String == "discarded")
    #expect(conflict.persistedSnapshot?["color"] as? String == "theirs")
    // Conflicts are not the same because versions are.
    try other.object(with: aircraft.objectID).set("theirs again", forKey: "color")
    #expect(conflict == conflict && conflict != MergeConflict(aircraft, persisted: nil))
    child.rollback()
    child.refreshAllObjects()
    try childs.set("child's", forKey: "color")
    try child.save()
    try context.save()
    try expectSound(container)
  }

  /// A deferred migration forth and back leaves rows that are written otherwise, and are the same rows.
  @Test(arguments: [true, false]) func rowsThatWereNotWrittenAreNoConflict(isFinished: Bool) throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let old = try directory.container(model: MigrationTests.v1())
    let context = old.newBackgroundContext()
    let all = try context.all("Aircraft", sort: [FetchSortDescriptor(key: "tailNumber")])
    try all[1].set("before", forKey: "color")
    try context.save()
    #expect(all[1].value(forKey: "color") as? String == "before")
    #expect(all[2].value(forKey: "color") as? String == "blue 10")
    for model in [try MigrationTests.v1(isExtended: true), try MigrationTests.v1()] {
      let new = try migrated(directory, model)
      if !isFinished { continue }
      try new.persistentStoreCoordinator.finishDeferredLightweightMigration()
    }
    try all[1].set("mine", forKey: "color")
    try context.save()
    let store = try #require(old.persistentStoreCoordinator.persistentStores.first)
    #expect(store.hasChangedModel)
    // Others' changes are conflicts still.
    let other = old.newBackgroundContext()
    try other.object(with: all[2].objectID).set("theirs", forKey: "color")
    try other.save()
    try all[2].set("mine", forKey: "color")
    #expect(cambiumError { try context.save() }?.code == .managedObjectMerge)
    let fresh = old.newBackgroundContext()
    #expect(fresh.object(with: all[1].objectID).value(forKey: "color") as? String == "mine")
  }

  /// A store that was removed, undone and added again has rows of the same versions that are not those that the context
  /// has.
  @Test func aStoreThatIsAddedAgain() throws {
    let directory = try TemporaryDirectory()
    try MigrationTests.fill(directory)
    let container = try indexed(directory)
    let coordinator = container.persistentStoreCoordinator
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let aircraft = try #require(try context.all("Aircraft", "tailNumber == 'N1'").first)
    try aircraft.set("discarded", forKey: "color")
    try context.save()
    #expect(aircraft.value(forKey: "color") as? String == "discarded")
    let store = try #require(coordinator.persistentStores.first)
    let url = try #require(store.url)
    try coordinator.remove(store)
    try Migration.rollBack(storeAt: url, discardsCommits: true)
    let description = PersistentStoreDescription(url: url)
    _ = try coordinator.addPersistentStore(description)
    let theirs = try #require(try other.all("Aircraft", "tailNumber == 'N1'").first)
    #expect(theirs.value(forKey: "color") as? String == "blue 1")
    try theirs.set("theirs", forKey: "color")
    try other.save()
    try aircraft.set("mine", forKey: "color")
    let error = cambiumError { try context.save() }
    #expect(error?.code == .managedObjectMerge, "\(String(describing: error))")
    let fresh = container.newBackgroundContext()
    let stored = try fresh.all("Aircraft", "tailNumber == 'N1'").first?.value(forKey: "color") as? String
    #expect(stored == "theirs")
  }
}
