extension TreeView {
  /// About how many entries of a tree with byte keys are in a range, for who chooses between ways to find them: exact
  /// for what is in the pages, and nearly so for what was written since the last checkpoint (keys that were changed
  /// there count twice). O(log n).
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``; what reading throws.
  public final func estimatedCount(_ tree: TreeID, in range: KeyRange) throws(StoreError) -> UInt64 {
    let access = try access(tree, .bytes)
    return try range.lower.withUnsafeBytesTyped { (lower) throws(StoreError) in
      guard let upper = range.upper else { return try estimatedCount(access, TreeKey(lower), nil) }
      return try upper.withUnsafeBytesTyped { (upper) throws(StoreError) in
        try estimatedCount(access, TreeKey(lower), TreeKey(upper))
      }
    }
  }

  /// How many entries of a tree with byte keys are in a range. O(log n) where nothing was written to the tree since the
  /// last checkpoint, else O(log n + their number).
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``; what reading throws.
  public final func count(_ tree: TreeID, in range: KeyRange) throws(StoreError) -> UInt64 {
    if try access(tree, .bytes).hasDelta {
      var n: UInt64 = 0
      try forEachKey(tree, in: range) { (_) throws(StoreError) in
        n &+= 1
        return true
      }
      return n
    }
    return try estimatedCount(tree, in: range)
  }

  private final func estimatedCount(
    _ access: TreeAccess, _ lower: TreeKey, _ upper: TreeKey?
  ) throws(StoreError) -> UInt64 {
    if let upper, TreeKey.compare(lower, upper) >= 0 { return 0 }
    // A transaction may have written pages of its own, of which the committed figures know nothing.
    let paged = try entries(before: nil, access)
    let high = upper == nil ? paged : try entries(before: upper, access)
    let low = try entries(before: lower, access)
    var n = high > low ? high - low : 0
    let all = UInt64(max(0, committedCount(access)))
    let unpaged = all > paged ? all - paged : 0
    for list in [access.active, access.frozen] {
      if let list { n &+= list.estimatedCount(from: lower, to: upper, total: unpaged) }
    }
    if let own = access.own {
      let mine = try count(access.id)
      n &+= own.estimatedCount(from: lower, to: upper, total: mine > all ? mine - all : 0)
    }
    return n
  }

  /// How many entries in the pages have lesser keys; without a key, how many there are.
  private final func entries(before key: TreeKey?, _ access: TreeAccess) throws(StoreError) -> UInt64 {
    if access.root.isNone { return 0 }
    let slot = core.cache.slots.enter(hint)
    defer { core.cache.slots.leave(slot) }
    var sum: UInt64 = 0
    var ref = access.root
    var level = access.level
    var page = try core.cache.page(ref, tree: access.id, level: level)
    while level > 0 {
      guard TreeDescent.isKind(page, .bytesInner) else { throw TreeDescent.wrongKind(ref, access.id) }
      let inner = BytesInner(page)
      guard let key else {
        for i in 0..<inner.count { sum &+= inner.entries(i) }
        return sum
      }
      let child = inner.child(key)
      for i in 0..<child { sum &+= inner.entries(i) }
      ref = inner.ref(child)
      level &-= 1
      page = try core.cache.child(child, of: page, ref, tree: access.id, level: level)
    }
    guard TreeDescent.isKind(page, .bytesLeaf) else { throw TreeDescent.wrongKind(ref, access.id) }
    let leaf = BytesLeaf(page)
    return sum &+ UInt64(key.map { leaf.lowerBound($0).index } ?? leaf.count)
  }
}
