import Synchronization

/// What a snapshot and a write transaction have in common: a consistent view of all trees, for reading.
public class TreeView {
  let core: Store
  var generation: Generation
  /// The newest commit in view.
  let upTo: UInt64
  /// Whether trees have to be brought in order before any is read; see ``WriteTransaction/runs`` and
  /// ``WriteTransaction/tail``.
  var isUnsettled = false
  /// Spreads readers over the slots of the cache.
  let hint: Int
  /// Trees as this view has found them, if it always finds them so.
  let foundTrees = FoundTrees()

  init(core: Store, generation: Generation, upTo: UInt64, hint: Int) {
    self.core = core
    self.generation = generation
    self.upTo = upTo
    self.hint = hint
  }

  /// The sequence of the newest commit that this view sees.
  public var sequence: UInt64 { upTo }

  /// Throws when the view cannot be used any more.
  func requireOpen() throws(StoreError) {}

  /// Whether several threads may read the view at a time.
  public var allowsConcurrentReads: Bool { false }

  /// Brings the trees in order before one is read.
  func settle() throws(StoreError) {}

  /// The changes that are this view's alone.
  var ownTable: DeltaTable? { nil }

  /// Keeps pages where they are that are this view's alone; nil where there are none.
  func makeHold() -> PageHold? { nil }

  /// How this view sees `tree`; nil if there is no such tree in it.
  func find(_ tree: TreeID) -> TreeAccess? { committed(tree) }

  final func committed(_ tree: TreeID) -> TreeAccess? {
    let active = generation.active.list(tree)
    let frozen = generation.frozen?.list(tree)
    if let list = active, list.wasDropped(upTo: upTo) { return nil }
    if let list = frozen, list.wasDropped(upTo: upTo) { return nil }
    if let t = generation.root(of: tree) {
      return TreeAccess(
        id: tree, kind: t.kind, level: t.level, root: t.root, own: nil, ownUpTo: 0, active: active, frozen: frozen,
        after: t.mergedTo, upTo: upTo)
    }
    for list in [active, frozen] {
      if let list, list.wasCreated(upTo: upTo) {
        return TreeAccess(
          id: tree, kind: list.kind, level: 0, root: .none, own: nil, ownUpTo: 0, active: active, frozen: frozen,
          after: 0, upTo: upTo)
      }
    }
    return nil
  }

  final func access(_ tree: TreeID, _ kind: TreeKind?) throws(StoreError) -> TreeAccess {
    try requireOpen()
    if let known = foundTrees.find(tree) {
      if let kind, known.pointee.kind != kind { throw .wrongTreeKind(tree) }
      return known.pointee
    }
    // Before anything is lent, never while it is: what is lent would lose its memory, and pages could not leave the
    // cache.
    if isUnsettled { try settle() }
    guard let access = find(tree) else { throw .noSuchTree(tree) }
    if let kind, access.kind != kind { throw .wrongTreeKind(tree) }
    return access
  }

  // MARK: Trees

  /// What the keys of `tree` are; nil if there is no such tree in this view.
  public final func kind(of tree: TreeID) -> TreeKind? { find(tree)?.kind }

  /// The trees in this view, in the order of their identifiers, without the kernel's own.
  public func trees() -> [TreeID] {
    var ids = Set(generation.trees.keys)
    for tree in generation.active.listedTrees() where generation.active.list(tree)?.wasCreated(upTo: upTo) ?? false {
      ids.insert(tree)
    }
    if let frozen = generation.frozen {
      for tree in frozen.listedTrees() where frozen.list(tree)?.wasCreated(upTo: upTo) ?? false { ids.insert(tree) }
    }
    return ids.filter { $0.rawValue >= TreeID.firstFree && find($0) != nil }.ordered()
  }

  /// The number of entries in `tree`. O(1).
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``.
  public func count(_ tree: TreeID) throws(StoreError) -> UInt64 {
    let access = try access(tree, nil)
    return UInt64(max(0, committedCount(access)))
  }

