/// What a transaction changed of trees as a whole, in the order of their identifiers. Hardly ever more than a few, and
/// asked for many times by each transaction: an array is quicker than a dictionary.
struct FigureTable {
  private(set) var entries: [(tree: TreeID, figures: WriteTransaction.Figures)] = []

  /// Where `tree` is, or belongs.
  @inline(__always)
  private func place(_ tree: TreeID) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low &+ high) &>> 1
      if entries[middle].tree < tree { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  subscript(tree: TreeID) -> WriteTransaction.Figures? {
    let i = place(tree)
    return i < entries.count && entries[i].tree == tree ? entries[i].figures : nil
  }

  subscript(tree: TreeID, default figures: @autoclosure () -> WriteTransaction.Figures) -> WriteTransaction.Figures {
    get { self[tree] ?? figures() }
    _modify {
      let i = place(tree)
      if i == entries.count || entries[i].tree != tree { entries.insert((tree, figures()), at: i) }
      yield &entries[i].figures
    }
  }

  /// Whether the transaction drops `tree`.
  func isDropped(_ tree: TreeID) -> Bool {
    let i = place(tree)
    return i < entries.count && entries[i].tree == tree && entries[i].figures.dropped
  }

  /// Whether nothing changed.
  var isEmpty: Bool { entries.allSatisfy { $0.figures.isEmpty } }

  /// Forgets everything, and keeps the memory for the next transaction.
  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }
}

extension WriteTransaction {
  /// What a transaction changes of a tree as a whole.
  struct Figures {
    var kind: TreeKind
    var created = false
    var dropped = false
    var count: Int64 = 0
    var counters: [TreeCounter] = []
    var isEmpty: Bool { !created && !dropped && count == 0 && counters.isEmpty }

    mutating func addToCounter(_ index: UInt32, _ change: Int64) {
      for i in counters.indices where counters[i].index == index {
        counters[i].value &+= change
        return
      }
      counters.append(TreeCounter(index: index, value: change))
    }
  }
}
