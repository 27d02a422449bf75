// The arithmetic of 128 bits that the compiler calls functions of compiler-rt for: on wasm32 all of it, on RISC-V of 32
// bits the division. For ARM the compiler writes it out, and calls nothing.
//
// A number of 128 bits is two of 64, the lower one first. The result goes to the address in the first argument. wasm32
// passes the numbers themselves, RISC-V their addresses. None of these functions may use a type of 128 bits, because
// the compiler would turn that into a call of these functions.

#if hasFeature(Embedded) && os(none) && (arch(wasm32) || arch(riscv32))
  private typealias Wide = (low: UInt64, high: UInt64)

  @inline(__always)
  private func store(_ result: UnsafeMutablePointer<UInt64>, _ value: Wide) {
    result[0] = value.low
    result[1] = value.high
  }

  @inline(__always)
  private func shiftedLeft(_ a: Wide, _ count: UInt64) -> Wide {
    if count == 0 { return a }
    if count >= 64 { return (0, a.low &<< (count &- 64)) }
    return (a.low &<< count, a.high &<< count | a.low &>> (64 &- count))
  }

  @inline(__always)
  private func shiftedRight(_ a: Wide, _ count: UInt64) -> Wide {
    if count == 0 { return a }
    if count >= 64 { return (a.high &>> (count &- 64), 0) }
    return (a.low &>> count | a.high &<< (64 &- count), a.high &>> count)
  }

  @inline(__always)
  private func negated(_ a: Wide) -> Wide { (0 &- a.low, ~a.high &+ (a.low == 0 ? 1 : 0)) }

  @inline(__always)
  private func isBelow(_ a: Wide, _ b: Wide) -> Bool { a.high != b.high ? a.high < b.high : a.low < b.low }

  private func leadingZeros(_ a: Wide) -> UInt64 {
    UInt64(truncatingIfNeeded: a.high != 0 ? a.high.leadingZeroBitCount : 64 &+ a.low.leadingZeroBitCount)
  }

  /// Divides bit by bit. A division by zero gives zero: Swift checks for it before.
  @inline(never)
  private func divided(_ a: Wide, _ b: Wide) -> (quotient: Wide, remainder: Wide) {
    if a.high == 0, b.high == 0, b.low != 0 { return ((a.low / b.low, 0), (a.low % b.low, 0)) }
    if isBelow(a, b) || (b.low == 0 && b.high == 0) { return ((0, 0), a) }
    let most = leadingZeros(b) &- leadingZeros(a)
    var (rest, part, quotient) = (a, shiftedLeft(b, most), Wide(0, 0))
    for _ in 0...most {
      quotient = shiftedLeft(quotient, 1)
      if !isBelow(rest, part) {
        rest = (rest.low &- part.low, rest.high &- part.high &- (rest.low < part.low ? 1 : 0))
        quotient.low |= 1
      }
      part = shiftedRight(part, 1)
    }
    return (quotient, rest)
  }

  /// Divides numbers with a sign, and rounds towards zero. The remainder has the sign of `a`.
  @inline(__always)
  private func dividedSigned(_ a: Wide, _ b: Wide) -> (quotient: Wide, remainder: Wide) {
    let (isNegative, isNegativeDivisor) = (a.high &>> 63 == 1, b.high &>> 63 == 1)
    let (quotient, remainder) = divided(isNegative ? negated(a) : a, isNegativeDivisor ? negated(b) : b)
    return (
      isNegative != isNegativeDivisor ? negated(quotient) : quotient, isNegative ? negated(remainder) : remainder
    )
  }
#endif

