import CambiumKernel

extension ConcurrentScan {
  /// Lends `visit` the rows that the predicate holds for, in their order, until it answers false. Threads look for some of them
  /// ahead, as long as it is few that they find: these are copied.
  func forEach(_ visit: EntityView.Visit) throws(EngineError) {
    var next = 0
    while next < parts.count {
      guard let dense = try forEachAhead(from: next, visit) else { return }
      next = dense
      // What was found ahead is lost where rows turn out to be many, so that it has to be worth it before it is tried again.
      var sparse = 0
      while next < parts.count, sparse < 2 * threads {
        var count = 0
        let goesOn = try scan(next) { (row) throws(EngineError) in
          count += 1
          return try visit(row)
        }
        if !goesOn { return }
        next += 1
        sparse = count > rowsPerPart / 2 ? 0 : sparse + 1
      }
    }
  }

  /// The same for the parts from one on, until a part has so many rows that it takes longer to copy them than to find them.
  /// Answers where to go on without; nil if nothing is left to be done.
  private func forEachAhead(from first: Int, _ visit: EntityView.Visit) throws(EngineError) -> Int? {
    // Views of snapshots may be used by any number of threads, and plans are not changed.
    nonisolated(unsafe) let scan = self
    do throws(End) {
      // Who made threads may hold what they did for a while, but not what is called here.
      try withoutActuallyEscaping(visit) { (visit) throws(End) in
        nonisolated(unsafe) let listener = Listener(visit, rowsPerPart / 2)
        defer { listener.visit = nil }
        try view.store.kernel.inOrder(
          parts.count - first,
          make: { (n, spare: FoundPart?) throws(End) in scan.find(first + n, spare) },
          use: { (part) throws(End) in try listener.take(part) })
      }
    } catch {
      switch error {
      case .enough: return nil
      case .many(let next): return next
      case .failed(let error): throw error
      }
    }
    return nil
  }

  /// What is found in a part.
  private func find(_ number: Int, _ spare: FoundPart?) -> FoundPart {
    var part = spare ?? FoundPart()
    part.begin(number)
    do throws(EngineError) {
      _ = try scan(number) { (row) throws(EngineError) in
        part.found.add(row)
        return true
      }
    } catch { part.failure = error }
    return part
  }

  /// What was found in a part ahead of who is told it.
  private struct FoundPart: Sendable {
    var number = 0
    var found = FoundRows()
    /// What ended the part early.
    var failure: EngineError?

    mutating func begin(_ number: Int) {
      self.number = number
      found.removeAll()
      failure = nil
    }
  }

  /// Why parts are no longer looked at ahead.
  private enum End: Error {
    case enough
    /// The rows are many: where to go on without.
    case many(next: Int)
    case failed(EngineError)
  }

  /// Who is told the rows, until the call ends.
  private final class Listener {
    var visit: EntityView.Visit?
    private let many: Int

    /// - Parameter many: What a part may have without being the last one that is looked at ahead.
    init(_ visit: @escaping EntityView.Visit, _ many: Int) {
      self.visit = visit
      self.many = many
    }

    func take(_ part: FoundPart) throws(End) {
      guard let visit else { return }
      for row in part.found.rows {
        let goesOn: Bool
        do throws(EngineError) { goesOn = try lend(row, visit) } catch { throw .failed(error) }
        if !goesOn { throw .enough }
      }
      // What is before an error is told first, and who has enough then is not told the error.
      if let failure = part.failure { throw .failed(failure) }
      if part.found.rows.count > many { throw .many(next: part.number + 1) }
    }

    private func lend(_ row: Row, _ visit: EntityView.Visit) throws(EngineError) -> Bool {
      let layout = row.layout
      return try row.withBytes { (bytes) throws(EngineError) -> Bool in
        let record = try storing { () throws(StoreError) in try RecordView(bytes, layout: layout.record) }
        return try visit(RowReader(record, layout, row.reference))
      }
    }
  }
}

/// Rows that were read together, and the memory for the next one.
struct FoundRows: Sendable {
  private(set) var rows: [Row] = []
  private var collector = RowCollector()

  mutating func add(_ row: borrowing RowReader) { rows.append(row.copy(&collector)) }

  mutating func removeAll() { rows.removeAll(keepingCapacity: true) }
}
