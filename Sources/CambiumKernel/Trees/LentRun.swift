/// Entries of a tree with integer keys that follow one another, lent where they lie: see
/// ``TreeView/forEachRun(_:isSparse:_:)``.
///
/// Good for the call that lends it.
public struct LentRun {
  @usableFromInline let keys: UnsafeRawPointer
  @usableFromInline let width: Int
  @usableFromInline let base: UInt64
  @usableFromInline let ends: UnsafeRawPointer
  @usableFromInline let values: UnsafeRawPointer
  /// Of a run of one entry that lies by itself; else -1.
  @usableFromInline let count: Int
  /// The numbers of the entries, for ``key(_:)`` and ``value(_:)``.
  public let indices: Range<Int>

  /// Entries of a leaf, none of which is a reference to a large value.
  init(_ leaf: IntegerLeaf, _ indices: Range<Int>) {
    keys = leaf.p + IntegerLeaf.keysOffset
    width = leaf.width
    base = leaf.base
    ends = leaf.p + leaf.endsOffset
    values = leaf.p + leaf.valuesOffset
    count = -1
    self.indices = indices
  }

  /// One entry.
  init(_ key: UInt64, _ value: UnsafeRawBufferPointer) {
    keys = value.start
    width = 0
    base = key
    ends = keys
    values = keys
    count = value.count
    indices = 0..<1
  }

  /// The key of an entry.
  @inlinable @inline(__always)
  public func key(_ i: Int) -> UInt64 { base &+ loadWidth(keys, width, i) }

  /// The value of an entry.
  @inlinable @inline(__always)
  public func value(_ i: Int) -> UnsafeRawBufferPointer {
    if count >= 0 { return UnsafeRawBufferPointer(start: values, count: count) }
    let start = i == 0 ? 0 : Int(ends.u16((i &- 1) &* 2))
    return UnsafeRawBufferPointer(start: values + start, count: Int(ends.u16(i &* 2)) &- start)
  }

  /// Tells `body` the numbers and values of some entries, in order.
  @inlinable @inline(__always)
  func forEachValue(_ entries: Range<Int>, _ body: (Int, UnsafeRawBufferPointer) -> Void) {
    var i = entries.lowerBound
    if count >= 0 {
      while i < entries.upperBound {
        body(i, value(i))
        i &+= 1
      }
      return
    }
    // The end of one is where the next one begins.
    var start = i == 0 ? 0 : Int(ends.u16((i &- 1) &* 2))
    while i < entries.upperBound {
      let end = Int(ends.u16(i &* 2))
      body(i, UnsafeRawBufferPointer(start: values + start, count: end &- start))
      start = end
      i &+= 1
    }
  }
}
