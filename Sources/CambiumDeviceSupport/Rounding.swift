// The functions of the C mathematics library that Swift's own code calls: rounding doubles to whole numbers. Machines
// with an instruction for them, such as wasm32, never call these.
//
// `rounded()` may not be used here, because it is compiled into a call of these functions.

#if hasFeature(Embedded) && os(none) && !arch(wasm32)
  /// The next whole number towards zero, with the sign of the number.
  @inline(__always)
  private func truncated(_ number: Double) -> Double {
    // From 2^52 on, every double is whole.
    guard number.magnitude < 0x1p52 else { return number }
    return withSign(of: number, Double(Int64(number)))
  }

  @inline(__always)
  private func withSign(of number: Double, _ result: Double) -> Double {
    Double(bitPattern: result.magnitude.bitPattern | number.bitPattern & 1 << 63)
  }

  @_cdecl("trunc")
  func truncSymbol(_ number: Double) -> Double { truncated(number) }

  @_cdecl("floor")
  func floorSymbol(_ number: Double) -> Double {
    let whole = truncated(number)
    return whole > number ? whole - 1 : whole
  }

  @_cdecl("ceil")
  func ceilSymbol(_ number: Double) -> Double {
    let whole = truncated(number)
    return whole < number ? withSign(of: number, whole + 1) : whole
  }

  /// To the nearest whole number, and away from zero if two are equally near.
  @_cdecl("round")
  func roundSymbol(_ number: Double) -> Double {
    let whole = truncated(number)
    let rest = (number - whole).magnitude
    return rest >= 0.5 ? withSign(of: number, whole.magnitude + 1) : whole
  }
#endif
