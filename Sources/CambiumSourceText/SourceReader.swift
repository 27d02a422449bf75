/// Reads the pieces that declarations are made of: blanks and comments, names, and brackets with all that is in them.
/// It is no parser of Swift; it knows enough to find where a piece ends, strings with interpolations included. Nothing
/// is recursive: the source is anybody's.
package struct SourceReader {
  /// The source in UTF-8.
  package let bytes: [UInt8]
  /// The offset of the next byte.
  package var position = 0

  /// Begins at the start of a source.
  package init(_ source: String) { bytes = Array(source.utf8) }

  /// The byte at the position, or some way behind it; `nil` at the end.
  package func peek(_ distance: Int = 0) -> UInt8? {
    position + distance < bytes.count ? bytes[position + distance] : nil
  }

  /// Whether nothing is left.
  package var isAtEnd: Bool { position >= bytes.count }

  /// The source from a place up to the position.
  package func text(from start: Int) -> String {
    start < position && position <= bytes.count ? String(decoding: bytes[start..<position], as: UTF8.self) : ""
  }

  /// Skips a character if it is next.
  package mutating func skip(_ character: Character) -> Bool {
    guard let byte = character.asciiValue, peek() == byte else { return false }
    position += 1
    return true
  }

  /// Skips blanks and comments, which nest.
  package mutating func skipTrivia() {
    while let byte = peek() {
      switch byte {
      case 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x20: position += 1
      case 0x2F where peek(1) == 0x2F:
        while let next = peek(), next != 0x0A, next != 0x0D { position += 1 }
      case 0x2F where peek(1) == 0x2A: skipBlockComment()
      default: return
      }
    }
  }

  private mutating func skipBlockComment() {
    var depth = 0
    while !isAtEnd {
      if peek() == 0x2F, peek(1) == 0x2A {
        depth += 1
        position += 2
      } else if peek() == 0x2A, peek(1) == 0x2F {
        depth -= 1
        position += 2
        if depth == 0 { return }
      } else {
        position += 1
      }
    }
  }

  /// A name, without the backticks that it may have; `nil`, and nothing read, if there is none.
  package mutating func name() -> String? {
    let start = position
    if skip("`") {
      while let byte = peek(), byte != 0x60, byte != 0x0A, byte != 0x0D { position += 1 }
      let name = text(from: start + 1)
      if skip("`"), !name.isEmpty { return name }
      position = start
      return nil
    }
    while let byte = peek(), Self.isInName(byte, first: position == start) { position += 1 }
    return position == start ? nil : text(from: start)
  }

  /// Every byte of a character beyond ASCII counts: which of them are letters is the compiler's to say.
  package static func isInName(_ byte: UInt8, first: Bool) -> Bool {
    switch byte {
    case 0x41...0x5A, 0x61...0x7A, 0x5F, 0x80...0xFF: return true
    case 0x30...0x39: return !first
    default: return false
    }
  }

  // MARK: Brackets and strings

  /// An opening bracket or quotation mark whose end is still to come.
  package enum Open {
    /// A bracket, with what closes it.
    case bracket(UInt8)
    /// A string, with the number of `#` before it.
    case string(hashes: Int, isMultiline: Bool)
  }

  /// Skips a bracket, a string, or a regular expression between slashes, and everything up to its end. False, with the
  /// position anywhere, if there is none here, or no end.
  package mutating func skipGroup() -> Bool {
    var open: [Open] = []
    repeat {
      guard let last = open.last else {
        if skipRegularExpression() { return true }
        guard let first = opening() else { return false }
        open.append(first)
        continue
      }
      switch last {
      case .bracket(let close):
        skipTrivia()
        guard let byte = peek() else { return false }
        if byte == close {
          position += 1
          open.removeLast()
        } else if skipRegularExpression() {
          continue
        } else if let inner = opening() {
          open.append(inner)
        } else if byte == 0x60 {
          // A name in backticks may contain brackets.
          guard name() != nil else { return false }
        } else if byte == 0x23 {
          guard skipHashes() else { return false }
        } else if byte == 0x29 || byte == 0x5D || byte == 0x7D {
          return false
        } else {
          position += 1
        }
      case .string(let hashes, let isMultiline):
        guard let step = stepInString(hashes, isMultiline) else { return false }
        switch step {
        case .goesOn: break
        case .ends: open.removeLast()
        case .interpolates: open.append(.bracket(0x29))
        }
      }
    } while !open.isEmpty
    return true
  }

  /// Skips `#`, or several, with the string or the regular expression that they begin. False, with the position
  /// anywhere, if that has no end.
  package mutating func skipHashes() -> Bool {
    var hashes = 0
    while peek(hashes) == 0x23 { hashes += 1 }
    if peek(hashes) == 0x22 || peek(hashes) == 0x2F { return skipGroup() }
    position += hashes
    return true
  }

  /// Skips an opening bracket or quotation mark; `nil`, and nothing read, if there is none.
  package mutating func opening() -> Open? {
    switch peek() {
    case 0x28: return bracket(0x29)
    case 0x5B: return bracket(0x5D)
    case 0x7B: return bracket(0x7D)
    case 0x22: return quotationMark(hashes: 0)
    case 0x23:
      var hashes = 0
      while peek(hashes) == 0x23 { hashes += 1 }
      guard peek(hashes) == 0x22 else { return nil }
      position += hashes
      return quotationMark(hashes: hashes)
    default: return nil
    }
  }

  private mutating func bracket(_ close: UInt8) -> Open {
    position += 1
    return .bracket(close)
  }

  private mutating func quotationMark(hashes: Int) -> Open {
    // `#"""#` is a string of one quotation mark; `""` an empty one.
    let isMultiline = peek(1) == 0x22 && peek(2) == 0x22 && !(hashes > 0 && areHashes(3, hashes))
    position += isMultiline ? 3 : 1
    return .string(hashes: hashes, isMultiline: isMultiline)
  }

  private func areHashes(_ distance: Int, _ count: Int) -> Bool {
    for index in 0..<count where peek(distance + index) != 0x23 { return false }
    return true
  }

  /// What a character of a string was.
  package enum StringStep { case goesOn, ends, interpolates }

  /// Skips a character of a string, or an escape; `nil` if the string has no end.
  package mutating func stepInString(_ hashes: Int, _ isMultiline: Bool) -> StringStep? {
    guard let byte = peek() else { return nil }
    switch byte {
    case 0x22:
      let marks = isMultiline ? 3 : 1
      let isEnd = (!isMultiline || (peek(1) == 0x22 && peek(2) == 0x22)) && areHashes(marks, hashes)
      position += isEnd ? marks + hashes : 1
      return isEnd ? .ends : .goesOn
    case 0x5C where areHashes(1, hashes):
      position += 1 + hashes
      guard let escaped = peek() else { return nil }
      position += 1
      return escaped == 0x28 ? .interpolates : .goesOn
    case 0x0A, 0x0D:
      guard isMultiline else { return nil }
      position += 1
      return .goesOn
    default:
      position += 1
      return .goesOn
    }
  }
}
