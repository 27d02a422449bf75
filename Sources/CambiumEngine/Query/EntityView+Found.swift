import CambiumKernel

extension EntityView {
  /// Calls `body` with copies of the rows that a fetch finds, in its order and on the calling thread: with all of them
  /// at once, or, where very many are gone through, with some after the others, while threads of the host's copy those
  /// behind.
  ///
  /// - Parameter body: Is told as well about how many rows come behind these, or 0 where that is not known: a million
  ///   at most, whatever a damaged file says. May take long, and do anything but close the store.
  /// - Throws: as ``fetch(_:)``, perhaps behind the rows before; ``EngineError/misuse(_:)`` if the host does not call
  ///   what it is given to run concurrently.
  public func forEachFound(
    _ fetch: EngineFetch, _ body: (_ rows: FoundRows, _ toCome: Int) -> Void
  ) throws(EngineError) {
    let chosen = try choose(fetch)
    if fetch.wantsAll,
      let scan = ConcurrentScan(
        self, chosen, try store.plan(fetch.entity.id), includesSubentities: fetch.includesSubentities, isCopied: true)
    {
      return try scan.forEachFound(body)
    }
    var found = FoundRows()
    try run(fetch, chosen) { (row) throws(EngineError) in
      found.add(row)
      return true
    }
    body(found, 0)
  }
}

extension ConcurrentScan {
  /// Calls `body` with copies of the rows that the predicate holds for, a part after the other and on the calling
  /// thread, which copies some itself where it would have to wait.
  func forEachFound(_ body: (_ rows: FoundRows, _ toCome: Int) -> Void) throws(EngineError) {
    // Views of snapshots may be used by any number of threads, and plans are not changed.
    nonisolated(unsafe) let scan = self
    var used = 0
    // Who made threads may hold what they did for a while, but not what is called here.
    try withoutActuallyEscaping(body) { (body) throws(EngineError) in
      nonisolated(unsafe) let listener = FoundListener(body, rows: knownCount ?? 0, parts: parts.count)
      defer { listener.body = nil }
      try view.store.kernel.inOrder(
        parts.count, mostThreads: chosen.residual == nil ? EntityView.mostCopying : .max,
        make: { (n, spare: CopiedPart?) throws(EngineError) in
          let part = spare ?? CopiedPart()
          var rows = FoundRows()
          _ = try scan.scan(n, isCancelled: scan.chosen.isCancelled) { (row) throws(EngineError) in
            rows.add(row)
            return true
          }
          part.rows = rows
          return part
        },
        use: { (part) throws(EngineError) in
          used += 1
          listener.take(part)
        })
    }
    if used < parts.count { throw .misuse("the host did not call the work that it was given") }
  }
}

/// The rows of a part that were copied ahead.
private final class CopiedPart: @unchecked Sendable {
  // `@unchecked`: used by one thread at a time, which the line hands it to.
  var rows = FoundRows()
}

/// Who is told the rows, until the call ends.
private final class FoundListener {
  /// Used by the calling thread alone, as all of it.
  var body: ((FoundRows, Int) -> Void)?
  private var rows: Int
  private var parts: Int

  init(_ body: @escaping (FoundRows, Int) -> Void, rows: Int, parts: Int) {
    (self.body, self.rows, self.parts) = (body, rows, parts)
  }

  func take(_ part: CopiedPart) {
    let found = part.rows
    // Whoever copies the next ones need not keep these.
    part.rows = FoundRows()
    (rows, parts) = (max(0, rows - found.count), max(0, parts - 1))
    body?(found, rowsToCome(of: rows, behind: found.count, parts: parts))
  }
}

/// How many rows of those that a tree says it has left may come in so many parts behind one with `count`: parts are
/// nearly of a size, and the tree's numbers are what a file says. Whoever makes room for them makes more when more have
/// come than are told.
func rowsToCome(of rows: Int, behind count: Int, parts: Int) -> Int {
  let usual = min(count, Int(ConcurrentScan.mostCopied))
  let (most, overflow) = parts.multipliedReportingOverflow(by: 2 * usual)
  return overflow ? 0 : min(rows, most, 1 << 20)
}
