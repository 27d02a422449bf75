extension Predicate {
  /// The predicate with values in place of its variables. Variables without a value stay. The value of a key path from a
  /// variable, `$x.name`, is looked up under `x.name`.
  ///
  /// - Throws: an error of kind `tooDeep` for trees deeper than ``depthLimit``.
  public func substituting(_ variables: [String: Value]) throws(PredicateError) -> Predicate {
    try substituting(variables, depth: 0)
  }

  private func substituting(_ variables: [String: Value], depth: Int) throws(PredicateError) -> Predicate {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .true, .false: return self
    case .not(let inner): return .not(try inner.substituting(variables, depth: depth + 1))
    case .and(let parts):
      var result: [Predicate] = []
      for part in parts { result.append(try part.substituting(variables, depth: depth + 1)) }
      return .and(result)
    case .or(let parts):
      var result: [Predicate] = []
      for part in parts { result.append(try part.substituting(variables, depth: depth + 1)) }
      return .or(result)
    case .comparison(var comparison):
      comparison.left = try comparison.left.substituting(variables, depth: 0)
      comparison.right = try comparison.right.substituting(variables, depth: 0)
      return .comparison(comparison)
    }
  }
}

extension Predicate {
  /// The variables that have no value, each once, in the order of the text; with key paths, `x.name`, where it has them.
  ///
  /// - Throws: an error of kind `tooDeep` for trees deeper than ``depthLimit``.
  public func variableNames() throws(PredicateError) -> [String] {
    var result: [String] = []
    try collectVariables(into: &result, depth: 0)
    return result
  }

  private func collectVariables(into names: inout [String], depth: Int) throws(PredicateError) {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .true, .false: break
    case .not(let inner): try inner.collectVariables(into: &names, depth: depth + 1)
    case .and(let parts), .or(let parts):
      for part in parts { try part.collectVariables(into: &names, depth: depth + 1) }
    case .comparison(let comparison):
      try comparison.left.collectVariables(into: &names, depth: 0)
      try comparison.right.collectVariables(into: &names, depth: 0)
    }
  }
}

extension Expression {
  fileprivate func collectVariables(into names: inout [String], depth: Int) throws(PredicateError) {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .variable(let name): if !names.contains(name) { names.append(name) }
    case .member(.variable(let name), let path):
      if !names.contains(name + "." + path) { names.append(name + "." + path) }
    case .list(let elements):
      for element in elements { try element.collectVariables(into: &names, depth: depth + 1) }
    default: break
    }
  }

  fileprivate func substituting(_ variables: [String: Value], depth: Int) throws(PredicateError) -> Expression {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .variable(let name): return variables[name].map { .constant($0) } ?? self
    case .member(.variable(let name), let path): return variables[name + "." + path].map { .constant($0) } ?? self
    case .list(let elements):
      var result: [Expression] = []
      for element in elements { result.append(try element.substituting(variables, depth: depth + 1)) }
      return Expression.list(of: result)
    default: return self
    }
  }

  /// A list of expressions; a constant, if all of them are.
  static func list(of elements: [Expression]) -> Expression {
    var values: [Value] = []
    for element in elements {
      guard case .constant(let value) = element else { return .list(elements) }
      values.append(value)
    }
    return .constant(.list(values))
  }
}
