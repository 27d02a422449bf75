import Synchronization

/// A position in the pages of a tree. The leaf it stands on and the page above it are held in the cache, which goes on
/// without them if it needs the room. To the next leaf it comes by the page above; where that ends, by a descent with
/// the last key of this one. A key that the page above surely leads to is sought from there.
struct BaseCursor: ~Copyable {
  let tree: TreeID
  let kind: TreeKind
  let root: PageRef
  let level: UInt8
  private let cache: PageCache
  private let pageSize: Int
  private let hint: Int
  private var leaf: UnsafeRawPointer?
  /// Whether the leaf is in the cache, and held there; else it is what was read ahead.
  private var holdsLeaf = false
  private var leafRef = PageRef.none
  /// The page above the leaf, held while not nil; nil if there is none. The leaf is child `place` of it.
  private var parent: UnsafeRawPointer?
  private var place = 0
  /// How far into the leaf the key lies that was sought.
  private var share = KeyShare.unknown
  /// How many seeks begin at the root before the page above is tried again.
  private var detours = 0
  /// For two byte keys, which pages hold in parts.
  private let keyBuffer: UnsafeMutableRawPointer?
  private var count = 0
  private(set) var index = 0
  private(set) var isValid = false
  /// Whether the leaves that ``skipLeaf()`` goes on from are kept in mind.
  var collectsPassed = false
  /// These.
  private(set) var passed: [PageRef] = []
  /// Reads the leaves that come next where the cache does not have them, if that is wanted.
  private var ahead: ReadAhead?
  /// How many leaves come before that.
  private var leavesToAhead = 0
  /// Who wants a few rows is better off with their leaves in the cache.
  private static let leavesBeforeAhead = 8

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
    if let leaf, holdsLeaf { cache.letGo(leaf) }
    if let parent { cache.letGo(parent) }
    keyBuffer?.deallocate()
  }

  /// After some leaves, those that come next are not brought into the cache: for who goes through more of a tree of
  /// integer keys than there is room for. A leaf is then good until the next step.
  mutating func readAhead() {
    if ahead == nil, kind == .integer { leavesToAhead = Self.leavesBeforeAhead }
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
    share = .unknown
    if root.isNone { return false }
    let slot = cache.slots.enter(hint)
    defer { cache.slots.leave(slot) }
    if case .key(let key) = target, try descendFromParent(key) { return true }
    var ref = root
    var level = level
    var page = try cache.page(ref, tree: tree, level: level)
    var above: UnsafeRawPointer?
    var i = 0
    while level > 0 {
      guard isKind(page, kind == .integer ? .integerInner : .bytesInner) else { throw TreeDescent.wrongKind(ref, tree) }
      switch target {
      case .first: i = 0
      case .last: i = page.pageCount &- 1
      case .key(let key):
        i = Self.child(of: page, key, kind)
        if level == 1, kind == .bytes { share = BytesInner(page).share(of: key, child: i) }
      }
      above = page
      ref = self.ref(i, of: page)
      level &-= 1
      page = try cache.child(i, of: page, ref, tree: tree, level: level)
    }
    try hold(page, ref)
    hold(parent: above, i)
    return true
  }

  /// Takes hold of the leaf of `key` if the page above the present one surely leads to it: not by its first child, nor
  /// by its last. The caller is inside an epoch of the cache.
  @inline(__always)
  private mutating func descendFromParent(_ key: TreeKey) throws(StoreError) -> Bool {
    guard let parent else { return false }
    if detours > 0 {
      detours &-= 1
      return false
    }
    let i = Self.child(of: parent, key, kind)
    if i > 0, i < parent.pageCount &- 1 {
      if kind == .bytes { share = BytesInner(parent).share(of: key, child: i) }
      try moveToChild(i, of: parent)
      return true
    }
    // Whoever seeks here and there is better off at the root.
    detours = 16
    return false
  }

  @inline(__always)
  private mutating func moveToChild(_ i: Int, of parent: UnsafeRawPointer) throws(StoreError) {
    let ref = ref(i, of: parent)
    try hold(try cache.child(i, of: parent, ref, tree: tree, level: 0), ref)
    place = i
  }

  /// Not of the cursor, which would be copied as a whole for it.
  @inline(__always)
  private static func child(of page: UnsafeRawPointer, _ key: TreeKey, _ kind: TreeKind) -> Int {
    kind == .integer ? IntegerInner(page).child(key.head) : BytesInner(page).child(key)
  }

  @inline(__always)
  private func ref(_ i: Int, of page: UnsafeRawPointer) -> PageRef {
    kind == .integer ? IntegerInner(page).ref(i) : BytesInner(page).ref(i)
  }

  /// Takes hold of a leaf, and lets go of the one before. The caller is inside an epoch of the cache.
  @inline(__always)
  private mutating func hold(
    _ page: UnsafeRawPointer, _ ref: PageRef, isCached: Bool = true
  ) throws(StoreError) {
    guard isKind(page, kind == .integer ? .integerLeaf : .bytesLeaf) else { throw TreeDescent.wrongKind(ref, tree) }
    if page != leaf || isCached != holdsLeaf {
      if isCached { cache.hold(page) }
      if let leaf, holdsLeaf { cache.letGo(leaf) }
      leaf = page
      holdsLeaf = isCached
    }
    leafRef = ref
    count = page.pageCount
  }

  /// Takes hold of the page above the leaf, and lets go of the one before.
  @inline(__always)
  private mutating func hold(parent page: UnsafeRawPointer?, _ i: Int) {
    place = i
    if page == parent { return }
    if let page { cache.hold(page) }
    if let parent { cache.letGo(parent) }
    parent = page
  }

  /// Takes hold of the leaf next to this one; answers whether there is one.
  private mutating func moveToNeighbour(forward: Bool) throws(StoreError) -> Bool {
    isValid = false
    guard let old = leaf, let parent else { return false }
    let slot = cache.slots.enter(hint)
    defer { cache.slots.leave(slot) }
    let edge = key(forward ? count - 1 : 0, of: old)
    let next = forward ? place &+ 1 : place &- 1
    if next >= 0, next < parent.pageCount {
      // Separators of integer pages were looked at when the page was read; those of byte keys might lead elsewhere.
      let (here, there) = (place, kind == .integer ? place : Self.child(of: parent, edge, kind))
      guard Verification.cursorProgress.holds(here == there) else { throw outOfOrder() }
      let ref = ref(next, of: parent)
      var page: UnsafeRawPointer
      var isCached = true
      if forward, let ahead {
        if let found = try cache.cachedChild(next, of: parent, ref, tree: tree, level: 0) {
          page = found
        } else {
          page = try ahead.leaf(next, of: IntegerInner(parent), tree: tree, cache)
          isCached = false
        }
      } else {
        page = try cache.child(next, of: parent, ref, tree: tree, level: 0)
      }
      guard isKind(page, kind == .integer ? .integerLeaf : .bytesLeaf) else { throw TreeDescent.wrongKind(ref, tree) }
      try requireOrder(edge, page, forward: forward)
      try hold(page, ref, isCached: isCached)
      place = next
      return true
    }
    return try descendToNeighbour(of: edge, forward: forward)
  }

  /// The same where the page above has no neighbour. Every descent with a key of this leaf leads here, and beside the
  /// way lies the neighbour. The caller is inside an epoch of the cache.
  @inline(never)
  private mutating func descendToNeighbour(of key: TreeKey, forward: Bool) throws(StoreError) -> Bool {
    let inner = kind == .integer ? PageKind.integerInner : .bytesInner
    var ref = root
    var level = level
    var page = try cache.page(ref, tree: tree, level: level)
    // The last page on the way with a child beside it.
    var fork: UnsafeRawPointer?
    var forkIndex = 0
    var forkLevel: UInt8 = 0
    while level > 0 {
      guard isKind(page, inner) else { throw TreeDescent.wrongKind(ref, tree) }
      let i = Self.child(of: page, key, kind)
      let next = forward ? i &+ 1 : i &- 1
      if next >= 0, next < page.pageCount { (fork, forkIndex, forkLevel) = (page, next, level) }
      ref = self.ref(i, of: page)
      level &-= 1
      page = try cache.child(i, of: page, ref, tree: tree, level: level)
    }
    // Separators out of order, which pages of byte keys are not looked through for, would lead elsewhere, or round and
    // round.
    let (here, there) = (leafRef.location, ref.location)
    guard Verification.cursorProgress.holds(here == there) else { throw outOfOrder() }
    guard var above = fork else { return false }
    var i = forkIndex
    ref = self.ref(i, of: above)
    level = forkLevel &- 1
    page = try cache.child(i, of: above, ref, tree: tree, level: level)
    while level > 0 {
      guard isKind(page, inner) else { throw TreeDescent.wrongKind(ref, tree) }
      above = page
      i = forward ? 0 : page.pageCount &- 1
      ref = self.ref(i, of: page)
      level &-= 1
      page = try cache.child(i, of: page, ref, tree: tree, level: level)
    }
    guard isKind(page, kind == .integer ? .integerLeaf : .bytesLeaf) else { throw TreeDescent.wrongKind(ref, tree) }
    try requireOrder(key, page, forward: forward)
    try hold(page, ref)
    hold(parent: above, i)
    return true
  }

  /// Throws if a neighbour does not lie where it should: else separators out of order would lead round and round.
  private func requireOrder(_ key: TreeKey, _ page: UnsafeRawPointer, forward: Bool) throws(StoreError) {
    // Keys of integer leaves were found to ascend when the page was read, so that the near one tells of all.
    let near = forward ? 0 : page.pageCount &- 1
    let far = forward ? page.pageCount &- 1 : 0
    let order = compare(key, withKey: kind == .integer ? near : far, of: page)
    guard Verification.cursorProgress.holds(forward ? order < 0 : order > 0) else { throw outOfOrder() }
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
    if kind == .integer { return IntegerLeaf(leaf).lowerBound(key.head) }
    return BytesLeaf(leaf).lowerBound(key, share: share).index
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
    guard try moveToNeighbour(forward: true) else { return }
    index = 0
    isValid = true
  }

  @inline(never)
  private mutating func previousLeaf() throws(StoreError) {
    guard try moveToNeighbour(forward: false) else { return }
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
    if collectsPassed { passed.append(leafRef) }
    if (place &+ 1) & 7 == 0 { touchAhead() }
    if leavesToAhead > 0 {
      leavesToAhead &-= 1
      if leavesToAhead == 0 { ahead = ReadAhead(capacity: max(cache.bufferBytes, pageSize)) }
    }
    try nextLeaf()
  }

  /// To entry `i` of the leaf, which it has.
  mutating func skip(to i: Int) { index = i }

  /// Touches the next eight leaves, if they are in the cache: their first lines then come from memory all at once
  /// instead of one after the other. Whoever has the frames in the meantime, reading a name does no harm.
  private func touchAhead() {
    guard let parent else { return }
    let above = Frame(of: parent)
    for i in place &+ 1..<min(place &+ 9, parent.pageCount) {
      _ = above.hint(i)?.name.pointee.load(ordering: .acquiring)
    }
  }

  /// Touches the whole leaf, a line of memory after the other: they come many at a time then, where a reader of the
  /// entries would wait for each, since its steps are too uneven to be foreseen.
  func touchLeaf() {
    guard let leafPage else { return }
    var offset = Self.lineSize
    let end = leafPage.pageLength &- MemoryLayout<UInt>.size
    while offset <= end {
      MemoryTouch.touch(leafPage + offset)
      offset &+= Self.lineSize
    }
  }

  private static var lineSize: Int { 64 }

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
