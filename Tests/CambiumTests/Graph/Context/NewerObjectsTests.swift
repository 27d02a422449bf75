import Testing

@testable import Cambium

/// Objects that others have saved, or changed, since the context last read: what is changed of them goes by their
/// newest rows.
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
          ToOne("left", "Node", inverse: "right")
          ToOne("right", "Node", inverse: "left")
        }
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

  /// An object that the context has not seen is deleted by what leads to it, though the context has just read an older
  /// commit.
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
  @Test(arguments: [false, true]) func putsWhereItWas(isOrdered: Bool) throws {
    let test = try NewerObjectsTests(isOrdered: isOrdered)
    let (context, other) = (test.context, test.other)
    let nodes = try (0..<3).map { try context.make("Node", ["name": "n\($0)"]) }
    try nodes[0].add(nodes[1], toRelationship: "children")
    try context.save()
    for node in nodes { _ = node.value(forKey: "parent") }
    let theirs = nodes.map { other.object(with: $0.objectID) }
    try theirs[1].set(theirs[2], forKey: "parent")
    try other.save()
    context.refresh(nodes[0], mergeChanges: false)
    try nodes[0].add(nodes[1], toRelationship: "children")
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    try test.isWhole()
    #expect(try test.stored(nodes[0], "children") == ["n1"])
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

  /// Some objects named n0 and on, saved and read, and the same in the other context.
  private func nodes(_ count: Int) throws -> (mine: [ManagedObject], theirs: [ManagedObject]) {
    let mine = try (0..<count).map { try context.make("Node", ["name": "n\($0)"]) }
    try context.save()
    for node in mine { _ = node.value(forKey: "name") }
    return (mine, mine.map { other.object(with: $0.objectID) })
  }

  private func fetch(where format: String) throws -> [ManagedObject] {
    let request = FetchRequest<ManagedObject>(entityName: "Node")
    request.predicate = try FetchPredicate(format: format)
    return try context.fetch(request)
  }

  /// What is found to be gone when it is led to again has changed nothing.
  @Test func leadsToWhatIsGone() throws {
    let (mine, theirs) = try nodes(3)
    try mine[0].set(mine[1], forKey: "next")
    try context.save()
    #expect(mine[1].value(forKey: "previous") as? ManagedObject == mine[0])
    other.delete(theirs[1])
    try theirs[0].set(theirs[2], forKey: "next")
    try other.save()
    #expect(try fetch(where: "name != 'n1'").count == 2)
    #expect { try mine[0].set(mine[1], forKey: "next") } throws: {
      ($0 as? CambiumError)?.code == .managedObjectReferentialIntegrity
    }
    #expect(!context.hasChanges)
    try context.save()
    try isWhole()
    #expect(try stored(mine[0], "next") == ["n2"])
  }

  /// What is gone has nothing inserted with it that was to lead to it, or it to that.
  @Test(arguments: ["next", "children"]) func bringsNothingToWhatIsGone(key: String) throws {
    let (mine, theirs) = try nodes(2)
    context.refresh(mine[1], mergeChanges: false)
    other.delete(theirs[1])
    try other.save()
    let early = ManagedObject(entity: mine[0].entity, insertInto: nil)
    let (owner, value): (ManagedObject, Any) = key == "next" ? (mine[1], early) : (mine[0], [early, mine[1]])
    #expect(throws: CambiumError.self) { try owner.set(value, forKey: key) }
    #expect(context.insertedObjects.isEmpty)
    #expect(!context.hasChanges)
  }

  /// What others have put under an object denies its deletion, though the context has an older row of it.
  @Test(arguments: [false, true]) func isDeniedByWhatOthersPutThere(isOrdered: Bool) throws {
    let test = try NewerObjectsTests(isOrdered: isOrdered, deleteRule: .deny)
    let (mine, theirs) = try test.nodes(3)
    try mine[0].add(mine[1], toRelationship: "children")
    try test.context.save()
    #expect(mine[1].value(forKey: "parent") as? ManagedObject == mine[0])
    try theirs[1].set(theirs[2], forKey: "parent")
    try test.other.save()
    #expect(try test.fetch(where: "name != 'n1'").count == 2)
    test.context.delete(mine[2])
    #expect { try test.context.save() } throws: {
      ($0 as? CambiumError)?.code == .validationRelationshipDeniedDelete
    }
    test.context.rollback()
    try test.isWhole()
  }

  /// A list that is newer than the generation that the context goes back to is added to as it is.
  @Test func addsToAListNewerThanTheGeneration() throws {
    let test = try NewerObjectsTests(isOrdered: true)
    let (mine, _) = try test.nodes(4)
    try test.other.setQueryGenerationFrom(.current)
    _ = try test.other.all("Node")
    let token = try #require(test.other.queryGenerationToken)
    try mine[0].set([mine[1], mine[2]], forKey: "children")
    try test.context.save()
    _ = try test.context.all("Node")
    for node in mine { _ = node.value(forKey: "name") }
    try test.context.setQueryGenerationFrom(token)
    try mine[0].add(mine[3], toRelationship: "children")
    try test.context.save()
    try test.isWhole()
    #expect(try test.stored(mine[0], "children") == ["n1", "n2", "n3"])
  }

  /// What is done again is by then what others have done as well: undoing takes both sides back.
  @Test(arguments: [false, true]) func undoesWhatOthersHaveDoneAsWell(isDeletedBetween: Bool) throws {
    let test = try NewerObjectsTests(isOrdered: true)
    let context = test.context
    let (mine, theirs) = try test.nodes(1)
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.undoManager = ContextUndoManager()
    try mine[0].set("edited", forKey: "name")
    context.processPendingChanges()
    try mine[0].add(mine[0], toRelationship: "tagged")
    try theirs[0].add(theirs[0], toRelationship: "tagged")
    try test.other.save()
    _ = try context.all("Node")
    context.undo()
    context.redo()
    if isDeletedBetween {
      context.delete(mine[0])
      try context.save()
      context.undo()
    }
    #expect(try mine[0].objectIDs(forRelationshipNamed: "tags") == [mine[0].objectID])
    context.undo()
    for key in ["tags", "tagged"] { #expect(try mine[0].objectIDs(forRelationshipNamed: key).isEmpty) }
    try context.save()
    try test.isWhole()
    #expect(try test.stored(mine[0], "tags") == [])
  }
}
