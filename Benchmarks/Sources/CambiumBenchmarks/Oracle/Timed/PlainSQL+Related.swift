import CambiumEngine

// Conditions on related rows, as joins and `EXISTS` or as sets.
extension PlainSQL {
  /// Many rows seen from one.
  private struct Many {
    let scope: Scope
    /// The column of the many rows that leads back.
    let back: Term
    /// The value outside that it has to equal.
    let outside: Term
  }

  // MARK: One related row

  /// A comparison of a related row's column with a constant as `IN (SELECT id …)`; nil if it is something else.
  func throughSet(_ comparison: Comparison, negated: Bool, _ scope: Scope) throws -> Clause? {
    var inner = comparison
    let isTurned: Bool
    let path: String
    switch (comparison.left, comparison.right) {
    case (.keyPath(let left), .constant), (.member(_, let left), .constant):
      path = left
      isTurned = false
    case (.constant, .keyPath(let right)), (.constant, .member(_, let right)):
      path = right
      isTurned = true
    default: return nil
    }
    let parts = path.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let link = scope.table.toOne.first(where: { $0.name == parts[0] }) else { return nil }
    // In a subquery, only the variable's paths begin at the rows of this scope.
    switch (comparison.left, comparison.right) {
    case (.keyPath, _), (_, .keyPath): if scope.variable != nil { return nil }
    default: break
    }
    if isTurned { inner.right = .keyPath(parts[1]) } else { inner.left = .keyPath(parts[1]) }
    let other = self.inner(try tables.table(link.table), scope)
    let clause = try condition(.comparison(inner), negated: negated, other)
    let column = try self.column(link.name, scope)
    let set = "\(column.sql) IN (SELECT \(other.alias).id FROM \(try source(other, [])) WHERE \(clause.sql))"
    guard column.isNullable, holdsForNull(comparison) != negated else { return Clause(sql: set) }
    return Clause(sql: "\(column.sql) IS NULL OR \(set)", isOr: true)
  }

  /// Whether a comparison of null with the constant on the right holds.
  private func holdsForNull(_ comparison: Comparison) -> Bool {
    switch (comparison.comparator, comparison.right) {
    case (.equal, .constant(let value)): return value.isNull
    case (.notEqual, .constant(let value)): return !value.isNull
    case (.notEqual, _): return true
    case (.in, .constant(.list(let values))): return values.contains { $0.isNull }
    default: return false
    }
  }

  // MARK: Any of many rows

  /// The rows of a to-many relationship, or of one behind a to-one relationship, and what is left of the path.
  private func many(_ path: String, _ scope: Scope) throws -> (many: Many, rest: String?) {
    var parts = path.split(separator: ".").map(String.init)
    var table = scope.table
    var outside = Term(sql: "\(scope.alias).id", isNullable: false)
    if let link = table.toOne.first(where: { $0.name == parts[0] }) {
      outside = try column(link.name, scope)
      table = try tables.table(link.table)
      parts.removeFirst()
    }
    guard let first = parts.first, let link = table.toMany.first(where: { $0.name == first }) else {
      throw OracleError("'\(path)' gives one value")
    }
    let element = inner(try tables.table(link.table), scope)
    let many = Many(scope: element, back: try column(link.column, element), outside: outside)
    return (many, parts.count == 1 ? nil : parts.dropFirst().joined(separator: "."))
  }

  func quantified(_ comparison: Comparison, negated: Bool, _ scope: Scope) throws -> Clause {
    guard case .keyPath(let path) = comparison.left else { throw OracleError("ANY takes a key path") }
    let (many, rest) = try many(path, scope)
    var inner = comparison
    inner.modifier = .direct
    inner.left = rest.map { .keyPath($0) } ?? .evaluatedObject
    // All compare if there is none that does not.
    let clause = try condition(.comparison(inner), negated: comparison.modifier == .all, many.scope)
    return try exists(many, clause, isNegated: (comparison.modifier != .any) != negated)
  }

  private func exists(_ many: Many, _ clause: Clause?, isNegated: Bool) throws -> Clause {
    let not = isNegated ? "NOT " : ""
    let source = try source(many.scope, clause?.links ?? [])
    switch style {
    case .joins:
      let condition = clause.map { " AND " + $0.inAnd } ?? ""
      return Clause(
        sql: "\(not)EXISTS (SELECT 1 FROM \(source) WHERE \(many.back.sql) = \(many.outside.sql)\(condition))")
    case .sets:
      return among(many, from: source, where: clause, "", isNegated: isNegated)
    }
  }

