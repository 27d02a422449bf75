import CambiumKernel

extension EntityView {
  /// The tree of the store's history; nil if it never had any.
  func historyTree() throws(EngineError) -> TreeID? {
    let bytes = try storing { () throws(StoreError) in try trees.value(Catalogue.tree, HistoryCodec.treeKey) }
    guard let bytes else { return nil }
    guard let number = Catalogue.number(bytes) else { throw .corrupt("the catalogue's entry of history is malformed") }
    return TreeID(rawValue: number)
  }

  /// Whether transactions are to be told of. O(log n).
  public func isKeepingHistory() throws(EngineError) -> Bool {
    try storing { () throws(StoreError) in try trees.value(Catalogue.tree, HistoryCodec.onKey) } != nil
  }

  /// What the store has of its history. O(log n).
  public func historyBounds() throws(EngineError) -> HistoryBounds {
    guard let tree = try historyTree() else { return HistoryBounds(isOn: false, last: 0, deletedTo: 0) }
    return try storing { () throws(StoreError) in
      HistoryBounds(
        isOn: try trees.value(Catalogue.tree, HistoryCodec.onKey) != nil,
        last: UInt64(clamping: try trees.counter(tree, HistoryCodec.numberCounter)),
        deletedTo: UInt64(clamping: try trees.counter(tree, HistoryCodec.deletedCounter)))
    }
  }

  /// Tells `body` the transactions of the store's history, oldest first, until it answers false.
  ///
  /// - Parameters:
  ///   - number: Those behind this one; 0 for all.
  ///   - readsChanges: Whether their changes are read, or only how many there are.
  /// - Throws: ``EngineError/corrupt(_:)``; what reading throws; what `body` throws.
  public func forEachHistoryTransaction(
    after number: UInt64 = 0, readsChanges: Bool = true,
    _ body: (HistoryTransaction) throws(EngineError) -> Bool
  ) throws(EngineError) {
    guard let tree = try historyTree(), number < .max else { return }
    let cursor = try storing { () throws(StoreError) in try trees.cursor(tree) }
    var next: UInt64 = number + 1
    while true {
      var key = HistoryCodec.key(next, 0)
      var more = try storing { () throws(StoreError) in try cursor.seek(key) }
      guard more, let (found, place) = HistoryCodec.place(cursor.key) else { return }
      guard place == 0 else { throw .corrupt("transaction \(found) of the store's history lacks its beginning") }
      let head = try storing { () throws(StoreError) in try cursor.value() } ?? []
      var transaction = try HistoryCodec.decode(head, found)
      if readsChanges {
        key = HistoryCodec.key(found, 0)
        while true {
          more = try storing { () throws(StoreError) in try cursor.next() }
          guard more, let (other, _) = HistoryCodec.place(cursor.key), other == found else { break }
          let bytes = try storing { () throws(StoreError) in try cursor.value() } ?? []
          try HistoryCodec.decode(bytes, into: &transaction)
        }
        guard transaction.changes.count == transaction.changeCount else {
          throw .corrupt("transaction \(found) of the store's history lacks changes")
        }
      }
      if try !body(transaction) { return }
      guard found < .max else { return }
      next = found + 1
    }
  }
}
