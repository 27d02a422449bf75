import CambiumKernel

extension MigrationRun {
  private static let leastRows: UInt64 = 1 << 15
  /// A part has so many rows, as a rule some megabytes: many at once go into pages with little work for each.
  private static let rowsPerPart: UInt64 = 1 << 15

  /// What a thread writes the rows of a part with, and what it wrote, by the tree that it goes to.
  private final class Part: @unchecked Sendable {
    // `@unchecked`: it is handed from one thread to another, and used by one at a time.
    private(set) var byLayout: [UInt16: Rewriting] = [:]
    private(set) var batches: [TreeID: RowBatch] = [:]

    init(_ byLayout: [UInt16: Rewriting]) {
      for (id, rewriting) in byLayout {
        let goal = rewriting.plan.rows
        let batch = batches[goal] ?? RowBatch()
        batches[goal] = batch
        self.byLayout[id] = Rewriting(rewriting, batch)
      }
    }
  }

  /// Writes the rows of a tree anew by several threads, while this one takes what they made into pages. Answers false,
  /// having done nothing, where the calling thread had better do it alone: for few rows, and where rows take links in,
  /// which come from trees of the transaction.
  func rewriteConcurrently(_ tree: TreeID, _ byLayout: [UInt16: Rewriting]) throws(EngineError) -> Bool {
    let kernel = design.old.kernel
    guard kernel.threadCount > 1, before.trees.allowsConcurrentReads,
      byLayout.values.allSatisfy({ $0.relationships.isEmpty && $0.pending.isEmpty })
    else { return false }
    let parts = try storing { () throws(StoreError) -> TreeParts? in
      let statistics = try before.trees.statistics(tree)
      if statistics.entries < Self.leastRows { return nil }
      // Some parts wait in memory to be taken into pages.
      let bytesPerRow = max(64, statistics.pageBytes / statistics.entries)
      let room = UInt64(kernel.deltaBytes / 2 / (kernel.threadCount + 2)) / bytesPerRow
      return try before.trees.parts(of: tree, entries: max(1 << 7, min(Self.rowsPerPart, room)))
    }
    guard let parts, parts.count > 1 else { return false }
    // Threads read rows of the state before and fill parts of their own; the calling thread alone changes the
    // transaction.
    nonisolated(unsafe) let run = self
    nonisolated(unsafe) let byLayout = byLayout
    // All go to other trees: this one will be dropped.
    let isLeft = byLayout.values.allSatisfy { $0.plan.rows != tree }
    try kernel.inOrder(
      parts.count,
      make: { (number, spare: Part?) throws(EngineError) in
        let part = spare ?? Part(byLayout)
        try run.write(parts, number, part, isLeft: isLeft)
        return part
      },
      use: { [t] (part) throws(EngineError) in
        for (goal, batch) in part.batches {
          try storing { () throws(StoreError) in try t.apply(batch, to: goal) }
          batch.removeAll()
        }
      })
    return true
  }

  private func write(_ parts: TreeParts, _ number: Int, _ part: Part, isLeft: Bool) throws(EngineError) {
    // Kept by the part: nothing is counted for every row.
    var known: (layout: UInt16, rewriting: Unmanaged<Rewriting>?)?
    var failure: EngineError?
    try storing { () throws(StoreError) in
      try before.trees.forEachRun(parts, number, givesUpPages: isLeft) { (run) throws(StoreError) -> Bool in
        for i in run.indices {
          let bytes = run.value(i)
          let id = try RecordView.layoutID(of: bytes)
          if known?.layout != id { known = (id, part.byLayout[id].map { .passUnretained($0) }) }
          guard let rewriting = known?.rewriting else { continue }
          do throws(EngineError) {
            try rewriting.borrowed { (rewriting) throws(EngineError) in try write(bytes, run.key(i), rewriting) }
          } catch {
            failure = error
            return false
          }
        }
        return true
      }
    }
    withExtendedLifetime(part) {}
    if let failure { throw failure }
  }
}
