import CambiumEngine

/// Writes predicates and expressions of the engine as SQL that means the same.
///
/// Conditions are never null, so that `NOT`, `AND` and `OR` mean what they do in predicates, which have no third truth
/// value: `==` and `!=` are `IS` and `IS NOT`, everything else is false where a side is null. Texts are compared byte
/// by byte, which is the order of the engine as long as they are ASCII, as the flight data are. Each constant is a
/// parameter.
final class SQLTranslator {
  private let tables: TwinTables
  /// The values of `?1`, `?2` and so on.
  private(set) var parameters: [Value] = []
  private var aliases = 0

  /// What key paths begin at.
  struct Scope {
    let table: TwinTable
    let alias: String
    /// What a subquery's variables stand for.
    var variables: [String: (table: TwinTable, alias: String)] = [:]
  }

  /// Several values: a value for each row of a source.
  private struct Many {
    /// What stands behind FROM, the condition included.
    let source: String
    let element: Scope
    /// The value of a row.
    let value: String
  }

  init(_ tables: TwinTables) { self.tables = tables }

  func scope(of table: TwinTable) -> Scope { Scope(table: table, alias: alias()) }

  private func alias() -> String {
    aliases += 1
    return "t\(aliases)"
  }

  private func parameter(_ value: Value) -> String {
    parameters.append(value)
    return "?\(parameters.count)"
  }

  // MARK: Conditions

  func condition(_ predicate: Predicate, _ scope: Scope) throws -> String {
    switch predicate {
    case .true: return "1"
    case .false: return "0"
    case .not(let inner): return "(NOT \(try condition(inner, scope)))"
    case .and(let parts):
      return parts.isEmpty ? "1" : "(\(try parts.map { try condition($0, scope) }.joined(separator: " AND ")))"
    case .or(let parts):
      return parts.isEmpty ? "0" : "(\(try parts.map { try condition($0, scope) }.joined(separator: " OR ")))"
    case .comparison(let comparison): return try condition(comparison, scope)
    }
  }

  private func condition(_ comparison: Comparison, _ scope: Scope) throws -> String {
    guard comparison.modifier != .direct else {
      return try compare(try scalar(comparison.left, scope), comparison, scope)
    }
    let many = try self.many(comparison.left, scope)
    let holds = try compare(many.value, comparison, scope)
    switch comparison.modifier {
    case .any: return "EXISTS (SELECT 1 FROM \(many.source) AND \(holds))"
    case .none: return "(NOT EXISTS (SELECT 1 FROM \(many.source) AND \(holds)))"
    default: return "(NOT EXISTS (SELECT 1 FROM \(many.source) AND NOT \(holds)))"
    }
  }

  private func compare(_ left: String, _ comparison: Comparison, _ scope: Scope) throws -> String {
    let isFolded = comparison.options.contains(.caseInsensitive)
    func folded(_ sql: String) -> String { isFolded ? "lower(\(sql))" : sql }
    let l = folded(left)
    switch comparison.comparator {
    case .between: return try between(l, comparison.right, scope, folded)
    case .in:
      switch comparison.right {
      case .constant(.list(let values)):
        return isElement(l, of: try values.map { (try constant($0), $0.isNull) }, folded)
      case .list(let parts):
        return "(\(try parts.map { "\(l) IS \(folded(try scalar($0, scope)))" }.joined(separator: " OR ")))"
      default: return isTrue("instr(\(folded(try scalar(comparison.right, scope))), \(l)) > 0")
      }
    case .like:
      guard case .constant(.string(let pattern)) = comparison.right else {
        throw OracleError("LIKE is translated for constants only")
      }
      return isTrue("\(l) GLOB \(folded(parameter(.string(Self.glob(pattern)))))")
    case .matches: throw OracleError("SQLite has no regular expressions")
    default: break
    }
    let r = folded(try scalar(comparison.right, scope))
    switch comparison.comparator {
    case .equal: return "(\(l) IS \(r))"
    case .notEqual: return "(\(l) IS NOT \(r))"
    case .less: return isTrue("\(l) < \(r)")
    case .lessOrEqual: return isTrue("\(l) <= \(r)")
    case .greater: return isTrue("\(l) > \(r)")
    case .greaterOrEqual: return isTrue("\(l) >= \(r)")
    case .beginsWith: return isTrue("substr(\(l), 1, length(\(r))) = \(r)")
    case .endsWith:
      return isTrue("length(\(l)) >= length(\(r)) AND substr(\(l), length(\(l)) - length(\(r)) + 1) = \(r)")
    case .contains: return isTrue("instr(\(l), \(r)) > 0")
    default: throw OracleError("'\(comparison.description)' is not translated")
    }
  }

