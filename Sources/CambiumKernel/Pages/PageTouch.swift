/// Has lines of a leaf brought from memory while its first one is still waited for, which says what lies where: a leaf
/// that is not in the processor's caches would otherwise be waited for line after line. What is guessed wrongly costs
/// next to nothing.
///
/// The same for places between which a search among keys of bytes decides first made these searches slower: they have
/// few lines to wait for, and these have more to load. What helps these is the one place that the page above tells.
enum PageTouch {
  private static let line = 64

  @inline(__always)
  private static func touch(_ page: UnsafeRawPointer, _ offset: Int) {
    MemoryTouch.touch(page + (offset & ~7))
  }

  /// The value that an integer key leads to: where keys have no gaps, and the values of a leaf are of about one length,
  /// it is known well enough where that lies.
  ///
  /// - Parameters:
  ///   - i: the place among the children of `inner` of the leaf.
  ///   - length: of the leaf, in bytes.
  @inline(__always)
  static func value(
    of key: UInt64, child i: Int, of inner: IntegerInner, in leaf: UnsafeRawPointer, _ length: Int
  ) {
    if i == 0 || i &+ 1 >= inner.count { return }
    let low = inner.separator(i)
    let count = inner.separator(i &+ 1) &- low
    let place = key &- low
    // With more there are gaps, or the values are short.
    if count > 128 || place >= count { return }
    let ends = UInt32(IntegerLeaf.keysOffset) &+ UInt32(truncatingIfNeeded: count) &* 2
    let bytes = UInt32(truncatingIfNeeded: length)
    if bytes <= ends { return }
    let size = (bytes &- ends) / UInt32(truncatingIfNeeded: count)
    var offset = Int(ends &+ size &* UInt32(truncatingIfNeeded: place))
    let end = min(offset &+ Int(size), length &- MemoryLayout<UInt>.size)
    while offset <= end {
      touch(leaf, offset)
      offset &+= line
    }
  }

  /// What a leaf of byte keys has of an entry that a search begins at, its head aside. (More lines about it brought
  /// nothing.)
  @inline(__always)
  static func rest(of i: Int, in leaf: BytesLeaf) {
    let rests = leaf.restsOffset
    if leaf.isFixed { return touch(leaf.p, rests &+ i &* leaf.p.pageFixed) }
    touch(leaf.p, leaf.restEnds &+ i &* 2)
    // Behind the rests there is nothing, and they are of about one length.
    if !leaf.hasValues { touch(leaf.p, rests &+ (leaf.p.pageLength &- rests) &* i / leaf.count) }
  }
}
