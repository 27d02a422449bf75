/// Goes once through the changes of several batches of keys, in order; of the changes of one key those of the last
/// batch count. The batches must not be changed meanwhile.
final class KeyCursor {
  private let batches: [ChangeBatch]
  // Plain memory, and no checks at run time: it is gone through for every key, and nothing that it calls comes back to
  // it.
  /// Of the batches that are not at their end, the older ones first.
  private let heads: UnsafeMutablePointer<ChangeBatch.Head>
  @exclusivity(unchecked) private var count = 0

  /// - Parameters:
  ///   - batches: sorted.
  ///   - ranges: which of the changes of each are meant; nil for all.
  init(_ batches: [ChangeBatch], within ranges: [Range<Int>]? = nil) {
    self.batches = batches
    heads = .allocate(capacity: max(1, batches.count))
    for (i, batch) in batches.enumerated() {
      let range = ranges.map { $0[i] } ?? 0..<batch.count
      if range.isEmpty { continue }
      (heads + count).initialize(to: batch.head(range))
      count += 1
    }
  }

  deinit { heads.deallocate() }

  /// The next change, and what its key's offset counts from; nil at the end.
  @inline(__always)
  func next() -> (change: ChangeBatch.Change, bytes: UnsafeRawPointer)? {
    if count == 0 { return nil }
    let best = count == 1 ? 0 : least()
    let head = heads[best]
    heads[best].goOn()
    if heads[best].isAtEnd { remove(best) }
    return (head.next.pointee, head.bytes)
  }

  /// The number of the batch with the least key; of the same in several the last, behind which the others are passed
  /// over.
  private func least() -> Int {
    var best = 0
    var isSame = false
    for i in 1..<count {
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
          remove(i)
          best -= 1
          continue
        }
      }
      i += 1
    }
    return best
  }

  private func remove(_ i: Int) {
    count &-= 1
    for k in i..<count { heads[k] = heads[k &+ 1] }
  }
}

extension ChangeBatch.Change {
  /// The key, where the keys of its batch lie.
  @inline(__always)
  func key(in bytes: UnsafeRawPointer) -> TreeKey { TreeKey(head: head, bytes: bytes + Int(offset), count: count) }
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
      TreeKey.compare(next.pointee.key(in: bytes), other.next.pointee.key(in: other.bytes))
    }
  }

  /// The first of some changes. Good until the batch is changed.
  func head(_ range: Range<Int>) -> Head {
    let contents = contents
    return Head(contents.changes + range.lowerBound, count: range.count, contents.bytes)
  }
}
