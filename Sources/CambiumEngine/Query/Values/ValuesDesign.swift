import CambiumKernel

/// A fetch of values, checked: what is read of each object, what is gathered for each group, and how results are made of it.
///
/// Each object or group has a row of slots. Of a group these are the grouped values, then the aggregates; of an object, what
/// its columns and then its order read.
struct ValuesDesign {
  /// Where a result's value comes from.
  enum Source {
    case constant(Value)
    case slot(Int)
  }

  /// An order of results.
  struct Order {
    var source: Source
    var sort: EngineSort
  }

  private let schema: Schema
  private let entity: EntitySchema
  let isGrouped: Bool
  /// What is read of each object: of groups their key paths, else all slots.
  private(set) var read: [Expression] = []
  /// What is gathered for each group, of which value. Their slots follow those of the key paths.
  private(set) var aggregates: [(function: GroupFunction, argument: Expression)] = []
  private(set) var columns: [(source: Source, type: AttributeType?)] = []
  private(set) var order: [Order] = []
  /// The condition on groups, with variables called after the slots.
  private(set) var having: Predicate?

  private let groupBy: [String]
  private var named: [String: Int] = [:]

  init(_ request: EngineValuesFetch, _ schema: Schema) throws(EngineError) {
    self.schema = schema
    entity = request.fetch.entity
    groupBy = request.groupBy
    var hasAggregate = false
    for column in request.columns where ValuesDesign.aggregate(column.expression) != nil { hasAggregate = true }
    isGrouped = !groupBy.isEmpty || hasAggregate
    if request.columns.isEmpty { throw .misuse("a fetch of values needs something to fetch: name a property") }
    if request.having != nil, groupBy.isEmpty {
      throw .misuse("a condition on groups (having) needs groups: name what to group by, or use the predicate")
    }
    for path in groupBy {
      try checkSingle(path, "group by", "a group has one value of it; group the objects at its other end")
      read.append(.keyPath(path))
    }
    for column in request.columns { try add(column) }
    for key in request.fetch.sort {
      order.append(Order(source: try orderSource(key.keyPath, request.isDistinct), sort: key))
    }
    if let condition = request.having { having = try rewritten(condition, depth: 0) }
  }

  // MARK: Columns

  private mutating func add(_ column: EngineColumn) throws(EngineError) {
    if column.name.isEmpty { throw .misuse("a column of the results has no name") }
    if named[column.name] != nil { throw .misuse("two columns of the results are called '\(column.name)'") }
    named[column.name] = columns.count
    columns.append((try source(of: column.expression, named: column.name), column.type))
  }

  private mutating func source(of expression: Expression, named name: String) throws(EngineError) -> Source {
    if let (function, argument) = ValuesDesign.aggregate(expression) {
      return .slot(try slot(function, argument, named: name))
    }
    switch expression {
    case .constant(let value): return .constant(value)
    case .keyPath(let path):
      if isGrouped { return try grouped(path) }
      try checkSingle(path, "fetch", "an aggregate such as max takes all its values")
    case .evaluatedObject:
      if isGrouped { return try grouped("self") }
    default:
      throw .unsupported(
        "'\(expression.description)' cannot be fetched as a value: fetch key paths, literals, and \(ValuesDesign.functions)"
      )
    }
    return .slot(slot(reading: expression))
  }

  /// A key path that groups have one value of.
  private func grouped(_ path: String) throws(EngineError) -> Source {
    for (index, known) in groupBy.enumerated() where known == path { return .slot(index) }
    throw .misuse(
      "'\(path)' has several values in a group: group by it as well, or fetch an aggregate (\(ValuesDesign.functions)) "
        + "of it")
  }

  private mutating func slot(reading expression: Expression) -> Int {
    for (index, known) in read.enumerated() where known == expression { return index }
    read.append(expression)
    return read.count - 1
  }

  private mutating func slot(
    _ function: GroupFunction, _ argument: Expression, named name: String
  ) throws(EngineError) -> Int {
    switch argument {
    case .keyPath(let path): try checkAggregated(path, function)
    case .evaluatedObject, .constant:
      if function != .count { throw .misuse("'\(name)' takes a key path to its values") }
    default: throw .unsupported("'\(argument.description)' cannot be aggregated: name a key path")
    }
    for (index, known) in aggregates.enumerated() where known.function == function && known.argument == argument {
      return groupBy.count + index
    }
    aggregates.append((function, argument))
    return groupBy.count + aggregates.count - 1
  }

