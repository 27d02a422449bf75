import Cambium
import CambiumTesting
import Testing

/// How often `willSave()` is called: as in Core Data, until nothing changes any more.
@Suite struct WillSaveTests {
  /// What is called, and what it does.
  final class Note: ManagedObject {
    @Managed var name: String?
    @Managed var count: Int
    @Managed var summary: String?
    @Managed var next: Note?
    var calls = 0
    var hook: ((Note) -> Void)?
    override func willSave() {
      calls += 1
      hook?(self)
    }
  }

  private func context() throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      Entity("Note", class: Note.self) {
        Attribute("name", .string)
        Attribute("count", .integer64)
        Attribute("summary", .string)
        Attribute("kept", .string, transient: true)
        ToOne("next", "Note", inverse: "previous")
        ToOne("previous", "Note", inverse: "next")
      }
    }
    return try memoryContainer(model).newBackgroundContext()
  }

  private func made(_ context: ManagedObjectContext, _ name: String) throws -> Note {
    let note = Note(context: context)
    note.name = name
    return note
  }

  private func stored(_ note: Note) throws -> Note {
    let coordinator = try #require(note.managedObjectContext?.persistentStoreCoordinator)
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    return try #require(try context.existingObject(with: note.objectID) as? Note)
  }

  @Test func whatItChangesItselfIsTold() throws {
    let context = try context()
    let note = try made(context, "a")
    note.hook = { if $0.count < 3 { $0.count += 1 } }
    try context.save()
    #expect(note.calls == 4 && note.count == 3)
    // What is there already is no change.
    note.hook = { $0.count = 3 }
    note.calls = 0
    note.name = "b"
    try context.save()
    #expect(note.calls == 1)
    // A transient value is none that is saved.
    note.hook = { $0.setValue("\($0.calls)", forKey: "kept") }
    note.calls = 0
    note.name = "c"
    try context.save()
    #expect(note.calls == 1 && note.value(forKey: "kept") as? String == "1")
  }

  @Test func whatOthersChangeLaterIsTold() throws {
    let context = try context()
    let (a, b) = (try made(context, "a"), try made(context, "b"))
    a.next = b
    try context.save()
    (a.calls, b.calls) = (0, 0)
    // The first has been told when the second changes it, and says once more what it comes to.
    a.hook = { $0.summary = "\($0.name ?? "") \($0.count)" }
    b.hook = { ($0.value(forKey: "previous") as? Note)?.count = 7 }
    a.name = "c"
    b.name = "d"
    try context.save()
    #expect(a.summary == "c 7" && a.calls >= 2 && b.calls == 1)
    let found = try stored(a)
    #expect(found.summary == "c 7" && found.count == 7)
  }

  @Test func whatIsNotOfTheSaveComesToIt() throws {
    let context = try context()
    let (a, b) = (try made(context, "a"), try made(context, "b"))
    try context.save()
    (a.calls, b.calls) = (0, 0)
    a.hook = { _ in b.count = 1 }
    a.name = "c"
    try context.save()
    #expect(a.calls == 1 && b.calls == 1)
    #expect(try stored(b).count == 1)
    // And one that is deleted is told as such.
    var wasDeleted: [Bool] = []
    b.hook = { wasDeleted.append($0.isDeleted) }
    a.hook = { [weak context] a in if !b.isDeleted { context?.delete(b) } }
    a.name = "e"
    b.name = "f"
    try context.save()
    #expect(wasDeleted.last == true && wasDeleted.filter { $0 }.count == 1)
    #expect(try context.all("Note").count == 1)
  }

  @Test func eventsThatEndMeanwhileHideNothing() throws {
    let context = try context()
    context.undoManager = ContextUndoManager()
    let (a, b) = (try made(context, "a"), try made(context, "b"))
    try context.save()
    (a.calls, b.calls) = (0, 0)
    a.hook = { $0.summary = "\($0.count)" }
    b.hook = { [weak context] _ in
      // As Core Data's code has it, so that what a hook sets cannot be undone.
      context?.processPendingChanges()
      a.count = 5
      context?.processPendingChanges()
    }
    a.name = "c"
    b.name = "d"
    try context.save()
    #expect(a.summary == "5" && a.calls >= 2)
  }

  @Test func roundsAreOneEvent() throws {
    let context = try context()
    let note = try made(context, "a")
    try context.save()
    context.undoManager = ContextUndoManager()
    note.hook = { if $0.count < 3 { $0.count += 1 } }
    note.name = "b"
    context.processPendingChanges()
    try context.save()
    #expect(note.count == 3)
    note.hook = nil
    context.undo()
    #expect(note.count == 0 && note.name == "b")
    context.undo()
    #expect(note.name == "a")
  }

  @Test func whatNeverEndsIsAnError() throws {
    let context = try context()
    let note = try made(context, "a")
    note.hook = { $0.count += 1 }
    let error = try #require(cambiumError { try context.save() })
    #expect(error.code == .persistentStoreSave && error.entityName == "Note" && error.objectID == note.objectID)
    #expect(error.description.contains("setPrimitiveValue"))
    #expect(context.hasChanges && note.isInserted)
    // As it says.
    note.hook = { $0.setPrimitiveValue($0.count + 1, forKey: "count") }
    let before = note.count
    note.calls = 0
    try context.save()
    #expect(note.calls == 1 && note.count == before + 1)
    #expect(try stored(note).count == before + 1)
  }

  @Test func childContextsToo() throws {
    let context = try context()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: context)
    let note = try made(child, "a")
    note.hook = { if $0.count < 2 { $0.count += 1 } }
    try child.save()
    #expect(note.calls == 3)
    try context.save()
    #expect(try context.all("Note").compactMap { $0.value(forKey: "count") as? Int } == [2])
  }
}
