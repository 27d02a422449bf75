import Testing

@testable import Cambium

/// Objects with unsaved changes stay based on the row that they were read from, while the context goes on to newer rows
/// of others: what these lead to, and no longer lead to, has to agree when all is saved.
@Suite struct NewerRowTests {
  /// How what is saved comes to be based on newer rows.
  enum Way: CaseIterable {
    case objectTrump, storeTrump, overwrite, rollback, refresh

    var policy: MergePolicy {
      switch self {
      case .objectTrump: .mergeByPropertyObjectTrump
      case .storeTrump: .mergeByPropertyStoreTrump
      case .overwrite: .overwrite
      case .rollback: .rollback
      case .refresh: .error
      }
    }
  }

  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Entity("Node") {
        Attribute("name", .string)
        ToOne("next", "Node", inverse: "previous")
        ToOne("previous", "Node", inverse: "next")
        ToMany("friends", "Node", inverse: "friendOf", ordered: true)
        ToMany("friendOf", "Node", inverse: "friends")
        ToMany("likes", "Node", inverse: "likedBy", ordered: true)
        ToMany("likedBy", "Node", inverse: "likes", ordered: true)
        ToMany("children", "Node", inverse: "parent", ordered: true)
        ToOne("parent", "Node", inverse: "children")
        ToMany("tags", "Node", inverse: "tagged")
        ToMany("tagged", "Node", inverse: "tags")
      }
    }
    container = try directory.container(model: model)
    (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
  }

  /// Objects named 0 and on, saved, and read by the context.
  private func nodes(_ count: Int) throws -> [ManagedObject] {
    let made = try (0..<count).map { try context.make("Node", ["name": "\($0)"]) }
    try context.save()
    for object in made { _ = object.value(forKey: "name") }
    return made
  }

  private func theirs(_ object: ManagedObject) -> ManagedObject { other.object(with: object.objectID) }

  private func names(_ object: ManagedObject, _ key: String) -> [String] {
    let value = object.value(forKey: key)
    let objects = value as? [ManagedObject] ?? (value as? Set<ManagedObject>).map { Array($0) } ?? []
    let all = objects + ((value as? ManagedObject).map { [$0] } ?? [])
    return all.map { $0.value(forKey: "name") as? String ?? "" }.sorted()
  }

  private func inverse(of key: String) throws -> String {
    let node = container.managedObjectModel.entitiesByName["Node"]
    return try #require(node?.relationshipsByName[key]?.inverseRelationship?.name)
  }

  /// Nothing in the store leads one way, or nowhere.
  private func isWhole(sourceLocation: SourceLocation = #_sourceLocation) throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      let report = try store.check()
      #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)", sourceLocation: sourceLocation)
    }
  }

  @Test(arguments: Way.allCases, ["next", "friends", "friendOf", "likes", "children", "tags"])
  func deletesWhatOthersHaveLedItTo(_ way: Way, key: String) throws {
    for readsAll in [false, true] {
      context.mergePolicy = way.policy
      let objects = try nodes(2)
      try objects[0].set("edited", forKey: "name")
      if key == "next" {
        try theirs(objects[0]).set(theirs(objects[1]), forKey: key)
      } else {
        try theirs(objects[0]).add(theirs(objects[1]), toRelationship: key)
      }
      try other.save()
      if readsAll { _ = try context.all("Node") }
      context.delete(objects[1])
      if way == .refresh { for object in objects { context.refresh(object, mergeChanges: true) } }
      try context.save()
      let fresh = container.newBackgroundContext()
      #expect(try fresh.object(with: objects[0].objectID).count(ofRelationship: key) == 0)
      try isWhole()
      // The context has what is stored, and no conflict with itself.
      #expect(try objects[0].count(ofRelationship: key) == 0)
      try objects[0].set("again", forKey: "name")
      try context.save()
    }
  }

  /// The same where the other object has no changes, and is only older than what the context has read since.
  @Test(arguments: ["next", "friends", "likes", "children"]) func deletesWhatAnOlderObjectLeadsTo(key: String) throws {
    let objects = try nodes(2)
    if key == "next" {
      try theirs(objects[0]).set(theirs(objects[1]), forKey: key)
    } else {
      try theirs(objects[0]).add(theirs(objects[1]), toRelationship: key)
    }
    try other.save()
    let request = FetchRequest<ManagedObject>(entityName: "Node")
    request.predicate = try FetchPredicate(format: "name == '1'")
    #expect(try context.fetch(request).count == 1)
    context.delete(objects[1])
    try context.save()
    let fresh = container.newBackgroundContext()
    #expect(try fresh.object(with: objects[0].objectID).count(ofRelationship: key) == 0)
    try isWhole()
  }

  @Test(arguments: Way.allCases, [false, true]) func movesTheOneOfTwo(_ way: Way, isEdited: Bool) throws {
    context.mergePolicy = way.policy
    let objects = try nodes(3)
    if isEdited { try objects[0].set("edited", forKey: "name") }
    try theirs(objects[0]).set(theirs(objects[1]), forKey: "next")
    try other.save()
    let request = FetchRequest<ManagedObject>(entityName: "Node")
    request.predicate = try FetchPredicate(format: "name == '1'")
    #expect(try context.fetch(request).count == 1)
    try objects[1].set(objects[2], forKey: "previous")
    if way == .refresh { context.refresh(objects[0], mergeChanges: true) }
    try context.save()
    try isWhole()
    let fresh = container.newBackgroundContext()
    if way == .objectTrump || way == .refresh || way == .overwrite {
      #expect(names(fresh.object(with: objects[1].objectID), "previous") == ["2"])
    }
    for object in objects {
      for key in ["next", "previous"] { #expect(names(object, key) == names(fresh.object(with: object.objectID), key)) }
    }
  }

  @Test func undoLeavesWhatWasMergedAlone() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.undoManager = ContextUndoManager()
    let objects = try nodes(3)
    context.undoManager?.removeAllActions()
    try objects[0].add(objects[1], toRelationship: "friends")
    try theirs(objects[0]).add(theirs(objects[2]), toRelationship: "friends")
    try other.save()
    try context.save()
    #expect(names(objects[0], "friends") == ["1", "2"])
    context.undo()
    try context.save()
    #expect(names(objects[0], "friends") == ["1", "2"] && names(objects[2], "friendOf") == ["0"])
    try isWhole()
    // What others have changed besides relationships forgets nothing.
    try objects[0].remove(objects[1], fromRelationship: "friends")
    try theirs(objects[0]).set("theirs", forKey: "name")
    try other.save()
    try context.save()
    context.undo()
    try context.save()
    #expect(names(objects[0], "friends").count == 2)
    try isWhole()
  }

  @Test func undoMakesNoChangeThatNobodyMade() throws {
    context.undoManager = ContextUndoManager()
    let objects = try nodes(4)
    try objects[0].set(objects[1], forKey: "next")
    try context.save()
    for object in objects { _ = object.value(forKey: "name") }
    try objects[1].set("edited", forKey: "name")
    context.processPendingChanges()
    try theirs(objects[2]).set(theirs(objects[1]), forKey: "next")
    try other.save()
    _ = try context.all("Node")
    try objects[1].set(objects[3], forKey: "previous")
    context.undo()
    #expect(context.updatedObjects.filter { $0.hasPersistentChangedValues } == [objects[1]])
    #expect(objects[0].changedValues().isEmpty && names(objects[0], "next").isEmpty)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    let fresh = container.newBackgroundContext()
    #expect(names(fresh.object(with: objects[1].objectID), "previous") == ["2"])
    try isWhole()
  }

  /// What is refreshed gives up its changes of relationships on both sides.
  @Test(arguments: [
    ("next", "previous"), ("previous", "next"), ("friends", "friendOf"), ("friendOf", "friends"), ("likes", "likedBy"),
    ("parent", "children"), ("children", "parent"), ("tags", "tagged"),
  ])
  func refreshingTakesBackBothSides(key: String, back: String) throws {
    let isToOne = ["next", "previous", "parent"].contains(key)
    for wasThere in [false, true] {
      let objects = try nodes(2)
      func change(_ isThere: Bool) throws {
        switch (isToOne, isThere) {
        case (true, _): try objects[0].set(isThere ? objects[1] : nil, forKey: key)
        case (false, true): try objects[0].add(objects[1], toRelationship: key)
        case (false, false): try objects[0].remove(objects[1], fromRelationship: key)
        }
      }
      try change(wasThere)
      try context.save()
      try change(!wasThere)
      context.refresh(objects[0], mergeChanges: false)
      try context.save()
      try isWhole()
      // Where it is the other side alone that is stored, that side's change stays.
      if key != "children" {
        #expect(names(objects[0], key) == (wasThere ? ["1"] : []))
        #expect(names(objects[1], back) == (wasThere ? ["0"] : []))
      }
    }
  }

  // MARK: What AgreementTests found, in short

  /// What others have put into what was refreshed is not taken back by undoing what was there before.
  @Test(arguments: ["next", "children", "friendOf", "likes"], [false, true])
  func undoAfterRefreshing(key: String, isSaved: Bool) throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.undoManager = ContextUndoManager()
    let objects = try nodes(3)
    context.undoManager?.removeAllActions()
    func lead(_ from: ManagedObject, _ to: ManagedObject) throws {
      if key == "next" { try from.set(to, forKey: key) } else { try from.add(to, toRelationship: key) }
    }
    try lead(objects[0], objects[1])
    if isSaved { try context.save() } else { context.processPendingChanges() }
    try lead(theirs(objects[0]), theirs(objects[2]))
    try lead(theirs(objects[2]), theirs(objects[1]))
    try other.save()
    context.refreshAllObjects()
    for _ in 0..<2 { context.undo() }
    try context.save()
    try isWhole()
    #expect(context.recordedErrors.isEmpty)
  }

  /// Where others had led it already, an event has one side alone: undoing it takes both back.
  @Test(arguments: ["previous", "parent", "friendOf", "friends", "likes", "tags"])
  func undoWhatOthersHadDoneBefore(key: String) throws {
    context.mergePolicy = .mergeByPropertyStoreTrump
    context.undoManager = ContextUndoManager()
    let objects = try nodes(2)
    context.undoManager?.removeAllActions()
    try objects[0].set("edited", forKey: "name")
    context.processPendingChanges()
    func lead(_ from: ManagedObject, _ to: ManagedObject) throws {
      if key == "previous" || key == "parent" {
        try from.set(to, forKey: key)
      } else {
        try from.add(to, toRelationship: key)
      }
    }
    try lead(theirs(objects[0]), theirs(objects[1]))
    try other.save()
    context.refresh(objects[1], mergeChanges: false)
    #expect(objects[1].value(forKey: "name") as? String == "1")
    try lead(objects[0], objects[1])
    try context.save()
    try isWhole()
    context.undo()
    try context.save()
    try isWhole()
    context.refreshAllObjects()
    let counts = [
      try objects[0].count(ofRelationship: key), try objects[1].count(ofRelationship: try inverse(of: key)),
    ]
    #expect(counts[0] == counts[1])
    #expect(context.recordedErrors.isEmpty)
  }

  /// A list that was changed back and forth over a newer one is compared with what is stored on both sides.
  @Test func aListThatCameAndWent() throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    let one = try nodes(1)[0]
    try one.set("edited", forKey: "name")
    try theirs(one).add(theirs(one), toRelationship: "friends")
    try other.save()
    _ = try context.all("Node")
    try one.remove(one, fromRelationship: "friendOf")
    try theirs(one).remove(theirs(one), fromRelationship: "friends")
    try one.add(one, toRelationship: "friends")
    try other.save()
    try context.save()
    try isWhole()
    let fresh = container.newBackgroundContext()
    // Nothing was changed in effect, so that what others have done stands.
    #expect(try fresh.object(with: one.objectID).count(ofRelationship: "friendOf") == 0)
  }

  /// To take back an unsaved change that others have made as well is a change of what is stored by then.
  @Test(arguments: [false, true]) func cancelsWhatOthersHaveDoneAsWell(isThere: Bool) throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    let objects = try nodes(2)
    func change(_ from: ManagedObject, _ to: ManagedObject, _ isThere: Bool) throws {
      if isThere { try from.add(to, toRelationship: "tags") } else { try from.remove(to, fromRelationship: "tags") }
    }
    try change(objects[0], objects[1], isThere)
    try context.save()
    try change(objects[0], objects[1], !isThere)
    _ = try other.all("Node")
    try change(theirs(objects[0]), theirs(objects[1]), !isThere)
    try other.save()
    _ = try context.all("Node")
    try change(objects[0], objects[1], isThere)
    #expect(names(objects[0], "tags") == (isThere ? ["1"] : []))
    #expect(names(objects[1], "tagged") == (isThere ? ["0"] : []))
    try context.save()
    try isWhole()
    let fresh = container.newBackgroundContext()
    #expect(names(fresh.object(with: objects[0].objectID), "tags") == (isThere ? ["1"] : []))
  }

  /// What comes back with what others had led it to before it was deleted leads there both ways.
  @Test(arguments: ["friends", "friendOf", "likes", "tags", "children"], [false, true])
  func comesBackWithWhatOthersGaveIt(key: String, isRead: Bool) throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.undoManager = ContextUndoManager()
    let objects = try nodes(2)
    context.undoManager?.removeAllActions()
    context.delete(objects[1])
    context.processPendingChanges()
    try theirs(objects[1]).add(theirs(objects[0]), toRelationship: key)
    try other.save()
    if isRead { _ = try context.all("Node") }
    try context.save()
    try isWhole()
    context.undo()
    // Both ways at once, and not only when it is saved.
    #expect(names(objects[1], key) == (isRead ? ["0"] : []))
    #expect(try names(objects[0], inverse(of: key)) == (isRead ? ["1"] : []))
    try context.save()
    try isWhole()
    #expect(try context.all("Node").count == 2)
  }

  /// What leads again to what comes back does so both ways, if others have taken it out since it was deleted.
  @Test(arguments: ["friends", "friendOf", "likes", "tags", "children"], [false, true])
  func comesBackIntoWhatOthersTookItOutOf(key: String, isRead: Bool) throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.undoManager = ContextUndoManager()
    let objects = try nodes(2)
    try objects[0].add(objects[1], toRelationship: key)
    try context.save()
    for object in objects { _ = object.value(forKey: key) }
    context.undoManager?.removeAllActions()
    context.delete(objects[1])
    context.processPendingChanges()
    _ = try other.all("Node")
    try theirs(objects[0]).remove(theirs(objects[1]), fromRelationship: key)
    try other.save()
    if isRead { _ = try context.all("Node") }
    try context.save()
    try isWhole()
    context.undo()
    #expect(try names(objects[0], key) == ["1"] && names(objects[1], inverse(of: key)) == ["0"])
    try context.save()
    try isWhole()
    let fresh = container.newBackgroundContext()
    #expect(names(fresh.object(with: objects[0].objectID), key) == ["1"])
  }

  /// A deletion that is based on a newer row later on has its rules applied to what that leads to.
  @Test(arguments: ["friends", "next", "likes"]) func deletionsThatAreRebased(key: String) throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    let objects = try nodes(2)
    if key == "next" {
      try objects[0].set(objects[0], forKey: key)
      try theirs(objects[0]).set(theirs(objects[1]), forKey: key)
    } else {
      try objects[0].add(objects[0], toRelationship: key)
      try theirs(objects[0]).add(theirs(objects[1]), toRelationship: key)
    }
    try other.save()
    // The context is at the newest commit, and the object is not.
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Node")) == 2)
    context.delete(objects[0])
    context.mergeChanges(fromContextDidSave: ObjectIDNotification(updated: Set(objects.map { $0.objectID })))
    try context.save()
    try isWhole()
  }

  /// What others have put under an object that has unsaved changes, and is deleted, is let go of where it was put.
  @Test(arguments: [MergePolicy.overwrite, .mergeByPropertyStoreTrump]) func deletesWhatOthersHavePutElsewhere(
    policy: MergePolicy
  ) throws {
    context.mergePolicy = policy
    let objects = try nodes(4)
    try theirs(objects[3]).set(theirs(objects[2]), forKey: "parent")
    try objects[0].add(objects[3], toRelationship: "tags")
    try other.save()
    try context.execute(BatchDeleteRequest(objectIDs: [objects[1].objectID]))
    _ = try context.all("Node")
    context.delete(objects[3])
    try context.save()
    try isWhole()
    let fresh = container.newBackgroundContext()
    #expect(try fresh.object(with: objects[2].objectID).count(ofRelationship: "children") == 0)
  }
}
