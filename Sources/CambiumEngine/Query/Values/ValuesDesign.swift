import CambiumKernel

/// A fetch of values, checked: what is read of each object, what is gathered for each group, and how results are made
/// of it.
///
/// Each object or group has a row of slots. Of a group these are the grouped values, then the aggregates; of an object,
/// what its columns and then its order read.
struct ValuesDesign {
  /// Where a result's value comes from.
  enum Source {
    case constant(Value)
    case slot(Int)
    /// Computed of slots, which are its variables.
    case computed(Expression)
  }

  /// An order of results.
  struct Order {
    var source: Source
    var sort: EngineSort
  }

  let rules: ValuesRules
  let isGrouped: Bool
  /// What is read of each object: of groups their key paths, else all slots.
  private(set) var read: [Expression] = []
  /// What is gathered for each group, of which value. Their slots follow those of the key paths.
  private(set) var aggregates: [(function: GroupFunction, argument: Expression)] = []
  private(set) var columns: [(source: Source, type: AttributeType?)] = []
  private(set) var order: [Order] = []
  /// The condition on groups, with variables called after the slots.
  private(set) var having: Predicate?

  /// Whether each slot is a column as it is, so that results with different slots are different.
  var hasColumnsOfAllSlots: Bool {
    var isColumn: [Bool] = Array(repeating: false, count: read.count + aggregates.count)
    for column in columns {
      if case .slot(let slot) = column.source, column.type == nil { isColumn[slot] = true }
    }
    return !isColumn.contains(false)
  }

  /// Whether the columns are all slots in their order.
  var hasSlotsAsColumns: Bool {
    for (place, column) in columns.enumerated() {
      guard case .slot(place) = column.source, column.type == nil else { return false }
    }
    return columns.count == read.count + aggregates.count
  }

  private let groupBy: [String]
  private var named: [String: Int] = [:]
  /// What the aggregates are of, as it was written, to be found again.
  private var written: [Expression] = []
  /// Of groups, what is known of each slot, and what it was called.
  private(set) var known: [(side: PredicateChecker.Side, spelling: Expression)] = []

  /// Parts of what is being written with slots, and of each column. A column that names others has all of theirs.
  private var parts = 0
  private var sizes: [Int] = []
  /// More are refused: columns that name one another twice would double each time.
  static let mostParts = 20_000

  init(_ request: EngineValuesFetch, _ schema: Schema) throws(EngineError) {
    rules = ValuesRules(schema, request.fetch.entity)
    groupBy = request.groupBy
    var hasAggregate = false
    for column in request.columns where try ValuesRules.hasAggregate(column.expression, depth: 0) {
      hasAggregate = true
    }
    isGrouped = !groupBy.isEmpty || hasAggregate
    if request.columns.isEmpty { throw .misuse("a fetch of values needs something to fetch: name a property") }
    if request.having != nil, groupBy.isEmpty {
      throw .misuse("a condition on groups (having) needs groups: name what to group by, or use the predicate")
    }
    for path in groupBy {
      let resolved = try rules.checkSingle(
        path, "group by", "a group has one value of it; group the objects at its other end")
      read.append(.keyPath(path))
      known.append((PredicateChecker.Side(resolved), .keyPath(path)))
    }
    for column in request.columns { try add(column) }
    for key in request.fetch.sort {
      order.append(Order(source: try orderSource(key, request.isDistinct), sort: key))
    }
    if let condition = request.having {
      parts = 0
      let condition = try rewritten(condition, depth: 0, namesColumns: true)
      having = try checked { (checker) throws(PredicateError) in try checker.check(condition, depth: 0) }
    }
  }

  // MARK: Columns

  private mutating func add(_ column: EngineColumn) throws(EngineError) {
    if column.name.isEmpty { throw .misuse("a column of the results has no name") }
    if named[column.name] != nil { throw .misuse("two columns of the results are called '\(column.name)'") }
    parts = 0
    let source = try source(of: column.expression)
    sizes.append(parts)
    named[column.name] = columns.count
    columns.append((source, column.type))
  }

