/// What evaluating needs besides the objects: the values of variables, the time, and what is worth keeping from one
/// object to the next. Used by one thread at a time.
public struct EvaluationState: Sendable {
  /// The values of variables, by name without `$`. The value of a key path from a variable may be given under `x.name`.
  public var variables: [String: Value]
  /// What `now()` gives, in seconds since 2001-01-01: the same for all objects of a fetch. Nil if the time is not
  /// known.
  public var now: Double?
  /// How many elements subqueries may still look at: each adds up, and subqueries in subqueries multiply. For hosts
  /// that evaluate predicates of strangers; evaluating fails when there are none left.
  public var elementsLeft = Int.max
  /// The variables that subqueries have given an element to, the innermost last.
  private var bound: [(name: String, value: Value)] = []
  private var randomState: UInt64
  private var patterns: [(text: String, options: ComparisonOptions, pattern: RegularExpression)] = []

  /// A state. `random()` gives the same numbers for the same `seed`.
  public init(variables: [String: Value] = [:], now: Double? = nil, seed: UInt64 = 0) {
    self.variables = variables
    self.now = now
    randomState = seed
  }

  /// What a subquery has given to a variable.
  func binding(_ name: String) -> Value? {
    var index = bound.count
    while index > 0 {
      index -= 1
      if bound[index].name == name { return bound[index].value }
    }
    return nil
  }

  mutating func bind(_ name: String, _ value: Value) throws(PredicateError) {
    guard elementsLeft > 0 else {
      throw PredicateError(.tooDeep, "SUBQUERY", "there are more elements to look at than the host allows")
    }
    elementsLeft -= 1
    bound.append((name, value))
  }

  mutating func unbind() { _ = bound.popLast() }

  /// The next 64 random bits, by SplitMix64.
  mutating func randomBits() -> UInt64 {
    randomState &+= 0x9E37_79B9_7F4A_7C15
    var bits = randomState
    bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
    bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
    return bits ^ (bits >> 31)
  }

  /// A regular expression made ready. The last few are kept: as a rule the pattern is the same for all objects.
  mutating func pattern(
    _ text: String, _ options: ComparisonOptions
  ) throws(PredicateError) -> RegularExpression {
    for known in patterns where known.options == options && known.text == text { return known.pattern }
    let made = try RegularExpression(text, options)
    if patterns.count >= 8 { patterns.removeFirst() }
    patterns.append((text, options, made))
    return made
  }
}
