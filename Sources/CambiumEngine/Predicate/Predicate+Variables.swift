extension Predicate {
  /// The predicate with values in place of its variables. Variables without a value stay. The value of a key path from
  /// a variable, `$x.name`, is looked up under `x.name`, or read from the object that is given for `x`. What a subquery
  /// calls by a name is not replaced in its condition.
  ///
  /// - Throws: an error of kind `tooDeep` for trees deeper than ``depthLimit``.
  public func substituting(_ variables: [String: Value]) throws(PredicateError) -> Predicate {
    try substituting(variables, depth: 0)
  }

  fileprivate func substituting(_ variables: [String: Value], depth: Int) throws(PredicateError) -> Predicate {
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
      comparison.left = try comparison.left.substituting(variables, depth: depth + 1)
      comparison.right = try comparison.right.substituting(variables, depth: depth + 1)
      return .comparison(comparison)
    }
  }
}

extension Predicate {
  /// The predicate with a date, in seconds since 2001, in place of `now()`: what is computed from it is a constant
  /// then, by which an index may be asked.
  func substituting(now: Double) throws(PredicateError) -> Predicate {
    try replacing { expression in
      guard case .function(let name, let arguments) = expression, arguments.isEmpty, PredicateFunction(name) == .now
      else { return nil }
      return .constant(.date(now))
    }
  }

  /// The predicate with row 0, which no object has, in place of the references that `isStranger` says are none of the
  /// store that is asked.
  ///
  /// - Throws: an error of kind `tooDeep` for trees deeper than ``depthLimit``.
  public func withoutReferences(where isStranger: (ObjectReference) -> Bool) throws(PredicateError) -> Predicate {
    try replacing { expression in
      guard case .constant(let value) = expression else { return nil }
      return .constant(value.withoutReferences(where: isStranger))
    }
  }

  /// The predicate with other expressions in the place of some: those that `replacement` answers, the outermost first.
  func replacing(
    depth: Int = 0, _ replacement: (Expression) -> Expression?
  ) throws(PredicateError) -> Predicate {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .true, .false: return self
    case .not(let inner): return .not(try inner.replacing(depth: depth + 1, replacement))
    case .and(let parts):
      var result: [Predicate] = []
      for part in parts { result.append(try part.replacing(depth: depth + 1, replacement)) }
      return .and(result)
    case .or(let parts):
      var result: [Predicate] = []
      for part in parts { result.append(try part.replacing(depth: depth + 1, replacement)) }
      return .or(result)
    case .comparison(var comparison):
      comparison.left = try comparison.left.replacing(depth: depth + 1, replacement)
      comparison.right = try comparison.right.replacing(depth: depth + 1, replacement)
      return .comparison(comparison)
    }
  }

  /// The variables that have no value, each once, in the order of the text; with key paths, `x.name`, where it has
  /// them.
  ///
  /// - Throws: an error of kind `tooDeep` for trees deeper than ``depthLimit``.
  public func variableNames() throws(PredicateError) -> [String] {
    var result: [String] = []
    try collectVariables(into: &result, depth: 0)
    return result
  }

  fileprivate func collectVariables(into names: inout [String], depth: Int) throws(PredicateError) {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .true, .false: break
    case .not(let inner): try inner.collectVariables(into: &names, depth: depth + 1)
    case .and(let parts), .or(let parts):
      for part in parts { try part.collectVariables(into: &names, depth: depth + 1) }
    case .comparison(let comparison):
      try comparison.left.collectVariables(into: &names, depth: depth + 1)
      try comparison.right.collectVariables(into: &names, depth: depth + 1)
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
    case .subquery(let collection, let variable, let condition):
      try collection.collectVariables(into: &names, depth: depth + 1)
      var inner: [String] = []
      try condition.collectVariables(into: &inner, depth: depth + 1)
      for name in inner where name != variable && !name.utf8.starts(with: (variable + ".").utf8) {
        if !names.contains(name) { names.append(name) }
      }
    default:
      try forEachPart { (part) throws(PredicateError) in
        try part.collectVariables(into: &names, depth: depth + 1)
      } _: { (condition) throws(PredicateError) in
        try condition.collectVariables(into: &names, depth: depth + 1)
      }
    }
  }

  fileprivate func substituting(_ variables: [String: Value], depth: Int) throws(PredicateError) -> Expression {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .variable(let name): return variables[name].map { .constant($0) } ?? self
    case .member(.variable(let name), let path):
      if let known = variables[name + "." + path] { return .constant(known) }
      return variables[name].map { .member(.constant($0), path: path) } ?? self
    case .subquery(let collection, let variable, let condition):
      var inner: [String: Value] = [:]
      for (name, value) in variables where name != variable && !name.utf8.starts(with: (variable + ".").utf8) {
        inner[name] = value
      }
      return .subquery(
        collection: try collection.substituting(variables, depth: depth + 1), variable: variable,
        condition: try condition.substituting(inner, depth: depth + 1))
    default:
      return try replacingParts { (part) throws(PredicateError) in
        try part.substituting(variables, depth: depth + 1)
      } _: { (condition) throws(PredicateError) in
        try condition.substituting(variables, depth: depth + 1)
      }
    }
  }

  fileprivate func replacing(
    depth: Int, _ replacement: (Expression) -> Expression?
  ) throws(PredicateError) -> Expression {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    if let other = replacement(self) { return other }
    return try replacingParts { (part) throws(PredicateError) in
      try part.replacing(depth: depth + 1, replacement)
    } _: { (condition) throws(PredicateError) in
      try condition.replacing(depth: depth + 1, replacement)
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

extension Value {
  /// The value with row 0 in place of some references, also in lists, to any depth of these that values have.
  fileprivate func withoutReferences(where isStranger: (ObjectReference) -> Bool) -> Value {
    switch self {
    case .reference(let reference) where isStranger(reference):
      return .reference(ObjectReference(entity: reference.entity, row: 0))
    case .list(let values): return .list(values.map { $0.withoutReferences(where: isStranger) })
    default: return self
    }
  }
}
