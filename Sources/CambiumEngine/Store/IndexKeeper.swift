import CambiumKernel

/// Keeps the indexes, constraints and relationship trees of one entity's rows in step with what a transaction writes,
/// by way of batches. It serves one transaction after the other.
final class IndexKeeper {
  /// An index or a constraint: what keeps its maker and its batch is in ``kept``.
  private struct Index {
    let maker: Unmanaged<KeyMaker>
    let batch: Unmanaged<IndexBatch>
    let mask: UInt64
    let isUnique: Bool
    let isPartial: Bool
    let isSpatial: Bool
  }

  /// A relationship tree.
  private struct Links {
    let batch: Unmanaged<IndexBatch>
    let mask: UInt64
    let field: Int
  }

  private let plan: EntityPlan
  private let kept: (makers: [KeyMaker], batches: [IndexBatch])
  // Plain memory, gone through for every row: nothing is counted for what it names.
  private let indexes: UnsafeMutableBufferPointer<Index>
  private let links: UnsafeMutableBufferPointer<Links>
  // Exclusive access is not checked at run time: see `IndexBatch`.
  @exclusivity(unchecked) private var old: KeyEncoder
  @exclusivity(unchecked) private var new: KeyEncoder
  /// Whether what the trees have of a row may be gathered by another thread: no predicate is asked, which may read
  /// other rows.
  let mayGather: Bool

  /// Keeps all trees of the entity in step, or only some.
  init(_ transaction: EntityTransaction, _ plan: EntityPlan, _ kit: TransactionKit, only trees: Set<TreeID>? = nil) {
    self.plan = plan
    let makers = plan.makers.filter { trees?.contains($0.tree) ?? true }
    let backTrees = plan.backTrees.filter { trees?.contains($0.tree) ?? true }
    var batches: [IndexBatch] = []
    indexes = .allocate(capacity: makers.count)
    for (i, maker) in makers.enumerated() {
      let batch = kit.batch(maker.tree, maker)
      batches.append(batch)
      indexes.initializeElement(
        at: i,
        to: Index(
          maker: .passUnretained(maker), batch: .passUnretained(batch), mask: maker.mask, isUnique: maker.isUnique,
          isPartial: maker.partial != nil, isSpatial: maker.isSpatial))
    }
    links = .allocate(capacity: backTrees.count)
    for (i, back) in backTrees.enumerated() {
      let batch = kit.batch(back.tree, nil)
      batches.append(batch)
      links.initializeElement(
        at: i, to: Links(batch: .passUnretained(batch), mask: PropertyMask.mask(back.field), field: back.field))
    }
    kept = (makers, batches)
    let limit = transaction.store.kernel.maxKeyLength
    old = KeyEncoder(limit: limit)
    new = KeyEncoder(limit: limit)
    mayGather =
      transaction.store.kernel.threadCount > 1 && !plan.sharesRows && !batches.isEmpty
      && !makers.contains { $0.partial != nil }
  }

  deinit {
    indexes.deallocate()
    links.deallocate()
  }

  /// Whether there is nothing to keep in step.
  var isIdle: Bool { indexes.isEmpty && links.isEmpty }

  /// Adds the entries of a row.
  ///
  /// - Parameter isNew: whether the row is put by this transaction, and was not there: then no tree has an entry of it.
  func insert(
    _ record: RecordView, _ reference: ObjectReference, _ transaction: EntityTransaction, isNew: Bool = false
  ) throws(EngineError) {
    for i in 0..<indexes.count {
      guard let part = try encode(indexes[i], record, reference, &new, transaction) else { continue }
      try add(part, new, indexes[i], transaction, isPut: true, isNew: isNew)
    }
    for i in 0..<links.count {
      guard let target = try target(record, links[i].field) else { continue }
      try addLink(target, reference.row, links[i], transaction, isPut: true, isNew: isNew)
    }
  }

