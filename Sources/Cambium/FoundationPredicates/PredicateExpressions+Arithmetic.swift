import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PredicateExpressions.Arithmetic: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    // `+` of numbers is the same whatever their type; text is joined by another part, which Foundation does not have.
    let operation: CambiumEngine.ArithmeticOperator =
      switch op {
      case .add: .add
      case .subtract: .subtract
      case .multiply: .multiply
      }
    return calculated(operation, try translator.translate(lhs), try translator.translate(rhs))
  }
}

extension PredicateExpressions.FloatDivision: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    calculated(.divide, try translator.translate(lhs), try translator.translate(rhs))
  }
}

extension PredicateExpressions.IntDivision: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    calculated(.divide, try translator.translate(lhs), try translator.translate(rhs))
  }
}

extension PredicateExpressions.IntRemainder: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let (a, b) = (try translator.translate(lhs), try translator.translate(rhs))
    if case .integer(let x)? = a.constant, case .integer(let y)? = b.constant, y != 0 {
      return .value(.constant(.integer(x.remainderReportingOverflow(dividingBy: y).partialValue)))
    }
    return .value(.function("modulus:by:", [a.expression, b.expression]))
  }
}

extension PredicateExpressions.UnaryMinus: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let value = try translator.translate(wrapped)
    switch value.constant {
    case .integer(let number)? where number != .min: return .value(.constant(.integer(-number)))
    case .double(let number)?: return .value(.constant(.double(-number)))
    default: return .value(.negated(value.expression))
    }
  }
}

/// Constants are calculated at once, so that what they are compared with can be looked up in an index; what would
/// overflow is left to the engine, which has a rule for it.
private func calculated(
  _ operation: CambiumEngine.ArithmeticOperator, _ a: TranslatedExpression, _ b: TranslatedExpression
) -> TranslatedExpression {
  switch (a.constant, b.constant) {
  case (.integer(let x)?, .integer(let y)?):
    let result: (partialValue: Int64, overflow: Bool) =
      switch operation {
      case .add: x.addingReportingOverflow(y)
      case .subtract: x.subtractingReportingOverflow(y)
      case .multiply: x.multipliedReportingOverflow(by: y)
      case .divide: x.dividedReportingOverflow(by: y)
      case .power: (0, true)
      }
    if !result.overflow { return .value(.constant(.integer(result.partialValue))) }
  case (.double(let x)?, .double(let y)?):
    switch operation {
    case .add: return .value(.constant(.double(x + y)))
    case .subtract: return .value(.constant(.double(x - y)))
    case .multiply: return .value(.constant(.double(x * y)))
    case .divide: return .value(.constant(.double(x / y)))
    case .power: break
    }
  default: break
  }
  return .value(.arithmetic(operation, a.expression, b.expression))
}