  private func isTrue(_ sql: String) -> String { "COALESCE(\(sql), 0)" }

  private func between(
    _ left: String, _ right: Expression, _ scope: Scope, _ folded: (String) -> String
  ) throws -> String {
    var bounds: [String] = []
    switch right {
    case .constant(.list(let values)): bounds = values.map(parameter)
    case .list(let parts): bounds = try parts.map { try scalar($0, scope) }
    default: break
    }
    guard bounds.count == 2 else { throw OracleError("BETWEEN takes two bounds") }
    return isTrue("\(left) >= \(folded(bounds[0])) AND \(left) <= \(folded(bounds[1]))")
  }

  /// Null is an element like others, which SQL's IN does not find.
  private func isElement(
    _ left: String, of values: [(sql: String, isNull: Bool)], _ folded: (String) -> String
  ) -> String {
    let known = values.filter { !$0.isNull }.map { folded($0.sql) }
    let isAmong = known.isEmpty ? "0" : isTrue("\(left) IN (\(known.joined(separator: ", ")))")
    return values.contains { $0.isNull } ? "(\(isAmong) OR \(left) IS NULL)" : isAmong
  }

  /// A pattern of `LIKE` as one of `GLOB`, which has `[` as well, and no `\`.
  static func glob(_ pattern: String) -> String {
    var result = ""
    var isEscaped = false
    for character in pattern {
      switch (isEscaped, character) {
      case (false, "\\"):
        isEscaped = true
        continue
      case (true, "*"), (true, "?"), (_, "["): result += "[\(character)]"
      case (true, "\\"), (false, _): result.append(character)
      // Before other characters a backslash is itself.
      case (true, _): result += "\\\(character)"
      }
      isEscaped = false
    }
    return isEscaped ? result + "\\" : result
  }

  // MARK: Values

  func scalar(_ expression: Expression, _ scope: Scope) throws -> String {
    switch expression {
    case .constant(let value): return try constant(value)
    case .keyPath(let path): return try column(path, scope.table, scope.alias)
    case .evaluatedObject: return "\(scope.alias).id"
    case .variable(let name):
      guard let variable = scope.variables[name] else { throw OracleError("$\(name) is unknown") }
      return "\(variable.alias).id"
    case .member(.variable(let name), let path):
      guard let variable = scope.variables[name] else { throw OracleError("$\(name) is unknown") }
      return try column(path, variable.table, variable.alias)
    case .negated(let inner): return "(-\(try scalar(inner, scope)))"
    case .arithmetic(let operation, let a, let b):
      guard
        let sign = ([.add: "+", .subtract: "-", .multiply: "*", .divide: "/"] as [ArithmeticOperator: String])[
          operation]
      else { throw OracleError("'\(expression.description)' is not translated") }
      // Division truncates for integers, and is null by zero, in both.
      return "(\(try scalar(a, scope)) \(sign) \(try scalar(b, scope)))"
    case .ternary(let condition, let a, let b):
      return
        "CASE WHEN \(try self.condition(condition, scope)) THEN \(try scalar(a, scope)) ELSE \(try scalar(b, scope)) END"
    case .function(let name, let arguments): return try call(name, try arguments.map { try scalar($0, scope) })
    case .aggregate(let operation, let collection, let path): return try aggregate(operation, collection, path, scope)
    default: throw OracleError("'\(expression.description)' is not translated")
    }
  }

  private func constant(_ value: Value) throws -> String {
    guard case .reference(let reference) = value else { return parameter(value) }
    guard let name = tables.store.schema.entity(id: reference.entity)?.name,
      let id = try tables.table(name).idOfRow[reference.row]
    else { throw OracleError("there is no object \(reference)") }
    return parameter(.integer(Int64(id)))
  }

  /// A key path to one value: of other tables' rows as a query for each.
  private func column(_ path: String, _ table: TwinTable, _ alias: String) throws -> String {
    if table.column(path) != nil { return "\(alias).\"\(path)\"" }
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    guard let link = table.toOne.first(where: { $0.name == parts[0] }) else {
      throw OracleError("\(table.name) has no '\(path)'")
    }
    if parts.count == 1 { return "\(alias).\"\(path)\"" }
    let other = self.alias()
    let value = try column(parts[1], try tables.table(link.table), other)
    return "(SELECT \(value) FROM \(link.table) \(other) WHERE \(other).id = \(alias).\"\(link.name)\")"
  }

