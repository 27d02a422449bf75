/// Goes through the leaves of a tree that changes fall into, in order, as a merge of these changes does, but for leaves
/// without changes that a merge takes in.
final class LeafWalk {
  /// Is told a leaf, the changes, which stand at the first that falls into it, and the upper bound of those that do.
  /// Answers whether to go on.
  typealias Body = (PageRef, ChangeStream, TreeKey?) throws(StoreError) -> Bool

  private let cache: PageCache
  private let pageSize: Int
  // Plain memory, kept from walk to walk. Exclusive access is not checked: one walk at a time, which nothing comes back
  // to.
  /// Copies of the inner pages on the path, by level, and the bound of the child that the walk is in.
  @exclusivity(unchecked) private var pages: [UnsafeMutableRawPointer] = []
  @exclusivity(unchecked) private var bounds: [KeySlot] = []

  init(_ cache: PageCache, pageSize: Int) {
    self.cache = cache
    self.pageSize = pageSize
  }

  deinit {
    for page in pages { page.deallocate() }
    for bound in bounds { bound.deallocate() }
  }

  /// - Parameters:
  ///   - changes: begun. They stand behind all that were told of, afterwards.
  ///   - isCancelled: asked now and then whether to end.
  func run(
    _ tree: TreeID, _ source: TreeState, _ changes: inout ChangeStream, _ isCancelled: () -> Bool, _ body: Body
  ) throws(StoreError) {
    if source.root.isNone || source.level > TreeDescent.highest { return }
    while pages.count <= Int(source.level) {
      pages.append(.allocate(byteCount: pageSize, alignment: 16))
      bounds.append(KeySlot())
    }
    _ = try visit(source.root, source.level, tree, source.kind, nil, &changes, isCancelled, body)
  }

  /// Answers whether to go on.
  private func visit(
    _ ref: PageRef, _ level: UInt8, _ tree: TreeID, _ kind: TreeKind, _ high: TreeKey?, _ changes: inout ChangeStream,
    _ isCancelled: () -> Bool, _ body: Body
  ) throws(StoreError) -> Bool {
    if level == 0 {
      if try !body(ref, changes, high) { return false }
      while let key = changes.key {
        if let high, TreeKey.compare(key, high) >= 0 { break }
        changes.next { _ in }
        if changes.passed % 256 == 0, isCancelled() { return false }
      }
      return true
    }
    let n = Int(level)
    let copy = pages[n]
    try withPage(ref, tree, level: level, kind) { copy.copyMemory(from: $0, byteCount: $0.pageLength) }
    let page = UnsafeRawPointer(pages[n])
    let count = page.pageCount
    var i = 0
    while i < count, let key = changes.key {
      i = max(i, child(page, kind, key))
      touchChildren(page, kind, i, count)
      var childHigh = high
      if i + 1 < count {
        bounds[n].set(separator: i + 1, of: page, kind)
        childHigh = bounds[n].key
      }
      if childHigh.map({ TreeKey.compare(key, $0) < 0 }) ?? true {
        let child = reference(page, kind, i)
        if try !visit(child, level - 1, tree, kind, childHigh, &changes, isCancelled, body) { return false }
      }
      i += 1
    }
    return changes.key != nil
  }

  /// Lends `body` a page, where it lies in the cache.
  func withPage<R>(
    _ ref: PageRef, _ tree: TreeID, level: UInt8, _ kind: TreeKind, _ body: (UnsafeRawPointer) -> R
  ) throws(StoreError) -> R {
    let slot = cache.slots.enter(0)
    defer { cache.slots.leave(slot) }
    let page = try cache.page(ref, tree: tree, level: level)
    guard Verification.mergeKind.holds(page.pageKind == kind.page(atLevel: level).rawValue) else {
      throw TreeDescent.wrongKind(ref, tree)
    }
    return body(page)
  }

  @inline(__always)
  private func child(_ page: UnsafeRawPointer, _ kind: TreeKind, _ key: TreeKey) -> Int {
    kind == .integer ? IntegerInner(page).child(key.head) : BytesInner(page).child(key)
  }

  @inline(__always)
  private func reference(_ page: UnsafeRawPointer, _ kind: TreeKind, _ i: Int) -> PageRef {
    kind == .integer ? IntegerInner(page).ref(i) : BytesInner(page).ref(i)
  }

  /// Has the next children brought from memory: as far as changes fall into them, they are waited for otherwise.
  @inline(__always)
  private func touchChildren(_ page: UnsafeRawPointer, _ kind: TreeKind, _ i: Int, _ count: Int) {
    if i &+ 2 < count { cache.touchPlace(reference(page, kind, i &+ 2)) }
    if i &+ 1 < count { cache.touchFrame(reference(page, kind, i &+ 1)) }
  }
}
