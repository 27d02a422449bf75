import Cambium
import CambiumTesting
import Foundation
import Testing

@Suite struct SaveTests {
  @Test func validation() throws {
    let context = try memoryContainer().viewContext
    let airport = try context.make("Airport", [:])
    let missing = cambiumError { try context.save() }
    #expect(missing?.code == .validationMissingMandatoryProperty)
    #expect(missing?.key == "faaIdentifier" && missing?.entityName == "Airport")
    #expect(missing?.objectID == airport.objectID)
    #expect(context.insertedObjects == [airport])

    let aircraft = try context.make("Aircraft", ["engines": 9])
    let several = cambiumError { try context.save() }
    #expect(several?.code == .validationMultipleErrors)
    #expect(
      several?.detailedErrors.map(\.code) == [.validationMissingMandatoryProperty, .validationNumberTooLarge])
    #expect(several?.affectedObjectIDs == [airport.objectID, aircraft.objectID])
    try airport.set("", forKey: "faaIdentifier")
    try aircraft.set(-1, forKey: "engines")
    #expect(cambiumError { try context.save() }?.code == .validationNumberTooSmall)
    try aircraft.set(2, forKey: "engines")
    try context.save()
    try airport.set(nil, forKey: "faaIdentifier")
    #expect(cambiumError { try context.save() }?.code == .validationMissingMandatoryProperty)
  }

  @Test func deletingAnObjectOfAnotherContext() throws {
    let container = try memoryContainer()
    let (mine, theirs) = (container.viewContext, container.newBackgroundContext())
    let object = try mine.make("Pilot", ["name": "Ada"])
    try mine.save()
    let other = try theirs.make("Pilot", ["name": "Bessie"])
    theirs.delete(object)
    #expect(!object.isDeleted && theirs.deletedObjects.isEmpty && theirs.recordedErrors.count == 1)
    let error = cambiumError { try theirs.save() }
    #expect(error?.code == .invalidArgument && error?.objectID == object.objectID)
    // Nothing was saved. It is said once.
    #expect(theirs.insertedObjects == [other])
    try theirs.save()
    #expect(!other.objectID.isTemporaryID && !object.isDeleted)
    #expect(try mine.count(for: FetchRequest<ManagedObject>(entityName: "Pilot")) == 2)
  }

  @Test func relationshipCounts() throws {
    let model = try ManagedObjectModel {
      Entity("Team") { ToMany("members", "Member", inverse: "team", minimum: 2, maximum: 3) }
      Entity("Member") { ToOne("team", "Team", inverse: "members", optional: false) }
    }
    let context = try memoryContainer(model).viewContext
    let team = try context.make("Team", [:])
    try context.save()
    var members = [try context.make("Member", ["team": team])]
    #expect(cambiumError { try context.save() }?.code == .validationRelationshipLacksMinimumCount)
    for _ in 0..<3 { members.append(try context.make("Member", ["team": team])) }
    #expect(cambiumError { try context.save() }?.code == .validationRelationshipExceedsMaximumCount)
    context.delete(members[0])
    try context.save()
    try members[1].set(nil, forKey: "team")
    #expect(cambiumError { try context.save() }?.code == .validationMissingMandatoryProperty)
  }

  /// A required to-many relationship may be empty, unless it has a minimum count. Core Data's rule.
  @Test(arguments: [0, 1]) func requiredToManyRelationships(minimum: Int) throws {
    let model = try ManagedObjectModel {
      Entity("Team") { ToMany("members", "Member", inverse: "team", optional: false, minimum: minimum) }
      Entity("Member") { ToOne("team", "Team", inverse: "members") }
    }
    let context = try memoryContainer(model).viewContext
    let team = try context.make("Team", [:])
    let code = cambiumError { try context.save() }?.code
    #expect(code == (minimum == 0 ? nil : .validationRelationshipLacksMinimumCount))
    let member = try context.make("Member", ["team": team])
    try context.save()
    context.delete(member)
    #expect(cambiumError { try context.save() }?.code == code)
  }

  /// The error of a relationship to an object that is not saved names who leads there, and by what.
  @Test func relationshipsToUnsavedObjects() throws {
    let model = try ManagedObjectModel {
      Entity("Team") {
        ToOne("captain", "Member")
        ToMany("members", "Member")
        ToMany("bench", "Member", ordered: true)
      }
      Entity("Member") { Attribute("name", .string) }
    }
    for key in ["captain", "members", "bench"] {
      let context = try memoryContainer(model).viewContext
      try context.make("Team", [:])
      let team = try context.make("Team", [:])
      let member = try context.make("Member", [:])
      try team.set(key == "captain" ? member : [member] as Any, forKey: key)
      context.delete(member)
      let error = try #require(cambiumError { try context.save() })
      #expect(error.code.rawValue == 133000 && error.entityName == "Team" && error.key == key)
      #expect(error.objectID == team.objectID && error.message.contains("'\(key)' of \(team.objectID) leads to"))
    }
  }

  @Test func conflicts() throws {
    let container = try memoryContainer()
    let mine = container.viewContext
    let object = try mine.make("Pilot", ["name": "Ada"])
    try mine.save()
    let id = object.objectID
    _ = object.value(forKey: "name")
    let theirs = container.newBackgroundContext()
    func change(_ key: String, _ value: Any) throws {
      try theirs.performAndWait {
        theirs.refreshAllObjects()
        try theirs.existingObject(with: id).set(value, forKey: key)
        try theirs.save()
      }
    }

    try object.set("Mine", forKey: "name")
    try change("name", "Theirs")
    let error = cambiumError { try mine.save() }
    #expect(error?.code == .managedObjectMerge)
    #expect(error?.conflicts.map(\.objectID) == [id])
    #expect(error?.conflicts.first?.changedKeys == ["name"])
    #expect(error?.conflicts.first.map { $0.newVersionNumber > $0.oldVersionNumber } == true)
    #expect(object.value(forKey: "name") as? String == "Mine")

    mine.mergePolicy = .mergeByPropertyStoreTrump
    try object.set(UUID(), forKey: "certificateID")
    try mine.save()
    #expect(object.value(forKey: "name") as? String == "Theirs")
    #expect(object.value(forKey: "certificateID") != nil)

    try object.set("Mine", forKey: "name")
    try change("name", "Again")
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    #expect(object.value(forKey: "name") as? String == "Mine")

    try object.set("Dropped", forKey: "name")
    try change("name", "Kept")
    mine.mergePolicy = .rollback
    try mine.save()
    #expect(object.value(forKey: "name") as? String == "Kept")

    let certificate = try #require(object.value(forKey: "certificateID") as? UUID)
    try object.set("Whole", forKey: "name")
    try change("certificateID", UUID())
    mine.mergePolicy = .overwrite
    try mine.save()
    #expect(object.value(forKey: "certificateID") as? UUID == certificate)

    mine.mergePolicy = .error
    try object.set("Late", forKey: "name")
    try theirs.performAndWait {
      theirs.delete(try theirs.existingObject(with: id))
      try theirs.save()
    }
    #expect(cambiumError { try mine.save() }?.conflicts.first?.newVersionNumber == 0)
  }

  /// Refreshed changes are based on the row as it was when they were: what is saved after that is a conflict.
  @Test(arguments: [false, true]) func savesBetweenARefreshAndASaveAreConflicts(all: Bool) throws {
    let container = try memoryContainer()
    let mine = container.viewContext
    let object = try mine.make("Pilot", ["name": "Ada"])
    try mine.save()
    let id = object.objectID
    let theirs = container.newBackgroundContext()
    func change(_ name: String) throws {
      try theirs.performAndWait {
        theirs.refreshAllObjects()
        try theirs.existingObject(with: id).set(name, forKey: "name")
        try theirs.save()
      }
    }
    func refresh() { if all { mine.refreshAllObjects() } else { mine.refresh(object, mergeChanges: true) } }
    try object.set("Mine", forKey: "name")
    try change("Theirs")
    refresh()
    try change("Theirs again")
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
    #expect(object.value(forKey: "name") as? String == "Mine")
    refresh()
    try mine.save()
    #expect(object.value(forKey: "name") as? String == "Mine")

    // An object that is gone is not made anew, and the changes are not lost in silence.
    try object.set("Late", forKey: "name")
    try theirs.performAndWait {
      theirs.refreshAllObjects()
      theirs.delete(try theirs.existingObject(with: id))
      try theirs.save()
    }
    refresh()
    #expect(mine.recordedErrors.last?.code == .managedObjectReferentialIntegrity)
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
  }

  @Test func uniqueness() throws {
    let context = try memoryContainer().viewContext
    let first = try context.make("Airport", ["faaIdentifier": "SFO"])
    try context.save()
    let second = try context.make("Airport", ["faaIdentifier": "SFO"])
    let error = cambiumError { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    #expect(error?.affectedObjectIDs.contains(first.objectID) == true)
    #expect(second.objectID.isTemporaryID)
    try second.set("OAK", forKey: "faaIdentifier")
    try context.save()
    // Two objects may swap values.
    try first.set("OAK", forKey: "faaIdentifier")
    try second.set("SFO", forKey: "faaIdentifier")
    try context.save()
  }

  @Test func startedBlocksRunInOrder() async throws {
    let container = try memoryContainer()
    let context = container.newBackgroundContext()
    final class Log: @unchecked Sendable { var numbers: [Int] = [] }
    let log = Log()
    func start(_ number: Int, then: @escaping @Sendable () -> Void = {}) {
      context.perform {
        log.numbers.append(number)
        then()
      }
    }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      for number in 0..<50 { start(number) }
      start(50) { continuation.resume() }
    }
    #expect(log.numbers == Array(0...50))
    let isMain = await container.viewContext.perform { MainActor.assumeIsolated { true } }
    #expect(isMain)
  }

  @Test func severalStores() throws {
    let model = try ManagedObjectModel {
      Entity("A") {
        Attribute("name", .string)
        ToOne("b", "B", inverse: "a")
      }
      Entity("B") { ToOne("a", "A", inverse: "b") }
      Entity("Shared") { Attribute("number", .integer64) }
      Configuration("First", "A", "Shared")
      Configuration("Second", "B", "Shared")
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    let first = try coordinator.addPersistentStore(type: .inMemory, configuration: "First")
    let second = try coordinator.addPersistentStore(type: .inMemory, configuration: "Second")
    #expect(cambiumError { try coordinator.addPersistentStore(type: .inMemory, configuration: "Third") } != nil)
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    try context.performAndWait {
      let a = try context.make("A", ["name": "a"])
      let b = try context.make("B", [:])
      #expect(cambiumError { try a.set(b, forKey: "b") }?.code == .managedObjectExternalRelationship)
      for number in 0..<4 { try context.make("Shared", ["number": number]) }
      try context.save()
      #expect(a.objectID.storeIdentifier == first.identifier && b.objectID.storeIdentifier == second.identifier)
      let sort = [FetchSortDescriptor(key: "number", ascending: false)]
      #expect(
        try context.all("Shared", "number > 0", sort: sort).map { $0.value(forKey: "number") as? Int } == [3, 2, 1])
      #expect(try context.all("A").count == 1 && context.all("B").count == 1)
    }
  }

  /// What was saved is told once, also if the save of another store was tried again, or failed.
  @Test func whatIsToldOfSeveralStores() throws {
    let directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Entity("A") { Attribute("name", .string) }
      Entity("B") {
        Attribute("name", .string)
        Unique("name")
      }
      Configuration("First", "A")
      Configuration("Second", "B")
    }
    let coordinator = PersistentStoreCoordinator(managedObjectModel: model)
    for name in ["First", "Second"] {
      try coordinator.addPersistentStore(
        type: .file, configuration: name, at: directory.url.appendingPathComponent(name + ".cambium"))
    }
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    let told = Locked<[String]>([])
    let observation = context.observe { notification in
      guard notification.kind == .didSave else { return }
      func names(_ objects: Set<ManagedObject>) -> String {
        objects.map { "\($0.entity.name) \($0.value(forKey: "name") ?? "-")" }.sorted().joined(separator: ",")
      }
      let line = "+\(names(notification.insertedObjects)) ~\(names(notification.updatedObjects))"
      told.withLock { $0.append(line) }
    }
    func take() -> [String] {
      told.withLock { told in
        defer { told = [] }
        return told
      }
    }
    try context.performAndWait {
      try context.make("B", ["name": "x"])
      try context.save()
      #expect(take() == ["+B x ~"])
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.make("A", ["name": "a"])
      try context.make("B", ["name": "x"])
      try context.make("B", ["name": "y"])
      try context.save()
      #expect(take().map { $0.hasPrefix("+A a,B y ~") } == [true])
      #expect(try context.all("A").count == 1 && context.all("B").count == 2)
      context.mergePolicy = .error
      let a = try context.make("A", ["name": "b"])
      let b = try context.make("B", ["name": "x"])
      let error = cambiumError { try context.save() }
      // What one store refuses is saved in none.
      #expect(error?.code == .managedObjectConstraintMerge && error?.affectedObjectIDs.isEmpty == false)
      #expect(take().isEmpty)
      #expect(a.objectID.isTemporaryID && a.isInserted && b.isInserted)
      #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "A")) == 2)
      let reading = ManagedObjectContext(
        concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
      #expect(try reading.all("A").count == 1 && reading.all("B").count == 2)
      b.setValue("z", forKey: "name")
      try context.save()
      #expect(take() == ["+A b,B z ~"])
      #expect(!a.objectID.isTemporaryID && !a.hasChanges && !b.hasChanges)
    }
    withExtendedLifetime(observation) {}
  }

  @Test func concurrentBackgroundTasks() async throws {
    let container = try memoryContainer()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          try await container.performBackgroundTask { context in
            for entry in 0..<10 { try context.make("LogEntry", ["number": number * 10 + entry]) }
            try context.save()
          }
        }
      }
      try await group.waitForAll()
    }
    let context = container.newBackgroundContext()
    let count = try await context.perform {
      try context.count(for: FetchRequest<ManagedObject>(entityName: "LogEntry"))
    }
    #expect(count == 80)
    // Re-entrant on the same chain of calls.
    let nested = context.performAndWait { context.performAndWait { context.hasChanges } }
    #expect(!nested)
  }
}
