import CambiumKernel

/// Gathers entries of indexes, constraints and ways back from rows, for one thread of several; whoever has the
/// transaction makes them. One thread at a time uses it.
final class IndexGatherer: @unchecked Sendable {
  // `@unchecked`: what is kept for a thread is used by one call at a time.

  /// Has what was gathered.
  let part: EntityTransaction
  private let keepers: [UInt32: IndexKeeper]
  /// That of the row before: nothing is counted for a row.
  @exclusivity(unchecked) private var last: (entity: UInt32, keeper: Unmanaged<IndexKeeper>?)?
  /// What went wrong with values that were told.
  private(set) var failure: EngineError?

  /// - Parameters:
  ///   - entities: those whose rows there are.
  ///   - trees: what entries are gathered of; nil for all.
  init(_ after: EntityTransaction, _ entities: [EntityPlan], _ trees: Set<TreeID>? = nil) {
    let kit = after.store.makeKit()
    let part = EntityTransaction(store: after.store, transaction: after.transaction, kit: kit)
    var keepers: [UInt32: IndexKeeper] = [:]
    for plan in entities { keepers[plan.entityID] = IndexKeeper(part, plan, kit, only: trees) }
    self.part = part
    self.keepers = keepers
  }

  /// Takes the rows of a part of their tree.
  func take(_ parts: TreeParts, _ number: Int) throws(EngineError) {
    var failure: EngineError?
    try storing { () throws(StoreError) in
      try part.trees.forEachRun(parts, number) { (run) throws(StoreError) -> Bool in
        do throws(EngineError) {
          for i in run.indices { try take(run.value(i), run.key(i)) }
          return true
        } catch {
          failure = error
          return false
        }
      }
    }
    if let failure { throw failure }
  }

  /// Takes rows that are on their way into their tree; an error is kept in ``failure``.
  func take(_ values: TailValues) {
    if failure != nil { return }
    values.forEach { (row, bytes) in
      do throws(EngineError) {
        try take(bytes, row)
        return true
      } catch {
        failure = error
        return false
      }
    }
  }

  @inline(__always)
  private func take(_ bytes: UnsafeRawBufferPointer, _ number: UInt64) throws(EngineError) {
    if let row = try part.reader(bytes, number) {
      try take(row)
    } else {
      try part.lend(bytes, number) { (row) throws(EngineError) in try take(row) }
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
