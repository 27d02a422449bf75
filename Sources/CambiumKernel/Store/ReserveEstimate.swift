/// How much room the next checkpoint may take: the leaves that the deltas' changes may fall into, and the changes.
///
/// Every commit asks, so that sums are kept, and the trees lie in an array, in the order of their identifiers.
struct ReserveEstimate {
  struct Pending {
    var nodes: UInt64 = 0
    var bytes: UInt64 = 0
  }

  /// What a commit would add to a tree.
  struct Coming {
    var tree: TreeID
    var nodes: UInt64
    var bytes: UInt64
  }

  private struct Tree {
    var id: TreeID
    /// Pages at the last publication.
    var pages: UInt64 = 0
    var active: Pending?
    var frozen: Pending?
  }

  /// What all trees come to.
  private struct Sums {
    var touched: UInt64 = 0
    var bytes: UInt64 = 0
    /// Lists of changes.
    var lists: UInt64 = 0

    func room(_ pageSize: Int) -> UInt64 {
      touched * UInt64(pageSize) * 9 / 8 + bytes * 5 / 4 + lists * UInt64(pageSize) * 4
    }

    mutating func add(_ p: Pending?, pages: UInt64) {
      guard let p else { return }
      touched += min(p.nodes, pages)
      bytes += p.bytes
      lists += 1
    }

    mutating func remove(_ p: Pending?, pages: UInt64) {
      guard let p else { return }
      touched -= min(p.nodes, pages)
      bytes -= p.bytes
      lists -= 1
    }
  }

  private var trees: [Tree] = []
  /// Of what is active, and of what is frozen.
  private var sums = Sums()
  private var frozenSums = Sums()

  /// Trees that are known of.
  var treeCount: Int { trees.count }

  /// Where `tree` is, or belongs.
  private func place(_ tree: TreeID) -> Int {
    var low = 0
    var high = trees.count
    while low < high {
      let middle = (low &+ high) &>> 1
      if trees[middle].id < tree { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  private mutating func make(_ tree: TreeID) -> Int {
    let i = place(tree)
    if i == trees.count || trees[i].id != tree { trees.insert(Tree(id: tree), at: i) }
    return i
  }

  /// Notes how many pages a tree has.
  mutating func setPages(_ tree: TreeID, _ pages: UInt64) {
    let i = make(tree)
    sums.remove(trees[i].active, pages: trees[i].pages)
    sums.add(trees[i].active, pages: pages)
    frozenSums.remove(trees[i].frozen, pages: trees[i].pages)
    frozenSums.add(trees[i].frozen, pages: pages)
    trees[i].pages = pages
  }

  mutating func add(_ tree: TreeID, nodes: Int, bytes: Int) {
    add(Coming(tree: tree, nodes: UInt64(nodes), bytes: UInt64(bytes)))
  }

  /// Adds what was committed.
  mutating func add(_ c: Coming) {
    let i = make(c.tree)
    var pending = trees[i].active ?? Pending()
    sums.remove(trees[i].active, pages: trees[i].pages)
    pending.nodes += c.nodes
    pending.bytes += c.bytes
    trees[i].active = pending
    sums.add(pending, pages: trees[i].pages)
  }

  /// What was active is frozen: it is what the next publication takes in.
  mutating func freeze() {
    for i in trees.indices {
      trees[i].frozen = trees[i].active
      trees[i].active = nil
    }
    frozenSums = sums
    sums = Sums()
  }

  /// What was frozen is in pages.
  mutating func published() {
    for i in trees.indices { trees[i].frozen = nil }
    frozenSums = Sums()
  }

  /// - Parameters:
  ///   - coming: what a commit is about to add, one for each tree.
  ///   - written: how much of what is frozen is in pages already.
  func bytes(pageSize: Int, coming: [Coming] = [], written: UInt64 = 0) -> UInt64 {
    var all = sums
    for c in coming {
      let i = place(c.tree)
      var pending = Pending()
      var pages: UInt64 = 0
      if i < trees.count, trees[i].id == c.tree {
        pages = trees[i].pages
        all.remove(trees[i].active, pages: pages)
        pending = trees[i].active ?? pending
      }
      pending.nodes += c.nodes
      pending.bytes += c.bytes
      all.add(pending, pages: pages)
    }
    let frozen = frozenSums.room(pageSize)
    return all.room(pageSize) + (frozen - min(frozen, written))
  }
}
