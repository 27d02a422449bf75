import CambiumKernel

extension PredicateChecker {
  /// What is known about an expression.
  struct Side {
    /// `nil` if it is not known, as for variables and null. Of the elements, if there are several.
    var type: AttributeType?
    var attribute: AttributeSchema?
    /// The entity of objects; `nil` if it is not known.
    var entity: UInt32?
    /// Whether it gives several values.
    var isToMany = false
    /// Whether several values have an order of their own.
    var isOrdered = false
    /// Whether the type is that of the model or of an operation, which a constant on the other side has to have.
    var isTyped = false
    var constant: Value?

    var mayBeText: Bool {
      switch type {
      case .string, .uri, .undefined, nil: return true
      default: return false
      }
    }

    /// Whether it is a list, or may be one: a variable may.
    var mayBeList: Bool {
      switch constant {
      case .list: return true
      case .some: return false
      case nil: return type == nil
      }
    }

    /// Of one value of a type; nothing is known if that is nil.
    init(_ type: AttributeType?) {
      self.type = type
      isTyped = type != nil
    }

    init(constant: Value) {
      type = constant.attributeType
      self.constant = constant
      if case .reference(let reference) = constant { entity = reference.entity }
    }

    init(_ path: ResolvedPath) {
      type = path.type
      attribute = path.attribute
      isToMany = path.isToMany
      isTyped = true
      isOrdered = isToMany
      for step in path.steps {
        switch step {
        case .toMany(let relationship, let destination):
          if !relationship.isOrdered { isOrdered = false }
          entity = destination
        case .toOne(_, let destination): entity = destination
        case .evaluatedObject: entity = entity ?? path.entity
        case .attribute, .element, .objectID: entity = nil
        }
      }
    }

    /// One of several.
    var element: Side {
      var result = self
      result.isToMany = false
      result.isOrdered = false
      return result
    }
  }

  /// An expression in its normal form, and what is known about it.
  ///
  /// A level of expressions takes two frames, this one and that of its kind; what is required of the parts is asked by
  /// functions that return before the next level is looked at. The deepest tree has to fit the stack of a small thread.
  func side(_ expression: Expression, depth: Int) throws(PredicateError) -> (Expression, Side) {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch expression {
    case .constant, .variable, .evaluatedObject, .keyPath: return try leaf(expression)
    case .list(let elements): return try list(elements, depth: depth)
    case .arithmetic(let operation, let a, let b): return try arithmetic(operation, a, b, depth: depth)
    case .negated(let inner): return try negated(inner, depth: depth)
    case .function(let name, let arguments): return try function(name, arguments, depth: depth)
    case .cast(let inner, let name): return try cast(inner, name, depth: depth)
    case .ternary(let condition, let then, let otherwise):
      return try ternary(condition, then, otherwise, depth: depth)
    case .subquery(let collection, let variable, let condition):
      return try subquery(collection, variable, condition, depth: depth)
    case .aggregate(let operation, let collection, let path):
      return try aggregate(operation, collection, path, depth: depth)
    case .member(let object, let path): return try member(object, path, depth: depth)
    case .element(let collection, let index): return try element(collection, index, depth: depth)
    case .fetch, .assignment: throw expression.unsupportedError
    }
  }

  @inline(never)
  private func leaf(_ expression: Expression) throws(PredicateError) -> (Expression, Side) {
    switch expression {
    case .constant(let value): return (expression, Side(constant: value))
    case .variable(let name):
      for known in scope.reversed() where known.name == name { return (expression, known.side) }
      return (expression, Side(nil))
    case .keyPath(let text):
      if let valuesOf { return (expression, try side(ofPart: text, of: valuesOf)) }
      return (expression, Side(try resolve(text, from: entity)))
    default:
      if let valuesOf { return (expression, Side(valuesOf: valuesOf)) }
      var side = Side(.objectID)
      side.entity = entity
      return (expression, side)
    }
  }

  @inline(never)
  private func list(_ parts: [Expression], depth: Int) throws(PredicateError) -> (Expression, Side) {
    let result = Expression.list(of: try elements(parts, depth: depth).map { $0.0 })
    if case .constant(let value) = result { return (result, Side(constant: value)) }
    return (result, Side(nil))
  }

