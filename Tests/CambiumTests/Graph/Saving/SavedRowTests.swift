import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// What others save behind a context's own save, which it has not looked at yet.
@Suite struct SavedRowTests {
  /// What the context does between its save and the next change.
  enum Meanwhile: CaseIterable {
    case nothing, look, fetchAnother, count, saveAnother, saveAnotherTwice, batch, undoManager, child
  }

  /// How it was saved: rows of few objects are read at once, those of many when the context goes on.
  enum Saved: CaseIterable {
    case inserted, updated, insertedAmongMany, updatedAmongMany

    var isInserted: Bool { self == .inserted || self == .insertedAmongMany }
    var isAmongMany: Bool { self == .insertedAmongMany || self == .updatedAmongMany }
  }

  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    container = try directory.container(model: try Self.model())
    (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Node") {
        Attribute("name", .string)
        ToMany("children", "Node", inverse: "parent")
        ToOne("parent", "Node", inverse: "children")
        ToMany("items", "Node", inverse: "lists", ordered: true)
        ToMany("lists", "Node", inverse: "items")
        ToMany("tags", "Node", inverse: "tagged")
        ToMany("tagged", "Node", inverse: "tags")
      }
      Entity("Mark") { Attribute("number", .integer64) }
      Entity("Filler") { Attribute("name", .string) }
    }
  }

  private func theirs(_ object: ManagedObject) -> ManagedObject { other.object(with: object.objectID) }

  private func name(_ object: ManagedObject) -> String? { object.value(forKey: "name") as? String }

  private func meanwhile(_ what: Meanwhile, _ object: ManagedObject) throws {
    switch what {
    case .nothing: break
    case .look: #expect(name(object) == "mine")
    case .fetchAnother: #expect(try context.all("Mark").count == 1)
    case .count: #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Mark")) == 1)
    case .saveAnother, .saveAnotherTwice:
      for number in 0..<(what == .saveAnother ? 1 : 2) {
        _ = try context.make("Node", ["name": "another \(number)"])
        try context.save()
      }
    case .batch:
      var request = BatchUpdateRequest(entityName: "Mark")
      request.propertiesToUpdate = ["number": 7]
      _ = try context.execute(request)
    case .undoManager: context.undoManager = ContextUndoManager()
    case .child:
      let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
      #expect(name(child.object(with: object.objectID)) == "mine")
    }
  }

  /// One that was saved, of whom others have saved something since.
  private func overtaken(
    _ saved: Saved, _ what: Meanwhile, by change: (ManagedObject) throws -> Void
  ) throws -> ManagedObject {
    _ = try context.make("Mark", ["number": 1])
    func makeMany() throws {
      for number in 0..<(saved.isAmongMany ? 16 : 0) {
        _ = try context.make("Filler", ["name": "\(number)"])
      }
    }
    let object = try context.make("Node", ["name": saved.isInserted ? "mine" : "old"])
    try makeMany()
    try context.save()
    if !saved.isInserted {
      try object.set("mine", forKey: "name")
      try makeMany()
      try context.save()
    }
    try change(theirs(object))
    try other.save()
    try meanwhile(what, object)
    return object
  }

  @Test(arguments: Saved.allCases, Meanwhile.allCases)
  func whatOthersSaveBehindIsAConflict(saved: Saved, what: Meanwhile) throws {
    let object = try overtaken(saved, what) { try $0.set("theirs", forKey: "name") }
    // Not read before: what is known of it is what was saved.
    try object.set("again", forKey: "name")
    let error = #expect(throws: CambiumError.self) { try context.save() }
    #expect(error?.code == .managedObjectMerge)
    let conflict = try #require(error?.conflicts.first)
    #expect(conflict.cachedSnapshot?["name"] as? String == "mine")
    #expect(conflict.persistedSnapshot?["name"] as? String == "theirs")
    context.rollback()
    context.refreshAllObjects()
    #expect(name(object) == "theirs")
    try object.set("last", forKey: "name")
    try context.save()
    other.refreshAllObjects()
    #expect(name(other.object(with: object.objectID)) == "last")
  }

  @Test(arguments: Saved.allCases, Meanwhile.allCases)
  func whatOthersDeleteBehindIsAConflict(saved: Saved, what: Meanwhile) throws {
    let object = try overtaken(saved, what) { other.delete($0) }
    #expect(!object.isDeleted && name(object) == "mine")
    try object.set("again", forKey: "name")
    let error = #expect(throws: CambiumError.self) { try context.save() }
    #expect(error?.code == .managedObjectMerge)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    let others = what == .saveAnother ? 1 : what == .saveAnotherTwice ? 2 : 0
    #expect(try other.all("Node").count == others)
  }

  /// Who reads a generation goes on to the next one with a save; what was saved is what the objects show.
  @Test(arguments: Saved.allCases) func generationsAsWell(saved: Saved) throws {
    try context.setQueryGenerationFrom(.current)
    let object = try overtaken(saved, .nothing) { try $0.set("theirs", forKey: "name") }
    try object.set("again", forKey: "name")
    #expect(throws: CambiumError.self) { try context.save() }
  }

  /// What the context asks for anew is of the newest commit, and no conflict; so are changes of others that it has
  /// merged.
  @Test func whatIsAskedForAnewIsNew() async throws {
    context.automaticallyMergesChangesFromParent = true
    let object = try context.make("Node", ["name": "mine"])
    try context.save()
    let added = try other.make("Node", ["name": "added"])
    try theirs(object).set("theirs", forKey: "name")
    try other.save()
    let found = try context.existingObject(with: added.objectID)
    #expect(name(found) == "added")
    // Blocks that take in what others have saved come first.
    await context.perform {}
    #expect(name(object) == "theirs")
    try object.set("again", forKey: "name")
    try found.set("again", forKey: "name")
    try context.save()
  }

  /// What relationships there are changed by rules is decided by the newest rows, not by those that were saved.
  enum Change: CaseIterable {
    /// Others have moved the child away.
    case deletesFormerParent, takesOutOfFormerParent, addsToFormerParent
    /// Others have put the child under it.
    case deletesParent, takesOutOfParent
    /// Others have added to the list of what was saved.
    case deletesOneOfTheList
  }

  @Test(arguments: Change.allCases)
  func relationshipsAgree(_ change: Change) throws {
    let isMovedAway = change != .deletesParent && change != .takesOutOfParent && change != .deletesOneOfTheList
    let (first, second, child, item) = (
      try context.make("Node", ["name": "first"]), try context.make("Node", ["name": "second"]),
      try context.make("Node", ["name": "child"]), try context.make("Node", ["name": "item"])
    )
    if isMovedAway { try first.add(child, toRelationship: "children") }
    try first.add(item, toRelationship: "items")
    try context.save()
    if change == .deletesOneOfTheList {
      try theirs(first).add(theirs(second), toRelationship: "items")
    } else {
      try theirs(child).set(isMovedAway ? theirs(second) : theirs(first), forKey: "parent")
    }
    try other.save()
    switch change {
    case .deletesFormerParent, .deletesParent: context.delete(first)
    case .takesOutOfFormerParent, .takesOutOfParent: try first.remove(child, fromRelationship: "children")
    case .addsToFormerParent: try first.add(child, toRelationship: "children")
    case .deletesOneOfTheList: context.delete(item)
    }
    if change == .takesOutOfFormerParent {
      // It is under the first one by what was saved here: to take it out of there is a change of that.
      #expect(cambiumError { try context.save() }?.code == .managedObjectMerge)
      context.rollback()
      context.refreshAllObjects()
      try first.remove(child, fromRelationship: "children")
    }
    try context.save()
    for store in container.persistentStoreCoordinator.persistentStores {
      let report = try store.check()
      #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
    }
    let fresh = container.newBackgroundContext()
    let parent = fresh.object(with: child.objectID).value(forKey: "parent") as? ManagedObject
    switch change {
    case .deletesFormerParent, .takesOutOfFormerParent: #expect(parent.flatMap { name($0) } == "second")
    case .addsToFormerParent: #expect(parent.flatMap { name($0) } == "first")
    case .deletesParent, .takesOutOfParent: #expect(parent == nil)
    case .deletesOneOfTheList:
      let items = fresh.object(with: first.objectID).value(forKey: "items") as? [ManagedObject]
      #expect(items?.compactMap { name($0) } == ["second"])
    }
  }

  /// A deletion is based on what was saved, as a change is.
  @Test(arguments: [true, false])
  func whatOthersSaveIsInTheWayOfADeletion(fetches: Bool) throws {
    let mark = try context.make("Mark", ["number": 1])
    try context.save()
    try theirs(mark).set(2, forKey: "number")
    try other.save()
    context.delete(mark)
    if fetches { #expect(try context.all("Node").isEmpty) }
    #expect(cambiumError { try context.save() }?.code == .managedObjectMerge)
    context.rollback()
    try mark.set(3, forKey: "number")
    #expect(cambiumError { try context.save() }?.code == .managedObjectMerge)
  }

  /// What others have deleted does not come back with an undone deletion that led to it, by a side that notes nothing
  /// of that. With a tag, also by a side that does.
  @Test(arguments: [true, false])
  func undoneDeletionLeadsToNothingThatIsGone(isTagged: Bool) throws {
    context.undoManager = ContextUndoManager()
    let (parent, child) = (try context.make("Node", ["name": "parent"]), try context.make("Node", ["name": "child"]))
    try child.set(parent, forKey: "parent")
    if isTagged { try parent.add(child, toRelationship: "tags") }
    try context.save()
    context.delete(child)
    context.processPendingChanges()
    try context.save()
    other.delete(theirs(parent))
    try other.save()
    context.undo()
    #expect(child.value(forKey: "parent") == nil)
    #expect(try child.count(ofRelationship: "tagged") == 0)
    try context.save()
    let report = try #require(container.persistentStoreCoordinator.persistentStores.first).check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
    let fresh = container.newBackgroundContext()
    #expect(try fresh.all("Node").compactMap { name($0) } == ["child"])
  }

  /// An edit of unordered relationships changes no row: a fault stays a fault, and what others do to the row is no
  /// conflict with it.
  @Test(arguments: [true, false]) func faultsStayFaults(isFetched: Bool) throws {
    let made = try (0..<2).map { try context.make("Node", ["name": "\($0)"]) }
    try context.save()
    let ids = made.map { $0.objectID }
    context.reset()
    let fetched = isFetched ? try context.all("Node") : []
    let (one, two) = (context.object(with: ids[0]), context.object(with: ids[1]))
    try one.add(two, toRelationship: "tags")
    #expect(one.isFault && two.isFault && fetched.count == (isFetched ? 2 : 0))
    try theirs(one).set("theirs", forKey: "name")
    try other.save()
    try context.save()
    #expect(one.isFault && two.isFault)
    #expect(one.value(forKey: "name") as? String == "theirs")
    #expect(try one.count(ofRelationship: "tags") == 1)
  }

  /// What was saved is shown also when its store was removed, and when that is back.
  @Test func aStoreThatWasRemoved() throws {
    let object = try context.make("Node", ["name": "mine"])
    try context.save()
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let url = try #require(store.url)
    try coordinator.remove(store)
    #expect(name(object) == "mine")
    _ = try coordinator.addPersistentStore(PersistentStoreDescription(url: url))
    #expect(name(object) == "mine")
  }

  /// A message counts as people do.
  @Test func oneObjectIsOne() throws {
    let object = try overtaken(.inserted, .nothing) { try $0.set("theirs", forKey: "name") }
    try object.set("again", forKey: "name")
    let message = try #require(cambiumError { try context.save() }?.message)
    #expect(message.hasPrefix("1 object was changed"), "\(message)")
  }

  /// What is denied is decided by what others have saved, not by what was saved before.
  @Test func rulesFollowTheNewestRow() throws {
    let container = try directory.container(
      "denied",
      model: try ManagedObjectModel {
        Entity("Node") {
          Attribute("name", .string)
          ToMany("children", "Node", inverse: "parent", deleteRule: .deny)
          ToOne("parent", "Node", inverse: "children")
        }
      })
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let (first, child) = (try context.make("Node", ["name": "first"]), try context.make("Node", ["name": "child"]))
    try context.save()
    try other.object(with: child.objectID).set(other.object(with: first.objectID), forKey: "parent")
    try other.save()
    // Others have led the child to it, by the newest row and not by the one that was saved.
    context.delete(first)
    #expect(cambiumError { try context.save() }?.code == .validationRelationshipDeniedDelete)
    context.rollback()
    try other.object(with: child.objectID).set(nil as ManagedObject?, forKey: "parent")
    try other.save()
    _ = try context.all("Node")
    context.delete(first)
    try context.save()
    let report = try #require(container.persistentStoreCoordinator.persistentStores.first).check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
  }

  /// Threads add to one number, each by what it has saved itself and has not looked at since: none is lost, whoever
  /// commits right behind whom.
  @Test(arguments: [Durability.full, .normal]) func nothingIsLostBetweenThreads(durability: Durability) throws {
    let container = try directory.container("threads", model: try Self.model()) { $0.durability = durability }
    let context = container.newBackgroundContext()
    let object = try context.make("Mark", ["number": 0])
    try context.save()
    let (id, writers, rounds) = (object.objectID, 4, 60)
    let counts = Locked<[Int]>([])
    DispatchQueue.concurrentPerform(iterations: writers) { _ in
      let context = container.newBackgroundContext()
      context.performAndWait {
        let mark = context.object(with: id)
        var known = mark.value(forKey: "number") as? Int ?? -1
        var retries = 0
        for _ in 0..<rounds {
          while true {
            mark.setValue(known + 1, forKey: "number")
            do {
              try context.save()
              known += 1
              break
            } catch {
              retries += 1
              context.refresh(mark, mergeChanges: false)
              known = mark.value(forKey: "number") as? Int ?? -1
            }
          }
        }
        counts.withLock { $0.append(retries) }
      }
    }
    context.refreshAllObjects()
    #expect(object.value(forKey: "number") as? Int == writers * rounds)
    #expect(counts.withLock { $0.count } == writers)
  }

  /// A save that is too large for a record, whose pages others have superseded since, also where processes share the
  /// file: what was saved is read as it was, whatever was given back meanwhile.
  @Test(arguments: [true, false]) func whatOthersSupersedeIsReadAsItWasSaved(isShared: Bool) throws {
    let container = try directory.container("large", model: try Self.model()) {
      $0.isSharedBetweenProcesses = isShared
    }
    let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
    let text = String(repeating: "e\u{301}\u{1F469}\u{200D}\u{1F680}\0", count: 40)
    let made = try (0..<6000).map { try context.make("Node", ["name": "\($0)" + text]) }
    try context.save()
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    for round in 0..<3 {
      for object in try other.all("Node") { try object.set("theirs \(round)", forKey: "name") }
      try other.save()
      try store.compact()
    }
    for (number, object) in made.enumerated() where number % 97 == 0 { #expect(name(object) == "\(number)" + text) }
    // The rest when the context goes on.
    _ = try context.all("Mark")
    for (number, object) in made.enumerated() where number % 89 == 0 { #expect(name(object) == "\(number)" + text) }
    try made[5].set("mine", forKey: "name")
    #expect(cambiumError { try context.save() }?.code == .managedObjectMerge)
    context.rollback()
    context.refreshAllObjects()
    #expect(made.allSatisfy { name($0) == "theirs 2" })
    try store.compact()
    let report = try store.check()
    #expect(report.isSound, "\(report)")
  }

  /// Objects show what was saved at once: nothing is read, and no view of the store stays open.
  @Test func rowsAreThereAtOnce() throws {
    let made = try (0..<300).map { try context.make("Node", ["name": "\($0)"]) }
    try context.save()
    #expect(made.allSatisfy { $0.state == .loaded && $0.row?.version == 1 })
    try made[0].set("again", forKey: "name")
    try context.save()
    #expect(made[0].state == .loaded && made[0].row?.version == 2 && name(made[0]) == "again")
  }

  /// What others have deleted behind one's own save is gone for undo, and not brought back as it was saved.
  @Test func undoOfWhatIsGone() throws {
    context.undoManager = ContextUndoManager()
    let node = try context.make("Node", ["name": "a"])
    try context.save()
    try node.set("b", forKey: "name")
    try context.save()
    other.delete(theirs(node))
    try other.save()
    context.undo()
    #expect(node.value(forKey: "name") == nil && !context.hasChanges)
    try context.save()
    #expect(try context.all("Node").isEmpty && node.value(forKey: "name") == nil)
  }
}
