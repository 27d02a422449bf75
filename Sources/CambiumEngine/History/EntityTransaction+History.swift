import CambiumKernel

extension EntityTransaction {
  /// Has the layer above tell of its transactions from this one on. Where there was history before, nobody can tell
  /// what came between: it is deleted, with a number of its own for what is missing, so that whoever has come to the
  /// end of it does not take the new one for what follows.
  public func startHistory() throws(EngineError) {
    if try isKeepingHistory() { return }
    if let tree = try historyTree() {
      try deleteHistory(upTo: .max)
      if !isPlanted(.restartedHistoryHasNoGap) {
        try storing { () throws(StoreError) in try HistoryCodec.leaveGap(in: tree, transaction) }
      }
    }
    try storing { () throws(StoreError) in
      if try transaction.value(Catalogue.tree, HistoryCodec.treeKey) == nil {
        let tree = try transaction.createTree(.bytes)
        try transaction.put(Catalogue.tree, HistoryCodec.treeKey, Catalogue.bytes(tree.rawValue))
      }
      try transaction.put(Catalogue.tree, HistoryCodec.onKey, [])
    }
  }

  /// Ends that. What there is of history stays.
  public func stopHistory() throws(EngineError) {
    try storing { () throws(StoreError) in _ = try transaction.delete(Catalogue.tree, HistoryCodec.onKey) }
  }

  /// Adds a transaction to the store's history, under the next number, which is answered. It is told of if this
  /// transaction is committed. O(number of changes).
  ///
  /// - Throws: ``EngineError/misuse(_:)`` if the store keeps no history (``startHistory()``); kernel errors.
  @discardableResult
  public func appendHistory(_ entry: HistoryTransaction) throws(EngineError) -> UInt64 {
    var entry = entry
    if isPlanted(.historyForgetsDeletions) { entry.changes.removeAll { $0.kind == .delete } }
    guard let tree = try historyTree() else { throw .misuse("the store keeps no history: start it first") }
    return try storing { () throws(StoreError) in
      try transaction.addToCounter(tree, HistoryCodec.numberCounter, 1)
      let number = UInt64(clamping: try transaction.counter(tree, HistoryCodec.numberCounter))
      try transaction.put(tree, HistoryCodec.key(number, 0), HistoryCodec.encode(entry))
      var start = 0
      var place: UInt32 = 1
      while start < entry.changes.count {
        let end = min(start + HistoryCodec.changesPerEntry, entry.changes.count)
        try transaction.put(tree, HistoryCodec.key(number, place), HistoryCodec.encode(entry.changes[start..<end]))
        start = end
        if !isPlanted(.historyPartsOverwritten) { place &+= 1 }
      }
      return number
    }
  }

  /// Deletes the transactions of the store's history up to a number, that one included. O(what is deleted).
  public func deleteHistory(upTo number: UInt64) throws(EngineError) {
    guard let tree = try historyTree() else { return }
    let bounds = try historyBounds()
    let last = min(number, bounds.last)
    guard last > bounds.deletedTo else { return }
    try storing { () throws(StoreError) in
      var keys: [[UInt8]] = []
      var range = KeyRange(
        lower: HistoryCodec.key(0, 0),
        upper: HistoryCodec.key(isPlanted(.historyDeletesOneMore) ? last + 1 : last, .max))
      repeat {
        keys.removeAll(keepingCapacity: true)
        try transaction.forEachKey(tree, in: range) { (key) throws(StoreError) in
          keys.append(Array(key))
          return keys.count < 1000
        }
        for key in keys { _ = try transaction.delete(tree, key) }
        // Behind what was deleted, which need not be gone through again.
        if let last = keys.last { range.lower = last }
      } while !keys.isEmpty
      try transaction.addToCounter(
        tree, HistoryCodec.deletedCounter, Int64(clamping: last) - Int64(clamping: bounds.deletedTo))
    }
  }
}
