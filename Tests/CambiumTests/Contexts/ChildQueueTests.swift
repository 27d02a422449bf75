import CambiumSystem
import CambiumTesting
import Foundation
import Synchronization
import Testing

@testable import Cambium

/// Parents and children on different threads, of which the main thread uses objects without a lock.
@MainActor @Suite struct ChildQueueTests {
  private final class Noted<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])
    var all: [Element] { list.withLock { $0 } }
    func add(_ element: Element) { list.withLock { $0.append(element) } }
  }

  /// Runs a block on another thread, while the main thread waits and does nothing else.
  private func elsewhere(_ body: @escaping @Sendable () throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    let errors = Noted<String>()
    Thread.detachNewThread {
      do { try body() } catch { errors.add("\(error)") }
      done.signal()
    }
    done.wait()
    #expect(errors.all.isEmpty)
  }

  /// Waits for the blocks that wait for a context's queue.
  private func turn(of context: ManagedObjectContext) async {
    await withCheckedContinuation { continuation in context.perform { continuation.resume() } }
  }

  // MARK: Identifiers

  @Test func aMainQueueChildIsNotRenamedByAnotherThread() async throws {
    let directory = try TemporaryDirectory()
    let writer = try directory.container().newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .mainQueue, parent: writer)
    let aircraft = try child.make("Aircraft", ["tailNumber": "A"])
    try child.save()
    elsewhere { try writer.performAndWait { try writer.save() } }
    // It may be in use at this moment.
    #expect(aircraft.objectID.isTemporaryID)
    await turn(of: child)
    #expect(!aircraft.objectID.isTemporaryID)
    #expect(try child.all("Aircraft").first === aircraft)
    // On the main thread there is nobody whom it could disturb.
    let other = try child.make("Aircraft", ["tailNumber": "B"])
    try child.save()
    try writer.performAndWait { try writer.save() }
    #expect(SystemEnvironment.isMainThread() == !other.objectID.isTemporaryID)
    withExtendedLifetime(directory) {}
  }

  @Test func anObjectIsFoundByTheNameThatItHasByNow() throws {
    let directory = try TemporaryDirectory()
    let root = try directory.container().newBackgroundContext()
    let child = ManagedObjectContext(concurrencyType: .privateQueue, parent: root)
    try child.performAndWait {
      let aircraft = try child.make("Aircraft", ["tailNumber": "A"])
      try child.save()
      let saved = Noted<ManagedObjectID>()
      // The child is busy, and finds the identifier in its mail.
      elsewhere {
        try root.performAndWait {
          try root.save()
          for object in try root.all("Aircraft") { saved.add(object.objectID) }
        }
      }
      let id = try #require(saved.all.first)
      #expect(!id.isTemporaryID)
      #expect(child.object(with: id) === aircraft)
      #expect(aircraft.objectID == id)
    }
    withExtendedLifetime(directory) {}
  }
}
