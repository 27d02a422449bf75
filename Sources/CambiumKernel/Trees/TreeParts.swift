/// A tree with integer keys in parts of about as many entries, for threads that go through one each.
///
/// Good as long as the view that made it, and until something is written through that.
public struct TreeParts: @unchecked Sendable {
  // `@unchecked`: the lists of changes that it names are made for any number of readers, and nobody writes meanwhile.
  let access: TreeAccess
  let ranges: [ClosedRange<UInt64>]
  /// Held while a large value is read, where a transaction's trees are looked up for that; nil for a snapshot.
  let lock: (any StoreLock)?

  /// How many parts there are: at least one.
  public var count: Int { ranges.count }
}

extension TreeView {
  /// More children than this are not looked at to find where parts begin.
  private static let mostChildren = 1 << 14

  /// Divides a tree with integer keys into parts of about `entries` entries, in the order of the keys; into one where
  /// that is not known without looking at many pages. O(pages above the leaves), of which a part has one or less.
  ///
  /// - Throws: ``StoreError/noSuchTree(_:)``, ``StoreError/wrongTreeKind(_:)``; what reading throws.
  public final func parts(of tree: TreeID, entries: UInt64) throws(StoreError) -> TreeParts {
    let access = try access(tree, .integer)
    var firsts: [UInt64] = []
    var sum: UInt64 = 0
    for child in try children(access, entries: max(1, entries)) {
      if sum >= entries, child.low > firsts.last ?? 0 {
        firsts.append(child.low)
        sum = 0
      }
      sum &+= child.entries
    }
    var ranges: [ClosedRange<UInt64>] = []
    var first: UInt64 = 0
    for next in firsts {
      ranges.append(first...next &- 1)
      first = next
    }
    ranges.append(first...UInt64.max)
    return TreeParts(
      access: access, ranges: ranges, lock: allowsConcurrentReads ? nil : core.environment.makeLock())
  }

  /// The same parts as the view sees them now that something was written through it.
  ///
  /// - Throws: as ``parts(of:entries:)``.
  public final func renewed(_ parts: TreeParts) throws(StoreError) -> TreeParts {
    TreeParts(access: try access(parts.access.id, .integer), ranges: parts.ranges, lock: parts.lock)
  }

  /// Subtrees that make up a tree, with their lower bounds and how many entries they have: as far down as they have
  /// more than is wanted.
  private final func children(
    _ access: TreeAccess, entries: UInt64
  ) throws(StoreError) -> [(low: UInt64, entries: UInt64)] {
    if access.root.isNone || access.level == 0 { return [] }
    let cache = core.cache
    let slot = cache.slots.enter(hint)
    defer { cache.slots.leave(slot) }
    var pages: [(ref: PageRef, low: UInt64)] = [(access.root, 0)]
    var level = access.level
    while true {
      var result: [(low: UInt64, entries: UInt64)] = []
      var next: [(ref: PageRef, low: UInt64)] = []
      var largest: UInt64 = 0
      for (ref, low) in pages {
        let page = try cache.page(ref, tree: access.id, level: level)
        guard TreeDescent.isKind(page, .integerInner) else { throw TreeDescent.wrongKind(ref, access.id) }
        let inner = IntegerInner(page)
        for i in 0..<inner.count {
          let low = i == 0 ? low : inner.separator(i)
          result.append((low, inner.entries(i)))
          next.append((inner.ref(i), low))
          largest = max(largest, inner.entries(i))
        }
      }
      level &-= 1
      if level == 0 || largest <= entries || next.count > Self.mostChildren { return result }
      pages = next
    }
  }

  /// Tells `body` the entries of a part by runs, as ``forEachRun(_:isSparse:_:)`` does. Several threads may go through
  /// parts of one tree at a time, as long as nobody writes through the view.
  ///
  /// - Parameter givesUpPages: Whether the cache gives up the leaves that were gone through, so that pages which are
  ///   written meanwhile take their memory: for a tree that is about to be dropped. Who reads them after all reads them
  ///   from the file.
  /// - Throws: what reading throws; what `body` throws.
  public final func forEachRun(
    _ parts: TreeParts, _ number: Int, isSparse: Bool = true, givesUpPages: Bool = false,
    _ body: (LentRun) throws(StoreError) -> Bool
  ) throws(StoreError) {
    guard parts.ranges.indices.contains(number) else { return }
    try forEachRun(
      parts.access, parts.ranges[number], parts.lock, isSparse: isSparse, givesUpPages: givesUpPages, body)
  }
}