  final func committedCount(_ access: TreeAccess) -> Int64 {
    var n = Int64(bitPattern: generation.root(of: access.id)?.count ?? 0)
    n &+= access.active?.countChange(upTo: upTo) ?? 0
    n &+= access.frozen?.countChange(upTo: upTo) ?? 0
    return n
  }

  /// Counter `index` of `tree`: 0 until a transaction adds to it. O(1) on average.
  public func counter(_ tree: TreeID, _ index: UInt32) throws(StoreError) -> Int64 {
    let access = try access(tree, nil)
    return committedCounter(access, index)
  }

  final func committedCounter(_ access: TreeAccess, _ index: UInt32) -> Int64 {
    var n = generation.counter(access.id, index)
    n &+= access.active?.counterChange(index, upTo: upTo) ?? 0
    n &+= access.frozen?.counterChange(index, upTo: upTo) ?? 0
    return n
  }

  // MARK: Values

  /// Lends the value of `key` to `body` in place, or answers nil if there is none. O(log n), without copying.
  ///
  /// `body` must not keep the bytes, nor write through the transaction if this is one, and should be short: memory is
  /// not used again while it runs.
  @inlinable
  public final func withValue<R>(
    _ tree: TreeID, _ key: UInt64, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    let lent = try lend(tree, key)
    return try use(lent, body)
  }

  /// Lends the value of `key` to `body` in place, or answers nil if there is none. O(log n), without copying.
  @inlinable
  public final func withValue<R>(
    _ tree: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    let lent = try lend(tree, key)
    return try use(lent, body)
  }

