/// The functions of expressions, by the names that they have in the format syntax. What each of them gives is written
/// in `Specs/07-predicates.md`.
enum PredicateFunction: UInt8, CaseIterable {
  // Of several values, or of the elements of one list.
  case sum, count, minimum, maximum, average, median, mode, standardDeviation
  // Of numbers.
  case add, subtract, multiply, divide, modulus, raise
  case squareRoot, logarithm, naturalLogarithm, exponential, floor, ceiling, absolute, truncate
  case bitwiseAnd, bitwiseOr, bitwiseXor, leftShift, rightShift, onesComplement
  case random, randomBelow, now
  // Of text.
  case uppercase, lowercase, canonical, length
  case noIndex, cast, distance, call
  // Of an object.
  case castToEntity

  /// `nil` for an unknown name. A colon after the only word of a name may be left out: `lowercase:` is `lowercase`.
  init?(_ name: String) {
    for function in Self.allCases where function.name == name {
      self = function
      return
    }
    guard name.utf8.last == UInt8(ascii: ":") else { return nil }
    let short = String(decoding: name.utf8.dropLast(), as: UTF8.self)
    guard !short.utf8.contains(UInt8(ascii: ":")) else { return nil }
    self.init(short)
  }

  /// The name in the format syntax.
  var name: String {
    switch self {
    case .sum: return "sum"
    case .count: return "count"
    case .minimum: return "min"
    case .maximum: return "max"
    case .average: return "average"
    case .median: return "median"
    case .mode: return "mode"
    case .standardDeviation: return "stddev"
    case .add: return "add:to:"
    case .subtract: return "from:subtract:"
    case .multiply: return "multiply:by:"
    case .divide: return "divide:by:"
    case .modulus: return "modulus:by:"
    case .raise: return "raise:toPower:"
    case .squareRoot: return "sqrt"
    case .logarithm: return "log"
    case .naturalLogarithm: return "ln"
    case .exponential: return "exp"
    case .floor: return "floor"
    case .ceiling: return "ceiling"
    case .absolute: return "abs"
    case .truncate: return "trunc"
    case .bitwiseAnd: return "bitwiseAnd:with:"
    case .bitwiseOr: return "bitwiseOr:with:"
    case .bitwiseXor: return "bitwiseXor:with:"
    case .leftShift: return "leftshift:by:"
    case .rightShift: return "rightshift:by:"
    case .onesComplement: return "onesComplement"
    case .random: return "random"
    case .randomBelow: return "randomn"
    case .now: return "now"
    case .uppercase: return "uppercase"
    case .lowercase: return "lowercase"
    case .canonical: return "canonical"
    case .length: return "length"
    case .noIndex: return "noindex"
    case .cast: return "castObject:toType:"
    case .distance: return "distanceToLocation:fromLocation:"
    case .call: return "FUNCTION"
    case .castToEntity: return "castObject:toEntity:"
    }
  }

  /// How many arguments there may be.
  var argumentCounts: ClosedRange<Int> {
    switch self {
    case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation: return 1...Int.max
    case .add, .subtract, .multiply, .divide, .modulus, .raise, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift,
      .rightShift, .cast, .distance:
      return 2...2
    case .random, .now: return 0...0
    case .call: return 2...Int.max
    // The check against a model adds the third.
    case .castToEntity: return 2...3
    default: return 1...1
    }
  }

  /// Whether the same arguments may give something else at another time.
  var isVolatile: Bool { self == .random || self == .randomBelow || self == .now }

  /// The operator of the same meaning.
  var arithmetic: ArithmeticOperator? {
    switch self {
    case .add: return .add
    case .subtract: return .subtract
    case .multiply: return .multiply
    case .divide: return .divide
    case .raise: return .power
    default: return nil
    }
  }

  /// Looks a function up and brings its arguments into order: those of `FUNCTION(a, "name", b)` are a and b.
  ///
  /// - Throws: an error of kind `unsupported` for an unknown name, or another number of arguments than it takes.
  static func resolve(
    _ name: String, _ arguments: [Expression]
  ) throws(PredicateError) -> (PredicateFunction, [Expression]) {
    guard let function = PredicateFunction(name) else { throw unknown(name) }
    guard function.argumentCounts.contains(arguments.count) else { throw function.wrongCount }
    guard function == .call else { return (function, arguments) }
    guard case .constant(.string(let selector)) = arguments[1] else {
      throw PredicateError(.unsupported, name, "the second argument is the name of a function as a literal")
    }
    let called: PredicateFunction?
    switch selector {
    case "lowercaseString": called = .lowercase
    case "uppercaseString": called = .uppercase
    default: called = PredicateFunction(selector)
    }
    guard let called, called != .call else {
      throw PredicateError(
        .unsupported, "FUNCTION(..., \"\(selector)\")",
        "methods of objects cannot be called; FUNCTION takes the names of the predicate functions, such as 'lowercase:'"
      )
    }
    let rest = [arguments[0]] + arguments[2...]
    guard called.argumentCounts.contains(rest.count) else { throw called.wrongCount }
    return (called, rest)
  }

  static func unknown(_ name: String) -> PredicateError {
    PredicateError(.unsupported, name, "there is no such function; compute the value first and compare with it")
  }

  private var wrongCount: PredicateError {
    let counts = argumentCounts
    return PredicateError(
      .unsupported, name,
      counts.upperBound == .max
        ? "the function takes at least \(counts.lowerBound) arguments"
        : "the function takes \(counts.lowerBound) arguments")
  }
}
