/// A piece of a predicate's text.
struct PredicateToken {
  enum Kind: Equatable {
    case end
    /// A name, or names with points between: a key path, or (alone and without escape) a keyword.
    case path([PathComponent])
    /// An unsigned number; what it is worth depends on a sign before it.
    case number
    case string(String)
    /// A name, or a name and a key path from there, with points between.
    case variable(String)
    /// A `%` mark with its conversion: `@`, `K`, `d` for all integers, `f` for all others, `s`.
    case mark(UInt8)
    case symbol(Symbol)
  }

  /// What is written with signs.
  enum Symbol: Equatable {
    case leftParenthesis, rightParenthesis, leftBrace, rightBrace, leftBracket, rightBracket, comma, colon
    /// Before a key path from what stands before it, as in `f(x).name`.
    case point
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    case and, or, not, plus, minus, times, divide, power, assign
  }

  var kind: Kind
  /// The bytes of the text that the token takes.
  var start: Int
  var end: Int
}

/// One name of a key path.
struct PathComponent: Equatable {
  var name: String
  /// Whether it was written with `#`, and so is no keyword.
  var isEscaped: Bool
}
