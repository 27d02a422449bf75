extension TreeView {
  /// Tells `body` every entry of a tree with integer keys, in order, until it answers false. The bytes are lent for the
  /// call. O(n); faster than a ``Cursor``, since nothing can move in between.
  ///
  /// `body` may read this view, but must not write through a transaction whose view this is.
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``; what reading throws; what `body`
  ///   throws.
  public final func forEach(
    _ tree: TreeID, _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEachRun(tree) { (run) throws(StoreError) in
      for i in run.indices where try !body(run.key(i), run.value(i)) { return false }
      return true
    }
  }

  /// The same by runs of entries that lie together, as many as a page has between two that were changed since: a loop
  /// over them in the caller's own module costs no call for an entry.
  ///
  /// - Parameter isSparse: Whether `body` looks at few bytes of each entry, at steps that no processor foresees: all of
  ///   a leaf is then brought from memory beforehand. Where most bytes are looked at, that takes longer than it saves.
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``; what reading throws; what `body`
  ///   throws.
  public final func forEachRun(
    _ tree: TreeID, isSparse: Bool = true, _ body: (LentRun) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEachRun(try access(tree, .integer), 0...UInt64.max, nil, isSparse: isSparse, body)
  }

  /// The same for the entries with keys in a range.
  ///
  /// - Throws: as ``forEachRun(_:isSparse:_:)``.
  public final func forEachRun(
    _ tree: TreeID, keys: ClosedRange<UInt64>, isSparse: Bool = true, _ body: (LentRun) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEachRun(try access(tree, .integer), keys, nil, isSparse: isSparse, body)
  }

  /// The same in a tree that was looked up.
  final func forEachRun(
    _ access: TreeAccess, _ keys: ClosedRange<UInt64>, _ lock: (any StoreLock)?, isSparse: Bool,
    givesUpPages: Bool = false, _ body: (LentRun) throws(StoreError) -> Bool
  ) throws(StoreError) {
    // What the changes lie in must last, even if `body` ends the transaction.
    let (generation, table) = (generation, ownTable)
    defer { withExtendedLifetime((generation, table)) {} }
    let (first, last) = (keys.lowerBound, keys.upperBound)
    var changes = DeltaMerge(access, from: TreeKey(first))
    var base = BaseCursor(
      tree: access.id, kind: .integer, root: access.root, level: access.level, cache: core.cache,
      pageSize: core.pageSize, hint: hint)
    base.collectsPassed = givesUpPages
    if let tree = generation.trees[access.id], core.cache.isTooSmall(for: tree.pages) { base.readAhead() }
    defer { core.cache.drop(base.passed) }
    if first == 0 { try base.seekFirst() } else { try base.seek(TreeKey(first)) }
    while true {
      try requireOpen()
      // What lies behind the range is none of this.
      let change = changes.node.flatMap { $0.head <= last ? $0 : nil }
      if let page = base.leafPage {
        let leaf = IntegerLeaf(page)
        let count = leaf.key(leaf.count &- 1) <= last ? leaf.count : max(base.index, leaf.lowerBound(last &+ 1))
        var end = count
        if let change, end > base.index, change.head <= leaf.key(end &- 1) {
          end = max(base.index, leaf.lowerBound(change.head))
        }
        if isSparse, base.index == 0, end > 8 { base.touchLeaf() }
        if base.index < end, try !lend(leaf, base.index..<end, lock, body) { return }
        if end == leaf.count {
          try base.skipLeaf()
          continue
        }
        base.skip(to: end)
        if end < count, let change, leaf.key(end) == change.head { try base.next() }
      }
      guard let change else { return }
      try requireOpen()
      switch change.op {
      case .put: if try !body(LentRun(change.head, change.value)) { return }
      case .putStub: if try !lendLarge(change.head, change.value, lock, body) { return }
      case .delete: break
      }
      changes.next()
    }
  }

  private final func lend(
    _ leaf: IntegerLeaf, _ range: Range<Int>, _ lock: (any StoreLock)?,
    _ body: (LentRun) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    if !leaf.hasStubs { return try body(LentRun(leaf, range)) }
    for i in range {
      let goOn =
        leaf.isStub(i)
        ? try lendLarge(leaf.key(i), leaf.value(i), lock, body) : try body(LentRun(leaf, i..<i + 1))
      if !goOn { return false }
    }
    return true
  }

  private final func lendLarge(
    _ key: UInt64, _ stub: UnsafeRawBufferPointer, _ lock: (any StoreLock)?,
    _ body: (LentRun) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    lock?.lock()
    let value: [UInt8]
    do throws(StoreError) { value = try largeValue(stub) } catch {
      lock?.unlock()
      throw error
    }
    lock?.unlock()
    return try value.withUnsafeBytesTyped { (b) throws(StoreError) in try body(LentRun(key, b)) }
  }
}