  // MARK: Order

  private mutating func orderSource(_ key: String, _ isDistinct: Bool) throws(EngineError) -> Source {
    if let column = named[key] { return columns[column].source }
    if isGrouped {
      for (index, known) in groupBy.enumerated() where known == key { return .slot(index) }
      throw .misuse("results are ordered by '\(key)', which is neither a column of theirs nor grouped by")
    }
    let path = try checkSingle(key, "sort by", "sort by a property with one value")
    if path.type == .composite { throw .misuse("'\(key)' is a composite: sort by one of its elements") }
    let known = read.count
    let slot = slot(reading: .keyPath(key))
    if isDistinct, slot == known {
      throw .misuse("distinct results are ordered by '\(key)', which is no column of theirs: fetch it as well")
    }
    return .slot(slot)
  }

  // MARK: Condition on groups

  private mutating func rewritten(_ predicate: Predicate, depth: Int) throws(EngineError) -> Predicate {
    guard depth <= Predicate.depthLimit else { throw .misuse("the condition on groups is nested too deeply") }
    switch predicate {
    case .true, .false: return predicate
    case .not(let inner): return .not(try rewritten(inner, depth: depth + 1))
    case .and(let parts): return .and(try rewritten(parts, depth: depth + 1))
    case .or(let parts): return .or(try rewritten(parts, depth: depth + 1))
    case .comparison(var comparison):
      comparison.left = try rewritten(comparison.left, depth: depth + 1)
      comparison.right = try rewritten(comparison.right, depth: depth + 1)
      return .comparison(comparison)
    }
  }

  private mutating func rewritten(_ parts: [Predicate], depth: Int) throws(EngineError) -> [Predicate] {
    var result: [Predicate] = []
    for part in parts { result.append(try rewritten(part, depth: depth)) }
    return result
  }

  private mutating func rewritten(_ expression: Expression, depth: Int) throws(EngineError) -> Expression {
    guard depth <= Predicate.depthLimit else { throw .misuse("the condition on groups is nested too deeply") }
    if let (function, argument) = ValuesDesign.aggregate(expression) {
      return .variable("\(try slot(function, argument, named: expression.description))")
    }
    switch expression {
    case .constant: return expression
    case .keyPath(let name), .variable(let name):
      let source: Source
      if let column = named[name] { source = columns[column].source } else { source = try grouped(name) }
      switch source {
      case .constant(let value): return .constant(value)
      case .slot(let slot): return .variable("\(slot)")
      }
    case .list(let elements):
      var result: [Expression] = []
      for element in elements { result.append(try rewritten(element, depth: depth + 1)) }
      return .list(result)
    default:
      throw .unsupported(
        "'\(expression.description)' cannot be asked of a group: compare columns, grouped key paths and \(ValuesDesign.functions)"
      )
    }
  }

  // MARK: Rules

  private static let functions = "count, sum, average, min and max"

  private static func aggregate(_ expression: Expression) -> (GroupFunction, Expression)? {
    guard case .function(let name, let arguments) = expression, arguments.count == 1,
      let function = GroupFunction(name)
    else { return nil }
    return (function, arguments[0])
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

  @discardableResult
  private func checkSingle(
    _ path: String, _ what: String, _ advice: String
  ) throws(EngineError) -> ResolvedPath {
    let resolved = try resolve(path)
    if resolved.isToMany { throw .misuse("cannot \(what) '\(path)', which leads to several objects: \(advice)") }
    return resolved
  }

  private func checkAggregated(_ path: String, _ function: GroupFunction) throws(EngineError) {
    let type = try resolve(path).type
    switch function {
    case .count: return
    case .sum, .average:
      if !type.isNumeric { throw .misuse("'\(path)' is of type \(type.name): only numbers have a sum or an average") }
    case .minimum, .maximum:
      switch type {
      case .composite, .transformable, .objectID:
        throw .misuse("'\(path)' is of type \(type.name), which has no least or greatest value")
      default: return
      }
    }
  }
}
