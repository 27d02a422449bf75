import CambiumCoreData
import Foundation
import Testing

/// Forms that code for Core Data commonly has, of classes that Foundation or Core Data has on Apple platforms alone.
@Suite struct UsualFormsTests {
  class Part: NSManagedObject {
    @Managed var name: String?
    @Managed var size: Int16

    override class func entity() -> NSEntityDescription { super.entity() }
    override var description: String { "Part \(name ?? "")" }
    override var debugDescription: String { "debug " + super.debugDescription }
  }

  /// A policy that counts the conflicts of both kinds in the method for all.
  final class CountingPolicy: NSMergePolicy, @unchecked Sendable {
    var counts: [String: Int] = [:]

    override func resolve(mergeConflicts list: [Any]) throws {
      for conflict in list { counts["\(type(of: conflict))", default: 0] += 1 }
      try super.resolve(mergeConflicts: list)
    }
  }

  private func container() throws -> NSPersistentContainer {
    let entity = NSEntityDescription()
    entity.name = "Part"
    entity.managedObjectClass = Part.self
    let name = FlightLog.attribute("name", .stringAttributeType)
    let size = FlightLog.attribute("size", .integer16AttributeType)
    size.defaultValue = 7
    entity.properties = [name, size]
    entity.uniquenessConstraints = [["name"]]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let container = NSPersistentContainer(name: "Parts", managedObjectModel: model)
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(type: .inMemory)]
    try container.loadPersistentStores()
    return container
  }

  private func parts(_ names: [String], in context: NSManagedObjectContext) -> [Part] {
    names.enumerated().map { place, name in
      let part = Part(context: context)
      (part.name, part.size) = (name, Int16(place))
      return part
    }
  }

  @Test func batchesOfObjects() throws {
    let context = try container().newBackgroundContext()
    var names = ["a", "b"].makeIterator()
    var seen: [ObjectIdentifier: Part] = [:]
    let request = NSBatchInsertRequest(entityName: "Part") { (object: NSManagedObject) in
      guard let name = names.next(), let part = object as? Part else { return true }
      part.name = name
      seen[ObjectIdentifier(part)] = part
      if name == "b" { part.size = 9 }
      return false
    }
    request.resultType = .count
    #expect(try (context.execute(request) as NSBatchInsertResult).result as? Int == 2)
    #expect(seen.count == 2 && seen.values.allSatisfy { $0.managedObjectContext == nil })
    let fetch = NSFetchRequest<Part>(entityName: "Part")
    fetch.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let found = try context.fetch(fetch)
    #expect(found.map(\.name) == ["a", "b"] && found.map(\.size) == [7, 9])
    let unknown = NSBatchInsertRequest(entityName: "Nothing", managedObjectHandler: { _ in false })
    #expect(throws: CambiumError.self) { try context.execute(unknown) as NSBatchInsertResult }
  }

  @Test func collectionsAreSortedAndFiltered() throws {
    let all = parts(["c", "A", "b"], in: try container().viewContext)
    let byName = [NSSortDescriptor(key: "name", ascending: true, comparator: .caseInsensitive)]
    let large = NSPredicate(format: "size > 0")
    #expect((NSSet(array: all).sortedArray(using: byName) as? [Part])?.map(\.name) == ["A", "b", "c"])
    #expect((NSArray(array: all).filtered(using: large) as? [Part])?.map(\.name) == ["A", "b"])
    #expect((NSSet(array: all).filtered(using: large) as? Set<Part>)?.count == 2)
    #expect(NSOrderedSet(array: all).filtered(using: large).array as? [Part] == [all[1], all[2]])
    let list = NSMutableArray(array: all)
    list.sort(using: [NSSortDescriptor(key: "size", ascending: false)])
    #expect(list as? [Part] == all.reversed())
    list.filter(using: large)
    #expect(list.count == 2)
    let set = NSMutableSet(array: all)
    set.filter(using: large)
    #expect(set.count == 2)
    let ordered = NSMutableOrderedSet(array: all)
    ordered.sort(using: byName)
    ordered.filter(using: NSPredicate(format: "size < 2"))
    #expect(ordered.array as? [Part] == [all[1], all[0]])
    let values = NSArray(array: ["b", "a"]).sortedArray(using: [NSSortDescriptor(key: "self", ascending: true)])
    #expect(values as? [String] == ["a", "b"])
    let rows = NSArray(array: [["n": 2], ["n": 1]]).sortedArray(using: [NSSortDescriptor(key: "n", ascending: true)])
    #expect(rows as? [[String: Int]] == [["n": 1], ["n": 2]])
    // A key path that there is not sorts nothing.
    #expect(NSArray(array: all).sortedArray(using: [NSSortDescriptor(key: "x", ascending: true)]) as? [Part] == all)
  }

  @Test func policiesForAllConflicts() throws {
    let container = try container()
    let (first, second) = (container.newBackgroundContext(), container.newBackgroundContext())
    let policy = CountingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    second.mergePolicy = policy
    let part = parts(["a"], in: first)[0]
    try first.save()
    let same = try #require(try second.existingObject(with: part.objectID) as? Part)
    _ = same.size
    part.size = 3
    try first.save()
    same.size = 4
    try second.save()
    #expect(policy.counts == ["MergeConflict": 1])
    #expect(parts(["a"], in: second)[0].isInserted)
    try second.save()
    #expect(policy.counts == ["MergeConflict": 1, "ConstraintConflict": 1])
  }

  @Test func textsOfObjectsAndMenus() throws {
    let context = try container().viewContext
    let part = parts(["a"], in: context)[0]
    #expect("\(part)" == "Part a" && String(reflecting: part) == "debug Part a")
    #expect(Part.entity().name == "Part")
    let manager = UndoManager()
    #expect(manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo")
    manager.setActionName("Move")
    manager.registerUndo {}
    #expect(manager.undoMenuItemTitle == "Undo Move")
    manager.undoNestedGroup()
    #expect(!manager.canUndo)
  }

  @Test func newerNamesAndPlaces() throws {
    let size = NSAttributeDescription()
    size.type = .integer16
    #expect(size.attributeType == .integer16AttributeType && size.attributeValueClassName == "NSNumber")
    let sum = NSExpressionDescription()
    sum.resultType = .double
    #expect(sum.expressionResultType == .doubleAttributeType)
    let entity = try container().managedObjectModel.entitiesByName["Part"]
    let properties = Set(try #require(entity?.properties))
    #expect(properties.contains(try #require(entity?.attributesByName["name"])) && !properties.contains(size))
    var path = IndexPath(row: 2, section: 1)
    #expect(path == IndexPath(item: 2, section: 1) && path == [1, 2] && path.row == 2 && path.section == 1)
    path.section = 0
    path.item = 5
    #expect(path == [0, 5] && IndexPath().section == NSNotFound && IndexPath(index: 3).row == NSNotFound)
  }

  @Test func expressionsThatCannotBeReadThrowInUse() throws {
    let context = try container().viewContext
    #expect(NSExpression(format: "size + %ld", 2).expressionFormat == "(size + 2)")
    let request = NSFetchRequest<NSDictionary>(entityName: "Part")
    request.resultType = .dictionaryResultType
    let wrong = NSExpressionDescription()
    (wrong.name, wrong.expression) = ("x", NSExpression(format: "size +"))
    request.propertiesToFetch = [wrong]
    #expect(throws: CambiumError.self) { try context.fetch(request) }
  }
}
