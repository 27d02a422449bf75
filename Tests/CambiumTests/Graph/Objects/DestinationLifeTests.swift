import Foundation
import Synchronization
import Testing

@testable import Cambium

/// What a save leads to may be held by nobody: it is not let go of while the save has the store's turn.
@Suite struct DestinationLifeTests {
  private static let ended = Mutex<(@Sendable () -> Void)?>(nil)

  final class Hangar: ManagedObject {
    deinit { DestinationLifeTests.ended.withLock { $0 }?() }
  }

  @Test func theEndOfADestinationMaySave() throws {
    let model = try ManagedObjectModel {
      Entity("Hangar", class: Hangar.self) { Attribute("name", .string) }
      Entity("Visit") {
        Attribute("note", .string)
        ToOne("hangar", "Hangar")
      }
    }
    let directory = try TemporaryDirectory()
    let container = try directory.container("hangars", model: model)
    let context = container.newBackgroundContext()
    let id = try context.performAndWait {
      let hangar = try context.make("Hangar", ["name": "A"])
      try context.save()
      return hangar.objectID
    }
    let saves = Mutex(0)
    Self.ended.withLock {
      $0 = {
        // Would wait for its own thread's turn, were it within the save.
        let other = container.newBackgroundContext()
        other.performAndWait {
          do {
            try other.make("Visit", ["note": "ended"])
            try other.save()
            saves.withLock { $0 += 1 }
          } catch { Issue.record("\(error)") }
        }
      }
    }
    try context.performAndWait {
      let visit = try context.make("Visit", ["note": "first"])
      try visit.set(context.object(with: id), forKey: "hangar")
      try context.save()
      let lead = try visit.get("hangar") as? ManagedObject
      #expect(lead?.objectID == id)
    }
    context.performAndWait { context.reset() }
    Self.ended.withLock { $0 = nil }
    #expect(saves.withLock { $0 } > 0)
  }
}
