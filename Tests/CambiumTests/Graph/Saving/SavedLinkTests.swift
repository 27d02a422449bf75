import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Links in saves: what the transaction does with them, and what the context shows then.
@Suite struct SavedLinkTests {
  private typealias Fixture = GraphFindingTests.Fixture

  private func isWhole(_ fixture: Fixture, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let report = try #require(fixture.container.persistentStoreCoordinator.persistentStores.first).check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)", sourceLocation: sourceLocation)
  }

  /// What a merge policy leaves without a mandatory destination is not saved.
  @Test func whatAPolicyDecidesIsValidated() throws {
    let fixture = try Fixture(
      .mergeByPropertyObjectTrump, owner: { ToMany("items", "Item", inverse: "owner") },
      item: { ToOne("owner", "Owner", inverse: "items", optional: false) })
    try fixture.store(owners: ["o"], items: [])
    let item = try fixture.mine.make("Item", ["name": "i", "owner": try fixture.owner("o", fixture.mine)])
    fixture.theirs.delete(try fixture.owner("o", fixture.theirs))
    try fixture.theirs.save()
    #expect(cambiumError { try fixture.mine.save() }?.code == .validationMissingMandatoryProperty)
    #expect(item.isInserted)
    #expect(try fixture.theirs.all("Item").isEmpty)
  }

  /// To take an object out of unordered relationships reads nothing of the objects at the other ends.
  @Test func aDeletionFiresNoFaults() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owners") }, item: { ToMany("owners", "Owner", inverse: "items") })
    try fixture.store(owners: ["o"], items: ["i", "j", "k"])
    let owner = try fixture.owner("o", fixture.theirs)
    for item in try fixture.theirs.all("Item") { try owner.add(item, toRelationship: "items") }
    try fixture.theirs.save()
    let fresh = fixture.container.newBackgroundContext()
    let gone = try fixture.owner("o", fresh)
    let items = try gone.objectIDs(forRelationshipNamed: "items").map { fresh.object(with: $0) }
    fresh.delete(gone)
    #expect(items.count == 3 && items.allSatisfy { $0.isFault })
    try fresh.save()
    #expect(items.allSatisfy { $0.isFault })
    #expect(try fixture.read("Item", "owners") == ["i": "", "j": "", "k": ""])
    try isWhole(fixture)
  }

  /// Objects of a list that are inserted before the list's own object.
  @Test func manyBeforeTheirList() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", ordered: true) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    let items = try (0..<4_000).map { try fixture.mine.make("Item", ["name": "\($0)"]) }
    let owner = try fixture.mine.make("Owner", ["name": "o"])
    try owner.set(items, forKey: "items")
    try fixture.mine.save()
    #expect(owner.row?.version == 1)
    #expect(
      try fixture.owner("o", fixture.theirs).objectIDs(forRelationshipNamed: "items") == items.map { $0.objectID })
    try isWhole(fixture)
  }

  /// Objects that go from one list to another are taken out of the former one together.
  @Test func fromListToList() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner", ordered: true) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["a", "b"], items: (0..<50).map { "\($0)" })
    let mine = fixture.mine
    let (a, b) = (try fixture.owner("a", mine), try fixture.owner("b", mine))
    try a.set(try mine.all("Item"), forKey: "items")
    try mine.save()
    b.setValue("c", forKey: "name")
    for item in try mine.all("Item") { item.setValue(b, forKey: "owner") }
    try mine.save()
    #expect(try a.count(ofRelationship: "items") == 0 && b.count(ofRelationship: "items") == 50)
    #expect(try #require(a.row?.version) <= 4)
    try isWhole(fixture)
  }

  /// A deleted object that was led to something which others have deleted is deleted all the same.
  @Test func whatADeletedObjectWasLedTo() throws {
    let fixture = try Fixture(
      owner: { ToMany("items", "Item", inverse: "owner") }, item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o", "p"], items: ["i"])
    let item = try fixture.item("i", fixture.mine)
    item.setValue(try fixture.owner("p", fixture.mine), forKey: "owner")
    fixture.mine.delete(item)
    fixture.theirs.delete(try fixture.owner("p", fixture.theirs))
    try fixture.theirs.save()
    try fixture.mine.save()
    #expect(try fixture.theirs.all("Item").isEmpty)
    try isWhole(fixture)
  }

  /// What was written, and then deleted by a rule in the same transaction, is gone in the context as well, and told and
  /// recorded so.
  @Test func whatIsWrittenAndGoesAlong() throws {
    let fixture = try Fixture(
      .mergeByPropertyObjectTrump, owner: { ToMany("items", "Item", inverse: "owner", deleteRule: .cascade) },
      item: { ToOne("owner", "Owner", inverse: "items") })
    try fixture.store(owners: ["o"], items: ["i"])
    try fixture.item("i", fixture.theirs).set(try fixture.owner("o", fixture.theirs), forKey: "owner")
    try fixture.theirs.save()
    let (mine, token) = (
      fixture.mine, try fixture.container.persistentStoreCoordinator.currentPersistentHistoryToken()
    )
    let item = mine.object(with: try fixture.item("i", fixture.theirs).objectID)
    let owner = mine.object(with: try fixture.owner("o", fixture.theirs).objectID)
    let told = Locked<[Set<ManagedObjectID>]>([])
    let observation = mine.observe { notification in
      guard notification.kind == .didSave else { return }
      told.withLock { $0 = [notification.objectIDs.updatedObjectIDs, notification.objectIDs.deletedObjectIDs] }
    }
    mine.delete(owner)
    item.setValue("x", forKey: "name")
    try mine.save()
    withExtendedLifetime(observation) {}
    #expect(item.value(forKey: "name") == nil && item.isDeleted)
    #expect(told.withLock { $0 } == [[], [owner.objectID, item.objectID]])
    let changes = try mine.execute(.fetchHistory(after: token)).transactions.flatMap { $0.changes ?? [] }
    #expect(changes.map { $0.changeType } == [.delete, .delete])
    try isWhole(fixture)
  }
}
