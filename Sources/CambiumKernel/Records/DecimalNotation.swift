/// A number in decimal notation, `±digits × 10^exponent`, on its way to the nearest double or float.
///
/// `Double(text)` of the standard library calls the C library's `strtod`, which targets without an operating system do
/// not have. This type gives the same result bit for bit: the nearest value, and of two that are equally near the one
/// with an even significand. A number of at most 15 digits and a small exponent takes one multiplication or division of
/// doubles, which rounds once. Any other number takes an exact division of ``WideInteger``s.
struct DecimalNotation {
  private let isNegative: Bool
  private let digits: WideInteger
  /// The digits, if 64 bits hold them.
  private let small: UInt64?
  /// An upper bound of the number of digits.
  private let digitCount: Int
  /// The power of ten of the last digit.
  private let exponent: Int

  /// The number that a decimal value is, which must not be not-a-number.
  init(_ value: DecimalValue) {
    isNegative = value.isNegative
    small = UInt64(exactly: value.coefficient)
    digits = WideInteger(value.coefficient)
    // 2^128 has 39 digits.
    digitCount = 39
    exponent = Int(value.exponent)
  }

  /// Reads an optional sign, digits with an optional point, and an optional exponent, such as `-12.50`, `.5`, `5.` or
  /// `1e-7`.
  ///
  /// Takes time in proportion to the length of the text.
  ///
  /// - Returns: `nil` for any other text, such as one with white space, hexadecimal digits or the name of an infinity.
  init?(_ text: String) {
    var reader = NotationReader()
    for byte in text.utf8 {
      guard reader.take(byte) else { return nil }
    }
    guard reader.grammar.isComplete else { return nil }
    reader.finish()
    isNegative = reader.grammar.isNegative
    small = reader.digitCount <= 19 ? reader.head : nil
    digits = reader.digits
    digitCount = reader.digitCount
    exponent = reader.power + reader.grammar.exponent
  }

  /// The nearest double: infinity beyond the greatest, zero below half of the smallest.
  var double: Double {
    if let small, small < 1 << 53, abs(exponent) <= 22 {
      let magnitude =
        exponent < 0 ? Double(small) / Self.powersOfTen[-exponent] : Double(small) * Self.powersOfTen[exponent]
      return isNegative ? -magnitude : magnitude
    }
    let bits = nearest(significandBits: 53, leastExponent: -1022, greatestExponent: 1023)
    return Double(bitPattern: bits | (isNegative ? 1 << 63 : 0))
  }

  /// The nearest float: infinity beyond the greatest, zero below half of the smallest.
  var float: Float {
    let bits = nearest(significandBits: 24, leastExponent: -126, greatestExponent: 127)
    return Float(bitPattern: UInt32(truncatingIfNeeded: bits) | (isNegative ? 1 << 31 : 0))
  }

  /// The powers of ten that doubles hold exactly.
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]

  /// The bit pattern, without sign, of the nearest number of a binary format.
  private func nearest(significandBits: Int, leastExponent: Int, greatestExponent: Int) -> UInt64 {
    let infinity = UInt64(greatestExponent - leastExponent + 2) << UInt64(significandBits - 1)
    if digits.isZero { return 0 }
    // Below 10^-400 and from 10^400, every format has zero and infinity. In between the integers have 1,170 digits.
    if digitCount + exponent < -400 { return 0 }
    if exponent > 400 { return infinity }
    // number = numerator / denominator × 2^exponent, with the power of five on either side.
    var numerator = digits
    var denominator = WideInteger(1)
    if exponent < 0 {
      denominator.multiply(byPowerOfFive: -exponent)
    } else {
      numerator.multiply(byPowerOfFive: exponent)
    }
    // Scale both so that the quotient is at least 1 and below 2. The number is then quotient × 2^binary.
    let difference = numerator.bitWidth - denominator.bitWidth
    var binary = exponent + difference
    if difference < 0 { numerator.shiftLeft(by: -difference) } else { denominator.shiftLeft(by: difference) }
    if numerator.compare(to: denominator) < 0 {
      numerator.shiftLeft(by: 1)
      binary -= 1
    }
    // 64 bits of the quotient, the first of which is 1. What is left of the numerator breaks a tie.
    var quotient: UInt64 = 0
    for _ in 0..<64 {
      quotient <<= 1
      if numerator.compare(to: denominator) >= 0 {
        numerator.subtract(denominator)
        quotient |= 1
      }
      numerator.shiftLeft(by: 1)
    }
    if binary > greatestExponent { return infinity }
    // Below the least exponent, the format keeps a bit less for each power of two.
    let kept = significandBits - max(0, leastExponent - binary)
    if kept < 0 { return 0 }
    let dropped = UInt64(64 - kept)
    let rest = kept == 0 ? quotient : quotient & (1 << dropped - 1)
    let half: UInt64 = 1 << (dropped - 1)
    var significand = kept == 0 ? 0 : quotient >> dropped
    if rest > half || (rest == half && (!numerator.isZero || significand & 1 == 1)) { significand += 1 }
    // The first bit of a normal significand adds 1 to the exponent's field, and a carry out of the significand one
    // more. So the greatest numbers carry into infinity, and the greatest subnormal one into the least normal one.
    let field = UInt64(max(0, binary - leastExponent)) << UInt64(significandBits - 1)
    return field + significand
  }
}

