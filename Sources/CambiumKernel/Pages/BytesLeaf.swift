// A leaf of a tree with byte-string keys. All keys of the page share `prefix`; the next `width` bytes of each (its
// head: 0, 1, 2, 4 or 8, as many as the shortest key has) stand in an array, so that a search hardly ever leaves it;
// what is left of the keys (the rests) and the values follow.
//
//     32       +prefix            +count*width      +count*2           +count*2          [bitmap]
//     +--------+------------------+-----------------+------------------+---------+-------+--------+
//     | prefix | heads            | ends of rests   | ends of values   | stub    | rests | values |
//     |        |                  | (u16), absent   | (u16), absent if | bits    |       |        |
//     |        |                  | if fixed        | there are none   |         |       |        |
//     +--------+------------------+-----------------+------------------+---------+-------+--------+
//
// An index whose keys differ only in their last two bytes thus costs two bytes an entry.

struct BytesLeaf {
  let p: UnsafeRawPointer
  let count: Int
  let prefix: Int
  let width: Int
  let flags: UInt8

  @inline(__always)
  init(_ page: UnsafeRawPointer) {
    p = page
    count = page.pageCount
    prefix = page.pagePrefix
    width = page.pageWidth
    flags = page.pageFlags
  }

  @inline(__always) var headsOffset: Int { PageHeader.size &+ prefix }
  @inline(__always) var isFixed: Bool { flags & PageHeader.flagFixedKeys != 0 }
  @inline(__always) var hasValues: Bool { flags & PageHeader.flagNoValues == 0 }
  @inline(__always) var hasStubs: Bool { flags & PageHeader.flagStubs != 0 }
  @inline(__always) var restEnds: Int { headsOffset &+ count &* width }
  @inline(__always) var valueEnds: Int { restEnds &+ (isFixed ? 0 : count &* 2) }
  @inline(__always) var bitmapOffset: Int { valueEnds &+ (hasValues ? count &* 2 : 0) }
  @inline(__always) var restsOffset: Int { bitmapOffset &+ (hasStubs ? (count &+ 7) / 8 : 0) }
  @inline(__always) var restsLength: Int {
    if count == 0 { return 0 }
    return isFixed ? count &* p.pageFixed : Int(p.u16(restEnds &+ (count &- 1) &* 2))
  }
  @inline(__always) var valuesOffset: Int { restsOffset &+ restsLength }

  @inline(__always)
  func restRange(_ i: Int) -> (start: Int, count: Int) {
    if isFixed {
      let fixed = p.pageFixed
      return (i &* fixed, fixed)
    }
    let start = i == 0 ? 0 : Int(p.u16(restEnds &+ (i &- 1) &* 2))
    return (start, Int(p.u16(restEnds &+ i &* 2)) &- start)
  }

  @inline(__always)
  func keyLength(_ i: Int) -> Int { prefix &+ width &+ restRange(i).count }

  /// Writes the whole key of entry `i` to `out`, which has room for it, and returns its length.
  @inline(__always)
  func copyKey(_ i: Int, to out: UnsafeMutableRawPointer) -> Int {
    copyPrefix(to: out)
    return copyTail(i, to: out)
  }

  /// Writes what all keys begin with.
  @inline(__always)
  func copyPrefix(to out: UnsafeMutableRawPointer) {
    if prefix > 0 { out.copyFew(from: p + PageHeader.size, prefix) }
  }

  /// Writes the key of entry `i` behind what all keys begin with, which is there already, and returns its whole length.
  @inline(__always)
  func copyTail(_ i: Int, to out: UnsafeMutableRawPointer) -> Int {
    if width > 0 { (out + prefix).copyFew(from: p + headsOffset + i &* width, width) }
    let rest = restRange(i)
    if rest.count > 0 { (out + prefix + width).copyFew(from: p + restsOffset + rest.start, rest.count) }
    return prefix &+ width &+ rest.count
  }

