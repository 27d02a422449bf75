/// What a fetch of values may name.
struct ValuesRules {
  private let schema: Schema
  private let entity: EntitySchema

  init(_ schema: Schema, _ entity: EntitySchema) {
    self.schema = schema
    self.entity = entity
  }

  /// What looks at expressions of an object.
  var checker: PredicateChecker { PredicateChecker(schema: schema, entity: entity.id) }

  /// The aggregates, in messages.
  static let functions = "count, sum, average, min and max"

  /// The aggregate that an expression is, and of what; nil if it is none.
  static func aggregate(_ expression: Expression) -> (GroupFunction, Expression)? {
    guard case .function(let name, let arguments) = expression, arguments.count == 1,
      let function = GroupFunction(name)
    else { return nil }
    return (function, arguments[0])
  }

  /// Whether an expression is made of aggregates.
  static func hasAggregate(_ expression: Expression, depth: Int) throws(EngineError) -> Bool {
    guard depth <= Predicate.depthLimit else { throw .predicate(.tooDeep) }
    if aggregate(expression) != nil { return true }
    switch expression {
    // These go over values of one object.
    case .subquery, .aggregate, .element: return false
    default: break
    }
    var result = false
    try expression.forEachPart { (part) throws(EngineError) in
      if try hasAggregate(part, depth: depth + 1) { result = true }
    } _: { (condition) throws(EngineError) in
      if try hasAggregate(condition, depth: depth + 1) { result = true }
    }
    return result
  }

  private static func hasAggregate(_ predicate: Predicate, depth: Int) throws(EngineError) -> Bool {
    guard depth <= Predicate.depthLimit else { throw .predicate(.tooDeep) }
    switch predicate {
    case .true, .false: return false
    case .not(let inner): return try hasAggregate(inner, depth: depth + 1)
    case .and(let parts), .or(let parts):
      for part in parts { if try hasAggregate(part, depth: depth + 1) { return true } }
      return false
    case .comparison(let comparison):
      if try hasAggregate(comparison.left, depth: depth + 1) { return true }
      return try hasAggregate(comparison.right, depth: depth + 1)
    }
  }

  /// Whether a key path leads to a composite as a whole.
  func isComposite(_ path: String) -> Bool {
    do throws(SchemaError) { return try schema.resolve(keyPath: path, from: entity.id).type == .composite } catch {
      // It is the name of something else.
      return false
    }
  }

  private func resolve(_ path: String) throws(EngineError) -> ResolvedPath {
    let resolved: ResolvedPath
    do throws(SchemaError) { resolved = try schema.resolve(keyPath: path, from: entity.id) } catch {
      throw .unknownProperty(entity: entity.name, name: path)
    }
    for step in resolved.steps {
      if case .attribute(let attribute) = step, attribute.isTransient {
        throw .misuse("'\(path)' is transient: the store has no values of it")
      }
    }
    return resolved
  }

  /// Refuses a key path that gives several values.
  @discardableResult
  func checkSingle(_ path: String, _ what: String, _ advice: String) throws(EngineError) -> ResolvedPath {
    let resolved = try resolve(path)
    if resolved.isToMany { throw .misuse("cannot \(what) '\(path)', which leads to several objects: \(advice)") }
    return resolved
  }

  /// An expression of an object, in its normal form, and what is known about it.
  func check(_ expression: Expression) throws(EngineError) -> (Expression, PredicateChecker.Side) {
    do throws(PredicateError) {
      return try PredicateChecker(schema: schema, entity: entity.id).side(expression, depth: 0)
    } catch { throw .predicate(error) }
  }

  /// Refuses what an aggregate cannot be of; the expression in its normal form.
  func checkAggregated(_ expression: Expression, _ function: GroupFunction) throws(EngineError) -> Expression {
    if try Self.hasAggregate(expression, depth: 0) {
      throw .misuse("'\(expression.description)' is an aggregate itself: of groups there are no groups")
    }
    let checked: Expression
    let type: AttributeType?
    if case .keyPath(let path) = expression {
      checked = expression
      type = try resolve(path).type
    } else {
      let (normal, side) = try check(expression)
      (checked, type) = (normal, side.type)
    }
    guard let type, type != .undefined, function != .count else { return checked }
    if function.takesNumbers, !type.isNumeric {
      throw .misuse(
        "'\(expression.description)' is of type \(type.name): only numbers have a sum, an average and the like")
    }
    switch type {
    case .composite, .transformable, .objectID:
      throw .misuse("'\(expression.description)' is of type \(type.name), which has no least or greatest value")
    default: return checked
    }
  }
}
