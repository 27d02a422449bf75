import CambiumEngine

extension TranslatedExpression {
  private enum Part {
    case translated(TranslatedExpression)
    case expression(EngineExpression)
    case condition(EnginePredicate)
  }

  /// Whether there are more conditions and expressions in this than a limit, each counted as often as it is gone
  /// through. Stops at the limit, and does not recurse: repeated parts share their memory, but a walk through all of
  /// them might never end.
  func hasMoreParts(than limit: Int) -> Bool {
    var rest = [Part.translated(self)]
    var count = 0
    while let part = rest.popLast() {
      count += 1
      if count > limit { return true }
      switch part {
      case .translated(.value(let expression)): rest.append(.expression(expression))
      case .translated(.condition(let condition)): rest.append(.condition(condition))
      case .translated(.choice(let test, let a, let b)):
        rest += [.condition(test), .translated(a), .translated(b)]
      case .condition(.true), .condition(.false): break
      case .condition(.not(let inner)): rest.append(.condition(inner))
      case .condition(.and(let parts)), .condition(.or(let parts)):
        // Looked at before they are put aside, which takes memory for each.
        if parts.count > limit { return true }
        for part in parts { rest.append(.condition(part)) }
      case .condition(.comparison(let comparison)):
        rest += [.expression(comparison.left), .expression(comparison.right)]
      case .expression(let expression): Self.addParts(of: expression, to: &rest)
      }
    }
    return false
  }

  private static func addParts(of expression: EngineExpression, to rest: inout [Part]) {
    switch expression {
    case .constant, .keyPath, .variable, .evaluatedObject: break
    case .list(let parts), .function(_, let parts): for part in parts { rest.append(.expression(part)) }
    case .arithmetic(_, let a, let b), .fetch(let a, let b, _): rest += [.expression(a), .expression(b)]
    case .negated(let a), .cast(let a, _), .aggregate(_, let a, _), .member(let a, _), .assignment(_, let a):
      rest.append(.expression(a))
    case .element(let a, let index):
      rest.append(.expression(a))
      if case .at(let place) = index { rest.append(.expression(place)) }
    case .ternary(let condition, let a, let b): rest += [.condition(condition), .expression(a), .expression(b)]
    case .subquery(let collection, _, let condition): rest += [.expression(collection), .condition(condition)]
    }
  }
}
