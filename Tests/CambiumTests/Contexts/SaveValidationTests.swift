import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// Methods that validate, and do more than look: what they change is saved as a whole, or the save is refused.
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
    override func awakeFromFetch() { Self.awoken?(self) }
    override func validateForInsert() throws { try validated() }
    override func validateForUpdate() throws { try validated() }
    override func validateForDelete() throws { try validated() }
    private func validated() throws {
      validations += 1
      try hook?(self)
    }

    /// What is done by the next object that is read; by the one test that sets it.
    nonisolated(unsafe) static var awoken: ((Item) -> Void)?
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

  @Test(arguments: [false, true]) func whatIsInsertedIsSavedAsWell(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let item = all.make("a")
    var made: Item?
    item.hook = { item in
      guard item.group == nil, let context = item.managedObjectContext else { return }
      let group = Item(context: context)
      made = group
      group.name = "group"
      item.group = group
      // A new object that leads to it as well.
      let partner = Item(context: context)
      partner.name = "partner"
      partner.partner = item
    }
    try all.save()
    #expect(made?.validations == 1 && made?.willSaves == 1 && item.validations == 1 && item.group === made)
    #expect(item.group?.objectID.isTemporaryID == false && all.context.hasChanges == false)
    try all.expect(["a A partner group 0", "group GROUP - - 1", "partner PARTNER a - 0"])
    try all.save()
  }

  @Test(arguments: [false, true]) func whatIsChangedOfOthersIsSavedAsWell(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let old = all.make("old")
    try all.save()
    let item = all.make("new")
    item.hook = { item in
      item.partner = old
      old.name = "older"
      item.name = "newer"
    }
    try all.save()
    #expect(old.validations == 2 && old.willSaves == 2 && !all.context.hasChanges)
    try all.expect(["newer NEWER older - 0", "older OLDER newer - 0"])
    // Deleted, of those that the save is not about.
    item.hook = { _ in all.context.delete(old) }
    item.name = "newest"
    try all.save()
    #expect(old.validations == 3)
    try all.expect(["newest NEWEST - - 0"])
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

  @Test(arguments: [false, true]) func whatNeverEndsIsRefused(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    func bring(_ item: Item) {
      guard let context = item.managedObjectContext else { return }
      let next = Item(context: context)
      next.hook = { bring($0) }
    }
    all.make("a").hook = { bring($0) }
    #expect(cambiumError { try all.save() }?.message.contains("in 100 rounds") == true)
    all.context.rollback()
    try all.save()
    try all.expect([])
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

  /// What belongs to the context no more is not asked.
  @Test(arguments: [false, true]) func whatIsTakenBackIsNotValidated(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let items = (0..<3).map { all.make("\($0)") }
    items[0].hook = { $0.managedObjectContext?.reset() }
    #expect(cambiumError { try all.save() }?.message.contains("has taken back what is being saved") == true)
    #expect(items.map { $0.validations } == [1, 0, 0])
    _ = all.make("later")
    try all.save()
    try all.expect(["later LATER - - 0"])
  }

  /// What an object that is read only when it is written changes of others is saved next, and leads to what was new by then.
  @Test func whatIsLeftForTheNextSaveLeadsToWhatWasNew() throws {
    let all = try Contexts(isChild: false, derives: false)
    for name in ["fault", "old"] { _ = all.make(name) }
    try all.save()
    let context = all.container.newBackgroundContext()
    let old = try #require(try context.all("Item", "name == 'old'").first as? Item)
    let id = try #require(try all.root.all("Item", "name == 'fault'").first?.objectID)
    let fault = try #require(context.object(with: id) as? Item)
    let new = Item(context: context)
    new.name = "new"
    try fault.add(new, toRelationship: "friends")
    #expect(fault.isFault)
    var isRead = false
    Item.awoken = { item in
      guard item === fault else { return }
      isRead = true
      old.group = new
    }
    defer { Item.awoken = nil }
    try context.save()
    #expect(isRead && !new.objectID.isTemporaryID && old.group === new)
    try context.save()
    #expect(try all.stored().filter { !$0.hasPrefix("new") } == ["fault - - - -", "old - - new -"])
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

  /// What is in the save for what it derives alone is validated once, whatever its method sets for now.
  @Test func whatOnlyDerivesIsValidatedOnce() throws {
    let all = try Contexts(isChild: false)
    let (group, item) = (all.make("group"), all.make("item"))
    item.group = group
    try all.save()
    item.hook = { $0.note = "checked" }
    (item.validations, item.willSaves) = (0, 0)
    group.name = "other"
    try all.save()
    #expect(item.validations == 1 && item.willSaves == 0)
    #expect(item.value(forKey: "groupName") as? String == "other")
  }

  /// An object may be noted as changed, with nothing to be saved.
  @Test(arguments: [false, true]) func whatHadNothingToBeSavedIsValidated(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let (group, item, other) = (all.make("group"), all.make("item"), all.make("other"))
    try all.save()
    group.hook = { try $0.validate(all: false) }
    (group.validations, group.willSaves) = (0, 0)
    item.group = group
    item.group = nil
    other.name = "changed"
    other.hook = { _ in group.setValue(nil, forKey: "code") }
    #expect(cambiumError { try all.save() }?.code == .validationMissingMandatoryProperty)
    #expect(group.validations == 1 && group.willSaves == 1)
    all.context.rollback()
    try all.save()
  }

  /// What others change behind an object's validation is validated once more; not without an end.
  @Test(arguments: [false, true]) func whatIsChangedLaterIsValidatedAgain(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let (first, second, third) = (all.make("a"), all.make("b"), all.make("c"))
    first.hook = { item in
      try item.validate(all: true)
      // The next one is asked after this.
      second.note = "by the first"
    }
    second.hook = { _ in first.setValue(nil, forKey: "code") }
    #expect(cambiumError { try all.save() }?.code == .validationMissingMandatoryProperty)
    #expect([first, second, third].map { $0.validations } == [2, 1, 1])
    first.setValue(2, forKey: "code")
    second.hook = { _ in first.note = "by the second" }
    try all.save()
    #expect([first, second, third].map { $0.validations } == [4, 3, 2])
    try all.expect(["a A - - 0", "b B - - 0", "c C - - 0"])
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

  /// What is in the save for what it derives alone, and is changed then, is told as all others are.
  @Test func whatDerivesAndIsChangedIsTold() throws {
    let all = try Contexts(isChild: false)
    let group = all.make("group")
    try all.save()
    let item = all.make("item")
    item.group = group
    item.hook = { _ in group.name = "other" }
    (group.validations, group.willSaves) = (0, 0)
    try all.save()
    #expect(group.willSaves == 1 && group.validations == 1)
    try all.expect(["item ITEM - other 0", "other OTHER - - 1"])
  }

  /// Each brings the next one: as long as the chain is.
  @Test(arguments: [false, true]) func aChainComesToAnEnd(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let items = (0..<150).map { all.make("\($0 + 1_000)") }
    try all.save()
    for (item, next) in zip(items, items.dropFirst()) {
      item.hook = { _ in next.setValue(2, forKey: "code") }
      (item.validations, item.willSaves) = (0, 0)
    }
    items[0].setValue(2, forKey: "code")
    try all.save()
    #expect(!all.context.hasChanges && items.dropLast().allSatisfy { $0.validations == 1 && $0.willSaves == 1 })
    let reading = all.container.newBackgroundContext()
    #expect(try reading.all("Item", "code == 2").count == 150)
  }

  /// What is changed by an observer just before validation is of an event that is not told yet.
  @Test func whatObserversChangeIsValidatedAgain() throws {
    let all = try Contexts(isChild: false)
    let (first, second) = (all.make("a"), all.make("b"))
    try all.save()
    first.hook = { try $0.validate(all: false) }
    second.hook = { _ in first.setValue(nil, forKey: "code") }
    let id = first.objectID
    let observation = all.context.observe { told in
      guard told.kind == .objectsDidChange,
        let first = told.updatedObjects.first(where: { $0.objectID == id }) as? Item,
        first.name == "c"
      else { return }
      first.name = "d"
    }
    first.name = "c"
    second.name = "e"
    #expect(cambiumError { try all.save() }?.code == .validationMissingMandatoryProperty)
    withExtendedLifetime(observation) {}
  }

  /// Of what a refused save has brought in for what it derives, what was set by a method that validates stays.
  @Test func whatIsSetOutlivesARefusedSave() throws {
    let all = try Contexts(isChild: false)
    let group = all.make("group")
    try all.save()
    let item = all.make("item")
    item.group = group
    item.hook = { _ in
      group.name = "other"
      throw CambiumError(.managedObjectValidation, "never")
    }
    #expect(cambiumError { try all.save() }?.code == .managedObjectValidation)
    #expect(group.name == "other" && all.context.updatedObjects.contains(group))
    item.hook = nil
    try all.save()
    try all.expect(["item ITEM - other 0", "other OTHER - - 1"])
  }

  /// Each changes itself, and all of them one that they lead to.
  @Test(arguments: [false, true]) func veryManyChangeThemselves(isChild: Bool) throws {
    let all = try Contexts(isChild: isChild)
    let group = all.make("group")
    try all.save()
    let items = (0..<3_000).map { all.make(" \($0) 🛩️é") }
    for item in items {
      item.group = group
      item.hook = { item in
        item.name = item.name?.trimmingCharacters(in: .whitespaces)
        group.note = "of \(item.name ?? "-")"
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

  /// An object that comes to be deleted while it is validated is asked whether it may be.
  @Test func whatComesToBeDeletedIsAsked() throws {
    let model = try ManagedObjectModel {
      Entity("Item", class: Plain.self) {
        Attribute("name", .string)
        ToOne("group", "Item", inverse: "members")
        ToMany("members", "Item", inverse: "group", deleteRule: .cascade)
        ToOne("holder", "Item", inverse: "held")
        ToMany("held", "Item", inverse: "holder", deleteRule: .deny)
      }
    }
    let context = try memoryContainer(model).newBackgroundContext()
    func make(_ name: String) -> Plain {
      let item = Plain(context: context)
      item.name = name
      return item
    }
    let (group, item, held) = (make("group"), make("item"), make("held"))
    held.holder = item
    try context.save()
    context.delete(group)
    item.name = "other"
    item.hook = { item in if !item.isDeleted { item.group = group } }
    #expect(cambiumError { try context.save() }?.code == .validationRelationshipDeniedDelete)
    #expect(held.holder === item)
  }

  final class Plain: ManagedObject {
    @Managed var name: String?
    @Managed var group: Plain?
    @Managed var holder: Plain?
    var hook: ((Plain) -> Void)?
    override func validateForUpdate() throws {
      hook?(self)
      try super.validateForUpdate()
    }
  }
}
