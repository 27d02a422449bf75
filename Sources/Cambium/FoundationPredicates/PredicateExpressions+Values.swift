import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A value that was captured, or read from one that was.
private protocol CapturingExpression {
  func captured() -> CapturedValue?
}

private struct CapturedValue {
  let value: Any
}

extension PredicateExpressions.Value: CapturingExpression {
  fileprivate func captured() -> CapturedValue? { CapturedValue(value: value) }
}

extension PredicateExpressions.KeyPath: CapturingExpression {
  fileprivate func captured() -> CapturedValue? {
    guard let root = (root as? any CapturingExpression)?.captured()?.value as? Root.Output else { return nil }
    return CapturedValue(value: root[keyPath: keyPath as Swift.KeyPath<Root.Output, Output>])
  }
}

/// The value that a part was captured as, or reads from a captured value; nil if it is neither.
func capturedValue(of expression: any PredicateExpression) -> Any? {
  (expression as? any CapturingExpression)?.captured()?.value
}

extension PredicateExpressions.Value: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try translator.constant(value)
  }
}

extension PredicateExpressions.Variable: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try translator.value(of: key)
  }
}

extension PredicateExpressions.KeyPath: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    if let captured = captured() { return try translator.constant(captured.value) }
    let root = try translator.translate(root)
    switch try translator.name(of: keyPath, in: Root.Output.self) {
    case .property(let name)?: return root.mapped { .value($0.member(name)) }
    case .object?: return root
    case .refused(let reason)?: throw CambiumError(.invalidPredicate, reason)
    case nil: break
    }
    let isText = Root.Output.self is any StringProtocol.Type
    switch kind {
    case .collectionCount:
      return root.mapped { .value(isText ? .function("length", [$0]) : $0.count) }
    case .collectionIsEmpty:
      if isText { return .condition(TranslatedExpression.compare(root, .equal, .value(.constant("")))) }
      return root.mapped { .condition($0.isEmpty) }
    case .collectionFirst: return root.mapped { .value(.element($0, .first)) }
    case .bidirectionalCollectionLast: return root.mapped { .value(.element($0, .last)) }
    case nil:
      throw unnamed()
    }
  }
}

extension PredicateExpressions.KeyPath {
  /// Why the key path cannot be asked of a store, and what to declare. Swift tells the name of a stored property alone:
  /// of one that is computed, as those with `@Managed` are, its type has to do.
  private func unnamed() -> CambiumError {
    let whole = "\(keyPath)"
    let what = whole.contains("<computed") ? "a property of type \(Output.self)" : "the property \(whole)"
    let declaration =
      Root.Output.self is any PredicateKeyPaths.Type
      ? "add it to the predicateKeyPaths of \(Root.Output.self), or of the superclass that has them, if it is a property of that"
      : "conform \(Root.Output.self) to PredicateKeyPaths, with a predicateKeyPaths that gives [\\\(Root.Output.self).name: \"name\"]"
    return CambiumError(
      .invalidPredicate,
      "\(what) of \(Root.Output.self) has no name in the model: \(declaration), or name it by the argument 'names'")
  }
}

extension CambiumEngine.Expression {
  /// The number of elements.
  fileprivate var count: EngineExpression {
    if case .constant(.list(let values)) = self { return .constant(.integer(Int64(values.count))) }
    return .aggregate(.count, self, path: nil)
  }

  /// Whether there are no elements.
  fileprivate var isEmpty: EnginePredicate {
    if case .subquery(let collection, let variable, let condition) = self {
      return EnginePredicate.quantified(.any, collection, variable, condition).reversed()
    }
    return TranslatedExpression.compare(.value(count), .equal, .value(.constant(0)))
  }
}
