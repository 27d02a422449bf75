import Cambium
import CambiumEngine
import Foundation

/// Tells the translator of predicates how the history of one store calls the properties of a transaction.
///
/// A token is a number in each store. So the predicate is translated once for each store.
final class HistoryNames: PredicateNaming {
  private let storeIdentifier: String
  /// The tokens that the predicate captures.
  private(set) var tokens: [DefaultHistoryToken] = []

  init(storeIdentifier: String) { self.storeIdentifier = storeIdentifier }

  func name(of keyPath: AnyKeyPath, in type: Any.Type) throws -> PredicateName? {
    if type == DefaultHistoryToken.self { return .refused("compare the token itself: $0.token > lastToken") }
    guard type == DefaultHistoryTransaction.self else { return nil }
    switch keyPath {
    case \DefaultHistoryTransaction.token, \DefaultHistoryTransaction.transactionIdentifier:
      return .property("transactionNumber")
    case \DefaultHistoryTransaction.timestamp: return .property("timestamp")
    case \DefaultHistoryTransaction.author: return .property("author")
    case \DefaultHistoryTransaction.storeIdentifier: return .property("storeID")
    case \DefaultHistoryTransaction.bundleIdentifier: return .property("bundleID")
    case \DefaultHistoryTransaction.processIdentifier: return .property("processID")
    default:
      return .refused(
        "a condition on history may use token, transactionIdentifier, timestamp, author, storeIdentifier, "
          + "bundleIdentifier and processIdentifier; look at the changes after fetching the transactions")
    }
  }

  func entityName(of type: Any.Type) -> String? { nil }

  func meaning(of captured: Any) throws -> CapturedMeaning? {
    guard let token = captured as? DefaultHistoryToken else { return nil }
    tokens.append(token)
    return .value(.integer(token.position(in: storeIdentifier)))
  }
}
