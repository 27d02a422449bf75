import Foundation
import Testing

@testable import Cambium

@Suite struct DerivedTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Composite("Delay") { Attribute("minutes", .integer32) }
      Entity("Aircraft") {
        Attribute("tailNumber", .string)
        Attribute("canonicalTail", .string, derived: "canonical:(tailNumber)")
        Attribute("upper", .string, derived: "uppercase:(tailNumber)")
        Attribute("lower", .string, derived: "lowercase:(tailNumber)")
        Attribute("entryCount", .integer64, derived: "entries.@count")
        Attribute("hours", .double, derived: "entries.@sum.duration")
        Attribute("delays", .integer64, derived: "entries.@sum.delay.minutes")
        Attribute("cost", .decimal, derived: "entries.@sum.cost")
        Attribute("saved", .date, derived: "now()")
        ToMany("entries", "Entry", inverse: "aircraft", deleteRule: .cascade)
        ToMany("pilots", "Pilot", inverse: "aircraft")
        Attribute("pilotCount", .integer16, derived: "pilots.@count")
      }
      Entity("Entry") {
        Attribute("duration", .double)
        Attribute("cost", .decimal)
        Attribute("delay", composite: "Delay")
        Attribute("tail", .string, derived: "aircraft.tailNumber")
        ToOne("aircraft", "Aircraft", inverse: "entries")
        Index("byTail", "tail")
      }
      Entity("Pilot") { ToMany("aircraft", "Aircraft", inverse: "pilots") }
      Entity("Glider", parent: "Aircraft") {}
    }
  }

  @Test func ofTheObjectItself() throws {
    let context = try memoryContainer(model()).viewContext
    let aircraft = try context.make("Aircraft", ["tailNumber": "Ñ-1a"])
    #expect(aircraft.value(forKey: "upper") == nil)
    let before = Date()
    try context.save()
    #expect(aircraft.value(forKey: "canonicalTail") as? String == "n-1a")
    #expect(aircraft.value(forKey: "upper") as? String == "Ñ-1A")
    #expect(aircraft.value(forKey: "lower") as? String == "ñ-1a")
    #expect(aircraft.value(forKey: "entryCount") as? Int == 0)
    #expect(aircraft.value(forKey: "cost") as? Decimal == 0)
    let saved = try #require(aircraft.value(forKey: "saved") as? Date)
    #expect(saved >= before && saved <= Date())
    try aircraft.set(nil, forKey: "tailNumber")
    try context.save()
    #expect(aircraft.value(forKey: "upper") == nil)
    // Found in the store.
    #expect(try context.all("Aircraft", "entryCount == 0 AND lower == nil").count == 1)
  }

  @Test func ofRelatedObjects() throws {
    let directory = try TemporaryDirectory()
    let context = try directory.container(model: model()).viewContext
    let one = try context.make("Aircraft", ["tailNumber": "N1"])
    let two = try context.make("Glider", ["tailNumber": "N2"])
    let entry = try context.make(
      "Entry", ["aircraft": one, "duration": 1.5, "cost": Decimal(string: "0.1") as Any, "delay": ["minutes": 5]])
    let other = try context.make(
      "Entry", ["aircraft": one, "duration": 2.0, "cost": Decimal(string: "0.2") as Any, "delay": ["minutes": 7]])
    try context.save()
    func numbers(_ object: ManagedObject) -> String {
      ["entryCount", "hours", "delays", "cost"].map { "\(object.value(forKey: $0) ?? "-")" }.joined(separator: " ")
    }
    #expect(numbers(one) == "2 3.5 12 0.3")
    #expect(numbers(two) == "0 0.0 0 0")
    #expect(entry.value(forKey: "tail") as? String == "N1")

    // A value of a destination.
    try other.set(3.0, forKey: "duration")
    try context.save()
    #expect(numbers(one) == "2 4.5 12 0.3")
    // A destination moves: both owners.
    try entry.set(two, forKey: "aircraft")
    try context.save()
    #expect(numbers(one) == "1 3.0 7 0.2")
    #expect(numbers(two) == "1 1.5 5 0.1")
    #expect(entry.value(forKey: "tail") as? String == "N2")
    // What a to-one relationship leads to changes.
    try two.set("N9", forKey: "tailNumber")
    try context.save()
    #expect(entry.value(forKey: "tail") as? String == "N9")
    #expect(try context.all("Entry", "tail == 'N9'").count == 1)
    // A destination goes.
    context.delete(other)
    try context.save()
    #expect(numbers(one) == "0 0.0 0 0")
    // Another context, another store instance: the values are stored.
    let again = try directory.container(model: model()).viewContext
    let found = try #require(try again.all("Aircraft", "tailNumber == 'N9'").first)
    #expect(numbers(found) == "1 1.5 5 0.1")
    // Emptied from the side that is not stored.
    let pilot = try context.make("Pilot", ["aircraft": Set([one, two])])
    try context.save()
    #expect(one.value(forKey: "pilotCount") as? Int == 1)
    context.delete(pilot)
    try context.save()
    #expect(one.value(forKey: "pilotCount") as? Int == 0)
    #expect(two.value(forKey: "pilotCount") as? Int == 0)
  }

  /// An entity derives from a relationship that it inherits, whose other side leads to objects that do not.
  @Test func ofInheritedRelationships() throws {
    let model = try ManagedObjectModel {
      Entity("Aircraft") {
        ToMany("entries", "Entry", inverse: "aircraft")
        ToOne("owner", "Owner", inverse: "aircraft")
      }
      Entity("Glider", parent: "Aircraft") {
        Attribute("entryCount", .integer64, derived: "entries.@count")
        Attribute("ownerName", .string, derived: "owner.name")
      }
      Entity("Entry") { ToOne("aircraft", "Aircraft", inverse: "entries") }
      Entity("Owner") {
        Attribute("name", .string)
        ToMany("aircraft", "Aircraft", inverse: "owner")
      }
    }
    let context = try memoryContainer(model).viewContext
    let owner = try context.make("Owner", ["name": "o"])
    let aircraft = try context.make("Aircraft", ["owner": owner])
    let glider = try context.make("Glider", ["owner": owner])
    try context.save()
    for object in [aircraft, glider] { try context.make("Entry", ["aircraft": object]) }
    try owner.set("p", forKey: "name")
    try context.save()
    #expect(glider.value(forKey: "entryCount") as? Int == 1 && glider.value(forKey: "ownerName") as? String == "p")
  }

  /// What delete rules do in the transaction, since others have led objects to what is deleted, is in what is derived
  /// from that.
  @Test func ofWhatOthersHaveLedToTheDeleted() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model())
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    mine.mergePolicy = .mergeByPropertyObjectTrump
    let aircraft = try theirs.make("Aircraft", ["tailNumber": "N1"])
    let pilot = try theirs.make("Pilot", [:])
    let entry = try theirs.make("Entry", ["duration": 1.0])
    try theirs.save()
    mine.delete(mine.object(with: entry.objectID))
    mine.delete(mine.object(with: pilot.objectID))
    try aircraft.set(Set([entry, try theirs.make("Entry", ["duration": 2.0])]), forKey: "entries")
    try aircraft.set(Set([pilot]), forKey: "pilots")
    try theirs.save()
    #expect(aircraft.value(forKey: "hours") as? Double == 3 && aircraft.value(forKey: "pilotCount") as? Int == 1)
    try mine.save()
    let again = container.newBackgroundContext()
    let found = try #require(try again.all("Aircraft").first)
    #expect(found.value(forKey: "entryCount") as? Int == 1 && found.value(forKey: "hours") as? Double == 2)
    #expect(found.value(forKey: "pilotCount") as? Int == 0)
  }

  /// What others have changed of a destination is in what is derived from it, though the context has not read that.
  @Test func ofWhatOthersHaveChanged() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model())
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    mine.mergePolicy = .mergeByPropertyStoreTrump
    let aircraft = try theirs.make("Aircraft", ["tailNumber": "N1"])
    let entry = try theirs.make("Entry", ["duration": 1.0])
    try theirs.save()
    let (known, other) = (mine.object(with: aircraft.objectID), mine.object(with: entry.objectID))
    #expect(known.value(forKey: "tailNumber") as? String == "N1" && other.value(forKey: "duration") as? Double == 1)
    try aircraft.set("N2", forKey: "tailNumber")
    try entry.set(5.0, forKey: "duration")
    try theirs.save()
    try mine.make("Entry", ["aircraft": known, "duration": 1.0])
    try theirs.make("Entry", ["aircraft": aircraft, "duration": 2.0])
    try entry.set(aircraft, forKey: "aircraft")
    try theirs.save()
    try mine.save()
    let found = container.newBackgroundContext()
    #expect(try found.all("Aircraft").map { $0.value(forKey: "hours") as? Double } == [8])
    #expect(try found.all("Entry").allSatisfy { $0.value(forKey: "tail") as? String == "N2" })
  }

  /// The same of a destination that derives nothing, and so is not written for being led to; of one with changes of its
  /// own it is what the policy has decided.
  @Test(
    arguments: [
      (nil, .error, "p"), ("q", .rollback, "p"), ("q", .mergeByPropertyObjectTrump, "q"),
    ] as [(String?, MergePolicy, String)])
  func ofWhatOthersHaveChangedOfPlainDestinations(mine name: String?, policy: MergePolicy, expected: String) throws {
    let model = try ManagedObjectModel {
      Entity("Owner") {
        Attribute("name", .string)
        ToMany("items", "Item", inverse: "owner")
      }
      Entity("Item") {
        Attribute("ownerName", .string, derived: "owner.name")
        ToOne("owner", "Owner", inverse: "items")
      }
    }
    let container = try memoryContainer(model)
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    mine.mergePolicy = policy
    let owner = try theirs.make("Owner", ["name": "o"])
    try theirs.save()
    let known = mine.object(with: owner.objectID)
    #expect(known.value(forKey: "name") as? String == "o")
    try owner.set("p", forKey: "name")
    try theirs.save()
    if let name { try known.set(name, forKey: "name") }
    try mine.make("Item", ["owner": known])
    try mine.save()
    let reader = container.newBackgroundContext()
    #expect(try reader.all("Item").map { $0.value(forKey: "ownerName") as? String } == [expected])
    #expect(try reader.all("Owner").map { $0.value(forKey: "name") as? String } == [expected])
  }

  /// A save that is refused shows nothing that was not shown before it, and leaves nothing changed that it has
  /// computed.
  @Test(arguments: [false, true]) func ofNothingIfRefused(isPinned: Bool) throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model())
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    let aircraft = try theirs.make("Aircraft", ["tailNumber": "N1"])
    let entry = try theirs.make("Entry", ["duration": 1.0])
    try theirs.save()
    if isPinned { try mine.setQueryGenerationFrom(.current) }
    let known = try #require(try mine.all("Aircraft").first)
    try #require(try mine.all("Entry").first).set(3.0, forKey: "duration")
    try mine.make("Entry", ["aircraft": known])
    try entry.set(4.0, forKey: "duration")
    try theirs.make("Entry", ["aircraft": aircraft])
    try theirs.save()
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
    #expect(try known.count(ofRelationship: "entries") == 1 && known.value(forKey: "entryCount") as? Int == 0)
    // Its other side is derived, so that it has no change that is stored.
    #expect(known.changedValues().keys.allSatisfy { $0 == "entries" })
    // What others have deleted is a conflict like others.
    mine.rollback()
    if isPinned { try mine.setQueryGenerationFrom(nil) }
    let gone = try #require(try mine.all("Aircraft").first)
    try mine.make("Entry", ["aircraft": gone])
    theirs.delete(aircraft)
    try theirs.save()
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
  }

  /// Contexts that know nothing of each other add destinations to one object, which neither of them changes itself.
  @Test func ofObjectsThatOthersDependOnToo() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model())
    let contexts = [container.viewContext, container.newBackgroundContext()]
    let aircraft = try contexts[0].make("Aircraft", ["tailNumber": "N1"])
    try contexts[0].save()
    let mine = try #require(try contexts[1].all("Aircraft").first)
    #expect(mine.value(forKey: "entryCount") as? Int == 0)
    for round in 0..<3 {
      try contexts[0].make("Entry", ["aircraft": aircraft, "duration": 1.0])
      try contexts[1].make("Entry", ["aircraft": mine, "duration": 10.0])
      try contexts[round % 2].save()
      try contexts[1 - round % 2].save()
    }
    contexts[0].refresh(aircraft, mergeChanges: false)
    #expect(aircraft.value(forKey: "entryCount") as? Int == 6)
    #expect(aircraft.value(forKey: "hours") as? Double == 33)

    // A change of its own is one that others can be in conflict with.
    try aircraft.set("N2", forKey: "tailNumber")
    try contexts[1].make("Entry", ["aircraft": mine, "duration": 10.0])
    try contexts[1].save()
    #expect(cambiumError { try contexts[0].save() }?.code == .managedObjectMerge)
  }

  /// Many at once: every count is right in the end.
  @Test func inThreads() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container(model: model())
    let aircraft = try container.viewContext.make("Aircraft", ["tailNumber": "N1"])
    try container.viewContext.save()
    let id = aircraft.objectID
    let failures = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let context = container.newBackgroundContext()
          var failures = 0
          for _ in 0..<10 {
            let isSaved = await context.perform {
              do {
                try context.make("Entry", ["aircraft": context.object(with: id), "duration": 1.0])
                try context.save()
                return true
              } catch { return false }
            }
            if !isSaved { failures += 1 }
          }
          return failures
        }
      }
      return await group.reduce(0, +)
    }
    #expect(failures == 0)
    container.viewContext.refresh(aircraft, mergeChanges: false)
    let count = try container.viewContext.all("Entry").count
    #expect(count == 40)
    #expect(aircraft.value(forKey: "entryCount") as? Int == count)
    #expect(aircraft.value(forKey: "hours") as? Double == Double(count))
  }

  @Test func cannotBeSet() throws {
    let context = try memoryContainer(model()).viewContext
    let aircraft = try context.make("Aircraft", [:])
    #expect(cambiumError { try aircraft.set(3, forKey: "entryCount") }?.code == .invalidArgument)
    #expect(cambiumError { try aircraft.set(3, forKeyPath: "entryCount") }?.code == .invalidArgument)
  }

  /// A sum that the attribute cannot hold stops the save, and nothing is saved.
  @Test func tooLarge() throws {
    let model = try ManagedObjectModel {
      Entity("A") {
        Attribute("sum", .integer64, derived: "bs.@sum.x")
        Attribute("count", .integer16, derived: "bs.@count")
        ToMany("bs", "B", inverse: "a")
      }
      Entity("B") {
        Attribute("x", .integer64)
        ToOne("a", "A", inverse: "bs")
      }
    }
    let context = try memoryContainer(model).viewContext
    let a = try context.make("A", [:])
    for _ in 0..<2 { try context.make("B", ["a": a, "x": Int64.max]) }
    let error = cambiumError { try context.save() }
    #expect(error?.code == .managedObjectValidation)
    #expect(error?.key == "sum")
    #expect(context.hasChanges)
  }

  /// A save that fails while values are derived leaves no change of what it came to before.
  @Test func tooLargeChangesNobodyElse() throws {
    let model = try ManagedObjectModel {
      Entity("A") {
        Attribute("name", .string)
        Attribute("sum", .integer64, derived: "bs.@sum.x")
        ToMany("bs", "B", inverse: "a")
      }
      Entity("B") {
        Attribute("x", .integer64)
        ToOne("a", "A", inverse: "bs")
      }
    }
    let container = try memoryContainer(model)
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    for name in ["fits", "overflows"] {
      let a = try theirs.make("A", ["name": name])
      for _ in 0..<2 { try theirs.make("B", ["a": a, "x": 1]) }
    }
    try theirs.save()
    let fits = try mine.all("B", "a.name == 'fits'")
    let overflows = try mine.all("B", "a.name == 'overflows'")
    fits.first?.setValue(2, forKey: "x")
    for b in overflows { b.setValue(Int64.max, forKey: "x") }
    #expect(cambiumError { try mine.save() }?.key == "sum")
    for a in try mine.all("A") { #expect(!a.hasChanges) }
    #expect(mine.updatedObjects.count == 3)
    // Nothing of it is in the way of what others do and what is saved then.
    for b in fits + overflows { mine.refresh(b, mergeChanges: false) }
    for a in try theirs.all("A") { a.setValue("theirs", forKey: "name") }
    try theirs.save()
    try mine.make("B", [:])
    try mine.save()
    let reader = container.newBackgroundContext()
    #expect(try reader.all("A").map { $0.value(forKey: "sum") as? Int } == [2, 2])
  }

  /// What was led to a deleted object by others and goes with it is counted no more, where its relationship lets nobody
  /// know, too.
  @Test func whatGoesWithoutAWordIsNotCounted() throws {
    let model = try ManagedObjectModel {
      Entity("X") {
        Attribute("count", .integer64, derived: "ys.@count")
        ToMany("ys", "Y", inverse: "x")
      }
      Entity("Y") {
        ToOne("x", "X", inverse: "ys", deleteRule: .noAction)
        ToOne("z", "Z", inverse: "ys")
      }
      Entity("Z") { ToMany("ys", "Y", inverse: "z", deleteRule: .cascade) }
    }
    let container = try memoryContainer(model)
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    let y = try theirs.make("Y", ["x": try theirs.make("X", [:])])
    let z = try theirs.make("Z", [:])
    try theirs.save()
    for z in try mine.all("Z") { mine.delete(z) }
    y.setValue(z, forKey: "z")
    try theirs.save()
    try mine.save()
    let reader = container.newBackgroundContext()
    #expect(try reader.all("Y").isEmpty)
    #expect(try reader.all("X").map { $0.value(forKey: "count") as? Int } == [0])
  }

  /// An object that others have deleted as well is in nobody's way.
  @Test func whatBothHaveDeletedIsNotAsked() throws {
    let container = try memoryContainer(model())
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    for context in [mine, theirs] { context.mergePolicy = .mergeByPropertyObjectTrump }
    let aircraft = try theirs.make("Aircraft", ["tailNumber": "A"])
    for _ in 0..<2 { try theirs.make("Entry", ["aircraft": aircraft]) }
    try theirs.save()
    let entry = try #require(try theirs.all("Entry").first)
    mine.delete(try mine.existingObject(with: entry.objectID))
    theirs.delete(entry)
    try theirs.save()
    mine.refreshAllObjects()
    try mine.make("Pilot", [:])
    try mine.save()
    let reader = container.newBackgroundContext()
    #expect(try reader.all("Aircraft").map { $0.value(forKey: "entryCount") as? Int } == [1])
  }

  @Test(
    arguments: [
      ("missing", .string), ("name", .integer16), ("uppercase:(number)", .string), ("b.name ++ 'x'", .string),
      ("bs.name", .string), ("bs.@count", .string), ("b.@count", .integer64), ("bs.@sum.name", .double),
      ("now()", .string), ("b.b.name", .string), ("alone.name", .string), ("lost.@count", .integer16),
      ("b", .string), ("second", .string), ("kept", .string),
    ] as [(String, AttributeType)])
  func refusedExpressions(expression: String, type: AttributeType) throws {
    let model = try ManagedObjectModel {
      Entity("A") {
        Attribute("name", .string)
        Attribute("number", .integer32)
        Attribute("kept", .string, transient: true)
        Attribute("second", .string, derived: "name")
        Attribute("derived", type, derived: expression)
        ToMany("bs", "A", inverse: "b")
        ToOne("b", "A", inverse: "bs")
        ToOne("alone", "A")
        ToMany("lost", "A")
      }
    }
    let error = cambiumError { try model.takeIntoUse() }
    #expect(error?.code == .invalidModel)
    #expect(error?.key == "derived")
    #expect(!model.isInUse)
  }

  /// Batch requests are for what contexts would refuse, in models that derive as in others; a rule that denies refuses
  /// with its own code.
  @Test func batchesAreNotValidated() throws {
    let model = try ManagedObjectModel {
      Entity("Owner") {
        Attribute("name", .string)
        Attribute("itemCount", .integer64, derived: "items.@count")
        Attribute("saved", .date, derived: "now()")
        ToMany("items", "Item", inverse: "owner", optional: false, minimum: 1)
        ToMany("first", "Guard", inverse: "owner", deleteRule: .deny)
        ToMany("second", "Guard", inverse: "other", deleteRule: .deny)
      }
      Entity("Item") {
        Attribute("size", .integer64)
        Attribute("ownerName", .string, derived: "owner.name")
        ToOne("owner", "Owner", inverse: "items", optional: false)
      }
      Entity("Guard") {
        ToOne("owner", "Owner", inverse: "first")
        ToOne("other", "Owner", inverse: "second")
      }
    }
    let container = try memoryContainer(model)
    let context = container.viewContext
    // Neither has what its rules ask for.
    try context.execute(BatchInsertRequest(entityName: "Owner", objects: [["name": "one"]]))
    try context.execute(BatchInsertRequest(entityName: "Item", objects: [["size": 4]]))
    let owner = try #require(try context.all("Owner").first)
    #expect(owner.value(forKey: "itemCount") as? Int == 0)
    var update = BatchUpdateRequest(entityName: "Item")
    update.propertiesToUpdate = ["owner": owner.objectID]
    try context.execute(update)
    context.refreshAllObjects()
    #expect(owner.value(forKey: "itemCount") as? Int == 1)
    let item = try #require(try context.all("Item", "ownerName == 'one'").first)
    let other = try context.make("Item", ["size": 5, "owner": owner])
    try context.save()
    #expect(owner.value(forKey: "itemCount") as? Int == 2)
    let saved = try #require(owner.value(forKey: "saved") as? Date)

    // What it leads to is required of items, which stay.
    let keeper = try context.make("Guard", ["owner": owner, "other": owner])
    try context.save()
    let denied = cambiumError { try context.execute(BatchDeleteRequest(objectIDs: [owner.objectID])) }
    #expect(denied?.code == .validationRelationshipDeniedDelete)
    context.delete(keeper)
    try context.save()
    let since = try #require(owner.value(forKey: "saved") as? Date)
    // Nothing of the owner's row was written meanwhile.
    #expect(since == saved)
    try context.execute(BatchDeleteRequest(objectIDs: [item.objectID]))
    context.refreshAllObjects()
    #expect(owner.value(forKey: "itemCount") as? Int == 1)
    // The batch has changed it, so that the time is of then.
    let now = try #require(owner.value(forKey: "saved") as? Date)
    #expect(now > since)
    try context.execute(BatchDeleteRequest(objectIDs: [owner.objectID]))
    context.refreshAllObjects()
    #expect(other.value(forKey: "owner") == nil && other.value(forKey: "ownerName") == nil)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Owner")) == 0)
  }
}
