import Foundation
import Testing

@testable import Cambium

/// Objects that are made without a context, and inserted later.
@Suite struct EarlyObjectTests {
  final class Note: ManagedObject {
    nonisolated(unsafe) static var awakened: [String?] = []

    @Managed var name: String?
    @Managed var stars: Int
    @Managed var colors: Colors?
    @Managed var draft: String?
    @Managed var folder: Folder?
    @Managed var tags: Set<Tag>
    @Managed var pages: [Tag]

    override func awakeFromInsert() { Self.awakened.append(name) }
  }
  final class Folder: ManagedObject {
    @Managed var name: String?
    @Managed var notes: Set<Note>
  }
  final class Tag: ManagedObject {
    @Managed var name: String?
    @Managed var notes: Set<Note>
  }
  struct Colors: CompositeRepresentable, Equatable {
    var ink: String?
    init(ink: String?) { self.ink = ink }
    init?(compositeValues values: [String: Any]) { ink = values["ink"] as? String }
    var compositeValues: [String: Any] { ["ink": ink as Any] }
  }

  private let directory: TemporaryDirectory
  private let container: PersistentContainer
  private let context: ManagedObjectContext

  init() throws {
    directory = try TemporaryDirectory()
    let model = try ManagedObjectModel {
      Composite("Colors") { Attribute("ink", .string) }
      Entity("Thing", abstract: true) { Attribute("name", .string) }
      Entity("Note", parent: "Thing", class: Note.self) {
        Attribute("stars", .integer16, default: 3, minimum: 0, maximum: 5)
        Attribute("words", .integer64, derived: "tags.@count")
        Attribute("colors", composite: "Colors")
        Attribute("draft", .string, transient: true)
        ToOne("folder", "Folder", inverse: "notes")
        ToMany("tags", "Tag", inverse: "notes")
        ToMany("pages", "Tag", ordered: true)
        Index("byStars", "stars")
        Unique("stars", "colors.ink")
      }
      Entity("Folder", parent: "Thing", class: Folder.self) { ToMany("notes", "Note", inverse: "folder") }
      Entity("Tag", parent: "Thing", class: Tag.self) { ToMany("notes", "Note", inverse: "tags") }
    }
    container = try directory.container(model: model)
    context = container.newBackgroundContext()
  }

  private func entity(_ name: String) throws -> EntityDescription {
    try #require(container.managedObjectModel.entitiesByName[name])
  }

  @Test func valuesComeAlong() throws {
    Note.awakened = []
    let note = Note(entity: try entity("Note"), insertInto: nil)
    #expect(note.stars == 3 && note.name == nil && note.folder == nil && note.tags.isEmpty)
    let (folder, tag) = (
      Folder(entity: try entity("Folder"), insertInto: nil), Tag(entity: try entity("Tag"), insertInto: nil)
    )
    note.name = "early"
    note.stars = 5
    note.colors = Colors(ink: "blue")
    note.draft = "kept in memory"
    note.folder = folder
    note.tags = [tag]
    note.pages = [tag]
    note.setValue("later", forKey: "name")
    folder.name = "f"
    #expect(note.name == "later" && note.value(forKey: "stars") as? Int == 5 && note.colors == Colors(ink: "blue"))
    #expect(note.draft == "kept in memory" && note.folder === folder && note.tags == [tag] && note.pages == [tag])
    #expect(note.managedObjectContext == nil && !note.isInserted && Note.awakened.isEmpty)
    // What an attribute cannot hold is refused by now.
    #expect(cambiumError { try note.set("many", forKey: "stars") }?.code == .invalidArgument)
    #expect(cambiumError { try note.set(1, forKey: "nothing") }?.code == .unknownKey)

    #expect(!note.isUpdated && !note.hasChanges && note.objectID != folder.objectID)
    #expect(!note.mutableSetValue(forKey: "tags").contains(folder))
    // From both sides; what one leads to comes along.
    folder.notes = [note]
    context.insert(note)
    for object in [folder, tag, note] as [ManagedObject] { context.insert(object) }
    #expect(Note.awakened == ["later"] && note.isInserted && context.insertedObjects.count == 3)
    #expect(note.name == "later" && note.stars == 5 && note.draft == "kept in memory")
    #expect(folder.notes == [note] && tag.notes == [note] && note.folder === folder)
    try context.save()
    #expect(context.recordedErrors.isEmpty)
    let reading = container.newBackgroundContext()
    let stored = try #require(try reading.fetch(FetchRequest<Note>()).first)
    #expect(stored.name == "later" && stored.stars == 5 && stored.colors == Colors(ink: "blue"))
    #expect(stored.folder?.name == "f" && stored.tags.count == 1 && stored.pages.count == 1 && stored.draft == nil)
    #expect(stored.value(forKey: "words") as? Int == 1)
  }

