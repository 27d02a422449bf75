import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The store has one type for each attribute, and the model says which. A cast is the value itself where it cannot fail, or
// takes an element out of an untyped dictionary; nothing else has a meaning.

extension PredicateExpressions.ForceCast: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    guard isHarmless(from: Input.Output.self, to: Desired.self) else { throw unsupportedCast("as!", Desired.self) }
    return try translator.translate(input)
  }
}

extension PredicateExpressions.ConditionalCast: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    guard isHarmless(from: Input.Output.self, to: Desired.self) else { throw unsupportedCast("as?", Desired.self) }
    return try translator.translate(input)
  }
}

extension PredicateExpressions.TypeCheck: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    if Input.Output.self == Desired.self { return .condition(.true) }
    if Optional<Desired>.self == Input.Output.self {
      return .condition(try translator.translate(input).isPresent)
    }
    throw unsupportedCast("is", Desired.self)
  }
}

private func isHarmless<From, To>(from: From.Type, to: To.Type) -> Bool {
  From.self == To.self || From.self == Optional<To>.self || To.self == Optional<From>.self || From.self == Any.self
    || From.self == Any?.self
}

private func unsupportedCast(_ cast: String, _ type: Any.Type) -> CambiumError {
  PredicateTranslator.unsupported(
    "'\(cast) \(type)'",
    "give the property the type that the model has for it; for objects of a subentity, fetch that entity")
}
