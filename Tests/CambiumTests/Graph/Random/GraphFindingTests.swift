import Foundation
import Testing

@testable import Cambium

/// What ``GraphModelTests`` have found, each as small as it can be.
@Suite struct GraphFindingTests {
  /// A store in a file, and two contexts of it.
  final class Fixture {
    let directory: TemporaryDirectory
    let model: ManagedObjectModel
    let container: PersistentContainer
    let mine: ManagedObjectContext
    let theirs: ManagedObjectContext

    init(
      _ policy: MergePolicy = .error, @EntityBuilder owner: () -> [EntityBuilderPart],
      @EntityBuilder item: () -> [EntityBuilderPart]
    ) throws {
      let (owner, item) = (owner(), item())
      model = try ManagedObjectModel {
        Entity("Owner") {
          Attribute("name", .string)
          owner
        }
        Entity("Item") {
          Attribute("name", .string)
          item
        }
      }
      directory = try TemporaryDirectory()
      container = try directory.container(model: model) { $0.tracksHistory = true }
      mine = container.newBackgroundContext()
      theirs = container.newBackgroundContext()
      mine.mergePolicy = policy
    }

    /// Another context than `theirs`: its child, or one of the store.
    func other(isInChild: Bool, _ policy: MergePolicy) -> ManagedObjectContext {
      let context =
        isInChild
        ? ManagedObjectContext(concurrencyType: .privateQueue, parent: theirs) : container.newBackgroundContext()
      context.mergePolicy = policy
      return context
    }

    /// Saves objects of their names, and has both contexts read them.
    func store(owners: [String], items: [String]) throws {
      for name in owners { try theirs.make("Owner", ["name": name]) }
      for name in items { try theirs.make("Item", ["name": name]) }
      try theirs.save()
      for context in [mine, theirs] {
        for object in try context.all("Owner") + context.all("Item") { _ = object.value(forKey: "name") }
      }
    }

    func owner(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
      try #require(try context.all("Owner", "name == %@", [name]).first)
    }

    func item(_ name: String, _ context: ManagedObjectContext) throws -> ManagedObject {
      try #require(try context.all("Item", "name == %@", [name]).first)
    }

    /// The names of what a relationship of each object leads to, as a new context reads them; the store is sound.
    func read(_ entity: String, _ key: String) throws -> [String: String] {
      let report = try #require(container.persistentStoreCoordinator.persistentStores.first).engine.check()
      #expect(report.isSound, "\(report.problems)")
      let context = container.newBackgroundContext()
      var result: [String: String] = [:]
      for object in try context.all(entity) {
        let names = try object.objectIDs(forRelationshipNamed: key).map { id in
          try context.existingObject(with: id).value(forKey: "name") as? String ?? "-"
        }
        result[object.value(forKey: "name") as? String ?? "-"] = names.joined(separator: " ")
      }
      return result
    }
  }

  private static let kinds: [MergePolicy] = [
    .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
  ]

  // MARK: What others delete

  /// Nothing is led to what others have deleted, though neither row that is written was changed by them.
  @Test(arguments: kinds) func destinationsThatAreGone(policy: MergePolicy) throws {
    let fixture = try Fixture(
      policy, owner: { ToMany("items", "Item", inverse: "owner") },
      item: {
        ToOne("owner", "Owner", inverse: "items")
        ToOne("note", "Owner")
      })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    try fixture.item("i", mine).set(try fixture.owner("o", mine), forKey: "owner")
    try fixture.item("j", mine).set(try fixture.owner("o", mine), forKey: "note")
    try fixture.item("j", mine).set("k", forKey: "name")
    let new = try mine.make("Item", ["name": "n", "owner": try fixture.owner("o", mine)])
    theirs.delete(try fixture.owner("o", theirs))
    try theirs.save()
    mine.mergePolicy = .error
    let error = cambiumError { try mine.save() }
    #expect(error?.code == .managedObjectMerge && error?.conflicts.count == 1)
    #expect(error?.conflicts.first?.newVersionNumber == 0)
    #expect(try fixture.read("Item", "owner") == ["i": "", "j": ""])
    mine.mergePolicy = policy
    try mine.save()
    #expect(!mine.hasChanges && new.value(forKey: "owner") == nil)
    #expect(try fixture.read("Item", "owner") == ["i": "", "k": "", "n": ""])
    #expect(try fixture.read("Item", "note") == ["i": "", "k": "", "n": ""])
  }

