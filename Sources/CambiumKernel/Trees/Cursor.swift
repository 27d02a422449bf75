/// A position in a tree, as one view sees it: the pages and the deltas over them, merged.
///
/// A cursor sees the view as it was when the cursor was made; what its transaction writes later, it does not see. One
/// thread at a time uses it. Moving to a neighbour costs O(1) on average, seeking O(log n); neither allocates, so that
/// it pays to keep a cursor and seek again.
public final class Cursor {
  private let view: TreeView
  private let ownTable: DeltaTable?
  /// Keeps the changes that the cursor reads: a transaction that spills goes on with another generation.
  private let generation: Generation
  /// Keeps the pages that it reads, as far as they are the transaction's own.
  private let hold: PageHold?
  private let kind: TreeKind
  private let tree: TreeID
  /// What moves lies behind pointers: the properties of a class are guarded against overlapping access each time.
  private let state: UnsafeMutablePointer<State>
  /// The changes over the pages, the newest first.
  private let deltas: UnsafeMutableBufferPointer<DeltaCursor>

  private struct State: ~Copyable {
    var base: BaseCursor
    /// What the cursor stands on: a delta's number, or one of these.
    var current = Cursor.nothing
    var forward = true
    /// For turning round.
    var position = OwnedKey()
  }

  private static let nothing = -2
  private static let pages = -1

  init(view: TreeView, ownTable: DeltaTable?, access: TreeAccess, hold: PageHold?) {
    self.hold = hold
    self.view = view
    self.ownTable = ownTable
    generation = view.generation
    kind = access.kind
    tree = access.id
    state = .allocate(capacity: 1)
    state.initialize(
      to: State(
        base: BaseCursor(
          tree: access.id, kind: access.kind, root: access.root, level: access.level, cache: view.core.cache,
          pageSize: view.core.pageSize, hint: view.hint)))
    let count = (access.own == nil ? 0 : 1) + (access.active == nil ? 0 : 1) + (access.frozen == nil ? 0 : 1)
    deltas = .allocate(capacity: count)
    var n = 0
    if let list = access.own {
      deltas.initializeElement(at: n, to: DeltaCursor(list, after: 0, upTo: access.ownUpTo))
      n += 1
    }
    for list in [access.active, access.frozen] {
      guard let list else { continue }
      deltas.initializeElement(at: n, to: DeltaCursor(list, after: access.after, upTo: access.upTo))
      n += 1
    }
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    deltas.deinitialize()
    deltas.deallocate()
  }

  /// Whether the cursor stands on an entry.
  public var isValid: Bool {
    let current = state.pointee.current
    return current == Self.pages ? state.pointee.base.isValid : current != Self.nothing
  }

  /// The key of the entry in a tree with integer keys; 0 when there is no entry or the keys are bytes.
  public var integerKey: UInt64 { kind == .integer ? present?.head ?? 0 : 0 }

