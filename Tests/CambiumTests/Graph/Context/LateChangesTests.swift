import Cambium
import Testing

/// What is led to objects that are deleted already, and what others have done to what a context changes.
@Suite struct LateChangesTests {
  private func flights(_ rule: DeleteRule, optional: Bool = true) throws -> PersistentContainer {
    try memoryContainer(
      ManagedObjectModel {
        Entity("Aircraft") {
          Attribute("name", .string)
          ToMany("entries", "Entry", inverse: "aircraft", deleteRule: rule)
        }
        Entity("Entry") {
          Attribute("name", .string)
          ToOne("aircraft", "Aircraft", inverse: "entries", optional: optional)
        }
      })
  }

  private func names(_ entity: String, _ container: PersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    return try context.fetch(FetchRequest<ManagedObject>(entityName: entity))
      .map { $0.value(forKey: "name") as? String ?? "" }.sorted()
  }

  /// Nothing is led to an object that is deleted: an error says so at once, or, where the call cannot throw, when it is
  /// saved.
  @Test func nothingIsLedToADeletedObject() throws {
    let container = try flights(.nullify)
    let context = container.viewContext
    let aircraft = try context.make("Aircraft", ["name": "a"])
    let saved = try context.make("Entry", ["name": "saved"])
    try context.save()
    context.delete(aircraft)
    let error = try #require(cambiumError { try saved.set(aircraft, forKey: "aircraft") })
    #expect(error.code == .managedObjectReferentialIntegrity && error.message.contains("is deleted"))
    #expect(
      cambiumError { try aircraft.add(saved, toRelationship: "entries") } == nil
        || saved.value(forKey: "aircraft") == nil)
    saved.setValue(aircraft, forKey: "aircraft")
    #expect(cambiumError { try context.save() }?.code == .managedObjectReferentialIntegrity)
    try context.save()
    #expect(try names("Aircraft", container) == [] && names("Entry", container) == ["saved"])
  }

  @Test func aDeletionMustLeaveEnough() throws {
    let model = try ManagedObjectModel {
      Entity("Team") { ToMany("members", "Member", inverse: "team", minimum: 2, maximum: 3) }
      Entity("Member") { ToOne("team", "Team", inverse: "members") }
    }
    let context = try memoryContainer(model).viewContext
    let team = try context.make("Team", [:])
    let members = try (0..<3).map { _ in try context.make("Member", ["team": team]) }
    try context.save()
    context.delete(members[0])
    try context.save()
    context.delete(members[1])
    #expect(cambiumError { try context.save() }?.code == .validationRelationshipLacksMinimumCount)
    context.rollback()
    #expect(try team.count(ofRelationship: "members") == 2)
  }

  @Test func ownersThatOthersDeletedHaveNothingToBeDerived() throws {
    for policy in [MergePolicy.error, .mergeByPropertyObjectTrump, .overwrite] {
      let container = try memoryContainer(
        ManagedObjectModel {
          Entity("Aircraft") {
            Attribute("name", .string)
            Attribute("count", .integer64, derived: "entries.@count")
            ToMany("entries", "Entry", inverse: "aircraft")
          }
          Entity("Entry") {
            Attribute("name", .string)
            ToOne("aircraft", "Aircraft", inverse: "entries")
          }
        })
      let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
      mine.mergePolicy = policy
      let aircraft = try mine.make("Aircraft", ["name": "a"])
      let entry = try mine.make("Entry", ["name": "e", "aircraft": aircraft])
      try mine.save()
      #expect(try entry.objectIDs(forRelationshipNamed: "aircraft").count == 1)
      theirs.delete(theirs.object(with: aircraft.objectID))
      try theirs.save()
      mine.delete(entry)
      let error = cambiumError { try mine.save() }
      #expect(error?.code == (policy === MergePolicy.error ? .managedObjectMerge : nil))
      #expect(try names("Entry", container) == (error == nil ? [] : ["e"]))
    }
  }

  @Test func partnersThatOthersDeletedAreLetGoOf() throws {
    let container = try memoryContainer(
      ManagedObjectModel {
        Entity("Pilot") {
          Attribute("name", .string)
          ToOne("licence", "Licence", inverse: "pilot")
        }
        Entity("Licence") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "licence")
        }
      })
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    mine.mergePolicy = .mergeByPropertyObjectTrump
    let made = try theirs.make("Pilot", ["name": "p"])
    let licence = try theirs.make("Licence", ["name": "l", "pilot": made])
    try theirs.save()
    let pilot = try mine.existingObject(with: made.objectID)
    #expect(try pilot.objectIDs(forRelationshipNamed: "licence") == [licence.objectID])
    theirs.delete(licence)
    try theirs.save()
    #expect(try mine.count(for: FetchRequest<ManagedObject>(entityName: "Licence")) == 0)
    mine.delete(pilot)
    try mine.save()
    #expect(try names("Pilot", container) == [])
  }

  private func lists() throws -> PersistentContainer {
    try memoryContainer(
      ManagedObjectModel {
        Entity("Pilot") {
          Attribute("name", .string)
          ToMany("endorsements", "Endorsement", inverse: "pilot", ordered: true)
        }
        Entity("Endorsement") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "endorsements")
        }
      })
  }

  private func listed(_ pilot: ManagedObjectID, _ container: PersistentContainer) throws -> [String] {
    let context = container.newBackgroundContext()
    return try context.existingObject(with: pilot).objectIDs(forRelationshipNamed: "endorsements")
      .map { context.object(with: $0).value(forKey: "name") as? String ?? "" }
  }

  /// A list is written whole: one that was made of what there was, and not of what others have made of it since, is a
  /// conflict.
  @Test func listsOfObjectsThatWereNotReadMeetConflicts() throws {
    let container = try lists()
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    let pilot = try mine.make("Pilot", ["name": "p"])
    try mine.save()
    _ = try mine.make("Endorsement", ["name": "mine", "pilot": pilot])
    _ = try theirs.make("Endorsement", ["name": "theirs", "pilot": theirs.object(with: pilot.objectID)])
    try theirs.save()
    _ = try mine.fetch(FetchRequest<ManagedObject>(entityName: "Endorsement"))
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
    mine.mergePolicy = .mergeByPropertyObjectTrump
    try mine.save()
    #expect(try listed(pilot.objectID, container).sorted() == ["mine", "theirs"])
  }

  @Test(arguments: [false, true]) func refreshingKeepsWhatOthersHavePutIntoAList(all: Bool) throws {
    let container = try lists()
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    let pilot = try mine.make("Pilot", ["name": "p"])
    _ = try mine.make("Endorsement", ["name": "first", "pilot": pilot])
    try mine.save()
    #expect(try pilot.count(ofRelationship: "endorsements") == 1)
    _ = try mine.make("Endorsement", ["name": "mine", "pilot": pilot])
    _ = try theirs.make("Endorsement", ["name": "theirs", "pilot": theirs.object(with: pilot.objectID)])
    try theirs.save()
    if all { mine.refreshAllObjects() } else { mine.refresh(pilot, mergeChanges: true) }
    try mine.save()
    #expect(try listed(pilot.objectID, container).sorted() == ["first", "mine", "theirs"])
    #expect(try listed(pilot.objectID, container).first == "first")
  }

  @Test func refreshingLetsGoOfWhereOthersHaveLed() throws {
    let container = try memoryContainer(
      ManagedObjectModel {
        Entity("Pilot") { ToOne("licence", "Licence", inverse: "pilot") }
        Entity("Licence") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "licence")
        }
      })
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    let pilot = try mine.make("Pilot", [:])
    let (a, b) = (try mine.make("Licence", ["name": "a"]), try mine.make("Licence", ["name": "b"]))
    try mine.save()
    try pilot.set(a, forKey: "licence")
    try theirs.object(with: pilot.objectID).set(theirs.object(with: b.objectID), forKey: "licence")
    try theirs.save()
    mine.refreshAllObjects()
    try mine.save()
    let fresh = container.newBackgroundContext()
    #expect(try fresh.existingObject(with: pilot.objectID).objectIDs(forRelationshipNamed: "licence") == [a.objectID])
    #expect(try fresh.existingObject(with: b.objectID).objectIDs(forRelationshipNamed: "pilot") == [])
  }

  /// Two contexts exchange the partners of one-to-ones; whoever refreshes last has what it wants, and both sides agree.
  @Test(arguments: [false, true]) func exchangedPartners(all: Bool) throws {
    let container = try memoryContainer(
      ManagedObjectModel {
        Entity("Pilot") {
          Attribute("name", .string)
          ToOne("licence", "Licence", inverse: "pilot")
        }
        Entity("Licence") {
          Attribute("name", .string)
          ToOne("pilot", "Pilot", inverse: "licence")
        }
      })
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    let pilots = try (0..<3).map { try mine.make("Pilot", ["name": "\($0)"]) }
    let licences = try (0..<3).map { try mine.make("Licence", ["name": "\($0)", "pilot": pilots[$0]]) }
    try mine.save()
    for (n, pilot) in pilots.enumerated() { try pilot.set(licences[(n + 1) % 3], forKey: "licence") }
    for (n, pilot) in pilots.enumerated() {
      let licence = theirs.object(with: licences[(n + 2) % 3].objectID)
      try theirs.object(with: pilot.objectID).set(licence, forKey: "licence")
    }
    try theirs.save()
    if all {
      mine.refreshAllObjects()
    } else {
      for object in pilots + licences { mine.refresh(object, mergeChanges: true) }
    }
    try mine.save()
    let fresh = container.newBackgroundContext()
    for entity in ["Pilot", "Licence"] {
      let key = entity == "Pilot" ? "licence" : "pilot"
      for object in try fresh.fetch(FetchRequest<ManagedObject>(entityName: entity)) {
        for id in try object.objectIDs(forRelationshipNamed: key) {
          let back = try fresh.object(with: id).objectIDs(forRelationshipNamed: entity == "Pilot" ? "pilot" : "licence")
          #expect(back == [object.objectID])
        }
      }
    }
    let first = try fresh.existingObject(with: pilots[0].objectID)
    #expect(try first.objectIDs(forRelationshipNamed: "licence").count <= 1)
    for (n, pilot) in pilots.enumerated() {
      let led = try fresh.existingObject(with: pilot.objectID).objectIDs(forRelationshipNamed: "licence")
      #expect(led == [licences[(n + 1) % 3].objectID], "pilot \(n)")
    }
  }

  /// Another context moves an entry; this one has seen that by a fetch, and the entry itself was read before. What is
  /// asked of the new aircraft, or of the old one, is done, and not taken for what is so already.
  @Test(arguments: [true, false]) func whatOthersHaveMovedIsMovedAgain(_ takesOut: Bool) throws {
    let container = try flights(.nullify)
    let context = container.newBackgroundContext()
    let (first, second) = (try context.make("Aircraft", ["name": "1"]), try context.make("Aircraft", ["name": "2"]))
    let entry = try context.make("Entry", ["name": "e", "aircraft": first])
    try context.save()
    #expect(entry.value(forKey: "aircraft") as? ManagedObject === first)
    let other = container.newBackgroundContext()
    let moved = try other.existingObject(with: entry.objectID)
    moved.setValue(other.object(with: second.objectID), forKey: "aircraft")
    try other.save()
    _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Aircraft"))
    #expect(try second.objectIDs(forRelationshipNamed: "entries") == [entry.objectID])
    if takesOut {
      try second.remove(entry, fromRelationship: "entries")
      #expect(try second.count(ofRelationship: "entries") == 0)
    } else {
      try first.add(entry, toRelationship: "entries")
      #expect(try first.objectIDs(forRelationshipNamed: "entries") == [entry.objectID])
      #expect(try second.count(ofRelationship: "entries") == 0)
    }
    let expected = takesOut ? nil : first
    #expect(entry.value(forKey: "aircraft") as? ManagedObject === expected)
    try context.save()
    let fresh = container.newBackgroundContext()
    let found = try fresh.existingObject(with: entry.objectID).objectIDs(forRelationshipNamed: "aircraft")
    #expect(found == expected.map { [$0.objectID] } ?? [])
  }

  /// The same with an unsaved change of the entry, whose attribute others have changed too: that must stay a conflict.
  @Test(arguments: [true, false]) func whatOthersHaveMovedAndChangedIsAConflict(_ takesOut: Bool) throws {
    let container = try flights(.nullify)
    let context = container.newBackgroundContext()
    let (first, second) = (try context.make("Aircraft", ["name": "1"]), try context.make("Aircraft", ["name": "2"]))
    let entry = try context.make("Entry", ["name": "e", "aircraft": first])
    try context.save()
    #expect(entry.value(forKey: "aircraft") as? ManagedObject === first)
    entry.setValue("mine", forKey: "name")
    let other = container.newBackgroundContext()
    let moved = try other.existingObject(with: entry.objectID)
    moved.setValue(other.object(with: second.objectID), forKey: "aircraft")
    moved.setValue("theirs", forKey: "name")
    try other.save()
    _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Aircraft"))
    if takesOut {
      try second.remove(entry, fromRelationship: "entries")
    } else {
      try first.add(entry, toRelationship: "entries")
    }
    #expect(cambiumError { try context.save() }?.code == .managedObjectMerge)
    context.mergePolicy = .overwrite
    try context.save()
    let fresh = container.newBackgroundContext()
    let stored = try fresh.existingObject(with: entry.objectID)
    #expect(stored.value(forKey: "name") as? String == "mine")
    let aircraft = try stored.objectIDs(forRelationshipNamed: "aircraft")
    // The entry shows the first one as long as it has unsaved changes, so that there is nothing to be taken out of the
    // second.
    #expect(aircraft == [first.objectID])
  }
}
