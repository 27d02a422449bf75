import Testing

@testable import Cambium

/// What a context shows and goes by once a save was refused, which has looked at the newest commit for what is derived.
@Suite struct RefusedSaveTests {
  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private let context: ManagedObjectContext
  private let other: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Entity("Node") {
        Attribute("code", .string)
        Attribute("note", .string)
        Attribute("childCount", .integer64, derived: "children.@count")
        ToMany("children", "Node", inverse: "parent")
        ToOne("parent", "Node", inverse: "children")
        Unique("code")
      }
    }
    container = try directory.container(model: model)
    (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
  }

  /// The context goes on with what it showed: what others have moved stays where it is, unless it is moved here as
  /// well.
  @Test(arguments: [true, false]) func whatOthersHaveMoved(takesOut: Bool) throws {
    context.mergePolicy = .mergeByPropertyObjectTrump
    let names = ["a", "b", "u", "x"]
    let nodes = try names.map { try context.make("Node", ["code": $0]) }
    let (a, b, u) = (nodes[0], nodes[1], nodes[2])
    try u.set(a, forKey: "parent")
    try context.save()
    _ = try context.all("Node")
    #expect(try a.count(ofRelationship: "children") == 1)
    let theirs = other.object(with: u.objectID)
    try theirs.set(other.object(with: b.objectID), forKey: "parent")
    try other.save()
    // Unsaved changes that what is derived follows from, and one that is refused.
    try u.set("changed", forKey: "note")
    let extra = try context.make("Node", ["code": "x"])
    try extra.set(a, forKey: "parent")
    context.mergePolicy = .error
    #expect(throws: CambiumError.self) { try context.save() }
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.delete(extra)
    #expect(u.value(forKey: "parent") as? ManagedObject === a)
    #expect(a.value(forKey: "children") as? Set<ManagedObject> == [u])
    if takesOut { try a.remove(u, fromRelationship: "children") } else { try u.set("again", forKey: "note") }
    try context.save()
    for store in container.persistentStoreCoordinator.persistentStores {
      let report = try store.check()
      #expect(report.isSound && report.looseRelationships.isEmpty, "\(report)")
    }
    let fresh = container.newBackgroundContext()
    let counts = nodes.map { fresh.object(with: $0.objectID).value(forKey: "childCount") as? Int }
    #expect(counts == [0, takesOut ? 0 : 1, 0, 0])
    let parent = fresh.object(with: u.objectID).value(forKey: "parent") as? ManagedObject
    #expect(parent?.objectID == (takesOut ? nil : b.objectID))
  }
}
