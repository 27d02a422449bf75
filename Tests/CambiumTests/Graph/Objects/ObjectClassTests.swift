import Cambium
import Testing

private final class Shelf: ManagedObject {
  @Managed var boxes: Set<Box>
}

private final class Box: ManagedObject {
  @Managed var shelf: Shelf?
  @Managed var others: [Shelf]
}

private final class Crate: ManagedObject {}

/// The class of an entity is named in the model, or fixed for the coordinator when it is used first. Whether somebody
/// holds an object makes no difference.
@Suite struct ObjectClassTests {
  private static func model(shelfClass: ManagedObject.Type? = nil) throws -> ManagedObjectModel {
    let others = FetchedPropertyDescription("others", fetchRequest: FetchRequestTemplate(entityName: "Shelf"))
    let model = try ManagedObjectModel {
      Entity("Shelf") { ToMany("boxes", "Box", inverse: "shelf") }
      Entity("Box") { ToOne("shelf", "Shelf", inverse: "boxes") }
      Entity("Wide", parent: "Shelf") {}
    }
    model.entitiesByName["Box"]?.properties.append(others)
    model.entitiesByName["Shelf"]?.managedObjectClass = shelfClass
    return model
  }

  /// A store with a box on a shelf, whose contexts have made no objects yet.
  private func container(
    _ directory: TemporaryDirectory, shelfClass: ManagedObject.Type? = nil
  ) throws -> PersistentContainer {
    do {
      let context = try directory.container(model: Self.model()).newBackgroundContext()
      let box = try context.make("Box", [:])
      try box.set(try context.make("Shelf", [:]), forKey: "shelf")
      try context.save()
    }
    return try directory.container(model: Self.model(shelfClass: shelfClass))
  }

  private func box(in context: ManagedObjectContext) throws -> Box {
    try #require(try context.fetch(FetchRequest<Box>(entityName: "Box")).first)
  }

  /// How a context makes an object of the entity without using its class.
  enum PlainUse: CaseIterable {
    case fetch, value, identifier, insertion, initializer, push

    func make(_ context: ManagedObjectContext, _ box: ManagedObject) throws -> ManagedObject? {
      switch self {
      case .fetch: return try context.all("Shelf").first
      case .value: return box.value(forKey: "shelf") as? ManagedObject
      case .identifier:
        let ids = try context.fetch(FetchRequest<ManagedObjectID>(entityName: "Shelf"))
        return ids.first.map { context.object(with: $0) }
      case .insertion: return try context.make("Shelf", [:])
      case .initializer: return ManagedObject(entity: try #require(box.shelfEntity), insertInto: context)
      case .push:
        let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
        let shelf = try child.make("Shelf", [:])
        try child.save()
        return shelf
      }
    }
  }

  @Test(arguments: PlainUse.allCases, [false, true]) func isRefusedAfterPlainObjects(_ use: PlainUse, isHeld: Bool)
    throws
  {
    let directory = try TemporaryDirectory()
    let container = try container(directory)
    let maker = container.newBackgroundContext()
    var held: [ManagedObject?] = []
    let made = try use.make(maker, try box(in: maker))
    #expect(made.map { type(of: $0) == ManagedObject.self } == true)
    if isHeld { held = [made] }
    defer { withExtendedLifetime(held) {} }
    for context in [maker, container.newBackgroundContext()] {
      let box = try box(in: context)
      #expect(box.shelf == nil && box.others.isEmpty)
      #expect(context.recordedErrors.allSatisfy { $0.code == .invalidArgument && $0.message.contains("in the model") })
      #expect(context.recordedErrors.count == 2)
      let refused = cambiumError { _ = try context.fetch(FetchRequest<Shelf>(entityName: "Shelf")) }
      #expect(
        refused?.message
          == "objects of 'Shelf' are of class ManagedObject, not Shelf; name the class in the model, or use it before the first "
          + "object is made")
      // The object is of no use, as one of an entity that no store has.
      let new = Shelf(context: context)
      #expect(new.managedObjectContext == nil && !new.isInserted && new.entity.name == "Shelf")
      #expect(cambiumError { try context.save() }?.message.contains("in the model") == true)
      #expect(box.value(forKey: "shelf") as? ManagedObject != nil)
    }
  }

