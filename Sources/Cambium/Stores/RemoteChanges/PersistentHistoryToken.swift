/// A place in the histories of stores: everything up to it is known. Core Data: `NSPersistentHistoryToken`.
///
/// Keep it, as JSON say, and ask for what came after it the next time: tokens stay good across processes and
/// migrations, as long as the store keeps what came after them.
public struct PersistentHistoryToken: Hashable, Codable, Sendable {
  /// The number of the last transaction that is known, by the identifier of its store.
  public let positions: [String: Int64]

  package init(_ positions: [String: Int64]) { self.positions = positions }

  /// A token that knows what either knows.
  public func merging(_ other: PersistentHistoryToken) -> PersistentHistoryToken {
    PersistentHistoryToken(positions.merging(other.positions) { max($0, $1) })
  }
}
