/// What the directory knows of a tree: its root and its figures.
struct TreeState {
  var kind: TreeKind
  var level: UInt8 = 0
  var root: PageRef = .none
  /// Entries in the pages.
  var count: UInt64 = 0
  /// Pages, and their stored bytes.
  var pages: UInt64 = 0
  var bytes: UInt64 = 0
  /// Entries whose value lies in extents.
  var largeValues: UInt64 = 0
  /// Changes up to this sequence are in the pages; later ones are in the deltas.
  var mergedTo: UInt64 = 0
  /// Named counters that change with commits (rows per layout, for instance), by index.
  var counters: [TreeCounter] = []

  init(kind: TreeKind) { self.kind = kind }

  mutating func addToCounter(_ index: UInt32, _ change: Int64) {
    if change == 0 { return }
    for i in counters.indices where counters[i].index == index {
      counters[i].value &+= change
      return
    }
    counters.append(TreeCounter(index: index, value: change))
  }

  func counter(_ index: UInt32) -> Int64 {
    for c in counters where c.index == index { return c.value }
    return 0
  }
}

/// A number kept beside a tree.
struct TreeCounter {
  var index: UInt32
  var value: Int64
}
