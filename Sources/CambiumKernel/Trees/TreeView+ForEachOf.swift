import Synchronization

extension TreeView {
  /// How many entries are on their way from memory at once.
  static let batch = 16

  /// Tells `body` the entries of a tree with integer keys that have one of `keys`, in their order, until it answers
  /// false. Keys without an entry are passed over. The bytes are lent for the call. O(n log n), less for keys that
  /// ascend: several are sought before the first is told, so that they come from memory at the same time; where the
  /// pages of many are not in the cache, other threads bring those of the keys behind meanwhile.
  ///
  /// `body` should be short, since memory is not used again while it runs; it may read this view, but must not write
  /// through a transaction whose view this is, and must not close the store.
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``; what reading throws; what `body`
  ///   throws.
  public final func forEach(
    _ tree: TreeID, of keys: ArraySlice<UInt64>, _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let access = try access(tree, .integer)
    // What the changes lie in must last, even if `body` ends the transaction.
    let (generation, table) = (generation, ownTable)
    defer { withExtendedLifetime((generation, table)) {} }
    var rest = keys
    var found: [FoundValue?] = []
    while mayBringAhead(rest.count) {
      let before = core.cache.missCount
      if try !forEach(access, rest.prefix(Self.stretch), &found, body) { return }
      rest = rest.dropFirst(Self.stretch)
      if Self.areMany(core.cache.missCount &- before) { return try forEachAhead(access, rest, body) }
    }
    _ = try forEach(access, rest, &found, body)
  }

  /// The entries of some keys, by batches. Answers whether to go on.
  final func forEach(
    _ access: TreeAccess, _ keys: ArraySlice<UInt64>, _ found: inout [FoundValue?],
    _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    if found.isEmpty { found = Array(repeating: nil, count: Self.batch) }
    var rest = keys
    while !rest.isEmpty {
      try requireOpen()
      let part = rest.prefix(Self.batch)
      rest = rest.dropFirst(part.count)
      if try !tellBatch(access, part, &found, body) { return false }
    }
    return true
  }

  /// One batch, in one epoch of the cache. Answers whether to go on.
  private final func tellBatch(
    _ access: TreeAccess, _ keys: ArraySlice<UInt64>, _ found: inout [FoundValue?],
    _ body: (UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    let cache = core.cache
    let slot = cache.slots.enter(hint)
    defer { cache.slots.leave(slot) }
    var near = NearPages()
    var n = 0
    for key in keys {
      let value = try access.find(TreeKey(key), cache, near: &near)
      found[n] = value
      n &+= 1
      // Its first line is asked for now, and waited for when it is told. A load that is atomic is made, although nobody
      // looks at what it gives.
      if let value, value.bytes.count > 0 {
        let first = UnsafeMutableRawPointer(mutating: value.bytes.start).assumingMemoryBound(to: Atomic<UInt8>.self)
        _ = first.pointee.load(ordering: .relaxed)
      }
    }
    n = 0
    for key in keys {
      defer { n &+= 1 }
      guard let value = found[n] else { continue }
      try requireOpen()
      if value.isStub {
        let goOn = try largeValue(value.bytes).withUnsafeBytesTyped { (b) throws(StoreError) in try body(key, b) }
        if !goOn { return false }
      } else if try !body(key, value.bytes) {
        return false
      }
    }
    return true
  }
}
