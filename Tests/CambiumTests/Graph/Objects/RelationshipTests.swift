import Cambium
import Foundation
import Testing

@Suite struct RelationshipTests {
  private func set(_ object: ManagedObject, _ key: String) -> Set<ManagedObject> {
    object.value(forKey: key) as? Set<ManagedObject> ?? []
  }

  @Test func oneToManyKeepsBothSides() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container().viewContext
      let a = try context.make("Aircraft", ["tailNumber": "A"])
      let b = try context.make("Aircraft", ["tailNumber": "B"])
      let entry = try context.make("LogEntry", ["number": 1, "aircraft": a])
      let second = try context.make("LogEntry", ["number": 2])
      #expect(set(a, "logEntries") == [entry])
      try a.add(second, toRelationship: "logEntries")
      #expect(second.value(forKey: "aircraft") as? ManagedObject === a)
      try entry.set(b, forKey: "aircraft")
      #expect(set(a, "logEntries") == [second])
      #expect(set(b, "logEntries") == [entry])
      try context.save()
      try b.set(Set([entry, second]), forKey: "logEntries")
      #expect(set(a, "logEntries").isEmpty)
      #expect(second.value(forKey: "aircraft") as? ManagedObject === b)
      try context.save()
      try b.remove(entry, fromRelationship: "logEntries")
      #expect(entry.value(forKey: "aircraft") == nil)
      try context.save()
    }
    let context = try directory.container().viewContext
    let b = try #require(try context.all("Aircraft", "tailNumber == 'B'").first)
    #expect(set(b, "logEntries").map { $0.value(forKey: "number") as? Int } == [2])
    #expect(try b.count(ofRelationship: "logEntries") == 1)
    #expect(try context.all("LogEntry", "aircraft == nil").count == 1)
    #expect(try context.all("LogEntry", "aircraft == %@", [b]).count == 1)
    #expect(try context.all("LogEntry", "aircraft == %@", [b.objectID]).count == 1)
    #expect(try context.all("LogEntry", "aircraft.tailNumber == 'B'").count == 1)
  }

  @Test func oneToOne() throws {
    let container = try memoryContainer()
    let context = container.viewContext
    let ada = try context.make("Pilot", ["name": "Ada"])
    let bob = try context.make("Pilot", ["name": "Bob"])
    let licence = try context.make("Licence", ["number": "1", "pilot": ada])
    #expect(ada.value(forKey: "licence") as? ManagedObject === licence)
    try context.save()
    try bob.set(licence, forKey: "licence")
    #expect(ada.value(forKey: "licence") == nil)
    #expect(licence.value(forKey: "pilot") as? ManagedObject === bob)
    try context.save()
    let other = container.newBackgroundContext()
    try other.performAndWait {
      let found = try #require(try other.all("Licence", "pilot.name == 'Bob'").first)
      #expect(found.value(forKeyPath: "pilot.licence.number") as? String == "1")
      #expect(try other.all("Pilot", "licence == nil").map { $0.value(forKey: "name") as? String } == ["Ada"])
    }
  }

  @Test func manyToMany() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container().viewContext
      let pilots = try (0..<3).map { try context.make("Pilot", ["name": "P\($0)"]) }
      let entries = try (0..<3).map { try context.make("LogEntry", ["number": $0]) }
      try entries[0].set(pilots, forKey: "pilots")
      try pilots[0].set(entries, forKey: "logEntries")
      #expect(set(entries[2], "pilots") == [pilots[0]])
      try context.save()
      try pilots[0].remove(entries[0], fromRelationship: "logEntries")
      #expect(set(entries[0], "pilots") == [pilots[1], pilots[2]])
      try context.save()
      context.delete(pilots[1])
      try context.save()
    }
    let context = try directory.container().viewContext
    let entry = try #require(try context.all("LogEntry", "number == 0").first)
    #expect(set(entry, "pilots").map { $0.value(forKey: "name") as? String } == ["P2"])
    let pilot = try #require(try context.all("Pilot", "name == 'P0'").first)
    #expect(Set(set(pilot, "logEntries").compactMap { $0.value(forKey: "number") as? Int }) == [1, 2])
  }

  @Test func ordered() throws {
    let directory = try TemporaryDirectory()
    do {
      let context = try directory.container().viewContext
      let pilot = try context.make("Pilot", ["name": "Ada"])
      let titles = ["c", "a", "b"]
      let all = try titles.map { try context.make("Endorsement", ["title": $0]) }
      try pilot.set(all, forKey: "endorsements")
      #expect(all[1].value(forKey: "pilot") as? ManagedObject === pilot)
      try context.save()
      try pilot.set([all[2], all[0], all[1]], forKey: "endorsements")
      try context.save()
    }
    let context = try directory.container().viewContext
    let pilot = try #require(try context.all("Pilot").first)
    #expect(pilot.value(forKeyPath: "endorsements.title") as? [String] == ["b", "c", "a"])
    let first = try #require((pilot.value(forKey: "endorsements") as? [ManagedObject])?.first)
    try first.set(nil, forKey: "pilot")
    #expect(pilot.value(forKeyPath: "endorsements.title") as? [String] == ["c", "a"])
    try context.save()
    #expect(pilot.value(forKeyPath: "endorsements.title") as? [String] == ["c", "a"])
  }

  @Test func deleteRules() throws {
    let context = try memoryContainer().viewContext
    let aircraft = try context.make("Aircraft", ["tailNumber": "A"])
    let origin = try context.make("Airport", ["faaIdentifier": "SFO"])
    let destination = try context.make("Airport", ["faaIdentifier": "OAK"])
    let entry = try context.make("LogEntry", ["aircraft": aircraft, "origin": origin, "destination": destination])
    try context.save()

    context.delete(destination)
    let denied = cambiumError { try context.save() }
    #expect(denied?.code == .validationRelationshipDeniedDelete)
    #expect(denied?.key == "arrivals")
    context.rollback()

    context.delete(origin)
    #expect(entry.value(forKey: "origin") == nil)
    try context.save()
    #expect(try context.all("Airport").count == 1)

    context.delete(aircraft)
    #expect(entry.isDeleted)
    #expect(try destination.count(ofRelationship: "arrivals") == 0)
    context.delete(destination)
    try context.save()
    #expect(try context.all("LogEntry").isEmpty && context.all("Airport").isEmpty && context.all("Aircraft").isEmpty)
  }

  @Test func noActionLeavesTheOtherSide() throws {
    let model = try ManagedObjectModel {
      Entity("A") { ToMany("bs", "B", inverse: "a", deleteRule: .noAction) }
      Entity("B") { ToOne("a", "A", inverse: "bs") }
    }
    let context = try memoryContainer(model).viewContext
    let a = try context.make("A", [:])
    let b = try context.make("B", ["a": a])
    try context.save()
    context.delete(a)
    try context.save()
    #expect((b.value(forKey: "a") as? ManagedObject)?.objectID == a.objectID)
  }

  @Test func wrongDestinations() throws {
    let container = try memoryContainer()
    let context = container.viewContext
    let entry = try context.make("LogEntry", [:])
    let pilot = try context.make("Pilot", ["name": "Ada"])
    #expect(cambiumError { try entry.set(pilot, forKey: "aircraft") }?.code == .invalidArgument)
    #expect(cambiumError { try entry.set("text", forKey: "aircraft") }?.code == .invalidArgument)
    let other = container.newBackgroundContext()
    try other.performAndWait {
      let foreign = try other.make("Aircraft", [:])
      #expect(cambiumError { try entry.set(foreign, forKey: "aircraft") }?.code == .invalidArgument)
    }
    #expect(entry.value(forKey: "aircraft") == nil)
  }
}
