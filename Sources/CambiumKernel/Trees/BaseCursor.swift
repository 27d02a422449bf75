/// A position in the pages of a tree. It copies the leaf it stands on, so that it holds nothing that others wait for,
/// and comes to the next leaf by a descent with the separator that it noted on the way down.
struct BaseCursor: ~Copyable {
  let tree: TreeID
  let kind: TreeKind
  let root: PageRef
  let level: UInt8
  private let cache: PageCache
  private let hint: Int
  private let leaf: UnsafeMutableRawPointer
  private let keyBuffer: UnsafeMutableRawPointer
  private var count = 0
  private(set) var index = 0
  private(set) var isValid = false
  private var low = OwnedKey()
  private var hasLow = false
  private var high = OwnedKey()
  private var hasHigh = false

  init(tree: TreeID, kind: TreeKind, root: PageRef, level: UInt8, cache: PageCache, pageSize: Int, hint: Int) {
    self.tree = tree
    self.kind = kind
    self.root = root
    self.level = level
    self.cache = cache
    self.hint = hint
    leaf = .allocate(byteCount: pageSize, alignment: 16)
    keyBuffer = .allocate(byteCount: pageSize, alignment: 16)
  }

  deinit {
    leaf.deallocate()
    keyBuffer.deallocate()
  }

  enum Target {
    case first
    case last
    /// The leaf that holds the keys from this one on.
    case key(TreeKey)
    /// The leaf that ends before this separator.
    case before(TreeKey)
  }

  /// Copies the leaf of `target`; answers whether there is one.
  private mutating func descend(_ target: Target) throws(StoreError) -> Bool {
    isValid = false
    if root.isNone { return false }
    let slot = cache.slots.enter(hint)
    defer { cache.slots.leave(slot) }
    var ref = root
    var level = level
    // The separators are noted in pages that stay in place while this read runs.
    var lowAt: (UnsafeRawPointer, Int)?
    var highAt: (UnsafeRawPointer, Int)?
    while level > 0 {
      let page = try cache.page(ref, tree: tree, level: level)
      let i: Int
      let children = page.pageCount
      if kind == .integer {
        guard isKind(page, .integerInner) else { throw TreeDescent.wrongKind(ref, tree) }
        let inner = IntegerInner(page)
        switch target {
        case .first: i = 0
        case .last: i = children - 1
        case .key(let key): i = inner.child(key.head)
        case .before(let key): i = key.head == 0 ? 0 : inner.child(key.head - 1)
        }
        ref = inner.ref(i)
      } else {
        guard isKind(page, .bytesInner) else { throw TreeDescent.wrongKind(ref, tree) }
        let inner = BytesInner(page)
        switch target {
        case .first: i = 0
        case .last: i = children - 1
        case .key(let key): i = inner.child(key)
        case .before(let key): i = inner.column.lowerBound(key).index
        }
        ref = inner.ref(i)
      }
      if i > 0 { lowAt = (page, i) }
      if i + 1 < children { highAt = (page, i + 1) }
      level -= 1
    }
    let page = try cache.page(ref, tree: tree, level: 0)
    guard isKind(page, kind == .integer ? .integerLeaf : .bytesLeaf) else { throw TreeDescent.wrongKind(ref, tree) }
    hasLow = lowAt != nil
    hasHigh = highAt != nil
    if let (inner, i) = lowAt { low.set(separator(inner, i)) }
    if let (inner, i) = highAt { high.set(separator(inner, i)) }
    leaf.copyMemory(from: page, byteCount: page.pageLength)
    count = page.pageCount
    return true
  }

  @inline(__always)
  private func isKind(_ page: UnsafeRawPointer, _ kind: PageKind) -> Bool {
    Verification.cursorKind.holds(page.pageKind == kind.rawValue)
  }

  /// A separator of an inner page, good until the next is asked for.
  private func separator(_ page: UnsafeRawPointer, _ i: Int) -> TreeKey {
    if kind == .integer { return TreeKey(IntegerInner(page).separator(i)) }
    let n = BytesInner(page).copySeparator(i, to: keyBuffer)
    return TreeKey(UnsafeRawBufferPointer(start: keyBuffer, count: n))
  }

  private func lowerBound(_ key: TreeKey) -> Int {
    kind == .integer ? IntegerLeaf(leaf).lowerBound(key.head) : BytesLeaf(leaf).lowerBound(key).index
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

  private mutating func nextLeaf() throws(StoreError) {
    isValid = false
    while hasHigh {
      let key = high
      let moved = try key.with { (k) throws(StoreError) in
        let moved = try descend(.key(k))
        if moved, hasHigh { try requireProgress(try high.with { (h) throws(StoreError) in TreeKey.compare(k, h) < 0 }) }
        return moved
      }
      if moved, count > 0 {
        index = 0
        isValid = true
        return
      }
    }
  }

  private mutating func previousLeaf() throws(StoreError) {
    isValid = false
    guard hasLow else { return }
    let key = low
    let moved = try key.with { (k) throws(StoreError) in
      let moved = try descend(.before(k))
      if moved, hasLow { try requireProgress(try low.with { (l) throws(StoreError) in TreeKey.compare(l, k) < 0 }) }
      return moved
    }
    if moved {
      index = count - 1
      isValid = count > 0
    }
  }

  /// Separators out of order, which pages of byte keys are not looked through for, would lead round and round.
  private func requireProgress(_ isFurther: Bool) throws(StoreError) {
    guard Verification.cursorProgress.holds(isFurther) else {
      throw .corrupt(place: .page(tree: tree), offset: root.address, detail: "separators are out of order")
    }
  }

  mutating func next() throws(StoreError) {
    guard isValid else { return }
    index += 1
    if index >= count { try nextLeaf() }
  }

  /// The copy of the leaf that the cursor stands on.
  var leafPage: UnsafeRawPointer { UnsafeRawPointer(leaf) }

  /// To the first entry of the next leaf.
  mutating func skipLeaf() throws(StoreError) {
    guard isValid else { return }
    index = count
    try nextLeaf()
  }

  mutating func previous() throws(StoreError) {
    guard isValid else { return }
    index -= 1
    if index < 0 { try previousLeaf() }
  }

  /// The key, good until the cursor moves or the key is asked for again.
  var key: TreeKey {
    if kind == .integer { return TreeKey(IntegerLeaf(leaf).key(index)) }
    let n = BytesLeaf(leaf).copyKey(index, to: keyBuffer)
    return TreeKey(UnsafeRawBufferPointer(start: keyBuffer, count: n))
  }

  /// The value, good until the cursor moves.
  var value: FoundValue {
    if kind == .integer {
      let l = IntegerLeaf(leaf)
      return FoundValue(bytes: l.value(index), isStub: l.isStub(index))
    }
    let l = BytesLeaf(leaf)
    return FoundValue(bytes: l.value(index), isStub: l.isStub(index))
  }
}
