import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A predicate as a part of another one: the condition that it asks of an object there. Foundation has such a part on
/// Apple's platforms only. With this one predicates are joined, each of which has a variable of its own.
package struct EvaluatedPredicate<Input: StandardPredicateExpression>: StandardPredicateExpression {
  private let predicate: FoundationPredicate<Input.Output>
  private let input: Input

  /// Makes the part.
  ///
  /// - Parameter input: What leads to the object.
  package init(_ predicate: FoundationPredicate<Input.Output>, of input: Input) {
    self.predicate = predicate
    self.input = input
  }

  /// Returns whether the object meets the predicate.
  package func evaluate(_ bindings: PredicateBindings) throws -> Bool {
    try predicate.evaluate(try input.evaluate(bindings))
  }
}

// Foundation requires that parts can be coded, and codes its own predicates on Apple's platforms only.
extension EvaluatedPredicate {
  /// Refuses.
  ///
  /// - Throws: `DecodingError`.
  package init(from decoder: any Decoder) throws {
    throw DecodingError.dataCorrupted(
      .init(codingPath: decoder.codingPath, debugDescription: "a joined predicate cannot be decoded"))
  }

  /// Refuses.
  ///
  /// - Throws: `EncodingError`.
  package func encode(to encoder: any Encoder) throws {
    throw EncodingError.invalidValue(
      self,
      .init(
        codingPath: encoder.codingPath,
        debugDescription: "a joined predicate cannot be encoded; encode the predicates that it joins"))
  }
}

extension EvaluatedPredicate: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let object = try translator.translate(input)
    return try translator.translate(predicate.expression, where: [(predicate.variable.key, object)])
  }
}
