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
      PredicateTranslator.foldedContainment(try translator.translate(root), try translator.translate(other))
    }
  }
#else
  // Foundation has this part on Apple's platforms only, although `#Predicate` writes it everywhere.
  extension PredicateExpressions {
    /// The part of a predicate that `#Predicate` writes for `localizedStandardContains(_:)`. It tells whether a text
    /// contains another one, without regard to case, diacritics and language, as `CONTAINS[cd]` does.
    public struct StringLocalizedStandardContains<
      Root: StandardPredicateExpression, Other: StandardPredicateExpression
    >: StandardPredicateExpression where Root.Output: StringProtocol, Other.Output: StringProtocol {
      /// The text.
      public let root: Root
      /// What it is to contain.
      public let other: Other

      /// Makes the part from its own parts.
      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      /// Whether the text contains the other one.
      ///
      /// - Throws: what evaluating them throws.
      public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
        let (text, part) = (String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
        return try PredicateTranslator.foldedContainment(
          .value(.constant(.string(text))), .value(.constant(.string(part)))
        ).condition.evaluate { (_, _) in .null }
      }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// What `#Predicate` calls for `localizedStandardContains(_:)`.
    public static func build_localizedStandardContains<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
      StringLocalizedStandardContains(root: root, other: other)
    }
  }

  extension PredicateExpressions.StringLocalizedStandardContains: FetchExpressible {
    func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
      PredicateTranslator.foldedContainment(try translator.translate(root), try translator.translate(other))
    }
  }
#endif

extension PredicateTranslator {
  /// Whether a text contains another one, without regard to case and diacritics.
  fileprivate static func foldedContainment(
    _ text: TranslatedExpression, _ part: TranslatedExpression
  ) -> TranslatedExpression {
    .condition(TranslatedExpression.compare(text, .contains, part, [.caseInsensitive, .diacriticInsensitive]))
  }
}