  @inline(__always)
  func value(_ i: Int) -> UnsafeRawBufferPointer {
    if !hasValues { return UnsafeRawBufferPointer(start: p, count: 0) }
    let ends = valueEnds
    let start = i == 0 ? 0 : Int(p.u16(ends &+ (i &- 1) &* 2))
    let end = Int(p.u16(ends &+ i &* 2))
    return UnsafeRawBufferPointer(start: p + valuesOffset + start, count: end &- start)
  }

  @inline(__always)
  func isStub(_ i: Int) -> Bool {
    hasStubs && p.u8(bitmapOffset &+ i / 8) & (1 &<< UInt8(truncatingIfNeeded: i & 7)) != 0
  }

  /// The first entry whose key is not less than `key`; `count` if there is none.
  ///
  /// - Parameter share: how far into the page the key lies, as far as the page above tells.
  func lowerBound(_ key: TreeKey, share: KeyShare = .unknown) -> (index: Int, found: Bool) {
    var guess = -1
    if let place = share.place(among: count) {
      guess = place
      PageTouch.rest(of: place, in: self)
    }
    return KeyColumn(
      p: p, count: count, prefixOffset: PageHeader.size, prefix: prefix, headsOffset: headsOffset, width: width,
      restEnds: restEnds, fixed: isFixed ? p.pageFixed : -1, restsOffset: restsOffset
    ).lowerBound(key, guess: guess)
  }

  /// Whether the structure is sound: asked once, when the page is read from the device.
  static func isSound(_ p: UnsafeRawPointer) -> Bool {
    let leaf = BytesLeaf(p)
    let length = p.pageLength
    let w = leaf.width
    guard Verification.leafCount.holds(leaf.count > 0),
      Verification.leafWidth.holds(w == 0 || w == 1 || w == 2 || w == 4 || w == 8),
      Verification.leafArrays.holds(leaf.restsOffset <= length)
    else { return false }
    if !leaf.isFixed {
      var previous = 0
      for i in 0..<leaf.count {
        let end = Int(p.u16(leaf.restEnds + i * 2))
        guard Verification.leafRests.holds(end >= previous) else { return false }
        previous = end
      }
    }
    guard Verification.leafValuesStart.holds(leaf.valuesOffset <= length) else { return false }
    if leaf.hasValues {
      var previous = 0
      for i in 0..<leaf.count {
        let end = Int(p.u16(leaf.valueEnds + i * 2))
        guard Verification.leafValuesOrder.holds(end >= previous),
          Verification.leafValuesEnd.holds(leaf.valuesOffset + end <= length),
          Verification.leafStub.holds(!leaf.isStub(i) || end - previous == LargeValueStub.size)
        else { return false }
        previous = end
      }
      return true
    }
    return Verification.leafStubValues.holds(!leaf.hasStubs)
  }
}

/// A sorted column of byte keys as leaves and inner pages store it.
struct KeyColumn {
  let p: UnsafeRawPointer
  let count: Int
  let prefixOffset: Int
  let prefix: Int
  let headsOffset: Int
  let width: Int
  let restEnds: Int
  let fixed: Int
  let restsOffset: Int

  @inline(__always)
  func head(_ i: Int) -> UInt64 {
    let q = p + headsOffset
    switch width {
    case 0: return 0
    case 1: return UInt64(q.u8(i))
    case 2: return UInt64(UInt16(bigEndian: q.loadUnaligned(fromByteOffset: i &* 2, as: UInt16.self)))
    case 4: return UInt64(UInt32(bigEndian: q.loadUnaligned(fromByteOffset: i &* 4, as: UInt32.self)))
    default: return UInt64(bigEndian: q.loadUnaligned(fromByteOffset: i &* 8, as: UInt64.self))
    }
  }

  @inline(__always)
  func rest(_ i: Int) -> (start: Int, count: Int) {
    if fixed >= 0 { return (i &* fixed, fixed) }
    let start = i == 0 ? 0 : Int(p.u16(restEnds &+ (i &- 1) &* 2))
    return (start, Int(p.u16(restEnds &+ i &* 2)) &- start)
  }

