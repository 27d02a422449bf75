import CambiumEngine

extension PersistentStoreCoordinator {
  /// Has a store that is being opened keep history, if it is to; answers why it may only be read, if it may.
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
      if bounds.isEmpty {
        // Somebody may have told of something meanwhile. Who has the store open with history begins it again.
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
