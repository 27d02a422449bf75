import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// In which order the blocks of a context run.
@Suite struct PerformOrderTests {
  /// Starts a block without waiting for it, which what is asynchronous cannot say otherwise.
  private static func start(_ context: ManagedObjectContext, _ block: @escaping @Sendable () -> Void) {
    context.perform(block)
  }

  /// Who waits for a block comes behind those that were started before.
  @Test func whoWaitsComesBehindWhatWasStarted() async throws {
    let container = try memoryContainer()
    for context in [container.newBackgroundContext(), container.viewContext] {
      let ended = Locked(0)
      for round in 1...40 {
        Self.start(context) {
          Thread.sleep(forTimeInterval: 0.001)
          ended.withLock { $0 += 1 }
        }
        let seen = await context.perform { ended.withLock { $0 } }
        #expect(seen == round)
      }
      // It gives what the block gives, and throws what it throws.
      let text = try await context.perform { () throws -> String in "given" }
      #expect(text == "given")
      await #expect(throws: CambiumError.self) {
        try await context.perform { () throws -> Void in throw CambiumError(.invalidArgument, "thrown") }
      }
    }
  }

  /// What others have saved before is taken in by then: by the context's objects, and by results.
  @Test func whatWasSavedIsThere() async throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let view = container.newBackgroundContext()
    view.automaticallyMergesChangesFromParent = true
    let (counter, results) = try await view.perform {
      let counter = try view.make("Pilot", ["name": "0"])
      try view.save()
      let request = FetchRequest<ManagedObject>(entityName: "LogEntry")
      request.sortDescriptors = [FetchSortDescriptor(key: "number")]
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: view)
      try controller.performFetch()
      return (counter.objectID, Held(controller))
    }
    let held = try await view.perform { Held(try view.existingObject(with: counter)) }
    for round in 1...60 {
      try await container.performBackgroundTask { context in
        try context.existingObject(with: counter).set("\(round)", forKey: "name")
        try context.make("LogEntry", ["number": round])
        try context.save()
      }
      let seen = await view.perform {
        (held.value.value(forKey: "name") as? String, results.value.fetchedObjects?.count)
      }
      #expect(seen == ("\(round)", round))
    }
  }

  /// Handed from block to block, and used in these only.
  private struct Held<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }
}