  @inline(never)
  private func negated(_ inner: Expression, depth: Int) throws(PredicateError) -> (Expression, Side) {
    let (checked, side) = try side(inner, depth: depth + 1)
    try requireNumber(side, checked, "-")
    return folded(.negated(checked), Side(side.type == .boolean ? .integer64 : side.type))
  }

  @inline(never)
  private func cast(_ inner: Expression, _ name: String, depth: Int) throws(PredicateError) -> (Expression, Side) {
    guard let type = CastType(name) else { throw .unknownCast(name) }
    let (checked, side) = try side(inner, depth: depth + 1)
    try requireSingle(side, checked, "CAST")
    return folded(.cast(checked, type: name), Side(type.attributeType))
  }

  /// The elements of a list.
  @inline(never)
  func elements(_ expressions: [Expression], depth: Int) throws(PredicateError) -> [(Expression, Side)] {
    var result: [(Expression, Side)] = []
    for expression in expressions {
      let (checked, side) = try side(expression, depth: depth + 1)
      if side.isToMany { throw mismatch(checked, "several values cannot be one element of a list") }
      result.append((checked, side))
    }
    return result
  }

  func resolve(_ text: String, from entity: UInt32) throws(PredicateError) -> ResolvedPath {
    guard let schema else {
      throw PredicateError(.unknownKeyPath, text, "a condition on values looks at no objects")
    }
    do throws(SchemaError) { return try schema.resolve(keyPath: text, from: entity) } catch {
      switch error {
      case .unknownKeyPath(_, let component, let place):
        throw PredicateError(
          .unknownKeyPath, text,
          "'\(place)' has no property '\(component)'" + schema.alternatives(along: text, from: entity))
      case .keyPathTooLong: throw PredicateError(.tooDeep, "", error.description)
      default: throw PredicateError(.unknownKeyPath, text, "the entity is not in the model")
      }
    }
  }

  /// About a part that has been checked, and so is not too deep to be written out.
  func mismatch(_ expression: Expression, _ advice: String) -> PredicateError {
    PredicateError(.typeMismatch, expression.description, advice)
  }

  /// The value of an expression whose parts are all values.
  @inline(never)
  func folded(_ expression: Expression, _ side: Side) -> (Expression, Side) {
    var isConstant = true
    expression.forEachPart { (part) throws(Never) in
      guard case .constant = part else { return isConstant = false }
    } _: { (_) throws(Never) in
      isConstant = false
    }
    guard isConstant else { return (expression, side) }
    var state = EvaluationState()
    do throws(PredicateEvaluationError<PredicateError>) {
      let value = try expression.read(
        &state, { (_, path) throws(PredicateError) in throw .unboundVariable(path) }, depth: 0)
      return (.constant(value), Side(constant: value))
    } catch { return (expression, side) }
  }

  // MARK: Operands

  /// An operand gives one value.
  @inline(never)
  func requireSingle(_ side: Side, _ checked: Expression, _ operation: String) throws(PredicateError) {
    if side.isToMany {
      throw mismatch(
        checked, "\(operation) takes one value, and this gives many; use a collection operator such as @sum")
    }
    if case .list = side.constant { throw mismatch(checked, "\(operation) takes one value, and this is a list") }
  }

  /// An operand gives one value, which may be a number.
  @inline(never)
  func requireNumber(_ side: Side, _ checked: Expression, _ operation: String) throws(PredicateError) {
    try requireSingle(side, checked, operation)
    if let type = side.type, type != .undefined, !type.isNumeric {
      throw mismatch(checked, "\(operation) takes numbers, and this is a \(type.name)")
    }
  }

  /// Several values: a list, a path through a to-many relationship, a subquery. Answers what is known of them.
  @inline(never)
  func several(_ side: Side, _ checked: Expression, _ operation: String) throws(PredicateError) -> Side {
    if side.isToMany { return side }
    var unknown = Side(nil)
    unknown.isToMany = true
    unknown.isOrdered = true
    switch side.constant {
    case .list: return unknown
    case .some(let value) where !value.isNull: break
    default: if side.type == nil || side.type == .undefined { return unknown }
    }
    throw mismatch(checked, "\(operation) takes many values, and this gives one")
  }
}
