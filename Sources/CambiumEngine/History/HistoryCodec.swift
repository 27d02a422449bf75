import CambiumKernel

// A transaction of history takes one entry that tells of it, and one for each few hundred of its changes, in a tree of
// byte keys: the transaction's number (8 bytes, big-endian), then 0, or from 1 the place of the changes (4 bytes).
//
// The first one has fields (`FieldWriter`): 1 the time (8 bytes, a double's bits, little-endian), 2 author, 3 context,
// 4 program, 5 process, 6 the number of changes. The others have the changes one behind the other, numbers as LEB128:
//
//     kind | entity | row | update: how many properties, then their identifiers
//                         | delete: length in bytes of the tombstone, then its fields: property, value
//
// The tree's counters: 0, the newest number; 1, the number up to which transactions were deleted. The catalogue has the
// tree under "history/tree", and "history/on" as long as transactions are to be told of.

enum HistoryCodec {
  static let changesPerEntry = 500
  static let numberCounter: UInt32 = 0
  static let deletedCounter: UInt32 = 1
  static let treeKey = Catalogue.key("history/tree")
  static let onKey = Catalogue.key("history/on")

  /// Counts a transaction that is not there.
  static func leaveGap(in tree: TreeID, _ t: WriteTransaction) throws(StoreError) {
    let last = try t.counter(tree, numberCounter)
    try t.addToCounter(tree, numberCounter, 1)
    try t.addToCounter(tree, deletedCounter, last &+ 1 &- (try t.counter(tree, deletedCounter)))
  }

  /// When `t` goes back to an earlier state of a store whose newest is `newest`: what was told since is not so any
  /// more, and its numbers are not used again. Whoever knows any of it finds that its place in history is gone.
  static func carryOn(from newest: TreeView, to t: WriteTransaction) throws(StoreError) {
    guard let bytes = try newest.value(Catalogue.tree, treeKey), let number = Catalogue.number(bytes) else { return }
    let last = try newest.counter(TreeID(rawValue: number), numberCounter)
    if let mine = try t.value(Catalogue.tree, treeKey).flatMap({ Catalogue.number($0) }) {
      try t.dropTree(TreeID(rawValue: mine))
    }
    let fresh = try t.createTree(.bytes)
    try t.put(Catalogue.tree, treeKey, Catalogue.bytes(fresh.rawValue))
    try t.addToCounter(fresh, numberCounter, isPlanted(.restoredHistoryReused) ? last : last &+ 1)
    try t.addToCounter(fresh, deletedCounter, last &+ 1)
    if try newest.value(Catalogue.tree, onKey) != nil {
      try t.put(Catalogue.tree, onKey, [])
    } else {
      _ = try t.delete(Catalogue.tree, onKey)
    }
  }

  static func key(_ number: UInt64, _ place: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(12)
    for shift in stride(from: UInt64(56), through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: number >> shift)) }
    for shift in stride(from: UInt32(24), through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: place >> shift)) }
    return key
  }

  static func place(_ key: UnsafeRawBufferPointer) -> (number: UInt64, place: UInt32)? {
    guard key.count == 12 else { return nil }
    var number: UInt64 = 0
    for i in 0..<8 { number = number << 8 | UInt64(key[i]) }
    var place: UInt32 = 0
    for i in 8..<12 { place = place << 8 | UInt32(key[i]) }
    return (number, place)
  }

  static func encode(_ transaction: HistoryTransaction) -> [UInt8] {
    var writer = FieldWriter()
    let bits = transaction.timestamp.bitPattern
    writer.field(
      1, bytes: stride(from: UInt64(0), through: 56, by: 8).map { UInt8(truncatingIfNeeded: bits >> $0) })
    writer.field(2, text: transaction.author)
    writer.field(3, text: transaction.contextName)
    writer.field(4, text: transaction.programName)
    writer.field(5, text: transaction.processName)
    writer.field(6, number: UInt64(transaction.changes.count))
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8], _ number: UInt64) throws(EngineError) -> HistoryTransaction {
    do throws(SchemaError) {
      var reader = FieldReader(bytes)
      var transaction = HistoryTransaction(timestamp: 0)
      transaction.number = number
      while let (field, part) = try reader.field() {
        var content = part
        switch field {
        case 1:
          var bits: UInt64 = 0
          for shift in stride(from: UInt64(0), through: 56, by: 8) { bits |= UInt64(try content.byte()) << shift }
          transaction.timestamp = Double(bitPattern: bits)
        case 2: transaction.author = try content.text()
        case 3: transaction.contextName = try content.text()
        case 4: transaction.programName = try content.text()
        case 5: transaction.processName = try content.text()
        case 6: transaction.changeCount = Int(clamping: try content.number())
        default: break
        }
      }
      return transaction
    } catch { throw malformed(number, error) }
  }

  static func encode(_ changes: ArraySlice<HistoryChange>) -> [UInt8] {
    var writer = FieldWriter()
    for change in changes {
      writer.append(number: UInt64(change.kind.rawValue))
      writer.append(number: UInt64(change.reference.entity))
      writer.append(number: change.reference.row)
      switch change.kind {
      case .insert: break
      case .update:
        writer.append(number: UInt64(change.properties.count))
        for id in change.properties { writer.append(number: UInt64(id)) }
      case .delete:
        var tombstone = FieldWriter()
        for (id, value) in change.tombstone.ordered(by: { $0.key < $1.key })
        where !isPlanted(.tombstonesForgotten) {
          tombstone.field(UInt64(id), value: value)
        }
        writer.append(number: UInt64(tombstone.bytes.count))
        writer.append(raw: tombstone.bytes)
      }
    }
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8], into transaction: inout HistoryTransaction) throws(EngineError) {
    do throws(SchemaError) {
      var reader = FieldReader(bytes)
      while !reader.isAtEnd {
        guard let kind = HistoryChange.Kind(rawValue: UInt8(clamping: try reader.number())) else {
          throw reader.malformed("a change is of an unknown kind")
        }
        let entity = try reader.number32()
        var change = HistoryChange(kind, ObjectReference(entity: entity, row: try reader.number()))
        switch kind {
        case .insert: break
        case .update:
          // No room is made for what is only said to be there.
          for _ in 0..<(try reader.number()) { change.properties.append(try reader.number32()) }
        case .delete:
          var tombstone = try reader.part(try reader.number())
          while let (id, part) = try tombstone.field() {
            var content = part
            guard let id = UInt32(exactly: id) else { throw tombstone.malformed("a property has no such identifier") }
            change.tombstone[id] = try content.value()
          }
        }
        transaction.changes.append(change)
      }
    } catch { throw malformed(transaction.number, error) }
  }

  private static func malformed(_ number: UInt64, _ error: SchemaError) -> EngineError {
    .corrupt("transaction \(number) of the store's history cannot be read: \(error.description)")
  }
}
