/// How far a key lies between the bounds of a leaf, as the page above has them. If keys are evenly spread, as those of
/// rows and of numbers tend to be, it tells the place in the leaf before anything of the leaf but its first line is
/// there: the lines that matter are then waited for together. From the leaf's own first and last key the place could be
/// told only once both of them have come.
struct KeyShare {
  /// In 65,536ths; -1 if nothing is known.
  private let value: Int32

  static var unknown: KeyShare { KeyShare(value: -1) }

  @inline(__always)
  private init(value: Int32) { self.value = value }

  @inline(__always)
  init(of key: UInt64, from low: UInt64, to high: UInt64) {
    guard key >= low, key < high else {
      value = -1
      return
    }
    let span = high &- low
    // Sixteen bits tell the place well enough, and are divided quickly.
    let dropped = UInt64(truncatingIfNeeded: max(0, 48 &- span.leadingZeroBitCount))
    let share = ((key &- low) &>> dropped) &<< 16 / ((span &>> dropped) | 1)
    value = Int32(truncatingIfNeeded: min(share, 0xFFFF))
  }

  /// The place among so many entries; nil if nothing is known.
  @inline(__always)
  func place(among count: Int) -> Int? {
    if value < 0 || count == 0 { return nil }
    // Both have sixteen bits: what an `Int` of 32 may not hold, an unsigned one does.
    return Int(truncatingIfNeeded: (UInt32(value) &* UInt32(truncatingIfNeeded: count)) &>> 16)
  }
}
