import CambiumKernel

extension EntityStore {
  /// Makes a commit of what migrations have left to do, which is none of the application's: `body` answers nil if there
  /// is nothing to be done, and then nothing is committed.
  ///
  /// Answers with the outcome the sequence of the commit.
  ///
  /// - Parameter durably: Whether to wait for the commit to be durable.
  /// - Throws: ``EngineError/modelChanged``; what `body` throws; kernel errors. Nothing is changed then.
  func upkeep<R>(
    durably: (R) -> Bool = { _ in true },
    _ body: (WriteTransaction, inout Catalogue) throws(EngineError) -> R?
  ) throws(EngineError) -> (result: R, sequence: UInt64)? {
    let t = try beginWrite()
    do throws(EngineError) {
      try requireModel(t)
      var catalogue = try Catalogue(t)
      guard let result = try body(t, &catalogue) else {
        t.rollBack()
        return nil
      }
      let sequence = try storing { () throws(StoreError) in
        try t.addToCounter(Catalogue.tree, Catalogue.upkeepCounter, 1)
        return try t.commit(durably: durably(result))
      }
      return (result, sequence)
    } catch {
      t.rollBack()
      throw error
    }
  }
}
