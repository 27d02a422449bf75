/// Why a predicate could not be evaluated.
public enum PredicateEvaluationError<Failure: Error>: Error {
  /// The predicate is at fault.
  case predicate(PredicateError)
  /// Reading a value failed.
  case value(Failure)
}

extension Predicate {
  /// Whether the object matches whose values `value` reads: the definition of what predicates mean, which every plan
  /// has to agree with.
  ///
  /// `value` is called with an object, or nil for the evaluated one, and a dotted key path from it, and answers what is
  /// there: null where an attribute is null, a to-one relationship on the way is empty, or the object is gone; a list
  /// of all the values, from all the objects on the way, if the path goes through a to-many relationship. `SELF` is
  /// asked for as the path `self`. Other objects than the evaluated one are asked about for `$x.path` in a subquery,
  /// for collection operators and for paths from elements of lists.
  ///
  /// The rules, which follow Core Data's in-memory ones where these are clear:
  /// - `==` is ``Value/isEqual(to:)``: null equals null; values of kinds that don't compare are unequal. `!=` is its
  ///   reverse, so it holds if exactly one side is null.
  /// - `< <= > >=` and `BETWEEN` never hold if a side is null or the kinds don't compare. `nil <= nil` does not hold.
  /// - `IN` holds if the left side `==` an element of the list (null included), or, if both sides are strings, if the
  ///   left is part of the right. `CONTAINS` on a list is the same the other way round.
  /// - `BEGINSWITH`, `CONTAINS`, `ENDSWITH`, `LIKE` hold for strings and URIs only, never for null. Every string begins
  ///   with, contains and ends with the empty one. `LIKE` matches the whole string.
  /// - `[c]` and `[d]` fold both sides, in every comparison of strings.
  /// - With `ANY`, `ALL`, `NONE` the left side's values are compared one by one; null counts as no values, another
  ///   single value as one. `ALL` and `NONE` of no values hold, `ANY` does not.
  /// - `MATCHES` holds if the whole string is one that the regular expression describes, see `Specs/07-predicates.md`;
  ///   never for null.
  /// - Expressions give null where an operand is null, a number is divided by zero, or an index or root does not exist;
  ///   the Specs say what each operator and function gives. `$x` in a subquery's condition is the element, all other
  ///   key paths there are still those of the evaluated object.
  /// - `AND` and `OR` stop at the first part that decides. There is no third truth value: `NOT` reverses.
  ///
  /// - Throws: what `value` throws; or a predicate error for a variable without value, a part that is not supported, or
  ///   a tree deeper than ``depthLimit``.
  public func evaluate<Failure: Error>(
    variables: [String: Value] = [:], now: Double? = nil, value: (ObjectReference?, String) throws(Failure) -> Value
  ) throws(PredicateEvaluationError<Failure>) -> Bool {
    var state = EvaluationState(variables: variables, now: now)
    return try evaluate(&state, value: value)
  }

  /// The same for one of many objects: what is found out for one is kept for the next in `state`.
  public func evaluate<Failure: Error>(
    _ state: inout EvaluationState, value: (ObjectReference?, String) throws(Failure) -> Value
  ) throws(PredicateEvaluationError<Failure>) -> Bool {
    #if CAMBIUM_NO_PREDICATES
      throw .predicate(.leftOut)
    #else
      return try holds(&state, value, depth: 0)
    #endif
  }

