#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a request for history gives, with Core Data's raw values.
public enum PersistentHistoryResultType: Int, Sendable {
  /// Whether it was done.
  case statusOnly = 0
  /// The identifiers of the objects that were changed.
  case objectIDs = 1
  /// How many transactions there are.
  case count = 2
  /// The transactions, without their changes.
  case transactionsOnly = 3
  /// The changes of all transactions.
  case changesOnly = 4
  /// The transactions with their changes.
  case transactionsAndChanges = 5
}

/// Asks for the history of stores, or deletes the beginning of it. Core Data: `NSPersistentHistoryChangeRequest`.
///
///     let request = PersistentHistoryChangeRequest.fetchHistory(after: token)
///     for transaction in try context.execute(request).transactions where transaction.author != "importer" {
///       context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
///     }
public struct PersistentHistoryChangeRequest: Sendable {
  enum Place: Sendable {
    case token(PersistentHistoryToken?)
    case date(Date)
  }

  enum Task: Sendable {
    case fetch(after: Place)
    case fetchTransactions(FetchPredicate?, limit: Int, offset: Int)
    case fetchChanges(FetchPredicate?, limit: Int, offset: Int)
    case delete(before: Place)
  }

  let task: Task
  var isDeletion: Bool {
    if case .delete = task { return true }
    return false
  }
  /// What is given.
  public var resultType = PersistentHistoryResultType.transactionsAndChanges
  /// How many transactions at most, of a fetch of changes how many of these, over all stores; 0 for all.
  public var fetchLimit = 0
  /// How many of those are passed over first, over all stores.
  public var fetchOffset = 0
  /// The identifiers of the stores that are asked; `nil` for all that keep history, of a deletion those of them that
  /// were not opened for reading only.
  public var affectedStores: [String]?

  /// Which transactions, of those that came after something, are given; see ``PersistentHistoryTransaction`` for the
  /// key paths. So an application passes over what it has saved itself: `author != "app"`. Without effect on requests
  /// of other kinds.
  public var predicate: FetchPredicate?

  private init(_ task: Task) { self.task = task }

  /// What came after a token; everything there is, without one.
  public static func fetchHistory(after token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch(after: .token(token)))
  }

  /// What came after a transaction in its store, and all there is of others (``affectedStores`` leaves them out);
  /// everything there is, without one.
  ///
  /// A plain `nil` is taken for no token, which asks for the same.
  @_disfavoredOverload
  public static func fetchHistory(after transaction: PersistentHistoryTransaction?) -> PersistentHistoryChangeRequest {
    fetchHistory(after: transaction?.token)
  }

  /// What came after a time.
  public static func fetchHistory(after date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.fetch(after: .date(date)))
  }

  /// The transactions for which a request's predicate holds; see ``PersistentHistoryTransaction`` for its key paths.
  /// The request's predicate, limit and offset count.
  public static func fetchHistory(
    withFetch request: FetchRequest<PersistentHistoryTransaction>
  ) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(
      .fetchTransactions(request.predicate, limit: request.fetchLimit, offset: request.fetchOffset))
  }

  /// The changes for which a request's predicate holds, of all transactions; see ``PersistentHistoryChange`` for its
  /// key paths. The request's predicate, limit and offset count.
  public static func fetchHistory(
    withFetch request: FetchRequest<PersistentHistoryChange>
  ) -> PersistentHistoryChangeRequest {
    var result = PersistentHistoryChangeRequest(
      .fetchChanges(request.predicate, limit: request.fetchLimit, offset: request.fetchOffset))
    result.resultType = .changesOnly
    return result
  }

  /// Deletes the transactions up to a token, those at it included; nothing, without one.
  public static func deleteHistory(before token: PersistentHistoryToken?) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete(before: .token(token)))
  }

  /// Deletes the transactions before one, not itself; nothing, without one. A plain `nil` is taken for no token, which
  /// deletes nothing either.
  @_disfavoredOverload
  public static func deleteHistory(
    before transaction: PersistentHistoryTransaction?
  ) -> PersistentHistoryChangeRequest {
    deleteHistory(
      before: transaction.map { PersistentHistoryToken([$0.storeID: $0.transactionNumber - 1]) })
  }

  /// Deletes the transactions before a time; all of them for `Date.distantFuture`.
  public static func deleteHistory(before date: Date) -> PersistentHistoryChangeRequest {
    PersistentHistoryChangeRequest(.delete(before: .date(date)))
  }
}

/// What a request for history has given. Core Data: `NSPersistentHistoryResult`.
public struct PersistentHistoryResult: Sendable {
  /// What was asked for.
  public let resultType: PersistentHistoryResultType
  /// The transactions, oldest first, those of one store behind those of another. Without their changes for
  /// ``PersistentHistoryResultType/transactionsOnly``; empty for changes alone.
  public internal(set) var transactions: [PersistentHistoryTransaction] = []
  /// The changes, for ``PersistentHistoryResultType/changesOnly`` and fetches of changes.
  public internal(set) var changes: [PersistentHistoryChange] = []
  /// How many transactions there were (of a fetch of changes, changes), or were deleted.
  public internal(set) var count = 0

  /// What the result type says: `Bool`, `[ManagedObjectID]`, `Int`, `[PersistentHistoryTransaction]` or
  /// `[PersistentHistoryChange]`.
  public var result: Any? {
    switch resultType {
    case .statusOnly: return true
    case .objectIDs: return objectIDs
    case .count: return count
    case .transactionsOnly, .transactionsAndChanges: return transactions
    case .changesOnly: return changes
    }
  }

  /// The objects that were changed, each once, in the order of their first change.
  public var objectIDs: [ManagedObjectID] {
    var known: Set<ManagedObjectID> = []
    let all = changes + transactions.flatMap { $0.changes ?? [] }
    return all.compactMap { known.insert($0.changedObjectID).inserted ? $0.changedObjectID : nil }
  }
}
