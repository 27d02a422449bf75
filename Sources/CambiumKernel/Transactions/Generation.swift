/// One published state of all trees: the roots on disk, and the deltas over them. Immutable, but for the active delta,
/// which grows at its end beyond what any view of it may see.
final class Generation: @unchecked Sendable {
  // `@unchecked`: nothing but the active delta changes after `init`; plain memory is freed in `deinit`.
  /// The publication that the roots come from.
  let number: UInt64
  let trees: [TreeID: TreeState]
  /// Where commits go.
  let active: DeltaTable
  /// What a running checkpoint is taking in.
  let frozen: DeltaTable?
  /// The roots once more, where a look-up costs a few instructions: it begins every read.
  private let roots: UnsafeMutableBufferPointer<TreeRoot>
  /// The counters of all trees, those of a tree side by side: one is looked at by every view.
  private let counters: UnsafeMutableBufferPointer<TreeCounter>

  init(number: UInt64, trees: [TreeID: TreeState], active: DeltaTable, frozen: DeltaTable?) {
    self.number = number
    self.trees = trees
    self.active = active
    self.frozen = frozen
    var size = 8
    while size < trees.count * 2 { size *= 2 }
    roots = .allocate(capacity: size)
    roots.initialize(repeating: TreeRoot())
    counters = .allocate(capacity: trees.values.reduce(0) { $0 + $1.counters.count })
    var used = 0
    for (id, t) in trees {
      var i = Int(truncatingIfNeeded: id.rawValue) & (size - 1)
      while roots[i].isTaken { i = (i + 1) & (size - 1) }
      roots[i] = TreeRoot(id: id, state: t, firstCounter: used)
      for counter in t.counters {
        counters.initializeElement(at: used, to: counter)
        used += 1
      }
    }
  }

  deinit {
    roots.deallocate()
    counters.deallocate()
  }

  /// Counter `index` of `tree` in the pages.
  @inline(__always)
  func counter(_ tree: TreeID, _ index: UInt32) -> Int64 {
    guard let root = root(of: tree) else { return 0 }
    for i in root.counters where counters[i].index == index { return counters[i].value }
    return 0
  }

  /// The root of `tree` in the pages; nil if no pages know it.
  @inline(__always)
  func root(of tree: TreeID) -> TreeRoot? {
    let mask = roots.count &- 1
    var i = Int(truncatingIfNeeded: tree.rawValue) & mask
    while roots[i].isTaken {
      if roots[i].id == tree { return roots[i] }
      i = (i &+ 1) & mask
    }
    return nil
  }
}

/// What a read needs of a tree: see ``TreeState``.
struct TreeRoot {
  var id = TreeID(rawValue: 0)
  var isTaken = false
  var kind = TreeKind.bytes
  var level: UInt8 = 0
  var root = PageRef.none
  var mergedTo: UInt64 = 0
  /// Entries in the pages.
  var count: UInt64 = 0
  /// Where its counters are.
  var counters = 0..<0

  init() {}

  init(id: TreeID, state: TreeState, firstCounter: Int) {
    self.id = id
    isTaken = true
    kind = state.kind
    level = state.level
    root = state.root
    mergedTo = state.mergedTo
    count = state.count
    counters = firstCounter..<(firstCounter + state.counters.count)
  }
}
