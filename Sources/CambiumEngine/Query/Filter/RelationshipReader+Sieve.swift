import CambiumKernel

extension RelationshipReader {
  /// Whether the relationship leads to a row that a sieve of its destination lets through, as far as the first
  /// `limit` rows tell. `visited` counts the rows that were looked at.
  func leads(
    from reference: ObjectReference, toOneOf sieve: RowSieve, visited: inout Int, limit: Int
  ) throws(EngineError) -> Bool {
    var isFound = false
    guard let tree else {
      for found in try inRow(reference) where !isFound {
        visited += 1
        try offer(found.row, sieve) { (_) throws(EngineError) in
          isFound = true
          return false
        }
      }
      return isFound
    }
    var count = 0
    try eachID(tree, reference.row) { (id) throws(EngineError) in
      count += 1
      try offer(id, sieve) { (_) throws(EngineError) in
        isFound = true
        return false
      }
      return !isFound && count < limit
    }
    visited += count
    return isFound
  }

  /// How many of the first `limit` of them a sieve of the destination lets through, `enough` at most. O(that number).
  func count(
    from reference: ObjectReference, of sieve: RowSieve, visited: inout Int, limit: Int, enough: Int
  ) throws(EngineError) -> Int {
    var n = 0
    var count = 0
    defer { visited += count }
    try forEachID(from: reference) { (id) throws(EngineError) in
      count += 1
      try offer(id, sieve) { (_) throws(EngineError) in
        n += 1
        return true
      }
      return count < limit && n < enough
    }
    return n
  }

  /// Tells `body` of each of some ascending rows of the destination whether a sieve lets it through; nothing of those
  /// that are not there.
  func offer(
    _ rows: ArraySlice<UInt64>, to sieve: RowSieve, _ body: (UInt64, Bool) -> Void
  ) throws(EngineError) {
    var rest = rows
    // As long as the sieve reads nothing else, rows are lent where they lie.
    if !sieve.readsElsewhere {
      var failure: EngineError?
      do throws(StoreError) {
        try view.trees.forEach(destination.rows, of: rest) { (row, bytes) throws(StoreError) -> Bool in
          var isIn = false
          do throws(EngineError) {
            _ = try sieve.offerSingle(bytes, row) { (_) throws(EngineError) in
              isIn = true
              return true
            }
          } catch {
            failure = error
            return false
          }
          body(row, isIn)
          if !sieve.readsElsewhere { return true }
          // Rows of other layouts may have to be asked elsewhere.
          rest = rest.drop { $0 <= row }
          return false
        }
      } catch { throw .store(error) }
      if let failure { throw failure }
      if !sieve.readsElsewhere { return }
    }
    for row in rest {
      var isIn = false
      try offer(row, sieve) { (_) throws(EngineError) in
        isIn = true
        return true
      }
      body(row, isIn)
    }
  }

  private func offer(_ id: UInt64, _ sieve: RowSieve, _ visit: EntityView.Visit) throws(EngineError) {
    var failure: EngineError?
    do throws(StoreError) {
      _ = try view.trees.withValue(destination.rows, id) { (bytes) throws(StoreError) -> Bool in
        do throws(EngineError) { return try sieve.offerSingle(bytes, id, visit) } catch {
          failure = error
          return false
        }
      }
    } catch { throw .store(error) }
    if let failure { throw failure }
  }
}
