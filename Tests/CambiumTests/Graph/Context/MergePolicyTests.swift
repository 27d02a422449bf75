import Cambium
import Foundation
import Testing

/// What merge policies do to relationships: both sides agree afterwards, whichever of the objects others have changed.
@Suite struct MergePolicyTests {
  private static let inverses = [
    ("Aircraft", "engine", "aircraft"), ("Engine", "aircraft", "engine"), ("Aircraft", "home", "based"),
    ("Airport", "based", "home"), ("Aircraft", "notes", "aircraft"), ("Note", "aircraft", "notes"),
    ("Aircraft", "crew", "flies"), ("Pilot", "flies", "crew"),
  ]

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aircraft") {
        Attribute("name", .string)
        Attribute("type", .string)
        ToOne("home", "Airport", inverse: "based")
        ToOne("engine", "Engine", inverse: "aircraft")
        ToMany("notes", "Note", inverse: "aircraft", ordered: true)
        ToMany("crew", "Pilot", inverse: "flies")
        Unique("name")
      }
      Entity("Airport") {
        Attribute("name", .string)
        ToMany("based", "Aircraft", inverse: "home")
      }
      Entity("Engine") {
        Attribute("name", .string)
        ToOne("aircraft", "Aircraft", inverse: "engine")
      }
      Entity("Note") {
        Attribute("name", .string)
        ToOne("aircraft", "Aircraft", inverse: "notes")
      }
      Entity("Pilot") {
        Attribute("name", .string)
        ToMany("flies", "Aircraft", inverse: "crew")
      }
    }
  }

  /// A store in a file with an aircraft "a" that has the first of each, and three of each; "b" has nothing.
  private final class Fixture {
    let directory: TemporaryDirectory
    let container: PersistentContainer
    let theirs: ManagedObjectContext
    let mine: ManagedObjectContext

    init(_ policy: MergePolicy) throws {
      directory = try TemporaryDirectory()
      container = try directory.container(model: MergePolicyTests.model())
      theirs = container.newBackgroundContext()
      mine = container.newBackgroundContext()
      mine.mergePolicy = policy
      let a = try theirs.make("Aircraft", ["name": "a", "type": "A320"])
      try theirs.make("Aircraft", ["name": "b"])
      for number in 1...3 {
        let airport = try theirs.make("Airport", ["name": "h\(number)"])
        let engine = try theirs.make("Engine", ["name": "e\(number)"])
        let note = try theirs.make("Note", ["name": "n\(number)"])
        let pilot = try theirs.make("Pilot", ["name": "p\(number)"])
        guard number == 1 else { continue }
        try a.set(airport, forKey: "home")
        try a.set(engine, forKey: "engine")
        try a.add(note, toRelationship: "notes")
        try a.add(pilot, toRelationship: "crew")
      }
      try theirs.save()
      // Both have read everything.
      for context in [mine, theirs] {
        for entity in ["Aircraft", "Airport", "Engine", "Note", "Pilot"] {
          for object in try context.all(entity) { _ = object.value(forKey: "name") }
        }
      }
    }

    func find(_ entity: String, _ name: String, in context: ManagedObjectContext) throws -> ManagedObject {
      try #require(try context.all(entity, "name == %@", [name]).first)
    }

    /// Has an aircraft lead to the objects of a number.
    func lead(_ name: String = "a", to number: Int, in context: ManagedObjectContext) throws {
      let object = try find("Aircraft", name, in: context)
      try object.set(try find("Airport", "h\(number)", in: context), forKey: "home")
      try object.set(try find("Engine", "e\(number)", in: context), forKey: "engine")
      try object.add(try find("Note", "n\(number)", in: context), toRelationship: "notes")
      try object.add(try find("Pilot", "p\(number)", in: context), toRelationship: "crew")
    }

    /// What is in the store, as another container on the file reads it; both sides of everything agree.
    func read(_ name: String = "a") throws -> String {
      let context = try directory.container(model: MergePolicyTests.model()).newBackgroundContext()
      for (entity, key, back) in MergePolicyTests.inverses {
        for object in try context.all(entity) {
          for id in try object.objectIDs(forRelationshipNamed: key) {
            let there = try context.existingObject(with: id)
            let leadsBack = try there.objectIDs(forRelationshipNamed: back).contains(object.objectID)
            #expect(leadsBack, "\(entity).\(key) leads from \(object.objectID) to \(id), which does not lead back")
          }
        }
      }
      guard let object = try context.all("Aircraft", "name == %@", [name]).first else { return "gone" }
      func names(_ key: String) throws -> String {
        let names = try object.objectIDs(forRelationshipNamed: key)
          .map { "\(context.object(with: $0).value(forKey: "name") ?? "-")" }
        return (key == "notes" ? names : names.sorted()).joined(separator: " ")
      }
      let type = object.value(forKey: "type") as? String ?? "-"
      return ([type] + (try ["home", "engine", "notes", "crew"].map { try names($0) })).joined(separator: ", ")
    }
  }

  /// A policy that is not plain.
  private final class Own: MergePolicy, @unchecked Sendable {}

  private static let kinds: [MergePolicy.MergePolicyType] = [
    .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
  ]

  /// Both have an aircraft lead elsewhere.
  @Test(arguments: kinds, [true, false])
  func relationshipsThatBothChanged(kind: MergePolicy.MergePolicyType, isPlain: Bool) throws {
    let fixture = try Fixture(isPlain ? MergePolicy(merge: kind) : Own(merge: kind))
    try fixture.lead(to: 3, in: fixture.mine)
    try fixture.lead(to: 2, in: fixture.theirs)
    try fixture.theirs.save()
    try fixture.mine.save()
    #expect(!fixture.mine.hasChanges && fixture.mine.recordedErrors.isEmpty)
    let expected =
      switch kind {
      case .mergeByPropertyStoreTrump: "A320, h2, e2, n1 n2 n3, p1 p2 p3"
      case .overwrite: "A320, h3, e3, n1 n3, p1 p2 p3"
      case .rollback: "A320, h2, e2, n1 n2, p1 p2"
      default: "A320, h3, e3, n1 n3 n2, p1 p2 p3"
      }
    #expect(try fixture.read() == expected)
    // So the context has it.
    let object = try fixture.find("Aircraft", "a", in: fixture.mine)
    #expect(object.value(forKeyPath: "engine.name") as? String == (expected.contains("e3") ? "e3" : "e2"))
  }

  /// What came of one is kept though the other only took something away.
  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump])
  func destinationsThatWent(policy: MergePolicy) throws {
    let fixture = try Fixture(policy)
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    let object = try fixture.find("Aircraft", "a", in: mine)
    try object.remove(try fixture.find("Pilot", "p1", in: mine), fromRelationship: "crew")
    try object.remove(try fixture.find("Note", "n1", in: mine), fromRelationship: "notes")
    try fixture.lead(to: 2, in: theirs)
    try theirs.save()
    try mine.save()
    #expect(try fixture.read() == "A320, h2, e2, n2, p2")
  }

  /// Changes of relationships of an object of which others have changed something else.
  @Test(arguments: [true, false])
  func rollbackTakesBothSidesBack(isPlain: Bool) throws {
    let fixture = try Fixture(isPlain ? .rollback : Own(merge: .rollback))
    try fixture.lead(to: 3, in: fixture.mine)
    try fixture.find("Pilot", "p3", in: fixture.mine).set("mine", forKey: "name")
    try fixture.find("Aircraft", "a", in: fixture.theirs).set("B737", forKey: "type")
    try fixture.theirs.save()
    try fixture.mine.save()
    #expect(!fixture.mine.hasChanges)
    #expect(try fixture.read() == "B737, h1, e1, n1, p1")
    // What is no change of the object is saved.
    let reader = fixture.container.newBackgroundContext()
    let names = try reader.all("Pilot").map { $0.value(forKey: "name") as? String }
    #expect(Set(names) == ["p1", "p2", "mine"])
  }

  @Test func rollbackOfAChild() throws {
    let fixture = try Fixture(.error)
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: fixture.mine)
    child.mergePolicy = .rollback
    for entity in ["Aircraft", "Engine", "Note", "Pilot"] {
      for object in try child.all(entity) { _ = object.value(forKey: "name") }
    }
    try fixture.lead(to: 3, in: child)
    try fixture.find("Aircraft", "a", in: fixture.mine).set("B737", forKey: "type")
    try child.save()
    try fixture.mine.save()
    #expect(!child.hasChanges)
    #expect(try fixture.read() == "B737, h1, e1, n1, p1")
  }

  @Test func rollbackOfValuesThatAreNotUnique() throws {
    let fixture = try Fixture(.rollback)
    try fixture.lead("b", to: 3, in: fixture.mine)
    try fixture.find("Aircraft", "b", in: fixture.mine).set("a", forKey: "name")
    try fixture.mine.save()
    #expect(try fixture.read("b") == "-, , , , " && fixture.read() == "A320, h1, e1, n1, p1")
  }

  /// Nothing leads to an object that others have deleted.
  @Test(arguments: kinds) func objectsThatAreGone(kind: MergePolicy.MergePolicyType) throws {
    let fixture = try Fixture(MergePolicy(merge: kind))
    try fixture.lead("b", to: 3, in: fixture.mine)
    fixture.theirs.delete(try fixture.find("Aircraft", "b", in: fixture.theirs))
    try fixture.theirs.save()
    try fixture.mine.save()
    #expect(!fixture.mine.hasChanges)
    #expect(try fixture.read("b") == "gone" && fixture.read() == "A320, h1, e1, n1, p1")
    let engine = try fixture.find("Engine", "e3", in: fixture.mine)
    #expect(engine.value(forKey: "aircraft") == nil)
  }

  /// The whole object is saved, also what leads elsewhere in the store by now.
  @Test(arguments: [true, false]) func overwriteOfRelationships(isPlain: Bool) throws {
    let fixture = try Fixture(isPlain ? .overwrite : Own(merge: .overwrite))
    try fixture.find("Aircraft", "a", in: fixture.mine).set("mine", forKey: "type")
    try fixture.lead(to: 2, in: fixture.theirs)
    try fixture.lead("b", to: 1, in: fixture.theirs)
    try fixture.theirs.save()
    try fixture.mine.save()
    #expect(try fixture.read() == "mine, h1, e1, n1, p1 p2")
    #expect(try fixture.read("b") == "-, h1, , , p1")
  }

  /// A destination of the whole object may be gone.
  @Test func overwriteWithoutWhatIsGone() throws {
    let fixture = try Fixture(.overwrite)
    try fixture.find("Aircraft", "a", in: fixture.mine).set("mine", forKey: "type")
    for (entity, name) in [("Engine", "e1"), ("Airport", "h1"), ("Note", "n1")] {
      fixture.theirs.delete(try fixture.find(entity, name, in: fixture.theirs))
    }
    try fixture.theirs.save()
    try fixture.mine.save()
    #expect(try fixture.read() == "mine, , , , p1")
  }

  /// A deletion that is brought up to date is based on the newest row: what is saved after that is a conflict.
  @Test(arguments: 0..<4) func deletionsCanBeRefreshed(way: Int) throws {
    let fixture = try Fixture(.error)
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    let object = try fixture.find("Aircraft", "b", in: mine)
    let there = try fixture.find("Aircraft", "b", in: theirs)
    func refresh() {
      switch way {
      case 0: mine.refresh(object, mergeChanges: true)
      case 1: mine.refresh(object, mergeChanges: false)
      case 2: mine.refreshAllObjects()
      default:
        var saved = ObjectIDNotification()
        saved.updatedObjectIDs = [object.objectID]
        mine.mergeChanges(fromContextDidSave: saved)
      }
    }
    mine.delete(object)
    try there.set("B737", forKey: "type")
    try theirs.save()
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
    refresh()
    try there.set("B747", forKey: "type")
    try theirs.save()
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
    refresh()
    #expect(mine.deletedObjects == [object])
    try mine.save()
    #expect(try fixture.read("b") == "gone" && !mine.hasChanges)
  }

  /// So is one of an object that others have deleted as well.
  @Test func deletionsOfWhatIsGone() throws {
    let fixture = try Fixture(.error)
    let object = try fixture.find("Aircraft", "b", in: fixture.mine)
    fixture.mine.delete(object)
    fixture.theirs.delete(try fixture.find("Aircraft", "b", in: fixture.theirs))
    try fixture.theirs.save()
    fixture.mine.refresh(object, mergeChanges: true)
    #expect(fixture.mine.recordedErrors.isEmpty)
    try fixture.mine.save()
    #expect(try fixture.read("b") == "gone" && !fixture.mine.hasChanges)
  }
}
