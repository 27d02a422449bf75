import CambiumKernel

// Many objects at once, which are looked for in the order in which rows lie: so most of them are where the last one
// was, and memory need not be waited for.
extension EntityView {
  /// Those of some objects that there is no row of.
  public func missing(among references: [ObjectReference]) throws(EngineError) -> Set<ObjectReference> {
    var result: Set<ObjectReference> = []
    for (entity, rows) in Self.rowsByEntity(references) {
      let plan = try store.plan(entity)
      for row in sortedNumbers(rows) where try !hasRow(row, plan) {
        result.insert(ObjectReference(entity: entity, row: row))
      }
    }
    return result
  }

  /// Copies of the rows of some objects, each once, in no order that means anything; those that are not there are left
  /// out. Of many, several threads of the host's read some each, where views may be read by several.
  ///
  /// - Throws: what reading throws; ``EngineError/misuse(_:)`` if the host does not call what it is given to run
  ///   concurrently.
  public func findRows(of references: [ObjectReference]) throws(EngineError) -> FoundRows {
    var found = FoundRows()
    for (entity, rows) in Self.rowsByEntity(references) {
      let rows = Self.distinct(sortedNumbers(rows))
      guard rows.count >= Self.leastShared, store.kernel.threadCount > 1, trees.allowsConcurrentReads else {
        try add(rows[...], of: entity, to: &found)
        continue
      }
      // Views of snapshots may be used by any number of threads.
      nonisolated(unsafe) let view = self
      let parts = (rows.count + Self.rowsPerPart - 1) / Self.rowsPerPart
      var used = 0
      try store.kernel.inOrder(
        parts,
        make: { (part, _: FoundRows?) throws(EngineError) in
          var some = FoundRows()
          let start = part * Self.rowsPerPart
          try view.add(rows[start..<min(start + Self.rowsPerPart, rows.count)], of: entity, to: &some)
          return some
        },
        use: { (some) throws(EngineError) in
          found.append(some)
          used += 1
        })
      if used < parts { throw .misuse("the host did not call the work that it was given") }
    }
    return found
  }

  private static var leastShared: Int { 2048 }
  private static var rowsPerPart: Int { 256 }

  /// - Parameter rows: ascending, each once.
  func add(
    _ rows: ArraySlice<UInt64>, of entity: UInt32, to found: inout FoundRows
  ) throws(EngineError) {
    guard lendsInPlace else {
      for row in rows {
        _ = try withRow(ObjectReference(entity: entity, row: row)) { (reader) throws(EngineError) in found.add(reader) }
      }
      return
    }
    let plan = try store.plan(entity)
    if let first = rows.first, let last = rows.last, rows.count >= 16, last - first < 2 * UInt64(rows.count) {
      return try add(rows, first...last, of: plan, to: &found)
    }
    var failure: EngineError?
    // Several are sought before the first is copied: they come from memory at the same time.
    try storing { () throws(StoreError) in
      try trees.forEach(plan.rows, of: rows) { (row, bytes) throws(StoreError) -> Bool in
        do throws(EngineError) {
          try lend(bytes, row) { (reader) throws(EngineError) in
            if plan.isInHierarchy(reader.reference.entity) { found.add(reader) }
          }
        } catch { failure = error }
        return failure == nil
      }
    }
    if let failure { throw failure }
  }

  /// The same of rows that are nearly all of a range: what lies there is gone through, and what is not among them
  /// passed over.
  private func add(
    _ rows: ArraySlice<UInt64>, _ range: ClosedRange<UInt64>, of plan: EntityPlan, to found: inout FoundRows
  ) throws(EngineError) {
    var failure: EngineError?
    var next = rows.startIndex
    try storing { () throws(StoreError) in
      try trees.forEachRun(plan.rows, keys: range, isSparse: false) { (run) throws(StoreError) -> Bool in
        for i in run.indices {
          let row = run.key(i)
          while next < rows.endIndex, rows[next] < row { next += 1 }
          guard next < rows.endIndex else { return false }
          if rows[next] != row { continue }
          do throws(EngineError) {
            try lend(run.value(i), row) { (reader) throws(EngineError) in
              if plan.isInHierarchy(reader.reference.entity) { found.add(reader) }
            }
          } catch {
            failure = error
            return false
          }
        }
        return true
      }
    }
    if let failure { throw failure }
  }

  /// What is in an ascending list, once. O(n).
  private static func distinct(_ rows: [UInt64]) -> [UInt64] {
    var last: UInt64?
    let areDistinct = rows.allSatisfy { row in
      defer { last = row }
      return row != last
    }
    if areDistinct { return rows }
    last = nil
    return rows.filter { row in
      defer { last = row }
      return row != last
    }
  }

  static func rowsByEntity(_ references: some RandomAccessCollection<ObjectReference>) -> [UInt32: [UInt64]] {
    guard let first = references.first else { return [:] }
    if references.allSatisfy({ $0.entity == first.entity }) { return [first.entity: references.map { $0.row }] }
    var rows: [UInt32: [UInt64]] = [:]
    for reference in references { rows[reference.entity, default: []].append(reference.row) }
    return rows
  }
}
