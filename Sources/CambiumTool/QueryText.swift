import CambiumEngine

/// Reads what the options of `cambium query` say.
enum QueryText {
  /// The parts between commas, without those in brackets and quotes.
  static func parts(_ text: String, of option: String) throws(ToolError) -> [String] {
    var parts: [String] = []
    var part = ""
    var scanner = Scanner()
    for character in text {
      if scanner.take(character), character == "," {
        parts.append(part)
        part = ""
      } else {
        part.append(character)
      }
    }
    parts = (parts + [part]).map(trimmed)
    if parts.contains("") {
      throw .usage("\(option) '\(text)' names nothing at the start, the end, or between two commas")
    }
    return parts
  }

  /// A column: an expression, with ` AS name` behind it or not.
  static func column(_ text: String) throws(ToolError) -> EngineColumn {
    var name = text
    var expression = text
    if let place = lastWordAS(in: text) {
      expression = trimmed(String(text[..<place]))
      name = unquoted(trimmed(String(text[place...].dropFirst(2))))
      if expression.isEmpty || name.isEmpty { throw .usage("--columns '\(text)': write 'expression AS name'") }
    }
    do throws(PredicateError) { return EngineColumn(name, try Expression(format: expression)) } catch {
      throw .usage("--columns '\(expression)': \(error.description)")
    }
  }

  /// A key of an order: `-` in front of it turns it round, `:ci` or `:natural` behind it says how texts are compared,
  /// `:near(latitude, longitude)` that the distance from there counts.
  static func sortKey(_ text: String) throws(ToolError) -> EngineSort {
    let isDescending = text.hasPrefix("-")
    var key = isDescending ? trimmed(String(text.dropFirst())) : text
    var order = EngineTextOrder.scalars
    if let place = try place(in: key, text) {
      return EngineSort(distanceOf: place.path, from: place.origin, ascending: !isDescending)
    }
    if let colon = key.lastIndex(of: ":") {
      let word = key[colon...].dropFirst()
      switch word {
      case "ci": order = .caseInsensitive
      case "natural": order = .natural
      default:
        // Functions have colons in their names, which may be the names of columns.
        if word.allSatisfy({ $0.isLetter }) {
          throw .usage(
            "--sort '\(text)': there is no order '\(word)'; there are ci, natural and near(latitude, longitude)")
        }
      }
      if word == "ci" || word == "natural" { key = String(key[..<colon]) }
    }
    if key.isEmpty { throw .usage("--sort '\(text)' names nothing") }
    return EngineSort(key, ascending: !isDescending, textOrder: order)
  }

  /// The key path before `:near(latitude, longitude)`, and the place; nil if the key does not end so.
  private static func place(in key: String, _ text: String) throws(ToolError) -> (path: String, origin: EnginePlace)? {
    guard key.hasSuffix(")"), let colon = key.lastIndex(of: ":"), key[colon...].hasPrefix(":near(") else { return nil }
    let degrees = key[colon...].dropFirst(6).dropLast().split(separator: ",", omittingEmptySubsequences: false)
      .map { Double(trimmed(String($0))) }
    guard degrees.count == 2, let latitude = degrees[0], let longitude = degrees[1], colon > key.startIndex else {
      throw .usage("--sort '\(text)': write 'PATH:near(latitude, longitude)', in degrees")
    }
    return (trimmed(String(key[..<colon])), EnginePlace(latitude: latitude, longitude: longitude))
  }

  /// Follows brackets and quotes.
  private struct Scanner {
    private var depth = 0
    private var quote: Character?
    private var isEscaped = false

    /// Takes a character; answers whether it is outside of all brackets and quotes.
    mutating func take(_ character: Character) -> Bool {
      if let quote {
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == quote {
          self.quote = nil
        }
        return false
      }
      switch character {
      case "\"", "'": quote = character
      case "(", "{", "[": depth += 1
      case ")", "}", "]": depth = max(0, depth - 1)
      default: return depth == 0
      }
      return false
    }
  }

  /// Where the last word AS outside of brackets and quotes begins, in any case, between spaces.
  private static func lastWordAS(in text: String) -> String.Index? {
    var scanner = Scanner()
    var result: String.Index?
    var before: Character = " "
    for place in text.indices {
      let isOutside = scanner.take(text[place])
      if isOutside, before.isWhitespace, text[place...].prefix(2).lowercased() == "as",
        text[place...].dropFirst(2).first?.isWhitespace ?? true
      {
        result = place
      }
      before = text[place]
    }
    return result
  }

  private static func unquoted(_ text: String) -> String {
    guard text.count >= 2, let first = text.first, first == text.last, first == "\"" || first == "'" else {
      return text
    }
    return String(text.dropFirst().dropLast())
  }

  private static func trimmed(_ text: String) -> String {
    var rest = text[...]
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }
}