  private func call(_ name: String, _ arguments: [String]) throws -> String {
    switch (name, arguments.count) {
    case ("abs", 1): return "abs(\(arguments[0]))"
    case ("length", 1): return "length(\(arguments[0]))"
    case ("lowercase", 1): return "lower(\(arguments[0]))"
    case ("uppercase", 1): return "upper(\(arguments[0]))"
    case ("modulus:by:", 2): return "(\(arguments[0]) % \(arguments[1]))"
    case ("min", 2), ("max", 2):
      // Nulls are left out, which SQLite's own does not do.
      let (a, b) = (arguments[0], arguments[1])
      return "CASE WHEN \(a) IS NULL THEN \(b) WHEN \(b) IS NULL THEN \(a) ELSE \(name)(\(a), \(b)) END"
    default: throw OracleError("\(name) is not translated")
    }
  }

  // MARK: Several values

  private func many(_ expression: Expression, _ scope: Scope) throws -> Many {
    switch expression {
    case .keyPath(let path):
      var parts = path.split(separator: ".", maxSplits: 1).map(String.init)
      var (start, outside) = (scope.table, "\(scope.alias).id")
      if parts.count == 2, let one = start.toOne.first(where: { $0.name == parts[0] }) {
        // Through a to-one relationship first.
        (start, outside) = (try tables.table(one.table), "\(scope.alias).\"\(one.name)\"")
        parts = parts[1].split(separator: ".", maxSplits: 1).map(String.init)
      }
      guard let link = start.toMany.first(where: { $0.name == parts[0] }) else {
        throw OracleError("'\(path)' gives one value")
      }
      var element = Scope(table: try tables.table(link.table), alias: alias())
      element.variables = scope.variables
      let value = parts.count == 1 ? "\(element.alias).id" : try column(parts[1], element.table, element.alias)
      return Many(
        source: "\(link.table) \(element.alias) WHERE \(element.alias).\"\(link.column)\" = \(outside)",
        element: element, value: value)
    case .subquery(let collection, let variable, let condition):
      let many = try self.many(collection, scope)
      // Other key paths than the variable's are those of the object outside.
      var inner = scope
      inner.variables[variable] = (many.element.table, many.element.alias)
      return Many(
        source: "\(many.source) AND \(try self.condition(condition, inner))", element: many.element,
        value: many.value)
    default: throw OracleError("'\(expression.description)' is not translated")
    }
  }

  private func aggregate(
    _ operation: CollectionOperator, _ collection: Expression, _ path: String?, _ scope: Scope
  ) throws -> String {
    let many = try self.many(collection, scope)
    let value = try path.map { try column($0, many.element.table, many.element.alias) } ?? many.value
    switch operation {
    case .count: return "(SELECT count(*) FROM \(many.source))"
    // Of nothing the sum is 0, the others are null.
    case .sum: return "(SELECT COALESCE(sum(\(value)), 0) FROM \(many.source))"
    case .average: return "(SELECT avg(\(value)) FROM \(many.source))"
    // `+` keeps SQLite from going through all of an index of the value for each row, in search of one that belongs to
    // it.
    case .minimum: return "(SELECT min(+\(value)) FROM \(many.source))"
    case .maximum: return "(SELECT max(+\(value)) FROM \(many.source))"
    default: throw OracleError("\(operation.text) is not translated")
    }
  }

  // MARK: Groups

  /// An expression of a group: `count`, `sum`, `average`, `min` and `max` are SQL's.
  func aggregate(_ expression: Expression, _ scope: Scope) throws -> String {
    guard case .function(let name, let arguments) = expression, arguments.count == 1,
      let function = ["count": "count", "sum": "sum", "average": "avg", "min": "min", "max": "max"][name]
    else { return try scalar(expression, scope) }
    return "\(function)(\(try scalar(arguments[0], scope)))"
  }

  /// A condition on groups: comparisons of their aggregates with constants.
  func having(_ predicate: Predicate, _ scope: Scope) throws -> String {
    switch predicate {
    case .and(let parts): return "(\(try parts.map { try having($0, scope) }.joined(separator: " AND ")))"
    case .or(let parts): return "(\(try parts.map { try having($0, scope) }.joined(separator: " OR ")))"
    case .not(let inner): return "(NOT \(try having(inner, scope)))"
    case .comparison(let comparison): return try compare(try aggregate(comparison.left, scope), comparison, scope)
    default: return try condition(predicate, scope)
    }
  }
}
