import CambiumTesting
import Foundation
import Testing

@testable import Cambium

/// What coordinators, stores and identifiers say of each other, and blocks of coordinators.
@Suite struct CoordinatorPartsTests {
  private func coordinator() throws -> PersistentStoreCoordinator {
    PersistentStoreCoordinator(managedObjectModel: try FlightModel.make())
  }

  @Test func storesKnowTheirCoordinator() throws {
    let directory = try TemporaryDirectory()
    var coordinator: PersistentStoreCoordinator? = try coordinator()
    coordinator?.name = "fleet"
    #expect(coordinator?.name == "fleet")
    let url = directory.url.appendingPathComponent("a.cambium")
    let tracking = PersistentStoreCoordinator.persistentHistoryTrackingOption
    let store = try #require(
      try coordinator?.addPersistentStore(type: .file, at: url, options: [tracking: true, "of the application": 7]))
    #expect(store.persistentStoreCoordinator === coordinator)
    #expect(coordinator?.url(for: store) == url && store.url == url)
    #expect(store.options[tracking] as? Bool == true && store.options["of the application"] as? Int == 7)
    #expect(store.tracksHistory)
    // What it was opened with goes along.
    let moved = try #require(
      try coordinator?.migratePersistentStore(store, to: directory.url.appendingPathComponent("b.cambium")))
    #expect(store.persistentStoreCoordinator == nil && moved.persistentStoreCoordinator === coordinator)
    #expect(moved.options.count == 2 && moved.tracksHistory)
    try coordinator?.remove(moved)
    #expect(moved.persistentStoreCoordinator == nil)
    let memory = try #require(try coordinator?.addPersistentStore(type: .inMemory))
    #expect(coordinator?.url(for: memory) == nil && memory.options.isEmpty)
    // The store does not keep the coordinator.
    coordinator = nil
    #expect(memory.persistentStoreCoordinator == nil)
  }

  @Test func identifiersKnowTheirStore() throws {
    let coordinator = try coordinator()
    let stores = try (0..<2).map { _ in try coordinator.addPersistentStore(type: .inMemory) }
    let context = ManagedObjectContext(concurrencyType: .privateQueue, persistentStoreCoordinator: coordinator)
    let objects = try stores.map { store in
      let object = try context.make("Aircraft", [:])
      context.assign(object, to: store)
      return object
    }
    #expect(objects.allSatisfy { $0.objectID.persistentStore == nil })
    try context.save()
    for (object, store) in zip(objects, stores) { #expect(object.objectID.persistentStore === store) }
    let uri = objects[1].objectID.uriRepresentation()
    #expect(coordinator.managedObjectID(forURIRepresentation: uri)?.persistentStore === stores[1])
    try coordinator.remove(stores[1])
    #expect(objects[1].objectID.persistentStore == nil && objects[0].objectID.persistentStore === stores[0])
  }

  @Test func blocksRunOneAtATime() async throws {
    let coordinator = try coordinator()
    let lines = Locked<[Int]>([])
    let running = Locked(0)
    for number in 0..<50 {
      coordinator.perform {
        let others = running.withLock { running in
          running += 1
          return running
        }
        lines.withLock { $0.append(others == 1 ? number : -1) }
        running.withLock { $0 -= 1 }
      }
      let sum = coordinator.performAndWait {
        let others = running.withLock { running in
          running += 1
          return running
        }
        defer { running.withLock { $0 -= 1 } }
        // Within a block of the same coordinator.
        return coordinator.performAndWait { others + number }
      }
      #expect(sum == 1 + number)
    }
    await withCheckedContinuation { next in coordinator.perform { next.resume() } }
    #expect(lines.withLock { $0 } == Array(0..<50))
    let error = cambiumError { try coordinator.performAndWait { throw CambiumError(.coreData, "thrown") } }
    #expect(error?.message == "thrown")
  }
}
