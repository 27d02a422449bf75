import CambiumKernel

/// Keeps the indexes, constraints and relationship trees of one entity's rows in step with what a transaction writes, by
/// way of batches. It serves one transaction after the other.
final class IndexKeeper {
  private let plan: EntityPlan
  private let makers: [(maker: KeyMaker, batch: IndexBatch)]
  private let links: [(field: Int, mask: UInt64, batch: IndexBatch)]
  // Exclusive access is not checked at run time: see `IndexBatch`.
  @exclusivity(unchecked) private var old: KeyEncoder
  @exclusivity(unchecked) private var new: KeyEncoder

  /// Keeps all trees of the entity in step, or only some.
  init(_ transaction: EntityTransaction, _ plan: EntityPlan, _ kit: TransactionKit, only trees: Set<TreeID>? = nil) {
    self.plan = plan
    makers = (plan.indexes + plan.constraints).filter { trees?.contains($0.tree) ?? true }
      .map { ($0, kit.batch($0.tree, $0)) }
    links = plan.backTrees.filter { trees?.contains($0.tree) ?? true }
      .map { ($0.field, PropertyMask.mask($0.field), kit.batch($0.tree, nil)) }
    let limit = transaction.store.kernel.maxKeyLength
    old = KeyEncoder(limit: limit)
    new = KeyEncoder(limit: limit)
  }

  /// Whether there is nothing to keep in step.
  var isIdle: Bool { makers.isEmpty && links.isEmpty }

  /// Adds the entries of a new row.
  func insert(
    _ record: RecordView, _ reference: ObjectReference, _ transaction: EntityTransaction
  ) throws(EngineError) {
    for i in makers.indices {
      let maker = makers[i].maker
      guard let part = try encode(maker, record, reference, &new, transaction) else { continue }
      try add(part, new, makers[i].batch, maker, transaction, isPut: true)
    }
    for i in links.indices {
      guard let target = try target(record, links[i].field) else { continue }
      try addLink(target, reference.row, links[i].batch, transaction, isPut: true)
    }
  }

  /// Removes the entries of a row.
  func delete(
    _ record: RecordView, _ reference: ObjectReference, _ transaction: EntityTransaction
  ) throws(EngineError) {
    for i in makers.indices {
      let maker = makers[i].maker
      guard let part = try encode(maker, record, reference, &old, transaction) else { continue }
      try add(part, old, makers[i].batch, maker, transaction, isPut: false)
    }
    for i in links.indices {
      guard let target = try target(record, links[i].field) else { continue }
      try addLink(target, reference.row, links[i].batch, transaction, isPut: false)
    }
  }

  /// Changes the entries of a row of which the properties in `touched` may have changed.
  func update(
    _ before: RecordView, _ after: RecordView, _ reference: ObjectReference, touched: UInt64,
    _ transaction: EntityTransaction
  ) throws(EngineError) {
    for i in makers.indices where makers[i].maker.mask & touched != 0 {
      let maker = makers[i].maker
      let was = try encode(maker, before, reference, &old, transaction)
      let now = try encode(maker, after, reference, &new, transaction)
      if was != nil, let now, old.bytes == new.bytes {
        // Keys that were cut are the same for many values: the constraint has to be looked at once more.
        if maker.isUnique, !now.isExact { try add(now, new, makers[i].batch, maker, transaction, isPut: true) }
        continue
      }
      if let was { try add(was, old, makers[i].batch, maker, transaction, isPut: false) }
      if let now { try add(now, new, makers[i].batch, maker, transaction, isPut: true) }
    }
    for i in links.indices where links[i].mask & touched != 0 {
      let was = try target(before, links[i].field)
      let now = try target(after, links[i].field)
      if was == now { continue }
      if let was { try addLink(was, reference.row, links[i].batch, transaction, isPut: false) }
      if let now { try addLink(now, reference.row, links[i].batch, transaction, isPut: true) }
    }
  }

  private struct Part {
    /// How long the key is without the row.
    var count: Int
    var anyNull: Bool
    var isExact: Bool
  }

  /// Writes the key of a row; nil if the index leaves the row out.
  private func encode(
    _ maker: KeyMaker, _ record: RecordView, _ reference: ObjectReference, _ encoder: inout KeyEncoder,
    _ transaction: EntityTransaction
  ) throws(EngineError) -> Part? {
    if let partial = maker.partial,
      try !transaction.pathReader().matches(partial, record, plan.layout, reference)
    {
      return nil
    }
    encoder.removeAll()
    let anyNull: Bool
    do throws(StoreError) { anyNull = try maker.appendParts(record, to: &encoder) } catch { throw .store(error) }
    let part = Part(count: encoder.bytes.count, anyNull: anyNull, isExact: !encoder.isInexact)
    encoder.append(rowID: reference.row)
    return part
  }

  private func add(
    _ part: Part, _ encoder: borrowing KeyEncoder, _ batch: IndexBatch, _ maker: KeyMaker,
    _ transaction: EntityTransaction, isPut: Bool
  ) throws(EngineError) {
    let size = batch.add(
      encoder.bytes, isPut: isPut, uniqueCount: maker.isUnique && !part.anyNull ? part.count : 0,
      isExact: part.isExact)
    try transaction.noteBatched(size)
  }

  private func target(_ record: RecordView, _ field: Int) throws(EngineError) -> UInt64? {
    do throws(StoreError) { return try record.reference(at: field).map { PackedReference.unpack($0).row } } catch {
      throw .store(error)
    }
  }

  private func addLink(
    _ from: UInt64, _ to: UInt64, _ batch: IndexBatch, _ transaction: EntityTransaction, isPut: Bool
  ) throws(EngineError) {
    new.removeAll()
    new.append(rowID: from)
    new.append(rowID: to)
    try transaction.noteBatched(batch.add(new.bytes, isPut: isPut))
  }
}

/// Sets of an entity's fields, as bits: those from the 63rd on share one.
enum PropertyMask {
  static let all: UInt64 = .max

  @inline(__always)
  static func mask(_ field: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: min(max(field, 0), 63)) }
}
