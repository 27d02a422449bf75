import CambiumKernel

// A file that replaces another under the same store identifier must not give an object the name that another object had
// in the file before it: it begins to count where that one stopped.

extension EntityView {
  /// The last row that was given out; 0 in a new store.
  public func lastRow() throws(EngineError) -> UInt64 {
    UInt64(
      clamping: try storing { () throws(StoreError) in try trees.counter(Catalogue.tree, Catalogue.rowCounter) })
  }
}

extension EntityTransaction {
  /// Gives no rows up to `row` out. To be called before any reference is reserved in the transaction.
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if rows beyond it were given out already, or there are none left.
  public func skipRows(through row: UInt64) throws(EngineError) {
    let last = try lastRow()
    guard last <= row, row < 1 << PackedReference.rowBits else {
      throw .misuse(
        "rows up to \(row) cannot be left out: \(last) were given out, and there are 2^\(PackedReference.rowBits)")
    }
    let count = Int64(clamping: row &- last)
    try storing { () throws(StoreError) in
      try transaction.addToCounter(Catalogue.tree, Catalogue.rowCounter, count)
    }
  }
}
