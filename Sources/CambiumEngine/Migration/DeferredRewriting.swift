import CambiumKernel

// Rows that a migration left in an earlier layout, written anew in the current one: by commits, or, while others write,
// by checkpoints.

extension EntityStore {
  /// Writes rows of an entity that have an earlier layout in the current one; answers the row to go on at, nil at the
  /// end.
  func rewriteRows(
    of plan: EntityPlan, from start: UInt64, maximumRows: Int, _ t: WriteTransaction, _ count: inout Int
  ) throws(EngineError) -> UInt64? {
    // Many are taken into pages at once, few go by way of memory.
    let batch = RowBatch()
    var links: [(tree: TreeID, key: [UInt8])] = []
    var next: UInt64?
    let cursor = try storing { () throws(StoreError) in try t.cursor(plan.rows) }
    var more = try storing { () throws(StoreError) in try cursor.seek(start) }
    while more {
      // What is gathered is written when the cursor is no longer used.
      if count == maximumRows || batch.bytes > 1 << 24 || links.count > 1 << 17 {
        next = cursor.integerKey + (isPlanted(.deferredRewritingSkipsRow) ? 1 : 0)
        break
      }
      let bytes = try storing { () throws(StoreError) in try cursor.value() } ?? []
      let projected = try bytes.withUnsafeBytesEngine { (b) throws(EngineError) -> [UInt8]? in
        guard let (layout, id) = try earlierLayout(of: b, plan) else { return nil }
        for pending in pendingLinks[id] ?? [] {
          for key in try pending.keys(b, cursor.integerKey) { links.append((pending.tree, key)) }
        }
        return try layout.project(b)
      }
      if let projected {
        let number = cursor.integerKey
        try projected.withUnsafeBytesEngine { (p) throws(EngineError) in
          try storing { () throws(StoreError) in try batch.add(number, p) }
        }
      }
      count += 1
      more = try storing { () throws(StoreError) in try cursor.next() }
    }
    try storing { () throws(StoreError) in
      for (tree, key) in links { try t.put(tree, key, []) }
      try t.apply(batch, to: plan.rows)
    }
    return next
  }

  /// The layout of a row of an entity; nil if it is the current one, or the row is of another entity.
  private func earlierLayout(
    of row: UnsafeRawBufferPointer, _ plan: EntityPlan
  ) throws(EngineError) -> (layout: StaleLayout, id: UInt16)? {
    let id = try storing { () throws(StoreError) in try RecordView.layoutID(of: row) }
    if borrowedLayout(id) != nil { return nil }
    let layout = try staleLayout(id)
    return layout.current.entityID == plan.entity.id ? (layout, id) : nil
  }

  /// Notes how far the rows of an entity are done.
  func noteRewritten(
    _ entity: UInt32, _ next: UInt64?, _ catalogue: inout Catalogue, _ t: WriteTransaction
  ) throws(EngineError) {
    if next == nil {
      for (layout, descriptor) in catalogue.layouts where descriptor.entity == entity && !descriptor.isCurrent {
        try catalogue.setLayout(layout, nil, t)
      }
    }
    try catalogue.setDeferred(entity, next, t)
  }

  // MARK: Beside others

