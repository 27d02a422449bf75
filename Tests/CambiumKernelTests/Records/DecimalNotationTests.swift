import CambiumTesting
import Testing

@testable import CambiumKernel

/// Compares every reading with that of the standard library, which calls the C library's `strtod` and `strtof` here.
@Suite struct DecimalNotationTests {
  private func expectAsLibrary(_ text: String) {
    #expect(DecimalValue.nearestDouble(toText: text)?.bitPattern == Double(text)?.bitPattern, "\(text)")
    #expect(DecimalNotation(text)?.float.bitPattern == Float(text)?.bitPattern, "\(text)")
  }

  @Test(arguments: [
    "0", "-0", "+1", "1.", ".5", "-.5e3", "5.e3", "00001.2500000", "1e22", "1e23", "9007199254740993",
    "9007199254740992.99999999999999999999999999", "9007199254740993.00000000000000000000000001", "0e999999999999",
    "1e99999999999999999999", "1e-99999999999999999999", "1e400", "1e401", "1e-401", "123456789012345678901234567890",
    "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "4.9406564584124654e-324",
    "2.4703282292062327e-324", "2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308",
    "3.4028235677973365e38", "3.4028235677973366e38", "1.401298464324817e-45", "7.006492321624085e-46",
    "7.0064923216240854e-46", "", ".", "+", "-", "e5", "1e", "1e+", "1e--1", "1..2", "1.e5.", "1e5e5", " 1", "1 ",
    "++1", "1,5", "1_000", "١",
  ])
  func edges(_ text: String) {
    expectAsLibrary(text)
  }

  /// `Double(text)` takes these. They are no decimal notation.
  @Test(arguments: ["inf", "-infinity", "nan", "nan(1)", "0x10", "0x1p3", "0X.8P1"])
  func nothingButDecimals(_ text: String) {
    #expect(DecimalValue.nearestDouble(toText: text) == nil)
  }

  @Test func shortestTexts() {
    var random = SplitMix64(seed: 20_261_130)
    for _ in 0..<20_000 {
      let double = Double(bitPattern: random.next())
      let read = DecimalValue.nearestDouble(toText: double.description)
      #expect(!double.isFinite || read?.bitPattern == double.bitPattern)
      let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      if float.isFinite { #expect(DecimalNotation(float.description)?.float.bitPattern == float.bitPattern) }
    }
  }

  @Test func randomTexts() {
    var random = SplitMix64(seed: 20_261_201)
    for _ in 0..<10_000 {
      var text = random.oneIn(2) ? "-" : ""
      let count = 1 + random.below(random.oneIn(100) ? 900 : 25)
      let point = random.below(count + 1)
      for place in 0..<count {
        if place == point { text += "." }
        text += "\(random.below(10))"
      }
      if random.oneIn(2) { text += "e\(random.below(700) - 350)" }
      expectAsLibrary(text)
    }
  }

  /// Numbers half-way between two doubles, and those a little above and below.
  @Test func midpoints() {
    var random = SplitMix64(seed: 20_261_202)
    for _ in 0..<2_000 {
      // An odd number of 54 bits.
      let middle = UInt128(random.next() >> 10 | 1 << 53 | 1)
      let integer = middle << UInt128(random.below(60))
      expectAsLibrary("\(integer)")
      expectAsLibrary("\(integer).00000000000000000000001")
      expectAsLibrary("\(integer - 1).99999999999999999999999")
      // middle / 2^power = middle × 5^power / 10^power
      let power = 1 + random.below(30)
      var digits = middle
      for _ in 0..<power { digits *= 5 }
      expectAsLibrary("\(digits)e-\(power)")
      expectAsLibrary("\(digits)1e-\(power + 1)")
      expectAsLibrary("\(digits - 1)9e-\(power + 1)")
    }
  }

  /// The longest midpoints, those between subnormal numbers, of up to 767 digits.
  @Test func longMidpoints() {
    var random = SplitMix64(seed: 20_261_203)
    for _ in 0..<20 {
      let power = 1_000 + random.below(76)
      var digits = "\(random.next() >> 10 | 1)".utf8.reversed().map { $0 - 0x30 }
      for _ in 0..<power {
        var carry: UInt8 = 0
        for place in digits.indices {
          let product = digits[place] * 5 + carry
          (carry, digits[place]) = product.quotientAndRemainder(dividingBy: 10)
        }
        if carry > 0 { digits.append(carry) }
      }
      let text = String(decoding: digits.reversed().map { $0 + 0x30 }, as: UTF8.self)
      expectAsLibrary("\(text)e-\(power)")
      expectAsLibrary("\(text)0000000000001e-\(power + 13)")
      expectAsLibrary("\(text.dropLast())4e-\(power)")
    }
  }

  @Test func decimalValues() {
    var random = SplitMix64(seed: 20_261_204)
    for _ in 0..<10_000 {
      let coefficient = UInt128(random.next()) << UInt128(random.below(65)) | UInt128(random.next())
      let decimal = DecimalValue(
        isNegative: random.oneIn(2), coefficient: coefficient >> UInt128(random.below(128)),
        exponent: Int8(truncatingIfNeeded: random.next()))
      let text = decimal.description
      #expect(Optional(decimal.nearestDouble.bitPattern) == Double(text)?.bitPattern, "\(text)")
      #expect(Optional(decimal.nearestFloat.bitPattern) == Float(text)?.bitPattern, "\(text)")
    }
  }
}
