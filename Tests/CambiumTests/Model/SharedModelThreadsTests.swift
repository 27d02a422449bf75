import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// One model that several threads open their stores with, as a `static let` is used.
@Suite struct SharedModelThreadsTests {
  /// Made by descriptions, so that nothing was compiled before the threads come.
  private static func make() throws -> ManagedObjectModel {
    let kind = CompositeAttributeDescription("kind", compositeTypeName: "Kind")
    let number = AttributeDescription("number", .integer64)
    let parent = EntityDescription("Entry", properties: [AttributeDescription("name", .string), number, kind])
    parent.indexes = [
      FetchIndexDescription(name: "byName", elements: [FetchIndexElementDescription(keyPath: "name")]),
      FetchIndexDescription(
        name: "byKind",
        elements: [FetchIndexElementDescription(keyPath: "kind.word"), FetchIndexElementDescription(property: number)]),
    ]
    let child = EntityDescription("Remark", properties: [AttributeDescription("text", .string)])
    parent.subentities = [child]
    let model = ManagedObjectModel(entities: [parent, child])
    model.compositeTypes = [
      try CompositeAttributeDescription("Kind", elements: [AttributeDescription("word", .string)])
    ]
    return model
  }

  private static func use(_ model: ManagedObjectModel) throws -> Int {
    let container = try memoryContainer(model)
    let context = container.newBackgroundContext()
    return try context.performAndWait {
      for number in 0..<8 {
        try context.make("Entry", ["name": "n\(number)", "number": number, "kind": ["word": "w"]])
      }
      try context.save()
      // What objects and descriptions read of the model.
      let elements = model.entities.flatMap { $0.indexes }.flatMap { $0.elements }
      let ways = elements.filter { $0.indexDescription?.entity?.managedObjectModel === model }
      let kind = model.entitiesByName["Entry"]?.attributesByName["kind"] as? CompositeAttributeDescription
      guard ways.count == 3, kind?.elements.map({ $0.name }) == ["word"] else { return 0 }
      return try context.all("Entry", "name == 'n3' AND kind.word == 'w'").count
    }
  }

  @Test func openedByThreadsAtOnce() async throws {
    for _ in 0..<12 {
      let model = try Self.make()
      let found = Locked([String]())
      await withTaskGroup(of: Void.self) { group in
        for thread in 0..<6 {
          group.addTask {
            await withCheckedContinuation { continuation in
              Thread.detachNewThread {
                let result: String
                do {
                  // Some ask for the model's version before they open it.
                  if thread % 3 == 2 { _ = try model.versionChecksum }
                  result = "\(try Self.use(model))"
                } catch { result = "\(error)" }
                found.withLock { $0.append(result) }
                continuation.resume()
              }
            }
          }
        }
      }
      #expect(found.withLock { $0 } == Array(repeating: "1", count: 6))
      #expect(model.isInUse)
    }
  }
}
