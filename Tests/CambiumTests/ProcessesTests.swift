import Foundation
import Testing

@testable import Cambium

/// Containers of two processes on one file.
@Suite struct ProcessesTests {
  /// The container of a file, with the worker's model.
  private func container(_ path: String, isShared: Bool = true) throws -> PersistentContainer {
    let model = try ManagedObjectModel {
      Entity("Note") {
        Attribute("text", .string)
        Attribute("number", .integer64)
        Index("byNumber", "number")
      }
    }
    let container = PersistentContainer(name: "Notes", managedObjectModel: model)
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.isSharedBetweenProcesses = isShared
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
    return container
  }

  private func runWorker(_ path: String, _ count: Int) throws {
    let process = Process()
    process.executableURL =
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("StoreWorker")
    process.arguments = ["objects", path, "\(count)"]
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
  }

  @Test func contextsSeeWhatOtherProcessesSave() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let container = try container(path)
    let context = container.newBackgroundContext()
    try context.performAndWait {
      let request = FetchRequest<ManagedObject>(entityName: "Note")
      let own = try context.insertNewObject(forEntityName: "Note")
      try own.set("own", forKey: "text")
      try own.set(Int64(0), forKey: "number")
      try context.save()
      #expect(own.value(forKey: "text") as? String == "own")

      try runWorker(path, 5)
      // What the context shows stays as it was until it is asked for more.
      #expect(own.value(forKey: "text") as? String == "own")
      #expect(try context.fetch(request).count == 6)
      context.refresh(own, mergeChanges: false)
      #expect(own.value(forKey: "text") as? String == "renamed by the worker, 5")

      // A change that is based on what the other process has changed since is a conflict, as between contexts.
      try own.set("changed here", forKey: "text")
      try runWorker(path, 0)
      let error = cambiumError { try context.save() }
      #expect(error?.code == .managedObjectMerge)
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.save()
      context.refresh(own, mergeChanges: false)
      #expect(own.value(forKey: "text") as? String == "changed here")

      let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
      try store.suspend()
      #expect(throws: (any Error).self) { try context.fetch(request) }
      try runWorker(path, 1)
      try store.resume()
      #expect(try context.fetch(request).count == 7)
    }
  }

  @Test func aFileThatIsNotSharedIsRefused() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let container = try container(path, isShared: false)
    let process = Process()
    process.executableURL =
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("StoreWorker")
    process.arguments = ["objects", path, "1"]
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 1)
    #expect(text.contains("the store is in use by another process"), "\(text)")
    // Refused for that reason alone: once the file is let go, the worker has it.
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
    try runWorker(path, 1)
  }
}
