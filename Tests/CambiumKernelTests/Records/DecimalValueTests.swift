import CambiumTesting
import Testing

@testable import CambiumKernel

@Suite struct DecimalValueTests {
  @Test func textIsReadAndPrinted() throws {
    let cases: [(String, String?)] = [
      ("0", "0"), ("-0", "0"), ("1.00", "1"), ("12.50", "12.5"), ("-.5", "-0.5"), ("5.", "5"), ("1e3", "1000"),
      ("1E-3", "0.001"), ("+7", "7"), ("NaN", "NaN"), ("1e-128", "1E-128"), ("1e-129", "0"), ("6e-129", "1E-128"),
      ("5e-129", "0"), ("15e-129", "2E-128"), ("1e127", "1E127"), ("1e165", "1E165"), ("1e166", nil),
      ("340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
      ("340282366920938463463374607431768211456", "340282366920938463463374607431768211460"),
      ("0.1234567890123456789012345678901234567850001", "0.123456789012345678901234567890123456785"),
      ("1e999999999999999999999", nil), ("0e999999999999999999999", "0"), ("1e-99999999999999999", "0"),
      ("", nil), ("-", nil), (".", nil), ("1e", nil), ("1e+", nil), ("1.2.3", nil), ("1 ", nil), ("Na", nil),
      ("NaNN", nil), ("--1", nil), ("1-", nil), ("١", nil), ("1e1.5", nil), ("N1", nil),
    ]
    for (text, printed) in cases { #expect(DecimalValue(text)?.description == printed, "\(text)") }
    #expect(DecimalValue(String(repeating: "9", count: 100))?.description == "1E100")
    #expect(DecimalValue(String(repeating: "9", count: 200)) == nil)
  }

  @Test func equalNumbersAreEqualParts() throws {
    #expect(DecimalValue(isNegative: false, coefficient: 100, exponent: -2) == DecimalValue(1))
    #expect(DecimalValue("1.0")?.hashValue == DecimalValue("1.00")?.hashValue)
    #expect(DecimalValue(isNegative: true, coefficient: 0, exponent: 9) == .zero)
    #expect(DecimalValue.notANumber == .notANumber && DecimalValue.notANumber < DecimalValue(Int64.min))
    #expect(DecimalValue(Int64.min).int64 == .min && DecimalValue(Int64.max).int64 == .max)
    #expect(DecimalValue("9223372036854775808")?.int64 == nil && DecimalValue("0.5")?.int64 == nil)
    #expect(DecimalValue("1e100")?.int64 == nil && DecimalValue("12e2")?.int64 == 1200)
  }

  @Test func printedNumbersReadBack() throws {
    var random = SplitMix64(seed: 3)
    for _ in 0..<2_000 {
      let value = random.decimal()
      #expect(DecimalValue(value.description) == value)
      var output = GrowingBytes()
      defer { output.deallocate() }
      value.appendCompactBytes(to: &output)
      #expect(output.count <= 18)
      #expect(DecimalValue(compactBytes: output.bytes) == value)
    }
  }

  @Test func orderIsThatOfNumbers() throws {
    let rising = [
      "NaN", "-1e165", "-1e30", "-12.5", "-12.49", "-12", "-1e-128", "0", "1e-128", "0.001", "0.0011", "1", "1.5", "9",
      "10", "12", "123456789", "1e30", "1e127", "1e165",
    ].compactMap { DecimalValue($0) }
    for (index, a) in rising.enumerated() {
      for (other, b) in rising.enumerated() { #expect((a < b) == (index < other) && (a == b) == (index == other)) }
    }
  }
}
