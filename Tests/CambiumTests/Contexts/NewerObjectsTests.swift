import Testing

@testable import Cambium

/// Objects that others have saved, or changed, since the context last read: what is changed of them goes by their newest rows.
@Suite struct NewerObjectsTests {
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext

  /// - Parameter isOrdered: Whether relationships to many are ordered, where that can be.
  private init(isOrdered: Bool, deleteRule: DeleteRule = .nullify) throws {
    container = try memoryContainer(
      ManagedObjectModel {
        Entity("Node") {
          Attribute("name", .string)
          // To many first: these are read without the object's row.
          ToMany("children", "Node", inverse: "parent", ordered: isOrdered, deleteRule: deleteRule)
          ToMany("tags", "Node", inverse: "tagged", ordered: isOrdered)
          ToMany("tagged", "Node", inverse: "tags")
          ToOne("parent", "Node", inverse: "children")
          ToOne("next", "Node", inverse: "previous")
          ToOne("previous", "Node", inverse: "next")
        }
        Entity("Other") { Attribute("name", .string) }
      })
    (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
  }

  init() throws { try self.init(isOrdered: false) }

  private func isWhole(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)", sourceLocation: sourceLocation)
  }

  private func stored(_ object: ManagedObject, _ key: String) throws -> [String] {
    let fresh = container.newBackgroundContext()
    return try fresh.object(with: object.objectID).objectIDs(forRelationshipNamed: key)
      .compactMap { fresh.object(with: $0).value(forKey: "name") as? String }.sorted()
  }

  /// An object that the context has not seen is deleted by what leads to it, though the context has just read an older commit.
  @Test(arguments: [false, true], [DeleteRule.nullify, .cascade])
  func deletesWhatItHasNotSeen(isOrdered: Bool, rule: DeleteRule) throws {
    let test = try NewerObjectsTests(isOrdered: isOrdered, deleteRule: rule)
    #expect(try test.context.all("Node").isEmpty)
    let owner = try test.other.make("Node", ["name": "owner"])
    let child = try test.other.make("Node", ["name": "child"])
    try child.set(owner, forKey: "parent")
    try test.other.save()
    test.context.delete(test.context.object(with: owner.objectID))
    try test.context.save()
    try test.isWhole()
    #expect(try test.container.newBackgroundContext().all("Node").count == (rule == .cascade ? 0 : 1))
  }

  /// The object that is led to was read before others have led it elsewhere, and says that it is where it is to be.
  @Test(arguments: [false, true], [false, true]) func leadsToWhereItWas(isTaken: Bool, isEdited: Bool) throws {
    let nodes = try (0..<3).map { try context.make("Node", ["name": "n\($0)"]) }
    try nodes[0].set(nodes[1], forKey: "next")
    try context.save()
    for node in nodes { _ = (node.value(forKey: "next"), node.value(forKey: "previous")) }
    if isEdited { try nodes[1].set("edited", forKey: "name") }
    let theirs = nodes.map { other.object(with: $0.objectID) }
    try theirs[0].set(nil, forKey: "next")
    if isTaken { try theirs[2].set(theirs[1], forKey: "next") }
    try other.save()
    context.refresh(nodes[0], mergeChanges: false)
    try nodes[0].set(nodes[1], forKey: "next")
    if isEdited {
      // What others did to it is a conflict.
      #expect(throws: CambiumError.self) { try context.save() }
      context.mergePolicy = .mergeByPropertyObjectTrump
    }
    try context.save()
    try isWhole()
    #expect(try stored(nodes[0], "next") == [isEdited ? "edited" : "n1"])
    #expect(try stored(nodes[2], "next") == [])
  }

  /// The same from the side that is to many.
  @Test(arguments: [false, true], [false, true]) func putsWhereItWas(isOrdered: Bool, isEdited: Bool) throws {
    let test = try NewerObjectsTests(isOrdered: isOrdered)
    let (context, other) = (test.context, test.other)
    let nodes = try (0..<3).map { try context.make("Node", ["name": "n\($0)"]) }
    try nodes[0].add(nodes[1], toRelationship: "children")
    try context.save()
    for node in nodes { _ = node.value(forKey: "parent") }
    if isEdited { try nodes[1].set("edited", forKey: "name") }
    let theirs = nodes.map { other.object(with: $0.objectID) }
    try theirs[1].set(theirs[2], forKey: "parent")
    try other.save()
    context.refresh(nodes[0], mergeChanges: false)
    try nodes[0].add(nodes[1], toRelationship: "children")
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    try test.isWhole()
    #expect(try test.stored(nodes[0], "children") == [isEdited ? "edited" : "n1"])
  }

  /// What is added to an object that was never read is added to what it has by now.
  @Test(arguments: [false, true]) func addsToWhatItHasNotRead(isOrdered: Bool) throws {
    let test = try NewerObjectsTests(isOrdered: isOrdered)
    let known = try test.context.make("Node", ["name": "known"])
    try test.context.save()
    _ = try test.context.all("Node")
    let (owner, tag) = (try test.other.make("Node", ["name": "owner"]), try test.other.make("Node", ["name": "tag"]))
    try owner.add(tag, toRelationship: "tags")
    try test.other.save()
    try test.context.object(with: owner.objectID).add(known, toRelationship: "tags")
    try test.context.save()
    try test.isWhole()
    #expect(try test.stored(owner, "tags") == ["known", "tag"])
    #expect(try test.stored(tag, "tagged") == ["owner"])
  }

  /// To add to an object that others have deleted changes nothing at all.
  @Test(arguments: ["add", "set"]) func addsToWhatIsGone(way: String) throws {
    let test = try NewerObjectsTests(isOrdered: true)
    let (context, other) = (test.context, test.other)
    let (owner, child) = (try other.make("Node", ["name": "owner"]), try other.make("Node", ["name": "child"]))
    try child.set(child, forKey: "parent")
    try other.save()
    let (mine, its) = (context.object(with: owner.objectID), context.object(with: child.objectID))
    other.delete(owner)
    try other.save()
    #expect {
      if way == "add" { try mine.add(its, toRelationship: "children") } else { try mine.set([its], forKey: "children") }
    } throws: {
      ($0 as? CambiumError)?.code == .managedObjectReferentialIntegrity
    }
    #expect(!context.hasChanges)
    #expect(try its.objectIDs(forRelationshipNamed: "children") == [child.objectID])
    try context.save()
    try test.isWhole()
  }
}
