import Cambium
import CambiumTesting
import Testing

/// Hands another entity on, and no context.
final class AloofObject: ManagedObject {
  let tag: Int
  required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    tag = 7
    super.init(entity: EntityDescription(entity.name), insertInto: nil)
  }
  @Managed var name: String?
}

/// Sets values in its initializer, in place of `awakeFromInsert()`.
final class EagerObject: ManagedObject {
  required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    name = "initial"
    owner = nil
  }
  @Managed var name: String?
  @Managed var owner: EagerObject?
}

/// Makes others of its entity before it is one itself, and looks at itself in its context at once.
final class BusyObject: ManagedObject {
  /// What is done first.
  nonisolated(unsafe) static var beginning: ((EntityDescription) -> ManagedObject?)?
  let helper: ManagedObject?
  var seenName: String?
  var isItself = false
  required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    let beginning = Self.beginning
    Self.beginning = nil
    helper = beginning?(entity)
    Self.beginning = beginning
    super.init(entity: entity, insertInto: context)
    seenName = name
    isItself = managedObjectContext?.object(with: objectID) === self
  }
  @Managed var name: String?
}

/// The initializer that an application's class may override, when objects are made of rows.
@Suite(.serialized) struct ObjectInitializerTests {
  private func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Aloof", class: AloofObject.self) { Attribute("name", .string) }
      Entity("Eager", class: EagerObject.self) {
        Attribute("name", .string)
        ToOne("owner", "Eager", inverse: "owned")
        ToMany("owned", "Eager", inverse: "owner")
      }
      Entity("Busy", class: BusyObject.self) { Attribute("name", .string) }
      Entity("Helper") { Attribute("name", .string) }
    }
  }

  private func insert(_ entity: String, into container: PersistentContainer) throws -> [ManagedObjectID] {
    let context = container.newBackgroundContext()
    var request = BatchInsertRequest(entityName: entity, objects: (0..<3).map { ["name": "\($0)"] })
    request.resultType = .objectIDs
    return try context.execute(request).objectIDs
  }

  @Test func anObjectWhoseClassHandsNoContextOnIsThatOfItsRow() throws {
    let container = try memoryContainer(model())
    let ids = try insert("Aloof", into: container)
    let context = container.newBackgroundContext()
    let fault = try #require(context.object(with: ids[1]) as? AloofObject)
    #expect(fault.isFault && fault.tag == 7 && fault.objectID == ids[1])
    let found = try context.fetch(FetchRequest<AloofObject>(entityName: "Aloof"))
    #expect(found.map { $0.name } == ["0", "1", "2"])
    #expect(found[1] === fault)
    #expect(found.allSatisfy { $0.managedObjectContext === context && $0.entity.name == "Aloof" })
    #expect(!context.hasChanges)
    // What is inserted by hand is as it was.
    let new = AloofObject(entity: found[0].entity, insertInto: context)
    #expect(new.managedObjectContext == nil && !new.isInserted && new.entity.name == "Aloof")
    context.insert(new)
    #expect(new.isInserted)
    new.name = "new"
    try context.save()
    #expect(try context.count(for: FetchRequest<AloofObject>(entityName: "Aloof")) == 4)
  }

  @Test func whatAnInitializerSetsIsOfNewObjectsOnly() throws {
    let container = try memoryContainer(model())
    let ids = try insert("Eager", into: container)
    let context = container.newBackgroundContext()
    let told = Locked(0)
    let observation = context.observe { _ in told.withLock { $0 += 1 } }
    defer { withExtendedLifetime(observation) {} }
    let fault = try #require(context.object(with: ids[0]) as? EagerObject)
    #expect(fault.name == "0")
    let found = try context.fetch(FetchRequest<EagerObject>(entityName: "Eager"))
    #expect(found.map { $0.name } == ["0", "1", "2"])
    #expect(!context.hasChanges && context.updatedObjects.isEmpty)
    #expect(found.allSatisfy { $0.changedValues().isEmpty && !$0.hasChanges })
    context.processPendingChanges()
    #expect(told.withLock { $0 } == 0)
    let new = EagerObject(context: context)
    #expect(new.name == "initial" && new.isInserted)
    try context.save()
    let names = try context.fetch(FetchRequest<EagerObject>(entityName: "Eager")).map { $0.name }
    #expect(names == ["0", "1", "2", "initial"])
  }

  @Test func anInitializerMayUseItsContext() throws {
    let container = try memoryContainer(model())
    let ids = try insert("Busy", into: container)
    let context = container.newBackgroundContext()
    defer { BusyObject.beginning = nil }
    // An object of the same entity that is none of a row.
    BusyObject.beginning = { ManagedObject(entity: $0, insertInto: nil) }
    let request = FetchRequest<BusyObject>(entityName: "Busy")
    var found = try context.fetch(request)
    #expect(found.map { $0.seenName } == ["0", "1", "2"])
    #expect(found.allSatisfy { $0.isItself && $0.helper?.managedObjectContext == nil })
    #expect(found.allSatisfy { $0.helper?.entity === $0.entity })
    // Another row of the same entity, met on the way.
    context.reset()
    BusyObject.beginning = { _ in context.object(with: ids[2]) }
    found = try context.fetch(request)
    #expect(found.map { $0.name } == ["0", "1", "2"])
    #expect(found.map { $0.objectID } == ids && found.allSatisfy { $0.managedObjectContext === context })
    #expect(found[0].helper === found[2] && found[1].helper === found[2])
    // Objects by their identifiers are made so as well.
    context.reset()
    BusyObject.beginning = { ManagedObject(entity: $0, insertInto: context) }
    let one = try #require(context.object(with: ids[1]) as? BusyObject)
    #expect(one.name == "1" && one.objectID == ids[1])
    #expect(one.entity === container.managedObjectModel.entitiesByName["Busy"])
    #expect(one.helper?.isInserted == true && one.helper?.entity === one.entity)
    #expect(context.insertedObjects == Set([one.helper].compactMap { $0 }))
  }

  @Test func anObjectThatCannotBeInsertedKeepsItsEntity() throws {
    let container = try memoryContainer(model())
    let context = container.newBackgroundContext()
    let entity = EntityDescription("Unknown")
    let object = ManagedObject(entity: entity, insertInto: context)
    #expect(object.entity === entity && object.managedObjectContext == nil)
    #expect(context.recordedErrors.map { $0.code } == [.invalidArgument])
    let free = ManagedObject(entity: entity, insertInto: nil)
    #expect(free.entity === entity && free.objectID.isTemporaryID)
  }
}
