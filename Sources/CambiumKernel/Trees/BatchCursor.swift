/// A position in a batch, or in several of keys at once. The batches must not be changed meanwhile.
struct BatchCursor {
  /// Where the next change is. One batch is gone through without a thought of others, and a copy of the cursor goes on
  /// by itself.
  private enum Place {
    case keys(ChangeBatch.Head)
    case keysOfSeveral(KeyCursor)
    case rows(UnsafeRawPointer, end: UnsafeRawPointer)
  }

  private var place: Place
  /// Keep the memory of the changes.
  private let keys: [ChangeBatch]
  private let rows: RowBatch?
  /// Key and value lie in the batch.
  private(set) var change: MergeChange?

  /// Whether a copy of the cursor goes on by itself.
  var canBeCopied: Bool {
    if case .keysOfSeveral = place { return false }
    return true
  }

  /// - Parameter batches: sorted; of the changes of one key those of the last batch count.
  init(_ batches: [ChangeBatch]) {
    keys = batches
    rows = nil
    place = batches.count == 1 ? .keys(batches[0].head(0..<batches[0].count)) : .keysOfSeveral(KeyCursor(batches))
    next()
  }

  init(_ batch: RowBatch) {
    keys = []
    rows = batch
    let start = UnsafeRawPointer(batch.contents)
    place = .rows(start, end: start + batch.bytes)
    next()
  }

  @inline(__always)
  mutating func next() {
    switch place {
    case .keys(var head):
      if head.isAtEnd {
        change = nil
        return
      }
      change = MergeChange(head.next.pointee, in: head.bytes)
      head.goOn()
      place = .keys(head)
    case .keysOfSeveral(let cursor):
      change = cursor.next().map { MergeChange($0.change, in: $0.bytes) }
    case .rows(let p, let end):
      if p == end {
        change = nil
        return
      }
      let found = DeltaNode(p: UnsafeMutableRawPointer(mutating: p))
      change = MergeChange(found)
      place = .rows(p + roundUp(DeltaNode.size(keyCount: 0, valueCount: found.valueCount), to: 8), end: end)
    }
  }
}
