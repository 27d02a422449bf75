import CambiumKernel

// Arithmetic of decimals. Sums, differences and products are exact while the coefficient holds their digits (38, and
// some numbers of 39), else rounded half to even in its last digit, as quotients are. Nil: too large.
extension DecimalValue {
  /// Rounds `±(high × 2^128 + low) × 10^exponent` to a decimal.
  ///
  /// - Parameter isInexact: Whether the number is a little more than that, by less than half of its last digit.
  private static func rounded(
    isNegative: Bool, high: UInt128 = 0, low: UInt128, exponent: Int, isInexact: Bool = false
  ) -> DecimalValue? {
    var (high, low, power) = (high, low, exponent)
    var last: UInt8 = 0
    var lost = isInexact
    while high != 0 || (power < Int(Int8.min) && (low != 0 || last != 0)) {
      lost = lost || last != 0
      let (quotient, rest) = high.quotientAndRemainder(dividingBy: 10)
      let (lower, digit) = (10 as UInt128).dividingFullWidth((rest, low))
      (high, low, last) = (quotient, lower, UInt8(truncatingIfNeeded: digit))
      power += 1
    }
    if last > 5 || (last == 5 && (lost || low & 1 == 1)) {
      let (sum, overflow) = low.addingReportingOverflow(1)
      if overflow {
        low = .max / 10 + 1
        power += 1
      } else {
        low = sum
      }
    }
    if low == 0 { return .zero }
    while power > Int(Int8.max) {
      let (product, overflow) = low.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      low = product
      power -= 1
    }
    // Of a number that was rounded to nothing, the exponent may still be too small.
    return DecimalValue(isNegative: isNegative, coefficient: low, exponent: Int8(clamping: power))
  }

  func adding(_ other: DecimalValue) -> DecimalValue? {
    if isNaN || other.isNaN { return .notANumber }
    if coefficient == 0 { return other }
    if other.coefficient == 0 { return self }
    let (large, small) = exponent >= other.exponent ? (self, other) : (other, self)
    var top = large.coefficient
    var power = Int(large.exponent)
    while power > Int(small.exponent) {
      let (product, overflow) = top.multipliedReportingOverflow(by: 10)
      if overflow { break }
      top = product
      power -= 1
    }
    // What the coefficient has no room for is rounded away from the other side.
    if power > Int(small.exponent) {
      var rest = small.coefficient
      var last: UInt128 = 0
      var lost = false
      for _ in Int(small.exponent)..<power {
        lost = lost || last != 0
        (rest, last) = rest.quotientAndRemainder(dividingBy: 10)
      }
      if last > 5 || (last == 5 && (lost || rest & 1 == 1)) { rest += 1 }
      return Self.sum(large.isNegative, top, small.isNegative, rest, power)
    }
    return Self.sum(large.isNegative, top, small.isNegative, small.coefficient, power)
  }

  private static func sum(
    _ aIsNegative: Bool, _ a: UInt128, _ bIsNegative: Bool, _ b: UInt128, _ exponent: Int
  ) -> DecimalValue? {
    if aIsNegative == bIsNegative {
      let (sum, overflow) = a.addingReportingOverflow(b)
      return rounded(isNegative: aIsNegative, high: overflow ? 1 : 0, low: sum, exponent: exponent)
    }
    return a >= b
      ? rounded(isNegative: aIsNegative, low: a - b, exponent: exponent)
      : rounded(isNegative: bIsNegative, low: b - a, exponent: exponent)
  }

  var negated: DecimalValue {
    isNaN ? self : DecimalValue(isNegative: !isNegative, coefficient: coefficient, exponent: exponent)
  }

  func multiplied(by other: DecimalValue) -> DecimalValue? {
    if isNaN || other.isNaN { return .notANumber }
    let (high, low) = coefficient.multipliedFullWidth(by: other.coefficient)
    return Self.rounded(
      isNegative: isNegative != other.isNegative, high: high, low: low,
      exponent: Int(exponent) + Int(other.exponent))
  }

  /// Nil as well for a division by zero.
  func divided(by other: DecimalValue) -> DecimalValue? {
    if isNaN || other.isNaN { return .notANumber }
    let divisor = other.coefficient
    if divisor == 0 { return nil }
    var (quotient, rest) = coefficient.quotientAndRemainder(dividingBy: divisor)
    var power = Int(exponent) - Int(other.exponent)
    let isNegative = isNegative != other.isNegative
    // Some 40 steps: each makes the quotient ten times as large, once it is not zero.
    while rest != 0 {
      let (digit, next) = divisor.dividingFullWidth(rest.multipliedFullWidth(by: 10))
      let (shifted, overflow) = quotient.multipliedReportingOverflow(by: 10)
      let (sum, carry) = shifted.addingReportingOverflow(digit)
      if overflow || carry {
        if digit > 5 || (digit == 5 && (next != 0 || quotient & 1 == 1)) {
          let (up, isTooLarge) = quotient.addingReportingOverflow(1)
          quotient = isTooLarge ? .max / 10 + 1 : up
          if isTooLarge { power += 1 }
        }
        break
      }
      (quotient, rest) = (sum, next)
      power -= 1
    }
    return Self.rounded(isNegative: isNegative, low: quotient, exponent: power)
  }

  /// The whole part.
  var truncated: DecimalValue {
    guard !isNaN, exponent < 0 else { return self }
    var rest = coefficient
    for _ in 0..<(-Int(exponent)) where rest != 0 { rest /= 10 }
    return DecimalValue(isNegative: isNegative, coefficient: rest, exponent: 0)
  }

  /// The base to a whole power, by squaring; nil if something on the way is too large, or was divided by zero.
  func raised(to power: Int64) -> DecimalValue? {
    guard power.magnitude <= 10_000 else { return nil }
    var result = DecimalValue(1)
    var base = self
    var rest = power.magnitude
    while rest > 0 {
      if rest & 1 == 1 {
        guard let product = result.multiplied(by: base) else { return nil }
        result = product
      }
      rest >>= 1
      if rest > 0 {
        guard let square = base.multiplied(by: base) else { return nil }
        base = square
      }
    }
    return power < 0 ? DecimalValue(1).divided(by: result) : result
  }
}