  /// Writes rows anew in their pages; answers nil if that is not what there is to do, or cannot be done so.
  ///
  /// A row reads the same in both layouts, so that it makes no difference when it gets the new one, nor whether a
  /// commit in between sees that. Only how far the task has come is committed, when what it tells of is durable:
  /// before, no record may say that there are no rows of a layout any more.
  func rewriteBesideOthers(
    _ maximum: Int, _ durably: Bool, _ begins: () -> Void
  ) throws(EngineError) -> DeferredPart? {
    var task: (entity: UInt32, start: UInt64)?
    var found: Result<ValueConversion?, EngineError> = .success(nil)
    let conversion: ValueConversion?
    do throws(StoreError) {
      conversion = try kernel.convert { t in
        begins()
        do throws(EngineError) {
          try requireModel(t)
          task = try Catalogue(t).nextRewriting
          found = .success(try task.flatMap { (task) throws(EngineError) in try self.conversion(of: task, maximum) })
        } catch {
          found = .failure(error)
        }
        guard case .success(let conversion) = found else { return nil }
        return conversion
      }
    } catch {
      throw .store(error)
    }
    _ = try found.get()
    // One that was cut short before its first row is not tried again: others might keep doing that.
    guard let conversion, let task, conversion.count > 0 || conversion.next == nil else { return nil }
    var base: UInt64 = 0
    let outcome = try upkeep(durably: { _ in conversion.next == nil || durably }) {
      (t, catalogue) throws(EngineError) -> Bool? in
      base = t.sequence
      // Somebody else may have gone on with the same task, or have begun it anew.
      guard let now = catalogue.nextRewriting, now == task else { return nil }
      try rewriteRows(isPlanted(.rewrittenBesideOthersLost) ? [] : conversion.left, of: try plan(task.entity), t)
      try noteRewritten(task.entity, conversion.next, &catalogue, t)
      try catalogue.dropFinishedPriors(t)
      return !catalogue.hasTasks
    }
    guard let (isDone, sequence) = outcome else { return nil }
    if isDone { releaseStatesOfDoneWork() }
    return DeferredPart(
      rows: conversion.count, nextRow: conversion.next, isLeft: !isDone, base: base, sequence: sequence,
      isBesideOthers: true, othersWrote: conversion.isBesideOthers)
  }

  /// How rows of an entity are written anew in their pages, if nothing but their layout changes.
  private func conversion(
    of task: (entity: UInt32, start: UInt64), _ maximum: Int
  ) throws(EngineError) -> ValueConversion? {
    let plan = try plan(task.entity)
    var layouts: [UInt16: StaleLayout] = [:]
    for (id, layout) in staleLayouts where layout.current.entityID == task.entity {
      // Links go to trees of their own.
      if pendingLinks[id] != nil { return nil }
      layouts[id] = layout
    }
    let rows = RowConversion(layouts, RecordBuilder(plan.layout.record))
    return ValueConversion(plan.rows, from: task.start, maximum: maximum) { (_, bytes, value) throws(StoreError) in
      try rows.convert(bytes, into: value)
    }
  }

  /// Writes some rows anew.
  private func rewriteRows(_ numbers: [UInt64], of plan: EntityPlan, _ t: WriteTransaction) throws(EngineError) {
    for number in numbers {
      let bytes = try storing { () throws(StoreError) in try t.value(plan.rows, number) }
      let projected = try bytes?.withUnsafeBytesEngine { (b) throws(EngineError) -> [UInt8]? in
        try earlierLayout(of: b, plan)?.layout.project(b)
      }
      if let projected {
        try storing { () throws(StoreError) in try t.put(plan.rows, number, projected) }
      }
    }
  }
}

/// Makes rows of earlier layouts rows of the current one.
private final class RowConversion {
  private let layouts: [UInt16: StaleLayout]
  private let builder: RecordBuilder
  /// What is done with rows of the layout that was met last.
  @exclusivity(unchecked) private var known: (id: UInt16, layout: Unmanaged<StaleLayout>?)?

  init(_ layouts: [UInt16: StaleLayout], _ builder: RecordBuilder) {
    self.layouts = layouts
    self.builder = builder
  }

  /// Answers whether the row has an earlier layout.
  func convert(_ bytes: UnsafeRawBufferPointer, into value: ConvertedValue) throws(StoreError) -> Bool {
    let id = try RecordView.layoutID(of: bytes)
    // Kept by `layouts`: nothing is counted for every row.
    if known?.id != id { known = (id, layouts[id].map { .passUnretained($0) }) }
    guard let layout = known?.layout else { return false }
    try layout.borrowed { (layout) throws(StoreError) in try layout.project(bytes, into: value, by: builder) }
    return true
  }
}
