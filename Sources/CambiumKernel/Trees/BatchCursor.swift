/// A position in a batch, or in several of keys at once, as nodes like those of lists. The batches must not be changed meanwhile.
struct BatchCursor {
  private let keys: KeyCursor?
  /// Keeps the memory of the rows.
  private let rows: RowBatch?
  /// Rows as nodes.
  private let bytes: UnsafeRawPointer?
  private let end: Int
  /// Where the next row lies.
  private var place = 0
  /// Good until the next one is asked for.
  private(set) var node: DeltaNode?

  /// Whether nodes stay good when the next one is asked for.
  var hasLastingNodes: Bool { keys == nil }

  /// - Parameter batches: sorted; of the changes of one key those of the last batch count.
  init(_ batches: [ChangeBatch]) {
    keys = KeyCursor(batches)
    rows = nil
    bytes = nil
    end = 0
    next()
  }

  init(_ batch: RowBatch) {
    keys = nil
    rows = batch
    bytes = UnsafeRawPointer(batch.contents)
    end = batch.bytes
    next()
  }

  @inline(__always)
  mutating func next() {
    if let keys {
      node = keys.nextNode()
    } else if let bytes, place < end {
      let found = DeltaNode(p: UnsafeMutableRawPointer(mutating: bytes + place))
      node = found
      place &+= roundUp(DeltaNode.size(keyCount: 0, valueCount: found.valueCount), to: 8)
    } else {
      node = nil
    }
  }
}