  /// A fault whose relationship was set, and that others delete, is a conflict like others.
  @Test(arguments: kinds) func faultsThatAreGone(policy: MergePolicy) throws {
    let fixture = try Fixture(
      policy, owner: { ToMany("items", "Item", inverse: "owners") },
      item: { ToMany("owners", "Owner", inverse: "items") })
    try fixture.store(owners: ["o"], items: ["i"])
    let mine = fixture.container.newBackgroundContext()
    let owner = try #require(try mine.all("Owner").first)
    let item = mine.object(with: try fixture.item("i", fixture.theirs).objectID)
    try owner.add(item, toRelationship: "items")
    #expect(item.isFault)
    fixture.theirs.delete(try fixture.item("i", fixture.theirs))
    try fixture.theirs.save()
    mine.mergePolicy = .error
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
    mine.mergePolicy = policy
    try mine.save()
    #expect(try fixture.read("Owner", "items") == ["o": ""] && !mine.hasChanges)
  }

  // MARK: What is deleted while others lead to it

  @Test(arguments: [DeleteRule.nullify, .cascade, .deny]) func deletionsOfWhatOthersLeadTo(rule: DeleteRule) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", deleteRule: rule) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    mine.delete(try fixture.owner("o", mine))
    try fixture.item("i", theirs).set(try fixture.owner("o", theirs), forKey: "owner")
    try theirs.make("Item", ["name": "k", "owner": try fixture.owner("o", theirs)])
    try theirs.save()
    if rule == .deny {
      let error = cambiumError { try mine.save() }
      #expect(error?.code == .validationRelationshipDeniedDelete && error?.key == "items")
      #expect(try fixture.read("Item", "owner") == ["i": "o", "j": "", "k": "o"])
      return
    }
    let known = try fixture.item("i", mine)
    #expect(known.value(forKey: "name") as? String == "i")
    try mine.save()
    #expect(try fixture.read("Item", "owner") == (rule == .cascade ? ["j": ""] : ["i": "", "j": "", "k": ""]))
    #expect(try fixture.read("Owner", "items") == ["p": ""])
    // The context knows, and history tells, what the rules have done beside what was asked for.
    #expect(try mine.all("Item").count == (rule == .cascade ? 1 : 3))
    #expect(
      rule == .cascade ? known.isDeleted || known.value(forKey: "name") == nil : known.value(forKey: "owner") == nil)
    let transactions = try mine.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
      .transactions
    let changes = transactions.last?.changes ?? []
    #expect(changes.filter { $0.changedObjectID.entityName == "Item" }.count == 2)
    #expect(
      changes.allSatisfy {
        $0.changeType == ($0.changedObjectID.entityName == "Owner" || rule == .cascade ? .delete : .update)
      })
  }

  /// What was taken out of an object before it was deleted does not go with it, whatever its row says.
  @Test(arguments: [false, true]) func whatWasTakenOutStays(isInChild: Bool) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owners", ordered: true, deleteRule: .cascade) },
      item: {
        ToMany("owners", "Owner", inverse: "items")
        ToOne("parts", "Item", inverse: "whole", deleteRule: .cascade)
        ToOne("whole", "Item", inverse: "parts")
      })
    try fixture.store(owners: ["o"], items: ["i", "j", "k"])
    try fixture.owner("o", fixture.theirs).set(
      try ["i", "j"].map { try fixture.item($0, fixture.theirs) }, forKey: "items")
    try fixture.item("i", fixture.theirs).set(try fixture.item("k", fixture.theirs), forKey: "parts")
    try fixture.theirs.save()
    let parent = fixture.container.newBackgroundContext()
    let context = isInChild ? ManagedObjectContext(concurrencyType: .privateQueue, parent: parent) : parent
    let owner = try fixture.owner("o", context)
    try owner.remove(try fixture.item("j", context), fromRelationship: "items")
    try fixture.item("i", context).set(nil, forKey: "parts")
    context.delete(owner)
    // Somebody has saved meanwhile, so that the rules are applied to what is stored.
    try fixture.theirs.make("Owner", ["name": "p"])
    try fixture.theirs.save()
    try context.save()
    if isInChild { try parent.save() }
    #expect(try fixture.read("Item", "owners") == ["j": "", "k": ""])
    #expect(try fixture.read("Owner", "items") == ["p": ""])
  }

  /// Nor does what a relationship of the deleted object itself has led to.
  @Test(arguments: [false, true]) func whatWasLeftStays(isInChild: Bool) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", ordered: true) },
      item: { ToOne("owner", "Owner", inverse: "items", deleteRule: .cascade) })
    try fixture.store(owners: ["o"], items: ["i", "j"])
    try fixture.item("i", fixture.theirs).set(try fixture.owner("o", fixture.theirs), forKey: "owner")
    try fixture.theirs.save()
    let parent = fixture.container.newBackgroundContext()
    let context = isInChild ? ManagedObjectContext(concurrencyType: .privateQueue, parent: parent) : parent
    let item = try fixture.item("i", context)
    try item.set(nil, forKey: "owner")
    context.delete(item)
    try context.save()
    if isInChild { try parent.save() }
    #expect(try fixture.read("Owner", "items") == ["o": ""])
    #expect(try fixture.read("Item", "owner") == ["j": ""])
  }

  /// Nor if nothing but the object's own row says where it has led: the other side is derived from that.
  @Test func whatWasLeftStaysThoughTheOtherSideIsDerived() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner") },
      item: { ToOne("owner", "Owner", inverse: "items", deleteRule: .cascade) })
    try fixture.store(owners: ["o"], items: ["i", "j"])
    try fixture.item("i", fixture.theirs).set(try fixture.owner("o", fixture.theirs), forKey: "owner")
    try fixture.theirs.save()
    let context = fixture.container.newBackgroundContext()
    let item = try fixture.item("i", context)
    try item.set(nil, forKey: "owner")
    context.delete(item)
    // Somebody has saved meanwhile, so that the rules are applied to what is stored.
    try fixture.theirs.make("Item", ["name": "k"])
    try fixture.theirs.save()
    try context.save()
    #expect(try fixture.read("Owner", "items") == ["o": ""])
  }

  /// What others put into a list of the parent was not taken out of it by the child, and goes with the list's object.
  @Test func whatWasPutIntoTheParentsListGoes() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owners", ordered: true, deleteRule: .cascade) },
      item: { ToMany("owners", "Owner", inverse: "items") })
    try fixture.store(owners: ["o"], items: ["i", "j", "k"])
    try fixture.owner("o", fixture.theirs).set(
      try ["i", "j"].map { try fixture.item($0, fixture.theirs) }, forKey: "items")
    try fixture.theirs.save()
    let parent = fixture.container.newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    let owner = try fixture.owner("o", child)
    try owner.remove(try fixture.item("j", child), fromRelationship: "items")
    child.delete(owner)
    try fixture.owner("o", parent).add(try fixture.item("k", parent), toRelationship: "items")
    try child.save()
    try parent.save()
    #expect(try fixture.read("Item", "owners") == ["j": ""])
  }

  /// History tells of no change of what others have deleted, though what others led there was changed here.
  @Test func historyOfWhatIsGone() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", deleteRule: .noAction) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o"], items: ["i"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    try fixture.item("i", theirs).set(try fixture.owner("o", theirs), forKey: "owner")
    try theirs.save()
    mine.refreshAllObjects()
    try fixture.item("i", mine).set(nil, forKey: "owner")
    theirs.delete(try fixture.owner("o", theirs))
    try theirs.save()
    try mine.save()
    let all = try mine.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions
    #expect(all.last?.changes?.map { $0.changedObjectID.entityName } == ["Item"])
  }

  /// Where no rule has taken out what was deleted, something else can be set, and what leads there can be deleted.
  @Test func whatLeadsToNothingIsNoObstacle() throws {
    let fixture = try Fixture(
      owner: { ToOne("item", "Item", inverse: "owner", deleteRule: .noAction) },
      item: { ToOne("owner", "Owner", inverse: "item", deleteRule: .cascade) })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    for (owner, item) in [("o", "i"), ("p", "j")] {
      try fixture.owner(owner, fixture.theirs).set(try fixture.item(item, fixture.theirs), forKey: "item")
    }
    try fixture.theirs.save()
    for owner in ["o", "p"] { fixture.theirs.delete(try fixture.owner(owner, fixture.theirs)) }
    try fixture.theirs.save()
    let context = fixture.container.newBackgroundContext()
    let item = try fixture.item("i", context)
    #expect(try item.count(ofRelationship: "owner") == 1)
    try item.set(try context.make("Owner", ["name": "q"]), forKey: "owner")
    context.delete(try fixture.item("j", context))
    try context.save()
    #expect(try context.all("Item").count == 1)
    #expect(try fixture.read("Owner", "item") == ["q": "i"])
  }

  // MARK: What denies

  @Test func whatWasNeverSavedDeniesNothing() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", deleteRule: .deny) },
      item: { ToOne("owner", "Owner", inverse: "items", deleteRule: .cascade) })
    let context = fixture.mine
    let owner = try context.make("Owner", ["name": "o"])
    let item = try context.make("Item", ["name": "i", "owner": owner])
    context.delete(owner)
    #expect(item.value(forKey: "owner") == nil)
    try context.save()
    #expect(try fixture.read("Item", "owner") == ["i": ""])
    // One that is saved, whose only destination is one that is not, and goes with it.
    let saved = try context.make("Owner", ["name": "p"])
    try context.save()
    context.delete(try context.make("Item", ["name": "j", "owner": saved]))
    try context.save()
    #expect(try fixture.read("Item", "owner") == ["i": ""])
  }

  @Test func deletionsThatAreRedoneAreDeniedByNothingOld() throws {
    let fixture = try Fixture(
      owner: { ToOne("item", "Item", inverse: "owner", deleteRule: .deny) },
      item: { ToOne("owner", "Owner", inverse: "item") })
    try fixture.store(owners: ["o", "p"], items: ["i"])
    let context = fixture.mine
    context.undoManager = ContextUndoManager()
    try fixture.owner("o", context).set(try fixture.item("i", context), forKey: "item")
    context.processPendingChanges()
    let owner = try fixture.owner("o", context)
    try fixture.owner("p", context).set(try fixture.item("i", context), forKey: "item")
    context.delete(owner)
    context.processPendingChanges()
    context.undo()
    context.redo()
    #expect(owner.isDeleted)
    try context.save()
    #expect(try fixture.read("Item", "owner") == ["i": "p"])
  }

  // MARK: What two have decided

  /// What the decision about an object has taken out of a list of another one is not put back by the decision about
  /// that.
  @Test(arguments: [false, true]) func listsThatADecisionHasChanged(isItemFirst: Bool) throws {
    let fixture = try Fixture(
      .mergeByPropertyObjectTrump, owner: { ToMany("items", "Item", inverse: "owner", ordered: true) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    let owner = try fixture.owner("o", mine)
    if !isItemFirst { owner.setValue("q", forKey: "name") }
    try fixture.item("i", mine).set(try fixture.owner("p", mine), forKey: "owner")
    if isItemFirst { owner.setValue("q", forKey: "name") }
    for name in ["i", "j"] { try fixture.item(name, theirs).set(try fixture.owner("o", theirs), forKey: "owner") }
    try theirs.save()
    try mine.save()
    #expect(try fixture.read("Owner", "items") == ["q": "j", "p": "i"])
  }

  /// Of a to-one relationship and its inverse, the policy decides one after the other: the first decision stands.
  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite]) func bothSidesAreInConflict(
    policy: MergePolicy
  ) throws {
    let fixture = try Fixture(
      policy, owner: { ToOne("item", "Item", inverse: "owner") },
      item: { ToOne("owner", "Owner", inverse: "item") })
    for isItemFirst in [false, true] {
      let names = isItemFirst ? ["a", "b"] : ["c", "d"]
      try fixture.store(owners: [names[0]], items: names)
      let (mine, theirs) = (fixture.mine, fixture.theirs)
      if isItemFirst { try fixture.item(names[1], mine).set("changed", forKey: "name") }
      try fixture.owner(names[0], mine).set(try fixture.item(names[0], mine), forKey: "item")
      if !isItemFirst { try fixture.item(names[1], mine).set("changed", forKey: "name") }
      try fixture.owner(names[0], theirs).set(try fixture.item(names[1], theirs), forKey: "item")
      try theirs.save()
      try mine.save()
      #expect(try fixture.read("Owner", "item")[names[0]] == names[0])
      #expect(try fixture.read("Item", "owner")[names[0]] == names[0])
      #expect(try fixture.read("Item", "owner")["changed"] == "")
      theirs.delete(try fixture.item("changed", theirs))
      try theirs.save()
      mine.refreshAllObjects()
    }
  }

  /// What a policy takes from an object that others have led there is let go of by that as well, though its own changes
  /// are derived from others: nothing is written for them, so that it meets no conflict itself.
  @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite]) func changesThatAreDerived(
    policy: MergePolicy
  ) throws {
    let fixture = try Fixture(
      policy,
      owner: {
        ToOne("item", "Item", inverse: "owner")
        ToMany("notes", "Item", inverse: "noted")
      },
      item: {
        ToOne("owner", "Owner", inverse: "item")
        ToOne("noted", "Owner", inverse: "notes")
      })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    try fixture.item("j", mine).set(try fixture.owner("o", mine), forKey: "noted")
    try fixture.owner("p", mine).set(try fixture.item("i", mine), forKey: "item")
    try fixture.owner("o", theirs).set(try fixture.item("i", theirs), forKey: "item")
    try theirs.save()
    try mine.save()
    #expect(try fixture.read("Item", "owner") == ["i": "p", "j": ""])
    #expect(try fixture.read("Owner", "item") == ["o": "", "p": "i"])
  }

  /// What is put back is taken from who has it by now, which the context has read before that.
  @Test func whatIsPutBackIsTakenFromItsHolder() throws {
    let fixture = try Fixture(
      .overwrite, owner: { ToOne("item", "Item", inverse: "owner") },
      item: { ToOne("owner", "Owner", inverse: "item") })
    try fixture.store(owners: ["o", "p"], items: ["i"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    try fixture.owner("o", theirs).set(try fixture.item("i", theirs), forKey: "item")
    try theirs.save()
    mine.refreshAllObjects()
    let known = try mine.all("Owner") + mine.all("Item")
    for object in known { _ = object.value(forKey: "name") }
    try fixture.owner("o", mine).set("q", forKey: "name")
    try fixture.owner("p", theirs).set(try fixture.item("i", theirs), forKey: "item")
    try theirs.save()
    try mine.save()
    withExtendedLifetime(known) {}
    #expect(try fixture.read("Owner", "item") == ["q": "i", "p": ""])
    #expect(try fixture.read("Item", "owner") == ["i": "q"])
  }

  /// What is put back takes from an object only what that still has: another decision may come to that later.
  @Test func whatIsPutBackTakesNothingElse() throws {
    let fixture = try Fixture(
      .overwrite, owner: { ToOne("item", "Item", inverse: "owner") },
      item: { ToOne("owner", "Owner", inverse: "item") })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    try fixture.owner("o", theirs).set(try fixture.item("j", theirs), forKey: "item")
    try theirs.save()
    mine.refreshAllObjects()
    for object in try mine.all("Owner") + mine.all("Item") { _ = object.value(forKey: "name") }
    try fixture.item("j", mine).set("k", forKey: "name")
    try fixture.owner("p", mine).set(try fixture.item("i", mine), forKey: "item")
    try fixture.owner("o", theirs).set(try fixture.item("i", theirs), forKey: "item")
    try theirs.save()
    try mine.save()
    #expect(try fixture.read("Owner", "item") == ["o": "k", "p": "i"])
    #expect(try fixture.read("Item", "owner") == ["i": "p", "k": "o"])
  }

  /// An insertion is undone after it was saved: the rules let nothing go of what its row leads to.
  @Test(arguments: [DeleteRule.cascade, .deny]) func undoneInsertionsLetNothingGo(rule: DeleteRule) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner") },
      item: { ToOne("owner", "Owner", inverse: "items", deleteRule: rule) })
    try fixture.store(owners: ["o"], items: [])
    let mine = fixture.mine
    mine.undoManager = ContextUndoManager()
    let owner = try fixture.owner("o", mine)
    try mine.make("Item", ["name": "i", "owner": owner])
    mine.processPendingChanges()
    try mine.save()
    mine.undo()
    // Others save meanwhile, by which the rules would be looked at once more.
    try fixture.theirs.make("Owner", ["name": "p"])
    try fixture.theirs.save()
    try mine.save()
    #expect(try fixture.read("Owner", "items").keys.sorted() == ["o", "p"])
    mine.redo()
    try mine.save()
    #expect(try fixture.read("Item", "owner") == ["i": "o"])
  }

  /// The same in a child, whose parent applies the rules when the child saves.
  @Test(arguments: [DeleteRule.cascade, .deny]) func undoneInsertionsOfAChildLetNothingGo(rule: DeleteRule) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner") },
      item: { ToOne("owner", "Owner", inverse: "items", deleteRule: rule) })
    try fixture.store(owners: ["o"], items: [])
    let parent = fixture.mine
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    child.undoManager = ContextUndoManager()
    let owner = try fixture.owner("o", child)
    try child.make("Item", ["name": "i", "owner": owner])
    child.processPendingChanges()
    try child.save()
    try parent.save()
    child.undo()
    try child.save()
    #expect(try parent.all("Owner").count == 1 && parent.all("Item").isEmpty)
    try parent.save()
    #expect(try fixture.read("Owner", "items").keys.sorted() == ["o"])
    child.redo()
    try child.save()
    try parent.save()
    #expect(try fixture.read("Item", "owner") == ["i": "o"])
  }

  /// A list keeps what others have added, and what it keeps leads back, though the policy has decided otherwise about
  /// that.
  @Test func listsAndTheirOtherSides() throws {
    let fixture = try Fixture(
      .mergeByPropertyObjectTrump, owner: { ToMany("items", "Item", inverse: "owner", ordered: true) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    let item = try fixture.item("i", theirs)
    try item.set(try fixture.owner("p", theirs), forKey: "owner")
    try theirs.save()
    mine.refreshAllObjects()
    for name in ["o", "p"] { _ = try fixture.owner(name, mine).value(forKey: "items") }
    try fixture.item("i", mine).set(nil, forKey: "owner")
    // Changed, and changed back.
    let owner = try fixture.owner("o", mine)
    try owner.add(try fixture.item("j", mine), toRelationship: "items")
    try owner.remove(try fixture.item("j", mine), fromRelationship: "items")
    try item.set(try fixture.owner("o", theirs), forKey: "owner")
    try theirs.save()
    try mine.save()
    let lists = try fixture.read("Owner", "items")
    #expect(try fixture.read("Item", "owner")["i"] == (lists["o"] == "i" ? "o" : ""))
    #expect(lists["p"] == "")
  }
}
