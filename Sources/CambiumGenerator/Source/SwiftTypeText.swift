import CambiumSourceText

/// The name of a Swift type that comes from a file, such as `[String: Int]`, read so that it can be nothing but a type.
struct SwiftTypeText {
  /// The type as source, without an optional's mark at the end.
  let text: String

  /// Reads a type of names, `[…]`, `<…>`, `:`, `,`, `.` and `?`; `nil` for any other text. A leading point, by which
  /// the model editor means the application's own module, is left out.
  init?(_ text: String) {
    var reader = Reader(text: Array(text.unicodeScalars))
    _ = reader.skip(".")
    guard let type = reader.type(depth: 0), reader.isAtEnd else { return nil }
    var result = type
    while result.hasSuffix("?") { result.removeLast() }
    self.text = result
  }

  private struct Reader {
    let text: [Unicode.Scalar]
    var position = 0

    var isAtEnd: Bool { position == text.count }

    mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
      guard position < text.count, text[position] == scalar else { return false }
      position += 1
      return true
    }

    mutating func skipSpace() { while skip(" ") {} }

    /// A type, with marks of optionals behind it.
    mutating func type(depth: Int) -> String? {
      guard depth < 16 else { return nil }
      var result: String
      if skip("[") {
        skipSpace()
        guard let first = type(depth: depth + 1) else { return nil }
        result = "[" + first
        skipSpace()
        if skip(":") {
          skipSpace()
          guard let second = type(depth: depth + 1) else { return nil }
          result += ": " + second
          skipSpace()
        }
        guard skip("]") else { return nil }
        result += "]"
      } else {
        guard let first = name() else { return nil }
        result = first
        while skip(".") {
          guard let next = name() else { return nil }
          result += "." + next
        }
        if skip("<") {
          var arguments: [String] = []
          repeat {
            skipSpace()
            guard let argument = type(depth: depth + 1) else { return nil }
            arguments.append(argument)
            skipSpace()
          } while skip(",")
          guard skip(">") else { return nil }
          result += "<" + arguments.joined(separator: ", ") + ">"
        }
      }
      while skip("?") { result += "?" }
      return result
    }

    private mutating func name() -> String? {
      var result = ""
      while position < text.count, text[position] == "_" || text[position].properties.isXIDContinue {
        result.unicodeScalars.append(text[position])
        position += 1
      }
      guard SwiftText.isIdentifier(result), result == "Any" || !Keywords.reserved.contains(result) else { return nil }
      return result
    }
  }
}
