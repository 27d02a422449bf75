import CambiumSwiftData

/// The SwiftData stack. In SwiftUI, `.modelContainer(for:)` makes it.
enum TripsStore {
  /// Opens the store.
  static func container(store: URL) throws -> ModelContainer {
    try ModelContainer(
      for: Trip.self, BucketListItem.self, LivingAccommodation.self, configurations: ModelConfiguration(url: store))
  }
}
