import CambiumEngine

extension CambiumEngine.Predicate {
  /// Adds the key paths that the predicate reads. Parsed predicates are no deeper than the engine's limit.
  func collectKeyPaths(into paths: inout [String]) {
    switch self {
    case .true, .false: break
    case .and(let parts), .or(let parts):
      for part in parts { part.collectKeyPaths(into: &paths) }
    case .not(let inner): inner.collectKeyPaths(into: &paths)
    case .comparison(let comparison):
      comparison.left.collectKeyPaths(into: &paths)
      comparison.right.collectKeyPaths(into: &paths)
    }
  }
}

extension CambiumEngine.Expression {
  /// Adds the key paths that the expression reads. Those inside of subqueries count by their collection.
  fileprivate func collectKeyPaths(into paths: inout [String]) {
    switch self {
    case .keyPath(let path): paths.append(path)
    case .list(let parts), .function(_, let parts):
      for part in parts { part.collectKeyPaths(into: &paths) }
    case .arithmetic(_, let a, let b):
      a.collectKeyPaths(into: &paths)
      b.collectKeyPaths(into: &paths)
    case .negated(let a), .cast(let a, _), .assignment(_, let a), .member(let a, _), .element(let a, _):
      a.collectKeyPaths(into: &paths)
    case .aggregate(_, let collection, _), .subquery(let collection, _, _): collection.collectKeyPaths(into: &paths)
    case .ternary(let condition, let a, let b):
      condition.collectKeyPaths(into: &paths)
      a.collectKeyPaths(into: &paths)
      b.collectKeyPaths(into: &paths)
    case .constant, .variable, .evaluatedObject, .fetch: break
    }
  }
}
