@_spi(CoreData) import Cambium

/// A format whose arguments are values alone: each expression among the arguments stands in the text.
struct FormatWithoutExpressions {
  private(set) var format: String
  private(set) var arguments: [Any]

  /// Puts the text of each expression in the place of its `%@`. A format without expressions stays as it is.
  init(_ format: String, _ arguments: [Any]) {
    (self.format, self.arguments) = (format, arguments)
    guard arguments.contains(where: { $0 is FetchExpression }) else { return }
    var text = ""
    var kept: [Any] = []
    var rest = arguments[...]
    var quote: Character?
    var characters = Array(format)[...]
    while let character = characters.popFirst() {
      text.append(character)
      if let open = quote {
        // A backslash takes the next character with it.
        if character == "\\", let next = characters.popFirst() { text.append(next) }
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "%" {
        if characters.first == "%" {
          text.append(characters.removeFirst())
          continue
        }
        guard let argument = rest.popFirst() else { continue }
        if characters.first == "@", let expression = argument as? FetchExpression {
          characters.removeFirst()
          text.removeLast()
          text += "(\(expression.expressionFormat))"
        } else {
          kept.append(argument)
        }
      }
    }
    (self.format, self.arguments) = (text, kept + rest)
  }
}
