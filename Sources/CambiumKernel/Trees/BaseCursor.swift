/// A position in the pages of a tree. The leaf it stands on is held in the cache, which goes on without it if it needs the
/// room. To the next leaf it comes by a descent with the last key of this one.
struct BaseCursor: ~Copyable {
  let tree: TreeID
  let kind: TreeKind
  let root: PageRef
  let level: UInt8
  private let cache: PageCache
  private let pageSize: Int
  private let hint: Int
  /// Held while not nil.
  private var leaf: UnsafeRawPointer?
  private var leafRef = PageRef.none
  /// For two byte keys, which pages hold in parts.
  private let keyBuffer: UnsafeMutableRawPointer?
  private var count = 0
  private(set) var index = 0
  private(set) var isValid = false

  init(tree: TreeID, kind: TreeKind, root: PageRef, level: UInt8, cache: PageCache, pageSize: Int, hint: Int) {
    self.tree = tree
    self.kind = kind
    self.root = root
    self.level = level
    self.cache = cache
    self.pageSize = pageSize
    self.hint = hint
    keyBuffer = kind == .bytes ? .allocate(byteCount: pageSize * 2, alignment: 16) : nil
  }

  deinit {
    if let leaf { cache.letGo(leaf) }
    keyBuffer?.deallocate()
  }

  private enum Target {
    case first
    case last
    /// The leaf that holds the keys from this one on.
    case key(TreeKey)
  }

  /// Takes hold of the leaf of `target`; answers whether there is one.
  @inline(__always)
  private mutating func descend(_ target: Target) throws(StoreError) -> Bool {
    isValid = false
    if root.isNone { return false }
    let slot = cache.slots.enter(hint)
    defer { cache.slots.leave(slot) }
    var ref = root
    var level = level
    while level > 0 {
      let page = try cache.page(ref, tree: tree, level: level)
      if kind == .integer {
        guard isKind(page, .integerInner) else { throw TreeDescent.wrongKind(ref, tree) }
        let inner = IntegerInner(page)
        switch target {
        case .first: ref = inner.ref(0)
        case .last: ref = inner.ref(inner.count &- 1)
        case .key(let key): ref = inner.ref(inner.child(key.head))
        }
      } else {
        guard isKind(page, .bytesInner) else { throw TreeDescent.wrongKind(ref, tree) }
        let inner = BytesInner(page)
        switch target {
        case .first: ref = inner.ref(0)
        case .last: ref = inner.ref(inner.count &- 1)
        case .key(let key): ref = inner.ref(inner.child(key))
        }
      }
      level &-= 1
    }
    try hold(ref)
    return true
  }

  /// Takes hold of a leaf, and lets go of the one before. The caller is inside an epoch of the cache.
  @inline(__always)
  private mutating func hold(_ ref: PageRef) throws(StoreError) {
    let page = try cache.page(ref, tree: tree, level: 0)
    guard isKind(page, kind == .integer ? .integerLeaf : .bytesLeaf) else { throw TreeDescent.wrongKind(ref, tree) }
    if page != leaf {
      cache.hold(page)
      if let leaf { cache.letGo(leaf) }
      leaf = page
    }
    leafRef = ref
    count = page.pageCount
  }

  /// Takes hold of the leaf next to this one; answers whether there is one. Every descent with a key of this leaf leads
  /// here, and beside the way lies the neighbour.
  private mutating func descendToNeighbour(forward: Bool) throws(StoreError) -> Bool {
    isValid = false
    guard let old = leaf, !root.isNone else { return false }
    let slot = cache.slots.enter(hint)
    defer { cache.slots.leave(slot) }
    let isInteger = kind == .integer
    let edge = forward ? count - 1 : 0
    let key = key(edge, of: old)
    var ref = root
    var level = level
    var beside: PageRef?
    var levelBeside: UInt8 = 0
    while level > 0 {
      let page = try cache.page(ref, tree: tree, level: level)
      guard isKind(page, isInteger ? .integerInner : .bytesInner) else { throw TreeDescent.wrongKind(ref, tree) }
      let children = page.pageCount
      let i = isInteger ? IntegerInner(page).child(key.head) : BytesInner(page).child(key)
      let next = forward ? i &+ 1 : i &- 1
      if next >= 0, next < children {
        beside = isInteger ? IntegerInner(page).ref(next) : BytesInner(page).ref(next)
        levelBeside = level &- 1
      }
      ref = isInteger ? IntegerInner(page).ref(i) : BytesInner(page).ref(i)
      level &-= 1
    }
    // Separators out of order, which pages of byte keys are not looked through for, would lead elsewhere, or round and
    // round.
    let (here, there) = (leafRef.location, ref.location)
    guard Verification.cursorProgress.holds(here == there) else { throw outOfOrder() }
    guard var next = beside else { return false }
    level = levelBeside
    while level > 0 {
      let page = try cache.page(next, tree: tree, level: level)
      guard isKind(page, isInteger ? .integerInner : .bytesInner) else { throw TreeDescent.wrongKind(next, tree) }
      let i = forward ? 0 : page.pageCount &- 1
      next = isInteger ? IntegerInner(page).ref(i) : BytesInner(page).ref(i)
      level &-= 1
    }
    let page = try cache.page(next, tree: tree, level: 0)
    guard isKind(page, isInteger ? .integerLeaf : .bytesLeaf) else { throw TreeDescent.wrongKind(next, tree) }
    let order = compare(key, withKey: forward ? page.pageCount &- 1 : 0, of: page)
    guard Verification.cursorProgress.holds(forward ? order < 0 : order > 0) else { throw outOfOrder() }
    try hold(next)
    return true
  }