  @Test func defaultsUnlessSet() throws {
    let (kept, emptied) = (
      Note(entity: try entity("Note"), insertInto: nil), Note(entity: try entity("Note"), insertInto: nil)
    )
    emptied.setValue(nil, forKey: "stars")
    #expect(emptied.value(forKey: "stars") == nil)
    for note in [kept, emptied] { context.insert(note) }
    #expect(kept.stars == 3 && emptied.value(forKey: "stars") == nil)
    try context.save()
    #expect(try context.all("Note", "stars == 3") == [kept])
  }

  /// What cannot come along is an error of the next save, and what rules refuse is refused when it is saved.
  @Test func whatCannotComeAlong() throws {
    let note = Note(entity: try entity("Note"), insertInto: nil)
    note.name = "n"
    let elsewhere = container.newBackgroundContext()
    note.folder = Folder(context: elsewhere)
    context.insert(note)
    // Where it leads is of another context.
    #expect(!context.recordedErrors.isEmpty && note.folder == nil && note.name == "n")
    #expect(cambiumError { try context.save() } != nil)
    try context.save()
    // An object of a context takes along what it is led to.
    let folder = Folder(entity: try entity("Folder"), insertInto: nil)
    folder.name = "taken along"
    note.folder = folder
    try context.save()
    #expect(folder.managedObjectContext === context && folder.notes == [note])
    #expect(try context.all("Folder", "name == 'taken along'") == [folder])
    let other = Note(entity: try entity("Note"), insertInto: nil)
    other.stars = 9
    context.insert(other)
    #expect(cambiumError { try context.save() }?.code == .validationNumberTooLarge)
    context.rollback()
    // An entity that objects cannot be inserted of.
    let thing = ManagedObject(entity: try entity("Thing"), insertInto: nil)
    thing.setValue("t", forKey: "name")
    context.insert(thing)
    #expect(thing.managedObjectContext == nil && cambiumError { try context.save() }?.code == .invalidArgument)
  }

  /// What is refused, or only looked at, is not inserted.
  @Test func whatIsRefusedDoesNotComeAlong() throws {
    let note = Note(context: context)
    let (tag, folder) = (
      Tag(entity: try entity("Tag"), insertInto: nil), Folder(entity: try entity("Folder"), insertInto: nil)
    )
    try note.validateValue(folder, forKey: "folder")
    try note.validateValue([tag], forKey: "pages")
    #expect(cambiumError { try note.validateValue(tag, forKey: "folder") }?.code == .invalidArgument)
    #expect(cambiumError { try note.set(tag, forKey: "folder") }?.code == .invalidArgument)
    #expect(cambiumError { try note.set([tag, folder] as [ManagedObject], forKey: "pages") }?.code == .invalidArgument)
    #expect(cambiumError { try note.add(folder, toRelationship: "tags") }?.code == .invalidArgument)
    #expect(tag.managedObjectContext == nil && folder.managedObjectContext == nil)
    #expect(context.insertedObjects == [note] && context.recordedErrors.isEmpty)
    try note.set([tag], forKey: "pages")
    #expect(context.insertedObjects == [note, tag])
  }

  /// However long the chain: not each within the one before, neither when they are inserted nor when they are let go
  /// of.
  @Test func longChains() throws {
    let model = try ManagedObjectModel {
      Entity("Link") {
        Attribute("number", .integer32)
        ToOne("next", "Link", inverse: "previous")
        ToOne("previous", "Link", inverse: "next")
        ToMany("others", "Link")
      }
    }
    let container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    let link = try #require(model.entitiesByName["Link"])
    func chain(_ count: Int) throws -> ManagedObject {
      let first = ManagedObject(entity: link, insertInto: nil)
      var last = first
      for number in 1..<count {
        let next = ManagedObject(entity: link, insertInto: nil)
        try next.set(number, forKey: "number")
        if number % 2 == 0 { try last.set(next, forKey: "next") } else { try last.set([next], forKey: "others") }
        last = next
      }
      return first
    }
    let count = 60_000
    var first: ManagedObject? = try chain(count)
    first = nil
    first = try chain(count)
    context.insert(try #require(first))
    #expect(context.insertedObjects.count == count && context.recordedErrors.isEmpty)
    try context.save()
    let request = FetchRequest<ManagedObject>(entityName: "Link")
    request.predicate = try FetchPredicate(format: "next.previous == SELF")
    #expect(try context.count(for: request) == count / 2 - 1)
    request.predicate = try FetchPredicate(format: "others.@count == 1 AND number > 0")
    #expect(try context.count(for: request) == count / 2 - 1)
  }

  /// A model that nobody uses may still change: its objects have no values.
  @Test func aModelThatIsNotInUse() throws {
    let model = try ManagedObjectModel { Entity("Free") { Attribute("name", .string) } }
    let free = ManagedObject(entity: try #require(model.entitiesByName["Free"]), insertInto: nil)
    #expect(cambiumError { try free.set("x", forKey: "name") }?.code == .unknownKey)
    #expect(free.value(forKey: "name") == nil)
  }
}
