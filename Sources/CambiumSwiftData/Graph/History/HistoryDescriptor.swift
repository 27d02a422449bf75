import Foundation

/// A question about the history of a container's stores. SwiftData: `HistoryDescriptor`.
///
///     var news = HistoryDescriptor<DefaultHistoryTransaction>(
///       predicate: #Predicate { $0.token > lastToken && $0.author != "widget" })
///     news.fetchLimit = 100
///     for transaction in try context.fetchHistory(news) { … }
public struct HistoryDescriptor<TransactionType: HistoryTransaction>: @unchecked Sendable {
  // `@unchecked`: a sort descriptor is a value of key paths that capture nothing.

  /// The condition on transactions; `nil` for all of them.
  public var predicate: Predicate<TransactionType>?
  /// The largest number of transactions; 0 for no limit.
  public var fetchLimit: UInt64 = 0
  /// The order of the transactions. Without one, the oldest transaction of each store comes first, one store after the
  /// other.
  public var sortBy: [SortDescriptor<TransactionType>]

  /// Makes a descriptor.
  public init(predicate: Predicate<TransactionType>? = nil, sortBy: [SortDescriptor<TransactionType>] = []) {
    self.predicate = predicate
    self.sortBy = sortBy
  }
}
