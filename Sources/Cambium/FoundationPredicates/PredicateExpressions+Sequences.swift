import CambiumEngine

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension PredicateExpressions.SequenceContains: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let element = try translator.translate(element)
    if let range = try (sequence as? any RangeExpressible)?.translatedRange(by: &translator) {
      return .condition(range.contains(element))
    }
    let sequence = try translator.translate(sequence)
    if LHS.Output.self is any StringProtocol.Type {
      return .condition(TranslatedExpression.compare(sequence, .contains, element))
    }
    return sequence.mapped { collection in
      switch collection {
      case .constant(.null): return .condition(.false)
      case .constant, .list: return .condition(TranslatedExpression.compare(element, .in, .value(collection)))
      default: return .condition(.compare(collection, .equal, element.expression, modifier: .any))
      }
    }
  }
}

extension PredicateExpressions.SequenceContainsWhere: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try quantified(.any, LHS.Output.self, sequence, variable.key, test, &translator)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try quantified(.all, LHS.Output.self, sequence, variable.key, test, &translator)
  }
}

extension PredicateExpressions.Filter: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try refuseCharacters(LHS.Output.self)
    return try translator.translate(sequence).mapped { collection in
      if case .constant = collection {
        throw PredicateTranslator.unsupported("filter of a captured collection", "filter it before it is captured")
      }
      let name = translator.makeLocalName()
      let test = try translator.translate(filter, where: variable.key, is: .value(.variable(name)))
      return .value(.subquery(collection: collection, variable: name, condition: test.condition))
    }
  }
}

extension PredicateExpressions.SequenceMaximum: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try translator.translate(elements).mapped { try $0.extreme(.maximum) }
  }
}

extension PredicateExpressions.SequenceMinimum: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    try translator.translate(elements).mapped { try $0.extreme(.minimum) }
  }
}

extension PredicateExpressions.CollectionIndexSubscript: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let (wrapped, index) = (try translator.translate(wrapped), try translator.translate(index))
    return wrapped.mapped { .value(.element($0, .at(index.expression))) }
  }
}

extension PredicateExpressions.DictionaryKeySubscript: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let name = try elementName(try translator.translate(key))
    return try translator.translate(wrapped).mapped { .value($0.member(name)) }
  }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: FetchExpressible {
  func translated(by translator: inout PredicateTranslator) throws -> TranslatedExpression {
    let name = try elementName(try translator.translate(key))
    let element = try translator.translate(wrapped).mapped { .value($0.member(name)) }
    return element.coalesced(try translator.translate(`default`))
  }
}

/// The name of a composite's element.
private func elementName(_ key: TranslatedExpression) throws -> String {
  if case .string(let name)? = key.constant { return name }
  throw PredicateTranslator.unsupported("a key that is no constant text", "name the composite's element")
}

private func refuseCharacters(_ type: Any.Type) throws {
  guard type is any StringProtocol.Type else { return }
  throw PredicateTranslator.unsupported(
    "going through the characters of a text", "use contains(_:) or starts(with:), or LIKE in a format string")
}

/// Whether a condition holds for one or all elements of a collection.
private func quantified(
  _ modifier: ComparisonModifier, _ type: Any.Type, _ sequence: any PredicateExpression,
  _ variable: PredicateExpressions.VariableID, _ test: any PredicateExpression, _ translator: inout PredicateTranslator
) throws -> TranslatedExpression {
  try refuseCharacters(type)
  return try translator.translate(sequence).mapped { collection in
    switch collection {
    case .constant(.null): return .condition(modifier == .any ? .false : .true)
    case .constant(.list(let values)):
      let parts = try values.map {
        try translator.translate(test, where: variable, is: .value(.constant($0))).condition
      }
      return .condition(modifier == .any ? .any(parts) : .all(parts))
    default:
      let name = translator.makeLocalName()
      let test = try translator.translate(test, where: variable, is: .value(.variable(name))).condition
      return .condition(.quantified(modifier, collection, name, test))
    }
  }
}

extension CambiumEngine.Predicate {
  /// Whether a condition on `$variable` holds for any or all elements of a collection: by `ANY` and `ALL`, which the
  /// engine answers fastest, or else by counting what a `SUBQUERY` gives.
  static func quantified(
    _ modifier: ComparisonModifier, _ collection: EngineExpression, _ variable: String, _ condition: EnginePredicate
  ) -> EnginePredicate {
    switch (modifier, condition) {
    case (.any, .false): return .false
    case (.all, .true): return .true
    case (.any, .true): return .compare(.aggregate(.count, collection, path: nil), .greater, .constant(0))
    case (.all, .false): return .compare(.aggregate(.count, collection, path: nil), .equal, .constant(0))
    case (.any, .or(let parts)): return .any(parts.map { quantified(modifier, collection, variable, $0) })
    case (.all, .and(let parts)): return .all(parts.map { quantified(modifier, collection, variable, $0) })
    case (_, .comparison(let comparison)):
      if let result = comparison.quantified(modifier, collection, variable) { return .comparison(result) }
    default: break
    }
    let isAny = modifier == .any
    let counted = EngineExpression.aggregate(
      .count, .subquery(collection: collection, variable: variable, condition: condition.reversed(!isAny)), path: nil)
    return .compare(counted, isAny ? .greater : .equal, .constant(0))
  }
}

extension CambiumEngine.Comparison {
  /// The comparison of a key path from a variable as one of all the elements that the variable stands for.
  fileprivate func quantified(
    _ modifier: ComparisonModifier, _ collection: EngineExpression, _ variable: String
  ) -> CambiumEngine.Comparison? {
    switch collection {
    case .keyPath, .member(.variable, _): break
    default: return nil
    }
    guard self.modifier == .direct || self.modifier == modifier else { return nil }
    var result = self
    if left.mentions(variable), !right.mentions(variable) {
      result.modifier = modifier
    } else if !left.mentions(variable), right.mentions(variable), self.modifier == .direct, let mirrored {
      result = CambiumEngine.Comparison(
        left: right, comparator: mirrored, right: left, options: options, modifier: modifier)
    } else {
      return nil
    }
    guard let path = result.left.path(from: .variable(variable)) else { return nil }
    result.left = path.isEmpty ? collection : collection.member(path)
    return result
  }

  private var mirrored: Comparator? {
    switch comparator {
    case .equal, .notEqual: return comparator
    case .less: return .greater
    case .lessOrEqual: return .greaterOrEqual
    case .greater: return .less
    case .greaterOrEqual: return .lessOrEqual
    default: return nil
    }
  }
}

extension CambiumEngine.Expression {
  /// The least or greatest element; null if there is none.
  fileprivate func extreme(_ operation: CollectionOperator) throws -> TranslatedExpression {
    switch self {
    case .constant(.list(let values)):
      let wanted: ValueOrdering = operation == .minimum ? .less : .greater
      return .value(
        .constant(values.reduce(.null) { $0.isNull || $1.compare(to: $0) == wanted ? $1 : $0 }))
    case .keyPath(let path):
      guard let dot = path.lastIndex(of: ".") else { return .value(.aggregate(operation, self, path: "self")) }
      return .value(
        .aggregate(operation, .keyPath(String(path[..<dot])), path: String(path[path.index(after: dot)...])))
    default:
      throw PredicateTranslator.unsupported(
        "min() or max() of this collection",
        "ask contains(where:) or allSatisfy(_:) for an element that is less or greater"
      )
    }
  }
}
