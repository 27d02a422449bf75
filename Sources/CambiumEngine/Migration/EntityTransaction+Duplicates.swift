import CambiumKernel

extension EntityTransaction {
  /// The objects that share their values under a constraint with others, by constraint, as far as what was written
  /// since the transaction began may hurt it: all objects, where the constraint was built by the transaction. Nothing
  /// may have been deleted.
  ///
  /// - Complexity: O(objects in question); where keys were cut, O(n²) of those that agree in what is left of them.
  func duplicates() throws(EngineError) -> [MigrationBlock] {
    var found: [TreeID: Duplicates] = [:]
    for suspect in suspects {
      try found[suspect.maker.tree, default: Duplicates(suspect.maker)].look(at: suspect, self)
    }
    var blocks: [MigrationBlock] = []
    for (_, duplicates) in found.ordered(by: { $0.key < $1.key }) where duplicates.count > 0 {
      var objects: [ObjectReference] = []
      for number in duplicates.sample {
        let reference = ObjectReference(entity: duplicates.maker.owner.id, row: number)
        objects.append(try row(reference)?.reference ?? reference)
      }
      blocks.append(
        MigrationBlock(
          entity: duplicates.maker.owner.name, property: nil, reason: .duplicate(duplicates.maker.paths),
          count: duplicates.count, objects: objects))
    }
    return blocks
  }
}

/// The objects that hurt one constraint.
private struct Duplicates {
  let maker: KeyMaker
  private(set) var count = 0
  /// The first of them by their numbers.
  private(set) var sample: [UInt64] = []
  private var rows = RowSet()
  /// The exact keys that were looked at: all who have one are duplicates.
  private var prefixes: Set<[UInt8]> = []

  init(_ maker: KeyMaker) { self.maker = maker }

  mutating func look(at suspect: IndexBatch.Suspect, _ transaction: EntityTransaction) throws(EngineError) {
    if suspect.isExact {
      if !prefixes.insert(suspect.prefix).inserted { return }
    } else if rows.contains(suspect.row) {
      // It was found with one that is equal, and so were all others that are.
      return
    }
    var alike: [UInt64] = []
    try storing { () throws(StoreError) in
      let cursor = try transaction.trees.cursor(maker.tree)
      var more = try cursor.seek(suspect.prefix)
      while more, suspect.prefix.withUnsafeBytes({ hasPrefix(cursor.key, $0) }) {
        let (row, start) = try KeyDecoder.rowID(atEndOf: cursor.key)
        if start == suspect.prefix.count { alike.append(row) }
        more = try cursor.next()
      }
    }
    if !suspect.isExact { alike = try transaction.rows(alike, equalTo: suspect.row, maker) }
    if alike.count > 1 { for row in alike { add(row) } }
  }

  private mutating func add(_ row: UInt64) {
    if !rows.insert(row) { return }
    count += 1
    let place = sample.firstIndex { $0 > row } ?? sample.count
    if place < MigrationBlock.sampleLimit { sample.insert(row, at: place) }
    if sample.count > MigrationBlock.sampleLimit { sample.removeLast() }
  }
}

extension EntityTransaction {
  /// Those of some rows that have the values of another under a constraint, with itself.
  fileprivate func rows(
    _ rows: [UInt64], equalTo row: UInt64, _ maker: KeyMaker
  ) throws(EngineError) -> [UInt64] {
    guard let mine = try self.row(ObjectReference(entity: maker.owner.id, row: row)) else { return [] }
    var result: [UInt64] = []
    for other in rows {
      guard let theirs = try self.row(ObjectReference(entity: maker.owner.id, row: other)) else { continue }
      let isEqual = other == row ? true : try hasEqualValues(maker, mine, theirs)
      if isEqual { result.append(other) }
    }
    return result
  }
}
