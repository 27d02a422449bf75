import CambiumEngine

/// Makes random predicates on the flight data, with constants that occur in them.
struct PredicateGenerator {
  private let tables: TwinTables
  var random: SplitMix64
  /// What was made use of in the predicate that was made last.
  private(set) var features: Set<String> = []
  /// How many collections of many rows may still be gone through: each takes time for every row.
  private var collectionsLeft = 0

  init(_ tables: TwinTables, seed: UInt64) {
    self.tables = tables
    random = SplitMix64(seed: seed)
  }

  // MARK: Chance

  mutating func below(_ n: Int) -> Int { Int(random.next() % UInt64(max(1, n))) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  mutating func pick<T>(_ list: [T]) -> T { list[below(list.count)] }

  // MARK: Parts

  /// A key path to one value, and what it is of; through a to-one relationship now and then.
  struct Path {
    var text: String
    var table: TwinTable
    var column: TwinTable.Column
  }

  mutating func path(_ table: TwinTable, of wanted: (TwinKind) -> Bool = { _ in true }) throws -> Path {
    if !table.toOne.isEmpty, chance(30) {
      let link = pick(table.toOne)
      let other = try tables.table(link.table)
      let columns = other.columns.filter { wanted($0.kind) }
      if !columns.isEmpty {
        let column = pick(columns)
        features.insert("to-one")
        return Path(text: "\(link.name).\(column.path)", table: other, column: column)
      }
    }
    var columns = table.columns.filter { wanted($0.kind) }
    if columns.isEmpty { columns = table.columns }
    // Those that indexes begin with more often, so that not nearly everything is a scan.
    let indexed = columns.filter { table.indexedColumns.contains($0.path) }
    if !indexed.isEmpty, chance(45) { columns = indexed }
    let column = pick(columns)
    return Path(text: column.path, table: table, column: column)
  }

  /// A value of the column that occurs; something near it now and then.
  mutating func constant(_ path: Path) -> Value {
    let values = path.table.samples[path.column.path]?.filter { !$0.isNull } ?? []
    guard !values.isEmpty else { return .null }
    let value = pick(values)
    guard chance(15) else { return value }
    switch value {
    case .integer(let number):
      return chance(50) ? .integer(number + Int64(below(7)) - 3) : .double(Double(number) + 0.5)
    case .double(let number): return .double(number + Double(below(100)) / 10 - 5)
    case .date(let seconds): return .date(seconds + Double(below(9) - 4) * 43_200)
    default: return value
    }
  }

  // MARK: Predicates

  /// A predicate on the rows of a table.
  mutating func predicate(_ table: TwinTable) throws -> Predicate {
    features = []
    // One of a table with few rows has many for each of them.
    collectionsLeft = 2
    return try predicate(table, depth: 0)
  }

  /// A tree of `AND`, `OR` and `NOT` without collections of many rows.
  mutating func mixture(_ table: TwinTable) throws -> Predicate {
    features = []
    collectionsLeft = 0
    let dice = below(100)
    if dice < 20 { return .not(try predicate(table, depth: 1)) }
    var parts: [Predicate] = []
    for _ in 0..<(2 + below(2)) { parts.append(try predicate(table, depth: 1)) }
    return dice < 60 ? .and(parts) : .or(parts)
  }

  private mutating func predicate(_ table: TwinTable, depth: Int) throws -> Predicate {
    let dice = below(100)
    if depth < 3, dice < 45 {
      var parts: [Predicate] = []
      for _ in 0..<(2 + below(2)) { parts.append(try predicate(table, depth: depth + 1)) }
      if dice < 24 {
        features.insert("AND")
        return .and(parts)
      }
      features.insert("OR")
      return .or(parts)
    }
    if depth < 3, dice < 53 {
      features.insert("NOT")
      return .not(try predicate(table, depth: depth + 1))
    }
    return try comparison(table)
  }

  private mutating func comparison(_ table: TwinTable) throws -> Predicate {
    if !table.toMany.isEmpty, collectionsLeft > 0, chance(40) {
      collectionsLeft -= 1
      return try collection(table)
    }
    switch below(20) {
    case 0..<6: return try plain(table)
    case 6..<8: return try between(table)
    case 8..<10: return try element(table)
    case 10..<14: return try text(table)
    case 14: return null(try path(table).text)
    case 15: return chance(50) ? try link(table) : try compound(table)
    case 16..<18: return try columns(table)
    default: return try computed(table)
    }
  }

  private mutating func order() -> Comparator {
    pick([.equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .less, .greater])
  }

  mutating func plain(_ table: TwinTable) throws -> Predicate {
    let path = try path(table)
    let comparator = path.column.kind == .boolean ? pick([.equal, .notEqual]) : order()
    features.insert(comparator.text)
    let constant = Expression.constant(constant(path))
    if chance(8) {
      let turned: [Comparator: Comparator] = [
        .less: .greater, .greater: .less, .lessOrEqual: .greaterOrEqual, .greaterOrEqual: .lessOrEqual,
      ]
      return .compare(constant, turned[comparator] ?? comparator, .keyPath(path.text))
    }
    return .compare(.keyPath(path.text), comparator, constant)
  }

  /// Equality of the first part of an index, and something of the second.
  mutating func compound(_ table: TwinTable) throws -> Predicate {
    let pairs = [
      "LogEntry": [("distance", "airTime"), ("flightNumber", "date")], "Aircraft": [("seats", "year")],
    ]
    guard let pair = pairs[table.name].map({ pick($0) }), let first = table.column(pair.0),
      let second = table.column(pair.1)
    else { return try plain(table) }
    features.insert("compound")
    let a = constant(Path(text: pair.0, table: table, column: first))
    let path = Path(text: pair.1, table: table, column: second)
    let b = constant(path)
    let equality = Predicate.compare(.keyPath(pair.0), .equal, .constant(a))
    if chance(30) { return .and([equality, null(pair.1)]) }
    return .and([equality, .compare(.keyPath(pair.1), order(), .constant(b))])
  }

  mutating func null(_ path: String) -> Predicate {
    features.insert("nil")
    return .compare(.keyPath(path), chance(50) ? .equal : .notEqual, .constant(.null))
  }

  mutating func between(_ table: TwinTable) throws -> Predicate {
    features.insert("BETWEEN")
    let path = try path(table) { $0 != .boolean }
    var bounds = [constant(path), constant(path)]
    if bounds[0].compare(to: bounds[1]) == .greater, chance(95) { bounds.swapAt(0, 1) }
    return .compare(.keyPath(path.text), .between, .constant(.list(bounds)))
  }

  mutating func element(_ table: TwinTable) throws -> Predicate {
    features.insert("IN")
    let path = try path(table) { $0 != .boolean }
    let count = chance(10) ? 200 : 1 + below(12)
    var values: [Value] = []
    for _ in 0..<count { values.append(constant(path)) }
    if chance(15) { values.append(.null) }
    return .compare(.keyPath(path.text), .in, .constant(.list(values)))
  }

  /// Relationships as such.
  private mutating func link(_ table: TwinTable) throws -> Predicate {
    guard !table.toOne.isEmpty else { return try plain(table) }
    features.insert("object")
    let link = pick(table.toOne)
    if chance(25) { return null(link.name) }
    let other = try tables.table(link.table)
    let entity = try tables.entity(other).id
    // The rows that many lead to come early: the airports of the city are among the best known.
    var references: [Value] = []
    for _ in 0..<(1 + below(5)) {
      references.append(.reference(ObjectReference(entity: entity, row: pick(other.rows))))
    }
    if chance(50) { return .compare(.keyPath(link.name), .in, .constant(.list(references))) }
    return .compare(.keyPath(link.name), chance(60) ? .equal : .notEqual, .constant(references[0]))
  }

  mutating func text(_ table: TwinTable) throws -> Predicate {
    var path = try path(table) { $0 == .text }
    if path.column.kind != .text {
      guard let link = table.toOne.randomElement(using: &random) else { return try plain(table) }
      let other = try tables.table(link.table)
      let columns = other.columns.filter { $0.kind == .text }
      let column = pick(columns)
      features.insert("to-one")
      path = Path(text: "\(link.name).\(column.path)", table: other, column: column)
    }
    guard case .string(let whole) = constant(path), !whole.isEmpty else { return null(path.text) }
    var options: ComparisonOptions = chance(35) ? .caseInsensitive : []
    if chance(15) { options.insert(.diacriticInsensitive) }
    let letters = Array(whole)
    let start = below(letters.count)
    let length = 1 + below(4)
    var part = String(letters[start..<min(letters.count, start + length)])
    if chance(3) { part = "" }
    if options.contains(.caseInsensitive), chance(50) { part = chance(50) ? part.lowercased() : part.uppercased() }
    let left = Expression.keyPath(path.text)
    let comparator = pick([Comparator.beginsWith, .contains, .endsWith, .like, .equal, .notEqual, .less, .in])
    features.insert(comparator.text + (options.isEmpty ? "" : "[cd]"))
    switch comparator {
    case .beginsWith:
      let prefix = part.isEmpty ? "" : String(letters[..<min(letters.count, length)])
      return .compare(left, .beginsWith, .constant(.string(prefix)), options)
    case .endsWith:
      let suffix = part.isEmpty ? "" : String(letters.suffix(length))
      return .compare(left, .endsWith, .constant(.string(suffix)), options)
    case .like: return .compare(left, .like, .constant(.string(pattern(letters))), options)
    case .in: return .compare(.constant(.string(part)), .in, left, options)
    case .contains: return .compare(left, .contains, .constant(.string(part)), options)
    default: return .compare(left, comparator, .constant(.string(chance(50) ? whole : whole.lowercased())), options)
    }
  }

  /// The text with some characters replaced by what matches them, or with a piece left out.
  private mutating func pattern(_ letters: [Character]) -> String {
    var result = ""
    for letter in letters {
      switch below(12) {
      case 0: result += "?"
      case 1: result += "*"
      case 2 where chance(30):
        return result + "*"
      default:
        if letter == "*" || letter == "?" || letter == "\\" { result += "\\" }
        result.append(letter)
      }
    }
    return result
  }

  /// Two columns of the same kind.
  mutating func columns(_ table: TwinTable) throws -> Predicate {
    let first = try path(table)
    let second = try path(table) { $0 == first.column.kind || ($0.isNumber && first.column.kind.isNumber) }
    let kinds = (first.column.kind, second.column.kind)
    guard kinds.0 == kinds.1 || (kinds.0.isNumber && kinds.1.isNumber) else { return try plain(table) }
    features.insert("two columns")
    let comparator = kinds.0 == .boolean ? Comparator.equal : order()
    return .compare(.keyPath(first.text), comparator, .keyPath(second.text))
  }

  // MARK: Computed values

  /// An expression that is a number; nil where the table has none.
  private mutating func number(_ table: TwinTable, depth: Int) throws -> Expression {
    let path = try path(table) { $0.isNumber }
    guard path.column.kind.isNumber else { return .function("length", [.keyPath(path.text)]) }
    let column = Expression.keyPath(path.text)
    if depth > 1 { return chance(60) ? column : .constant(constant(path)) }
    switch below(10) {
    case 0..<4:
      return .arithmetic(
        pick([.add, .subtract, .multiply, .divide]), try number(table, depth: depth + 1),
        chance(50) ? .constant(.integer(Int64(below(20)) - 3)) : try number(table, depth: depth + 1))
    case 4: return .function("abs", [try number(table, depth: depth + 1)])
    case 5:
      guard path.column.kind == .integer else { return .negated(column) }
      return .function("modulus:by:", [column, .constant(.integer(Int64(below(9)) - 1))])
    case 6:
      return .function(
        pick(["min", "max"]), [try number(table, depth: depth + 1), try number(table, depth: depth + 1)])
    case 7:
      features.insert("TERNARY")
      return .ternary(
        try plain(table), then: try number(table, depth: depth + 1), otherwise: try number(table, depth: depth + 1))
    default: return column
    }
  }

  mutating func computed(_ table: TwinTable) throws -> Predicate {
    features.insert("arithmetic")
    if chance(15), let column = table.columns.first(where: { $0.kind == .date }) {
      let path = Path(text: column.path, table: table, column: column)
      let seconds = Double(below(40)) * 43_200
      return .compare(
        .arithmetic(chance(50) ? .add : .subtract, .keyPath(column.path), .constant(.double(seconds))), order(),
        .constant(constant(path)))
    }
    let left = try number(table, depth: 0)
    let right: Expression
    if chance(50) {
      right = try number(table, depth: 1)
    } else {
      let path = try path(table) { $0.isNumber }
      right = path.column.kind.isNumber ? .constant(constant(path)) : .constant(.integer(Int64(below(40))))
    }
    return .compare(left, order(), right)
  }

  // MARK: Many rows

  private mutating func collection(_ table: TwinTable) throws -> Predicate {
    let link = pick(table.toMany)
    return try collection(link, try tables.table(link.table), below(10))
  }

  /// A condition on the rows that a to-many relationship leads to: `ANY` and the like, or one on their number or a sum.
  mutating func timedCollection(_ table: TwinTable, isQuantified: Bool) throws -> Predicate {
    features = []
    collectionsLeft = 0
    let link = pick(table.toMany)
    return try collection(link, try tables.table(link.table), isQuantified ? 0 : 5 + below(5))
  }

  private mutating func collection(
    _ link: (name: String, table: String, column: String), _ other: TwinTable, _ kind: Int
  ) throws -> Predicate {
    switch kind {
    case 0..<5:
      let modifier = pick([ComparisonModifier.any, .any, .all, .none])
      features.insert(modifier == .any ? "ANY" : modifier == .all ? "ALL" : "NONE")
      return try quantified(link.name, other, modifier)
    case 5..<8:
      features.insert("SUBQUERY")
      let condition = try onElements(try comparisonOfElement(other), variable: "x")
      return .compare(
        .aggregate(.count, .subquery(collection: .keyPath(link.name), variable: "x", condition: condition), path: nil),
        order(), .constant(.integer(Int64(pick([0, 0, 1, 2, 5, 10, 30, 100, 1000])))))
    case 8:
      features.insert("@count")
      return .compare(
        .aggregate(.count, .keyPath(link.name), path: nil), order(),
        .constant(.integer(Int64(pick([0, 1, 2, 10, 50, 100, 1000])))))
    default:
      let columns = other.columns.filter { $0.kind == .integer }
      let column = pick(columns)
      let operation = pick([CollectionOperator.sum, .average, .minimum, .maximum])
      features.insert(operation.text)
      let path = Path(text: column.path, table: other, column: column)
      let bound: Value = operation == .sum ? .integer(Int64(below(5000))) : constant(path)
      return .compare(.aggregate(operation, .keyPath(link.name), path: column.path), order(), .constant(bound))
    }
  }

  /// A comparison of a column with constants, of which there is one side only.
  private mutating func comparisonOfElement(_ table: TwinTable) throws -> Predicate {
    let first = try chance(20) ? text(table) : chance(20) ? between(table) : plain(table)
    guard chance(35) else { return first }
    let second = try chance(50) ? plain(table) : null(try path(table).text)
    return chance(60) ? .and([first, second]) : .or([first, second])
  }

  private mutating func quantified(
    _ relationship: String, _ table: TwinTable, _ modifier: ComparisonModifier
  ) throws -> Predicate {
    let kind = below(4)
    let one = try kind == 0 ? between(table) : kind == 1 ? element(table) : kind == 2 ? text(table) : plain(table)
    guard case .comparison(var comparison) = one else { return one }
    // The collection is on the left.
    guard case .keyPath(let path) = comparison.left else {
      return .compare(.keyPath("\(relationship).date"), .greater, .constant(.date(0)), modifier: modifier)
    }
    comparison.left = .keyPath("\(relationship).\(path)")
    comparison.modifier = modifier
    return .comparison(comparison)
  }

  /// The same of a subquery's element: its key paths begin at the variable.
  private func onElements(_ predicate: Predicate, variable: String) throws -> Predicate {
    func moved(_ expression: Expression) -> Expression {
      guard case .keyPath(let path) = expression else { return expression }
      return .member(.variable(variable), path: path)
    }
    switch predicate {
    case .and(let parts): return .and(try parts.map { try onElements($0, variable: variable) })
    case .or(let parts): return .or(try parts.map { try onElements($0, variable: variable) })
    case .comparison(var comparison):
      comparison.left = moved(comparison.left)
      comparison.right = moved(comparison.right)
      return .comparison(comparison)
    default: return predicate
    }
  }
}
