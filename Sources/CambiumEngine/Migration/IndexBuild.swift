import CambiumKernel

/// Fills trees of indexes, constraints and ways back from the rows of a tree, by several threads: they gather the entries of
/// parts of it, which are put in order and made by the one that called.
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
  private let gatherers: [Gatherer]

  /// Gathers entries. One thread at a time uses it.
  private final class Gatherer: @unchecked Sendable {
    // `@unchecked`: what is kept for a thread is used by one call at a time.
    let part: EntityTransaction
    private let keepers: [UInt32: IndexKeeper]
    /// That of the row before: nothing is counted for a row.
    @exclusivity(unchecked) private var last: (entity: UInt32, keeper: Unmanaged<IndexKeeper>?)?

    init(_ after: EntityTransaction, _ entities: [EntityPlan], _ trees: Set<TreeID>) {
      let kit = after.store.makeKit()
      let part = EntityTransaction(store: after.store, transaction: after.transaction, kit: kit)
      var keepers: [UInt32: IndexKeeper] = [:]
      for plan in entities { keepers[plan.entityID] = IndexKeeper(part, plan, kit, only: trees) }
      self.part = part
      self.keepers = keepers
    }

    func take(_ parts: TreeParts, _ number: Int) throws(EngineError) {
      var failure: EngineError?
      try storing { () throws(StoreError) in
        try part.trees.forEachRun(parts, number) { (run) throws(StoreError) -> Bool in
          do throws(EngineError) {
            try take(run)
            return true
          } catch {
            failure = error
            return false
          }
        }
      }
      if let failure { throw failure }
    }

    private func take(_ run: LentRun) throws(EngineError) {
      for i in run.indices {
        if let row = try part.reader(run.value(i), run.key(i)) {
          try take(row)
        } else {
          try part.lend(run.value(i), run.key(i)) { (row) throws(EngineError) in try take(row) }
        }
      }
    }

    @inline(__always)
    private func take(_ row: borrowing RowReader) throws(EngineError) {
      let reference = row.reference
      if last?.entity != reference.entity {
        last = (reference.entity, keepers[reference.entity].map { .passUnretained($0) })
      }
      try last?.keeper?.borrowed { (keeper) throws(EngineError) in try keeper.insert(row.record, reference, part) }
    }
  }

  /// Nil where the calling thread had better do it alone: for few rows, and where whether a row is in an index is asked of a
  /// predicate, which may read other rows.
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
    gatherers = (0..<threads).map { _ in Gatherer(after, entities, trees) }
  }

  /// Goes through all rows. Entries that would take more memory than a transaction's gathered ones may are made meanwhile.
  mutating func run() throws(EngineError) {
    defer { for gatherer in gatherers { gatherer.part.end() } }
    var next = 0
    var size = gatherers.count
    // What the parts so far took that are not made yet.
    var gathered = 0
    while next < parts.count {
      let first = next
      let count = min(parts.count - next, size)
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
    nonisolated(unsafe) let build = self
    try after.store.kernel.concurrently(gatherers.count) { (n, _) throws(EngineError) in
      build.gatherers[n].part.sortBatches()
    }
    try after.make(gatherers.map { $0.part })
  }
}
