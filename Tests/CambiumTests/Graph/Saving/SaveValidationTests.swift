import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Methods that validate, and do more than look: what they correct of their own objects is saved, and whatever else
/// they change is an error.
@Suite(.serialized) struct SaveValidationTests {
  final class Item: ManagedObject {
    @Managed var name: String?
    @Managed var upper: String?
    @Managed var note: String?
    @Managed var partner: Item?
    @Managed var group: Item?
    @Managed var members: Set<Item>
    var hook: ((Item) throws -> Void)?
    var willSaves = 0
    var validations = 0

    override func willSave() { willSaves += 1 }
    override func validateForInsert() throws { try validated() }
    override func validateForUpdate() throws { try validated() }
    override func validateForDelete() throws { try validated() }
    private func validated() throws {
      validations += 1
      try hook?(self)
    }
  }

  private static func model(derives: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Item", class: Item.self) {
        Attribute("name", .string)
        if derives {
          Attribute("upper", .string, derived: "uppercase:(name)")
          Attribute("size", .integer64, derived: "members.@count")
        }
        ToOne("partner", "Item", inverse: "partner")
        ToOne("group", "Item", inverse: "members")
        ToMany("members", "Item", inverse: "group")
        ToMany("friends", "Item", inverse: "friends")
        Attribute("code", .integer16, optional: false, default: 1)
        Attribute("note", .string, transient: true)
        if derives { Attribute("groupName", .string, derived: "group.name") }
        Unique("name")
      }
    }
  }

  private struct Contexts {
    let container: PersistentContainer
    let root: ManagedObjectContext
    /// The one that saves.
    let context: ManagedObjectContext

    init(isChild: Bool, derives: Bool = true) throws {
      container = try memoryContainer(SaveValidationTests.model(derives: derives))
      root = container.newBackgroundContext()
      context = isChild ? ManagedObjectContext(concurrencyType: .privateQueue, parent: root) : root
    }

    func make(_ name: String) -> Item {
      let item = Item(context: context)
      item.name = name
      return item
    }

    func save() throws {
      try context.save()
      if context !== root { try root.save() }
    }

    func expect(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
      let found = try stored()
      #expect(found == expected, sourceLocation: sourceLocation)
    }

    /// What is stored, by names.
    func stored() throws -> [String] {
      let reading = container.newBackgroundContext()
      return try reading.all("Item", sort: [FetchSortDescriptor(key: "name")]).map { object in
        func name(_ key: String) -> String {
          (object.value(forKey: key) as? ManagedObject)?.value(forKey: "name") as? String ?? "-"
        }
        let size = object.value(forKey: "size") ?? "-"
        return
          "\(object.value(forKey: "name") ?? "-") \(object.value(forKey: "upper") ?? "-") \(name("partner")) \(name("group")) \(size)"
      }
    }
  }

  @Test func whatIsDerivedFollowsAValueThatIsCorrected() throws {
    let all = try Contexts(isChild: false)
    let item = all.make(" a ")
    item.hook = { $0.name = $0.name?.trimmingCharacters(in: .whitespaces) }
    try all.save()
    #expect(item.upper == "A" && item.validations == 1)
    item.name = " b "
    try all.save()
    #expect(item.upper == "B")
    try all.expect(["b B - - 0"])
  }

  @Test(arguments: [false, true]) func savesWithinThrow(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    var errors: [CambiumError.Code?] = []
    let item = all.make("a")
    item.hook = { item in errors.append(cambiumError { try item.managedObjectContext?.save() }?.code) }
    try all.save()
    item.name = "b"
    try all.save()
    all.context.delete(item)
    try all.save()
    #expect(errors == [.persistentStoreSave, .persistentStoreSave, .persistentStoreSave])
    try all.expect([])
  }

  /// What a parent saves while a child validates may be about the same objects.
  @Test func theParentJoinsObjectsMeanwhile() throws {
    let all = try Contexts(isChild: true)
    let other = all.container.newBackgroundContext()
    try other.make("Item", ["name": "same"])
    try other.save()
    let stored = try #require(try all.context.all("Item").first)
    let item = all.make("same")
    try all.context.save()
    item.partner = all.make("partner")
    let root = all.root
    root.mergePolicy = .mergeByPropertyObjectTrump
    nonisolated(unsafe) var hasSaved = false
    nonisolated(unsafe) var error: CambiumError?
    item.hook = { _ in
      if hasSaved { return }
      hasSaved = true
      let done = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        root.performAndWait { error = cambiumError { try root.save() } }
        done.signal()
      }
      done.wait()
    }
    try all.save()
    #expect(hasSaved && error == nil && stored.managedObjectContext === all.context)
    try all.expect(["partner PARTNER same - 0", "same SAME partner - 0"])
  }

  /// What methods that validate have changed is shown, also if the save is refused then.
  @Test(arguments: [false, true]) func whatIsRefusedIsTold(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let (first, second) = (all.make("a"), all.make("b"))
    try all.save()
    let request = FetchRequest<Item>(entityName: "Item")
    request.sortDescriptors = [FetchSortDescriptor(key: "name")]
    let controller = FetchedResultsController(
      fetchRequest: request, managedObjectContext: all.context, sectionNameKeyPath: nil)
    try controller.performFetch()
    #expect(controller.fetchedObjects == [first, second])
    second.setValue(second.name, forKey: "name")
    second.group = first
    second.hook = { item in
      item.name = "0"
      throw CambiumError(.managedObjectValidation, "never")
    }
    #expect(cambiumError { try all.save() }?.code == .managedObjectValidation)
    #expect(controller.fetchedObjects == [second, first])
  }

  /// What such a method must not do.
  enum Change: CaseIterable, Sendable {
    case insertion, otherObject, ownRelationship, deletion, reset
  }

  @Test(arguments: [false, true], Change.allCases) func whatElseIsChangedIsAnError(isChild: Bool, change: Change) throws
  {
    let all = try Contexts(isChild: isChild)
    let other = all.make("other")
    try all.save()
    let item = all.make("a")
    item.hook = { item in
      guard let context = item.managedObjectContext else { return }
      switch change {
      case .insertion: Item(context: context).name = "new"
      case .otherObject: other.name = "changed"
      case .ownRelationship: item.partner = other
      case .deletion: context.delete(other)
      case .reset: context.reset()
      }
    }
    let error = try #require(cambiumError { try all.save() })
    #expect(error.code == .persistentStoreSave && error.message.contains("willSave()"), "\(error)")
    try all.expect(["other OTHER - - 0"])
    // What the method did stays unsaved, as after any save that failed.
    item.hook = nil
    all.context.rollback()
    _ = all.make("later")
    try all.save()
    try all.expect(["later LATER - - 0", "other OTHER - - 0"])
  }

  /// What is derived of an object by way of another one does not bring it into the save.
  @Test func whatOnlyDerivesIsNotValidated() throws {
    let all = try Contexts(isChild: false)
    let (group, item) = (all.make("group"), all.make("item"))
    item.group = group
    try all.save()
    item.hook = { $0.note = "checked" }
    (item.validations, item.willSaves) = (0, 0)
    group.name = "other"
    try all.save()
    #expect(item.validations == 0 && item.willSaves == 0)
    #expect(item.value(forKey: "groupName") as? String == "other")
  }

  @Test func whatIsDerivedFollowsPrimitiveValues() throws {
    let all = try Contexts(isChild: false)
    let item = all.make(" a ")
    item.hook = { $0.setPrimitiveValue($0.name?.trimmingCharacters(in: .whitespaces), forKey: "name") }
    try all.save()
    try all.expect(["a A - - 0"])
    // Also of an event that was not told yet.
    item.hook = { $0.name = $0.name?.trimmingCharacters(in: .whitespaces) }
    let observation = all.context.observe { told in
      guard told.kind == .objectsDidChange, let item = told.updatedObjects.first as? Item, item.name == " b" else {
        return
      }
      item.name = " c "
    }
    item.name = " b"
    try all.save()
    withExtendedLifetime(observation) {}
    try all.expect(["c C - - 0"])
  }

  /// Each changes itself.
  @Test(arguments: [false, true]) func veryManyChangeThemselves(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let group = all.make("group")
    try all.save()
    let items = (0..<3_000).map { all.make(" \($0) 🛩️é") }
    for item in items {
      item.group = group
      item.hook = { item in
        item.name = item.name?.trimmingCharacters(in: .whitespaces)
        item.note = "of \(item.name ?? "-")"
      }
    }
    try all.save()
    #expect(items.allSatisfy { $0.validations == 1 } && !all.context.hasChanges)
    let reading = all.container.newBackgroundContext()
    let found = try reading.all("Item", "group.name == 'group'")
    #expect(found.count == 3_000 && Set(found.map { $0.value(forKey: "name") as? String }).contains("2999 🛩️é"))
    #expect(
      found.allSatisfy { $0.value(forKey: "upper") as? String == ($0.value(forKey: "name") as? String)?.uppercased() })
    #expect(try reading.all("Item", "size == 3000").count == 1)
  }
}
