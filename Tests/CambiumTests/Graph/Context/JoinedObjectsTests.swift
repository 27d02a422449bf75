import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// A merge policy finds that new objects are others that there are: what children have of them, and what can no longer
/// be undone.
@Suite struct JoinedObjectsTests {
  private let container: PersistentContainer
  private let root: ManagedObjectContext
  private let child: ManagedObjectContext

  init() throws {
    let model = try ManagedObjectModel {
      Entity("Item") {
        Attribute("number", .integer64)
        Attribute("name", .string)
        Attribute("code", .string)
        ToOne("parent", "Item", inverse: "children")
        ToMany("children", "Item", inverse: "parent")
        ToMany("tags", "Tag", inverse: "items")
        Unique("code")
        Unique("number")
      }
      Entity("Tag") {
        Attribute("name", .string)
        ToMany("items", "Item", inverse: "tags")
      }
    }
    container = try memoryContainer(model)
    root = container.newBackgroundContext()
    root.mergePolicy = .mergeByPropertyObjectTrump
    child = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
  }

  private func stored(_ values: [String: Any?]) throws -> ManagedObjectID {
    let context = container.newBackgroundContext()
    let object = try context.make("Item", values)
    try context.save()
    return object.objectID
  }

  private func names() throws -> [String] {
    let context = container.newBackgroundContext()
    return try context.all("Item").map { $0.value(forKey: "name") as? String ?? "" }.sorted()
  }

  /// An insertion that came to be a change of a stored object is not undone by deleting that; in a child of a child as
  /// well.
  @Test(arguments: [false, true]) func undoInAChild(isGrandchild: Bool) throws {
    let id = try stored(["code": "A", "name": "stored"])
    let context = isGrandchild ? ManagedObjectContext(concurrencyType: .privateQueue, parent: child) : child
    context.undoManager = ContextUndoManager()
    let new = try context.make("Item", ["code": "A", "name": "new"])
    func save() throws {
      for one in isGrandchild ? [context, child, root] : [child, root] { try one.save() }
    }
    try save()
    #expect(new.objectID == id)
    context.undo()
    try save()
    #expect(try names() == ["new"])
  }

  /// A child that has the stored object as well has one object of it in the end, with what was changed in either.
  @Test(arguments: [false, true], [false, true])
  func oneObjectInAChild(isKnownToRoot: Bool, isMerging: Bool) async throws {
    let id = try stored(["code": "A", "name": "stored", "number": 1])
    let (root, child) = (root, child)
    child.automaticallyMergesChangesFromParent = isMerging
    let request = FetchRequest<ManagedObject>(entityName: "Item")
    request.sortDescriptors = [FetchSortDescriptor(key: "code")]
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: child)
    try child.performAndWait { try controller.performFetch() }
    let old = try #require(controller.fetchedObjects?.first)
    #expect(old.objectID == id && old.value(forKey: "name") as? String == "stored")
    let known = isKnownToRoot ? try root.existingObject(with: id) : nil
    let new = try child.make("Item", ["code": "A", "name": "new"])
    try child.save()
    // Of what has to go, the change stays.
    try new.set("changed", forKey: "name")
    try root.save()
    for context in [root, child, root, child] { await context.perform {} }
    try child.performAndWait {
      #expect(child.registeredObject(for: id) === old)
      #expect(new.managedObjectContext == nil && new.isDeleted && !child.updatedObjects.contains(new))
      #expect(old.value(forKey: "name") as? String == "changed" && old.value(forKey: "number") as? Int == 1)
      #expect(controller.fetchedObjects == [old])
      #expect(try child.all("Item") == [old])
      try child.save()
    }
    try root.save()
    #expect(try names() == ["changed"] && child.recordedErrors.isEmpty && root.recordedErrors.isEmpty)
    try old.set("again", forKey: "name")
    try child.save()
    try root.save()
    #expect(try names() == ["again"])
    withExtendedLifetime(known) {}
  }

  /// Where two stored objects would have to become one, nothing is done about any of the conflicts.
  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite]) func aSaveThatThrowsChangesNothing(
    _ policy: MergePolicy
  ) throws {
    let context = root
    context.mergePolicy = policy
    let first = try context.make("Item", ["code": "A", "number": 1, "name": "s1"])
    try context.make("Item", ["code": "B", "number": 2, "name": "s2"])
    try context.make("Item", ["code": "C", "name": "s3"])
    try context.save()
    context.undoManager = ContextUndoManager()
    let new = try context.make("Item", ["code": "A", "number": 2, "name": "new"])
    let kid = try context.make("Item", ["name": "kid", "parent": new])
    let tag = try context.make("Tag", ["name": "tag"])
    try tag.add(new, toRelationship: "items")
    // A conflict that could be decided by itself.
    let third = try context.make("Item", ["code": "C", "name": "new s3"])
    let error = cambiumError { try context.save() }
    #expect(error?.code == .managedObjectConstraintMerge && error?.constraintConflicts.isEmpty == false)
    #expect(new.isInserted && !new.isDeleted && third.isInserted && context.insertedObjects.count == 4)
    #expect(kid.value(forKey: "parent") as? ManagedObject === new)
    #expect(tag.value(forKey: "items") as? Set<ManagedObject> == [new])
    #expect(first.value(forKey: "name") as? String == "s1" && context.undoManager?.canUndo == true)
    #expect(try names() == ["s1", "s2", "s3"])
    // It can be put right.
    try new.set("D", forKey: "code")
    try new.set(4, forKey: "number")
    try context.save()
    #expect(try names() == ["kid", "new", "new s3", "s1", "s2"])
  }

  /// Objects of several entities are no one either, and are found before anything is done.
  @Test func severalEntitiesAreFoundBefore() throws {
    let model = try ManagedObjectModel {
      Entity("Thing") {
        Attribute("code", .string)
        Unique("code")
      }
      Entity("Special", parent: "Thing") {}
    }
    let container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.make("Thing", ["code": "A"])
    try context.make("Thing", ["code": "B"])
    try context.save()
    let (plain, special) = (try context.make("Thing", ["code": "A"]), try context.make("Special", ["code": "B"]))
    #expect(cambiumError { try context.save() }?.code == .managedObjectConstraintMerge)
    #expect(plain.isInserted && special.isInserted)
  }

  /// A list of a child's that has both objects has the one that they became once.
  @Test func listsHaveJoinedObjectsOnce() throws {
    let container = try memoryContainer(
      ManagedObjectModel {
        Entity("Item") {
          Attribute("name", .string)
          Attribute("code", .string)
          ToOne("parent", "Item", inverse: "children")
          ToMany("children", "Item", inverse: "parent", ordered: true)
          Unique("code")
        }
      })
    let other = container.newBackgroundContext()
    let stored = try other.make("Item", ["code": "A", "name": "stored"])
    try other.save()
    let root = container.newBackgroundContext()
    root.mergePolicy = .mergeByPropertyObjectTrump
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
    let new = try root.make("Item", ["code": "A", "name": "new"])
    try new.set(new, forKey: "parent")
    root.processPendingChanges()
    let (mine, its) = (child.object(with: new.objectID), child.object(with: stored.objectID))
    try mine.add(its, toRelationship: "children")
    try root.save()
    try child.save()
    try root.save()
    let fresh = container.newBackgroundContext()
    #expect(try fresh.object(with: stored.objectID).objectIDs(forRelationshipNamed: "children") == [stored.objectID])
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
  }
}
