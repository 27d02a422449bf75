import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The example's store, opened by way of Cambium.
struct FlightLog {
  /// The file.
  let path: String
  private let container: PersistentContainer

  /// Opens the store at `path`; makes it if there is none.
  init(path: String) throws {
    self.path = path
    container = PersistentContainer(name: "FlightLog", managedObjectModel: try FlightLogModel.make())
    container.persistentStoreDescriptions = [PersistentStoreDescription(url: URL(fileURLWithPath: path))]
    try container.loadPersistentStores()
  }

  /// A context of its own.
  func newContext() -> ManagedObjectContext { container.newBackgroundContext() }

  /// Closes the store.
  func close() throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }

  /// The file's length in bytes; 0 if there is none.
  var fileBytes: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? any BinaryInteger).map { Int(clamping: $0) } ?? 0
  }
}
