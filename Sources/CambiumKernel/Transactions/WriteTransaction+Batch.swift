// Many changes of one tree at once.

extension WriteTransaction {
  /// Makes the changes of a batch, in the order of their keys; puts have no value. The batch is sorted afterwards, and
  /// otherwise stays.
  ///
  /// Those of a batch that would outgrow memory, or of a large one in a transaction that is too large for a record, are
  /// merged into the tree's pages at once, in one pass, without being kept in memory before: an empty tree is built
  /// from its leaves upwards. O(n log n) in the number of changes, and in the size of the tree for such a batch.
  ///
  /// - Throws: ``StoreError/wrongTreeKind(_:)`` if the keys of the tree are integers, and as
  ///   ``put(_:_:_:)-(_,[UInt8],_)``.
  public func apply(_ batch: ChangeBatch, to tree: TreeID) throws(StoreError) {
    try apply([batch], to: tree)
  }

  /// The same for the changes of several batches, as if they were those of one that had been given them in turn.
  ///
  /// - Throws: as ``apply(_:to:)-(ChangeBatch,_)``.
  public func apply(_ batches: [ChangeBatch], to tree: TreeID) throws(StoreError) {
    let access = try knownAccess(tree, .bytes)
    var count = 0
    for batch in batches {
      batch.sort()
      count += batch.count
    }
    if count == 0 { return }
    let needed = count * (DeltaNode.headerSize + 32)
    if own.bytes + needed > core.options.deltaBytes { return try merge(batches, access) }
    if count >= Self.leastMergedChanges, own.bytes + needed > core.largestOfRecords, own.list(tree) == nil,
      runs[tree] == nil
    {
      return try core.writingBehind { () throws(StoreError) in try self.merge(batches, access) }
    }
    for batch in batches {
      // Another batch may have the same keys.
      let isNew = batches.count == 1 && batch.isAllNew
      try batch.forEach { (change, key) throws(StoreError) in
        if change.isPut {
          try put(tree, key, UnsafeRawBufferPointer(start: nil, count: 0), isNew: isNew)
        } else {
          try delete(tree, key)
        }
      }
    }
  }

  /// So many changes of one tree go to its pages at once, where the transaction is too large for a record: its commit
  /// would take them there from memory. Fewer are kept, since there may be more of them, and leaves would be written
  /// once for each batch.
  static let leastMergedChanges = 16_384

  /// Puts the values of a batch.
  ///
  /// Those of a batch of a megabyte, or of one that would outgrow memory, are merged into the tree's pages at once, in
  /// one pass, without being kept in memory before. O(n log n) in the number of values, and in the size of the tree for
  /// such a batch.
  ///
  /// - Throws: ``StoreError/wrongTreeKind(_:)`` if the keys of the tree are bytes, and as
  ///   ``put(_:_:_:)-(_,UInt64,[UInt8])``.
  public func apply(_ batch: RowBatch, to tree: TreeID) throws(StoreError) {
    let access = try access(tree, .integer)
    if batch.isEmpty { return }
    if batch.bytes >= 1 << 20 || own.bytes + batch.bytes > core.options.deltaBytes {
      return try merge(BatchCursor(batch), access)
    }
    var cursor = BatchCursor(batch)
    while let change = cursor.change {
      try put(tree, change.key.head, change.value)
      cursor.next()
    }
  }

  /// Takes the changes of batches into pages.
  private func merge(_ batches: [ChangeBatch], _ access: TreeAccess) throws(StoreError) {
    for batch in batches {
      for i in 0..<batch.count where batch[i].count > core.maxKeyLength {
        throw .keyTooLong(length: batch[i].count, limit: core.maxKeyLength)
      }
    }
    try merge(BatchCursor(batches), access, keys: batches)
  }

  /// - Parameter keys: what the cursor goes through, if that is keys without values.
  /// - Parameter isBulk: See ``TreeMerge/init(context:tree:source:changes:relocation:conversion:isBulk:)``.
  func merge(
    _ batch: BatchCursor, _ access: TreeAccess, keys: [ChangeBatch] = [], isBulk: Bool = false
  ) throws(StoreError) {
    // Its pages are to stand in for the transaction's changes of the tree as well.
    if own.list(access.id) != nil || runs[access.id] != nil { try spill(wholly: true) }
    try prepareToMerge()
    guard let context else { return }
    defer { context.replaced?.giveUp() }
    // No thread beside: who brings batches has several as it is.
    core.pageWriter.pace = .eager
    defer { core.pageWriter.pace = .even }
    do throws(StoreError) { try merge(batch, access, keys, context, isBulk: isBulk) } catch {
      breakOff(error)
      throw error
    }
  }

  private func merge(
    _ batch: BatchCursor, _ access: TreeAccess, _ keys: [ChangeBatch], _ context: MergeContext, isBulk: Bool
  ) throws(StoreError) {
    let tree = access.id
    let (source, lists) = mergeSource(tree, access.kind)
    // A tree that was made and never written to has a list all the same, of no changes.
    let isEmpty = source.root.isNone && lists.allSatisfy { $0.list.first() == nil }
    let build = isEmpty ? LeafBuild(keys, core) : nil
    let changes = ChangeStream(lists, batch: build == nil ? batch : nil)
    let merge = TreeMerge(context: context, tree: tree, source: source, changes: changes, isBulk: isBulk)
    try build?.run(into: merge, tree: tree, generation: context.generation)
    var budget = Int.max
    _ = try merge.step(budget: &budget)
    // The cache may drop these pages at once: from here on they are read from the device.
    try context.flush()
    journal += takeExtents(context, into: own)
    forgetKnown()
    spilled[tree] = merge.result
    // What a put found is known only now.
    let before = committed(tree).map { committedCount($0) } ?? 0
    figures[tree, default: Figures(kind: access.kind)].count = Int64(clamping: merge.result.count) - before
  }
}
