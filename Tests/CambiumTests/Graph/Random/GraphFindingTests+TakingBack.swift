import Testing

@testable import Cambium

// What policies take back, in children above all.
extension GraphFindingTests {
  /// A policy of one's own that hands on.
  private final class HandsOn: MergePolicy, @unchecked Sendable {
    init() { super.init(merge: .error) }

    override func resolve(optimisticLockingConflicts conflicts: [MergeConflict]) throws {
      try MergePolicy.rollback.resolve(optimisticLockingConflicts: conflicts)
    }
  }

  private static let policies: [MergePolicy] = [.rollback, HandsOn()]

  private func name(_ object: ManagedObject?) -> String? { object?.value(forKey: "name") as? String }

  /// An object that has led to itself is led elsewhere by the parent. To take back what came into its list here does
  /// not take that back: the object is no longer in the list.
  @Test(arguments: policies) func whatLedToItselfIsLedElsewhere(policy: MergePolicy) throws {
    let fixture = try Fixture(
      owner: {
        ToOne("leader", "Owner", inverse: "members")
        ToMany("members", "Owner", inverse: "leader", ordered: true)
      }, item: {})
    try fixture.store(owners: ["o", "p", "q"], items: [])
    let parent = fixture.mine
    let owner = try fixture.owner("o", parent)
    try owner.set(owner, forKey: "leader")
    try parent.save()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    child.mergePolicy = policy
    try fixture.owner("p", child).set(try fixture.owner("o", child), forKey: "leader")
    try owner.set(try fixture.owner("q", parent), forKey: "leader")
    try child.save()
    #expect(name(owner.value(forKey: "leader") as? ManagedObject) == "q")
    try parent.save()
    #expect(try fixture.read("Owner", "leader") == ["o": "q", "p": "", "q": ""])
    #expect(try fixture.read("Owner", "members") == ["o": "", "p": "", "q": "o"])
  }

  /// The same of two objects that are both in conflict, whichever is decided about first.
  @Test(arguments: policies, [false, true]) func whatBothHaveLostStaysWhereItIs(policy: MergePolicy, isItemFirst: Bool)
    throws
  {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", ordered: true) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o", "p"], items: ["i", "j"])
    let parent = fixture.mine
    let (owner, item) = (try fixture.owner("o", parent), try fixture.item("i", parent))
    try item.set(owner, forKey: "owner")
    try parent.save()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    child.mergePolicy = policy
    let changed = try fixture.item("i", child)
    if isItemFirst { try changed.set("k", forKey: "name") }
    try fixture.item("j", child).set(try fixture.owner("o", child), forKey: "owner")
    if !isItemFirst { try changed.set("k", forKey: "name") }
    try item.set(try fixture.owner("p", parent), forKey: "owner")
    try owner.set("q", forKey: "name")
    try child.save()
    try parent.save()
    #expect(try fixture.read("Item", "owner") == ["i": "p", "j": ""])
    #expect(try fixture.read("Owner", "items") == ["q": "", "p": "i"])
  }

  /// What is taken back may have led to what is gone: it does so again, and no other side is asked.
  @Test(
    arguments: [
      (.rollback, false), (.rollback, true), (.mergeByPropertyStoreTrump, false),
    ] as [(MergePolicy, Bool)])
  func whatLedToNothingDoesSoAgain(policy: MergePolicy, isInChild: Bool) throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", ordered: true, deleteRule: .noAction) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o", "p"], items: ["i"])
    let (parent, theirs) = (fixture.mine, fixture.theirs)
    let known = try fixture.item("i", parent)
    let (owner, item) = (try fixture.owner("o", theirs), try fixture.item("i", theirs))
    try item.set(owner, forKey: "owner")
    try theirs.save()
    theirs.delete(owner)
    try theirs.save()
    let mine = isInChild ? ManagedObjectContext(concurrencyType: .privateQueue, parent: parent) : parent
    if isInChild { parent.refreshAllObjects() }
    mine.mergePolicy = policy
    let changed = try mine.existingObject(with: known.objectID)
    try changed.set(mine.object(with: try fixture.owner("p", parent).objectID), forKey: "owner")
    if isInChild { try known.set("k", forKey: "name") }
    try mine.save()
    #expect(!mine.hasChanges)
    try parent.save()
    let reader = fixture.container.newBackgroundContext()
    let found = try #require(try reader.all("Item").first)
    #expect(name(found) == (isInChild ? "k" : "i"))
    #expect(try found.objectIDs(forRelationshipNamed: "owner") == [owner.objectID])
  }
}