  private mutating func source(of expression: Expression) throws(EngineError) -> Source {
    if case .constant(let value) = expression { return .constant(value) }
    if isGrouped {
      let computed = try rewritten(expression, depth: 0, namesColumns: false)
      return source(ofSlots: try checked { (checker) throws(PredicateError) in try checker.side(computed, depth: 0).0 })
    }
    if case .keyPath(let path) = expression {
      try rules.checkSingle(path, "fetch", "an aggregate such as max takes all its values")
      return .slot(slot(reading: expression))
    }
    let (checked, side) = try rules.check(expression)
    if side.isToMany {
      throw .misuse("'\(expression.description)' gives several values: a column has one; use an operator such as @max")
    }
    return .slot(slot(reading: checked))
  }

  private func source(ofSlots expression: Expression) -> Source {
    switch expression {
    case .constant(let value): return .constant(value)
    case .variable(let name): return Int(name).map { .slot($0) } ?? .computed(expression)
    default: return .computed(expression)
    }
  }

  /// The slot of a key path that groups have one value of.
  private func grouped(_ path: String) throws(EngineError) -> Int {
    for (index, known) in groupBy.enumerated() where known == path { return index }
    throw .misuse(
      "'\(path)' has several values in a group: group by it as well, or fetch an aggregate (\(ValuesRules.functions)) "
        + "of it")
  }

  private mutating func slot(reading expression: Expression) -> Int {
    for (index, known) in read.enumerated() where known == expression { return index }
    read.append(expression)
    return read.count - 1
  }

  /// The slot of an aggregate; `call` is how it was written.
  private mutating func slot(
    _ function: GroupFunction, _ argument: Expression, _ call: Expression
  ) throws(EngineError) -> Int {
    for (index, known) in written.enumerated() where aggregates[index].function == function && known == argument {
      return groupBy.count + index
    }
    aggregates.append((function, try rules.checkAggregated(argument, function)))
    written.append(argument)
    known.append((function.side(of: try rules.check(argument).1), call))
    return groupBy.count + aggregates.count - 1
  }

  // MARK: Order

  private mutating func orderSource(_ sort: EngineSort, _ isDistinct: Bool) throws(EngineError) -> Source {
    let key = sort.keyPath
    if sort.origin != nil {
      if isGrouped { throw .misuse("results are ordered by a distance, which objects have, and groups have not") }
      guard try rules.checkSingle(key, "sort by", "sort by a property with one value").isPlace else {
        throw .misuse("'\(key)' has no distance: that takes a composite with numbers 'latitude' and 'longitude'")
      }
      return try slotOfOrder(key, isDistinct)
    }
    if let column = named[key] {
      if rules.isComposite(key) { throw .misuse("'\(key)' is a composite: sort by one of its elements") }
      return columns[column].source
    }
    if isGrouped {
      for (index, known) in groupBy.enumerated() where known == key { return .slot(index) }
      throw .misuse("results are ordered by '\(key)', which is neither a column of theirs nor grouped by")
    }
    let path = try rules.checkSingle(key, "sort by", "sort by a property with one value")
    if path.type == .composite { throw .misuse("'\(key)' is a composite: sort by one of its elements") }
    return try slotOfOrder(key, isDistinct)
  }

  /// The slot of a key path that results are ordered by.
  private mutating func slotOfOrder(_ key: String, _ isDistinct: Bool) throws(EngineError) -> Source {
    let known = read.count
    let slot = slot(reading: .keyPath(key))
    if isDistinct, slot == known {
      throw .misuse("distinct results are ordered by '\(key)', which is no column of theirs: fetch it as well")
    }
    return .slot(slot)
  }