  /// `id IN (SELECT …)`.
  private func among(
    _ many: Many, from source: String, where clause: Clause?, _ tail: String, isNegated: Bool
  ) -> Clause {
    var conditions = clause.map { [$0.inAnd] } ?? []
    // A null in the list would make `NOT IN` null.
    if isNegated, many.back.isNullable { conditions.append("\(many.back.sql) IS NOT NULL") }
    let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let sql =
      "\(many.outside.sql) \(isNegated ? "NOT " : "")IN (SELECT \(many.back.sql) FROM \(source)\(condition)\(tail))"
    guard isNegated, many.outside.isNullable else { return Clause(sql: sql) }
    return Clause(sql: "\(sql) OR \(many.outside.sql) IS NULL", isOr: true)
  }

  // MARK: Numbers of many rows

  /// A comparison of a collection operator's value with a constant.
  func aggregate(
    _ operation: CollectionOperator, _ collection: Expression, _ path: String?, _ comparison: Comparison, negated: Bool,
    _ scope: Scope
  ) throws -> Clause {
    guard case .constant(let bound) = comparison.right else { throw OracleError("an operator's bound is no constant") }
    let many: Many
    var clause: Clause?
    switch collection {
    case .keyPath(let path): many = try self.many(path, scope).many
    case .subquery(.keyPath(let path), let variable, let condition):
      many = try self.many(path, scope).many
      many.scope.variable = variable
      clause = try self.condition(condition, negated: false, many.scope)
    default: throw OracleError("'\(collection.description)' is not translated")
    }
    if operation == .count, case .integer(let number) = bound, style == .joins,
      let isSome = Self.existence(comparison.comparator, number)
    {
      return try exists(many, clause, isNegated: isSome == negated)
    }
    let value = try aggregated(operation, path, many.scope)
    let right = try term(comparison.right, scope)
    let source = try source(many.scope, clause?.links ?? [])
    switch style {
    case .joins:
      let condition = clause.map { " AND " + $0.inAnd } ?? ""
      var left = value
      left.sql = "(SELECT \(value.sql) FROM \(source) WHERE \(many.back.sql) = \(many.outside.sql)\(condition))"
      return try compare(left, comparison.comparator, right, isFolded: false, negated: negated)
    case .sets:
      // The groups have no row for an object without related rows. If the condition holds for it, list the others.
      let isNegated = try holdsForNone(operation, comparison.comparator, bound) != negated
      let having = try compare(
        value, comparison.comparator, right, isFolded: false, negated: negated != isNegated)
      return among(
        many, from: source, where: clause, " GROUP BY \(many.back.sql) HAVING \(having.sql)", isNegated: isNegated)
    }
  }

  /// The operator's value of all rows of a group.
  private func aggregated(_ operation: CollectionOperator, _ path: String?, _ scope: Scope) throws -> Term {
    if operation == .count { return Term(sql: "count(*)", isNullable: false) }
    guard let path else { throw OracleError("\(operation.text) takes a key path") }
    let column = try self.column(path, scope)
    switch operation {
    case .sum: return Term(sql: "COALESCE(sum(\(column.sql)), 0)", isNullable: false)
    case .average: return Term(sql: "avg(\(column.sql))", isNullable: true)
    case .minimum: return Term(sql: "min(\(column.sql))", isNullable: true)
    case .maximum: return Term(sql: "max(\(column.sql))", isNullable: true)
    default: throw OracleError("\(operation.text) is not translated")
    }
  }

  /// Whether a comparison of a count asks for existence: true for some, false for none, nil for anything else.
  private static func existence(_ comparator: Comparator, _ number: Int64) -> Bool? {
    switch (comparator, number) {
    case (.greater, 0), (.greaterOrEqual, 1), (.notEqual, 0): return true
    case (.equal, 0), (.lessOrEqual, 0), (.less, 1): return false
    default: return nil
    }
  }

  /// Whether a comparison of the operator's value of no rows holds: the count and the sum are 0, the others null.
  private func holdsForNone(_ operation: CollectionOperator, _ comparator: Comparator, _ bound: Value) throws -> Bool {
    if operation != .count, operation != .sum {
      return comparator == .notEqual ? !bound.isNull : comparator == .equal && bound.isNull
    }
    guard let order = Value.integer(0).compare(to: bound)?.rawValue else { return comparator == .notEqual }
    switch comparator {
    case .equal: return order == 0
    case .notEqual: return order != 0
    case .less: return order < 0
    case .lessOrEqual: return order <= 0
    case .greater: return order > 0
    case .greaterOrEqual: return order >= 0
    default: throw OracleError("'\(comparator.text)' is not translated")
    }
  }
}
