import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PredicateExpressions.NilLiteral: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression { .null }
}

extension PredicateExpressions.NilCoalesce: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try translator.translate(lhs).coalesced(try translator.translate(rhs))
  }
}

extension PredicateExpressions.ForcedUnwrap: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try translator.translate(inner)
  }
}

extension PredicateExpressions.OptionalFlatMap: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let wrapped = try translator.translate(wrapped)
    if let constant = wrapped.constant, constant.isNull { return .null }
    let result = try translator.translate(transform, where: variable.key, is: wrapped)
    if wrapped.constant != nil { return result }
    // A path that leads on from nothing leads to nothing.
    if case .value(let start) = wrapped, case .value(let end) = result, end.path(from: start) != nil { return result }
    return .choice(wrapped.isPresent, result, .null)
  }
}
