/// Why a predicate could not be evaluated.
public enum PredicateEvaluationError<Failure: Error>: Error {
  /// The predicate is at fault.
  case predicate(PredicateError)
  /// Reading a value failed.
  case value(Failure)
}

extension Predicate {
  /// Whether the object matches whose values `value` reads: the definition of what predicates mean, which every plan has
  /// to agree with.
  ///
  /// `value` is called with a dotted key path and answers what is there: null where an attribute is null or a to-one
  /// relationship on the way is empty; a list of all the values, from all the objects on the way, if the path goes through
  /// a to-many relationship. `SELF` is asked for as the path `self`.
  ///
  /// The rules, which follow Core Data's in-memory ones where these are clear:
  /// - `==` is ``Value/isEqual(to:)``: null equals null; values of kinds that don't compare are unequal. `!=` is its
  ///   reverse, so it holds if exactly one side is null.
  /// - `< <= > >=` and `BETWEEN` never hold if a side is null or the kinds don't compare. `nil <= nil` does not hold.
  /// - `IN` holds if the left side `==` an element of the list (null included), or, if both sides are strings, if the left
  ///   is part of the right. `CONTAINS` on a list is the same the other way round.
  /// - `BEGINSWITH`, `CONTAINS`, `ENDSWITH`, `LIKE` hold for strings and URIs only, never for null. Every string begins
  ///   with, contains and ends with the empty one. `LIKE` matches the whole string.
  /// - `[c]` and `[d]` fold both sides, in every comparison of strings.
  /// - With `ANY`, `ALL`, `NONE` the left side's values are compared one by one; null counts as no values, another single
  ///   value as one. `ALL` and `NONE` of no values hold, `ANY` does not.
  /// - `AND` and `OR` stop at the first part that decides. There is no third truth value: `NOT` reverses.
  ///
  /// - Throws: what `value` throws; or a predicate error for a variable without value, a part that is not supported, or
  ///   a tree deeper than ``depthLimit``.
  public func evaluate<Failure: Error>(
    variables: [String: Value] = [:], value: (String) throws(Failure) -> Value
  ) throws(PredicateEvaluationError<Failure>) -> Bool {
    try holds(variables, value, depth: 0)
  }

  private func holds<Failure: Error>(
    _ variables: [String: Value], _ value: (String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Bool {
    // The parser counts expressions as a level, and so the deepest predicate it makes still passes.
    guard depth <= Predicate.depthLimit else { throw .predicate(PredicateError.tooDeep) }
    switch self {
    case .true: return true
    case .false: return false
    case .and(let parts):
      for part in parts where try !part.holds(variables, value, depth: depth + 1) { return false }
      return true
    case .or(let parts):
      for part in parts where try part.holds(variables, value, depth: depth + 1) { return true }
      return false
    case .not(let inner): return try !inner.holds(variables, value, depth: depth + 1)
    case .comparison(let comparison):
      if comparison.comparator == .matches {
        throw .predicate(PredicateError(.unsupported, "MATCHES", "regular expressions are not supported; use LIKE"))
      }
      let left = try comparison.left.read(variables, value, depth: 0)
      let right = try comparison.right.read(variables, value, depth: 0)
      return comparison.holds(left, right)
    }
  }
}

extension Comparison {
  /// Whether the comparison holds between two values that were read for its sides, the modifier applied.
  public func holds(_ left: Value, _ right: Value) -> Bool {
    guard modifier != .direct else { return ComparisonRule(self).holds(left, right) }
    let elements: [Value]
    switch left {
    case .null: elements = []
    case .list(let values): elements = values
    default: elements = [left]
    }
    let rule = ComparisonRule(self)
    for element in elements {
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

  init(_ comparison: Comparison) {
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
    case .matches: return false
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
  fileprivate var text: String? {
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

extension Expression {
  fileprivate func read<Failure: Error>(
    _ variables: [String: Value], _ value: (String) throws(Failure) -> Value, depth: Int
  ) throws(PredicateEvaluationError<Failure>) -> Value {
    guard depth <= Predicate.depthLimit else { throw .predicate(.tooDeep) }
    switch self {
    case .constant(let constant): return constant
    case .keyPath(let path):
      do throws(Failure) { return try value(path) } catch { throw .value(error) }
    case .evaluatedObject:
      do throws(Failure) { return try value("self") } catch { throw .value(error) }
    case .variable(let name):
      guard let bound = variables[name] else { throw .predicate(.unboundVariable(name)) }
      return bound
    case .list(let elements):
      var values: [Value] = []
      for element in elements { values.append(try element.read(variables, value, depth: depth + 1)) }
      return .list(values)
    default: throw .predicate(unsupportedError)
    }
  }

  /// What to say about a case that nothing supports yet.
  var unsupportedError: PredicateError {
    let name: String
    switch self {
    case .member(.variable(let variable), let path): return .unboundVariable(variable + "." + path)
    case .constant, .keyPath, .evaluatedObject, .variable, .list: name = ""
    case .arithmetic, .negated: name = "arithmetic"
    case .function(let function, _): name = function
    case .cast: name = "CAST"
    case .ternary: name = "TERNARY"
    case .subquery: name = "SUBQUERY"
    case .aggregate(let operation, _, _): name = operation.text
    case .member(_, let path): name = path
    case .element: name = "[]"
    case .fetch: name = "FETCH"
    case .assignment: name = ":="
    }
    return PredicateError(.unsupported, name, "not supported; compute the value first and compare with it")
  }
}

extension PredicateError {
  static func unboundVariable(_ name: String) -> PredicateError {
    PredicateError(.unboundVariable, "$" + name, "the variable has no value; substitute it first")
  }
}
