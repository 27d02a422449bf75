// Inner pages. Child 0 has no key of its own: whatever is less than the first separator goes there. `low` is the lower
// bound of the whole page as its parent knows it; with it a page can be found again from its content alone.
//
// Integer keys:
//     32        40       48                        +(count-1)*width   +count*16   +count*countWidth
//     +---------+--------+-------------------------+------------------+-----------+
//     | low     | base   | separator i+1 - base    | references       | entries   |
//     | (u64)   | (u64)  | (width), i in 0..<n-1   | (PageRef)        | below     |
//     +---------+--------+-------------------------+------------------+-----------+
//
// Byte keys:
//     32       +prefix  +(n-1)*width  +(n-1)*2      +n*16        +n*countWidth
//     +--------+--------+-------------+-------------+------------+-----------+-----------------+-----+
//     | prefix | heads  | ends of     | references  | entries    | length of | rests           | low |
//     |        |        | rests (u16, |             | below      | low (u16) |                 |     |
//     |        |        | absent if   |             |            |           |                 |     |
//     |        |        | fixed)      |             |            |           |                 |     |
//     +--------+--------+-------------+-------------+------------+-----------+-----------------+-----+
//
// "Entries below" counts the entries of each child's whole subtree: a range's size, and the n-th entry, cost one
// descent.

struct IntegerInner {
  let p: UnsafeRawPointer
  let count: Int
  let width: Int
  let base: UInt64

  static let keysOffset = 48

  @inline(__always)
  init(_ page: UnsafeRawPointer) {
    p = page
    count = page.pageCount
    width = page.pageWidth
    base = page.u64(40)
  }

  @inline(__always) var low: UInt64 { p.u64(32) }
  @inline(__always) var refsOffset: Int { Self.keysOffset &+ (count &- 1) &* width }
  @inline(__always) var countsOffset: Int { refsOffset &+ count &* PageRef.size }

  /// The lower bound of child `i`, for `i` > 0.
  @inline(__always)
  func separator(_ i: Int) -> UInt64 { base &+ loadWidth(p + Self.keysOffset, width, i &- 1) }

  @inline(__always)
  func ref(_ i: Int) -> PageRef { PageRef(p, refsOffset &+ i &* PageRef.size) }

  func entries(_ i: Int) -> UInt64 { loadWidth(p + countsOffset, p.pageCountWidth, i) }

  /// The last child whose lower bound is at most `key`.
  @inline(__always)
  func child(_ key: UInt64) -> Int {
    if count == 1 || key < base { return 0 }
    return firstGreater(p + Self.keysOffset, width, count &- 1, key &- base)
  }

  static func isSound(_ p: UnsafeRawPointer) -> Bool {
    let inner = IntegerInner(p)
    let w = inner.width
    let cw = p.pageCountWidth
    guard Verification.innerCount.holds(inner.count > 0), Verification.innerLevel.holds(p.pageLevel > 0),
      Verification.innerWidth.holds(w == 1 || w == 2 || w == 4 || w == 8),
      Verification.innerCountWidth.holds(cw == 1 || cw == 2 || cw == 4 || cw == 8),
      Verification.innerArrays.holds(inner.countsOffset + inner.count * cw <= p.pageLength)
    else { return false }
    // As in leaves.
    guard Verification.innerOrder.holds(inner.count < 2 || inner.separator(1) >= inner.base) else { return false }
    var i = 2
    while i < inner.count {
      guard Verification.innerOrder.holds(inner.separator(i) > inner.separator(i - 1)) else { return false }
      i += 1
    }
    return true
  }
}

struct BytesInner {
  let p: UnsafeRawPointer
  let count: Int
  let prefix: Int
  let width: Int
  let fixed: Int

  @inline(__always)
  init(_ page: UnsafeRawPointer) {
    p = page
    count = page.pageCount
    prefix = page.pagePrefix
    width = page.pageWidth
    fixed = page.pageFlags & PageHeader.flagFixedKeys != 0 ? page.pageFixed : -1
  }

  @inline(__always) var headsOffset: Int { PageHeader.size &+ prefix }
  @inline(__always) var restEnds: Int { headsOffset &+ (count &- 1) &* width }
  @inline(__always) var refsOffset: Int { restEnds &+ (fixed >= 0 ? 0 : (count &- 1) &* 2) }
  @inline(__always) var countsOffset: Int { refsOffset &+ count &* PageRef.size }
  @inline(__always) var lowLengthOffset: Int { countsOffset &+ count &* p.pageCountWidth }
  @inline(__always) var restsOffset: Int { lowLengthOffset &+ 2 }
  @inline(__always) var restsLength: Int {
    if count <= 1 { return 0 }
    return fixed >= 0 ? (count &- 1) &* fixed : Int(p.u16(restEnds &+ (count &- 2) &* 2))
  }

