/// A position in a tree, as one view sees it: the pages and the deltas over them, merged.
///
/// A cursor sees the view as it was when the cursor was made; what its transaction writes later, it does not see. One
/// thread at a time uses it. Moving to a neighbour costs O(1) on average, seeking O(log n).
public final class Cursor {
  private let view: TreeView
  private let ownTable: DeltaTable?
  private let access: TreeAccess
  private var base: BaseCursor
  private var deltas: [DeltaCursor] = []
  private enum Source: Equatable {
    case none, base
    case delta(Int)
  }
  private var current: Source = .none
  private var forward = true
  private var largeValue: [UInt8] = []
  private var position = OwnedKey()

  init(view: TreeView, ownTable: DeltaTable?, access: TreeAccess) {
    self.view = view
    self.ownTable = ownTable
    self.access = access
    base = BaseCursor(
      tree: access.id, kind: access.kind, root: access.root, level: access.level, cache: view.core.cache,
      pageSize: view.core.pageSize, hint: view.hint)
    if let list = access.own { deltas.append(DeltaCursor(list, after: 0, upTo: access.ownUpTo)) }
    if let list = access.active { deltas.append(DeltaCursor(list, after: access.after, upTo: access.upTo)) }
    if let list = access.frozen { deltas.append(DeltaCursor(list, after: access.after, upTo: access.upTo)) }
  }

  /// Whether the cursor stands on an entry.
  public var isValid: Bool { current != .none }

  /// The key of the entry in a tree with integer keys; 0 when there is no entry or the keys are bytes.
  public var integerKey: UInt64 {
    if access.kind != .integer { return 0 }
    switch current {
    case .none: return 0
    case .base: return base.key.head
    case .delta(let i): return deltas[i].node?.head ?? 0
    }
  }

  /// The key of the entry in a tree with byte keys, good until the cursor moves; empty when there is no entry.
  public var key: UnsafeRawBufferPointer {
    switch current {
    case .none: return UnsafeRawBufferPointer(start: nil, count: 0)
    case .base: return base.key.buffer
    case .delta(let i): return deltas[i].node?.key.buffer ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }
  }

  private var found: FoundValue? {
    switch current {
    case .none: return nil
    case .base: return base.value
    case .delta(let i): return deltas[i].node.map { FoundValue(bytes: $0.value, isStub: $0.op == .putStub) }
    }
  }

  /// Lends the value of the entry; nil when there is none.
  ///
  /// - Throws: What reading a large value throws, and what `body` throws.
  public func withValue<R>(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    guard let value = found else { return nil }
    if !value.isStub { return try body(value.bytes) }
    let bytes = try view.largeValue(value.bytes)
    return try bytes.withUnsafeBytesTyped(body)
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
    forward = true
    try base.seekFirst()
    for i in deltas.indices { deltas[i].seekFirst() }
    return try settleForward()
  }

  /// To the last entry. Answers whether there is one.
  @discardableResult
  public func seekLast() throws(StoreError) -> Bool {
    try view.requireOpen()
    forward = false
    try base.seekLast()
    for i in deltas.indices { deltas[i].seekBefore(nil) }
    return try settleBackward()
  }

  /// To the first entry whose key is not less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(_ key: UInt64) throws(StoreError) -> Bool {
    guard access.kind == .integer else { throw .wrongTreeKind(access.id) }
    return try seek(TreeKey(key))
  }

  /// To the first entry whose key is not less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(_ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard access.kind == .bytes else { throw .wrongTreeKind(access.id) }
    return try seek(TreeKey(key))
  }

  /// To the first entry whose key is not less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(_ key: [UInt8]) throws(StoreError) -> Bool {
    try key.withUnsafeBytesTyped { (b) throws(StoreError) in try seek(b) }
  }

  private func seek(_ key: TreeKey) throws(StoreError) -> Bool {
    try view.requireOpen()
    forward = true
    try base.seek(key)
    for i in deltas.indices { deltas[i].seek(key) }
    return try settleForward()
  }

  /// To the last entry whose key is less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(before key: UInt64) throws(StoreError) -> Bool {
    guard access.kind == .integer else { throw .wrongTreeKind(access.id) }
    return try seekBefore(TreeKey(key))
  }

  /// To the last entry whose key is less than `key`. Answers whether there is one.
  @discardableResult
  public func seek(before key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    guard access.kind == .bytes else { throw .wrongTreeKind(access.id) }
    return try seekBefore(TreeKey(key))
  }

  private func seekBefore(_ key: TreeKey) throws(StoreError) -> Bool {
    try view.requireOpen()
    forward = false
    try base.seekBefore(key)
    for i in deltas.indices { deltas[i].seekBefore(key) }
    return try settleBackward()
  }

  /// To the next entry. Answers whether there is one.
  @discardableResult
  public func next() throws(StoreError) -> Bool {
    guard current != .none else { return false }
    try view.requireOpen()
    if !forward {
      notePosition()
      let key = position
      _ = try key.with { (k) throws(StoreError) in try seek(k) }
    }
    try stepPast()
    return try settleForward()
  }

  /// To the previous entry. Answers whether there is one.
  @discardableResult
  public func previous() throws(StoreError) -> Bool {
    guard current != .none else { return false }
    try view.requireOpen()
    if forward {
      notePosition()
      let key = position
      return try key.with { (k) throws(StoreError) in try seekBefore(k) }
    }
    try stepPast()
    return try settleBackward()
  }

  private func notePosition() {
    switch current {
    case .none: break
    case .base: position.set(base.key)
    case .delta(let i): if let node = deltas[i].node { position.set(node.key) }
    }
  }

  /// Moves every source that stands on the present key past it.
  private func stepPast() throws(StoreError) {
    if deltas.isEmpty {
      if forward { try base.next() } else { try base.previous() }
      return
    }
    notePosition()
    let key = position
    try key.with { (k) throws(StoreError) in
      if base.isValid, TreeKey.compare(base.key, k) == 0 {
        if forward { try base.next() } else { try base.previous() }
      }
      for i in deltas.indices {
        if let node = deltas[i].node, TreeKey.compare(node.key, k) == 0 {
          if forward { deltas[i].next() } else { deltas[i].previous() }
        }
      }
    }
  }

  private func settleForward() throws(StoreError) -> Bool { try settle(sign: 1) }
  private func settleBackward() throws(StoreError) -> Bool { try settle(sign: -1) }

  /// Stands on the least (or greatest) key of all sources, the newest source first; passes over deleted ones.
  private func settle(sign: Int) throws(StoreError) -> Bool {
    while true {
      var best: Source = .none
      var bestKey = TreeKey(0)
      for i in deltas.indices {
        guard let node = deltas[i].node else { continue }
        if best == .none || TreeKey.compare(node.key, bestKey) * sign < 0 {
          best = .delta(i)
          bestKey = node.key
        }
      }
      if base.isValid, best == .none || TreeKey.compare(base.key, bestKey) * sign < 0 { best = .base }
      current = best
      guard case .delta(let i) = best, deltas[i].node?.op == .delete else { return best != .none }
      try stepPast()
    }
  }
}