  /// The order of a key, which may stand in the buffer, and a key of a leaf.
  private func compare(_ key: TreeKey, withKey i: Int, of page: UnsafeRawPointer) -> Int {
    guard let keyBuffer else { return TreeKey.compare(key, TreeKey(IntegerLeaf(page).key(i))) }
    let other = keyBuffer + pageSize
    let n = BytesLeaf(page).copyKey(i, to: other)
    return TreeKey.compare(key, TreeKey(UnsafeRawBufferPointer(start: other, count: n)))
  }

  private func outOfOrder() -> StoreError {
    .corrupt(place: .page(tree: tree), offset: root.address, detail: "separators are out of order")
  }

  @inline(__always)
  private func isKind(_ page: UnsafeRawPointer, _ kind: PageKind) -> Bool {
    Verification.cursorKind.holds(page.pageKind == kind.rawValue)
  }

  @inline(__always)
  private func lowerBound(_ key: TreeKey) -> Int {
    guard let leaf else { return 0 }
    return kind == .integer ? IntegerLeaf(leaf).lowerBound(key.head) : BytesLeaf(leaf).lowerBound(key).index
  }

  mutating func seekFirst() throws(StoreError) {
    guard try descend(.first) else { return }
    index = 0
    isValid = true
  }

  mutating func seekLast() throws(StoreError) {
    guard try descend(.last) else { return }
    index = count - 1
    isValid = true
  }

  /// The first entry not less than `key`.
  mutating func seek(_ key: TreeKey) throws(StoreError) {
    guard try descend(.key(key)) else { return }
    index = lowerBound(key)
    isValid = index < count
    if !isValid { try nextLeaf() }
  }

  /// The last entry less than `key`.
  mutating func seekBefore(_ key: TreeKey) throws(StoreError) {
    guard try descend(.key(key)) else { return }
    index = lowerBound(key) - 1
    isValid = index >= 0
    if !isValid { try previousLeaf() }
  }

  @inline(never)
  private mutating func nextLeaf() throws(StoreError) {
    guard try descendToNeighbour(forward: true) else { return }
    index = 0
    isValid = true
  }

  @inline(never)
  private mutating func previousLeaf() throws(StoreError) {
    guard try descendToNeighbour(forward: false) else { return }
    index = count - 1
    isValid = true
  }

  @inline(__always)
  mutating func next() throws(StoreError) {
    guard isValid else { return }
    index &+= 1
    if index >= count { try nextLeaf() }
  }

  /// The leaf that the cursor stands on, good until it moves to another; nil if it stands on none.
  var leafPage: UnsafeRawPointer? { isValid ? leaf : nil }

  /// To the first entry of the next leaf.
  mutating func skipLeaf() throws(StoreError) {
    guard isValid else { return }
    index = count
    try nextLeaf()
  }

  mutating func previous() throws(StoreError) {
    guard isValid else { return }
    index &-= 1
    if index < 0 { try previousLeaf() }
  }

  @inline(__always)
  private func key(_ i: Int, of page: UnsafeRawPointer) -> TreeKey {
    guard let keyBuffer else { return TreeKey(IntegerLeaf(page).key(i)) }
    let n = BytesLeaf(page).copyKey(i, to: keyBuffer)
    return TreeKey(UnsafeRawBufferPointer(start: keyBuffer, count: n))
  }

  /// The key, good until the cursor moves or the key is asked for again; only where the cursor is valid.
  @inline(__always)
  var key: TreeKey {
    guard let leaf else { return TreeKey(0) }
    return key(index, of: leaf)
  }

  /// The value, good until the cursor moves; only where the cursor is valid.
  @inline(__always)
  var value: FoundValue {
    guard let leaf else { return FoundValue(bytes: UnsafeRawBufferPointer(start: nil, count: 0), isStub: false) }
    if kind == .integer {
      let l = IntegerLeaf(leaf)
      return FoundValue(bytes: l.value(index), isStub: l.isStub(index))
    }
    let l = BytesLeaf(leaf)
    return FoundValue(bytes: l.value(index), isStub: l.isStub(index))
  }
}
