import Cambium

/// A place in the history of stores: everything before it is known. SwiftData: `HistoryToken`.
public protocol HistoryToken: Comparable, Codable, Hashable, Identifiable, Sendable {
  /// The form of the place.
  associatedtype TokenType: Codable & Hashable & Sendable
  /// The place.
  var tokenValue: TokenType? { get }
}

/// A place in the history of a container's stores. SwiftData: `DefaultHistoryToken`.
///
/// Keep the token of the last transaction that was read, for example as JSON, and ask for later transactions the next
/// time:
///
///     let news = HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > lastToken })
///
/// A token stays valid across processes and migrations, until ``ModelContext/deleteHistory(_:)`` deletes transactions
/// behind it.
public struct DefaultHistoryToken: HistoryToken {
  /// The number of the last known transaction, by the identifier of its store.
  public let tokenValue: [String: Int64]?

  init(_ positions: [String: Int64]) { tokenValue = positions }

  var positions: [String: Int64] { tokenValue ?? [:] }

  /// Returns the number of the last known transaction of a store; 0 if the token does not know the store.
  func position(in storeIdentifier: String) -> Int64 { positions[storeIdentifier] ?? 0 }

  /// Returns a token that knows the transactions that either token knows.
  ///
  /// A transaction's token names the store of the transaction alone. If a container has several stores, join the
  /// tokens:
  ///
  ///     for transaction in try context.fetchHistory(news) { lastToken = lastToken.merging(transaction.token) }
  public func merging(_ other: DefaultHistoryToken) -> DefaultHistoryToken {
    DefaultHistoryToken(positions.merging(other.positions) { max($0, $1) })
  }

  /// The sum of the numbers of transactions, which grows with each transaction.
  public var id: Int { positions.values.reduce(0) { $0 &+ Int($1) } }

  /// Returns whether `a` is the earlier place.
  ///
  /// Tokens of one store compare by their transactions. If each token is ahead in another store, the first store by
  /// identifier decides, so that tokens can always be sorted.
  public static func < (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool {
    let stores = Set(a.positions.keys).union(b.positions.keys).sorted()
    let pairs = stores.map { (a.position(in: $0), b.position(in: $0)) }
    if pairs.allSatisfy({ $0.0 <= $0.1 }) { return pairs.contains { $0.0 < $0.1 } }
    return pairs.first { $0.0 != $0.1 }.map { $0.0 < $0.1 && pairs.contains { $0.0 < $0.1 } } ?? false
  }

  /// Returns whether both are the same place. A store that a token does not know counts as not begun.
  public static func == (a: DefaultHistoryToken, b: DefaultHistoryToken) -> Bool {
    a.positions.filter { $0.value != 0 } == b.positions.filter { $0.value != 0 }
  }

  /// Hashes the place.
  public func hash(into hasher: inout Hasher) { hasher.combine(positions.filter { $0.value != 0 }) }
}

extension PersistentHistoryToken {
  var asHistoryToken: DefaultHistoryToken { DefaultHistoryToken(positions) }
}
