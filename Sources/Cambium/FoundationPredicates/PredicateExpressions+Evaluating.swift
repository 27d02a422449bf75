import CambiumEngine

#if canImport(Darwin)
  import Foundation
#elseif canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// A captured predicate or expression that is evaluated inside of another one: its variables stand for what it is given.

extension PredicateExpressions.ExpressionEvaluate: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    guard let inner = capturedValue(of: expression) as? Transformation.Output else {
      throw PredicateTranslator.unsupported("an expression that is not captured", "capture it in a constant")
    }
    var bound: [(PredicateExpressions.VariableID, TranslatedExpression)] = []
    for (variable, input) in repeat (each inner.variable, each input) {
      bound.append((variable.key, try translator.translate(input)))
    }
    return try translator.translate(inner.expression, where: bound)
  }
}

#if canImport(Darwin)
  // Foundation has this part on Apple's platforms only, and `#Predicate` refuses `evaluate(_:)` elsewhere.
  extension PredicateExpressions.PredicateEvaluate: FetchExpressible {
    func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
      guard let inner = capturedValue(of: predicate) as? Condition.Output else {
        throw PredicateTranslator.unsupported("a predicate that is not captured", "capture it in a constant")
      }
      var bound: [(PredicateExpressions.VariableID, TranslatedExpression)] = []
      for (variable, input) in repeat (each inner.variable, each input) {
        bound.append((variable.key, try translator.translate(input)))
      }
      return try translator.translate(inner.expression, where: bound)
    }
  }
#endif
