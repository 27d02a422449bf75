/// The words of Swift that need backticks as names of declarations.
package enum Keywords {
  /// Returns a name as source: within backticks if it is a keyword. The name must be an identifier.
  package static func escaped(_ name: String) -> String { reserved.contains(name) ? "`\(name)`" : name }

  /// The words that need backticks.
  package static let reserved: Set<String> = [
    "Any", "Protocol", "Self", "Type", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue",
    "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
    "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
    "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct",
    "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}
