import CambiumEngine

extension PersistentStoreCoordinator {
  /// Begins the history of a store that is being opened, if the description asks for history. Returns the reason why
  /// the store may only be read; nil if it may be written.
  func prepareHistory(
    of engine: EntityStore, _ description: PersistentStoreDescription
  ) throws -> PersistentStore.ReadOnlyReason? {
    if description.isReadOnly { return nil }
    return try mapping(.persistentStoreOpen) { () throws(EngineError) in
      let bounds = try engine.view().historyBounds()
      if description.tracksHistory {
        if !bounds.isOn { try engine.write { (t) throws(EngineError) in try t.startHistory() } }
        return nil
      }
      if !bounds.isOn { return nil }
      // A history that never had a transaction counts as well: the stack that began it relies on it.
      if bounds.isEmpty, bounds.last > 0 {
        // Another stack may have added a transaction meanwhile. A stack that has the store open with history begins it
        // again.
        let isStopped = try engine.write { (t) throws(EngineError) in
          guard try t.historyBounds().isEmpty else { return false }
          try t.stopHistory()
          return true
        }
        if isStopped { return nil }
      }
      DebugLog.write(
        .store,
        "the store keeps history and was opened without tracksHistory: it is read-only until its history is deleted")
      return .historyNotTracked
    }
  }
}
