import CambiumKernel

extension EntityStore {
  /// Makes a commit of what migrations have left to do, which is none of the application's: `body` answers nil if there is
  /// nothing to be done, and then nothing is committed.
  ///
  /// - Parameter durably: Whether to wait for the commit to be durable.
  /// - Throws: ``EngineError/modelChanged``; what `body` throws; kernel errors. Nothing is changed then.
  func upkeep<R>(
    durably: (R) -> Bool = { _ in true },
    _ body: (WriteTransaction, inout Catalogue) throws(EngineError) -> R?
  ) throws(EngineError) -> R? {
    let t = try beginWrite()
    do throws(EngineError) {
      try requireModel(t)
      var catalogue = try Catalogue(t)
      guard let result = try body(t, &catalogue) else {
        t.rollBack()
        return nil
      }
      try storing { () throws(StoreError) in
        try t.addToCounter(Catalogue.tree, Catalogue.upkeepCounter, 1)
        _ = try t.commit(durably: durably(result))
      }
      return result
    } catch {
      t.rollBack()
      throw error
    }
  }
}
