import Testing

@testable import Cambium

// What is deleted while others lead to it, or from it.
extension GraphFindingTests {
  /// What others have put under an object that is deleted goes with it, and denies nothing by another relationship;
  /// what is not under it does. In a context of the store, in a child of the one that did it, and in a child of that.
  @Test(arguments: 0...2, [false, true]) func whatGoesAlongDeniesNothing(level: Int, isUnder: Bool) throws {
    let fixture = try Fixture(
      .mergeByPropertyObjectTrump,
      owner: {
        ToMany("items", "Item", inverse: "owners", deleteRule: .cascade)
        ToMany("notes", "Item", inverse: "noted", deleteRule: .deny)
      },
      item: {
        ToMany("owners", "Owner", inverse: "items")
        ToMany("noted", "Owner", inverse: "notes")
      })
    try fixture.store(owners: ["o", "p"], items: ["i"])
    let theirs = fixture.theirs
    var levels = [theirs]
    for _ in 0..<level {
      levels.append(ManagedObjectContext(concurrencyType: .privateQueue, parent: levels[levels.count - 1]))
    }
    let mine = level > 0 ? levels[level] : fixture.mine
    mine.delete(try fixture.owner("o", mine))
    let owner = try fixture.owner("o", theirs)
    try theirs.make("Item", ["name": "j", "owners": isUnder ? [owner] : [], "noted": [owner]])
    if level == 0 { try theirs.save() }
    // By now the context shows what others have done.
    #expect(try mine.all("Item").count == 2)
    let error = cambiumError {
      try mine.save()
      for context in levels.dropLast().reversed() { try context.save() }
    }
    // A child denies what it sees by now. The store follows the rules to what others have saved.
    let isDenied = !isUnder || level > 0
    #expect(error?.code == (isDenied ? .validationRelationshipDeniedDelete : nil))
    if level == 0 { #expect(try fixture.read("Item", "noted") == (isUnder ? ["i": ""] : ["i": "", "j": "o"])) }
    #expect(try mine.all("Item").count == (isDenied ? 2 : 1))
  }

  /// What a child has led to an object that goes along in the parent denies that: the child's save fails, and nothing
  /// has happened.
  @Test func whatGoesAlongInTheParentIsDenied() throws {
    let fixture = try Fixture(
      owner: {
        ToMany("items", "Item", inverse: "owner", deleteRule: .cascade)
        ToOne("item", "Item", inverse: "noted")
      },
      item: {
        ToOne("owner", "Owner", inverse: "items")
        ToMany("noted", "Owner", inverse: "item", deleteRule: .deny)
      })
    try fixture.store(owners: ["o", "p"], items: ["i"])
    let parent = fixture.mine
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    child.mergePolicy = .mergeByPropertyObjectTrump
    child.delete(try fixture.owner("o", child))
    try fixture.owner("p", child).set(try fixture.item("i", child), forKey: "item")
    try fixture.item("i", parent).set(try fixture.owner("o", parent), forKey: "owner")
    let error = cambiumError { try child.save() }
    #expect(error?.code == .validationRelationshipDeniedDelete && error?.key == "noted")
    #expect(try parent.all("Owner").count == 2 && parent.all("Item").count == 1)
    #expect(try fixture.owner("p", parent).value(forKey: "item") == nil)
    try parent.save()
    #expect(try fixture.read("Item", "owner") == ["i": "o"])
  }

  /// What a child has deleted, brought back after it saved that, and saved again is new to its parent, which has
  /// deleted what it was: nothing denies that it is deleted there. Where the parent itself brought it back it is what
  /// it was, and that is denied.
  @Test(arguments: [false, true]) func whatAChildBringsBackIsNew(isBroughtBackByParent: Bool) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", deleteRule: .deny) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o"], items: ["i"])
    let parent = fixture.mine
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    for context in [parent, child] { context.undoManager = ContextUndoManager() }
    child.delete(try fixture.owner("o", child))
    try child.save()
    if isBroughtBackByParent {
      parent.undo()
    } else {
      child.undo()
      try child.save()
    }
    let owner = try fixture.owner("o", parent)
    #expect(owner.isInserted == !isBroughtBackByParent)
    try fixture.item("i", parent).set(owner, forKey: "owner")
    parent.delete(owner)
    let error = cambiumError { try parent.save() }
    #expect(error?.code == (isBroughtBackByParent ? .validationRelationshipDeniedDelete : nil))
    #expect(try fixture.read("Item", "owner") == ["i": ""])
    #expect(try fixture.read("Owner", "items") == (isBroughtBackByParent ? ["o": ""] : [:]))
  }

  /// Where an object led when a child took it apart from that, and deleted it, stays; where the parent has led it since
  /// goes with it.
  @Test(arguments: [false, true]) func whereAnObjectLedIsTakenApart(isInChild: Bool) throws {
    let fixture = try Fixture(
      .mergeByPropertyObjectTrump, owner: { ToOne("item", "Item", inverse: "owners", deleteRule: .cascade) },
      item: { ToMany("owners", "Owner", inverse: "item") })
    try fixture.store(owners: ["o"], items: ["i", "j"])
    let theirs = fixture.theirs
    try fixture.owner("o", theirs).set(try fixture.item("i", theirs), forKey: "item")
    try theirs.save()
    let mine = fixture.other(isInChild: isInChild, .mergeByPropertyObjectTrump)
    let owner = try fixture.owner("o", mine)
    #expect((owner.value(forKey: "item") as? ManagedObject)?.value(forKey: "name") as? String == "i")
    owner.setValue(nil, forKey: "item")
    mine.delete(owner)
    try fixture.owner("o", theirs).set(try fixture.item("j", theirs), forKey: "item")
    if !isInChild { try theirs.save() }
    try mine.save()
    if isInChild { try theirs.save() }
    #expect(try fixture.read("Item", "owners") == ["i": ""])
    #expect(try fixture.read("Owner", "item") == [:])
  }

  /// What others have put into a list goes with the list's object where the policy has it lead there, though it was led
  /// somewhere else here, which did not take it out of that list.
  @Test(arguments: [MergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump], [false, true])
  func whatWasLedElsewhereWasNotTakenOut(policy: MergePolicy, isInChild: Bool) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", ordered: true, deleteRule: .cascade) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    let theirs = fixture.theirs
    try fixture.item("j", theirs).set(try fixture.owner("o", theirs), forKey: "owner")
    try theirs.save()
    let mine = fixture.other(isInChild: isInChild, policy)
    let owner = try fixture.owner("o", mine)
    try owner.remove(try fixture.item("j", mine), fromRelationship: "items")
    try fixture.item("i", mine).set(try fixture.owner("p", mine), forKey: "owner")
    mine.delete(owner)
    try fixture.item("i", theirs).set(try fixture.owner("o", theirs), forKey: "owner")
    if !isInChild { try theirs.save() }
    try mine.save()
    if isInChild { try theirs.save() }
    let isTheirs = policy == .mergeByPropertyStoreTrump
    #expect(try fixture.read("Item", "owner") == (isTheirs ? ["j": ""] : ["i": "p", "j": ""]))
    #expect(try fixture.read("Owner", "items") == ["p": isTheirs ? "" : "i"])
  }

  /// To put a relationship back as it is stored, nothing need be read of what others have deleted.
  @Test(arguments: [false, true], [false, true]) func whatIsPutBackHasLostOthers(isOrdered: Bool, isMany: Bool) throws {
    let fixture = try Fixture(
      .rollback, owner: { ToMany("items", "Item", inverse: "owners", ordered: isOrdered) },
      item: {
        if isMany {
          ToMany("owners", "Owner", inverse: "items", ordered: true)
        } else {
          ToOne("owners", "Owner", inverse: "items")
        }
      })
    try fixture.store(owners: ["o"], items: ["i", "j", "k"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    func items(_ names: [String], _ context: ManagedObjectContext) throws -> [ManagedObject] {
      try names.map { try fixture.item($0, context) }
    }
    try fixture.owner("o", theirs).set(try items(["i", "j"], theirs), forKey: "items")
    try theirs.save()
    mine.refreshAllObjects()
    for object in try mine.all("Owner") + mine.all("Item") { _ = object.value(forKey: "name") }
    let owner = try fixture.owner("o", mine)
    owner.setValue("changed", forKey: "name")
    try owner.remove(try fixture.item("j", mine), fromRelationship: "items")
    try owner.add(try fixture.item("k", mine), toRelationship: "items")
    theirs.delete(try fixture.item("i", theirs))
    theirs.delete(try fixture.item("k", theirs))
    try fixture.owner("o", theirs).set("p", forKey: "name")
    try theirs.save()
    try mine.save()
    #expect(!mine.hasChanges)
    #expect(try fixture.read("Owner", "items") == ["p": isMany || isOrdered ? "j" : ""])
  }

  /// To find that an object is gone is no reason to show something else of others.
  @Test func whatIsGoneMovesNothing() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner") }, item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o"], items: ["i", "j"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    let gone = try fixture.item("i", theirs)
    let id = gone.objectID
    theirs.delete(gone)
    try theirs.save()
    let owner = try fixture.owner("o", mine)
    try fixture.owner("o", theirs).add(try fixture.item("j", theirs), toRelationship: "items")
    let new = try theirs.make("Item", ["name": "k"])
    try theirs.save()
    #expect(cambiumError { _ = try mine.existingObject(with: id) }?.code == .managedObjectReferentialIntegrity)
    #expect(try owner.count(ofRelationship: "items") == 0)
    // One that came later is found all the same, and all is of that commit then.
    #expect(try mine.existingObject(with: new.objectID).value(forKey: "name") as? String == "k")
    #expect(try owner.count(ofRelationship: "items") == 1)
  }

  /// What no rule has taken out of a relationship leads to nothing. To lead it elsewhere changes nothing of what is
  /// gone, which would be among what is fetched and saved.
  @Test(arguments: [false, true], [false, true]) func whatLedToNothingIsLedElsewhere(
    isInChild: Bool, isFromOwner: Bool
  ) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", deleteRule: .noAction) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o", "p"], items: ["i"])
    let theirs = fixture.theirs
    try fixture.item("i", theirs).set(try fixture.owner("o", theirs), forKey: "owner")
    try theirs.save()
    theirs.delete(try fixture.owner("o", theirs))
    try theirs.save()
    let root = fixture.container.newBackgroundContext()
    let mine = isInChild ? ManagedObjectContext(concurrencyType: .privateQueue, parent: root) : root
    let (item, owner) = (try fixture.item("i", mine), try fixture.owner("p", mine))
    if isFromOwner {
      try owner.add(item, toRelationship: "items")
    } else {
      try item.set(owner, forKey: "owner")
    }
    for context in isInChild ? [mine, root] : [mine] {
      #expect(context.updatedObjects.count == 2)
      #expect(try context.all("Owner").map { try $0.get("name", as: String.self) } == ["p"])
      try context.save()
    }
    #expect(try fixture.read("Item", "owner") == ["i": "p"])
  }

  /// A save that is refused leaves delete rules old that were: what others have put under an object goes with it in the
  /// next one, whatever was deleted meanwhile.
  @Test func rulesStayOldWhereASaveIsRefused() throws {
    let fixture = try Fixture(
      owner: {
        ToMany("items", "Item", inverse: "owner", deleteRule: .cascade)
        ToMany("notes", "Item", inverse: "noted", deleteRule: .deny)
      },
      item: {
        ToOne("owner", "Owner", inverse: "items")
        ToOne("noted", "Owner", inverse: "notes")
      })
    try fixture.store(owners: ["o"], items: ["i"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    mine.delete(try fixture.owner("o", mine))
    let mineChanged = try fixture.item("i", mine)
    mineChanged.setValue("mine", forKey: "name")
    let owner = try fixture.owner("o", theirs)
    try theirs.make("Item", ["name": "j", "owner": owner, "noted": owner])
    try theirs.make("Item", ["name": "k", "owner": owner])
    try fixture.item("i", theirs).set("theirs", forKey: "name")
    try theirs.save()
    // By now the context shows what others have done.
    #expect(try mine.all("Item").count == 3)
    #expect(cambiumError { try mine.save() }?.code == .managedObjectMerge)
    mine.refresh(mineChanged, mergeChanges: false)
    mine.delete(try fixture.item("j", mine))
    try mine.save()
    #expect(try fixture.read("Item", "owner") == ["theirs": ""])
    #expect(try fixture.read("Owner", "items").isEmpty)
  }

  /// An object that others have deleted as well denies nothing, and the save goes on without it.
  @Test func whatBothHaveDeletedDeniesNothing() throws {
    let fixture = try Fixture(
      .mergeByPropertyObjectTrump, owner: { ToMany("items", "Item", inverse: "owner") },
      item: { ToOne("owner", "Owner", inverse: "items", deleteRule: .deny) })
    try fixture.store(owners: ["o"], items: ["i"])
    let (mine, theirs) = (fixture.mine, fixture.theirs)
    let item = try fixture.item("i", theirs)
    try item.set(try fixture.owner("o", theirs), forKey: "owner")
    try theirs.save()
    mine.refreshAllObjects()
    let gone = try fixture.item("i", mine)
    #expect(gone.value(forKey: "owner") != nil)
    mine.delete(gone)
    try item.set(nil, forKey: "owner")
    theirs.delete(item)
    try theirs.save()
    mine.refreshAllObjects()
    try mine.make("Item", ["name": "j"])
    try mine.save()
    #expect(try fixture.read("Item", "owner") == ["j": ""])
  }
}