  /// Lends what was found to `body`, in the module of the caller: there `body` needs no closure.
  @inlinable @inline(__always)
  final func use<R>(
    _ lent: LentValue, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R? {
    guard let start = lent.start else { return nil }
    if lent.isStub { return try readLarge(lent).withUnsafeBytesTyped(body) }
    let bytes = UnsafeRawBufferPointer(start: start, count: lent.count)
    defer { giveBack(lent) }
    return try body(bytes)
  }

  /// Lends the value of `key` until ``giveBack(_:)``, which has to be called before the view goes away if there is a
  /// value and it is not large. Memory is not used again meanwhile.
  public final func lend(_ tree: TreeID, _ key: UInt64) throws(StoreError) -> LentValue {
    guard let known = foundTrees.find(tree) else { return try lendFinding(tree, key) }
    try requireOpen()
    if known.pointee.kind != .integer { throw .wrongTreeKind(tree) }
    return try lend(known.pointee, TreeKey(key))
  }

  /// The same in a tree that is not known yet. Apart, since what both have in common is inlined.
  @inline(never)
  private final func lendFinding(_ tree: TreeID, _ key: UInt64) throws(StoreError) -> LentValue {
    try lend(access(tree, .integer), TreeKey(key))
  }

  @usableFromInline
  final func lend(_ tree: TreeID, _ key: UnsafeRawBufferPointer) throws(StoreError) -> LentValue {
    try lend(access(tree, .bytes), TreeKey(key))
  }

  @inline(__always)
  private final func lend(_ access: TreeAccess, _ key: TreeKey) throws(StoreError) -> LentValue {
    let place = ReaderSlots.place(hint)
    // The view keeps the store, and that its cache: no reference need be counted.
    let cache = Unmanaged.passUnretained(core.cache)
    return try cache._withUnsafeGuaranteedRef { (cache) -> Result<LentValue, StoreError> in
      let slot = cache.slots.enter(at: place)
      do throws(StoreError) {
        if let found = try access.find(key, cache) {
          if !found.isStub { return .success(LentValue(found.bytes, slot)) }
          // Reading a large value takes long: its reference is copied, and the read ended.
          let lent = LentValue(stub: found.bytes)
          cache.slots.leave(slot)
          return .success(lent)
        }
      } catch {
        cache.slots.leave(slot)
        return .failure(error)
      }
      cache.slots.leave(slot)
      return .success(LentValue())
    }.get()
  }

  @usableFromInline
  final func readLarge(_ lent: LentValue) throws(StoreError) -> [UInt8] {
    try largeValue(LargeValueStub(id: lent.first, length: lent.second))
  }

  /// Gives back what ``lend(_:_:)`` has lent, once. Nothing happens if there was no value, or a large one.
  public final func giveBack(_ lent: LentValue) {
    if lent.start == nil || lent.isStub { return }
    core.cache.slots.leave(lent.slot)
  }

  /// The value of `key`, copied; nil if there is none. O(log n).
  public final func value(_ tree: TreeID, _ key: UInt64) throws(StoreError) -> [UInt8]? {
    try withValue(tree, key) { (b) throws(StoreError) in Array(b) }
  }

  /// The value of `key`, copied; nil if there is none. O(log n).
  public final func value(_ tree: TreeID, _ key: [UInt8]) throws(StoreError) -> [UInt8]? {
    try key.withUnsafeBytesTyped { (k) throws(StoreError) in
      try withValue(tree, k) { (b) throws(StoreError) in Array(b) }
    }
  }

  /// Whether `tree` has an entry for `key`. O(log n).
  public final func contains(_ tree: TreeID, _ key: UInt64) throws(StoreError) -> Bool {
    try contains(access(tree, .integer), TreeKey(key))
  }

  /// Whether `tree` has an entry for `key`. O(log n).
  public final func contains(_ tree: TreeID, _ key: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    try contains(access(tree, .bytes), TreeKey(key))
  }

  final func contains(_ access: TreeAccess, _ key: TreeKey) throws(StoreError) -> Bool {
    let slot = core.cache.slots.enter(hint)
    defer { core.cache.slots.leave(slot) }
    return try access.find(key, core.cache) != nil
  }

  /// A position in `tree`, on no entry at first.
  public func cursor(_ tree: TreeID) throws(StoreError) -> Cursor {
    Cursor(view: self, ownTable: nil, access: try access(tree, nil), hold: nil)
  }

  // MARK: Large values

  final func largeValue(_ stub: UnsafeRawBufferPointer) throws(StoreError) -> [UInt8] {
    try largeValue(LargeValueStub(stub))
  }

  private final func largeValue(_ stub: LargeValueStub?) throws(StoreError) -> [UInt8] {
    guard let stub,
      Verification.stubRange.holds(stub.length <= Extents.maxValueBytes && stub.id < Extents.highestID)
    else {
      throw .corrupt(place: .record, offset: 0, detail: "malformed reference to a large value")
    }
    // A value that a machine of 64 bits wrote may have more bytes than one of 32 bits can address.
    guard let length = Int(exactly: stub.length) else {
      throw .valueTooLong(length: stub.length, limit: UInt64(Int.max))
    }
    var out: [UInt8] = []
    let cursor = try self.cursor(.extents)
    var more = try cursor.seek(Extents.key(stub.id, 0))
    var number: UInt64 = 0
    while more, Verification.extentNumber.holds(cursor.integerKey == Extents.key(stub.id, number)), out.count < length {
      let key = cursor.integerKey
      let extent = try cursor.withValue { (b) throws(StoreError) in Extent(b) } ?? nil
      guard let extent else {
        throw .corrupt(place: .extent(value: stub.id), offset: 0, detail: "malformed entry of an extent")
      }
      do throws(StoreError) {
        try Extents.read(extent, key: key, device: core.device, storeSeed: core.storeSeed, into: &out)
      } catch {
        // Others may have used the room of what a view from before a suspension sees.
        if case .corrupt = error, core.cache.mayBeOvertaken.load(ordering: .relaxed) { throw .snapshotExpired }
        throw error
      }
      number += 1
      more = try cursor.next()
    }
    let count = out.count
    guard Verification.valueLength.holds(count == length) else {
      throw .corrupt(place: .extent(value: stub.id), offset: 0, detail: "a large value lacks extents")
    }
    return out
  }
}
