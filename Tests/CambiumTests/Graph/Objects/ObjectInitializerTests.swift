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
    (owner, partner, peers, row) = (nil, nil, [], [])
  }
  @Managed var name: String?
  @Managed var owner: EagerObject?
  @Managed var owned: Set<EagerObject>
  @Managed var partner: EagerObject?
  @Managed var partnerOf: EagerObject?
  @Managed var peers: Set<EagerObject>
  @Managed var row: [EagerObject]
}

/// Has its initializer insert it into a context of its own choice.
final class WilfulObject: ManagedObject {
  nonisolated(unsafe) static var context: ManagedObjectContext?
  required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    super.init(entity: entity, insertInto: context ?? Self.context)
  }
  @Managed var name: String?
}

/// Makes others of its entity before it is one itself, and sees what it is.
final class BusyObject: ManagedObject {
  /// What is done first.
  nonisolated(unsafe) static var beginning: ((EntityDescription) -> ManagedObject?)?
  let helper: ManagedObject?
  var seenName: String?
  var seenEntity: String
  var hadContext = false
  required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    let beginning = Self.beginning
    Self.beginning = nil
    helper = beginning?(entity)
    Self.beginning = beginning
    seenEntity = entity.name
    super.init(entity: entity, insertInto: context)
    seenName = name
    if !self.entity.isKindOf(entity: entity) { seenEntity = "" }
    hadContext = managedObjectContext != nil
  }
  @Managed var name: String?
  @Managed var next: BusyObject?
}

/// Counts its objects.
class TalliedObject: ManagedObject {
  static let made = Locked(0)
  required init(entity: EntityDescription, insertInto context: ManagedObjectContext?) {
    Self.made.withLock { $0 += 1 }
    super.init(entity: entity, insertInto: context)
  }
  @Managed var name: String?
}

final class SpecialObject: TalliedObject {}

