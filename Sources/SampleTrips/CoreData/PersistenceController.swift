import CambiumCoreData

/// The Core Data stack. An application that adopts SwiftData completely deletes this file and the model file.
struct PersistenceController {
  let container: NSPersistentContainer

  /// Opens the store.
  ///
  /// - Parameter tracksHistory: Whether saves are recorded in the store's history. SwiftData always does that. So a
  ///   stack beside it must do so, too, or may only read.
  init(store: URL, model: NSManagedObjectModel, tracksHistory: Bool = true) throws {
    container = NSPersistentContainer(name: "SampleTrips", managedObjectModel: model)
    if let description = container.persistentStoreDescriptions.first {
      description.url = store
      description.setOption(tracksHistory as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    }
    try container.loadPersistentStores()
  }

  /// The model of the file `SampleTrips.xcdatamodeld`.
  static func model() throws -> NSManagedObjectModel {
    guard let url = Bundle.module.url(forResource: "SampleTrips", withExtension: "xcdatamodeld") else {
      throw SampleTripsError("the model file SampleTrips.xcdatamodeld is not beside the program; build it again")
    }
    return try NSManagedObjectModel(contentsOf: url)
  }

  /// Closes the store.
  func close() throws {
    for store in container.persistentStoreCoordinator.persistentStores {
      try container.persistentStoreCoordinator.remove(store)
    }
  }
}

/// An error of the example itself.
struct SampleTripsError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
