import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// A context that is reset by what it calls while it makes objects: by initializers, and by objects at their end.
@Suite(.serialized) struct ResetMeanwhileTests {
  /// Does something at its end.
  final class Ender: ManagedObject {
    nonisolated(unsafe) static var atEnd: (() -> Void)?
    @Managed var name: String?
    deinit { Self.atEnd?() }
  }

  /// Does something while it is made.
  final class Beginner: ManagedObject {
    nonisolated(unsafe) static var atBeginning: ((EntityDescription) -> Void)?
    required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
      let work = Self.atBeginning
      Self.atBeginning = nil
      work?(entity)
      super.init(entity: entity, insertInto: context)
    }
    @Managed var name: String?
    @Managed var next: Beginner?
    @Managed var owned: Beginner?
  }

  private func model() throws -> ManagedObjectModel {
    let model = try ManagedObjectModel {
      Entity("Ender", class: Ender.self) { Attribute("name", .string) }
      Entity("Beginner", class: Beginner.self) {
        Attribute("name", .string)
        ToOne("next", "Beginner")
        ToOne("owned", "Beginner", inverse: "owner", deleteRule: .cascade)
        ToOne("owner", "Beginner", inverse: "owned")
      }
      Entity("Other") {
        Attribute("name", .string, default: "none")
        Attribute("number", .integer32, default: 7)
      }
    }
    let entities = model.entitiesByName
    model.setEntities(["Beginner"].compactMap { entities[$0] }, forConfigurationName: "Begun")
    model.setEntities(["Other", "Ender"].compactMap { entities[$0] }, forConfigurationName: "Rest")
    return model
  }

  private func fill(_ entity: String, _ count: Int, _ container: PersistentContainer) throws -> [ManagedObjectID] {
    var request = BatchInsertRequest(entityName: entity, objects: (0..<count).map { ["name": "\($0)"] })
    request.resultType = .objectIDs
    return try container.newBackgroundContext().execute(request).objectIDs
  }

  /// A sweep lets objects go, one of which resets the context that is about to insert one.
  @Test(arguments: [true, false]) func anEndResetsTheContextThatInserts(byClass: Bool) throws {
    defer { Ender.atEnd = nil }
    let container = try memoryContainer(model())
    _ = try fill("Ender", 600, container)
    let context = container.newBackgroundContext()
    // In one block, at whose end the context would look for what is not held.
    try context.performAndWait {
      for _ in 0..<3 {
        #expect(try context.fetch(FetchRequest<Ender>()).count == 600)
        var resets = 0
        Ender.atEnd = {
          Ender.atEnd = nil
          resets += 1
          context.reset()
        }
        var made: [ManagedObject] = []
        while resets == 0, made.count < 5_000 {
          made.append(
            byClass ? Ender(context: context) : try context.insertNewObject(forEntityName: "Other"))
        }
        #expect(resets == 1)
        // Those before the reset are of no use. The one during which it came is the context's.
        #expect(!made.isEmpty)
        let last = made.removeLast()
        #expect(made.allSatisfy { $0.managedObjectContext == nil })
        #expect(context.insertedObjects == [last] && last.isInserted && last.managedObjectContext === context)
        if !byClass {
          #expect(last.value(forKey: "name") as? String == "none" && last.value(forKey: "number") as? Int == 7)
        }
        #expect(context.registeredObject(for: last.objectID) === last)
        last.setValue("kept", forKey: "name")
        try context.save()
        #expect(try context.all(byClass ? "Ender" : "Other", "name == 'kept'") == [last])
        context.delete(last)
        try context.save()
        context.reset()
      }
    }
  }

  /// The same while objects of rows are made.
  @Test func anEndResetsTheContextThatFetches() throws {
    defer { Ender.atEnd = nil }
    let container = try memoryContainer(model())
    let ids = try fill("Beginner", 900, container)
    _ = try fill("Ender", 600, container)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let count = try context.fetch(FetchRequest<Ender>()).count
      #expect(count == 600)
      Ender.atEnd = {
        Ender.atEnd = nil
        context.reset()
      }
      // The first one is what the context looks for what is not held before.
      let objects = ids.map { id in context.object(with: id) }
      #expect(Ender.atEnd == nil)
      let living = objects.filter { $0.managedObjectContext === context }
      #expect(living.count == ids.count)
      #expect(living.allSatisfy { context.registeredObject(for: $0.objectID) === $0 })
      #expect(living.allSatisfy { $0.value(forKey: "name") != nil })
    }
  }

  /// Objects that somebody holds from before are of no use behind a reset, and are not what a fetch gives.
  @Test(arguments: [true, false]) func aResetBehindHeldObjects(fetchesWithin: Bool) throws {
    defer { Beginner.atBeginning = nil }
    let container = try memoryContainer(model())
    let ids = try fill("Beginner", 60, container)
    let context = container.newBackgroundContext()
    let held = ids[40...].map { context.object(with: $0) }
    var inner: [Beginner] = []
    var failure: (any Error)?
    Beginner.atBeginning = { _ in
      context.reset()
      if fetchesWithin { do { inner = try context.fetch(FetchRequest<Beginner>()) } catch { failure = error } }
    }
    let found = try context.fetch(FetchRequest<Beginner>())
    #expect(failure == nil && Beginner.atBeginning == nil)
    #expect(found.map { $0.name } == (0..<60).map { "\($0)" })
    #expect(
      found.allSatisfy { $0.managedObjectContext === context && context.registeredObject(for: $0.objectID) === $0 })
    #expect(held.allSatisfy { $0.managedObjectContext == nil })
    #expect(!fetchesWithin || inner == found)
  }

  /// A context that goes on with what it made objects with before a reset still knows in which stores they are.
  @Test(arguments: 0..<3) func aResetBetweenTwoStores(way: Int) throws {
    defer { Beginner.atBeginning = nil }
    let directory = try TemporaryDirectory()
    let container = try directory.container(model(), configurations: ["Begun", "Rest"])
    let ids = try fill("Beginner", 3, container)
    let context = container.newBackgroundContext()
    if way == 2 {
      let objects = ids.map { context.object(with: $0) }
      (objects[0] as? Beginner)?.next = objects[1] as? Beginner
      (objects[1] as? Beginner)?.next = objects[2] as? Beginner
      try context.save()
      context.reset()
    }
    let changed: Beginner?
    switch way {
    case 0:
      Beginner.atBeginning = { _ in context.reset() }
      changed = try context.fetch(FetchRequest<Beginner>()).last
    case 1:
      Beginner.atBeginning = { _ in context.reset() }
      changed = context.object(with: ids[2]) as? Beginner
    default:
      let second = (context.object(with: ids[0]) as? Beginner)?.next
      Beginner.atBeginning = { _ in context.reset() }
      changed = second?.next
    }
    #expect(Beginner.atBeginning == nil && changed?.objectID == ids[2] && changed?.managedObjectContext === context)
    // The other store is the first that the context hears of again.
    try context.make("Other", ["name": "new"])
    changed?.name = "changed"
    try context.save()
    let reading = container.newBackgroundContext()
    #expect(try reading.all("Beginner").map { $0.value(forKey: "name") as? String } == ["0", "1", "changed"])
    #expect(try reading.all("Other").map { $0.value(forKey: "name") as? String } == ["new"])
  }

  /// An object that is being deleted when a reset comes is not.
  @Test func aResetWhileRulesAreApplied() throws {
    defer { Beginner.atBeginning = nil }
    let container = try memoryContainer(model())
    let ids = try fill("Beginner", 3, container)
    let context = container.newBackgroundContext()
    let objects = ids.compactMap { context.object(with: $0) as? Beginner }
    objects[0].owned = objects[1]
    objects[1].owned = objects[2]
    try context.save()
    context.reset()
    let doomed = context.object(with: ids[0])
    var resets = 0
    Beginner.atBeginning = { _ in
      resets += 1
      context.reset()
    }
    context.delete(doomed)
    #expect(resets == 1 && context.deletedObjects.isEmpty && !context.hasChanges)
    try context.save()
    let reading = container.newBackgroundContext()
    let left = try reading.all("Beginner")
    #expect(left.count == 3 && left[0].value(forKey: "owned") as? ManagedObject === left[1])
    // And is when none comes.
    context.delete(context.object(with: ids[0]))
    #expect(context.deletedObjects.count == 3)
    try context.save()
    #expect(try container.newBackgroundContext().all("Beginner").isEmpty)
  }

  /// An initializer may keep the entity that it is handed, and make objects with it elsewhere when all else is gone.
  @Test func whatAnObjectIsMadeWithMayBeKept() throws {
    defer { Beginner.atBeginning = nil }
    let model = try model()
    var kept: EntityDescription?
    do {
      let container = try memoryContainer(model)
      _ = try fill("Beginner", 1, container)
      Beginner.atBeginning = { kept = $0 }
      #expect(try container.newBackgroundContext().all("Beginner").count == 1)
    }
    let entity = try #require(kept)
    kept = nil
    let free = Beginner(entity: entity, insertInto: nil)
    #expect(free.entity.name == "Beginner" && free.managedObjectContext == nil && free.objectID.isTemporaryID)
    let other = try memoryContainer(model).newBackgroundContext()
    let new = Beginner(entity: entity, insertInto: other)
    new.name = "b"
    #expect(new.managedObjectContext === other)
    try other.save()
    #expect(try other.all("Beginner", "name == 'b'") == [new])
  }
}