  var low: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: p + restsOffset + restsLength, count: Int(p.u16(lowLengthOffset)))
  }

  @inline(__always)
  var column: KeyColumn {
    KeyColumn(
      p: p, count: count &- 1, prefixOffset: PageHeader.size, prefix: prefix, headsOffset: headsOffset, width: width,
      restEnds: restEnds, fixed: fixed, restsOffset: restsOffset)
  }

  @inline(__always)
  func ref(_ i: Int) -> PageRef { PageRef(p, refsOffset &+ i &* PageRef.size) }

  func entries(_ i: Int) -> UInt64 { loadWidth(p + countsOffset, p.pageCountWidth, i) }

  /// The last child whose lower bound is at most `key`.
  @inline(__always)
  func child(_ key: TreeKey) -> Int {
    let (index, found) = column.lowerBound(key)
    return found ? index &+ 1 : index
  }

  /// How far a key that leads to child `i` lies between its bound and the next one's.
  @inline(__always)
  func share(of key: TreeKey, child i: Int) -> KeyShare {
    if i == 0 || i &+ 1 >= count { return .unknown }
    let column = column
    return KeyShare(of: column.number(key), from: column.number(i &- 1), to: column.number(i))
  }

  func separatorLength(_ i: Int) -> Int { prefix &+ width &+ column.rest(i &- 1).count }

  /// Writes the lower bound of child `i` (`i` > 0) to `out` and returns its length.
  func copySeparator(_ i: Int, to out: UnsafeMutableRawPointer) -> Int {
    if prefix > 0 { out.copyMemory(from: p + PageHeader.size, byteCount: prefix) }
    if width > 0 { (out + prefix).copyMemory(from: p + headsOffset + (i &- 1) &* width, byteCount: width) }
    let rest = column.rest(i &- 1)
    if rest.count > 0 { (out + prefix + width).copyMemory(from: p + restsOffset + rest.start, byteCount: rest.count) }
    return prefix &+ width &+ rest.count
  }

  static func isSound(_ p: UnsafeRawPointer) -> Bool {
    let inner = BytesInner(p)
    let length = p.pageLength
    let w = inner.width
    let cw = p.pageCountWidth
    guard Verification.innerCount.holds(inner.count > 0), Verification.innerLevel.holds(p.pageLevel > 0),
      Verification.innerWidth.holds(w == 0 || w == 1 || w == 2 || w == 4 || w == 8),
      Verification.innerCountWidth.holds(cw == 1 || cw == 2 || cw == 4 || cw == 8),
      Verification.innerArrays.holds(inner.restsOffset <= length)
    else { return false }
    if inner.fixed < 0 {
      var previous = 0
      var i = 0
      while i < inner.count - 1 {
        let end = Int(p.u16(inner.restEnds + i * 2))
        guard Verification.innerRests.holds(end >= previous) else { return false }
        previous = end
        i += 1
      }
    }
    return Verification.innerEnd.holds(
      inner.restsOffset + inner.restsLength + Int(p.u16(inner.lowLengthOffset)) <= length)
  }
}

enum PageCheck {
  /// Whether the page at `p`, `stored` bytes long, has a sound structure: nothing that is read from it afterwards lies
  /// outside it. The order of byte keys is left to `check()`.
  static func isSound(_ p: UnsafeRawPointer, stored: Int) -> Bool {
    guard stored >= PageHeader.size,
      Verification.pageLength.holds(p.pageLength <= stored && p.pageLength >= shortest(p))
    else { return false }
    switch PageKind(rawValue: p.pageKind) {
    case .integerLeaf: return Verification.leafLevel.holds(p.pageLevel == 0) && IntegerLeaf.isSound(p)
    case .bytesLeaf: return Verification.leafLevel.holds(p.pageLevel == 0) && BytesLeaf.isSound(p)
    case .integerInner: return IntegerInner.isSound(p)
    case .bytesInner: return BytesInner.isSound(p)
    case .directory: return true
    case nil: return false
    }
  }

  /// The fields of fixed size.
  private static func shortest(_ p: UnsafeRawPointer) -> Int {
    switch PageKind(rawValue: p.pageKind) {
    case .integerLeaf: return IntegerLeaf.keysOffset
    case .integerInner: return IntegerInner.keysOffset
    default: return PageHeader.size
    }
  }
}
