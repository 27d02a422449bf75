import CambiumEngine

/// Writes a question as the SQL that a good programmer writes: bare comparisons that indexes can serve, joins, `LIKE`
/// and `GLOB`, ranges for prefixes, `EXISTS` and `IN`.
///
/// The answer has to be Cambium's, whose predicates know no third truth value. So `NOT` is moved inwards to the
/// comparisons, and where a column holds nulls the opposite of `a < 5` is `a >= 5 OR a IS NULL`. Where it holds none, a
/// programmer knows that from the table's definition and writes `a >= 5`.
///
/// Values are literals, so that SQLite plans with as much knowledge of them as Cambium does.
final class PlainSQL {
  /// The two ways to write conditions on related rows. The timed run takes the one that SQLite answers faster.
  enum Style: String, CaseIterable {
    /// `JOIN`, `EXISTS`, and counts for each row.
    case joins
    /// `IN (SELECT …)`, with `GROUP BY` and `HAVING` for counts.
    case sets
  }

  /// Rows of a table that key paths begin at.
  final class Scope {
    let table: TwinTable
    let alias: String
    /// The variable of a subquery that stands for these rows.
    var variable: String?
    let parent: Scope?
    /// The to-one relationships that are joined, in the order in which they were needed first.
    fileprivate(set) var joins: [(name: String, table: String)] = []

    init(_ table: TwinTable, _ alias: String, parent: Scope? = nil) {
      self.table = table
      self.alias = alias
      self.parent = parent
    }
  }

  /// A value.
  struct Term {
    var sql: String
    var isNullable: Bool
    /// The joined rows without which the value is null.
    var links: Set<String> = []
    /// Whether it is a column, cheap enough to be named twice.
    var isColumn = false
  }

  /// A condition. It may be null in place of false.
  struct Clause {
    var sql: String
    /// The joined rows without which the condition does not hold: they are an inner join's.
    var links: Set<String> = []
    /// Whether the text has an `OR` outside parentheses.
    var isOr = false

    var inAnd: String { isOr ? "(\(sql))" : sql }
  }

  let tables: TwinTables
  let style: Style
  let nulls: KnownNulls
  private var aliases = 0

  init(_ tables: TwinTables, _ style: Style, _ nulls: KnownNulls) {
    self.tables = tables
    self.style = style
    self.nulls = nulls
  }

  /// A scope inside another one.
  func inner(_ table: TwinTable, _ parent: Scope) -> Scope {
    aliases += 1
    return Scope(table, "\(table.name.lowercased().prefix(1))\(aliases)", parent: parent)
  }

  // MARK: Statements

  /// The whole statement.
  func statement(_ question: TimedQuestion) throws -> String {
    let scope = Scope(question.table, String(question.table.name.lowercased().prefix(1)))
    let clause = try question.predicate.map { try condition($0, negated: false, scope) }
    var selected: [String]
    var tail = ""
    switch question.form {
    case .identifiers: selected = ["\(scope.alias).id"]
    case .columns, .links:
      selected = ["\(scope.alias).id"]
      selected += try TimedQuestion.readColumns(of: question.table).map { try column($0, scope).sql }
    case .count: selected = ["count(*)"]
    case .distinct(let paths): selected = try paths.map { try column($0, scope).sql }
    case .groups(let query):
      selected = try query.keys.map { try column($0, scope).sql }
      if !selected.isEmpty { tail = " GROUP BY " + selected.joined(separator: ", ") }
      selected += try query.aggregates.map { try term($0.expression, scope).sql }
      if let having = query.having { tail += " HAVING " + (try condition(having, negated: false, scope).sql) }
    }
    let order = try question.sort.map { try self.order($0, question, selected, scope) }
    if !order.isEmpty { tail += " ORDER BY " + order.joined(separator: ", ") }
    if question.limit != nil || question.offset > 0 { tail += " LIMIT \(question.limit ?? -1)" }
    if question.offset > 0 { tail += " OFFSET \(question.offset)" }
    var isDistinct = false
    if case .distinct = question.form { isDistinct = true }
    let filter = clause.map { " WHERE " + $0.sql } ?? ""
    return "SELECT \(isDistinct ? "DISTINCT " : "")\(selected.joined(separator: ", ")) "
      + "FROM \(try source(scope, clause?.links ?? []))\(filter)\(tail)"
  }

