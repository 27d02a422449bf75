import CambiumKernel

/// Comparisons of text of ASCII characters alone, on the bytes as they lie. Of other text they say that they do not
/// know: its normal form has to be made first.
enum AsciiText {
  /// The answer of a comparison, which may be that the bytes do not tell.
  enum Answer: UInt8 {
    case no, yes, unknown

    @inline(__always)
    init(_ holds: Bool) { self = holds ? .yes : .no }
  }

  @inline(__always)
  private static func folded(_ byte: UInt8) -> UInt8 { byte &- 65 < 26 ? byte | 32 : byte }

  /// The order of two texts, with upper and lower case alike if `folds`.
  static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, folds: Bool) -> Register.Order {
    guard a.isASCII, b.isASCII else { return .unknown }
    let count = min(a.count, b.count)
    for i in 0..<count {
      let (x, y) = folds ? (folded(a[i]), folded(b[i])) : (a[i], b[i])
      if x != y { return x < y ? .less : .greater }
    }
    return Register.Order(a.count, b.count)
  }

  /// Whether `part` stands in `text` from `offset` on.
  @inline(__always)
  private static func stands(
    _ part: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer, at offset: Int, folds: Bool
  ) -> Bool {
    var i = 0
    while i < part.count {
      let (x, y) = (text[offset &+ i], part[i])
      if x != y, !folds || folded(x) != folded(y) { return false }
      i &+= 1
    }
    return true
  }

  static func hasPrefix(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer, folds: Bool) -> Answer {
    guard text.isASCII, part.isASCII else { return .unknown }
    return Answer(part.count <= text.count && stands(part, in: text, at: 0, folds: folds))
  }

  static func hasSuffix(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer, folds: Bool) -> Answer {
    guard text.isASCII, part.isASCII else { return .unknown }
    return Answer(
      part.count <= text.count && stands(part, in: text, at: text.count - part.count, folds: folds))
  }

  /// Whether `part` stands anywhere in `text`. At most as many steps as the product of both lengths, which is bounded
  /// for short parts; of longer ones the evaluator is asked, whose way is linear.
  static func contains(_ text: UnsafeRawBufferPointer, _ part: UnsafeRawBufferPointer, folds: Bool) -> Answer {
    guard part.count <= 32, text.isASCII, part.isASCII else { return .unknown }
    guard let first = part.first else { return .yes }
    guard part.count <= text.count else { return .no }
    let wanted = folds ? folded(first) : first
    for at in 0...(text.count - part.count) {
      let byte = folds ? folded(text[at]) : text[at]
      if byte == wanted, stands(part, in: text, at: at, folds: folds) { return .yes }
    }
    return .no
  }

  // MARK: LIKE

  /// A pattern as bytes, two for each part: what it is, and a character; nil if there are characters that are not
  /// ASCII.
  static func pattern(_ text: String) -> [UInt8]? {
    var parts: [UInt8] = []
    var isEscaped = false
    for byte in text.utf8 {
      if byte >= 0x80 { return nil }
      if isEscaped {
        parts += [literal, byte]
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "?") {
        parts += [one, 0]
      } else if byte == UInt8(ascii: "*") {
        if parts.count < 2 || parts[parts.count - 2] != many { parts += [many, 0] }
      } else {
        parts += [literal, byte]
      }
    }
    if isEscaped { parts += [literal, UInt8(ascii: "\\")] }
    return parts
  }

  private static let literal: UInt8 = 0
  private static let one: UInt8 = 1
  private static let many: UInt8 = 2

  /// Whether a pattern describes the whole text.
  static func matches(_ text: UnsafeRawBufferPointer, _ pattern: UnsafeRawBufferPointer, folds: Bool) -> Answer {
    guard text.isASCII else { return .unknown }
    let parts = pattern.count / 2
    var at = 0
    var part = 0
    // The place in the text, and the part behind the last `*`, from which the search goes on after a mismatch.
    var retryAt = -1
    var retryPart = 0
    while at < text.count {
      if part < parts {
        let kind = pattern[2 &* part]
        if kind == many {
          part &+= 1
          (retryAt, retryPart) = (at, part)
          continue
        }
        let (x, y) = (text[at], pattern[2 &* part &+ 1])
        if kind == one || x == y || (folds && folded(x) == folded(y)) {
          at &+= 1
          part &+= 1
          continue
        }
      }
      if retryAt < 0 { return .no }
      retryAt &+= 1
      (at, part) = (retryAt, retryPart)
    }
    while part < parts, pattern[2 &* part] == many { part &+= 1 }
    return Answer(part == parts)
  }
}
