extension DecimalValue: CustomStringConvertible {
  /// Reads a number such as `-12.50`, `.5`, `1e-7` or `NaN`: an optional sign, digits with an optional point, an
  /// optional exponent. No white space, no grouping. Digits beyond what the coefficient holds are rounded half to even.
  ///
  /// - Returns: `nil` if the text is not such a number, or is too large. Numbers too small become zero.
  public init?(_ text: some StringProtocol) {
    if text.utf8.elementsEqual("NaN".utf8) {
      self = .notANumber
      return
    }
    var reader = DecimalReader()
    for byte in text.utf8 {
      guard reader.take(byte) else { return nil }
    }
    guard let value = reader.value else { return nil }
    self = value
  }

  /// The number in plain notation, or with an exponent if that would need more than 40 zeros; `NaN`.
  public var description: String {
    if isNaN { return "NaN" }
    var text: [UInt8] = isNegative ? [0x2D] : []
    let digits = self.digits.map { $0 + 0x30 }
    let power = Int(exponent)
    if digits.isEmpty { return "0" }
    if power > 40 || power < -80 {
      text.append(digits[0])
      // An exponent of 127 leaves zeros in the coefficient.
      if let last = digits.lastIndex(where: { $0 != 0x30 }), last > 0 {
        text.append(0x2E)
        text.append(contentsOf: digits[1...last])
      }
      return String(decoding: text, as: UTF8.self) + "E" + "\(power + digits.count - 1)"
    }
    let whole = digits.count + power
    if whole <= 0 {
      text.append(contentsOf: [0x30, 0x2E])
      text.append(contentsOf: [UInt8](repeating: 0x30, count: -whole))
      text.append(contentsOf: digits)
    } else if power >= 0 {
      text.append(contentsOf: digits)
      text.append(contentsOf: [UInt8](repeating: 0x30, count: power))
    } else {
      text.append(contentsOf: digits[..<whole])
      text.append(0x2E)
      text.append(contentsOf: digits[whole...])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// Gathers the digits of a decimal. Every count saturates, so that no length of text overflows.
private struct DecimalReader {
  private var grammar = DecimalGrammar()
  private var coefficient: UInt128 = 0
  /// The power of ten of the last digit taken into `coefficient`.
  private var power = 0
  private var isFull = false
  /// What followed the digits taken: the first digit left out, and whether any other was not zero.
  private var firstDropped: UInt8?
  private var droppedMore = false

  /// Takes the next byte; `false` if the text is not a number.
  mutating func take(_ byte: UInt8) -> Bool {
    guard let part = grammar.take(byte) else { return false }
    if case .digit(let digit, let isFraction) = part { takeDigit(digit, isFraction) }
    return true
  }

  private mutating func takeDigit(_ digit: UInt8, _ isFraction: Bool) {
    let (scaled, overflow) = coefficient.multipliedReportingOverflow(by: 10)
    let (sum, carry) = scaled.addingReportingOverflow(UInt128(digit))
    if isFull || overflow || carry {
      isFull = true
      if firstDropped == nil { firstDropped = digit } else { droppedMore = droppedMore || digit != 0 }
      if !isFraction { power = min(power + 1, DecimalGrammar.limit) }
    } else {
      coefficient = sum
      if isFraction { power = max(power - 1, -DecimalGrammar.limit) }
    }
  }

  var value: DecimalValue? {
    guard grammar.isComplete else { return nil }
    var digits = coefficient
    var power = self.power + grammar.exponent
    var next = firstDropped ?? 0
    var more = droppedMore
    if digits != 0 {
      // Too small an exponent costs digits at the right.
      while power < -128, digits != 0 || next != 0 {
        more = more || next != 0
        next = UInt8(truncatingIfNeeded: digits % 10)
        digits /= 10
        power += 1
      }
    }
    if digits == 0 && next == 0 { return .zero }
    if next > 5 || (next == 5 && (more || digits & 1 == 1)) {
      let (sum, carry) = digits.addingReportingOverflow(1)
      if carry {
        // 2^128 is not a multiple of ten; the nearest that fits has one digit less.
        digits = digits / 10 + 1
        power += 1
      } else {
        digits = sum
      }
    }
    // Too large an exponent can be moved into the coefficient as zeros.
    while power > 127 {
      let (scaled, overflow) = digits.multipliedReportingOverflow(by: 10)
      guard !overflow else { return nil }
      digits = scaled
      power -= 1
    }
    guard let small = Int8(exactly: max(power, -128)) else { return nil }
    return DecimalValue(isNegative: grammar.isNegative, coefficient: digits, exponent: small)
  }
}
