import Cambium
import Foundation

extension ModelContext {
  /// Returns the transactions that a descriptor describes: those of this container, and those of other containers and
  /// processes that use the same stores.
  ///
  /// A condition `token > t` reads nothing that is older than `t`: O(transactions behind `t`). All other conditions
  /// look at the whole history.
  ///
  /// - Throws: ``SwiftDataError/historyTokenExpired`` if the predicate names a token behind which transactions were
  ///   deleted: read the models anew, and go on from the newest transaction;
  ///   ``SwiftDataError/invalidTransactionFetchRequest`` for a condition that history cannot answer, and for other
  ///   types of transactions; what reading throws.
  public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
    guard let known = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else { throw Self.foreign(T.self) }
    var found = try transactions(known, mayBeDeleted: false)
    if !known.sortBy.isEmpty { found.sort(using: known.sortBy) }
    if known.fetchLimit > 0 { found = Array(found.prefix(Int(clamping: known.fetchLimit))) }
    return found.compactMap { $0 as? T }
  }

  /// Deletes the transactions that a descriptor describes. Its order and limit have no effect.
  ///
  /// History is deleted from its beginning: if the predicate leaves out an older transaction of the same store, this
  /// throws and deletes nothing. Use `token < t`, `token <= t`, `timestamp < date`, or no predicate.
  ///
  /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest``; what writing throws.
  public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
    guard let known = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> else { throw Self.foreign(T.self) }
    let matching = Dictionary(grouping: try transactions(known, mayBeDeleted: true)) { $0.storeIdentifier }
    var end: [String: Int64] = [:]
    for (store, found) in matching {
      guard let last = found.map({ $0.transactionIdentifier }).max() else { continue }
      let all = try transactionNumbers(of: store)
      let older = all.prefix { $0 <= last }
      guard older.count == found.count else {
        throw SwiftDataError(
          .invalidTransactionFetchRequest,
          "history is deleted from its beginning, and the predicate leaves out transactions of store \(store) that are "
            + "older than transaction \(last), which it contains; delete by 'token <', 'token <=' or 'timestamp <'"
        )
      }
      end[store] = last
    }
    if end.isEmpty { return }
    _ = try mappingErrors {
      try managedObjectContext.execute(
        PersistentHistoryChangeRequest.deleteHistory(before: PersistentHistoryToken(end)))
    }
  }

  private static func foreign(_ type: Any.Type) -> SwiftDataError {
    SwiftDataError(
      .invalidTransactionFetchRequest,
      "the stores of a container keep transactions of type DefaultHistoryTransaction, and none of type \(type)")
  }

  /// Returns the numbers of a store's transactions, ascending.
  private func transactionNumbers(of store: String) throws -> [Int64] {
    var request = PersistentHistoryChangeRequest.fetchHistory(after: PersistentHistoryToken?.none)
    request.resultType = .transactionsOnly
    request.affectedStores = [store]
    return try mappingErrors { try managedObjectContext.execute(request) }.transactions.map { $0.transactionNumber }
  }

  private func transactions(
    _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>, mayBeDeleted: Bool
  ) throws -> [DefaultHistoryTransaction] {
    try requireOpenStores()
    var found: [DefaultHistoryTransaction] = []
    for store in stores.coordinator.persistentStores {
      let request = FetchRequest<PersistentHistoryTransaction>()
      if let predicate = descriptor.predicate {
        let names = HistoryNames(storeIdentifier: store.identifier)
        do { request.predicate = try FetchPredicate(predicate, naming: names) } catch {
          throw SwiftDataError(
            .invalidTransactionFetchRequest, (error as? CambiumError)?.message ?? "\(error)", error)
        }
        if !mayBeDeleted { for token in names.tokens { try requireKnown(token, in: store.identifier) } }
      }
      if descriptor.sortBy.isEmpty, descriptor.fetchLimit > 0 {
        request.fetchLimit = Int(clamping: descriptor.fetchLimit) - found.count
        if request.fetchLimit <= 0 { break }
      }
      var change = PersistentHistoryChangeRequest.fetchHistory(withFetch: request)
      change.affectedStores = [store.identifier]
      found += try mappingErrors { try managedObjectContext.execute(change) }.transactions.map {
        DefaultHistoryTransaction($0, stores)
      }
    }
    return found
  }

  /// Throws if transactions behind a token were deleted.
  private func requireKnown(_ token: DefaultHistoryToken, in store: String) throws {
    guard let position = token.positions[store] else { return }
    var request = PersistentHistoryChangeRequest.fetchHistory(after: PersistentHistoryToken([store: position]))
    request.resultType = .statusOnly
    request.fetchLimit = 1
    request.affectedStores = [store]
    _ = try mappingErrors { try managedObjectContext.execute(request) }
  }
}
