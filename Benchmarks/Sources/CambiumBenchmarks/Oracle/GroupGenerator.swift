import CambiumEngine

/// A random question about groups.
struct GroupQuery {
  var table: TwinTable
  var predicate: Predicate?
  var keys: [String]
  var aggregates: [(name: String, expression: Expression)]
  /// A condition on aggregates, as expressions.
  var having: Predicate?

  /// The request. Half of the conditions on groups name columns rather than write them once more.
  func request(_ tables: TwinTables, namesColumns: Bool) throws -> EngineValuesFetch {
    let columns =
      keys.map { EngineColumn($0, .keyPath($0)) } + aggregates.map { EngineColumn($0.name, $0.expression) }
    var request = EngineValuesFetch(
      EngineFetch(try tables.entity(table), predicate: predicate), columns: columns)
    request.groupBy = keys
    request.having = having.map { namesColumns ? named($0) : $0 }
    return request
  }

  private func named(_ predicate: Predicate) -> Predicate {
    switch predicate {
    case .and(let parts): return .and(parts.map(named))
    case .or(let parts): return .or(parts.map(named))
    case .not(let inner): return .not(named(inner))
    case .comparison(var comparison):
      if let known = aggregates.first(where: { $0.expression == comparison.left }) {
        comparison.left = .keyPath(known.name)
      }
      return .comparison(comparison)
    default: return predicate
    }
  }

  /// The same as SQL, with its parameters.
  func sql(_ tables: TwinTables) throws -> (text: String, parameters: [Value]) {
    let translator = SQLTranslator(tables)
    let scope = translator.scope(of: table)
    var columns = try keys.map { try translator.scalar(.keyPath($0), scope) }
    columns += try aggregates.map { try translator.aggregate($0.expression, scope) }
    var text = "SELECT \(columns.joined(separator: ", ")) FROM \(table.name) \(scope.alias)"
    if let predicate { text += " WHERE \(try translator.condition(predicate, scope))" }
    if !keys.isEmpty { text += " GROUP BY \((1...keys.count).map(String.init).joined(separator: ", "))" }
    if let having { text += " HAVING \(try translator.having(having, scope))" }
    return (text, translator.parameters)
  }

  var description: String {
    var text = table.name
    if let predicate { text += " where \(predicate)" }
    text += " group by \(keys) of \(aggregates.map { "\($0.expression)" })"
    if let having { text += " having \(having)" }
    return text
  }
}

extension PredicateGenerator {
  /// A question about groups, without a condition on them.
  mutating func groupQuery(_ tables: TwinTables) throws -> GroupQuery {
    let table = try tables.table(pick(["LogEntry", "LogEntry", "LogEntry", "Aircraft", "Airport"]))
    var query = GroupQuery(table: table, keys: [], aggregates: [])
    if chance(50) { query.predicate = try predicate(table) }
    for _ in 0..<(chance(8) ? 0 : 1 + below(3)) {
      var key = try path(table).text
      if !table.toOne.isEmpty, chance(15) { key = pick(table.toOne).name }
      if !query.keys.contains(key) { query.keys.append(key) }
    }
    for number in 0..<(1 + below(5)) {
      let expression: Expression
      switch below(8) {
      case 0: expression = .function("count", [.evaluatedObject])
      case 1: expression = .function("count", [.keyPath(try path(table).text)])
      case 2, 3: expression = .function("sum", [try summand(table)])
      case 4, 5: expression = .function("average", [try summand(table)])
      default: expression = .function(pick(["min", "max"]), [.keyPath(try path(table) { $0 != .boolean }.text)])
      }
      query.aggregates.append(("a\(number)", expression))
    }
    return query
  }

  /// Something that can be added up.
  private mutating func summand(_ table: TwinTable) throws -> Expression {
    let path = try path(table) { $0.isNumber }
    guard path.column.kind.isNumber else { return .function("length", [.keyPath(path.text)]) }
    let column = Expression.keyPath(path.text)
    guard chance(30) else { return column }
    return .arithmetic(pick([.add, .subtract, .multiply]), column, .constant(.integer(Int64(1 + below(9)))))
  }

  /// A condition on groups, with values that aggregates have; nil if none of them can be compared.
  mutating func having(_ query: GroupQuery, _ results: [[Value]]) -> Predicate? {
    guard !query.keys.isEmpty, results.count > 1 else { return nil }
    var parts: [Predicate] = []
    for _ in 0..<(1 + below(2)) {
      let number = below(query.aggregates.count)
      let expression = query.aggregates[number].expression
      guard case .function(let name, let arguments) = expression else { continue }
      if case .keyPath(let path) = arguments[0], name == "min" || name == "max", path.hasSuffix("date") { continue }
      var value = pick(results)[query.keys.count + number]
      // The last digits of a sum of doubles depend on the order in which they are added.
      if case .double(let exact) = value, name == "sum" || name == "average" {
        value = .double(exact * 1.000_1 + 0.003)
      }
      let comparators: [Comparator] = [.greater, .less, .greaterOrEqual, .lessOrEqual, .notEqual]
      parts.append(.compare(expression, value.isNull ? .notEqual : pick(comparators), .constant(value)))
    }
    if parts.isEmpty { return nil }
    if parts.count == 1 { return chance(15) ? .not(parts[0]) : parts[0] }
    return chance(50) ? .and(parts) : .or(parts)
  }
}
