/// A decimal number: `±coefficient × 10^exponent`, or not a number.
///
/// Holds what Foundation's `Decimal` holds: a coefficient of up to 128 bits, which is 38 digits and some numbers of 39,
/// and an exponent from -128 to 127. Values are kept in lowest terms (no trailing zero that the exponent could take, no
/// negative zero), so equality of numbers is equality of the stored parts: 1.0 is 1.00. As in Foundation, not-a-number
/// equals itself and sorts before every number.
public struct DecimalValue: Hashable, Sendable {
  // In halves, since 16 bytes in one would make everything that holds a decimal, such as each value, a third larger.
  private let high: UInt64
  private let low: UInt64
  /// The power of ten.
  public let exponent: Int8
  /// Whether the number is below zero.
  public let isNegative: Bool
  /// Whether this is no number.
  public let isNaN: Bool

  /// The digits as an integer. Not divisible by 10 unless the exponent is 127.
  public var coefficient: UInt128 { UInt128(high) &<< 64 | UInt128(low) }

  /// Zero.
  public static let zero = DecimalValue(isNegative: false, coefficient: 0, exponent: 0)
  /// Not a number.
  public static let notANumber = DecimalValue()

  private init() {
    high = 0
    low = 0
    exponent = 0
    isNegative = false
    isNaN = true
  }

  /// Makes `±coefficient × 10^exponent` in lowest terms.
  public init(isNegative: Bool, coefficient: UInt128, exponent: Int8) {
    var digits = coefficient
    var power = exponent
    while digits != 0, power < Int8.max {
      let (quotient, remainder) = digits.quotientAndRemainder(dividingBy: 10)
      guard remainder == 0 else { break }
      digits = quotient
      power += 1
    }
    high = UInt64(truncatingIfNeeded: digits &>> 64)
    low = UInt64(truncatingIfNeeded: digits)
    self.exponent = digits == 0 ? 0 : power
    self.isNegative = digits != 0 && isNegative
    self.isNaN = false
  }

  /// Makes a whole number.
  public init(_ value: Int64) {
    self.init(isNegative: value < 0, coefficient: UInt128(value.magnitude), exponent: 0)
  }

  /// The value as an integer if it is a whole number in range.
  public var int64: Int64? {
    guard !isNaN, exponent >= 0 else { return nil }
    var magnitude = coefficient
    var left = magnitude == 0 ? 0 : exponent
    while left > 0 {
      guard magnitude <= UInt128(UInt64.max) else { return nil }
      magnitude *= 10
      left -= 1
    }
    guard let small = Int128(exactly: magnitude) else { return nil }
    return Int64(exactly: isNegative ? -small : small)
  }

  /// The digits of the coefficient, most significant first; none for zero.
  var digits: [UInt8] {
    var result: [UInt8] = []
    var rest = coefficient
    while rest != 0 {
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
      result.append(UInt8(truncatingIfNeeded: remainder))
      rest = quotient
    }
    result.reverse()
    return result
  }
}

extension DecimalValue: Comparable {
  /// Compares as numbers; not-a-number is below every number.
  public static func < (a: DecimalValue, b: DecimalValue) -> Bool { a.compare(to: b) < 0 }

  /// Compares numbers: -1 if this one is smaller, 0 if they are equal, 1 if it is larger.
  public func compare(to other: DecimalValue) -> Int {
    if isNaN || other.isNaN { return isNaN ? (other.isNaN ? 0 : -1) : 1 }
    let sign = coefficient == 0 ? 0 : isNegative ? -1 : 1
    let otherSign = other.coefficient == 0 ? 0 : other.isNegative ? -1 : 1
    if sign != otherSign { return sign < otherSign ? -1 : 1 }
    if sign == 0 { return 0 }
    return sign * compareMagnitude(to: other)
  }

  private func compareMagnitude(to other: DecimalValue) -> Int {
    let mine = digits
    let others = other.digits
    // The power of ten of the first digit decides, then the digits from the left.
    let place = mine.count + Int(exponent)
    let otherPlace = others.count + Int(other.exponent)
    if place != otherPlace { return place < otherPlace ? -1 : 1 }
    for index in 0..<max(mine.count, others.count) {
      let digit = index < mine.count ? mine[index] : 0
      let otherDigit = index < others.count ? others[index] : 0
      if digit != otherDigit { return digit < otherDigit ? -1 : 1 }
    }
    return 0
  }
}
