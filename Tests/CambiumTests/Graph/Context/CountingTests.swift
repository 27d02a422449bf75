import Cambium
import Foundation
import Testing

/// Several writers of one number, who try again when they meet a conflict.
@Suite struct CountingTests {
  final class Counter: ManagedObject {
    @Managed var value: Int
  }

  /// Who is refused because of a commit finds it when it looks again: a commit that waits for its sync, which nobody
  /// sees yet, would refuse the same attempt over and over.
  @Test(arguments: [Durability.full, .normal]) func whatRefusesASaveIsSeen(durability: Durability) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("counting-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let model = try ManagedObjectModel {
      Entity("Counter", class: Counter.self) { Attribute("value", .integer64, optional: false, default: 0) }
    }
    let description = PersistentStoreDescription(url: folder.appendingPathComponent("counter.store"))
    description.durability = durability
    let container = PersistentContainer(name: "Counter", managedObjectModel: model)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    let id = try await container.performBackgroundTask { context in
      let counter = Counter(context: context)
      try context.save()
      return counter.objectID
    }
    let (writers, rounds) = (6, 25)
    let unseen = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<writers {
        group.addTask {
          var unseen = 0
          for _ in 0..<rounds {
            var refusedAt: Int?
            while true {
              let base = refusedAt
              refusedAt = try await container.performBackgroundTask { context -> Int? in
                guard let counter = try context.existingObject(with: id) as? Counter else { return nil }
                let value = counter.value
                if value == base { return -1 }
                counter.value = value + 1
                do { try context.save() } catch let error as CambiumError where error.code == .managedObjectMerge {
                  return value
                }
                return nil
              }
              guard let refused = refusedAt else { break }
              if refused < 0 {
                unseen += 1
                break
              }
            }
          }
          return unseen
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(unseen == 0)
    let value = try await container.performBackgroundTask { context in
      (try context.existingObject(with: id) as? Counter)?.value
    }
    #expect(value == writers * rounds)
  }
}
