import Foundation
import Testing

@testable import Cambium

/// New objects that nobody holds any more, and objects that others have deleted: what led to them, or they led to, is
/// no obstacle.
@Suite struct GoneObjectsTests {
  private static func model(_ rule: DeleteRule = .nullify, ordered: Bool = false) throws -> ManagedObjectModel {
    try ManagedObjectModel {
      Entity("Folder") {
        Attribute("name", .string)
        ToMany("notes", "Note", inverse: "folder", ordered: ordered, deleteRule: rule)
        ToOne("cover", "Note", inverse: "coverOf", deleteRule: rule)
      }
      Entity("Note") {
        Attribute("name", .string)
        ToOne("folder", "Folder", inverse: "notes")
        ToOne("coverOf", "Folder", inverse: "cover")
      }
    }
  }

  @Test(arguments: [DeleteRule.nullify, .cascade], ["folder", "coverOf"])
  func newOnesOfWhatIsDeleted(rule: DeleteRule, key: String) throws {
    let container = try memoryContainer(Self.model(rule))
    let context = container.newBackgroundContext()
    try context.make("Folder", ["name": "a"])
    try context.save()
    let folder = try #require(try context.all("Folder").first)
    // Nobody holds it but the context.
    try context.make("Note", ["name": "n", key: folder])
    context.delete(folder)
    try context.all("Note").forEach { context.delete($0) }
    context.processPendingChanges()
    try context.save()
    #expect(try context.all("Folder").isEmpty && context.all("Note").isEmpty)
  }

  /// A folder with a note in it, which `mine` has read, and whose folder `theirs` has deleted since.
  private func orphan(
    ordered: Bool, _ body: (ManagedObjectContext, _ note: ManagedObject, _ other: ManagedObject) throws -> Void
  ) throws {
    let container = try memoryContainer(Self.model(ordered: ordered))
    let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
    mine.mergePolicy = .mergeByPropertyObjectTrump
    let folder = try theirs.make("Folder", ["name": "a"])
    try theirs.make("Note", ["name": "n", "folder": folder, "coverOf": folder])
    try theirs.make("Folder", ["name": "b"])
    try theirs.save()
    let note = try #require(try mine.all("Note").first)
    #expect(note.value(forKey: "name") as? String == "n")
    theirs.delete(folder)
    try theirs.save()
    let other = try #require(try mine.all("Folder", "name == 'b'").first)
    try body(mine, note, other)
    #expect(mine.recordedErrors.isEmpty, "\(mine.recordedErrors)")
    try mine.save()
    #expect(try mine.all("Folder").map { $0.value(forKey: "name") as? String } == ["b"])
    withExtendedLifetime(theirs) {}
  }

  @Test(arguments: [false, true]) func whatLedToAFolderThatIsGoneIsDeleted(ordered: Bool) throws {
    try orphan(ordered: ordered) { context, note, _ in
      context.delete(note)
      #expect(note.isDeleted)
    }
  }

  @Test(arguments: [false, true]) func whatLedToAFolderThatIsGoneIsLedElsewhere(ordered: Bool) throws {
    for byOwner in [false, true] {
      try orphan(ordered: ordered) { context, note, other in
        if byOwner { try other.add(note, toRelationship: "notes") } else { note.setValue(other, forKey: "folder") }
        if byOwner { other.setValue(note, forKey: "cover") } else { note.setValue(other, forKey: "coverOf") }
        #expect(note.value(forKey: "folder") as? ManagedObject === other)
        #expect(other.value(forKey: "cover") as? ManagedObject === note)
      }
    }
  }

  /// A child leads something to what its parent has made and deleted since.
  @Test(arguments: ["folder", "coverOf"]) func newOnesOfAParent(key: String) throws {
    let container = try memoryContainer(Self.model())
    let parent = container.newBackgroundContext()
    try parent.make("Note", ["name": "n"])
    try parent.save()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: parent)
    child.mergePolicy = .mergeByPropertyObjectTrump
    try parent.make("Folder", ["name": "a"])
    let note = try #require(try child.all("Note").first)
    let folder = try #require(try child.all("Folder").first)
    note.setValue(folder, forKey: key)
    try parent.all("Folder").forEach { parent.delete($0) }
    parent.processPendingChanges()
    try child.save()
    try parent.save()
    let reader = container.newBackgroundContext()
    #expect(try reader.all("Folder").isEmpty)
    #expect(try #require(try reader.all("Note").first).value(forKey: key) == nil)
  }

  /// The first use fixes the class of an entity that has none, but not if the class is called like another entity.
  @Test func aClassOfAnotherEntityIsRefused() throws {
    let container = try memoryContainer(
      try ManagedObjectModel {
        Entity("Strayer") { Attribute("name", .string) }
        Entity("Other") { Attribute("name", .string) }
        Entity("Part", parent: "Strayer") { Attribute("size", .double) }
      })
    let context = container.newBackgroundContext()
    let error = cambiumError { _ = try context.fetch(FetchRequest<Strayer>(entityName: "Other")) }
    #expect(error?.code == .invalidArgument && error?.message.contains("entityName 'Strayer'") == true)
    // The classes are not fixed by that.
    #expect(try context.fetch(FetchRequest<OtherThing>(entityName: "Other")).isEmpty)
    #expect(try context.fetch(FetchRequest<Strayer>(entityName: "Strayer")).isEmpty)
    try context.make("Other", ["name": "o"])
    try context.make("Strayer", ["name": "s"])
    try context.save()
    let reader = container.newBackgroundContext()
    #expect(try reader.fetch(FetchRequest<OtherThing>(entityName: "Other")).count == 1)
    #expect(try reader.fetch(FetchRequest<Strayer>(entityName: "Strayer")).count == 1)
    #expect(try reader.fetch(FetchRequest<Strayer>(entityName: "Part")).isEmpty)
  }
}

final class Strayer: ManagedObject {}
final class OtherThing: ManagedObject {}
