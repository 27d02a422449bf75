#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Foundation's own way to use a predicate in another, `evaluate`, is refused by `#Predicate` off Apple's platforms.
extension Sequence {
  /// The condition that all of these hold. Of none, it holds.
  ///
  ///     let white = #Predicate<Aircraft> { $0.colorScheme?.primary == "white" }
  ///     let american = #Predicate<Aircraft> { $0.tailNumber.starts(with: "N") }
  ///     let both = [white, american].conjunction()
  public func conjunction<Object>() -> FoundationPredicate<Object> where Element == FoundationPredicate<Object> {
    FoundationPredicate<Object> { object in
      reduce(PredicateExpressions.build_Arg(true)) { joinedByAnd($0, EvaluatedPredicate($1, of: object)) }
    }
  }

  /// The condition that at least one of these holds. Of none, it does not.
  public func disjunction<Object>() -> FoundationPredicate<Object> where Element == FoundationPredicate<Object> {
    FoundationPredicate<Object> { object in
      reduce(PredicateExpressions.build_Arg(false)) { joinedByOr($0, EvaluatedPredicate($1, of: object)) }
    }
  }

  /// The condition that none of these holds: `[white].negation()` holds of what is not white.
  public func negation<Object>() -> FoundationPredicate<Object> where Element == FoundationPredicate<Object> {
    let any = disjunction()
    return FoundationPredicate<Object> { PredicateExpressions.build_Negation(EvaluatedPredicate(any, of: $0)) }
  }
}

private func joinedByAnd(
  _ a: any StandardPredicateExpression<Bool>, _ b: any StandardPredicateExpression<Bool>
) -> any StandardPredicateExpression<Bool> {
  func join(
    _ a: some StandardPredicateExpression<Bool>, _ b: some StandardPredicateExpression<Bool>
  ) -> any StandardPredicateExpression<Bool> {
    PredicateExpressions.build_Conjunction(lhs: a, rhs: b)
  }
  return join(a, b)
}

private func joinedByOr(
  _ a: any StandardPredicateExpression<Bool>, _ b: any StandardPredicateExpression<Bool>
) -> any StandardPredicateExpression<Bool> {
  func join(
    _ a: some StandardPredicateExpression<Bool>, _ b: some StandardPredicateExpression<Bool>
  ) -> any StandardPredicateExpression<Bool> {
    PredicateExpressions.build_Disjunction(lhs: a, rhs: b)
  }
  return join(a, b)
}
