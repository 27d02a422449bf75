import CambiumSourceText

/// Makes pieces of Swift source of text that comes from a file, so that no text becomes code of another meaning.
enum SwiftText {
  /// Returns a string literal that stands for the text. Anything that could end the literal or hide what follows is
  /// escaped.
  static func literal(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if isVisible(scalar) {
          result.unicodeScalars.append(scalar)
        } else {
          result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
        }
      }
    }
    return result + "\""
  }

  /// Returns the text for a comment: in one line, without characters that readers would not see.
  static func comment(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      if isVisible(scalar) { result.unicodeScalars.append(scalar) } else { result += "\u{FFFD}" }
    }
    return result
  }

  /// Whether a character is seen as itself. Not so controls, line separators, and marks that turn the direction of
  /// writing.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: return false
    default: return true
    }
  }

  /// Returns a literal of strings, such as `["a", "b"]`.
  static func literal(_ texts: [String]) -> String { "[" + texts.map { literal($0) }.joined(separator: ", ") + "]" }

  /// Returns a literal of a dictionary, in the order of the keys; of entries with one key the last counts.
  static func literal(_ entries: [(key: String, value: String)]) -> String {
    let byKey = Dictionary(entries.map { ($0.key, $0.value) }, uniquingKeysWith: { _, last in last })
    if byKey.isEmpty { return "[:]" }
    let pairs = byKey.sorted { $0.key < $1.key }.map { literal($0.key) + ": " + literal($0.value) }
    return "[" + pairs.joined(separator: ", ") + "]"
  }

  /// Returns a name as source: within backticks if it is a keyword. The name must be an identifier.
  static func name(_ name: String) -> String { Keywords.escaped(name) }

  /// Whether a name is an identifier of Swift, keyword or not.
  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart, name != "_" else {
      return false
    }
    return name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue }
  }

  /// Returns the letters, digits and underscores of a name, each word but the first with a capital letter: `Log entry`
  /// becomes `LogEntry`, `v2.5` becomes `v2_5`. The result may begin with a digit, or be empty.
  static func identifierParts(of name: String) -> String {
    var result = ""
    var isWordStart = false
    for scalar in name.unicodeScalars {
      if scalar == "_" || scalar.properties.isXIDContinue {
        if isWordStart, ("0"..."9").contains(scalar), let last = result.unicodeScalars.last, ("0"..."9").contains(last)
        {
          result += "_"
        }
        result += isWordStart ? String(Character(scalar)).uppercased() : String(Character(scalar))
        isWordStart = false
      } else {
        isWordStart = !result.isEmpty
      }
    }
    return result
  }
}
