extension SourceReader {
  /// Skips `/pattern/` or `#/pattern/#`; false, and nothing read, if there is none here.
  ///
  /// A slash begins a pattern if an operand may stand there and a slash on the same line ends it. This is the rule of
  /// the compiler, except that the compiler also knows the words before the slash.
  package mutating func skipRegularExpression() -> Bool {
    var hashes = 0
    while peek(hashes) == UInt8(ascii: "#") { hashes += 1 }
    guard peek(hashes) == UInt8(ascii: "/"), hashes > 0 || mayBePattern else { return false }
    var ahead = self
    ahead.position += hashes + 1
    let isMultiline = hashes > 0 && ahead.isAtEndOfLine
    var openGroups = 0
    var isInClass = false
    while let byte = ahead.peek() {
      switch byte {
      case 0x0A, 0x0D:
        guard isMultiline else { return false }
      case UInt8(ascii: "\\"):
        guard let escaped = ahead.peek(1), escaped != 0x0A, escaped != 0x0D else { return false }
        ahead.position += 1
      case UInt8(ascii: "[") where hashes == 0: isInClass = true
      case UInt8(ascii: "]") where hashes == 0: isInClass = false
      case UInt8(ascii: "(") where hashes == 0 && !isInClass: openGroups += 1
      case UInt8(ascii: ")") where hashes == 0 && !isInClass:
        // `f(/, /)` passes operators: the bracket that closes was opened before the slash.
        guard openGroups > 0 else { return false }
        openGroups -= 1
      case UInt8(ascii: "/") where ahead.hasHashes(1, hashes):
        ahead.position += 1 + hashes
        self = ahead
        return true
      default: break
      }
      ahead.position += 1
    }
    return false
  }

  /// A slash after a blank or an opening bracket, with something other than a blank after it.
  private var mayBePattern: Bool {
    switch peek(1) {
    case nil, 0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: "/"), UInt8(ascii: "*"): return false
    default: break
    }
    guard position > 0 else { return true }
    switch bytes[position - 1] {
    case 0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ","),
      UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "!"):
      return true
    default: return false
    }
  }

  private var isAtEndOfLine: Bool {
    var ahead = self
    while let byte = ahead.peek(), byte == 0x20 || byte == 0x09 { ahead.position += 1 }
    return ahead.peek() == 0x0A || ahead.peek() == 0x0D
  }

  private func hasHashes(_ distance: Int, _ count: Int) -> Bool {
    for index in 0..<count where peek(distance + index) != UInt8(ascii: "#") { return false }
    return true
  }
}