  /// A key of an order. There is no tie-breaker, because a programmer writes none. Cambium orders equals by row.
  private func order(
    _ sort: EngineSort, _ question: TimedQuestion, _ selected: [String], _ scope: Scope
  ) throws -> String {
    let direction = sort.isAscending ? "" : " DESC"
    if case .groups(let query) = question.form,
      let place = query.aggregates.firstIndex(where: { $0.name == sort.keyPath })
    {
      return "\(query.keys.count + place + 1)\(direction)"
    }
    return try column(sort.keyPath, scope).sql + direction
  }

  /// What stands behind `FROM`. A row that need not be there is an outer join's.
  func source(_ scope: Scope, _ required: Set<String>) throws -> String {
    var text = "\(scope.table.name) \(scope.alias)"
    for join in scope.joins {
      let alias = "\(scope.alias)_\(join.name)"
      let isInner = required.contains(alias) || !nulls.contains(scope.table, join.name)
      text += " \(isInner ? "JOIN" : "LEFT JOIN") \(join.table) \(alias) ON \(alias).id = \(scope.alias).\(join.name)"
    }
    return text
  }

  // MARK: Values

  /// The column that a key path without to-many relationships leads to.
  func column(_ path: String, _ scope: Scope) throws -> Term {
    let isLink = scope.table.toOne.contains { $0.name == path }
    if isLink || scope.table.column(path) != nil {
      return Term(
        sql: "\(scope.alias).\(quoted(path))", isNullable: nulls.contains(scope.table, path), isColumn: true)
    }
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let link = scope.table.toOne.first(where: { $0.name == parts[0] }) else {
      throw OracleError("\(scope.table.name) has no '\(path)'")
    }
    let other = try tables.table(link.table)
    guard other.column(parts[1]) != nil else { throw OracleError("\(other.name) has no '\(parts[1])'") }
    if !scope.joins.contains(where: { $0.name == link.name }) { scope.joins.append(link) }
    let alias = "\(scope.alias)_\(link.name)"
    return Term(
      sql: "\(alias).\(quoted(parts[1]))",
      isNullable: nulls.contains(other, parts[1]) || nulls.contains(scope.table, link.name), links: [alias],
      isColumn: true)
  }

  private func quoted(_ name: String) -> String { name.contains(".") ? "\"\(name)\"" : name }

  /// The value of an expression.
  func term(_ expression: Expression, _ scope: Scope) throws -> Term {
    switch expression {
    case .constant(let value): return Term(sql: try literal(value), isNullable: value.isNull, isColumn: true)
    case .keyPath(let path):
      // In a subquery, a key path that begins at no variable begins at the object outside.
      return try column(path, scope.variable == nil ? scope : scope.parent ?? scope)
    case .evaluatedObject: return Term(sql: "\(scope.alias).id", isNullable: false, isColumn: true)
    case .member(.variable(let name), let path):
      var known: Scope? = scope
      while let candidate = known, candidate.variable != name { known = candidate.parent }
      guard let known else { throw OracleError("$\(name) is unknown") }
      return try column(path, known)
    case .negated(let inner):
      let inner = try term(inner, scope)
      return Term(sql: "(- \(inner.sql))", isNullable: inner.isNullable, links: inner.links)
    case .arithmetic(let operation, let a, let b):
      let signs: [ArithmeticOperator: String] = [.add: "+", .subtract: "-", .multiply: "*", .divide: "/"]
      guard let sign = signs[operation] else { throw OracleError("'\(expression.description)' is not translated") }
      let (a, b) = (try term(a, scope), try term(b, scope))
      // A division by zero is null.
      return Term(
        sql: "(\(a.sql) \(sign) \(b.sql))", isNullable: a.isNullable || b.isNullable || operation == .divide,
        links: a.links.union(b.links))
    case .ternary(let condition, let a, let b):
      let clause = try self.condition(condition, negated: false, scope)
      let (a, b) = (try term(a, scope), try term(b, scope))
      return Term(
        sql: "CASE WHEN \(clause.sql) THEN \(a.sql) ELSE \(b.sql) END", isNullable: a.isNullable || b.isNullable,
        links: a.links.intersection(b.links))
    case .function(let name, let arguments): return try call(name, arguments, scope)
    default: throw OracleError("'\(expression.description)' is not translated")
    }
  }

