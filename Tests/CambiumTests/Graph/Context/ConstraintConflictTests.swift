import Cambium
import Foundation
import Testing

@Suite struct ConstraintConflictTests {
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Key") {
        Attribute("series", .string)
        Attribute("number", .integer32)
      }
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("type", .string)
        Attribute("seats", .integer32)
        Attribute("key", composite: "Key")
        ToOne("home", "Airport", inverse: "based")
        ToOne("engine", "Engine", inverse: "aircraft")
        ToMany("legs", "Leg", inverse: "aircraft", deleteRule: .cascade)
        ToMany("notes", "Note", inverse: "aircraft", ordered: true)
        ToMany("crew", "Pilot", inverse: "flies")
        Unique("tailNumber")
        Unique("key.series", "key.number")
      }
      Entity("Airport") {
        Attribute("name", .string)
        ToMany("based", "Aircraft", inverse: "home")
      }
      Entity("Engine") {
        Attribute("serial", .string)
        ToOne("aircraft", "Aircraft", inverse: "engine")
      }
      Entity("Leg") {
        Attribute("number", .integer32)
        ToOne("aircraft", "Aircraft", inverse: "legs", optional: false)
      }
      Entity("Note") {
        Attribute("text", .string)
        ToOne("aircraft", "Aircraft", inverse: "notes")
      }
      Entity("Pilot") {
        Attribute("name", .string)
        ToMany("flies", "Aircraft", inverse: "crew")
      }
    }
  }

  /// A store in a file with N1, which has everything, and N2.
  private final class Fixture {
    let directory: TemporaryDirectory
    let container: PersistentContainer
    let stored: ManagedObjectID
    let other: ManagedObjectID

    init() throws {
      directory = try TemporaryDirectory()
      container = try directory.container(model: ConstraintConflictTests.model()) { $0.tracksHistory = true }
      let context = container.newBackgroundContext()
      let object = try context.make("Aircraft", ["tailNumber": "N1", "type": "A320", "seats": 180])
      try object.set(try context.make("Airport", ["name": "Old"]), forKey: "home")
      try object.set(try context.make("Engine", ["serial": "old"]), forKey: "engine")
      try object.add(try context.make("Leg", ["number": 1]), toRelationship: "legs")
      try object.add(try context.make("Note", ["text": "first"]), toRelationship: "notes")
      try object.add(try context.make("Pilot", ["name": "Ada"]), toRelationship: "crew")
      let second = try context.make("Aircraft", ["tailNumber": "N2", "type": "B737"])
      try context.save()
      stored = object.objectID
      other = second.objectID
    }

    /// A new object with the values of the stored one's constraint, and destinations of all kinds.
    func twin(in context: ManagedObjectContext) throws -> ManagedObject {
      let object = try context.make("Aircraft", ["tailNumber": "N1", "seats": 200])
      try object.set(try context.make("Airport", ["name": "New"]), forKey: "home")
      try object.set(try context.make("Engine", ["serial": "new"]), forKey: "engine")
      try object.add(try context.make("Leg", ["number": 2]), toRelationship: "legs")
      try object.add(try context.make("Note", ["text": "second"]), toRelationship: "notes")
      try object.add(try context.make("Pilot", ["name": "Bea"]), toRelationship: "crew")
      return object
    }

    /// What the stored object is, as another container on the file reads it.
    func read(_ tail: String = "N1") throws -> [String] {
      let reader = try directory.container(model: ConstraintConflictTests.model()) { $0.tracksHistory = true }
      let context = reader.newBackgroundContext()
      let found = try context.all("Aircraft", "tailNumber == %@", [tail])
      #expect(found.count == 1)
      guard let object = found.first else { return [] }
      func names(_ key: String, _ of: String) throws -> String {
        let ids = try object.objectIDs(forRelationshipNamed: key)
        return ids.map { "\(context.object(with: $0).value(forKey: of) ?? "-")" }.sorted().joined(separator: " ")
      }
      // Both sides agree.
      for (key, back) in [("legs", "aircraft"), ("notes", "aircraft")] {
        for id in try object.objectIDs(forRelationshipNamed: key) {
          let there = context.object(with: id).value(forKey: back) as? ManagedObject
          #expect(there === object)
        }
      }
      return [
        "\(object.value(forKey: "type") ?? "-")", "\(object.value(forKey: "seats") ?? "-")",
        object.value(forKeyPath: "home.name") as? String ?? "-",
        object.value(forKeyPath: "engine.serial") as? String ?? "-",
        try names("legs", "number"), try names("notes", "text"), try names("crew", "name"),
      ]
    }
  }

  @Test func errorTellsOfAll() throws {
    let fixture = try Fixture()
    let context = fixture.container.newBackgroundContext()
    let first = try context.make("Aircraft", ["tailNumber": "N1", "type": "X"])
    let second = try context.make("Aircraft", ["tailNumber": "N1"])
    let third = try context.make("Aircraft", ["tailNumber": "N3", "key": ["series": "a", "number": 1]])
    let fourth = try context.make("Aircraft", ["tailNumber": "N4", "key": ["series": "a", "number": 1]])
    _ = try context.make("Aircraft", ["tailNumber": "N5", "key": ["series": "a"]])
    _ = try context.make("Aircraft", ["tailNumber": "N6", "key": ["series": "a"]])
    let error = cambiumError { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge)
    #expect(error?.code.rawValue == 133021)
    let conflicts = try #require(error?.constraintConflicts)
    #expect(conflicts.count == 2)
    #expect(conflicts[0].constraint == ["tailNumber"])
    #expect(conflicts[0].constraintValues["tailNumber"] as? String == "N1")
    #expect(conflicts[0].databaseObject?.objectID == fixture.stored)
    #expect(conflicts[0].databaseSnapshot?["type"] as? String == "A320")
    #expect(conflicts[0].databaseSnapshot?["home"] is ManagedObjectID)
    #expect(conflicts[0].conflictingObjects == [first, second])
    #expect(conflicts[0].conflictingSnapshots.map { $0["type"] as? String } == ["X", nil])
    #expect(conflicts[1].constraint == ["key.series", "key.number"])
    #expect(conflicts[1].constraintValues["key.number"] as? Int == 1)
    #expect(conflicts[1].databaseObject == nil && conflicts[1].databaseSnapshot == nil)
    #expect(conflicts[1].conflictingObjects == [third, fourth])
    #expect(error?.affectedObjectIDs.contains(fixture.stored) == true)
    // Nothing was saved, and nothing lost.
    #expect(context.insertedObjects.count == 6)
    try second.set("N7", forKey: "tailNumber")
    context.delete(first)
    try fourth.set(["series": "b", "number": 1], forKey: "key")
    try context.save()
    #expect(try context.all("Aircraft").count == 7)
  }

  @Test(arguments: [
    (MergePolicy.mergeByPropertyObjectTrump, ["A320", "200", "New", "new", "1 2", "first second", "Ada Bea"]),
    (.overwrite, ["-", "200", "New", "new", "", "second", "Bea"]),
    (.mergeByPropertyStoreTrump, ["A320", "180", "Old", "old", "1 2", "first second", "Ada"]),
    (.rollback, ["A320", "180", "Old", "old", "1 2", "first second", "Ada"]),
  ])
  @MainActor func newObjectAndRow(policy: MergePolicy, expected: [String]) throws {
    for (isRegistered, isMain) in [(false, false), (true, false), (false, true), (true, true)] {
      let fixture = try Fixture()
      let context = isMain ? fixture.container.viewContext : fixture.container.newBackgroundContext()
      context.mergePolicy = policy
      context.transactionAuthor = "upsert"
      let known = isRegistered ? try context.existingObject(with: fixture.stored) : nil
      if policy == .overwrite {
        // Their legs need an aircraft: the one that is left without has to go elsewhere.
        let leg = try #require(try context.all("Leg").first)
        try leg.set(context.object(with: fixture.other), forKey: "aircraft")
      }
      let new = try fixture.twin(in: context)
      // The object that the application has of the stored row: asked for, or by way of the leg.
      let held = context.registeredObject(for: fixture.stored)
      #expect((held != nil) == (isRegistered || policy == .overwrite))
      let leg = try #require((new.value(forKey: "legs") as? Set<ManagedObject>)?.first)
      try context.save()
      #expect(!context.hasChanges && context.recordedErrors.isEmpty)
      // The object that stays: the one that the application had, or the new one.
      let object = context.object(with: fixture.stored)
      #expect(object === held ?? new)
      #expect(known == nil || known === held)
      #expect(held == nil || (new.managedObjectContext == nil && new.isDeleted))
      #expect(leg.value(forKey: "aircraft") as? ManagedObject === object)
      #expect(object.value(forKey: "seats") as? Int == Int(expected[1]))
      var wanted = expected
      if policy == .overwrite { wanted[4] = "2" }
      #expect(try fixture.read() == wanted)
      #expect(try context.all("Aircraft").count == 2)
      // History tells of an update where there was one, and of no new aircraft.
      let history = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
        .transactions
      let mine = try #require(history.last { $0.author == "upsert" })
      let changes = (mine.changes ?? []).filter { $0.changedObjectID.entityName == "Aircraft" }
      #expect(changes.allSatisfy { $0.changeType == .update })
      #expect(
        changes.contains { $0.changedObjectID == fixture.stored } || policy.mergeType != .mergeByPropertyObjectTrump)
      // It goes on from there.
      try object.set("later", forKey: "type")
      try context.save()
      #expect(try fixture.read()[0] == "later")
    }
  }

  @Test(arguments: [(MergePolicy.mergeByPropertyObjectTrump, "b"), (.mergeByPropertyStoreTrump, "a")])
  func newObjects(policy: MergePolicy, type: String) throws {
    let fixture = try Fixture()
    let context = fixture.container.newBackgroundContext()
    context.mergePolicy = policy
    let first = try context.make("Aircraft", ["tailNumber": "N9", "type": "a", "seats": 4])
    let second = try context.make("Aircraft", ["tailNumber": "N9", "type": "b"])
    let legs = try [1, 2, 3].map { try context.make("Leg", ["number": $0, "aircraft": second]) }
    try context.save()
    #expect(first.value(forKey: "type") as? String == type)
    #expect(first.value(forKey: "seats") as? Int == 4)
    #expect(legs.allSatisfy { $0.value(forKey: "aircraft") as? ManagedObject === first })
    #expect(second.managedObjectContext == nil)
    #expect(try fixture.read("N9")[4] == "1 2 3")
  }

  @Test func storedObjectsAreNeverMerged() throws {
    let fixture = try Fixture()
    let context = fixture.container.newBackgroundContext()
    let object = try context.existingObject(with: fixture.other)
    for policy in [MergePolicy.mergeByPropertyObjectTrump, .overwrite, .error] {
      context.mergePolicy = policy
      try object.set("N1", forKey: "tailNumber")
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectConstraintMerge)
      #expect(error?.constraintConflicts.first?.databaseObject?.objectID == fixture.stored)
      #expect(error?.constraintConflicts.first?.conflictingObjects == [object])
    }
    try object.set(99, forKey: "seats")
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.save()
    #expect(try fixture.read("N2").prefix(2) == ["B737", "99"])
    try object.set("N1", forKey: "tailNumber")
    try object.set(100, forKey: "seats")
    context.mergePolicy = .rollback
    try context.save()
    #expect(try fixture.read("N2").prefix(2) == ["B737", "99"])
    #expect(object.value(forKey: "tailNumber") as? String == "N2" && !context.hasChanges)
  }

  @Test func valuesThatTheSaveTakesAway() throws {
    let fixture = try Fixture()
    let context = fixture.container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyObjectTrump
    // Given to a new object while the stored one gets another; and freed by a deletion.
    try context.existingObject(with: fixture.stored).set("N1-old", forKey: "tailNumber")
    context.delete(try context.existingObject(with: fixture.other))
    try context.make("Aircraft", ["tailNumber": "N1", "type": "new"])
    try context.make("Aircraft", ["tailNumber": "N2", "type": "new"])
    try context.save()
    #expect(try fixture.read("N1")[0] == "new")
    #expect(try fixture.read("N2")[0] == "new")
    #expect(try fixture.read("N1-old")[0] == "A320")
  }

  /// Several contexts make and change objects of the same names at the same time: of each there is one in the end, and
  /// no save fails.
  @Test func upsertsOfSeveralContexts() async throws {
    let directory = try TemporaryDirectory()
    let containers = try (0..<2).map { _ in try directory.container(model: Self.model()) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        let container = containers[number % 2]
        group.addTask {
          let context = container.newBackgroundContext()
          context.mergePolicy = .mergeByPropertyObjectTrump
          try await context.perform {
            for round in 0..<20 {
              for key in 0..<5 {
                let aircraft = try context.make(
                  "Aircraft", ["tailNumber": "N\((round + key) % 12)", "seats": number])
                try context.make("Leg", ["number": number * 1000 + round * 10 + key, "aircraft": aircraft])
              }
              try context.save()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let context = containers[0].newBackgroundContext()
    let all = try context.all("Aircraft")
    #expect(Set(all.compactMap { $0.value(forKey: "tailNumber") as? String }).count == 12 && all.count == 12)
    let legs = try context.all("Leg")
    #expect(Set(legs.compactMap { $0.value(forKey: "number") as? Int }).count == 400 && legs.count == 400)
    #expect(try all.reduce(0) { $0 + (try $1.count(ofRelationship: "legs")) } == 400)
  }

  @Test func undoAndChildren() throws {
    let fixture = try Fixture()
    let context = fixture.container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyObjectTrump
    // An insertion that became a change of a row is not undone by deleting the row.
    let undo = ContextUndoManager()
    context.undoManager = undo
    let twin = try context.make("Aircraft", ["tailNumber": "N1", "type": "undone"])
    context.processPendingChanges()
    #expect(undo.canUndo)
    try context.save()
    #expect(twin.objectID == fixture.stored && !undo.canUndo)
    undo.undo()
    try context.save()
    #expect(try fixture.read()[0] == "undone")
    context.undoManager = nil

    // What a child has saved into its parent, the parent's save takes to the row; the child's object is the row's then.
    for _ in 0..<2 {
      let parent = fixture.container.newBackgroundContext()
      parent.mergePolicy = .mergeByPropertyObjectTrump
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
      let object = try child.make("Aircraft", ["tailNumber": "N1", "type": "from the child"])
      let leg = try child.make("Leg", ["number": 7, "aircraft": object])
      try child.save()
      try parent.save()
      #expect(try fixture.read()[0] == "from the child")
      #expect(object.objectID == fixture.stored)
      #expect(object.value(forKey: "seats") as? Int == 180)
      #expect(leg.value(forKey: "aircraft") as? ManagedObject === object)
      child.delete(leg)
      try child.save()
      try parent.save()
      #expect(try fixture.read()[4] == "1")
    }
  }

  @Test func manyUpserts() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: Self.model())
    let context = container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyObjectTrump
    for round in 0..<3 {
      for number in 0..<50 {
        try context.make("Aircraft", ["tailNumber": "N\(number)", "seats": round, "type": round == 0 ? "first" : nil])
      }
      try context.save()
    }
    context.reset()
    let all = try context.all("Aircraft")
    #expect(all.count == 50)
    #expect(all.allSatisfy { $0.value(forKey: "seats") as? Int == 2 && $0.value(forKey: "type") as? String == "first" })
  }

  // MARK: Policies of one's own

  private final class Custom: MergePolicy, @unchecked Sendable {
    var locking: [MergeConflict] = []
    var constraints: [ConstraintConflict] = []
    var onLocking: (MergeConflict) throws -> Void = { _ in }
    var onConstraint: (ConstraintConflict) throws -> Void = { _ in }

    override func resolve(optimisticLockingConflicts conflicts: [MergeConflict]) throws {
      locking += conflicts
      for conflict in conflicts { try onLocking(conflict) }
    }

    override func resolve(constraintConflicts conflicts: [ConstraintConflict]) throws {
      constraints += conflicts
      for conflict in conflicts { try onConstraint(conflict) }
    }
  }

  @Test func policiesOfOnesOwn() throws {
    let fixture = try Fixture()
    let context = fixture.container.newBackgroundContext()
    let theirs = fixture.container.newBackgroundContext()
    let object = try context.existingObject(with: fixture.stored)
    func change(_ values: [String: Any]) throws {
      let there = try theirs.existingObject(with: fixture.stored)
      theirs.refresh(there, mergeChanges: false)
      for (key, value) in values { try there.set(value, forKey: key) }
      try theirs.save()
    }
    let policy = Custom(merge: .error)
    context.mergePolicy = policy
    policy.onLocking = { conflict in
      let mine = conflict.objectSnapshot["seats"] as? Int ?? 0
      let other = conflict.persistedSnapshot?["seats"] as? Int ?? 0
      try conflict.sourceObject.set(mine + other, forKey: "seats")
    }
    try object.set(5, forKey: "seats")
    try change(["seats": 1000, "type": "theirs"])
    try context.save()
    #expect(try fixture.read().prefix(2) == ["theirs", "1005"])
    let conflict = try #require(policy.locking.first)
    #expect(policy.locking.count == 1)
    #expect(conflict.sourceObject === object && conflict.objectID == fixture.stored)
    #expect(conflict.cachedSnapshot?["seats"] as? Int == 180)
    #expect(conflict.persistedSnapshot?["type"] as? String == "theirs")
    #expect(conflict.newVersionNumber > conflict.oldVersionNumber)

    // The kinds do outside of a transaction what they do inside.
    for (kind, expected) in [
      (MergePolicy.mergeByPropertyObjectTrump, ["theirs", "1"]), (.mergeByPropertyStoreTrump, ["theirs", "7"]),
      (.overwrite, ["before", "1"]), (.rollback, ["theirs", "7"]),
    ] {
      context.refresh(object, mergeChanges: false)
      try change(["type": "before", "seats": 0])
      context.refresh(object, mergeChanges: false)
      policy.onLocking = { try kind.resolve(mergeConflicts: [$0]) }
      try object.set(1, forKey: "seats")
      try change(["seats": 7, "type": "theirs"])
      try context.save()
      #expect(try fixture.read().prefix(2) == expected[...])
      #expect(object.value(forKey: "seats") as? Int == Int(expected[1]) && !context.hasChanges)
    }

    // What a policy throws, the save throws; what is not resolved is not saved.
    policy.onLocking = { throw CambiumError(.coreData, "mine", objectID: $0.objectID) }
    try object.set(2, forKey: "seats")
    try change(["seats": 8])
    #expect(cambiumError { try context.save() }?.message == "mine")
    #expect(object.hasChanges)
    policy.onLocking = { _ in }
    try context.save()
    #expect(try fixture.read()[1] == "2")

    // One that was deleted stays deleted.
    try object.set(3, forKey: "seats")
    theirs.refreshAllObjects()
    theirs.delete(try theirs.existingObject(with: fixture.stored))
    try theirs.save()
    try context.save()
    #expect(policy.locking.last?.persistedSnapshot == nil && policy.locking.last?.newVersionNumber == 0)
    #expect(try context.all("Aircraft").count == 1 && !context.hasChanges)
  }

  @Test func constraintPolicyOfOnesOwn() throws {
    let fixture = try Fixture()
    let context = fixture.container.newBackgroundContext()
    let policy = Custom(merge: .mergeByPropertyObjectTrump)
    context.mergePolicy = policy
    policy.onConstraint = { conflict in
      for (number, object) in conflict.conflictingObjects.enumerated() {
        try object.set("\(conflict.constraintValues["tailNumber"] ?? "")-\(number)", forKey: "tailNumber")
      }
    }
    try context.make("Aircraft", ["tailNumber": "N1", "type": "a"])
    try context.make("Aircraft", ["tailNumber": "N1", "type": "b"])
    try context.save()
    #expect(try fixture.read("N1-0")[0] == "a" && fixture.read("N1-1")[0] == "b" && fixture.read()[0] == "A320")
    #expect(policy.constraints.count == 1)
    // One that resolves nothing ends all the same.
    policy.onConstraint = { _ in }
    try context.make("Aircraft", ["tailNumber": "N1"])
    #expect(cambiumError { try context.save() } != nil)
    // One that hands on: the object that it was shown stays the row's.
    var shown: ManagedObject?
    policy.onConstraint = { conflict in
      shown = conflict.databaseObject
      try MergePolicy.overwrite.resolve(constraintConflicts: [conflict])
    }
    context.rollback()
    let twin = try context.make("Aircraft", ["tailNumber": "N1", "seats": 3, "type": "c"])
    context.delete(try #require(try context.all("Leg").first))
    try context.save()
    #expect(try fixture.read().prefix(2) == ["c", "3"])
    #expect(
      shown?.objectID == fixture.stored && twin.objectID == fixture.stored
        || shown?.value(forKey: "type") as? String == "c")
  }
}
