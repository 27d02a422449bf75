import CambiumKernel

/// A scan that several threads do, a part of the rows each.
struct ConcurrentScan {
  /// Fewer rows are gone through on the calling thread: to make threads takes about as long.
  private static let leastRows: UInt64 = 1 << 15
  /// A part has no fewer rows than this, so that what is made ready for each is of no account.
  private static let leastPart: UInt64 = 1 << 13
  /// So many parts for each thread: none of them waits long for the last one.
  private static let partsPerThread: UInt64 = 8
  /// A part has rows of about so many bytes at most: what the last one of a few takes longer, the other threads wait
  /// for, and what is found ahead is kept, of two parts more than there are threads.
  private static let mostBytes: UInt64 = 2 << 20
  /// About so many rows has a part at most where all of them are copied, and used on the calling thread: that waits for
  /// the whole first part, and the parts copied ahead are still to be in a cache when it comes to them.
  static let mostCopied: UInt64 = 1 << 11

  let view: EntityView
  let chosen: FetchPlan
  private let plan: EntityPlan
  private let includesSubentities: Bool
  let parts: TreeParts
  let threads: Int
  let rowsPerPart: Int
  /// How many rows are told, if that is known before.
  let knownCount: Int?
  private let sieves: SievePool

  /// Nil if the plan is no scan, or one that the calling thread had better do alone.
  ///
  /// - Parameter isCopied: Whether what is found is copied and looked at on the calling thread: see
  ///   ``forEachFound(_:)``.
  init?(
    _ view: EntityView, _ chosen: FetchPlan, _ plan: EntityPlan, includesSubentities: Bool, isCopied: Bool = false
  ) {
    guard chosen.path.isScan, view.trees.allowsConcurrentReads, !(chosen.residual?.isVolatile ?? false) else {
      return nil
    }
    threads = view.store.kernel.threadCount
    if threads < 2 { return nil }
    let perPart = UInt64(threads) * Self.partsPerThread
    let statistics: TreeStatistics
    let parts: TreeParts
    do throws(StoreError) {
      statistics = try view.trees.statistics(plan.rows)
      let rows = statistics.entries
      if rows < Self.leastRows { return nil }
      let most = max(1, Self.mostBytes / max(64, statistics.pageBytes / rows))
      let usual = max(Self.leastPart, rows / perPart)
      let entries = min(most, isCopied && chosen.residual == nil ? Self.mostCopied : usual)
      parts = try view.trees.parts(of: plan.rows, entries: entries)
    } catch {
      // Who goes through the rows alone meets it again, behind those that can be read.
      return nil
    }
    if parts.count < 2 { return nil }
    rowsPerPart = Int(clamping: statistics.entries / UInt64(parts.count))
    let isWhole = !plan.sharesRows || includesSubentities && plan.hasTreeAlone
    knownCount = chosen.residual == nil && isWhole ? Int(clamping: statistics.entries) : nil
    sieves = SievePool(threads)
    self.view = view
    self.chosen = chosen
    self.plan = plan
    self.includesSubentities = includesSubentities
    self.parts = parts
  }

  /// What was gathered from the rows of each part that the predicate holds for, in the order of the rows.
  ///
  /// - Parameters:
  ///   - empty: what a part begins with.
  ///   - visit: takes a row. It is called on several threads, on one at a time for one part.
  func gather<Found: Sendable>(
    _ empty: Found,
    _ visit: @escaping @Sendable (borrowing RowReader, inout Found) throws(EngineError) -> Void
  ) throws(EngineError) -> [Found] {
    let gathered = PartResults(parts.count, empty)
    // Views of snapshots may be used by any number of threads, and plans are not changed.
    nonisolated(unsafe) let scan = self
    try view.store.kernel.concurrently(parts.count) { (n, _) throws(EngineError) in
      var found = empty
      _ = try scan.scan(n, isCancelled: scan.chosen.isCancelled) { (row) throws(EngineError) in
        try visit(row, &found)
        return true
      }
      gathered.set(n, found)
    }
    return gathered.all
  }

  /// Goes through a part on the calling thread. Answers whether to go on.
  func scan(
    _ number: Int, isCancelled: (@Sendable () -> Bool)?, _ visit: EntityView.Visit
  ) throws(EngineError) -> Bool {
    let (sieve, place) = try sieves.take { () throws(EngineError) in
      try view.sieve(chosen, plan, includesSubentities: includesSubentities, view.reader(for: chosen))
    }
    defer { sieves.giveBack(place) }
    sieve.isCancelled = isCancelled
    var goesOn = true
    var failure: EngineError?
    try storing { () throws(StoreError) in
      try view.trees.forEachRun(parts, number, isSparse: sieve.readsSparsely) { (run) throws(StoreError) -> Bool in
        do throws(EngineError) { goesOn = try sieve.offer(run, visit) } catch { failure = error }
        return goesOn && failure == nil
      }
    }
    if let failure { throw failure }
    return goesOn
  }
}

/// What was gathered from the parts of a tree, by threads that each have other parts.
private final class PartResults<Found: Sendable>: @unchecked Sendable {
  // `@unchecked`: a part is set by one thread, and all are read when the threads have ended.
  private let found: UnsafeMutablePointer<Found>
  private let count: Int

  init(_ count: Int, _ empty: Found) {
    self.count = count
    found = .allocate(capacity: count)
    found.initialize(repeating: empty, count: count)
  }

  deinit {
    found.deinitialize(count: count)
    found.deallocate()
  }

  /// Takes what was found in a part, one of the number that there are.
  func set(_ number: Int, _ value: Found) {
    if number >= 0, number < count { found[number] = value }
  }

  /// All, in the order of the parts.
  var all: [Found] { Array(UnsafeBufferPointer(start: found, count: count)) }
}
