/// Reads a number in decimal notation byte by byte: an optional sign, digits with an optional point, and an optional
/// exponent, such as `-12.50`, `.5`, `5.` or `1e-7`.
///
/// It knows the grammar only. Whoever reads a number gives it each byte, and gathers the digits that it hands back.
struct DecimalGrammar {
  /// What a byte is in a number.
  enum Part {
    /// A digit before the point or behind it.
    case digit(UInt8, isFraction: Bool)
    /// Anything else, which the grammar keeps.
    case mark
  }

  private enum State { case start, sign, whole, fraction, exponentStart, exponentSign, exponent }

  /// Exponents saturate here, far beyond the reach of any number, so that no text overflows 32 bits.
  static let limit = 100_000_000

  private var state = State.start
  private var hasDigits = false
  private var exponentMagnitude = 0
  private var exponentIsNegative = false

  /// Whether a minus sign came first.
  private(set) var isNegative = false

  /// The exponent that was written, or 0.
  var exponent: Int { exponentIsNegative ? -exponentMagnitude : exponentMagnitude }

  /// Whether the bytes taken are a number.
  var isComplete: Bool { hasDigits && (state == .whole || state == .fraction || state == .exponent) }

  /// Takes the next byte.
  ///
  /// - Returns: `nil` if the bytes taken are not the beginning of a number.
  mutating func take(_ byte: UInt8) -> Part? {
    switch byte {
    case 0x30...0x39: return takeDigit(byte - 0x30)
    case 0x2B, 0x2D:
      if state == .start {
        isNegative = byte == 0x2D
        state = .sign
      } else if state == .exponentStart {
        exponentIsNegative = byte == 0x2D
        state = .exponentSign
      } else {
        return nil
      }
    case 0x2E:
      guard state == .start || state == .sign || state == .whole else { return nil }
      state = .fraction
    case 0x45, 0x65:
      guard hasDigits, state == .whole || state == .fraction else { return nil }
      state = .exponentStart
    default: return nil
    }
    return .mark
  }

  private mutating func takeDigit(_ digit: UInt8) -> Part {
    switch state {
    case .exponentStart, .exponentSign, .exponent:
      state = .exponent
      exponentMagnitude = min(exponentMagnitude * 10 + Int(digit), Self.limit)
      return .mark
    case .fraction:
      hasDigits = true
      return .digit(digit, isFraction: true)
    case .start, .sign, .whole:
      state = .whole
      hasDigits = true
      return .digit(digit, isFraction: false)
    }
  }
}
