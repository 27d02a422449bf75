/// A piece of a source: a word, a mark, or a bracket.
struct Token: Equatable {
  enum Kind {
    /// A name or a word of the language.
    case word
    /// A word behind `#`, such as `#keyPath`, or behind `@`, such as `@objc`. The text has the mark.
    case hashWord, attribute
    /// A number, or a regular expression.
    case literal
    /// A character of an operator, or punctuation.
    case mark
    /// Brackets, and the quotation marks of strings.
    case open, close
    /// The characters of a string up to its end or its next interpolation.
    case characters
  }

  var kind: Kind
  /// The bytes of the source.
  var range: Range<Int>
  /// The text. A name in backticks is without them, so that it can be told apart from a word only by its range.
  var text: String
  /// The token that closes what this one opens, or opens what it closes; `nil` if the source has none.
  var partner: Int?

  func isWord(_ word: String) -> Bool { kind == .word && text == word && range.count == word.utf8.count }
  func isMark(_ mark: String) -> Bool { kind == .mark && text == mark }
  func isOpen(_ bracket: String) -> Bool { kind == .open && text == bracket }
  func isClose(_ bracket: String) -> Bool { kind == .close && text == bracket }
  var isString: Bool { kind == .open && text == "\"" }
}
