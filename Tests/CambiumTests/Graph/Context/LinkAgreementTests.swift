import Synchronization
import Testing

@testable import Cambium

/// A save that may not have known all brings the other side of what it changes in step, in the store: here one side
/// alone is changed, by what keeps nothing in step.
@Suite struct LinkAgreementTests {
  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let nodes: [ManagedObject]

  init() throws {
    directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Entity("Node") {
        Attribute("name", .string)
        Attribute("family", .integer64, derived: "children.@count")
        Attribute("elder", .string, derived: "uppercase:(parent.name)")
        ToOne("next", "Node", inverse: "previous")
        ToOne("previous", "Node", inverse: "next")
        ToOne("parent", "Node", inverse: "children")
        ToMany("children", "Node", inverse: "parent", ordered: true, deleteRule: .cascade)
        ToMany("friends", "Node", inverse: "friendOf", ordered: true)
        ToMany("friendOf", "Node", inverse: "friends")
        ToMany("likes", "Node", inverse: "likedBy", ordered: true)
        ToMany("likedBy", "Node", inverse: "likes", ordered: true)
        ToMany("tags", "Node", inverse: "tagged")
        ToMany("tagged", "Node", inverse: "tags")
        ToMany("peers", "Node", inverse: "peers")
      }
    }
    container = try directory.container(model: model) { $0.tracksHistory = true }
    context = container.newBackgroundContext()
    let made = context
    nodes = try (0..<4).map { try made.make("Node", ["name": "n\($0)"]) }
    try context.save()
  }

  private func relationship(_ object: ManagedObject, _ key: String) throws -> RelationshipInfo {
    try #require(object.info.properties[key]?.relationship)
  }

  /// Changes one side, and nothing else.
  private func leadOneWay(_ object: ManagedObject, _ key: String, from old: ManagedObject?, to new: ManagedObject?)
    throws
  {
    let r = try relationship(object, key)
    if !r.isToMany { return try object.recordToOne(r, new?.objectID) }
    if let old { try object.recordRemove(old.objectID, r) }
    if let new { try object.recordAdd(new.objectID, r) }
  }

  private func save() throws {
    try context.save()
    let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
    let report = try store.check()
    #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
  }

  /// The names of what is stored of a relationship.
  private func stored(_ object: ManagedObject, _ key: String) throws -> [String] {
    let fresh = container.newBackgroundContext()
    return try fresh.object(with: object.objectID).objectIDs(forRelationshipNamed: key)
      .compactMap { fresh.object(with: $0).value(forKey: "name") as? String }.sorted()
  }

  private static let pairs = [
    ("next", "previous"), ("parent", "children"), ("children", "parent"), ("friends", "friendOf"),
    ("friendOf", "friends"), ("likes", "likedBy"), ("tags", "tagged"), ("peers", "peers"),
  ]

  @Test(arguments: pairs) func gains(key: String, inverse: String) throws {
    try leadOneWay(nodes[0], key, from: nil, to: nodes[1])
    try save()
    #expect(try stored(nodes[0], key) == ["n1"])
    #expect(try stored(nodes[1], inverse) == ["n0"])
    // What the context has shows it as well.
    #expect(try nodes[1].objectIDs(forRelationshipNamed: inverse) == [nodes[0].objectID])
  }

  @Test(arguments: pairs) func loses(key: String, inverse: String) throws {
    try nodes[0].link(key, nodes[1])
    try context.save()
    try leadOneWay(nodes[0], key, from: nodes[1], to: nil)
    try save()
    #expect(try stored(nodes[0], key) == [])
    #expect(try stored(nodes[1], inverse) == [])
    #expect(try nodes[1].objectIDs(forRelationshipNamed: inverse) == [])
  }

  @Test(arguments: pairs) func moves(key: String, inverse: String) throws {
    try nodes[0].link(key, nodes[1])
    try nodes[2].link(key, nodes[3])
    try context.save()
    try leadOneWay(nodes[0], key, from: nodes[1], to: nodes[3])
    try save()
    #expect(try stored(nodes[0], key) == ["n3"])
    #expect(try stored(nodes[1], inverse) == [])
    // One to which several may lead has both; another is let go of.
    let isShared = try relationship(nodes[3], inverse).isToMany
    #expect(try stored(nodes[3], inverse) == (isShared ? ["n0", "n2"] : ["n0"]))
    #expect(try stored(nodes[2], key) == (isShared ? ["n3"] : []))
  }

  /// Two new objects that both say that they have one: the last one has.
  @Test(arguments: ["next", "children"]) func severalGainOne(key: String) throws {
    let new = try [context.make("Node", ["name": "a"]), context.make("Node", ["name": "b"])]
    for object in new { try leadOneWay(object, key, from: nil, to: nodes[0]) }
    try save()
    let counts = try new.map { try stored($0, key).count }
    #expect(counts == [0, 1])
  }

  @Test func derivesAnewTellsAndRecords() throws {
    let token = try container.persistentStoreCoordinator.currentPersistentHistoryToken()
    let told = Mutex(Set<ManagedObjectID>())
    let observation = context.observe { notification in
      if notification.kind == .didSave { told.withLock { $0.formUnion(notification.objectIDs.updatedObjectIDs) } }
    }
    try leadOneWay(nodes[0], "children", from: nil, to: nodes[1])
    try leadOneWay(nodes[2], "parent", from: nil, to: nodes[3])
    try save()
    withExtendedLifetime(observation) {}
    let fresh = container.newBackgroundContext()
    #expect(fresh.object(with: nodes[1].objectID).value(forKey: "elder") as? String == "N0")
    #expect(fresh.object(with: nodes[3].objectID).value(forKey: "family") as? Int == 1)
    #expect(told.withLock { $0 } == Set(nodes.map { $0.objectID }))
    let changes = try fresh.execute(.fetchHistory(after: token)).transactions.flatMap { $0.changes ?? [] }
    let names = Dictionary(
      uniqueKeysWithValues: changes.map { ($0.changedObjectID, Set($0.updatedProperties ?? [])) })
    #expect(names[nodes[1].objectID]?.isSuperset(of: ["parent", "elder"]) == true)
    #expect(names[nodes[3].objectID]?.isSuperset(of: ["children", "family"]) == true)
  }

  /// Of what the save inserts, the history tells that alone.
  @Test func recordsInsertionsOnce() throws {
    let token = try container.persistentStoreCoordinator.currentPersistentHistoryToken()
    let new = try context.make("Node", ["name": "new"])
    try leadOneWay(nodes[0], "children", from: nil, to: new)
    try save()
    #expect(try stored(new, "parent") == ["n0"])
    let changes = try context.execute(.fetchHistory(after: token)).transactions.flatMap { $0.changes ?? [] }
    #expect(changes.filter { $0.changedObjectID == new.objectID }.map { $0.changeType } == [.insert])
  }

  /// The same of what loses a destination by delete rules.
  @Test func recordsInsertionsOnceBesideDeletions() throws {
    let other = container.newBackgroundContext()
    context.mergePolicy = .mergeByPropertyObjectTrump
    for node in nodes { _ = node.value(forKey: "name") }
    let new = try context.make("Node", ["name": "new"])
    try new.add(nodes[1], toRelationship: "tags")
    context.delete(nodes[0])
    try other.object(with: nodes[1].objectID).set(other.object(with: nodes[0].objectID), forKey: "parent")
    try other.save()
    let token = try container.persistentStoreCoordinator.currentPersistentHistoryToken()
    let told = Mutex(Set<ManagedObjectID>())
    let observation = context.observe { notification in
      if notification.kind == .didSave { told.withLock { $0.formUnion(notification.objectIDs.updatedObjectIDs) } }
    }
    try save()
    withExtendedLifetime(observation) {}
    #expect(try container.newBackgroundContext().all("Node").count == 3)
    #expect(try stored(new, "tags") == [])
    #expect(!told.withLock { $0.contains(new.objectID) })
    let changes = try context.execute(.fetchHistory(after: token)).transactions.flatMap { $0.changes ?? [] }
    #expect(changes.filter { $0.changedObjectID == new.objectID }.map { $0.changeType } == [.insert])
  }

  /// What is led to something that the save deletes goes by the rules of that.
  @Test func leadsToWhatIsDeleted() throws {
    try nodes[0].set("edited", forKey: "name")
    try leadOneWay(nodes[1], "friends", from: nil, to: nodes[3])
    context.delete(nodes[3])
    try leadOneWay(nodes[1], "likes", from: nil, to: nodes[3])
    try save()
    #expect(try stored(nodes[1], "friends") == [])
    #expect(try stored(nodes[1], "likes") == [])
  }
}

extension ManagedObject {
  /// Leads a relationship to an object, on both sides.
  fileprivate func link(_ key: String, _ other: ManagedObject) throws {
    if info.properties[key]?.relationship?.isToMany == true {
      try add(other, toRelationship: key)
    } else {
      try set(other, forKey: key)
    }
  }
}
