/// A condition on an object, as a tree: what the format syntax, builders and planners all speak.
///
/// Made by the parser (``init(format:arguments:)``), of these cases directly, or by the layers above. The cases cover
/// the whole of Core Data's predicate grammar; what is not supported of it is refused with a ``PredicateError``. The
/// meaning of each comparison is documented at ``evaluate(variables:now:value:)``, that of expressions in
/// `Specs/07-predicates.md`.
public indirect enum Predicate: Equatable, Sendable {
  /// Matches everything: `TRUEPREDICATE`.
  case `true`
  /// Matches nothing: `FALSEPREDICATE`.
  case `false`
  /// A comparison of two expressions.
  case comparison(Comparison)
  /// All of them; everything, if there are none.
  case and([Predicate])
  /// At least one of them; nothing, if there are none.
  case or([Predicate])
  /// The reverse.
  case not(Predicate)

  /// How deep predicates and expressions may be nested, in text and in trees: a guard of the stack.
  public static let depthLimit = 200

  /// A comparison of two expressions.
  public static func compare(
    _ left: Expression, _ comparator: Comparator, _ right: Expression, _ options: ComparisonOptions = [],
    modifier: ComparisonModifier = .direct
  ) -> Predicate {
    .comparison(
      Comparison(left: left, comparator: comparator, right: right, options: options, modifier: modifier))
  }
}

/// A comparison of two expressions.
public struct Comparison: Equatable, Sendable {
  /// The left side; the collection, where there is a modifier.
  public var left: Expression
  /// What is asked.
  public var comparator: Comparator
  /// The right side.
  public var right: Expression
  /// How strings are compared.
  public var options: ComparisonOptions
  /// How many of the left side's values have to compare.
  public var modifier: ComparisonModifier

  /// A comparison.
  public init(
    left: Expression, comparator: Comparator, right: Expression, options: ComparisonOptions = [],
    modifier: ComparisonModifier = .direct
  ) {
    self.left = left
    self.comparator = comparator
    self.right = right
    self.options = options
    self.modifier = modifier
  }
}

/// What a comparison asks.
public enum Comparator: UInt8, CaseIterable, Sendable {
  /// `==`
  case equal
  /// `!=`
  case notEqual
  /// `<`
  case less
  /// `<=`
  case lessOrEqual
  /// `>`
  case greater
  /// `>=`
  case greaterOrEqual
  /// `BETWEEN {low, high}`, both inclusive.
  case between
  /// `IN`: the left side is an element of the right, a list.
  case `in`
  /// `BEGINSWITH`
  case beginsWith
  /// `CONTAINS`: a string is part of the left side; or, if that is a list, an element of it.
  case contains
  /// `ENDSWITH`
  case endsWith
  /// `LIKE`: `?` stands for one character, `*` for any number of them, `\` before either for itself.
  case like
  /// `MATCHES`: the right side is a regular expression for the whole of the left.
  case matches

  /// Whether the comparison is one of strings, and takes options.
  public var isTextual: Bool {
    switch self {
    case .beginsWith, .contains, .endsWith, .like, .matches: return true
    default: return false
    }
  }
}

/// How strings are compared.
public struct ComparisonOptions: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt8

  /// Wraps bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `[c]`: upper and lower case are the same.
  public static let caseInsensitive = ComparisonOptions(rawValue: 1)
  /// `[d]`: letters with and without marks are the same.
  public static let diacriticInsensitive = ComparisonOptions(rawValue: 2)
  /// `[n]`: the caller promises that both sides are normalised. Kept, and without effect.
  public static let normalized = ComparisonOptions(rawValue: 4)
}

/// How many of the values of a to-many key path have to compare.
public enum ComparisonModifier: UInt8, CaseIterable, Sendable {
  /// There is one value.
  case direct
  /// `ANY`, `SOME`: at least one, so nothing compares if there are no values.
  case any
  /// `ALL`: every one, also if there are no values.
  case all
  /// `NONE`: not one; the reverse of ``any``.
  case none
}
