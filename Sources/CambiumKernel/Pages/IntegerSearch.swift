// Where a number stands in the ascending columns of integer pages. Rows are numbered as they are made, so that the
// numbers in a page tend to be evenly spread: a place is guessed from the last one, which spares most of the lines of
// memory that halving would touch, and most of the branches that it would take wrongly.

/// The first of the `count` ascending numbers at `p`, each `width` bytes wide, that is greater than `target`; `count`
/// if there is none.
@inline(__always)
func firstGreater(_ p: UnsafeRawPointer, _ width: Int, _ count: Int, _ target: UInt64) -> Int {
  switch width {
  case 1: return firstGreater(p, UInt8.self, count, target)
  case 2: return firstGreater(p, UInt16.self, count, target)
  case 4: return firstGreater(p, UInt32.self, count, target)
  default: return firstGreater(p, UInt64.self, count, target)
  }
}

@inline(__always)
private func firstGreater<N: FixedWidthInteger & UnsignedInteger>(
  _ p: UnsafeRawPointer, _: N.Type, _ count: Int, _ target: UInt64
) -> Int {
  @inline(__always)
  func number(_ i: Int) -> UInt64 {
    UInt64(
      truncatingIfNeeded: N(
        littleEndian: p.loadUnaligned(fromByteOffset: i &* MemoryLayout<N>.size, as: N.self)))
  }
  if count == 0 { return 0 }
  let last = number(count &- 1)
  if target >= last { return count }
  // The target is less than the last number, so that the guess is less than the last place, or 0.
  let (high, low) = target.multipliedFullWidth(by: UInt64(truncatingIfNeeded: count &- 1))
  var i = high == 0 ? Int(truncatingIfNeeded: low / last) : count / 2
  var steps = 0
  if number(i) > target {
    while i > 0, number(i &- 1) > target {
      i &-= 1
      steps &+= 1
      if steps == 8 { return halve(0, i) }
    }
    return i
  }
  repeat {
    i &+= 1
    steps &+= 1
    if steps == 8 { return halve(i, count) }
  } while number(i) <= target
  return i

  /// The same, known to lie from `low` up to and including `high`.
  @inline(never)
  func halve(_ low: Int, _ high: Int) -> Int {
    var low = low
    var length = high &- low
    while length > 0 {
      let half = length &>> 1
      let notGreater = number(low &+ half) <= target
      low = notGreater ? low &+ half &+ 1 : low
      length = notGreater ? length &- half &- 1 : half
    }
    return low
  }
}
