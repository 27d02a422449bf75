import CambiumKernel

/// What a transaction writes with, and what would take longer to make than a row to write: builders, encoders, batches
/// of changes of indexes. One transaction after the other uses it, as long as none of them fails.
///
/// It knows nothing of the transaction. Whoever has the turn to write has it.
final class TransactionKit {
  /// The buffers of a ``RowWriter``.
  final class Buffers {
    let builder: RecordBuilder
    /// A row as it was.
    let old = RowCopy()

    init(_ plan: EntityPlan) { builder = RecordBuilder(plan.layout.record) }
  }

  /// What is kept for the rows of one entity.
  private struct Entity {
    var keeper: IndexKeeper?
    var buffers: [Buffers] = []
  }

  /// Buffers that grew beyond this are not kept.
  private static let mostBytes = 1 << 16

  // Exclusive access is not checked at run time, since the checks would take longer than most of what is done here;
  // nothing here calls out to code that could come back.

  /// By the entity's identifier.
  @exclusivity(unchecked) private var entities: [Entity]
  /// In the order of their trees.
  @exclusivity(unchecked) private(set) var batches: [IndexBatch] = []
  /// Writers that the transaction has handed out.
  @exclusivity(unchecked) private var lent: [RowWriter] = []

  /// - Parameter entityCount: what no entity's identifier reaches.
  init(entityCount: Int) { entities = [Entity](repeating: Entity(), count: entityCount) }

  /// What keeps the trees of an entity's rows in step.
  func keeper(_ plan: EntityPlan, _ transaction: EntityTransaction) -> IndexKeeper {
    let i = Int(truncatingIfNeeded: plan.entityID)
    if let known = entities[i].keeper { return known }
    let made = IndexKeeper(transaction, plan, self)
    entities[i].keeper = made
    return made
  }

  /// Makes a writer, of buffers that nobody uses.
  func makeWriter(_ plan: EntityPlan, _ transaction: EntityTransaction) -> RowWriter {
    let i = Int(truncatingIfNeeded: plan.entityID)
    let buffers = entities[i].buffers.popLast() ?? Buffers(plan)
    let writer = RowWriter(transaction, plan, keeper(plan, transaction), buffers)
    lent.append(writer)
    return writer
  }

  /// The changes of one tree.
  func batch(_ tree: TreeID, _ maker: KeyMaker?) -> IndexBatch {
    var i = batches.count
    while i > 0, batches[i - 1].tree >= tree {
      i -= 1
      if batches[i].tree == tree { return batches[i] }
    }
    let made = IndexBatch(tree, maker)
    batches.insert(made, at: i)
    return made
  }

  /// Takes back the buffers of the writers that were handed out, but for those that somebody still holds, so that they
  /// never serve two; forgets the changes that were gathered.
  func finish() {
    for batch in batches { batch.reset() }
    for i in lent.indices where isKnownUniquelyReferenced(&lent[i]) {
      let buffers = lent[i].buffers
      let entity = Int(truncatingIfNeeded: lent[i].plan.entityID)
      if buffers.old.capacity <= Self.mostBytes, buffers.builder.capacity <= Self.mostBytes {
        entities[entity].buffers.append(buffers)
      }
    }
    lent.removeAll(keepingCapacity: true)
  }
}
