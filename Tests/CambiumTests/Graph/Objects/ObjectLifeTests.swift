import Cambium
import Foundation
import Testing

/// Counts how often it was told that it was read.
final class AwakeningObject: ManagedObject {
  nonisolated(unsafe) static var awakenings = 0
  override func awakeFromFetch() { Self.awakenings += 1 }
  @Managed var name: String?
}

/// Counts how many there are.
final class CountedObject: ManagedObject {
  nonisolated(unsafe) static var living = 0
  required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    Self.living += 1
    super.init(entity: entity, insertInto: context)
  }
  deinit { Self.living -= 1 }
}

/// What objects are told of, and how long they live.
@Suite(.serialized) struct ObjectLifeTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("A", class: AwakeningObject.self) {
        Attribute("name", .string)
        ToOne("owner", "A", inverse: "things")
        ToMany("things", "A", inverse: "owner")
      }
      Entity("L", class: CountedObject.self) {
        Attribute("name", .string)
        Attribute("pal", .transformable, transient: true)
        Fetched("same", "L", where: "name == 'x'")
      }
    }
  }

  @Test func aFaultThatIsRefreshedStaysOne() throws {
    let container = try memoryContainer(model())
    do {
      let c = container.newBackgroundContext()
      try c.make("A", ["name": "a"])
      try c.save()
    }
    let c = container.newBackgroundContext()
    let a = try #require(try c.fetch(FetchRequest<AwakeningObject>(entityName: "A")).first)
    #expect(a.isFault)
    AwakeningObject.awakenings = 0
    c.refresh(a, mergeChanges: true)
    #expect(a.isFault, "refresh(mergeChanges: true) of a fault: isFault")
    #expect(a.name == "a")
    #expect(AwakeningObject.awakenings == 1, "awakeFromFetch after refresh of a fault")
  }

  @Test func aFaultWhoseChangesAreMergedStaysOne() throws {
    let container = try memoryContainer(model())
    let c1 = container.newBackgroundContext()
    try c1.make("A", ["name": "a"])
    try c1.save()
    let c = container.newBackgroundContext()
    let a = try #require(try c.fetch(FetchRequest<AwakeningObject>(entityName: "A")).first)
    AwakeningObject.awakenings = 0
    var note = ObjectIDNotification()
    note.updatedObjectIDs = [a.objectID]
    c.mergeChanges(fromContextDidSave: note)
    #expect(a.isFault, "mergeChanges of a fault: isFault")
    #expect(a.name == "a")
    #expect(AwakeningObject.awakenings == 1, "awakeFromFetch after mergeChanges of a fault")
  }

  @Test func fetchedPropertiesKeepNoObjects() throws {
    let container = try memoryContainer(model())
    CountedObject.living = 0
    do {
      let c = container.newBackgroundContext()
      try c.make("L", ["name": "x"])
      try c.save()
      let l = try #require(try c.fetch(FetchRequest<CountedObject>(entityName: "L")).first)
      _ = l.value(forKey: "same")
    }
    #expect(CountedObject.living == 0, "context gone without reset")
  }

  @Test func fetchedPropertiesKeepNoObjectsAfterReset() throws {
    let container = try memoryContainer(model())
    CountedObject.living = 0
    do {
      let c = container.newBackgroundContext()
      try c.make("L", ["name": "x"])
      try c.save()
    }
    #expect(CountedObject.living == 0)
    do {
      let c = container.newBackgroundContext()
      do {
        let l = try #require(try c.fetch(FetchRequest<CountedObject>(entityName: "L")).first)
        let same = l.value(forKey: "same") as? [ManagedObject]
        #expect(same?.first === l)
      }
      c.reset()
      #expect(CountedObject.living == 0, "fetched property that has the object, after reset")
    }
    #expect(CountedObject.living == 0, "fetched property that has the object, context gone")
  }

  @Test func transientValuesAreGivenUpByReset() throws {
    let container = try memoryContainer(model())
    CountedObject.living = 0
    do {
      let c = container.newBackgroundContext()
      do {
        let a = try c.make("L", ["name": "y"])
        let b = try c.make("L", ["name": "z"])
        try a.set(b, forKey: "pal")
        try b.set(a, forKey: "pal")
        try c.save()
      }
      c.reset()
    }
    #expect(CountedObject.living == 0, "transient values that lead to each other, after reset, context gone")
  }

  @Test func aFaultWhoseOtherSideIsSavedStaysOne() throws {
    let container = try memoryContainer(model())
    let writer = container.newBackgroundContext()
    let saved = try writer.make("A", ["name": "owner"])
    try writer.save()
    let context = container.newBackgroundContext()
    let owner = try #require(context.object(with: saved.objectID) as? AwakeningObject)
    try context.make("A", ["name": "thing", "owner": owner])
    AwakeningObject.awakenings = 0
    #expect(owner.isFault)
    try context.save()
    #expect(owner.isFault)
    #expect(owner.name == "owner")
    #expect(AwakeningObject.awakenings == 1)
  }

  @Test func aFaultThatRulesChangeInASaveIsReadAgain() throws {
    let container = try memoryContainer(model())
    let c1 = container.newBackgroundContext()
    let owner1 = try c1.make("A", ["name": "owner"])
    let thing1 = try c1.make("A", ["name": "thing"])
    try c1.save()
    let c = container.newBackgroundContext()
    let owner = c.object(with: owner1.objectID)
    _ = owner.value(forKey: "name")
    c.delete(owner)
    thing1.setValue(owner1, forKey: "owner")
    try c1.save()
    let all = try c.fetch(FetchRequest<AwakeningObject>(entityName: "A"))
    let thing = try #require(all.first { $0.objectID == thing1.objectID })
    #expect(thing.isFault)
    try c.save()
    #expect(thing.value(forKey: "owner") == nil, "owner after the delete rules of the save; a fault with its row")
  }
}
