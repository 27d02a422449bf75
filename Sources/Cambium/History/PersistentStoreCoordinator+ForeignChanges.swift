/// The saves of other coordinators that the history has behind a place.
package struct ForeignChanges {
  /// The objects that they changed.
  package var changes = ObjectIDNotification()
  /// The place behind all that was read.
  package var token: PersistentHistoryToken
  /// Whether the history of a store was deleted before it was read, so that any object may have changed.
  package var hasGap = false

  /// Whether no other coordinator has changed anything.
  package var isEmpty: Bool { changes.isEmpty && !hasGap }
}

extension PersistentStoreCoordinator {
  /// Returns the objects that other coordinators, of this process or of others, changed in the stores.
  ///
  /// A batch request of this coordinator counts as well, because contexts do not learn of it otherwise. A store that
  /// cannot be read now is read the next time.
  ///
  /// - Parameter token: The place in the history behind which changes count.
  package func foreignChanges(after token: PersistentHistoryToken) -> ForeignChanges {
    var result = ForeignChanges(token: token)
    for store in persistentStores {
      var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
      request.affectedStores = [store.identifier]
      do {
        for transaction in try HistoryRequestExecution(coordinator: self, request: request).run().transactions {
          result.token = result.token.merging(transaction.token)
          if store.ownTransactions.contains(UInt64(clamping: transaction.transactionNumber)) { continue }
          result.changes.formUnion(transaction.objectIDNotification())
        }
      } catch let error as CambiumError where error.code == .persistentHistoryTokenExpired {
        guard let end = try? currentPersistentHistoryToken(fromStores: [store]) else { continue }
        result.token = PersistentHistoryToken(result.token.positions.merging(end.positions) { $1 })
        result.hasGap = true
      } catch {}
    }
    return result
  }
}
