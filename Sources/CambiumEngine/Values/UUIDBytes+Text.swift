import CambiumKernel

extension UUIDBytes {
  /// Makes a UUID of its bytes; `nil` unless there are exactly 16.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 16 else { return nil }
    var high: UInt64 = 0
    var low: UInt64 = 0
    var index = 0
    for byte in bytes {
      if index < 8 { high = high << 8 | UInt64(byte) } else { low = low << 8 | UInt64(byte) }
      index += 1
    }
    self.init(high: high, low: low)
  }

  /// Reads the text form `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`, in either case; `nil` for anything else.
  public init?(_ text: String) {
    var high: UInt64 = 0
    var low: UInt64 = 0
    var position = 0
    var digits = 0
    for byte in text.utf8 {
      if position == 8 || position == 13 || position == 18 || position == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
      } else {
        guard let digit = hexadecimalDigit(byte), digits < 32 else { return nil }
        if digits < 16 { high = high << 4 | UInt64(digit) } else { low = low << 4 | UInt64(digit) }
        digits += 1
      }
      position += 1
    }
    guard position == 36 else { return nil }
    self.init(high: high, low: low)
  }

  /// The 16 bytes, in the order of the text.
  public var bytes: [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(16)
    for half in [high, low] {
      for shift in [UInt64](arrayLiteral: 56, 48, 40, 32, 24, 16, 8, 0) {
        result.append(UInt8(truncatingIfNeeded: half >> shift))
      }
    }
    return result
  }

  /// The text form, in upper case.
  public var text: String {
    var result = ""
    var position = 0
    for byte in bytes {
      if position == 4 || position == 6 || position == 8 || position == 10 { result += "-" }
      result += hexadecimalText(byte)
      position += 1
    }
    return result
  }
}

/// The value of an ASCII hexadecimal digit; `nil` for any other byte.
func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte &- UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): return byte &- UInt8(ascii: "a") &+ 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): return byte &- UInt8(ascii: "A") &+ 10
  default: return nil
  }
}

/// Two upper-case hexadecimal digits.
func hexadecimalText(_ byte: UInt8) -> String {
  let text = String(byte, radix: 16, uppercase: true)
  return byte < 16 ? "0" + text : text
}
