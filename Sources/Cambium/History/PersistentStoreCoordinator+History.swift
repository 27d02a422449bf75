import CambiumEngine

extension PersistentStoreCoordinator {

  /// The place in the histories of stores behind everything that was saved; `nil` if none of them ever kept history.
  ///
  /// - Parameter stores: Those that are asked; `nil` for all.
  /// - Throws: ``CambiumError/Code/persistentStoreOperation`` if all stores were removed; what reading throws.
  @_disfavoredOverload public func currentPersistentHistoryToken(
    fromStores stores: [PersistentStore]? = nil
  ) throws -> PersistentHistoryToken? {
    if stores == nil { try requireStores() }
    var positions: [String: Int64] = [:]
    for store in stores ?? persistentStores {
      let bounds = try mapping { () throws(EngineError) in try store.view().historyBounds() }
      if bounds.isOn || bounds.last > 0 { positions[store.identifier] = Int64(clamping: bounds.last) }
    }
    return positions.isEmpty ? nil : PersistentHistoryToken(positions)
  }
}
