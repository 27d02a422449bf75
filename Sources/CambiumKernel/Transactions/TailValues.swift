/// Values that a transaction has put behind the end of a tree, lent to who is told of them.
public struct TailValues: @unchecked Sendable {
  // `@unchecked`: the memory is only read while it is lent.
  private let start: UnsafeRawPointer
  private let byteCount: Int

  init(_ start: UnsafeRawPointer, _ byteCount: Int) {
    self.start = start
    self.byteCount = byteCount
  }

  /// Tells `body` each key and its value, in order, until it answers false. The bytes are lent for the call. O(n).
  public func forEach(_ body: (UInt64, UnsafeRawBufferPointer) -> Bool) {
    var place = 0
    while place < byteCount {
      let node = DeltaNode(p: UnsafeMutableRawPointer(mutating: start + place))
      if !body(node.head, node.value) { return }
      place &+= roundUp(DeltaNode.size(keyCount: 0, valueCount: node.valueCount), to: 8)
    }
  }

  /// The values in up to `most` parts of about as many bytes, of at least `least` each.
  func parts(_ most: Int, least: Int) -> [TailValues] {
    let count = max(1, min(most, byteCount / max(1, least)))
    var parts: [TailValues] = []
    var begin = 0
    var place = 0
    while parts.count + 1 < count {
      let end = byteCount / count * (parts.count + 1)
      while place < end {
        let node = DeltaNode(p: UnsafeMutableRawPointer(mutating: start + place))
        place += roundUp(DeltaNode.size(keyCount: 0, valueCount: node.valueCount), to: 8)
      }
      parts.append(TailValues(start + begin, place - begin))
      begin = place
    }
    parts.append(TailValues(start + begin, byteCount - begin))
    return parts
  }
}

/// Is told of the values that ``WriteTransaction/put(_:behind:_:)`` gathers, each once, before anything that the
/// transaction reads has them: so that what is kept beside them can be gathered together as well, by several threads.
///
/// A rollback to a savepoint is not told: who uses both forgets what it was told since by itself.
public protocol TailObserver: AnyObject {
  /// Values of `tree` are about to be told, in so many parts. Called on the transaction's thread.
  func willTake(from tree: TreeID, parts: Int)

  /// Takes one part. Called with each number at most once, on any thread, with others at the same time, and while the
  /// transaction writes pages: it must not be used.
  func take(_ values: TailValues, part: Int)

  /// All parts were told. Called on the transaction's thread.
  func didTake()
}
