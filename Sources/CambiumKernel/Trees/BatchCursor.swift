/// A position in a batch, as nodes like those of lists. The batch must not be changed meanwhile.
struct BatchCursor {
  private final class Memory {
    let p = UnsafeMutableRawPointer.allocate(byteCount: ChangeBatch.longestNode, alignment: 16)
    deinit { p.deallocate() }
  }

  // These keep the memory that the others point to; going on asks them nothing, so that no references are counted for it.
  private let keys: ChangeBatch?
  private let rows: RowBatch?
  private let memory: Memory?

  private let changes: UnsafePointer<ChangeBatch.Change>?
  /// The bytes of keys, or rows as nodes.
  private let bytes: UnsafeRawPointer
  /// Where the present change of a batch of keys is written.
  private let scratch: UnsafeMutableRawPointer?
  private let end: Int
  /// The number of the next change, or where it lies.
  private var place = 0
  /// Good until the next one is asked for.
  private(set) var node: DeltaNode?

  /// Whether nodes stay good when the next one is asked for.
  var hasLastingNodes: Bool { changes == nil }

  /// - Parameter batch: sorted.
  init(_ batch: ChangeBatch) {
    keys = batch
    rows = nil
    let memory = Memory()
    self.memory = memory
    scratch = memory.p
    let contents = batch.contents
    changes = contents.changes
    bytes = contents.bytes
    end = batch.count
    next()
  }

  init(_ batch: RowBatch) {
    keys = nil
    rows = batch
    memory = nil
    scratch = nil
    changes = nil
    bytes = UnsafeRawPointer(batch.contents)
    end = batch.bytes
    next()
  }

  @inline(__always)
  mutating func next() {
    guard place < end else {
      node = nil
      return
    }
    if let changes, let scratch {
      let change = changes[place]
      let key = TreeKey(head: change.head, bytes: bytes + Int(change.offset), count: change.count)
      DeltaNode.initializeHeader(
        scratch, sequence: 0, key: key, valueCount: 0, op: change.isPut ? .put : .delete, effect: 0)
      (scratch + DeltaNode.headerSize).copyFew(from: key.bytes, key.count)
      node = DeltaNode(p: scratch)
      place &+= 1
    } else {
      let found = DeltaNode(p: UnsafeMutableRawPointer(mutating: bytes + place))
      node = found
      place &+= roundUp(DeltaNode.size(keyCount: 0, valueCount: found.valueCount), to: 8)
    }
  }
}