  /// Removes the entries of a row.
  func delete(
    _ record: RecordView, _ reference: ObjectReference, _ transaction: EntityTransaction
  ) throws(EngineError) {
    for i in 0..<indexes.count where !isPlanted(.deletionKeepsEntries) {
      guard let part = try encode(indexes[i], record, reference, &old, transaction) else { continue }
      try add(part, old, indexes[i], transaction, isPut: false)
    }
    for i in 0..<links.count {
      guard let target = try target(record, links[i].field) else { continue }
      try addLink(target, reference.row, links[i], transaction, isPut: false)
    }
  }

  /// Changes the entries of a row of which the properties in `touched` may have changed.
  func update(
    _ before: RecordView, _ after: RecordView, _ reference: ObjectReference, touched: UInt64,
    _ transaction: EntityTransaction
  ) throws(EngineError) {
    for i in 0..<indexes.count where indexes[i].mask & touched != 0 {
      let index = indexes[i]
      let was = try encode(index, before, reference, &old, transaction)
      let now = try encode(index, after, reference, &new, transaction)
      if was != nil, let now, old.hasSameKey(as: new) {
        // Keys that were cut are the same for many values: the constraint has to be looked at once more.
        if index.isUnique, !now.isExact, !isPlanted(.cutKeyNotCheckedAgain) {
          try add(now, new, index, transaction, isPut: true)
        }
        continue
      }
      if let was, !isPlanted(.updateKeepsOldEntry) { try add(was, old, index, transaction, isPut: false) }
      if let now { try add(now, new, index, transaction, isPut: true) }
    }
    for i in 0..<links.count where links[i].mask & touched != 0 {
      let was = try target(before, links[i].field)
      let now = try target(after, links[i].field)
      if was == now { continue }
      if let was { try addLink(was, reference.row, links[i], transaction, isPut: false) }
      if let now { try addLink(now, reference.row, links[i], transaction, isPut: true) }
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
    _ index: Index, _ record: RecordView, _ reference: ObjectReference, _ encoder: inout KeyEncoder,
    _ transaction: EntityTransaction
  ) throws(EngineError) -> Part? {
    if index.isPartial, !isPlanted(.partialIndexTakesAll), let partial = index.maker.takeUnretainedValue().partial,
      try !transaction.pathReader().matches(partial, record, plan.layout, reference)
    {
      return nil
    }
    encoder.removeAll()
    let anyNull: Bool
    do throws(StoreError) {
      anyNull = try index.maker.borrowed { (maker) throws(StoreError) in try maker.appendParts(record, to: &encoder) }
    } catch { throw .store(error) }
    if anyNull, index.isSpatial { return nil }
    let part = Part(count: encoder.count, anyNull: anyNull, isExact: !encoder.isInexact)
    encoder.append(rowID: reference.row)
    return part
  }

  private func add(
    _ part: Part, _ encoder: borrowing KeyEncoder, _ index: Index, _ transaction: EntityTransaction, isPut: Bool,
    isNew: Bool = false
  ) throws(EngineError) {
    let uniqueCount = index.isUnique && (!part.anyNull || isPlanted(.nullsCountAsEqual)) ? part.count : 0
    let size = encoder.withBytes { (key) in
      index.batch.borrowed { $0.add(key, isPut: isPut, uniqueCount: uniqueCount, isExact: part.isExact, isNew: isNew) }
    }
    try transaction.noteBatched(size)
  }

  private func target(_ record: RecordView, _ field: Int) throws(EngineError) -> UInt64? {
    do throws(StoreError) { return try record.reference(at: field).map { PackedReference.unpack($0).row } } catch {
      throw .store(error)
    }
  }

  private func addLink(
    _ from: UInt64, _ to: UInt64, _ links: Links, _ transaction: EntityTransaction, isPut: Bool, isNew: Bool = false
  ) throws(EngineError) {
    new.removeAll()
    new.append(rowID: from)
    new.append(rowID: to)
    try transaction.noteBatched(
      links.batch.borrowed { (batch) in new.withBytes { batch.add($0, isPut: isPut, isNew: isNew) } })
  }
}

/// Sets of an entity's fields, as bits: those from the 63rd on share one.
enum PropertyMask {
  static let all: UInt64 = .max

  @inline(__always)
  static func mask(_ field: Int) -> UInt64 { 1 &<< UInt64(truncatingIfNeeded: min(max(field, 0), 63)) }
}