  private func call(_ name: String, _ arguments: [Expression], _ scope: Scope) throws -> Term {
    if name == "count", arguments == [.evaluatedObject] { return Term(sql: "count(*)", isNullable: false) }
    let parts = try arguments.map { try term($0, scope) }
    switch (name, parts.count) {
    case ("abs", 1), ("length", 1):
      return Term(sql: "\(name)(\(parts[0].sql))", isNullable: parts[0].isNullable, links: parts[0].links)
    case ("modulus:by:", 2):
      return Term(
        sql: "(\(parts[0].sql) % \(parts[1].sql))", isNullable: true, links: parts[0].links.union(parts[1].links))
    case ("min", 2), ("max", 2):
      // Cambium leaves nulls out, SQLite does not.
      let (a, b) = (parts[0], parts[1])
      var sql = "\(name)(\(a.sql), \(b.sql))"
      if a.isNullable { sql = "\(name)(COALESCE(\(a.sql), \(b.sql)), \(b.sql))" }
      if b.isNullable {
        let left = a.isNullable ? "COALESCE(\(a.sql), \(b.sql))" : a.sql
        sql = "\(name)(\(left), COALESCE(\(b.sql), \(a.sql)))"
      }
      return Term(sql: sql, isNullable: a.isNullable && b.isNullable, links: a.links.intersection(b.links))
    case ("count", 1): return Term(sql: "count(\(parts[0].sql))", isNullable: false)
    case ("sum", 1), ("min", 1), ("max", 1): return Term(sql: "\(name)(\(parts[0].sql))", isNullable: true)
    case ("average", 1): return Term(sql: "avg(\(parts[0].sql))", isNullable: true)
    default: throw OracleError("\(name) is not translated")
    }
  }

  /// A value as SQL's text.
  func literal(_ value: Value) throws -> String {
    switch value {
    case .null: return "NULL"
    case .boolean(let flag): return flag ? "1" : "0"
    case .integer(let number): return "\(number)"
    case .double(let number), .date(let number): return "\(number)"
    case .string(let text): return string(text)
    case .reference(let reference):
      guard let name = tables.store.schema.entity(id: reference.entity)?.name,
        let id = try tables.table(name).idOfRow[reference.row]
      else { throw OracleError("there is no object \(reference)") }
      return "\(id)"
    default: throw OracleError("\(value.formatText) has no literal")
    }
  }

  func string(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
  }
}

/// The columns that hold nulls, by table and name. A programmer knows the others from a table's `NOT NULL`.
struct KnownNulls {
  private var columns: Set<String> = []

  init(_ tables: TwinTables) throws {
    for table in tables.tables {
      for name in table.columns.map({ $0.path }) + table.toOne.map({ $0.name }) {
        let statement = try tables.connection.prepare(
          "SELECT EXISTS (SELECT 1 FROM \(table.name) WHERE \"\(name)\" IS NULL)")
        if try statement.step(), statement.int(0) == 1 { columns.insert("\(table.name) \(name)") }
      }
    }
  }

  func contains(_ table: TwinTable, _ column: String) -> Bool { columns.contains("\(table.name) \(column)") }
}
