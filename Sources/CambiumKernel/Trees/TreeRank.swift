extension MergeContext {
  /// About how many entries of a tree have lesser keys: those of the key's own leaf are not counted. O(log n).
  func entries(before key: TreeKey, of state: TreeState, _ tree: TreeID) throws(StoreError) -> UInt64 {
    if state.root.isNone { return 0 }
    let slot = cache.slots.enter(0)
    defer { cache.slots.leave(slot) }
    var sum: UInt64 = 0
    var ref = state.root
    var level = state.level
    while level > 0 {
      let page = try page(ref, tree: tree, level: level, kind: state.kind)
      if state.kind == .integer {
        let inner = IntegerInner(page)
        let child = inner.child(key.head)
        for i in 0..<child { sum &+= inner.entries(i) }
        ref = inner.ref(child)
      } else {
        let inner = BytesInner(page)
        let child = inner.child(key)
        for i in 0..<child { sum &+= inner.entries(i) }
        ref = inner.ref(child)
      }
      level -= 1
    }
    return sum
  }
}
