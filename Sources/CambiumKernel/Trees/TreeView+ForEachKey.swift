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
      // The prefix of the page is copied once for all its keys.
      if leaf.prefix > 0 { buffer.copyMemory(from: leaf.p + PageHeader.size, byteCount: leaf.prefix) }
      let heads = leaf.p + leaf.headsOffset
      let rests = leaf.p + leaf.restsOffset
      let head = buffer + leaf.prefix
      let width = leaf.width
      for i in start..<end {
        copyFew(from: heads + i &* width, to: head, count: width)
        let rest = leaf.restRange(i)
        copyFew(from: rests + rest.start, to: head + width, count: rest.count)
        if try !body(UnsafeRawBufferPointer(start: buffer, count: leaf.prefix &+ width &+ rest.count)) { return }
      }
      if end < leaf.count { return }
      try base.skipLeaf()
    }
  }
}

/// Copies some bytes, of which there are few: a call of the system's function would take longer.
@inline(__always)
private func copyFew(from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int) {
  var i = 0
  while i &+ 8 <= count {
    target.storeBytes(of: source.loadUnaligned(fromByteOffset: i, as: UInt64.self), toByteOffset: i, as: UInt64.self)
    i &+= 8
  }
  while i < count {
    target.storeBytes(of: source.load(fromByteOffset: i, as: UInt8.self), toByteOffset: i, as: UInt8.self)
    i &+= 1
  }
}
