import CambiumEngine

// Conditions, with the negation moved inwards to the comparisons.
extension PlainSQL {
  /// A condition that holds for the rows for which `predicate` does, or for all others if it is negated.
  func condition(_ predicate: Predicate, negated: Bool, _ scope: Scope) throws -> Clause {
    switch predicate {
    case .true: return Clause(sql: negated ? "0" : "1")
    case .false: return Clause(sql: negated ? "1" : "0")
    case .not(let inner): return try condition(inner, negated: !negated, scope)
    case .and(let parts), .or(let parts):
      var isAnd = negated
      if case .and = predicate { isAnd = !negated }
      let clauses = try parts.map { try condition($0, negated: negated, scope) }
      guard let first = clauses.first else { return Clause(sql: isAnd ? "1" : "0") }
      if clauses.count == 1 { return first }
      if isAnd {
        let links = clauses.reduce(into: Set<String>()) { $0.formUnion($1.links) }
        return Clause(sql: clauses.map { $0.inAnd }.joined(separator: " AND "), links: links)
      }
      let links = clauses.dropFirst().reduce(first.links) { $0.intersection($1.links) }
      return Clause(sql: clauses.map { $0.sql }.joined(separator: " OR "), links: links, isOr: true)
    case .comparison(let comparison):
      if comparison.modifier != .direct { return try quantified(comparison, negated: negated, scope) }
      if case .aggregate(let operation, let collection, let path) = comparison.left {
        return try aggregate(operation, collection, path, comparison, negated: negated, scope)
      }
      return try compare(comparison, negated: negated, scope)
    }
  }

  private func compare(_ comparison: Comparison, negated: Bool, _ scope: Scope) throws -> Clause {
    if style == .sets, let clause = try throughSet(comparison, negated: negated, scope) { return clause }
    let isFolded = comparison.options.contains(.caseInsensitive)
    let left = try term(comparison.left, scope)
    switch comparison.comparator {
    case .between:
      guard case .constant(.list(let bounds)) = comparison.right, bounds.count == 2 else {
        throw OracleError("BETWEEN takes two constants")
      }
      if bounds.contains(where: { $0.isNull }) { return Clause(sql: negated ? "1" : "0") }
      let operand = isFolded ? "\(left.sql) COLLATE NOCASE" : left.sql
      let range = "BETWEEN \(try literal(bounds[0])) AND \(try literal(bounds[1]))"
      return negated ? opposite("\(operand) NOT \(range)", left) : Clause(sql: "\(operand) \(range)", links: left.links)
    case .in:
      guard case .constant(.list(let values)) = comparison.right else {
        guard case .constant(let part) = comparison.left else { throw OracleError("IN takes a list or a column") }
        return try contains(try term(comparison.right, scope), part, isFolded, negated: negated)
      }
      return try element(left, values, isFolded, negated: negated)
    case .beginsWith, .endsWith, .contains, .like:
      guard case .constant(let part) = comparison.right else { throw OracleError("a text is not a constant") }
      switch comparison.comparator {
      case .contains: return try contains(left, part, isFolded, negated: negated)
      case .beginsWith: return try begins(left, part, isFolded, negated: negated)
      case .endsWith: return try matches(left, [.many, .text(text(part))], isFolded, negated: negated)
      default: return try matches(left, pieces(text(part)), isFolded, negated: negated)
      }
    case .matches: throw OracleError("SQLite has no regular expressions")
    default:
      return try compare(
        left, comparison.comparator, try term(comparison.right, scope), isFolded: isFolded, negated: negated)
    }
  }

  /// Equality and order of two values.
  func compare(
    _ left: Term, _ comparator: Comparator, _ right: Term, isFolded: Bool, negated: Bool
  ) throws -> Clause {
    let fold = isFolded ? " COLLATE NOCASE" : ""
    let links = left.links.union(right.links)
    switch comparator {
    case .equal, .notEqual:
      let isEquality = (comparator == .equal) != negated
      if left.sql == "NULL" { return try compare(right, comparator, left, isFolded: isFolded, negated: negated) }
      if right.sql == "NULL" {
        return isEquality
          ? Clause(sql: "\(left.sql) IS NULL") : Clause(sql: "\(left.sql) IS NOT NULL", links: left.links)
      }
      if isEquality {
        // Two nulls are equal.
        if left.isNullable, right.isNullable { return Clause(sql: "\(left.sql) IS \(right.sql)\(fold)") }
        return Clause(sql: "\(left.sql) = \(right.sql)\(fold)", links: links)
      }
      if left.isNullable || right.isNullable { return Clause(sql: "\(left.sql) IS NOT \(right.sql)\(fold)") }
      return Clause(sql: "\(left.sql) <> \(right.sql)\(fold)", links: links)
    default: break
    }
    let signs: [Comparator: (sign: String, opposite: String)] = [
      .less: ("<", ">="), .lessOrEqual: ("<=", ">"), .greater: (">", "<="), .greaterOrEqual: (">=", "<"),
    ]
    guard let sign = signs[comparator] else { throw OracleError("'\(comparator.text)' is not translated") }
    if left.sql == "NULL" || right.sql == "NULL" { return Clause(sql: negated ? "1" : "0") }
    if !negated { return Clause(sql: "\(left.sql) \(sign.sign) \(right.sql)\(fold)", links: links) }
    if !left.isNullable, !right.isNullable {
      return Clause(sql: "\(left.sql) \(sign.opposite) \(right.sql)\(fold)", links: links)
    }
    guard left.isColumn, right.isColumn else {
      return Clause(sql: "(\(left.sql) \(sign.sign) \(right.sql)\(fold)) IS NOT TRUE")
    }
    var sql = "\(left.sql) \(sign.opposite) \(right.sql)\(fold)"
    if left.isNullable { sql += " OR \(left.sql) IS NULL" }
    if right.isNullable { sql += " OR \(right.sql) IS NULL" }
    return Clause(sql: sql, isOr: true)
  }

