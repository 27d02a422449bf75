/// The ends of a leaf's keys, read where the parts of the keys lie.
///
/// Who puts a key together first, and then reads what lies across its parts, waits for what it has just written: a
/// dozen cycles, more than all the rest takes.
struct KeyEnds {
  private let leaf: BytesLeaf
  private let heads: Int
  private let rests: Int
  /// The last eight bytes of what all keys begin with; zeros before those of a shorter one.
  private let prefix: UInt64

  @inline(__always)
  init(_ leaf: BytesLeaf) {
    self.leaf = leaf
    heads = leaf.headsOffset
    rests = leaf.restsOffset
    prefix = leaf.prefix == 0 ? 0 : Self.last(leaf.prefix, Self.word(leaf.p, endingAt: leaf.headsOffset))
  }

  /// Eight bytes of a page, whose header is longer than that.
  @inline(__always)
  private static func word(_ p: UnsafeRawPointer, endingAt end: Int) -> UInt64 {
    UInt64(bigEndian: p.loadUnaligned(fromByteOffset: end &- 8, as: UInt64.self))
  }

  /// The last so many bytes of a word, at least one.
  @inline(__always)
  private static func last(_ count: Int, _ word: UInt64) -> UInt64 {
    count >= 8 ? word : word & (1 &<< UInt64(truncatingIfNeeded: 8 &* count) &- 1)
  }

  /// The last eight bytes of key `i` as a number that begins with the first of them; zeros before those of a shorter
  /// key.
  @inline(__always)
  private func lastWord(_ i: Int) -> UInt64 {
    let rest = leaf.restRange(i)
    var result: UInt64 = 0
    var count = rest.count
    if count > 0 {
      result = Self.last(count, Self.word(leaf.p, endingAt: rests &+ rest.start &+ count))
      if count >= 8 { return result }
    }
    if leaf.width > 0 {
      let head = Self.last(leaf.width, Self.word(leaf.p, endingAt: heads &+ (i &+ 1) &* leaf.width))
      result |= head &<< UInt64(truncatingIfNeeded: 8 &* count)
      count &+= leaf.width
    }
    return count >= 8 ? result : result | prefix &<< UInt64(truncatingIfNeeded: 8 &* count)
  }

  /// The id of the row at the end of key `i`, as ``KeyDecoder/rowID(atEndOf:)`` gives it; nil for one of seven bytes
  /// and more, and for an end that is no id.
  @inline(__always)
  func rowID(_ i: Int) -> UInt64? {
    let word = lastWord(i)
    let tag = word & 0xFF
    let count = tag &- UInt64(KeyTag.rowID)
    if count > 6 { return nil }
    let id = word &>> 8 & (1 &<< (8 &* count) &- 1)
    // The same tag at both ends, and no leading zeros.
    guard word &>> (8 &* (count &+ 1)) & 0xFF == tag, count == 0 || id &>> (8 &* (count &- 1)) != 0 else { return nil }
    return id
  }
}