  /// How a context uses the class of the entity.
  enum Use: CaseIterable {
    case toOne, toOneOfAChild, fetch, fetchWithoutName, fetchedProperty, initializer, entityInitializer
  }

  @Test(arguments: Use.allCases) func isFixedByTheFirstUse(_ use: Use) throws {
    let directory = try TemporaryDirectory()
    let container = try container(directory)
    let context = container.newBackgroundContext()
    switch use {
    case .toOne: #expect(try box(in: context).shelf != nil)
    case .toOneOfAChild:
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
      #expect(try box(in: child).shelf != nil)
    case .fetch: #expect(try context.fetch(FetchRequest<Shelf>(entityName: "Shelf")).count == 1)
    case .fetchWithoutName: #expect(try context.fetch(FetchRequest<Shelf>()).count == 1)
    case .fetchedProperty: #expect(try box(in: context).others.count == 1)
    case .initializer: #expect(Shelf(context: context).isInserted)
    case .entityInitializer:
      let entity = try #require(try box(in: context).shelfEntity)
      let early = Shelf(entity: entity, insertInto: nil)
      context.insert(early)
      #expect(early.isInserted)
    }
    // All objects of the coordinator are of the class from then on.
    let other = container.newBackgroundContext()
    #expect(try other.all("Shelf").allSatisfy { $0 is Shelf })
    #expect(try other.make("Shelf", [:]) is Shelf)
    #expect(try box(in: other).shelf?.boxes.count == 1)
    #expect(other.recordedErrors.isEmpty && context.recordedErrors.isEmpty)
  }

  /// An inserted object is of its entity's class, because objects of its row are. A plain one is allowed where the
  /// model names the class.
  @Test(arguments: [false, true]) func isThatOfInsertedObjects(isNamed: Bool) throws {
    let directory = try TemporaryDirectory()
    let container = try container(directory, shelfClass: isNamed ? Shelf.self : nil)
    let context = container.newBackgroundContext()
    let shelf = Shelf(context: context)
    #expect(shelf.isInserted)
    let plain = ManagedObject(entity: shelf.entity, insertInto: context)
    #expect(plain.isInserted == isNamed)
    if !isNamed { #expect(cambiumError { try context.save() }?.code == .invalidArgument) }
    #expect(Crate(entity: shelf.entity, insertInto: context).managedObjectContext == nil)
    #expect(cambiumError { try context.save() }?.code == .invalidArgument)
    try context.save()
    #expect(try context.count(for: FetchRequest<Shelf>(entityName: "Shelf")) == (isNamed ? 3 : 2))
    #expect(try container.newBackgroundContext().all("Shelf").allSatisfy { $0 is Shelf })
  }

  /// The classes of an entity and of one that inherits from it are fixed each by itself.
  @Test func isOfOneEntity() throws {
    let directory = try TemporaryDirectory()
    let container = try container(directory)
    let context = container.newBackgroundContext()
    #expect(try box(in: context).shelf != nil)
    #expect(try context.make("Wide", [:]).isInserted)
    #expect(try context.all("Wide").allSatisfy { type(of: $0) == ManagedObject.self })
    // A class that stands for one entity is not used for another by mistake.
    #expect(cambiumError { _ = try context.fetch(FetchRequest<Box>(entityName: "Wide")) }?.code == .invalidArgument)
  }

  /// The first use counts for all contexts of the coordinator, on whatever threads.
  @Test func isOneForAllThreads() async throws {
    let directory = try TemporaryDirectory()
    let container = try container(directory)
    let classes = await withTaskGroup(of: Bool?.self) { group in
      for place in 0..<8 {
        group.addTask {
          let context = container.newBackgroundContext()
          return await context.perform {
            if place.isMultiple(of: 2) { return try? context.all("Shelf").first.map { $0 is Shelf } }
            return (try? context.fetch(FetchRequest<Shelf>(entityName: "Shelf"))).map { _ in true }
          }
        }
      }
      var all: [Bool?] = []
      for await isShelf in group { all.append(isShelf) }
      return all
    }
    // Where plain objects came first, each typed fetch is refused.
    #expect(Set(classes.compactMap { $0 }).count == 1)
    #expect(classes.contains(true) ? !classes.contains(nil) : classes.filter { $0 == nil }.count == 4)
  }
}

extension ManagedObject {
  fileprivate var shelfEntity: EntityDescription? { entity.relationshipsByName["shelf"]?.destinationEntity }
}
