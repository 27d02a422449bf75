/// Cuts the text of a predicate into tokens. Linear in the length of the text.
struct PredicateLexer {
  let text: [UInt8]
  private var position = 0

  init(_ text: [UInt8]) { self.text = text }

  /// All tokens; the last one is the end.
  mutating func tokens() throws(PredicateError) -> [PredicateToken] {
    var result: [PredicateToken] = []
    while true {
      skipSpace()
      let start = position
      guard let byte = peek() else {
        result.append(PredicateToken(kind: .end, start: start, end: start))
        return result
      }
      result.append(PredicateToken(kind: try token(startingWith: byte), start: start, end: position))
    }
  }

  private func peek(_ ahead: Int = 0) -> UInt8? {
    position + ahead < text.count ? text[position + ahead] : nil
  }

  private mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) { position += 1 }
  }

  private func error(_ kind: PredicateError.Kind, from start: Int, _ advice: String) -> PredicateError {
    PredicateError(kind, at: start, excerpt(text, start, max(position, start + 1)), advice)
  }

  private mutating func token(startingWith byte: UInt8) throws(PredicateError) -> PredicateToken.Kind {
    if isNameStart(byte) || byte == UInt8(ascii: "#") || byte == UInt8(ascii: "@") { return .path(try path()) }
    if isDigit(byte) { return try number() }
    switch byte {
    case UInt8(ascii: "."):
      if let next = peek(1), isDigit(next) { return try number() }
      if let next = peek(1), isNameStart(next) || next == UInt8(ascii: "#") || next == UInt8(ascii: "@") {
        position += 1
        return .symbol(.point)
      }
      if isPointBeforeMark {
        position += 1
        return .symbol(.point)
      }
      throw error(.syntax, from: position, "a point belongs between the names of a key path or into a number")
    case UInt8(ascii: "'"), UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "$"): return .variable(try variable())
    case UInt8(ascii: "%"): return .mark(try mark())
    default: return .symbol(try symbol(byte))
    }
  }

  // MARK: Names

  private mutating func name() -> String {
    let start = position
    while let byte = peek(), isNameStart(byte) || isDigit(byte) { position += 1 }
    return String(decoding: text[start..<position], as: UTF8.self)
  }

  /// Whether a point follows behind which a path is given as an argument.
  private var isPointBeforeMark: Bool {
    peek() == UInt8(ascii: ".") && peek(1) == UInt8(ascii: "%") && peek(2) == UInt8(ascii: "K")
  }

  private mutating func path() throws(PredicateError) -> [PathComponent] {
    var components = [try component()]
    while peek() == UInt8(ascii: "."), !isPointBeforeMark {
      position += 1
      components.append(try component())
    }
    return components
  }

  private mutating func component() throws(PredicateError) -> PathComponent {
    let start = position
    if peek() == UInt8(ascii: "#") {
      position += 1
      if peek() == UInt8(ascii: "'") || peek() == UInt8(ascii: "\"") {
        let name = try string()
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: ".")) else {
          throw error(.syntax, from: start, "a quoted name is one component of a key path: not empty, without points")
        }
        return PathComponent(name: name, isEscaped: true)
      }
      guard let byte = peek(), isNameStart(byte) else {
        throw error(.syntax, from: start, "'#' stands before a name")
      }
      return PathComponent(name: name(), isEscaped: true)
    }
    if peek() == UInt8(ascii: "@") {
      position += 1
      return PathComponent(name: "@" + name(), isEscaped: false)
    }
    guard let byte = peek(), isNameStart(byte) else {
      throw error(.syntax, from: start, "a name is missing after the point")
    }
    return PathComponent(name: name(), isEscaped: false)
  }

  private mutating func variable() throws(PredicateError) -> String {
    let start = position
    position += 1
    guard let byte = peek(), isNameStart(byte) else { throw error(.syntax, from: start, "'$' stands before a name") }
    var result = name()
    while peek() == UInt8(ascii: "."), let next = peek(1), isNameStart(next) || next == UInt8(ascii: "#") {
      position += 1
      result += "." + (try component()).name
    }
    return result
  }

  // MARK: Numbers

  private mutating func number() throws(PredicateError) -> PredicateToken.Kind {
    let start = position
    if peek() == UInt8(ascii: "0"), let radix = peek(1).flatMap({ numberRadix($0) }) {
      position += 2
      let first = position
      while let byte = peek(), let digit = hexadecimalDigit(byte), digit < radix { position += 1 }
      if position == first { throw error(.syntax, from: start, "digits are missing") }
    } else {
      while let byte = peek(), isDigit(byte) { position += 1 }
      if peek() == UInt8(ascii: ".") {
        position += 1
        while let byte = peek(), isDigit(byte) { position += 1 }
      }
      if let byte = peek(), byte | 0x20 == UInt8(ascii: "e") {
        position += 1
        if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
        let first = position
        while let byte = peek(), isDigit(byte) { position += 1 }
        if position == first { throw error(.syntax, from: start, "the digits of the exponent are missing") }
      }
    }
    if let byte = peek(), isNameStart(byte) || isDigit(byte) {
      position += 1
      throw error(.syntax, from: start, "a number ends in something that is no digit")
    }
    return .number
  }

  // MARK: Strings

  private mutating func string() throws(PredicateError) -> String {
    let start = position
    let quote = peek()
    position += 1
    var bytes: [UInt8] = []
    while let byte = peek() {
      if byte == quote {
        position += 1
        return String(decoding: bytes, as: UTF8.self)
      }
      position += 1
      if byte == UInt8(ascii: "\\") { try escape(into: &bytes) } else { bytes.append(byte) }
    }
    position = start + 1
    throw error(.syntax, from: start, "the string has no end; close it with the quote that it begins with")
  }

  private mutating func escape(into bytes: inout [UInt8]) throws(PredicateError) {
    let start = position - 1
    guard let byte = peek() else { throw error(.syntax, from: start, "the string has no end after its last backslash") }
    position += 1
    switch byte {
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "v"): bytes.append(0x0B)
    case UInt8(ascii: "0"): bytes.append(0)
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "/"): bytes.append(byte)
    // Left to LIKE, whose patterns escape with a backslash as well.
    case UInt8(ascii: "*"), UInt8(ascii: "?"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
    case UInt8(ascii: "x"): try scalar(hexadecimal(2, from: start), from: start, into: &bytes)
    case UInt8(ascii: "U"): try scalar(hexadecimal(8, from: start), from: start, into: &bytes)
    case UInt8(ascii: "u"):
      var value = try hexadecimal(4, from: start)
      if value >> 10 == 0x36, peek() == UInt8(ascii: "\\"), peek(1) == UInt8(ascii: "u") {
        position += 2
        let low = try hexadecimal(4, from: start)
        guard low >> 10 == 0x37 else { throw error(.syntax, from: start, "half of a surrogate pair is missing") }
        value = 0x10000 + (value & 0x3FF) << 10 + (low & 0x3FF)
      }
      try scalar(value, from: start, into: &bytes)
    default:
      throw error(.syntax, from: start, "no such escape in a string; a backslash itself is written twice")
    }
  }

  private mutating func hexadecimal(_ count: Int, from start: Int) throws(PredicateError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count {
      guard let digit = peek().flatMap({ hexadecimalDigit($0) }) else {
        throw error(.syntax, from: start, "the escape needs \(count) hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
      position += 1
    }
    return value
  }

  private func scalar(_ value: UInt32, from start: Int, into bytes: inout [UInt8]) throws(PredicateError) {
    guard let scalar = Unicode.Scalar(value) else { throw error(.syntax, from: start, "no such Unicode character") }
    bytes.append(contentsOf: Array(String(Character(scalar)).utf8))
  }

  // MARK: Marks

  private mutating func mark() throws(PredicateError) -> UInt8 {
    let start = position
    position += 1
    while let byte = peek(), "hlqzjt".utf8.contains(byte) { position += 1 }
    guard let conversion = peek() else { throw error(.syntax, from: start, "a conversion is missing after '%'") }
    position += 1
    let hasLength = position - start > 2
    switch conversion {
    case UInt8(ascii: "@") where !hasLength, UInt8(ascii: "K") where !hasLength, UInt8(ascii: "s") where !hasLength:
      return conversion
    case UInt8(ascii: "d"), UInt8(ascii: "D"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "U"),
      UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "o"), UInt8(ascii: "O"):
      return UInt8(ascii: "d")
    case UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "g"), UInt8(ascii: "G"), UInt8(ascii: "e"),
      UInt8(ascii: "E"), UInt8(ascii: "a"), UInt8(ascii: "A"):
      return UInt8(ascii: "f")
    default:
      // The whole of a character that is not ASCII.
      while let byte = peek(), conversion >= 0x80, byte >> 6 == 2 { position += 1 }
      throw error(.syntax, from: start, "no such mark; there are %@, %K, %d, %i, %u, %ld, %lld, %lu, %llu, %f, %lf, %g")
    }
  }

  // MARK: Symbols

  private mutating func symbol(_ byte: UInt8) throws(PredicateError) -> PredicateToken.Symbol {
    if let next = peek(1) {
      let two: PredicateToken.Symbol?
      switch (byte, next) {
      case (UInt8(ascii: "="), UInt8(ascii: "=")): two = .equal
      case (UInt8(ascii: "!"), UInt8(ascii: "=")), (UInt8(ascii: "<"), UInt8(ascii: ">")): two = .notEqual
      case (UInt8(ascii: "<"), UInt8(ascii: "=")), (UInt8(ascii: "="), UInt8(ascii: "<")): two = .lessOrEqual
      case (UInt8(ascii: ">"), UInt8(ascii: "=")), (UInt8(ascii: "="), UInt8(ascii: ">")): two = .greaterOrEqual
      case (UInt8(ascii: "&"), UInt8(ascii: "&")): two = .and
      case (UInt8(ascii: "|"), UInt8(ascii: "|")): two = .or
      case (UInt8(ascii: "*"), UInt8(ascii: "*")): two = .power
      case (UInt8(ascii: ":"), UInt8(ascii: "=")): two = .assign
      default: two = nil
      }
      if let two {
        position += 2
        return two
      }
    }
    let start = position
    position += 1
    switch byte {
    case UInt8(ascii: "("): return .leftParenthesis
    case UInt8(ascii: ")"): return .rightParenthesis
    case UInt8(ascii: "{"): return .leftBrace
    case UInt8(ascii: "}"): return .rightBrace
    case UInt8(ascii: "["): return .leftBracket
    case UInt8(ascii: "]"): return .rightBracket
    case UInt8(ascii: ","): return .comma
    case UInt8(ascii: ":"): return .colon
    case UInt8(ascii: "="): return .equal
    case UInt8(ascii: "<"): return .less
    case UInt8(ascii: ">"): return .greater
    case UInt8(ascii: "!"): return .not
    case UInt8(ascii: "+"): return .plus
    case UInt8(ascii: "-"): return .minus
    case UInt8(ascii: "*"): return .times
    case UInt8(ascii: "/"): return .divide
    default: throw error(.syntax, from: start, "the character has no meaning here; quote it if it belongs to a string")
    }
  }
}

/// Whether a byte can begin a name: a letter, `_`, or any part of a character that is not ASCII.
func isNameStart(_ byte: UInt8) -> Bool {
  (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")) || byte == UInt8(ascii: "_") || byte >= 0x80
}

/// Whether a byte is an ASCII digit.
func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

/// The radix that the letter after a leading zero gives.
func numberRadix(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "x"), UInt8(ascii: "X"): return 16
  case UInt8(ascii: "o"), UInt8(ascii: "O"): return 8
  case UInt8(ascii: "b"), UInt8(ascii: "B"): return 2
  default: return nil
  }
}

/// At most 40 bytes of the text, for messages; cut between characters.
func excerpt(_ text: [UInt8], _ start: Int, _ end: Int) -> String {
  guard start < end, start < text.count else { return "" }
  var stop = min(end, text.count)
  if stop - start > 40 {
    stop = start + 40
    while stop > start, text[stop] >> 6 == 2 { stop -= 1 }
  }
  return String(decoding: text[start..<stop], as: UTF8.self)
}
