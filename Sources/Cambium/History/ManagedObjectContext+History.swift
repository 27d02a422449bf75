extension ManagedObjectContext {
  /// Asks the stores for their history, or deletes the beginning of it.
  ///
  /// - Throws: ``CambiumError/Code/persistentHistoryTokenExpired`` for a token behind which transactions were deleted,
  ///   or which the store's history has not come to (another file has taken its place): fetch everything anew, and go
  ///   on from ``PersistentStoreCoordinator/currentPersistentHistoryToken(fromStores:)``;
  ///   ``CambiumError/Code/invalidPredicate``; ``CambiumError/Code/fileWriteNoPermission`` for deleting from a store
  ///   that was opened for reading only; what reading and writing throw.
  @discardableResult
  public func execute(_ request: PersistentHistoryChangeRequest) throws -> PersistentHistoryResult {
    try lock.run {
      try told(.history(isDeletion: request.isDeletion), count: { $0.count }) {
        try HistoryRequestExecution(coordinator: persistentStoreCoordinator, request: request).run()
      }
    }
  }
}
