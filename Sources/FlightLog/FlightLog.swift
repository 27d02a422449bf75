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
  ///
  /// - Parameters:
  ///   - model: The model; nil for the present one.
  ///   - configure: Called with the description before the store is opened.
  init(
    path: String, model: ManagedObjectModel? = nil, configure: (PersistentStoreDescription) -> Void = { _ in }
  ) throws {
    self.path = path
    container = PersistentContainer(name: "FlightLog", managedObjectModel: try model ?? FlightLogModel.make())
    let description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
    configure(description)
    container.persistentStoreDescriptions = [description]
    try container.loadPersistentStores()
  }

  /// The coordinator of the store.
  var coordinator: PersistentStoreCoordinator { container.persistentStoreCoordinator }

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