#if hasFeature(Embedded) && os(none) && arch(wasm32)
  @_cdecl("__multi3")
  func multiply128(
    _ result: UnsafeMutablePointer<UInt64>, _ aLow: UInt64, _ aHigh: UInt64, _ bLow: UInt64, _ bHigh: UInt64
  ) {
    let (a0, a1) = (aLow & 0xFFFF_FFFF, aLow &>> 32)
    let (b0, b1) = (bLow & 0xFFFF_FFFF, bLow &>> 32)
    let first = a0 &* b0
    let second = a1 &* b0 &+ first &>> 32
    let third = a0 &* b1 &+ second & 0xFFFF_FFFF
    let high = a1 &* b1 &+ second &>> 32 &+ third &>> 32
    store(result, (third &<< 32 | first & 0xFFFF_FFFF, high &+ aHigh &* bLow &+ aLow &* bHigh))
  }

  @_cdecl("__ashlti3")
  func shiftLeft128(_ result: UnsafeMutablePointer<UInt64>, _ low: UInt64, _ high: UInt64, _ count: CInt) {
    store(result, shiftedLeft((low, high), UInt64(truncatingIfNeeded: count & 127)))
  }

  @_cdecl("__lshrti3")
  func shiftRight128(_ result: UnsafeMutablePointer<UInt64>, _ low: UInt64, _ high: UInt64, _ count: CInt) {
    store(result, shiftedRight((low, high), UInt64(truncatingIfNeeded: count & 127)))
  }

  @_cdecl("__ashrti3")
  func shiftRightSigned128(_ result: UnsafeMutablePointer<UInt64>, _ low: UInt64, _ high: UInt64, _ count: CInt) {
    let count = UInt64(truncatingIfNeeded: count & 127)
    let isNegative = high &>> 63 == 1
    // Of a negative number, the bits that come in from the left are ones.
    let shifted = shiftedRight(isNegative ? (~low, ~high) : (low, high), count)
    store(result, isNegative ? (~shifted.low, ~shifted.high) : shifted)
  }

  @_cdecl("__udivti3")
  func divideUnsigned128(
    _ result: UnsafeMutablePointer<UInt64>, _ aLow: UInt64, _ aHigh: UInt64, _ bLow: UInt64, _ bHigh: UInt64
  ) {
    store(result, divided((aLow, aHigh), (bLow, bHigh)).quotient)
  }

  @_cdecl("__umodti3")
  func remainderUnsigned128(
    _ result: UnsafeMutablePointer<UInt64>, _ aLow: UInt64, _ aHigh: UInt64, _ bLow: UInt64, _ bHigh: UInt64
  ) {
    store(result, divided((aLow, aHigh), (bLow, bHigh)).remainder)
  }

  @_cdecl("__divti3")
  func divideSigned128(
    _ result: UnsafeMutablePointer<UInt64>, _ aLow: UInt64, _ aHigh: UInt64, _ bLow: UInt64, _ bHigh: UInt64
  ) {
    store(result, dividedSigned((aLow, aHigh), (bLow, bHigh)).quotient)
  }

  @_cdecl("__modti3")
  func remainderSigned128(
    _ result: UnsafeMutablePointer<UInt64>, _ aLow: UInt64, _ aHigh: UInt64, _ bLow: UInt64, _ bHigh: UInt64
  ) {
    store(result, dividedSigned((aLow, aHigh), (bLow, bHigh)).remainder)
  }
#endif

#if hasFeature(Embedded) && os(none) && arch(riscv32)
  @inline(__always)
  private func load(_ number: UnsafePointer<UInt64>) -> Wide { (number[0], number[1]) }

  @_cdecl("__udivti3")
  func divideUnsigned128(
    _ result: UnsafeMutablePointer<UInt64>, _ a: UnsafePointer<UInt64>, _ b: UnsafePointer<UInt64>
  ) {
    store(result, divided(load(a), load(b)).quotient)
  }

  @_cdecl("__umodti3")
  func remainderUnsigned128(
    _ result: UnsafeMutablePointer<UInt64>, _ a: UnsafePointer<UInt64>, _ b: UnsafePointer<UInt64>
  ) {
    store(result, divided(load(a), load(b)).remainder)
  }

  @_cdecl("__divti3")
  func divideSigned128(
    _ result: UnsafeMutablePointer<UInt64>, _ a: UnsafePointer<UInt64>, _ b: UnsafePointer<UInt64>
  ) {
    store(result, dividedSigned(load(a), load(b)).quotient)
  }

  @_cdecl("__modti3")
  func remainderSigned128(
    _ result: UnsafeMutablePointer<UInt64>, _ a: UnsafePointer<UInt64>, _ b: UnsafePointer<UInt64>
  ) {
    store(result, dividedSigned(load(a), load(b)).remainder)
  }
#endif
