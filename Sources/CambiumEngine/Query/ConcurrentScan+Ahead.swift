import CambiumKernel
import Synchronization

extension ConcurrentScan {
  /// Lends `visit` the rows that the predicate holds for, in their order and on the calling thread, until it answers
  /// false. Threads look for some of them ahead, as long as it is few that they find: these are copied.
  func forEach(_ visit: EntityView.Visit) throws(EngineError) {
    var next = 0
    while next < parts.count {
      guard let place = try forEachAhead(from: next, visit) else { return }
      next = place
      // What was found ahead is lost where rows turn out to be many, so that it has to be worth it before it is tried
      // again.
      var sparse = 0
      while next < parts.count, sparse < threads {
        var count = 0
        let goesOn = try scan(next, isCancelled: chosen.isCancelled) { (row) throws(EngineError) in
          count += 1
          return try visit(row)
        }
        if !goesOn { return }
        next += 1
        sparse = count > rowsPerPart / 2 ? 0 : sparse + 1
      }
    }
  }

  /// The same for the parts from one on, until parts have so many rows that it takes longer to copy them than to find
  /// them, or one cannot be read. Answers where to go on without; nil if nothing is left to be done.
  private func forEachAhead(from first: Int, _ visit: EntityView.Visit) throws(EngineError) -> Int? {
    // Views of snapshots may be used by any number of threads, and plans are not changed.
    nonisolated(unsafe) let scan = self
    do throws(End) {
      // Who made threads may hold what they did for a while, but not what is called here.
      try withoutActuallyEscaping(visit) { (visit) throws(End) in
        nonisolated(unsafe) let listener = Listener(visit, many: rowsPerPart / 2, isCancelled: chosen.isCancelled)
        defer { listener.visit = nil }
        try view.store.kernel.inOrder(
          parts.count - first,
          make: { (n, spare: FoundPart?) throws(End) in
            let part = spare ?? FoundPart()
            scan.find(first + n, listener, into: part)
            return part
          },
          use: { (part) throws(End) in try listener.take(part) })
      }
    } catch {
      switch error {
      case .enough: return nil
      case .alone(let next): return next
      case .failed(let error): throw error
      }
    }
    return nil
  }

  /// Finds the rows of a part, unless the listener has ended: what it does not wait for is given up.
  private func find(_ number: Int, _ listener: Listener, into part: FoundPart) {
    part.number = number
    // Asked alone whether it is over, which any thread may.
    nonisolated(unsafe) let listener = listener
    do throws(EngineError) {
      var found = part.found
      part.found = FoundRows()
      defer { part.found = found }
      _ = try scan(number, isCancelled: { listener.isOver }) { (row) throws(EngineError) in
        found.add(row)
        return true
      }
    } catch {
      // It may be over by the time that its rows are wanted: they are looked for again then, and those before it told.
      part.isWhole = false
    }
  }

  /// What was found in a part ahead of who is told it.
  private final class FoundPart: @unchecked Sendable {
    // `@unchecked`: used by one thread at a time, which the line hands it to.
    var number = 0
    var found = FoundRows()
    var isWhole = true

    func clear() {
      found.removeAll()
      isWhole = true
    }
  }

  /// Why parts are no longer looked at ahead.
  private enum End: Error {
    case enough
    /// The rows are many, or a part could not be read: where to go on without other threads.
    case alone(next: Int)
    case failed(EngineError)
  }

  /// Who is told the rows, until the call ends.
  private final class Listener {
    /// Used by the calling thread alone.
    var visit: EntityView.Visit?
    private let many: Int
    private let isCancelled: (@Sendable () -> Bool)?
    /// How many parts had many rows, one after the other.
    private var dense = 0
    private let hasEnded = Atomic(false)

    /// - Parameter many: What a part may have without being one of many rows: two of these one after the other end it.
    init(_ visit: @escaping EntityView.Visit, many: Int, isCancelled: (@Sendable () -> Bool)?) {
      self.visit = visit
      self.many = many
      self.isCancelled = isCancelled
    }

    /// Whether nobody waits for more. On any thread.
    var isOver: Bool { hasEnded.load(ordering: .relaxed) || isCancelled?() ?? false }

    func take(_ part: FoundPart) throws(End) {
      do throws(End) { try tell(part) } catch {
        hasEnded.store(true, ordering: .relaxed)
        throw error
      }
      part.clear()
    }

    private func tell(_ part: FoundPart) throws(End) {
      guard let visit else { return }
      if let isCancelled, isCancelled() { throw .failed(.cancelled) }
      if !part.isWhole { throw .alone(next: part.number) }
      var told = 0
      try part.found.forEach { (row, _) throws(End) in
        if told & 63 == 63, let isCancelled, isCancelled() { throw .failed(.cancelled) }
        told += 1
        let goesOn: Bool
        do throws(EngineError) { goesOn = try lend(row.row, visit) } catch { throw .failed(error) }
        if !goesOn { throw .enough }
      }
      dense = part.found.count > many ? dense + 1 : 0
      if dense == 2 { throw .alone(next: part.number + 1) }
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