  /// The bytes of a key behind what all of the page share, as a number: eight of them.
  @inline(__always)
  func number(_ key: TreeKey) -> UInt64 {
    key.count <= prefix ? 0 : keyHead(key.bytes + prefix, min(8, key.count &- prefix))
  }

  /// The same of the key of an entry.
  @inline(__always)
  func number(_ i: Int) -> UInt64 {
    if width == 8 { return head(i) }
    let rest = rest(i)
    let behind = keyHead(p + restsOffset + rest.start, min(8 &- width, rest.count)) &>> UInt64(8 &* width)
    return width == 0 ? behind : head(i) &<< UInt64(64 &- 8 &* width) | behind
  }

  /// The first entry not less than `key`, and whether it equals it.
  ///
  /// - Parameter told: an entry that it may be near, of this column; -1 if nothing is known.
  @inline(__always)
  func lowerBound(_ key: TreeKey, guess told: Int = -1) -> (index: Int, found: Bool) {
    // As a rule the key has the prefix: the page above has led here.
    if key.count < prefix || !areEqual(key.bytes, p + prefixOffset, prefix) {
      let shared = key.count < prefix ? key.count : prefix
      let order = compareBytes(key.bytes, shared, p + prefixOffset, shared)
      if order < 0 || (order == 0 && key.count < prefix) { return (0, false) }
      if order > 0 { return (count, false) }
    }
    let left = key.count &- prefix
    let tail = key.bytes + prefix
    var wanted: UInt64 = 0
    if width > 0 {
      wanted = keyHead(tail, left < width ? left : width) &>> UInt64(64 &- 8 &* width)
    }
    let isShort = left < width
    let rests = p + restsOffset
    /// The order of an entry and the key.
    @inline(__always)
    func order(_ i: Int) -> Int {
      let h = head(i)
      if h != wanted { return h < wanted ? -1 : 1 }
      if isShort { return 1 }
      let r = rest(i)
      return compareBytes(rests + r.start, r.count, tail + width, left &- width)
    }
    var low = 0
    var length = count
    var found = false
    if width > 1, count > 15, let guess = told < 0 ? guess(wanted) : told {
      // From the guess on in growing steps: what was meant to be near mostly is, and most of the lines of memory and of
      // the branches that halving would take are spared.
      var step = 4
      let first = order(guess)
      if first < 0 {
        low = guess &+ 1
        var probe = guess &+ step
        while probe < count {
          let order = order(probe)
          if order >= 0 {
            found = order == 0
            break
          }
          low = probe &+ 1
          step &*= 2
          probe &+= step
        }
        length = (probe < count ? probe : count) &- low
      } else {
        found = first == 0
        var high = guess
        var probe = guess &- step
        while probe >= 0 {
          let order = order(probe)
          if order < 0 {
            low = probe &+ 1
            break
          }
          if order == 0 { found = true }
          high = probe
          step &*= 2
          probe &-= step
        }
        length = high &- low
      }
    }
    while length > 0 {
      let half = length &>> 1
      let middle = low &+ half
      let order = order(middle)
      if order < 0 {
        low = middle &+ 1
        length = length &- half &- 1
      } else {
        if order == 0 { found = true }
        length = half
      }
    }
    return (low, found)
  }

  /// Where a head would be if all were evenly spread, as those of rows and of numbers tend to be; nil where it is not
  /// between the first and the last.
  @inline(__always)
  private func guess(_ wanted: UInt64) -> Int? {
    let first = head(0)
    let last = head(count &- 1)
    guard wanted > first, wanted < last else { return nil }
    let span = last &- first
    // Sixteen bits tell the place well enough, and are divided quickly. A page has fewer than 2^16 entries.
    let dropped = UInt64(truncatingIfNeeded: max(0, 48 &- span.leadingZeroBitCount))
    let share = ((wanted &- first) &>> dropped) &* UInt64(truncatingIfNeeded: count &- 1) / ((span &>> dropped) | 1)
    return min(Int(truncatingIfNeeded: share), count &- 1)
  }
}
