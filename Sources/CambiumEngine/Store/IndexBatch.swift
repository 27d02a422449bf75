import CambiumKernel

/// Changes to one index, constraint or relationship tree that a transaction has gathered and not made yet.
///
/// Rows come in the order of their making, keys in any order. Made one by one, keys of a large transaction would touch
/// every page of the tree again and again; sorted, they touch each once.
final class IndexBatch {
  /// Two rows may have the same values under a constraint: to be looked at when all is written.
  struct Suspect {
    var maker: KeyMaker
    var prefix: [UInt8]
    var row: UInt64
    var isExact: Bool
  }

  let tree: TreeID
  let maker: KeyMaker?
  /// A change's mark is how long its key is without the row, where the key has to be unique; its flag, whether the key
  /// is exact.
  private let changes = ChangeBatch()

  init(_ tree: TreeID, _ maker: KeyMaker?) {
    self.tree = tree
    self.maker = maker
  }

  var isEmpty: Bool { changes.isEmpty }

  /// Forgets the changes, and gives their memory back if it is much.
  func reset() {
    changes.removeAll()
    changes.trim()
  }

  /// Adds a change. `uniqueCount` is the length of what has to be unique, 0 if nothing has. Answers how much memory the
  /// change takes; nil if it cannot be held: the key is longer than any page takes.
  ///
  /// - Parameter isNew: whether the key is of a row that was not there before, and so in no index.
  @inline(__always)
  func add(
    _ key: UnsafeRawBufferPointer, isPut: Bool, uniqueCount: Int = 0, isExact: Bool = true, isNew: Bool = false
  ) -> Int? {
    changes.add(key, isPut: isPut, mark: UInt16(truncatingIfNeeded: uniqueCount), flag: isExact, isNew: isNew)
  }

  /// Puts the changes in order, which are made together with those of others.
  func sort() { changes.sort() }

  /// Makes the changes of several batches of the tree, which then are empty, and keep their memory. Adds to `suspects`
  /// as ``apply(to:_:)`` does.
  static func apply(
    _ batches: [IndexBatch], to transaction: WriteTransaction, _ suspects: inout [Suspect]
  ) throws(StoreError) {
    guard let first = batches.first else { return }
    if batches.count == 1 { return try first.apply(to: transaction, &suspects) }
    if let maker = first.maker, maker.isUnique {
      // Keys next to each other are compared: all have to be in one order.
      let all = IndexBatch(first.tree, maker)
      if all.changes.merge(batches.map { $0.changes }) {
        try all.apply(to: transaction, &suspects)
      } else {
        for batch in batches { try batch.apply(to: transaction, &suspects) }
      }
    } else {
      try transaction.apply(batches.map { $0.changes }, to: first.tree)
    }
    for batch in batches { batch.changes.removeAll() }
  }

  /// Makes the changes, in the order of their keys. Adds to `suspects` what may hurt a constraint by what the tree
  /// holds now: whatever does at the end is among the suspects of some batch, since the later of two rows finds the
  /// other.
  func apply(to transaction: WriteTransaction, _ suspects: inout [Suspect]) throws(StoreError) {
    if changes.isEmpty { return }
    changes.sort()
    if let maker, maker.isUnique { try check(maker, transaction, &suspects) }
    try transaction.apply(changes, to: tree)
    changes.removeAll()
  }

  private func check(
    _ maker: KeyMaker, _ transaction: WriteTransaction, _ suspects: inout [Suspect]
  ) throws(StoreError) {
    let cursor = try transaction.cursor(tree)
    // What has to be unique of the key before.
    var previous: [UInt8] = []
    var found: [Suspect] = []
    try changes.forEach { (change, key) throws(StoreError) in
      let count = Int(change.mark)
      guard change.isPut, count > 0, count <= key.count else { return }
      let prefix = UnsafeRawBufferPointer(rebasing: key[..<count])
      var isSuspect =
        !isPlanted(.uniqueSkipsOwnRows) && previous.withUnsafeBytes { $0.count == count && hasPrefix($0, prefix) }
      previous.removeAll(keepingCapacity: true)
      previous.append(contentsOf: prefix)
      if !isSuspect, !isPlanted(.uniqueSkipsStoredRows) {
        var more = try cursor.seek(prefix)
        while more, !isSuspect, hasPrefix(cursor.key, prefix) {
          isSuspect = compareKeys(cursor.key, key) != 0
          more = try cursor.next()
        }
      }
      if isSuspect {
        found.append(
          Suspect(
            maker: maker, prefix: Array(prefix), row: try KeyDecoder.rowID(atEndOf: key).id, isExact: change.flag))
      }
    }
    suspects += found
  }
}