extension DecimalValue {
  /// The double nearest to the number; not-a-number for not-a-number.
  public var nearestDouble: Double { isNaN ? .nan : DecimalNotation(self).double }

  /// The float nearest to the number; not-a-number for not-a-number.
  public var nearestFloat: Float { isNaN ? .nan : DecimalNotation(self).float }

  /// Returns the double nearest to a number in decimal notation, such as `-12.50`, `.5`, `5.` or `1e-7`: infinity
  /// beyond the greatest double, zero below half of the smallest.
  ///
  /// Gives what `Double(text)` gives for such a text, without the C library. Takes time in proportion to the text.
  ///
  /// - Returns: `nil` for any other text, such as one with white space, hexadecimal digits or the name of an infinity.
  public static func nearestDouble(toText text: String) -> Double? { DecimalNotation(text)?.double }

  /// Compares with a double by the exact values: -1 if this number is smaller, 0 if they are equal, 1 if it is larger.
  /// Not-a-number equals itself, and is below every number.
  public func compare(to double: Double) -> Int {
    if isNaN || double.isNaN { return isNaN ? (double.isNaN ? 0 : -1) : 1 }
    let sign = coefficient == 0 ? 0 : isNegative ? -1 : 1
    let otherSign = double == 0 ? 0 : double < 0 ? -1 : 1
    if sign != otherSign { return sign < otherSign ? -1 : 1 }
    if sign == 0 { return 0 }
    if double.isInfinite { return -sign }
    // |double| = significand × 2^power with an integral significand.
    let magnitude = double.magnitude
    let power = Int(magnitude.isNormal ? magnitude.exponent : -1022) - 52
    let significand = magnitude.significandBitPattern | (magnitude.isNormal ? 1 << 52 : 0)
    var left = WideInteger(coefficient)
    var right = WideInteger(UInt128(significand))
    let ten = Int(exponent)
    for _ in 0..<abs(ten) {
      if ten > 0 { left.multiply(by: 10) } else { right.multiply(by: 10) }
    }
    if power > 0 { right.shiftLeft(by: power) } else { left.shiftLeft(by: -power) }
    return sign * left.compare(to: right)
  }
}

/// Gathers the digits of a number for a division. Counts saturate far beyond the reach of a double.
private struct NotationReader {
  /// Digits beyond these cannot decide between two doubles, except that one of them is not zero: the midpoint of two
  /// neighbouring doubles has at most 767 digits.
  private static let mostDigits = 770

  private(set) var grammar = DecimalGrammar()
  /// The first 19 digits, which 64 bits always hold.
  private(set) var head: UInt64 = 0
  private(set) var digits = WideInteger(0)
  private(set) var digitCount = 0
  /// The power of ten of the last digit taken, if there were no exponent.
  private(set) var power = 0
  private var droppedAny = false

  /// Takes the next byte; `false` if the text is not a number.
  mutating func take(_ byte: UInt8) -> Bool {
    guard let part = grammar.take(byte) else { return false }
    if case .digit(let digit, let isFraction) = part { takeDigit(digit, isFraction) }
    return true
  }

  private mutating func takeDigit(_ digit: UInt8, _ isFraction: Bool) {
    if digitCount == Self.mostDigits {
      droppedAny = droppedAny || digit != 0
      if !isFraction { power = min(power + 1, DecimalGrammar.limit) }
      return
    }
    if isFraction { power = max(power - 1, -DecimalGrammar.limit) }
    // A zero before the first digit is only a place.
    if digitCount == 0, digit == 0 { return }
    if digitCount < 19 {
      head = head * 10 + UInt64(digit)
    } else {
      if digitCount == 19 { digits = WideInteger(UInt128(head)) }
      digits.multiply(by: 10, adding: UInt32(digit))
    }
    digitCount += 1
  }

  /// Brings the digits together after the last byte.
  mutating func finish() {
    if digitCount <= 19 { digits = WideInteger(UInt128(head)) }
    guard droppedAny else { return }
    // One more digit, which is not zero, stands for all digits that were left out.
    digits.multiply(by: 10, adding: 1)
    digitCount += 1
    power -= 1
  }
}
