import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// What others save behind a context's own save, which it has not looked at yet.
@Suite struct OwnCommitTests {
  /// What the context does between its save and the next change.
  enum Meanwhile: CaseIterable {
    case nothing, look, fetchAnother, count, saveAnother, saveAnotherTwice, batch, undoManager, child
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
      }
      Entity("Mark") { Attribute("number", .integer64) }
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
    isInserted: Bool, _ what: Meanwhile, by change: (ManagedObject) throws -> Void
  ) throws -> ManagedObject {
    _ = try context.make("Mark", ["number": 1])
    let object = try context.make("Node", ["name": isInserted ? "mine" : "old"])
    try context.save()
    if !isInserted {
      try object.set("mine", forKey: "name")
      try context.save()
    }
    try change(theirs(object))
    try other.save()
    try meanwhile(what, object)
    return object
  }

  @Test(arguments: [true, false], Meanwhile.allCases)
  func whatOthersSaveBehindIsAConflict(isInserted: Bool, what: Meanwhile) throws {
    let object = try overtaken(isInserted: isInserted, what) { try $0.set("theirs", forKey: "name") }
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

  @Test(arguments: [true, false], Meanwhile.allCases)
  func whatOthersDeleteBehindIsAConflict(isInserted: Bool, what: Meanwhile) throws {
    let object = try overtaken(isInserted: isInserted, what) { other.delete($0) }
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
  @Test(arguments: [true, false]) func generationsAsWell(isInserted: Bool) throws {
    try context.setQueryGenerationFrom(.current)
    let object = try overtaken(isInserted: isInserted, .nothing) { try $0.set("theirs", forKey: "name") }
    try object.set("again", forKey: "name")
    #expect(throws: CambiumError.self) { try context.save() }
  }

  /// What the context asks for anew is of the newest commit, and no conflict; so are changes of others that it has merged.
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

  /// Relationships that are set by what was saved agree with what others have saved behind it.
  @Test(arguments: [true, false]) func relationshipsAgree(deletes: Bool) throws {
    let (first, second, child) = (
      try context.make("Node", ["name": "first"]), try context.make("Node", ["name": "second"]),
      try context.make("Node", ["name": "child"])
    )
    try first.add(child, toRelationship: "children")
    try context.save()
    try theirs(child).set(theirs(second), forKey: "parent")
    try other.save()
    context.mergePolicy = .mergeByPropertyObjectTrump
    if deletes { context.delete(first) } else { try child.set(nil as ManagedObject?, forKey: "parent") }
    try context.save()
    for store in container.persistentStoreCoordinator.persistentStores {
      let report = try store.check()
      #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
    }
    other.refreshAllObjects()
    #expect(try theirs(second).count(ofRelationship: "children") == (deletes ? 1 : 0))
  }

  /// What the transaction has led away from what was deleted was saved as well.
  @Test(arguments: [Meanwhile.nothing, .fetchAnother]) func whatRulesHaveChangedAsWell(what: Meanwhile) throws {
    let (first, second, child) = (
      try context.make("Node", ["name": "first"]), try context.make("Node", ["name": "second"]),
      try context.make("Node", ["name": "mine"])
    )
    _ = try context.make("Mark", ["number": 1])
    try context.save()
    for object in try context.all("Node") { #expect(name(object) != nil) }
    try theirs(child).set(theirs(first), forKey: "parent")
    try other.save()
    // Without knowing of that.
    context.delete(first)
    try context.save()
    other.refreshAllObjects()
    try theirs(child).set("theirs", forKey: "name")
    #expect(try theirs(child).count(ofRelationship: "parent") == 0)
    try other.save()
    try meanwhile(what, child)
    try child.set("again", forKey: "name")
    #expect(cambiumError { try context.save() }?.code == .managedObjectMerge)
    withExtendedLifetime(second) {}
  }

  /// A message counts as people do.
  @Test func oneObjectIsOne() throws {
    let object = try overtaken(isInserted: true, .nothing) { try $0.set("theirs", forKey: "name") }
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

  /// Threads add to one number, each by what it has saved itself and has not looked at since: none is lost, whoever commits right behind
  /// whom.
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

  /// What has been saved is let go of, and holds no old state for ever: the file does not grow by it.
  @Test func holdsNothingBehindTheNextRead() throws {
    let made = try (0..<300).map { try context.make("Node", ["name": "\($0)"]) }
    try context.save()
    #expect(!context.ownCommits.isEmpty)
    _ = try context.all("Mark")
    #expect(context.ownCommits.isEmpty)
    // Those that somebody holds, and nobody has looked at.
    #expect(made.allSatisfy { $0.state == .loaded })
    context.reset()
    #expect(context.ownCommits.isEmpty)
  }
}
