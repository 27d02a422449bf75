import Foundation

/// Which models to fetch, and in which order. SwiftData: `FetchDescriptor`.
///
///     var descriptor = FetchDescriptor<Trip>(
///       predicate: #Predicate { $0.destination == "Oslo" }, sortBy: [SortDescriptor(\.startDate)])
///     descriptor.fetchLimit = 10
///     let trips = try context.fetch(descriptor)
///
/// The predicate and the order are translated when the descriptor is first used. What the store cannot answer throws
/// ``SwiftDataError/unsupportedPredicate`` or ``SwiftDataError/unsupportedSortDescriptor`` then, and names the part.
public struct FetchDescriptor<T: PersistentModel>: @unchecked Sendable {
  // `@unchecked`: key paths of models capture nothing.

  /// Which models; `nil` for all.
  public var predicate: Foundation.Predicate<T>?
  /// The order, the most significant key first. Where it leaves the order open, models come as they were inserted.
  public var sortBy: [SortDescriptor<T>]
  /// How many models at most; `nil` or 0 for all.
  public var fetchLimit: Int?
  /// How many to leave out at the start.
  public var fetchOffset: Int?
  /// Whether unsaved changes of the context count.
  public var includePendingChanges = true
  /// Which properties will be needed. A hint without effect, because whole rows cost no more.
  public var propertiesToFetch: [PartialKeyPath<T>] = []
  /// Relationships whose models will be needed. Their rows are read with the fetch.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []
  /// Whether models of classes that inherit from `T` count as well. SwiftData always includes them.
  public var includesSubclasses = true

  /// A descriptor.
  public init(predicate: Foundation.Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}
