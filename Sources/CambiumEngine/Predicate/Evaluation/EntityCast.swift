extension PredicateFunction {
  /// The object, if its entity is among those of the third argument; else null.
  static func castToEntity(_ arguments: [Value]) throws(PredicateError) -> Value {
    guard arguments.count == 3, case .list(let kinds) = arguments[2] else {
      throw PredicateError(
        .unsupported, castToEntity.name,
        "only a predicate that was checked against a model knows the entity; check it first")
    }
    guard case .reference(let reference) = arguments[0] else { return .null }
    return kinds.contains(.integer(Int64(reference.entity))) ? arguments[0] : .null
  }
}

extension Expression {
  /// What a cast to an entity casts, and the identifiers of the entity and its descendants; nil for anything else, and
  /// for a cast that was not checked against a model.
  var entityCast: (object: Expression, kinds: [Value])? {
    guard case .function(let name, let arguments) = self, arguments.count == 3,
      name == PredicateFunction.castToEntity.name, case .constant(.list(let kinds)) = arguments[2]
    else { return nil }
    return (arguments[0], kinds)
  }

  /// Whether this reads the evaluated object alone, as one of a certain entity.
  var isCastOfEvaluatedObject: Bool {
    guard case .function(PredicateFunction.castToEntity.name, let arguments) = self else { return false }
    return arguments.first == .evaluatedObject
  }
}

extension Predicate {
  /// The predicate as one about objects of just this entity: casts of the evaluated object are the object or null, and
  /// what decides a condition then decides it before a row is read. Answers the same for such objects.
  func specialized(for entity: UInt32) -> Predicate {
    guard mentionsEntityCast(depth: 0) else { return self }
    return specialized(for: entity, depth: 0)
  }

  /// Whether there is a cast of the evaluated object. Deeper ones than the evaluator takes are left to it.
  fileprivate func mentionsEntityCast(depth: Int) -> Bool {
    guard depth <= Predicate.depthLimit else { return false }
    switch self {
    case .true, .false: return false
    case .not(let inner): return inner.mentionsEntityCast(depth: depth + 1)
    case .and(let parts), .or(let parts):
      for part in parts where part.mentionsEntityCast(depth: depth + 1) { return true }
      return false
    case .comparison(let comparison):
      return comparison.left.mentionsEntityCast(depth: depth + 1)
        || comparison.right.mentionsEntityCast(depth: depth + 1)
    }
  }

  fileprivate func specialized(for entity: UInt32, depth: Int) -> Predicate {
    guard depth <= Predicate.depthLimit else { return self }
    switch self {
    case .true, .false: return self
    case .not(let inner):
      switch inner.specialized(for: entity, depth: depth + 1) {
      case .true: return .false
      case .false: return .true
      case let other: return .not(other)
      }
    case .and(let parts):
      var rest: [Predicate] = []
      for part in parts {
        switch part.specialized(for: entity, depth: depth + 1) {
        case .true: continue
        case .false:
          // What stands before may fail, and is asked first.
          if rest.isEmpty { return .false }
          rest.append(.false)
          return .and(rest)
        case let other: rest.append(other)
        }
      }
      return rest.isEmpty ? .true : rest.count == 1 ? rest[0] : .and(rest)
    case .or(let parts):
      var rest: [Predicate] = []
      for part in parts {
        switch part.specialized(for: entity, depth: depth + 1) {
        case .false: continue
        case .true:
          if rest.isEmpty { return .true }
          rest.append(.true)
          return .or(rest)
        case let other: rest.append(other)
        }
      }
      return rest.isEmpty ? .false : rest.count == 1 ? rest[0] : .or(rest)
    case .comparison(let comparison): return Self.specialized(comparison, for: entity, depth: depth)
    }
  }

  private static func specialized(_ original: Comparison, for entity: UInt32, depth: Int) -> Predicate {
    var comparison = original
    comparison.left = comparison.left.specialized(for: entity, depth: depth + 1)
    comparison.right = comparison.right.specialized(for: entity, depth: depth + 1)
    if comparison == original || comparison.modifier != .direct { return .comparison(comparison) }
    switch (comparison.left, comparison.comparator, comparison.right) {
    case (.evaluatedObject, .equal, .constant(.null)): return .false
    case (.evaluatedObject, .notEqual, .constant(.null)): return .true
    case (.constant(let a), _, .constant(let b)) where comparison.comparator != .matches:
      return comparison.holds(a, b) ? .true : .false
    default: return .comparison(comparison)
    }
  }
}

extension Expression {
  fileprivate func mentionsEntityCast(depth: Int) -> Bool {
    guard depth <= Predicate.depthLimit else { return false }
    if isCastOfEvaluatedObject { return true }
    var result = false
    forEachPart { (part) throws(Never) in
      if !result { result = part.mentionsEntityCast(depth: depth + 1) }
    } _: { (condition) throws(Never) in
      if !result { result = condition.mentionsEntityCast(depth: depth + 1) }
    }
    return result
  }

  fileprivate func specialized(for entity: UInt32, depth: Int) -> Expression {
    guard depth <= Predicate.depthLimit else { return self }
    if isCastOfEvaluatedObject, let cast = entityCast {
      return cast.kinds.contains(.integer(Int64(entity))) ? .evaluatedObject : .constant(.null)
    }
    let result = replacingParts { (part) throws(Never) in
      part.specialized(for: entity, depth: depth + 1)
    } _: { (condition) throws(Never) in
      condition.specialized(for: entity, depth: depth + 1)
    }
    switch result {
    case .member(.evaluatedObject, let path): return .keyPath(path)
    case .member(.constant(.null), _): return .constant(.null)
    default: return result
    }
  }
}