  /// The condition `sql`, which is null where `term` is, and has to hold there.
  private func opposite(_ sql: String, _ term: Term) -> Clause {
    term.isNullable
      ? Clause(sql: "\(sql) OR \(term.sql) IS NULL", isOr: true) : Clause(sql: sql, links: term.links)
  }

  private func element(_ left: Term, _ values: [Value], _ isFolded: Bool, negated: Bool) throws -> Clause {
    let known = try values.filter { !$0.isNull }.map(literal).joined(separator: ", ")
    let operand = isFolded ? "\(left.sql) COLLATE NOCASE" : left.sql
    let hasNull = values.contains { $0.isNull }
    if negated {
      let clause = Clause(sql: "\(operand) NOT IN (\(known))", links: left.links)
      // The empty list does not say that null is not in it: `NULL NOT IN ()` holds.
      if hasNull { return Clause(sql: "\(clause.sql) AND \(left.sql) IS NOT NULL", links: left.links) }
      return opposite(clause.sql, left)
    }
    if hasNull, left.isNullable {
      return Clause(sql: "\(operand) IN (\(known)) OR \(left.sql) IS NULL", isOr: true)
    }
    return Clause(sql: "\(operand) IN (\(known))", links: left.links)
  }

  // MARK: Texts

  /// A piece of a pattern.
  private enum Piece {
    case text(String)
    case one
    case many
  }

  private func text(_ value: Value) throws -> String {
    guard case .string(let text) = value else { throw OracleError("\(value.formatText) is no text") }
    return text
  }

  private func contains(_ left: Term, _ part: Value, _ isFolded: Bool, negated: Bool) throws -> Clause {
    try matches(left, [.many, .text(text(part)), .many], isFolded, negated: negated)
  }

  /// The range of the texts that begin so, which an index has together. No index of these tables ignores case.
  private func begins(_ left: Term, _ part: Value, _ isFolded: Bool, negated: Bool) throws -> Clause {
    let prefix = try text(part)
    if isFolded { return try matches(left, [.text(prefix), .many], isFolded, negated: negated) }
    guard let last = prefix.unicodeScalars.last, last.value < 0x7E,
      let next = Unicode.Scalar(last.value + 1)
    else { return try matches(left, [.text(prefix), .many], isFolded, negated: negated) }
    var end = prefix.unicodeScalars
    end.removeLast()
    end.append(next)
    let (low, high) = (string(prefix), string(String(end)))
    if negated {
      let sql = "\(left.sql) < \(low) OR \(left.sql) >= \(high)"
      return Clause(sql: left.isNullable ? "\(sql) OR \(left.sql) IS NULL" : sql, isOr: true)
    }
    return Clause(sql: "\(left.sql) >= \(low) AND \(left.sql) < \(high)", links: left.links)
  }

  /// The pieces of a pattern of Cambium's `LIKE`.
  private func pieces(_ pattern: String) -> [Piece] {
    var pieces: [Piece] = []
    var text = ""
    var isEscaped = false
    func add(_ piece: Piece) {
      if !text.isEmpty { pieces.append(.text(text)) }
      text = ""
      pieces.append(piece)
    }
    for character in pattern {
      switch (isEscaped, character) {
      case (false, "\\"):
        isEscaped = true
        continue
      case (false, "*"): add(.many)
      case (false, "?"): add(.one)
      case (true, "*"), (true, "?"), (true, "\\"), (false, _): text.append(character)
      case (true, _): text += "\\\(character)"
      }
      isEscaped = false
    }
    if isEscaped { text += "\\" }
    if !text.isEmpty { pieces.append(.text(text)) }
    return pieces
  }

  /// `GLOB`, which is SQLite's `LIKE` with upper and lower case apart; or `LIKE`, which has them alike.
  private func matches(_ left: Term, _ pieces: [Piece], _ isFolded: Bool, negated: Bool) throws -> Clause {
    var pattern = ""
    var isEscaped = false
    for piece in pieces {
      switch piece {
      case .many: pattern += isFolded ? "%" : "*"
      case .one: pattern += isFolded ? "_" : "?"
      case .text(let text):
        for character in text {
          if isFolded, "%_\\".contains(character) {
            isEscaped = true
            pattern += "\\\(character)"
          } else if !isFolded, "*?[".contains(character) {
            pattern += "[\(character)]"
          } else {
            pattern.append(character)
          }
        }
      }
    }
    let test = "\(isFolded ? "LIKE" : "GLOB") \(string(pattern))\(isEscaped ? " ESCAPE '\\'" : "")"
    if negated { return opposite("\(left.sql) NOT \(test)", left) }
    return Clause(sql: "\(left.sql) \(test)", links: left.links)
  }
}
