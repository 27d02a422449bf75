import Cambium
import Foundation

/// A container, and a context for each request.
final class CambiumServer: ServerPeer, @unchecked Sendable {
  // Unchecked: `container` is set before there are requests.
  let name = "cambium"
  private let path: String
  private var container: PersistentContainer?

  init(directory: String) { path = directory + "/server.cambium" }

  func create(_ rows: ArraySlice<Aircraft>) throws {
    if let coordinator = container?.persistentStoreCoordinator {
      for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
    container = nil
    try? FileManager.default.removeItem(atPath: path)
    let made = PersistentContainer(name: "Server", managedObjectModel: try objectModel())
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.cacheBytes = Tuning.cacheBytes
    // A request has a thread, as GRDB's has.
    description.maximumThreads = 1
    made.persistentStoreDescriptions = [description]
    try made.loadPersistentStores()
    container = made
    let context = made.newBackgroundContext()
    try context.performAndWait {
      for row in rows { AircraftObject(context: context).take(row) }
      try context.save()
    }
  }

  private func opened() throws -> PersistentContainer {
    guard let container else { throw NotSupported() }
    return container
  }

  func save(_ row: Aircraft) async throws {
    try await opened().performBackgroundTask { context in
      AircraftObject(context: context).take(row)
      try context.save()
    }
  }

  func count(hoursAbove hours: Double) async throws -> Int {
    try await opened().performBackgroundTask { context in
      let request = FetchRequest<AircraftObject>(entityName: "Aircraft")
      request.predicate = try FetchPredicate(format: "hours > %@", hours)
      return try context.count(for: request)
    }
  }

  func count() throws -> Answer {
    let context = try opened().newBackgroundContext()
    return try context.performAndWait {
      Answer(count: try context.count(for: FetchRequest<AircraftObject>(entityName: "Aircraft")))
    }
  }
}
