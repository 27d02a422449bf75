/// A tree as one view sees it: the root, and the deltas to ask before it, newest first.
struct TreeAccess {
  let id: TreeID
  let kind: TreeKind
  let level: UInt8
  let root: PageRef
  /// The transaction's own changes, visible up to `ownUpTo`.
  let own: DeltaList?
  let ownUpTo: UInt64
  let active: DeltaList?
  let frozen: DeltaList?
  /// The window of commits that the view sees in `active` and `frozen`.
  let after: UInt64
  let upTo: UInt64

  @inline(__always) var hasDelta: Bool { own != nil || active != nil || frozen != nil }

  /// The newest change of `key` that the view sees, if the deltas hold one.
  @inline(__always)
  func change(_ key: TreeKey) -> DeltaNode? {
    if let list = own, let node = list.find(key, after: 0, upTo: ownUpTo) { return node }
    return committedChange(key)
  }

  /// The newest change of `key` by a commit that the view sees, if the deltas hold one.
  @inline(__always)
  func committedChange(_ key: TreeKey) -> DeltaNode? {
    if let list = active, let node = list.find(key, after: after, upTo: upTo) { return node }
    if let list = frozen, let node = list.find(key, after: after, upTo: upTo) { return node }
    return nil
  }

  /// The value of `key`. The caller is inside an epoch of the cache, and the bytes are good until it leaves it.
  @inline(__always)
  func find(_ key: TreeKey, _ cache: PageCache) throws(StoreError) -> FoundValue? {
    if hasDelta, let node = change(key) {
      return node.op == .delete ? nil : FoundValue(bytes: node.value, isStub: node.op == .putStub)
    }
    if root.isNone { return nil }
    return try TreeDescent.find(key, root: root, level: level, tree: id, kind: kind, cache)
  }
}

extension TreeAccess {
  /// The same for one of several integer keys in a row, begun where the one before was found in the same epoch.
  @inline(__always)
  func find(
    _ key: TreeKey, _ cache: PageCache, near: inout NearPages
  ) throws(StoreError) -> FoundValue? {
    if hasDelta, let node = change(key) {
      return node.op == .delete ? nil : FoundValue(bytes: node.value, isStub: node.op == .putStub)
    }
    if root.isNone { return nil }
    return try TreeDescent.findInteger(key.head, root: root, level: level, tree: id, cache, near: &near)
  }
}

/// Where an integer key was found, for the next one: good as long as the epoch of the cache that it was found in.
struct NearPages {
  /// The leaf.
  var leaf: UnsafeRawPointer?
  /// The entry behind the one that was found there: where keys ascend without gaps, it is the next one.
  var next = 0
  /// The page above it.
  var above: UnsafeRawPointer?
}

/// A value where it lies.
struct FoundValue {
  let bytes: UnsafeRawBufferPointer
  /// The bytes are a ``LargeValueStub``.
  let isStub: Bool
}

enum TreeDescent {
  /// No tree is higher: with two children a page this would already hold more entries than any file.
  static let highest: UInt8 = 64

  @inline(__always)
  static func find(
    _ key: TreeKey, root: PageRef, level: UInt8, tree: TreeID, kind: TreeKind, _ cache: PageCache
  ) throws(StoreError) -> FoundValue? {
    if kind == .integer {
      var near = NearPages()
      return try findInteger(key.head, root: root, level: level, tree: tree, cache, near: &near)
    }
    var ref = root
    var level = level
    var share = KeyShare.unknown
    var page = try cache.page(ref, tree: tree, level: level)
    while level > 0 {
      guard isKind(page, .bytesInner) else { throw wrongKind(ref, tree) }
      let inner = BytesInner(page)
      let i = inner.child(key)
      ref = inner.ref(i)
      level &-= 1
      if level == 0 { share = inner.share(of: key, child: i) }
      page = try cache.child(i, of: page, ref, tree: tree, level: level)
    }
    guard isKind(page, .bytesLeaf) else { throw wrongKind(ref, tree) }
    let leaf = BytesLeaf(page)
    let (i, found) = leaf.lowerBound(key, share: share)
    guard found else { return nil }
    return FoundValue(bytes: leaf.value(i), isStub: leaf.isStub(i))
  }

  /// The value of an integer key. `near` is where another one was found: the search ends there if the leaf has both
  /// lesser and greater keys, and begins at the page above where that surely leads to the key, not by its first child
  /// nor by its last. It becomes where this key was sought.
  @inline(__always)
  static func findInteger(
    _ key: UInt64, root: PageRef, level: UInt8, tree: TreeID, _ cache: PageCache, near: inout NearPages
  ) throws(StoreError) -> FoundValue? {
    if let page = near.leaf {
      let leaf = IntegerLeaf(page)
      if near.next < leaf.count, leaf.key(near.next) == key {
        defer { near.next &+= 1 }
        return FoundValue(bytes: leaf.value(near.next), isStub: leaf.isStub(near.next))
      }
      if key >= leaf.base, key <= leaf.key(leaf.count &- 1) { return value(key, in: leaf, near: &near) }
    }
    var ref = root
    var level = level
    var page: UnsafeRawPointer
    if let above = near.above, case let i = IntegerInner(above).child(key), i > 0, i < above.pageCount &- 1 {
      ref = IntegerInner(above).ref(i)
      level = 0
      page = try cache.child(i, of: above, ref, tree: tree, level: 0)
      PageTouch.value(of: key, child: i, of: IntegerInner(above), in: page, ref.length)
    } else {
      page = try cache.page(ref, tree: tree, level: level)
    }
    while level > 0 {
      guard isKind(page, .integerInner) else { throw wrongKind(ref, tree) }
      let inner = IntegerInner(page)
      let i = inner.child(key)
      near.above = page
      ref = inner.ref(i)
      level &-= 1
      page = try cache.child(i, of: page, ref, tree: tree, level: level)
      if level == 0 { PageTouch.value(of: key, child: i, of: inner, in: page, ref.length) }
    }
    guard isKind(page, .integerLeaf) else { throw wrongKind(ref, tree) }
    near.leaf = page
    return value(key, in: IntegerLeaf(page), near: &near)
  }

  @inline(__always)
  private static func value(_ key: UInt64, in leaf: IntegerLeaf, near: inout NearPages) -> FoundValue? {
    let i = leaf.lowerBound(key)
    near.next = i &+ 1
    guard i < leaf.count, leaf.key(i) == key else { return nil }
    return FoundValue(bytes: leaf.value(i), isStub: leaf.isStub(i))
  }

  @inline(__always)
  static func isKind(_ page: UnsafeRawPointer, _ kind: PageKind) -> Bool {
    Verification.lookupKind.holds(page.pageKind == kind.rawValue)
  }

  static func wrongKind(_ ref: PageRef, _ tree: TreeID) -> StoreError {
    .corrupt(place: .page(tree: tree), offset: ref.address, detail: "page of the wrong kind")
  }
}
