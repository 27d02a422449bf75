import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PredicateExpressions.Equal: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    .condition(.compare(try translator.translate(lhs), .equal, try translator.translate(rhs)))
  }
}

extension PredicateExpressions.NotEqual: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    .condition(.compare(try translator.translate(lhs), .notEqual, try translator.translate(rhs)))
  }
}

extension PredicateExpressions.Comparison: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let comparator: Comparator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      }
    return .condition(.compare(try translator.translate(lhs), comparator, try translator.translate(rhs)))
  }
}

extension PredicateExpressions.Conjunction: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    .condition(.all([try translator.translate(lhs).condition, try translator.translate(rhs).condition]))
  }
}

extension PredicateExpressions.Disjunction: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    .condition(.any([try translator.translate(lhs).condition, try translator.translate(rhs).condition]))
  }
}

extension PredicateExpressions.Negation: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    .condition(try translator.translate(wrapped).condition.reversed())
  }
}

extension PredicateExpressions.Conditional: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let test = try translator.translate(test).condition
    let (a, b) = (try translator.translate(trueBranch), try translator.translate(falseBranch))
    switch test {
    case .true: return a
    case .false: return b
    default: return .choice(test, a, b)
    }
  }
}

extension CambiumEngine.Predicate {
  /// A comparison of two parts.
  fileprivate static func compare(
    _ left: TranslatedExpression, _ comparator: Comparator, _ right: TranslatedExpression
  ) -> EnginePredicate {
    TranslatedExpression.compare(left, comparator, right)
  }
}
