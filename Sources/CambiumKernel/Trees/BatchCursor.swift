/// A position in a batch, or in several of keys at once, as nodes like those of lists. The batches must not be changed meanwhile.
struct BatchCursor {
  /// Where it stands in each batch of keys, and where it writes the present change.
  private final class Keys {
    let batches: [ChangeBatch]
    let scratch = UnsafeMutableRawPointer.allocate(byteCount: ChangeBatch.longestNode, alignment: 16)
    /// Of the batches that are not at their end, the older ones first.
    let heads: UnsafeMutablePointer<ChangeBatch.Head>
    var count = 0

    init(_ batches: [ChangeBatch], _ ranges: [Range<Int>]?) {
      self.batches = batches
      heads = .allocate(capacity: max(1, batches.count))
      for (i, batch) in batches.enumerated() {
        let range = ranges.map { $0[i] } ?? 0..<batch.count
        if range.isEmpty { continue }
        (heads + count).initialize(to: batch.head(range))
        count += 1
      }
    }

    deinit {
      scratch.deallocate()
      heads.deallocate()
    }
  }

  // These keep the memory that the others point to; going on asks them nothing, so that no references are counted for it.
  private let keys: Keys?
  private let rows: RowBatch?

  private let heads: UnsafeMutablePointer<ChangeBatch.Head>?
  private var headCount = 0
  /// Where the present change of batches of keys is written.
  private let scratch: UnsafeMutableRawPointer?
  /// Rows as nodes.
  private let bytes: UnsafeRawPointer?
  private let end: Int
  /// Where the next row lies.
  private var place = 0
  /// Good until the next one is asked for.
  private(set) var node: DeltaNode?

  /// Whether nodes stay good when the next one is asked for.
  var hasLastingNodes: Bool { heads == nil }

  /// - Parameters:
  ///   - batches: sorted; of the changes of one key those of the last batch count.
  ///   - ranges: which of the changes of each are meant; nil for all.
  init(_ batches: [ChangeBatch], within ranges: [Range<Int>]? = nil) {
    let keys = Keys(batches, ranges)
    self.keys = keys
    rows = nil
    heads = keys.heads
    headCount = keys.count
    scratch = keys.scratch
    bytes = nil
    end = 0
    next()
  }

  init(_ batch: RowBatch) {
    keys = nil
    rows = batch
    heads = nil
    scratch = nil
    bytes = UnsafeRawPointer(batch.contents)
    end = batch.bytes
    next()
  }

  @inline(__always)
  mutating func next() {
    if let heads, let scratch {
      nextKey(heads, scratch)
    } else if let bytes, place < end {
      let found = DeltaNode(p: UnsafeMutableRawPointer(mutating: bytes + place))
      node = found
      place &+= roundUp(DeltaNode.size(keyCount: 0, valueCount: found.valueCount), to: 8)
    } else {
      node = nil
    }
  }

  @inline(__always)
  private mutating func nextKey(_ heads: UnsafeMutablePointer<ChangeBatch.Head>, _ scratch: UnsafeMutableRawPointer) {
    if headCount == 0 {
      node = nil
      return
    }
    let best = headCount == 1 ? 0 : least(heads)
    let head = heads[best]
    let change = head.next.pointee
    let key = TreeKey(head: change.head, bytes: head.bytes + Int(change.offset), count: change.count)
    DeltaNode.initializeHeader(
      scratch, sequence: 0, key: key, valueCount: 0, op: change.isPut ? .put : .delete, effect: 0)
    (scratch + DeltaNode.headerSize).copyFew(from: key.bytes, key.count)
    node = DeltaNode(p: scratch)
    heads[best].goOn()
    if heads[best].isAtEnd { remove(best, heads) }
  }

  /// The number of the batch with the least key; of the same in several the last, behind which the others are passed over.
  private mutating func least(_ heads: UnsafeMutablePointer<ChangeBatch.Head>) -> Int {
    var best = 0
    var isSame = false
    for i in 1..<headCount {
      let order = heads[i].order(heads[best])
      if order <= 0 { best = i }
      if order == 0 { isSame = true }
    }
    if !isSame { return best }
    // Few keys are in several.
    var i = 0
    while i < best {
      if heads[i].order(heads[best]) == 0 {
        heads[i].goOn()
        if heads[i].isAtEnd {
          remove(i, heads)
          best -= 1
          continue
        }
      }
      i += 1
    }
    return best
  }

  private mutating func remove(_ i: Int, _ heads: UnsafeMutablePointer<ChangeBatch.Head>) {
    headCount &-= 1
    for k in i..<headCount { heads[k] = heads[k &+ 1] }
  }
}

extension ChangeBatch {
  /// The next change of a batch that is gone through with others.
  struct Head {
    private(set) var next: UnsafePointer<Change>
    private let end: UnsafePointer<Change>
    let bytes: UnsafeRawPointer

    fileprivate init(_ next: UnsafePointer<Change>, count: Int, _ bytes: UnsafeRawPointer) {
      self.next = next
      end = next + count
      self.bytes = bytes
    }

    var isAtEnd: Bool { next == end }

    @inline(__always)
    mutating func goOn() { next += 1 }

    @inline(__always)
    func order(_ other: Head) -> Int {
      let (a, b) = (next.pointee, other.next.pointee)
      if a.head != b.head { return a.head < b.head ? -1 : 1 }
      return compareKeys(
        UnsafeRawBufferPointer(start: bytes + Int(a.offset), count: a.count),
        UnsafeRawBufferPointer(start: other.bytes + Int(b.offset), count: b.count))
    }
  }

  /// Its first change. Good until the batch is changed.
  var head: Head { head(0..<count) }

  /// The first of some changes. Good until the batch is changed.
  fileprivate func head(_ range: Range<Int>) -> Head {
    let contents = contents
    return Head(contents.changes + range.lowerBound, count: range.count, contents.bytes)
  }
}
