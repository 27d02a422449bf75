extension TreeView {
  /// The ids of rows at the ends of the keys of a tree from `range.lower` up to, not including, `range.upper`, in the
  /// order of the keys, and whether they ascend. O(log n + number of keys); faster than asking
  /// ``forEachKey(_:in:_:)-(_,KeyRange,_)`` for them.
  ///
  /// - Throws: as that does, and what ``KeyDecoder/rowID(atEndOf:)`` throws.
  public final func rowIDs(
    _ tree: TreeID, in range: KeyRange
  ) throws(StoreError) -> (ids: [UInt64], isAscending: Bool) {
    try rowIDs(tree) { (find) throws(StoreError) in
      try range.lower.withUnsafeBytesTyped { (lower) throws(StoreError) in
        guard let upper = range.upper else { return try find(lower, nil) }
        try upper.withUnsafeBytesTyped { (upper) throws(StoreError) in try find(lower, upper) }
      }
    }
  }

  /// The ids of rows that the tree of a relationship leads to from some rows: those at the ends of the keys that begin
  /// with the ids of `rows`. They come in the order of `rows`; for each of these they ascend. Also answers whether all
  /// of them ascend. O(number of rows * log n + number of keys).
  ///
  /// - Throws: as ``rowIDs(_:in:)``.
  public final func rowIDs(
    _ tree: TreeID, leadingFrom rows: [UInt64]
  ) throws(StoreError) -> (ids: [UInt64], isAscending: Bool) {
    try rowIDs(tree) { (find) throws(StoreError) in
      for row in rows {
        try RowIDKey(row).withBytes { (lower) throws(StoreError) in
          // Keys are in the order of the ids that they begin with.
          if row == .max { return try find(lower, nil) }
          try RowIDKey(row + 1).withBytes { (upper) throws(StoreError) in try find(lower, upper) }
        }
      }
    }
  }

  /// Finds the ids in several ranges of keys.
  ///
  /// - Parameter eachRange: Calls what it is given with the ends of each range.
  @inline(__always)
  private final func rowIDs(
    _ tree: TreeID,
    _ eachRange: (
      (_ lower: UnsafeRawBufferPointer, _ upper: UnsafeRawBufferPointer?) throws(StoreError) -> Void
    ) throws(StoreError) -> Void
  ) throws(StoreError) -> (ids: [UInt64], isAscending: Bool) {
    let access = try access(tree, .bytes)
    var found = FoundRowIDs()
    if access.hasDelta {
      let cursor = try cursor(tree)
      try eachRange { (lower, upper) throws(StoreError) in
        var more = try cursor.seek(lower)
        while more {
          let key = cursor.key
          if let upper, compareKeys(key, upper) >= 0 { break }
          found.add(try KeyDecoder.rowID(atEndOf: key).id)
          more = try cursor.next()
        }
      }
    } else {
      let buffer = UnsafeMutableRawPointer.allocate(byteCount: core.pageSize, alignment: 8)
      defer { buffer.deallocate() }
      var base = BaseCursor(
        tree: access.id, kind: .bytes, root: access.root, level: access.level, cache: core.cache,
        pageSize: core.pageSize, hint: hint)
      try eachRange { (lower, upper) throws(StoreError) in
        try forEachLeaf(&base, buffer, lower, upper) { (leaf, entries, buffer) throws(StoreError) in
          try found.add(entries, of: leaf, buffer)
          return true
        }
      }
    }
    return (found.ids, found.isAscending)
  }
}

/// Ids of rows that were found, one after the other.
private struct FoundRowIDs: ~Copyable {
  private(set) var ids: [UInt64] = []
  private(set) var isAscending = true
  /// Those of a leaf, because adding one to an array takes about as long as finding it.
  private var ofLeaf = UnsafeMutablePointer<UInt64>.allocate(capacity: 256)
  private var capacity = 256

  init() {}

  deinit { ofLeaf.deallocate() }

  mutating func add(_ id: UInt64) {
    if let last = ids.last, id <= last { isAscending = false }
    ids.append(id)
  }

  /// Adds the ids of some entries of a leaf.
  ///
  /// - Parameter buffer: Has room for a key.
  mutating func add(
    _ entries: Range<Int>, of leaf: BytesLeaf, _ buffer: UnsafeMutableRawPointer
  ) throws(StoreError) {
    if entries.count > capacity {
      ofLeaf.deallocate()
      capacity = leaf.count
      ofLeaf = .allocate(capacity: capacity)
    }
    let ends = KeyEnds(leaf)
    var n = 0
    for i in entries {
      if let id = ends.rowID(i) {
        ofLeaf[n] = id
      } else {
        let key = UnsafeRawBufferPointer(start: buffer, count: leaf.copyKey(i, to: buffer))
        ofLeaf[n] = try KeyDecoder.rowID(atEndOf: key).id
      }
      n &+= 1
    }
    if n == 0 { return }
    if let last = ids.last, ofLeaf[0] <= last { isAscending = false }
    var i = 1
    while i < n {
      if ofLeaf[i] <= ofLeaf[i &- 1] { isAscending = false }
      i &+= 1
    }
    ids.append(contentsOf: UnsafeBufferPointer(start: ofLeaf, count: n))
  }
}