  /// The order as one of the objects that results are made of, one by one; nil if it has to be made of the results.
  var orderOfObjects: [EngineSort]? {
    var keys: [EngineSort] = []
    for key in order {
      guard case .slot(let slot) = key.source, case .keyPath(let path) = read[slot],
        key.sort.origin != nil || !rules.isComposite(path)
      else { return nil }
      var sort = key.sort
      sort.keyPath = path
      keys.append(sort)
    }
    return keys
  }

  // MARK: What is said of groups

  private mutating func rewritten(
    _ predicate: Predicate, depth: Int, namesColumns: Bool
  ) throws(EngineError) -> Predicate {
    guard depth <= Predicate.depthLimit else { throw .predicate(.tooDeep) }
    switch predicate {
    case .true, .false: return predicate
    case .not(let inner): return .not(try rewritten(inner, depth: depth + 1, namesColumns: namesColumns))
    case .and(let parts): return .and(try rewritten(parts, depth: depth + 1, namesColumns: namesColumns))
    case .or(let parts): return .or(try rewritten(parts, depth: depth + 1, namesColumns: namesColumns))
    case .comparison(var comparison):
      comparison.left = try rewritten(comparison.left, depth: depth + 1, namesColumns: namesColumns)
      comparison.right = try rewritten(comparison.right, depth: depth + 1, namesColumns: namesColumns)
      return .comparison(comparison)
    }
  }

  private mutating func rewritten(
    _ parts: [Predicate], depth: Int, namesColumns: Bool
  ) throws(EngineError) -> [Predicate] {
    var result: [Predicate] = []
    for part in parts { result.append(try rewritten(part, depth: depth, namesColumns: namesColumns)) }
    return result
  }

  private mutating func column(_ column: Int) throws(EngineError) -> Expression {
    try count(sizes[column])
    return expression(of: columns[column].source)
  }

  private mutating func count(_ more: Int) throws(EngineError) {
    parts += more
    if parts > Self.mostParts {
      throw .misuse(
        "a column or condition comes to more than \(Self.mostParts) parts where it names other columns: compute it of fewer"
      )
    }
  }

  /// An expression with slots in place of what a group has one value of.
  private mutating func rewritten(
    _ expression: Expression, depth: Int, namesColumns: Bool
  ) throws(EngineError) -> Expression {
    guard depth <= Predicate.depthLimit else { throw .predicate(.tooDeep) }
    try count(1)
    if let (function, argument) = ValuesRules.aggregate(expression) {
      return .variable("\(try slot(function, argument, expression))")
    }
    switch expression {
    case .constant: return expression
    case .evaluatedObject: return .variable("\(try grouped("self"))")
    case .keyPath(let name):
      if namesColumns, let column = named[name] { return try self.column(column) }
      return .variable("\(try grouped(name))")
    case .variable(let name):
      guard let column = named[name] else { throw .predicate(.unboundVariable(name)) }
      return try self.column(column)
    case .fetch, .assignment: throw .predicate(expression.unsupportedError)
    case .subquery, .aggregate, .member, .element:
      throw .unsupported(
        "'\(expression.description)' is asked of objects, not of a group: put it into an aggregate (\(ValuesRules.functions))"
      )
    default:
      var parts: [Expression] = []
      var conditions: [Predicate] = []
      try expression.forEachPart { (part) throws(EngineError) in
        parts.append(try rewritten(part, depth: depth + 1, namesColumns: namesColumns))
      } _: { (condition) throws(EngineError) in
        conditions.append(try rewritten(condition, depth: depth + 1, namesColumns: namesColumns))
      }
      var (part, condition) = (0, 0)
      return expression.replacingParts { (_) throws(Never) in
        part += 1
        return parts[part - 1]
      } _: { (_) throws(Never) in
        condition += 1
        return conditions[condition - 1]
      }
    }
  }

  private func expression(of source: Source) -> Expression {
    switch source {
    case .constant(let value): return .constant(value)
    case .slot(let slot): return .variable("\(slot)")
    case .computed(let expression): return expression
    }
  }
}