  func holds<Failure: Error>(
    _ state: inout EvaluationState, _ value: (ObjectReference?, String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Bool {
    // Expressions count as levels, here as in the parser, and so the deepest predicate that it makes still passes.
    guard depth <= Predicate.depthLimit else { throw .predicate(PredicateError.tooDeep) }
    switch self {
    case .true: return true
    case .false: return false
    case .and(let parts):
      for part in parts where try !part.holds(&state, value, depth: depth + 1) { return false }
      return true
    case .or(let parts):
      for part in parts where try part.holds(&state, value, depth: depth + 1) { return true }
      return false
    case .not(let inner): return try !inner.holds(&state, value, depth: depth + 1)
    case .comparison(let comparison):
      let left = try comparison.left.value(&state, value, depth: depth + 1)
      let right = try comparison.right.value(&state, value, depth: depth + 1)
      guard comparison.comparator == .matches else { return comparison.holds(left, right) }
      guard let text = right.text else { return comparison.holds(left, right, nil) }
      do throws(PredicateError) {
        return comparison.holds(left, right, try state.pattern(text, comparison.options))
      } catch { throw .predicate(error) }
    }
  }
}

extension Comparison {
  /// Whether the comparison holds between two values that were read for its sides, the modifier applied. A regular
  /// expression that cannot be read matches nothing.
  public func holds(_ left: Value, _ right: Value) -> Bool {
    guard comparator == .matches, let text = right.text else { return holds(left, right, nil) }
    do throws(PredicateError) { return holds(left, right, try RegularExpression(text, options)) } catch {
      return holds(left, right, nil)
    }
  }

  fileprivate func holds(_ left: Value, _ right: Value, _ pattern: RegularExpression?) -> Bool {
    let rule = ComparisonRule(self, pattern)
    guard modifier != .direct else { return rule.holds(left, right) }
    for element in left.elements {
      let isTrue = rule.holds(element, right)
      switch modifier {
      case .any where isTrue: return true
      case .none where isTrue: return false
      case .all where !isTrue: return false
      default: break
      }
    }
    return modifier != .any
  }
}

/// What a comparison asks of one pair of values.
private struct ComparisonRule {
  let comparator: Comparator
  let options: ComparisonOptions
  /// What the right side says, where that is a regular expression.
  let pattern: RegularExpression?

  init(_ comparison: Comparison, _ pattern: RegularExpression?) {
    self.pattern = pattern
    comparator = comparison.comparator
    options = comparison.options.intersection([.caseInsensitive, .diacriticInsensitive])
  }

  func holds(_ left: Value, _ right: Value) -> Bool {
    switch comparator {
    case .equal: return isEqual(left, right)
    case .notEqual: return !isEqual(left, right)
    case .less: return order(left, right) == .less
    case .greater: return order(left, right) == .greater
    case .lessOrEqual: return order(left, right).map { $0 != .greater } ?? false
    case .greaterOrEqual: return order(left, right).map { $0 != .less } ?? false
    case .between:
      guard case .list(let bounds) = right, bounds.count == 2 else { return false }
      guard let low = order(left, bounds[0]), let high = order(left, bounds[1]) else { return false }
      return low != .less && high != .greater
    case .in:
      if case .list(let elements) = right { return contains(elements, left) }
      return text(left, right) { $1.contains($0) }
    case .contains:
      if case .list(let elements) = left { return contains(elements, right) }
      return text(left, right) { $0.contains($1) }
    case .beginsWith: return text(left, right) { $0.hasPrefix($1) }
    case .endsWith: return text(left, right) { $0.hasSuffix($1) }
    case .like:
      guard let subject = left.text, let pattern = right.text else { return false }
      return LikePattern(pattern, options).matches(FoldedText(subject, options))
    case .matches:
      guard let subject = left.text, let pattern else { return false }
      return pattern.matches(FoldedText(subject, options))
    }
  }

  private func isEqual(_ a: Value, _ b: Value) -> Bool {
    if !options.isEmpty, let x = a.text, let y = b.text, a.isURI == b.isURI {
      return FoldedText(x, options) == FoldedText(y, options)
    }
    return a.isEqual(to: b)
  }

  private func order(_ a: Value, _ b: Value) -> ValueOrdering? {
    if !options.isEmpty, let x = a.text, let y = b.text, a.isURI == b.isURI {
      return FoldedText.order(FoldedText(x, options), FoldedText(y, options))
    }
    switch (a, b) {
    case (.composite, _), (.list, _): return nil
    default: return a.compare(to: b)
    }
  }

  private func contains(_ elements: [Value], _ value: Value) -> Bool {
    for element in elements where isEqual(element, value) { return true }
    return false
  }

  private func text(_ a: Value, _ b: Value, _ test: (FoldedText, FoldedText) -> Bool) -> Bool {
    guard let x = a.text, let y = b.text else { return false }
    return test(FoldedText(x, options), FoldedText(y, options))
  }
}

extension Value {
  /// The text of a string or URI.
  var text: String? {
    switch self {
    case .string(let text), .uri(let text): return text
    default: return nil
    }
  }

  fileprivate var isURI: Bool {
    if case .uri = self { return true }
    return false
  }
}

extension PredicateError {
  static var tooDeep: PredicateError {
    PredicateError(.tooDeep, "", "nested deeper than \(Predicate.depthLimit) levels")
  }
}

extension PredicateError {
  static func unboundVariable(_ name: String) -> PredicateError {
    PredicateError(.unboundVariable, "$" + name, "the variable has no value; substitute it first")
  }
}
