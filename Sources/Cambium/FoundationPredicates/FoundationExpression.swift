import CambiumEngine

#if canImport(Darwin)
  import Foundation

  /// Foundation's expression on one object, which `#Expression` makes.
  public typealias FoundationExpression<Object, Output> = Foundation.Expression<Object, Output>
#elseif canImport(FoundationEssentials)
  import FoundationEssentials

  /// Foundation's expression on one object, which `#Expression` makes.
  public typealias FoundationExpression<Object, Output> = FoundationEssentials.Expression<Object, Output>
#else
  import Foundation

  /// Foundation's expression on one object, which `#Expression` makes.
  public typealias FoundationExpression<Object, Output> = Foundation.Expression<Object, Output>
#endif

extension FetchExpression {
  /// Takes an expression of Foundation's on objects of another face, which says what the parts stand for.
  ///
  /// - Throws: ``CambiumError/Code/invalidPredicate`` naming the part that has no translation; what `naming` throws.
  package init<Object, Output>(
    _ expression: FoundationExpression<Object, Output>, naming: any PredicateNaming
  ) throws {
    var translator = PredicateTranslator(object: expression.variable.key, naming: naming)
    self.init(try translator.translate(expression.expression).expression)
  }
}
