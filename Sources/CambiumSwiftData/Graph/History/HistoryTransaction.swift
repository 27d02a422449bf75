import Cambium
import Foundation

/// A save, as the history of its store records it. SwiftData: `HistoryTransaction`.
public protocol HistoryTransaction: Hashable, Identifiable, Sendable {
  /// The type of the place behind the transaction.
  associatedtype TokenType: HistoryToken
  /// The type of the number of the transaction.
  associatedtype TransactionIdentifier: Hashable & Sendable
  /// The time of the save.
  var timestamp: Date { get }
  /// The changes, in the order of saving.
  var changes: [HistoryChange] { get }
  /// The place behind the transaction.
  var token: TokenType { get }
  /// The number of the transaction.
  var transactionIdentifier: TransactionIdentifier { get }
  /// The identifier of the store.
  var storeIdentifier: String { get }
  /// The author that the context had: ``ModelContext/author``.
  var author: String? { get }
}

/// A save of a container's store. SwiftData: `DefaultHistoryTransaction`.
///
/// A predicate on transactions may use all properties but ``changes`` and ``id``. The type is `Sendable`.
public struct DefaultHistoryTransaction: HistoryTransaction {
  /// The time of the save.
  public let timestamp: Date
  /// The changes, in the order of saving.
  public let changes: [HistoryChange]
  /// The place behind the transaction.
  public let token: DefaultHistoryToken
  /// The number of the transaction in its store, from 1. Later transactions have greater numbers.
  public let transactionIdentifier: Int64
  /// The identifier of the store.
  public let storeIdentifier: String
  /// The author that the context had: ``ModelContext/author``.
  public let author: String?
  /// The name of the program that saved. SwiftData has the identifier of the application's bundle here.
  public let bundleIdentifier: String
  /// The number of the process that saved.
  public let processIdentifier: String

  /// The number of the transaction.
  public var id: Int64 { transactionIdentifier }

  init(_ transaction: PersistentHistoryTransaction, _ stores: ContainerStores) {
    timestamp = transaction.timestamp
    token = transaction.token.asHistoryToken
    transactionIdentifier = transaction.transactionNumber
    storeIdentifier = transaction.storeID
    author = transaction.author
    bundleIdentifier = transaction.bundleID ?? ""
    processIdentifier = transaction.processID ?? ""
    changes = (transaction.changes ?? []).map { HistoryChange($0, stores) }
  }

  /// Returns whether both are the same transaction of the same store.
  public static func == (a: DefaultHistoryTransaction, b: DefaultHistoryTransaction) -> Bool {
    a.transactionIdentifier == b.transactionIdentifier && a.storeIdentifier == b.storeIdentifier
  }

  /// Hashes the number of the transaction and the store.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(transactionIdentifier)
    hasher.combine(storeIdentifier)
  }
}
