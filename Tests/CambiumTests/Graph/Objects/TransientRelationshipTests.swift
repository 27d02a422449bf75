import Foundation
import Testing

@testable import Cambium

/// Relationships that are kept in memory, by the one object that has them.
@Suite struct TransientRelationshipTests {
  final class Draft: ManagedObject {
    @Managed var name: String?
    @Managed var source: Draft?
    @Managed var related: Set<Draft>
    @Managed var steps: [Draft]
  }

  private static func container(_ directory: TemporaryDirectory) throws -> PersistentContainer {
    let model = try ManagedObjectModel {
      Entity("Draft", class: Draft.self) {
        Attribute("name", .string)
        ToOne("source", "Draft").with { $0.isTransient = true }
        ToMany("related", "Draft").with { $0.isTransient = true }
        ToMany("steps", "Draft", ordered: true).with { $0.isTransient = true }
      }
      Entity("Other") { Attribute("name", .string) }
    }
    return try directory.container(model: model)
  }

  @Test func allSpellings() throws {
    let directory = try TemporaryDirectory()
    let container = try Self.container(directory)
    let context = container.newBackgroundContext()
    let drafts = try (0..<4).map { try #require(try context.make("Draft", ["name": "\($0)"]) as? Draft) }
    try context.save()
    let draft = drafts[0]
    #expect(draft.source == nil && draft.related.isEmpty && draft.steps.isEmpty)
    #expect(draft.value(forKey: "related") as? Set<ManagedObject> == [])
    draft.source = drafts[1]
    draft.related = [drafts[1], drafts[2]]
    draft.steps = [drafts[3], drafts[1]]
    #expect(draft.source === drafts[1] && draft.related == [drafts[1], drafts[2]])
    #expect(draft.value(forKey: "steps") as? [ManagedObject] == [drafts[3], drafts[1]])
    try draft.add(drafts[2], toRelationship: "steps")
    try draft.add(drafts[2], toRelationship: "steps")
    try draft.remove(drafts[3], fromRelationship: "steps")
    draft.mutableOrderedSetValue(forKey: "steps").insert(drafts[3], at: 1)
    #expect(draft.steps == [drafts[1], drafts[3], drafts[2]])
    draft.mutableSetValue(forKey: "related").remove(drafts[1])
    #expect(draft.related == [drafts[2]] && draft.mutableSetValue(forKey: "related").contains(drafts[2]))
    #expect(try draft.count(ofRelationship: "steps") == 3 && draft.count(ofRelationship: "source") == 1)
    #expect(try draft.objectIDs(forRelationshipNamed: "related") == [drafts[2].objectID])
    #expect(try draft.get(keyPath: "source.name") as? String == "1")
    // There is no other side, and nothing to save.
    #expect(drafts[1].source == nil && drafts[2].related.isEmpty && context.recordedErrors.isEmpty)
    try context.save()
    #expect(draft.steps.count == 3)
    let other = try context.make("Other", [:])
    #expect(cambiumError { try draft.set(other, forKey: "source") }?.code == .invalidArgument)
    let elsewhere = container.newBackgroundContext()
    let foreign = try #require(try elsewhere.all("Draft").first)
    #expect(cambiumError { try draft.add(foreign, toRelationship: "steps") }?.code == .invalidArgument)
    #expect(cambiumError { try draft.set("text", forKey: "related") }?.code == .invalidArgument)
    #expect(draft.source === drafts[1] && draft.steps.count == 3)
    draft.source = nil
    #expect(draft.source == nil)
    let fresh = try #require(try container.newBackgroundContext().all("Draft", "name == '0'").first as? Draft)
    #expect(fresh.steps.isEmpty)
    withExtendedLifetime(elsewhere) {}
  }

  @Test func undone() throws {
    let directory = try TemporaryDirectory()
    let context = try Self.container(directory).newBackgroundContext()
    let drafts = try (0..<3).map { try #require(try context.make("Draft", ["name": "\($0)"]) as? Draft) }
    try context.save()
    let undoManager = ContextUndoManager()
    context.undoManager = undoManager
    drafts[0].source = drafts[1]
    drafts[0].steps = [drafts[1], drafts[2]]
    context.processPendingChanges()
    try drafts[0].remove(drafts[1], fromRelationship: "steps")
    context.processPendingChanges()
    undoManager.undo()
    #expect(drafts[0].steps == [drafts[1], drafts[2]] && drafts[0].source === drafts[1])
    undoManager.undo()
    #expect(drafts[0].steps.isEmpty && drafts[0].source == nil)
    undoManager.redo()
    undoManager.redo()
    #expect(drafts[0].steps == [drafts[2]] && drafts[0].source === drafts[1])
  }
}
