import CambiumKernel

/// Fills trees of indexes, constraints and ways back from the rows of a tree, by several threads: they gather the
/// entries of parts of it, which are put in order and made by the one that called.
struct IndexBuild {
  private static let leastRows: UInt64 = 1 << 15
  private static let leastPart: UInt64 = 1 << 13
  private static let partsPerThread: UInt64 = 8
  /// A part has no more rows than this.
  private static let mostPart: UInt64 = 1 << 17
  /// What an entry takes of memory, by and large; with that, no first parts take more than there is.
  private static let usualEntry = 64

  private let after: EntityTransaction
  private var parts: TreeParts
  private let gatherers: [IndexGatherer]

  /// Nil where the calling thread had better do it alone: for few rows, and where whether a row is in an index is asked
  /// of a predicate, which may read other rows.
  ///
  /// - Parameter entities: those whose rows have entries in `trees`.
  init?(
    _ after: EntityTransaction, _ rows: TreeID, _ entities: [EntityPlan], _ trees: Set<TreeID>
  ) throws(EngineError) {
    let threads = after.store.kernel.threadCount
    if threads < 2 { return nil }
    for plan in entities {
      for maker in plan.makers where trees.contains(maker.tree) && maker.partial != nil { return nil }
    }
    let parts = try storing { () throws(StoreError) -> TreeParts? in
      let count = try after.trees.count(rows)
      if count < Self.leastRows { return nil }
      let perPart = max(Self.leastPart, count / (UInt64(threads) * Self.partsPerThread))
      let room = UInt64(max(1 << 10, after.mostBatchedBytes / Self.usualEntry / threads))
      return try after.trees.parts(of: rows, entries: min(perPart, Self.mostPart, room))
    }
    guard let parts, parts.count > 1 else { return nil }
    self.parts = parts
    self.after = after
    gatherers = (0..<threads).map { _ in IndexGatherer(after, entities, trees) }
  }

  /// Goes through all rows. Entries that would take more memory than a transaction's gathered ones may are made
  /// meanwhile.
  mutating func run() throws(EngineError) {
    defer { for gatherer in gatherers { gatherer.part.end() } }
    var next = 0
    var size = gatherers.count
    // What the parts so far took that are not made yet.
    var gathered = 0
    while next < parts.count {
      let first = next
      let count = min(parts.count - next, size)
      // Each thread gathers for itself, of rows that none changes meanwhile.
      nonisolated(unsafe) let build = self
      try after.store.kernel.concurrently(count) { (n, thread) throws(EngineError) in
        try build.gatherers[thread].take(build.parts, first + n)
      }
      next += count
      gathered += count
      let bytes = gatherers.reduce(0) { $0 + $1.part.batchedBytes }
      let most = Int(max(1, after.mostBatchedBytes / max(1, bytes / gathered)))
      if most <= gathered + gatherers.count {
        try make()
        gathered = 0
        // What the transaction has of the rows may lie elsewhere since.
        let old = parts
        parts = try storing { () throws(StoreError) in try after.trees.renewed(old) }
      }
      // What is to come may take more than what came.
      size = max(gatherers.count, min(most - gathered, 2 * count))
    }
    try make()
  }

  /// Makes what was gathered.
  private func make() throws(EngineError) {
    // Each call sorts what another thread gathered, alone.
    nonisolated(unsafe) let build = self
    try after.store.kernel.concurrently(gatherers.count) { (n, _) throws(EngineError) in
      build.gatherers[n].part.sortBatches()
    }
    try after.make(gatherers.map { $0.part })
  }
}