final class LeaderObject: ManagedObject {
  @Managed var led: TalliedObject?
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
        ToOne("partner", "Eager", inverse: "partnerOf")
        ToOne("partnerOf", "Eager", inverse: "partner")
        ToMany("peers", "Eager", inverse: "peersOf")
        ToMany("peersOf", "Eager", inverse: "peers")
        ToMany("row", "Eager", inverse: "rowsOf", ordered: true)
        ToMany("rowsOf", "Eager", inverse: "row")
      }
      Entity("Wilful", class: WilfulObject.self) { Attribute("name", .string) }
      Entity("Busy", class: BusyObject.self) {
        Attribute("name", .string)
        ToOne("next", "Busy")
      }
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
    let writing = container.newBackgroundContext()
    let all = try writing.fetch(FetchRequest<EagerObject>(entityName: "Eager"))
    (all[0].owner, all[0].partner, all[0].peers, all[0].row) = (all[1], all[1], [all[1], all[2]], [all[2], all[1]])
    try writing.save()
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
    #expect(found[0].owner === found[1] && found[1].partnerOf === found[0] && found[1].owned == [found[0]])
    #expect(found[0].peers == [found[1], found[2]] && found[0].row == [found[2], found[1]])
    // One whose row is gone is made as well, and is no obstacle to a save.
    let other = container.newBackgroundContext()
    other.delete(try #require(try other.fetch(FetchRequest<EagerObject>(entityName: "Eager")).last))
    try other.save()
    let late = container.newBackgroundContext()
    #expect(late.object(with: ids[2]).isFault && late.recordedErrors.isEmpty)
    try late.save()
    let new = EagerObject(context: context)
    #expect(new.name == "initial" && new.isInserted)
    try context.save()
    let names = try context.fetch(FetchRequest<EagerObject>(entityName: "Eager")).map { $0.name }
    #expect(names == ["0", "1", "initial"])
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
    #expect(found.map { $0.name } == ["0", "1", "2"])
    #expect(found.allSatisfy { $0.seenName == nil && $0.seenEntity == "Busy" && !$0.hadContext })
    #expect(found.allSatisfy { $0.helper?.managedObjectContext == nil && $0.helper !== $0 })
    #expect(found.allSatisfy { $0.helper?.entity === $0.entity })
    // One of the same class, which is none of a row either; it may be inserted.
    context.reset()
    BusyObject.beginning = { BusyObject(entity: $0, insertInto: context) }
    found = try context.fetch(request)
    #expect(found.map { $0.name } == ["0", "1", "2"] && context.insertedObjects.count == 3)
    #expect(Set(found.compactMap { $0.helper }) == context.insertedObjects)
    // The context is reset, and goes on with what is made since.
    context.reset()
    BusyObject.beginning = { _ in
      context.reset()
      return nil
    }
    let alone = try #require(context.object(with: ids[0]) as? BusyObject)
    #expect(alone.name == "0" && context.registeredObject(for: ids[0]) === alone)
    found = try context.fetch(request)
    #expect(found.last?.name == "2" && found.last.map { context.registeredObject(for: ids[2]) === $0 } == true)
    // Another row of the same entity, met on the way.
    context.reset()
    BusyObject.beginning = { _ in context.object(with: ids[2]) }
    found = try context.fetch(request)
    #expect(found.map { $0.name } == ["0", "1", "2"])
    #expect(found.map { $0.objectID } == ids && found.allSatisfy { $0.managedObjectContext === context })
    #expect(found[0].helper === found[2] && found[1].helper === found[2])
    // The row that the object is to be of.
    context.reset()
    var own: ManagedObject?
    BusyObject.beginning = { _ in
      own = context.object(with: ids[0])
      return own
    }
    let asked = context.object(with: ids[0])
    BusyObject.beginning = nil
    #expect(asked === own && asked.managedObjectContext === context)
    #expect(try context.fetch(request).first === own && context.registeredObject(for: ids[0]) === own)
    // Objects by their identifiers are made so as well.
    context.reset()
    BusyObject.beginning = { BusyObject(entity: $0, insertInto: context) }
    let one = try #require(context.object(with: ids[1]) as? BusyObject)
    #expect(one.name == "1" && one.objectID == ids[1])
    #expect(one.entity === container.managedObjectModel.entitiesByName["Busy"])
    #expect(one.helper?.isInserted == true && one.helper?.entity === one.entity)
    #expect(context.insertedObjects == Set([one.helper].compactMap { $0 }))
  }

  /// What an initializer makes beside its object, with the entity that it is handed, stays when all else is gone.
  @Test func whatAnInitializerMakesOutlivesTheContext() throws {
    defer { BusyObject.beginning = nil }
    var helpers: [ManagedObject] = []
    do {
      let container = try memoryContainer(model())
      _ = try insert("Busy", into: container)
      let context = container.newBackgroundContext()
      BusyObject.beginning = { ManagedObject(entity: $0, insertInto: nil) }
      helpers = try context.fetch(FetchRequest<BusyObject>(entityName: "Busy")).compactMap { $0.helper }
      // One behind another, each within the making of the one before.
      context.reset()
      var left = 5
      BusyObject.beginning = { entity in
        left -= 1
        let helper = ManagedObject(entity: entity, insertInto: nil)
        helpers.append(helper)
        return left > 0 ? BusyObject(entity: entity, insertInto: nil) : helper
      }
      helpers += try context.fetch(FetchRequest<BusyObject>(entityName: "Busy")).compactMap { $0.helper }
    }
    #expect(helpers.count > 8)
    #expect(helpers.allSatisfy { $0.entity.name == "Busy" && $0.managedObjectContext == nil && !$0.isInserted })
  }

  /// What objects of a relationship's destinations are made with is forgotten while one is being made.
  @Test func anInitializerMayResetTheContextThatFollowsARelationship() throws {
    let container = try memoryContainer(model())
    let ids = try insert("Busy", into: container)
    defer { BusyObject.beginning = nil }
    let writing = container.newBackgroundContext()
    let all = try writing.fetch(FetchRequest<BusyObject>(entityName: "Busy"))
    (all[0].next, all[1].next) = (all[1], all[2])
    try writing.save()
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let first = try #require(context.object(with: ids[0]) as? BusyObject)
      let second = try #require(first.next)
      #expect(second.name == "1")
      var resets = 0
      BusyObject.beginning = { _ in
        context.reset()
        resets += 1
        return nil
      }
      let third = try #require(second.next)
      #expect(resets == 1 && third.name == "2" && third.objectID == ids[2])
      #expect(third.managedObjectContext === context && context.registeredObject(for: ids[2]) === third)
      #expect(second.managedObjectContext == nil && first.managedObjectContext == nil)
    }
  }

  /// Destinations of a class that inherits from the one that the property says.
  @Test func anObjectOfASubclassIsMadeOnce() throws {
    let model = try ManagedObjectModel {
      Entity("Leader", class: LeaderObject.self) { ToOne("led", "Tallied") }
      Entity("Tallied", class: TalliedObject.self) { Attribute("name", .string) }
      Entity("Special", parent: "Tallied", class: SpecialObject.self) {}
    }
    let container = try memoryContainer(model)
    let writing = container.newBackgroundContext()
    try writing.performAndWait {
      for _ in 0..<2 { LeaderObject(context: writing).led = SpecialObject(context: writing) }
      try writing.save()
    }
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let leaders = try context.fetch(FetchRequest<LeaderObject>())
      for leader in leaders {
        let before = TalliedObject.made.withLock { $0 }
        #expect(leader.led is SpecialObject)
        #expect(TalliedObject.made.withLock { $0 } == before + 1)
      }
    }
  }

  @Test func anObjectThatInsertsItselfIsThatOfItsRow() throws {
    let container = try memoryContainer(model())
    let ids = try insert("Wilful", into: container)
    let context = container.newBackgroundContext()
    let other = container.newBackgroundContext()
    defer { WilfulObject.context = nil }
    for chosen in [context, other] {
      context.reset()
      WilfulObject.context = chosen
      let found = try context.fetch(FetchRequest<WilfulObject>(entityName: "Wilful"))
      #expect(found.map { $0.name } == ["0", "1", "2"] && found.map { $0.objectID } == ids)
      #expect(found.allSatisfy { $0.managedObjectContext === context && !$0.isInserted })
      #expect(!context.hasChanges && !other.hasChanges && other.registeredObjects.isEmpty)
    }
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
