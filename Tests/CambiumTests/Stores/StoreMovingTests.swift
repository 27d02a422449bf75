import Foundation
import Testing

@testable import Cambium

/// Stores that are moved into other files while their coordinator has them.
@Suite struct StoreMovingTests {
  @Test func aStoreIsMoved() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container { $0.tracksHistory = true }
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    try store.setMetadata(["edition": "first"])
    let context = container.newBackgroundContext()
    let object = try context.make("Aircraft", ["tailNumber": "N1"])
    try context.save()
    let (id, uri) = (object.objectID, object.objectID.uriRepresentation())
    context.reset()

    let url = directory.url.appendingPathComponent("moved.cambium")
    let moved = try coordinator.migratePersistentStore(store, to: url)
    #expect(coordinator.persistentStores.count == 1 && coordinator.persistentStores.first === moved)
    #expect(moved.url == url && moved.identifier == store.identifier && moved.tracksHistory)
    #expect(moved.metadata["edition"] as? String == "first")
    // Identifiers mean the same, and what is saved is in the new file.
    #expect(coordinator.managedObjectID(forURIRepresentation: uri) == id)
    let known = try context.existingObject(with: id)
    known.setValue("N2", forKey: "tailNumber")
    let leg = try context.make("LogEntry", ["number": 1, "aircraft": known])
    try context.save()
    #expect(leg.value(forKey: "aircraft") as? ManagedObject === known)
    let history = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions
    #expect(history.count == 2)
    let other = PersistentContainer(name: "other", managedObjectModel: try FlightModel.make())
    let description = PersistentStoreDescription(url: url)
    description.tracksHistory = true
    other.persistentStoreDescriptions = [description]
    try other.loadPersistentStores()
    #expect(try other.viewContext.all("Aircraft").map { $0.value(forKey: "tailNumber") as? String } == ["N2"])
    // The old file is as it was.
    let old = try directory.container { $0.tracksHistory = true }
    let oldContext = old.newBackgroundContext()
    let names = try oldContext.all("Aircraft").map { $0.value(forKey: "tailNumber") as? String }
    #expect(names == ["N1"])
  }

  @Test func aStoreComesOutOfMemory() throws {
    let directory = try TemporaryDirectory()
    let container = try memoryContainer()
    let context = container.newBackgroundContext()
    for number in 0..<10 { try context.make("Aircraft", ["tailNumber": "N\(number)"]) }
    try context.save()
    context.reset()
    let coordinator = container.persistentStoreCoordinator
    let url = directory.url.appendingPathComponent("flights.cambium")
    let store = try #require(coordinator.persistentStores.first)
    #expect(try coordinator.migratePersistentStore(store, to: url).type == .file)
    #expect(try context.all("Aircraft").count == 10)
    #expect(try directory.container().newBackgroundContext().all("Aircraft").count == 10)
  }

  @Test func whatFailsLeavesTheStore() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let context = container.newBackgroundContext()
    try context.make("Aircraft", ["tailNumber": "N1"])
    try context.save()
    let taken = directory.url.appendingPathComponent("taken")
    try Data("text".utf8).write(to: taken)
    #expect(cambiumError { try coordinator.migratePersistentStore(store, to: taken) }?.code == .persistentStoreSave)
    #expect(
      cambiumError { try coordinator.migratePersistentStore(store, to: taken, type: .inMemory) }?.code == .unsupported)
    let foreign = try #require(try memoryContainer().persistentStoreCoordinator.persistentStores.first)
    let free = directory.url.appendingPathComponent("free")
    #expect(cambiumError { try coordinator.migratePersistentStore(foreign, to: free) }?.code == .invalidArgument)
    #expect(
      cambiumError {
        try coordinator.migratePersistentStore(
          store, to: free, options: [PersistentStoreCoordinator.readOnlyPersistentStoreOption: "yes"])
      }?.code == .invalidArgument)
    #expect(coordinator.persistentStores.first === store && coordinator.persistentStores.count == 1)
    #expect(!FileManager.default.fileExists(atPath: free.path))
    try context.make("Aircraft", ["tailNumber": "N2"])
    try context.save()
    #expect(try context.all("Aircraft").count == 2)
  }

  /// What was on its way into the old file when the store was moved is refused, and not lost there.
  @Test func whatIsOnItsWayIsRefused() throws {
    let directory = try TemporaryDirectory()
    let container = try directory.container()
    let coordinator = container.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let context = container.newBackgroundContext()
    let url = directory.url.appendingPathComponent("moved.cambium")
    var number = 0
    var failure: (any Error)?
    let request = BatchInsertRequest(entityName: "Aircraft") { (values: inout [String: Any]) in
      if number == 0 {
        do { try coordinator.migratePersistentStore(store, to: url) } catch { failure = error }
      }
      values["tailNumber"] = "N\(number)"
      number += 1
      return number > 3
    }
    let error = cambiumError { _ = try context.execute(request) }
    #expect(failure == nil)
    #expect(error?.message.contains("is being moved into another file") == true, "\(String(describing: error))")
    #expect(cambiumError { try store.setMetadata(["a": 1]) } != nil)
    #expect(try context.all("Aircraft").isEmpty)
    number = 1
    _ = try context.execute(request)
    #expect(try context.all("Aircraft").count == 2)
    #expect(try directory.container().newBackgroundContext().all("Aircraft").isEmpty)
    // A move that fails leaves the store as it was.
    let present = try #require(coordinator.persistentStores.first)
    #expect(cambiumError { try coordinator.migratePersistentStore(present, to: url) } != nil)
    try present.setMetadata(["a": 1])
    try context.make("Aircraft", [:])
    try context.save()
  }
}
