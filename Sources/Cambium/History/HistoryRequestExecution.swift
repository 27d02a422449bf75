import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The execution of a request for the history of a coordinator's stores.
struct HistoryRequestExecution {
  let coordinator: PersistentStoreCoordinator
  let request: PersistentHistoryChangeRequest

  func run() throws -> PersistentHistoryResult {
    var page = HistoryPage(request)
    var result = PersistentHistoryResult(resultType: request.resultType)
    let stores = coordinator.persistentStores.filter { store in
      guard let wanted = request.affectedStores else {
        return !request.isDeletion || store.readOnlyReason != .requested
      }
      return wanted.contains(store.identifier)
    }
    // Check all stores before deleting from the first one.
    if case .delete(let place) = request.task {
      if stores.isEmpty, request.affectedStores == nil, let only = coordinator.persistentStores.first {
        throw only.readOnlyError
      }
      for store in stores { try requireDeletable(store, before: place) }
    }
    for store in stores {
      switch request.task {
      case .delete(let place): result.count += try deleteHistory(store, before: place)
      case .fetch(let place): try HistoryReader(store, request).read(after: place, &page, into: &result)
      case .fetchTransactions(let predicate, _, _), .fetchChanges(let predicate, _, _):
        try HistoryReader(store, request).read(where: predicate, &page, into: &result)
      }
    }
    return result
  }

  private func requireDeletable(
    _ store: PersistentStore, before place: PersistentHistoryChangeRequest.Place
  ) throws {
    if store.readOnlyReason == .requested { throw store.readOnlyError }
    if case .token(let token?) = place {
      try HistoryReader.requireKnown(
        token, store, try mapping { () throws(EngineError) in try store.view().historyBounds() })
    }
  }

  private func deleteHistory(
    _ store: PersistentStore, before place: PersistentHistoryChangeRequest.Place
  ) throws -> Int {
    try mapping(.persistentStoreSave) { () throws(EngineError) in
      try store.write(isOfHistory: true) { (t) throws(EngineError) -> Int in
        let bounds = try t.historyBounds()
        var last = bounds.deletedTo
        switch place {
        case .token(let token):
          // Without a position in this store, the caller may not have read any of its transactions.
          guard let position = token?.positions[store.identifier], position > 0 else { return 0 }
          last = UInt64(position)
        case .date(let date):
          try t.forEachHistoryTransaction(after: bounds.deletedTo, readsChanges: false) { (entry) in
            guard entry.timestamp < date.timeIntervalSinceReferenceDate else { return false }
            last = entry.number
            return true
          }
        }
        try t.deleteHistory(upTo: last)
        // A stack without history tracking ends the history by deleting all of it, and may write when it opens the
        // store again.
        if !store.tracksHistory, try t.historyBounds().isEmpty { try t.stopHistory() }
        return Int(clamping: try t.historyBounds().deletedTo - bounds.deletedTo)
      }
    }
  }
}
