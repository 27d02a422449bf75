import CambiumEngine

/// What a part of a Foundation predicate comes to.
///
/// Swift's truth values are values like others, and may be missing; predicates have conditions apart from values. A
/// part that depends on a condition, such as `a ?? b`, is kept as a choice until it is known what it is compared with:
/// then each of its ends is compared by itself, which indexes can serve. `(minutes ?? 0) > 60` becomes `minutes > 60`.
indirect enum TranslatedExpression: Sendable {
  case value(EngineExpression)
  case condition(EnginePredicate)
  case choice(EnginePredicate, TranslatedExpression, TranslatedExpression)

  static let null = TranslatedExpression.value(.constant(.null))

  /// The value, if it does not depend on the object.
  var constant: EngineValue? {
    if case .value(.constant(let value)) = self { return value }
    return nil
  }

  /// The number of ends of a choice.
  private var ends: Int {
    if case .choice(_, let a, let b) = self { return a.ends + b.ends }
    return 1
  }

  /// More ends than this are left to be chosen from for each object: a choice compared with a choice has the product.
  private static let endsLimit = 16

  /// As a truth value; a missing one is false.
  var condition: EnginePredicate {
    switch self {
    case .condition(let condition): return condition
    case .choice(let test, let a, let b): return .choice(test, a.condition, b.condition)
    case .value(.constant(let value)): return value == .boolean(true) ? .true : .false
    case .value(let expression): return .compare(expression, .equal, .constant(.boolean(true)))
    }
  }

  /// As a value.
  var expression: EngineExpression {
    switch self {
    case .value(let expression): return expression
    case .condition(.true): return .constant(.boolean(true))
    case .condition(.false): return .constant(.boolean(false))
    case .condition(let condition):
      return .ternary(condition, then: .constant(.boolean(true)), otherwise: .constant(.boolean(false)))
    case .choice(let test, let a, let b): return .ternary(test, then: a.expression, otherwise: b.expression)
    }
  }

  /// Whether there is a value.
  var isPresent: EnginePredicate { Self.compare(self, .notEqual, .null) }

  /// The value, or another if there is none.
  func coalesced(_ other: TranslatedExpression) -> TranslatedExpression {
    switch self {
    case .condition: return self
    case .value(.constant(let value)): return value.isNull ? other : self
    case .choice(let test, let a, let b) where b.constant?.isNull == true:
      return .choice(test, a.coalesced(other), other)
    default: return .choice(isPresent, self, other)
    }
  }

  /// Something else made of each end.
  func mapped(
    _ transform: (EngineExpression) throws -> TranslatedExpression
  ) rethrows -> TranslatedExpression {
    switch self {
    case .choice(let test, let a, let b): return .choice(test, try a.mapped(transform), try b.mapped(transform))
    case .condition: return try transform(expression)
    case .value(let expression): return try transform(expression)
    }
  }

  // MARK: Comparing

  static func compare(
    _ left: TranslatedExpression, _ comparator: Comparator, _ right: TranslatedExpression,
    _ options: ComparisonOptions = []
  ) -> EnginePredicate {
    if left.ends * right.ends <= endsLimit {
      if case .choice(let test, let a, let b) = left {
        return .choice(test, compare(a, comparator, right, options), compare(b, comparator, right, options))
      }
      if case .choice(let test, let a, let b) = right {
        return .choice(test, compare(left, comparator, a, options), compare(left, comparator, b, options))
      }
    }
    if comparator == .equal || comparator == .notEqual {
      if case .condition(let condition) = left { return equal(condition, right).reversed(comparator == .notEqual) }
      if case .condition(let condition) = right { return equal(condition, left).reversed(comparator == .notEqual) }
    }
    let comparison = CambiumEngine.Comparison(
      left: left.expression, comparator: comparator, right: right.expression, options: options)
    if let a = left.constant, let b = right.constant { return comparison.holds(a, b) ? .true : .false }
    return .comparison(comparison)
  }

  private static func equal(_ condition: EnginePredicate, _ other: TranslatedExpression) -> EnginePredicate {
    switch other {
    case .condition(let another): return .choice(condition, another, another.reversed())
    case .value(.constant(let value)):
      if value == .boolean(true) { return condition }
      return value == .boolean(false) ? condition.reversed() : .false
    default:
      let isTrue = EnginePredicate.compare(other.expression, .equal, .constant(.boolean(true)))
      let isFalse = EnginePredicate.compare(other.expression, .equal, .constant(.boolean(false)))
      return .choice(condition, isTrue, isFalse)
    }
  }
}
