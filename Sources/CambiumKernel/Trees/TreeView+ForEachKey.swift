extension TreeView {
  /// Tells `body` the keys of a tree with byte keys from `lower` up to, not including, `upper`, in order, until it answers
  /// false. The bytes are lent for the call. O(log n + number of keys); faster than a ``Cursor``, since nothing can move in
  /// between.
  ///
  /// `body` may read this view, but must not write through a transaction whose view this is.
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``; what reading throws; what `body` throws.
  public final func forEachKey(
    _ tree: TreeID, in range: KeyRange, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let access = try access(tree, .bytes)
    try range.lower.withUnsafeBytesTyped { (lower) throws(StoreError) in
      guard let upper = range.upper else { return try forEachKey(access, lower, nil, body) }
      try upper.withUnsafeBytesTyped { (upper) throws(StoreError) in try forEachKey(access, lower, upper, body) }
    }
  }

  private final func forEachKey(
    _ access: TreeAccess, _ lower: UnsafeRawBufferPointer, _ upper: UnsafeRawBufferPointer?,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    if access.own == nil, access.active == nil, access.frozen == nil {
      try forEachKeyInPages(access, lower, upper, body)
      return
    }
    let cursor = try cursor(access.id)
    var more = try cursor.seek(lower)
    while more {
      let key = cursor.key
      if let upper, compareKeys(key, upper) >= 0 { return }
      if try !body(key) { return }
      more = try cursor.next()
    }
  }

  /// The same where no delta lies over the pages: leaf by leaf, each held by the cursor while `body` runs.
  private final func forEachKeyInPages(
    _ access: TreeAccess, _ lower: UnsafeRawBufferPointer, _ upper: UnsafeRawBufferPointer?,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: core.pageSize, alignment: 8)
    defer { buffer.deallocate() }
    var base = BaseCursor(
      tree: access.id, kind: .bytes, root: access.root, level: access.level, cache: core.cache,
      pageSize: core.pageSize, hint: hint)
    try base.seek(TreeKey(lower))
    while let page = base.leafPage {
      try requireOpen()
      let leaf = BytesLeaf(page)
      let start = base.index
      var end = leaf.count
      guard end > 0 else { return }
      // Within a leaf that ends before the range does, no key needs to be compared with the end.
      if let upper {
        let last = UnsafeRawBufferPointer(start: buffer, count: leaf.copyKey(end &- 1, to: buffer))
        if compareKeys(last, upper) >= 0 { end = max(start, min(end, leaf.lowerBound(TreeKey(upper)).index)) }
      }
      leaf.copyPrefix(to: buffer)
      for i in start..<end {
        let key = UnsafeRawBufferPointer(start: buffer, count: leaf.copyTail(i, to: buffer))
        if try !body(key) { return }
      }
      if end < leaf.count { return }
      try base.skipLeaf()
    }
  }
}
