extension PersistentStoreCoordinator {
  /// Returns the objects that other coordinators, of this process or of others, changed in a store.
  ///
  /// A batch request of this coordinator counts as well, because contexts do not learn of it otherwise. If history
  /// was deleted that nobody has read, the objects that it named are missing.
  ///
  /// - Parameter token: The place in the history behind which changes count; nil for all of it.
  package func foreignChanges(
    after token: PersistentHistoryToken?, in storeIdentifier: String
  ) -> ObjectIDNotification {
    var result = ObjectIDNotification()
    guard let store = persistentStores.first(where: { $0.identifier == storeIdentifier }) else { return result }
    var request = PersistentHistoryChangeRequest.fetchHistory(after: token)
    request.affectedStores = [storeIdentifier]
    let found = try? HistoryRequestExecution(coordinator: self, request: request).run()
    for transaction in found?.transactions ?? []
    where !store.ownTransactions.contains(UInt64(clamping: transaction.transactionNumber)) {
      result.formUnion(transaction.objectIDNotification())
    }
    return result
  }
}

extension ObjectIDNotification {
  /// Whether it names no objects that a context could merge.
  package var isEmpty: Bool { insertedObjectIDs.isEmpty && updatedObjectIDs.isEmpty && deletedObjectIDs.isEmpty }

  /// Adds the objects of a later notification.
  package mutating func formUnion(_ later: ObjectIDNotification) {
    insertedObjectIDs.formUnion(later.insertedObjectIDs)
    updatedObjectIDs.formUnion(later.updatedObjectIDs)
    deletedObjectIDs.formUnion(later.deletedObjectIDs)
  }
}
