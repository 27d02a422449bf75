import CambiumKernel

/// Links from rows to objects, sorted by row and place, in a tree of the transaction: as many as there are, without the
/// memory for them. Gone when the migration ends.
final class LinkTable {
  private let t: WriteTransaction
  private let tree: TreeID

  init(_ t: WriteTransaction) throws(EngineError) {
    self.t = t
    tree = try storing { () throws(StoreError) in try t.createTree(.bytes) }
  }

  /// Adds a link. One at the same place of the same row is replaced.
  func add(_ from: ObjectReference, place: UInt64, _ target: ObjectReference) throws(EngineError) {
    var encoder = KeyEncoder()
    encoder.append(rowID: from.row)
    encoder.append(rowID: place)
    let packed = PackedReference.pack(target)
    let value = (0..<8).map { UInt8(truncatingIfNeeded: packed >> UInt64(8 * $0)) }
    try storing { () throws(StoreError) in try t.put(tree, encoder.bytes, value) }
  }

  /// What a row leads to, in the order of the places.
  func targets(of row: UInt64) throws(EngineError) -> [ObjectReference] {
    var encoder = KeyEncoder()
    encoder.append(rowID: row)
    let prefix = encoder.bytes
    return try storing { () throws(StoreError) in
      var result: [ObjectReference] = []
      let cursor = try t.cursor(tree)
      var more = try cursor.seek(prefix)
      while more, prefix.withUnsafeBytes({ hasPrefix(cursor.key, $0) }) {
        let bytes = try cursor.value() ?? []
        result.append(PackedReference.unpack(bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
        more = try cursor.next()
      }
      return result
    }
  }

  /// Drops the tree.
  func drop() throws(EngineError) { try storing { () throws(StoreError) in try t.dropTree(tree) } }
}
