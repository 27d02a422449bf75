import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PredicateExpressions.CollectionContainsCollection: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateTranslator.unsupported(
        "contains(_:) of a collection in another", "ask for each element, by allSatisfy and contains")
    }
    let (base, other) = (try translator.translate(base), try translator.translate(other))
    return .condition(TranslatedExpression.compare(base, .contains, other))
  }
}

extension PredicateExpressions.SequenceStartsWith: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    guard Base.Output.self is any StringProtocol.Type else {
      throw PredicateTranslator.unsupported("starts(with:) of anything but text", "compare elements by index")
    }
    let (base, start) = (try translator.translate(base), try translator.translate(prefix))
    return .condition(TranslatedExpression.compare(base, .beginsWith, start))
  }
}

#if canImport(Darwin)
  import Foundation

  extension PredicateExpressions.StringLocalizedStandardContains: FetchExpressible {
    func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
      let (root, other) = (try translator.translate(root), try translator.translate(other))
      return .condition(
        TranslatedExpression.compare(root, .contains, other, [.caseInsensitive, .diacriticInsensitive]))
    }
  }
#endif
