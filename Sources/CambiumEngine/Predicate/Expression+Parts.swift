extension Expression {
  /// Tells the expressions and conditions directly inside of this one, in the order of the text.
  func forEachPart<Failure: Error>(
    _ expression: (Expression) throws(Failure) -> Void, _ predicate: (Predicate) throws(Failure) -> Void
  ) throws(Failure) {
    switch self {
    case .constant, .keyPath, .variable, .evaluatedObject: break
    case .list(let parts), .function(_, let parts): for part in parts { try expression(part) }
    case .arithmetic(_, let a, let b), .fetch(let a, let b, _):
      try expression(a)
      try expression(b)
    case .negated(let a), .cast(let a, _), .aggregate(_, let a, _), .member(let a, _), .assignment(_, let a):
      try expression(a)
    case .element(let a, let index):
      try expression(a)
      if case .at(let place) = index { try expression(place) }
    case .ternary(let condition, let a, let b):
      try predicate(condition)
      try expression(a)
      try expression(b)
    case .subquery(let collection, _, let condition):
      try expression(collection)
      try predicate(condition)
    }
  }

  /// This expression with others in place of the parts directly inside of it.
  func replacingParts<Failure: Error>(
    _ expression: (Expression) throws(Failure) -> Expression, _ predicate: (Predicate) throws(Failure) -> Predicate
  ) throws(Failure) -> Expression {
    switch self {
    case .constant, .keyPath, .variable, .evaluatedObject: return self
    case .list(let parts):
      var result: [Expression] = []
      for part in parts { result.append(try expression(part)) }
      return Expression.list(of: result)
    case .function(let name, let parts):
      var result: [Expression] = []
      for part in parts { result.append(try expression(part)) }
      return .function(name, result)
    case .arithmetic(let operation, let a, let b):
      let left = try expression(a)
      return .arithmetic(operation, left, try expression(b))
    case .negated(let a): return .negated(try expression(a))
    case .cast(let a, let type): return .cast(try expression(a), type: type)
    case .ternary(let condition, let a, let b):
      let condition = try predicate(condition)
      let then = try expression(a)
      return .ternary(condition, then: then, otherwise: try expression(b))
    case .subquery(let collection, let variable, let condition):
      let collection = try expression(collection)
      return .subquery(collection: collection, variable: variable, condition: try predicate(condition))
    case .aggregate(let operation, let a, let path): return .aggregate(operation, try expression(a), path: path)
    case .member(let a, let path): return .member(try expression(a), path: path)
    case .element(let a, .at(let place)):
      let collection = try expression(a)
      return .element(collection, .at(try expression(place)))
    case .element(let a, let index): return .element(try expression(a), index)
    case .fetch(let a, let b, let countOnly):
      let request = try expression(a)
      return .fetch(request: request, context: try expression(b), countOnly: countOnly)
    case .assignment(let variable, let a): return .assignment(variable: variable, try expression(a))
    }
  }
}

extension Predicate {
  /// What a predicate looks at.
  public struct Reads: Equatable, Sendable {
    /// The key paths from the evaluated object, as written; a path may be there twice.
    public var keyPaths: [String] = []
    /// The key paths from the evaluated object as one of a subentity, as written.
    public var subentityPaths: [SubentityPath] = []
    /// Whether it asks of which entity an object is.
    public var testsEntity = false
    /// Whether it reads other objects than those that ``keyPaths`` and ``subentityPaths`` lead through.
    public var otherObjects = false
    /// Whether it may answer differently at another time, as `now()` and `random()` do.
    public var isVolatile = false
  }

  /// A key path from the evaluated object as one of another entity than is asked about.
  public struct SubentityPath: Equatable, Sendable {
    /// The name of the entity.
    public var entity: String
    /// The key path.
    public var keyPath: String
  }

  /// What the predicate looks at.
  ///
  /// - Throws: an error of kind `tooDeep` for trees deeper than ``depthLimit``.
  public func reads() throws(PredicateError) -> Reads {
    var result = Reads()
    try collectReads(into: &result, depth: 0)
    return result
  }

  private func collectReads(into reads: inout Reads, depth: Int) throws(PredicateError) {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .true, .false: break
    case .not(let inner): try inner.collectReads(into: &reads, depth: depth + 1)
    case .and(let parts), .or(let parts):
      for part in parts { try part.collectReads(into: &reads, depth: depth + 1) }
    case .comparison(let comparison):
      try Self.collectReads(comparison.left, &reads, depth: depth + 1)
      try Self.collectReads(comparison.right, &reads, depth: depth + 1)
    }
  }

  private static func collectReads(
    _ expression: Expression, _ reads: inout Reads, depth: Int
  ) throws(PredicateError) {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch expression {
    case .keyPath(let path): reads.keyPaths.append(path)
    case .member(.function(_, let arguments), let path) where Self.castsEvaluatedObject(expression):
      if arguments.count > 1, case .constant(.string(let entity)) = arguments[1] {
        reads.subentityPaths.append(SubentityPath(entity: entity, keyPath: path))
      }
    case .member, .aggregate(_, _, path: .some): reads.otherObjects = true
    case .function(let name, _) where name == PredicateFunction.castToEntity.name: reads.testsEntity = true
    case .function(let name, _): if PredicateFunction(name)?.isVolatile ?? true { reads.isVolatile = true }
    case .fetch: (reads.otherObjects, reads.isVolatile) = (true, true)
    default: break
    }
    try expression.forEachPart { (part) throws(PredicateError) in
      try collectReads(part, &reads, depth: depth + 1)
    } _: { (condition) throws(PredicateError) in
      try condition.collectReads(into: &reads, depth: depth + 1)
    }
  }

  private static func castsEvaluatedObject(_ expression: Expression) -> Bool {
    if case .member(let object, _) = expression { return object.isCastOfEvaluatedObject }
    return false
  }

  /// Whether the predicate may answer differently at another time; true for trees too deep to be evaluated. Allocates
  /// nothing.
  public var isVolatile: Bool { isVolatile(depth: 0) }

  fileprivate func isVolatile(depth: Int) -> Bool {
    guard depth <= Predicate.depthLimit else { return true }
    switch self {
    case .true, .false: return false
    case .not(let inner): return inner.isVolatile(depth: depth + 1)
    case .and(let parts), .or(let parts):
      for part in parts where part.isVolatile(depth: depth + 1) { return true }
      return false
    case .comparison(let comparison):
      return comparison.left.isVolatile(depth: depth + 1) || comparison.right.isVolatile(depth: depth + 1)
    }
  }
}

extension Expression {
  fileprivate func isVolatile(depth: Int) -> Bool {
    guard depth <= Predicate.depthLimit else { return true }
    if case .function(let name, _) = self, PredicateFunction(name)?.isVolatile ?? true { return true }
    var result = false
    forEachPart { (part) throws(Never) in
      if !result { result = part.isVolatile(depth: depth + 1) }
    } _: { (condition) throws(Never) in
      if !result { result = condition.isVolatile(depth: depth + 1) }
    }
    return result
  }
}