  /// The key of the entry in a tree with byte keys, good until the cursor moves; empty when there is no entry.
  public var key: UnsafeRawBufferPointer { present?.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0) }

  @inline(__always)
  private var present: TreeKey? {
    let current = state.pointee.current
    // After a failed step the pages have no entry.
    if current == Self.pages { return state.pointee.base.isValid ? state.pointee.base.key : nil }
    return current >= 0 ? deltas[current].node?.key : nil
  }

  @usableFromInline
  var found: LentValue {
    let current = state.pointee.current
    if current == Self.pages {
      guard state.pointee.base.isValid else { return LentValue() }
      let value = state.pointee.base.value
      return value.isStub ? LentValue(stub: value.bytes) : LentValue(value.bytes, 0)
    }
    guard current >= 0, let node = deltas[current].node else { return LentValue() }
    return node.op == .putStub ? LentValue(stub: node.value) : LentValue(node.value, 0)
  }

  @usableFromInline
  func readLarge(_ lent: LentValue) throws(StoreError) -> [UInt8] { try view.readLarge(lent) }

  /// Lends the value of the entry; nil when there is none. `body` must not write through the cursor's transaction.
  ///
  /// - Throws: What reading a large value throws, and what `body` throws.
  @inlinable
  public func withValue<R>(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    // The bytes are good as long as the cursor is.
    defer { withExtendedLifetime(self) {} }
    let lent = found
    guard let start = lent.start else { return nil }
    if lent.isStub { return try readLarge(lent).withUnsafeBytesTyped(body) }
    return try body(UnsafeRawBufferPointer(start: start, count: lent.count))
  }

  /// The value of the entry, copied; nil when there is none.
  public func value() throws(StoreError) -> [UInt8]? {
    try withValue { (b) throws(StoreError) in Array(b) }
  }

  // MARK: Moving

  /// To the first entry. Answers whether there is one.
  @discardableResult
  public func seekFirst() throws(StoreError) -> Bool {
    try view.requireOpen()
    state.pointee.forward = true
    state.pointee.current = Self.nothing
    try state.pointee.base.seekFirst()
    for i in deltas.indices { deltas[i].seekFirst() }
    return try settle(sign: 1)
  }

  /// To the last entry. Answers whether there is one.
  @discardableResult
  public func seekLast() throws(StoreError) -> Bool {
    try view.requireOpen()
    state.pointee.forward = false
    state.pointee.current = Self.nothing
    try state.pointee.base.seekLast()
    for i in deltas.indices { deltas[i].seekBefore(nil) }
    return try settle(sign: -1)
  }

  /// To the first entry whose key is not less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(_ key: UInt64) throws(StoreError) -> Bool {
    guard kind == .integer else { throw .wrongTreeKind(tree) }
    return try seek(TreeKey(key))
  }

  /// To the first entry whose key is not less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard kind == .bytes else { throw .wrongTreeKind(tree) }
    return try seek(TreeKey(key))
  }

  /// To the first entry whose key is not less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(_ key: [UInt8]) throws(StoreError) -> Bool {
    try key.withUnsafeBytesTyped { (b) throws(StoreError) in try seek(b) }
  }

  private func seek(_ key: TreeKey) throws(StoreError) -> Bool {
    try view.requireOpen()
    state.pointee.forward = true
    // If reading fails, the cursor stands nowhere.
    state.pointee.current = Self.nothing
    try state.pointee.base.seek(key)
    for i in deltas.indices { deltas[i].seek(key) }
    return try settle(sign: 1)
  }

  /// To the last entry whose key is less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(before key: UInt64) throws(StoreError) -> Bool {
    guard kind == .integer else { throw .wrongTreeKind(tree) }
    return try seekBefore(TreeKey(key))
  }

  /// To the last entry whose key is less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(before key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard kind == .bytes else { throw .wrongTreeKind(tree) }
    return try seekBefore(TreeKey(key))
  }

  private func seekBefore(_ key: TreeKey) throws(StoreError) -> Bool {
    try view.requireOpen()
    state.pointee.forward = false
    state.pointee.current = Self.nothing
    try state.pointee.base.seekBefore(key)
    for i in deltas.indices { deltas[i].seekBefore(key) }
    return try settle(sign: -1)
  }

  /// To the next entry. Answers whether there is one.
  @discardableResult
  public func next() throws(StoreError) -> Bool {
    guard let key = present else { return false }
    try view.requireOpen()
    if !state.pointee.forward, !isPlanted(.cursorTurnsWithoutSeek) {
      state.pointee.position.set(key)
      let position = state.pointee.position
      _ = try position.with { (k) throws(StoreError) in try seek(k) }
    } else if deltas.isEmpty {
      try state.pointee.base.next()
      return settleOnPages()
    }
    try stepPast()
    return try settle(sign: 1)
  }

  /// To the previous entry. Answers whether there is one.
  @discardableResult
  public func previous() throws(StoreError) -> Bool {
    guard let key = present else { return false }
    try view.requireOpen()
    if state.pointee.forward {
      state.pointee.position.set(key)
      let position = state.pointee.position
      return try position.with { (k) throws(StoreError) in try seekBefore(k) }
    }
    try stepPast()
    return try settle(sign: -1)
  }

  @inline(__always)
  private func settleOnPages() -> Bool {
    let isThere = state.pointee.base.isValid
    state.pointee.current = isThere ? Self.pages : Self.nothing
    return isThere
  }

  /// Moves every source that stands on the present key past it; the one whose key that is comes last, since it holds
  /// it.
  private func stepPast() throws(StoreError) {
    let current = state.pointee.current
    let forward = state.pointee.forward
    guard let key = present else { return }
    for i in deltas.indices where i != current && !isPlanted(.cursorShowsOlderChange) {
      if let node = deltas[i].node, TreeKey.compare(node.key, key) == 0 {
        if forward { deltas[i].next() } else { deltas[i].previous() }
      }
    }
    if current == Self.pages
      || (state.pointee.base.isValid && TreeKey.compare(state.pointee.base.key, key) == 0)
    {
      do throws(StoreError) {
        if forward { try state.pointee.base.next() } else { try state.pointee.base.previous() }
      } catch {
        // Going on from a delta would leave out what the pages still have.
        if !isPlanted(.failedStepGoesOn) { state.pointee.current = Self.nothing }
        throw error
      }
    }
    if current >= 0 {
      if forward { deltas[current].next() } else { deltas[current].previous() }
    }
  }

  /// Stands on the least (or greatest) key of all sources, the newest source first; passes over deleted ones.
  private func settle(sign: Int) throws(StoreError) -> Bool {
    if deltas.isEmpty { return settleOnPages() }
    while true {
      var best = Self.nothing
      var bestKey = TreeKey(0)
      for i in deltas.indices {
        guard let node = deltas[i].node else { continue }
        let limit = isPlanted(.descendingTakesOlder) && sign < 0 ? 1 : 0
        if best == Self.nothing || TreeKey.compare(node.key, bestKey) * sign < limit {
          best = i
          bestKey = node.key
        }
      }
      if state.pointee.base.isValid,
        best == Self.nothing || TreeKey.compare(state.pointee.base.key, bestKey) * sign < 0
      {
        best = Self.pages
      }
      state.pointee.current = best
      guard best >= 0, deltas[best].node?.op == .delete else { return best != Self.nothing }
      try stepPast()
    }
  }
}
