extension TreeView {
  /// Tells `body` every entry of a tree with integer keys, in order, until it answers false. The bytes are lent for the
  /// call. O(n); faster than a ``Cursor``, since nothing can move in between.
  ///
  /// `body` may read this view, but must not write through a transaction whose view this is.
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``; what reading throws; what `body` throws.
  public final func forEach(
    _ tree: TreeID, _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let access = try access(tree, .integer)
    if access.own == nil, access.active == nil, access.frozen == nil {
      try forEachInPages(access, body)
      return
    }
    let cursor = try cursor(tree)
    var more = try cursor.seekFirst()
    while more {
      let key = cursor.integerKey
      let goOn = try cursor.withValue { (b) throws(StoreError) in try body(key, b) }
      if goOn == false { return }
      more = try cursor.next()
    }
  }

  /// The same where no delta lies over the pages: leaf by leaf, each held by the cursor while `body` runs.
  private final func forEachInPages(
    _ access: TreeAccess, _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var base = BaseCursor(
      tree: access.id, kind: .integer, root: access.root, level: access.level, cache: core.cache,
      pageSize: core.pageSize, hint: hint)
    try base.seekFirst()
    while let page = base.leafPage {
      try requireOpen()
      let leaf = IntegerLeaf(page)
      for i in base.index..<leaf.count {
        let value = leaf.value(i)
        if leaf.isStub(i) {
          let bytes = try largeValue(value)
          let goOn = try bytes.withUnsafeBytesTyped { (b) throws(StoreError) in try body(leaf.key(i), b) }
          if !goOn { return }
        } else if try !body(leaf.key(i), value) {
          return
        }
      }
      try base.skipLeaf()
    }
  }
}
