import CambiumEngine

#if canImport(Darwin)
  import Foundation
#elseif canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if !canImport(Darwin)
  // Foundation has this part on Apple's platforms only, although `#Predicate` writes it everywhere.
  extension PredicateExpressions {
    /// The part of a predicate that `#Predicate` writes for `caseInsensitiveCompare(_:)`. It compares two texts without
    /// regard to case and language, as `==[c]` and `<[c]` do.
    public struct StringCaseInsensitiveCompare<
      Root: StandardPredicateExpression, Other: StandardPredicateExpression
    >: StandardPredicateExpression where Root.Output: StringProtocol, Other.Output: StringProtocol {
      /// The text.
      public let root: Root
      /// The text that it is compared with.
      public let other: Other

      /// Makes the part from its own parts.
      public init(root: Root, other: Other) {
        self.root = root
        self.other = other
      }

      /// Returns how the text is ordered in relation to the other one.
      ///
      /// - Throws: what evaluating them throws.
      public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
        let (text, other) = (String(try root.evaluate(bindings)), String(try other.evaluate(bindings)))
        let order = PredicateTranslator.orderWithoutCase(
          .value(.constant(.string(text))), .value(.constant(.string(other))))
        guard case .integer(let number)? = order.constant else { return .orderedSame }
        return ComparisonResult(rawValue: Int(number)) ?? .orderedSame
      }
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// What `#Predicate` calls for `caseInsensitiveCompare(_:)`.
    public static func build_caseInsensitiveCompare<Root, Other>(
      _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
      StringCaseInsensitiveCompare(root: root, other: other)
    }
  }
#endif

extension PredicateExpressions.StringCaseInsensitiveCompare: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    PredicateTranslator.orderWithoutCase(try translator.translate(root), try translator.translate(other))
  }
}

extension PredicateTranslator {
  /// The order of two texts as a number of Foundation's `ComparisonResult`, kept as a choice until it is known which
  /// result is asked for: `== .orderedSame` becomes `==[c]`.
  fileprivate static func orderWithoutCase(
    _ text: TranslatedExpression, _ other: TranslatedExpression
  ) -> TranslatedExpression {
    func holds(_ comparator: Comparator) -> EnginePredicate {
      TranslatedExpression.compare(text, comparator, other, [.caseInsensitive])
    }
    func result(_ order: ComparisonResult) -> TranslatedExpression {
      .value(.constant(.integer(Int64(order.rawValue))))
    }
    return chosen(
      holds(.equal), result(.orderedSame), chosen(holds(.less), result(.orderedAscending), result(.orderedDescending)))
  }

  private static func chosen(
    _ test: EnginePredicate, _ a: TranslatedExpression, _ b: TranslatedExpression
  ) -> TranslatedExpression {
    switch test {
    case .true: return a
    case .false: return b
    default: return .choice(test, a, b)
    }
  }
}
