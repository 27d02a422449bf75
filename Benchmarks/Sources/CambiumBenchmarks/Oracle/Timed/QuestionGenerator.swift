import CambiumEngine

/// Makes the timed oracle's random questions.
///
/// The seed, the weights and the code of this type and of ``PredicateGenerator`` decide which questions are asked. They
/// were committed before the first baseline and must not change, because figures of different questions do not compare.
struct QuestionGenerator {
  /// The seed of the published figures.
  static let publishedSeed: UInt64 = 20_261_129

  /// How often each kind is asked, of 100 questions.
  static let weights: [(kind: TimedQuestion.Kind, weight: Int)] = [
    (.comparison, 8), (.text, 10), (.arithmetic, 8), (.oneJoin, 10), (.twoJoins, 10), (.mixture, 10), (.quantified, 8),
    (.collection, 7), (.orderLimit, 8), (.page, 4), (.orderWhole, 4), (.distinct, 5), (.group, 8),
  ]

  private let tables: TwinTables
  private var source: PredicateGenerator

  init(_ tables: TwinTables, seed: UInt64) {
    self.tables = tables
    source = PredicateGenerator(tables, seed: seed)
  }

  /// Makes the next question.
  mutating func question() throws -> TimedQuestion {
    var dice = source.below(Self.weights.reduce(0) { $0 + $1.weight })
    var kind = TimedQuestion.Kind.comparison
    for (candidate, weight) in Self.weights {
      if dice < weight {
        kind = candidate
        break
      }
      dice -= weight
    }
    var question = try make(kind)
    question.predicate = question.predicate.map(Self.withoutDiacritics)
    return question
  }

  private mutating func make(_ kind: TimedQuestion.Kind) throws -> TimedQuestion {
    switch kind {
    case .comparison, .text, .arithmetic, .mixture:
      let table = try table()
      return asked(kind, table, try condition(kind, table))
    case .oneJoin:
      let table = try tables.table("LogEntry")
      return asked(kind, table, try oneJoin(table))
    case .twoJoins: return try twoJoins()
    case .quantified, .collection:
      let table = try owner()
      return asked(kind, table, try source.timedCollection(table, isQuantified: kind == .quantified))
    case .orderLimit, .page, .orderWhole: return try ordered(kind)
    case .distinct: return try distinct()
    case .group: return try groups()
    }
  }

  /// A question that finds rows: two in five want columns, two identifiers, one the number of rows.
  private mutating func asked(_ kind: TimedQuestion.Kind, _ table: TwinTable, _ predicate: Predicate?) -> TimedQuestion
  {
    let form = source.pick([TimedQuestion.Form.identifiers, .identifiers, .columns, .columns, .count])
    return TimedQuestion(kind: kind, table: table, form: form, predicate: predicate)
  }

  // MARK: Tables

  /// Mostly the flights, because the other tables are so small that hardly a question takes a millisecond.
  private mutating func table() throws -> TwinTable {
    let dice = source.below(100)
    return try tables.table(dice < 86 ? "LogEntry" : dice < 94 ? "Aircraft" : "Airport")
  }

  /// A table that has a to-many relationship.
  private mutating func owner() throws -> TwinTable {
    let dice = source.below(100)
    return try tables.table(dice < 55 ? "Aircraft" : dice < 88 ? "Airport" : "Airline")
  }

  // MARK: Conditions

  private mutating func condition(_ kind: TimedQuestion.Kind, _ table: TwinTable) throws -> Predicate {
    switch kind {
    case .comparison: return try comparisons(table)
    case .text: return try source.chance(75) ? source.text(table) : .and([source.text(table), source.plain(table)])
    case .arithmetic: return try source.chance(75) ? source.computed(table) : source.columns(table)
    default: return try source.mixture(table)
    }
  }

  private mutating func comparisons(_ table: TwinTable) throws -> Predicate {
    let first = try ownComparison(table)
    guard source.chance(45) else { return first }
    return .and([first, try ownComparison(table)])
  }

  /// One comparison of a column of the table itself with constants.
  private mutating func ownComparison(_ table: TwinTable) throws -> Predicate {
    // A path through a relationship belongs to the kinds of joins. Eight attempts leave fewer than one in 10,000.
    for _ in 0..<8 {
      let predicate: Predicate
      switch source.below(10) {
      case 0..<5: predicate = try source.plain(table)
      case 5, 6: predicate = try source.between(table)
      case 7: predicate = try source.element(table)
      case 8: predicate = try source.compound(table)
      default: predicate = source.null(try source.path(table).text)
      }
      if !Self.follows(predicate, table.toOne.map { $0.name }) { return predicate }
    }
    return try source.plain(table)
  }

  private static func follows(_ predicate: Predicate, _ links: [String]) -> Bool {
    switch predicate {
    case .comparison(let comparison):
      return [comparison.left, comparison.right].contains { side in
        guard case .keyPath(let path) = side else { return false }
        return links.contains { path.hasPrefix($0 + ".") }
      }
    case .and(let parts), .or(let parts): return parts.contains { follows($0, links) }
    case .not(let inner): return follows(inner, links)
    default: return false
    }
  }

  /// A condition on the rows of another table: what stands behind a relationship.
  private mutating func related(_ table: TwinTable) throws -> Predicate {
    switch source.below(10) {
    case 0..<4: return try source.plain(table)
    case 4..<7: return try source.text(table)
    case 7: return try source.between(table)
    case 8: return try source.element(table)
    default: return source.null(try source.path(table).text)
    }
  }

  private mutating func through(_ link: (name: String, table: String)) throws -> Predicate {
    Self.prefixed(try related(try tables.table(link.table)), link.name)
  }

  private mutating func oneJoin(_ table: TwinTable) throws -> Predicate {
    let link = source.pick(table.toOne)
    let joined = try through(link)
    switch source.below(10) {
    case 0..<4: return joined
    case 4..<7: return .and([joined, try ownComparison(table)])
    case 7: return .or([joined, try ownComparison(table)])
    case 8: return .not(.and([joined, try ownComparison(table)]))
    default: return .and([joined, try through(link)])
    }
  }

  private mutating func twoJoins() throws -> TimedQuestion {
    let entry = try tables.table("LogEntry")
    guard source.chance(70) else {
      // Through a to-many and then a to-one relationship.
      let table = try owner()
      let many = source.pick(table.toMany)
      let one = source.pick(entry.toOne.filter { $0.name != many.column })
      let modifier = source.pick([ComparisonModifier.any, .any, .any, .none, .all])
      let inner = Self.prefixed(try related(try tables.table(one.table)), "\(many.name).\(one.name)")
      guard case .comparison(var comparison) = inner, case .keyPath = comparison.left else {
        let path = Expression.keyPath("\(many.name).\(one.name)")
        return asked(.twoJoins, table, .compare(path, .equal, .constant(.null), modifier: modifier))
      }
      comparison.modifier = modifier
      return asked(.twoJoins, table, .comparison(comparison))
    }
    let links = entry.toOne.shuffled(using: &source.random)
    switch source.below(10) {
    case 0..<5: return asked(.twoJoins, entry, .and([try through(links[0]), try through(links[1])]))
    case 5, 6: return asked(.twoJoins, entry, .or([try through(links[0]), try through(links[1])]))
    case 7:
      return asked(
        .twoJoins, entry, .and([try through(links[0]), .not(try through(links[1])), try ownComparison(entry)]))
    case 8:
      // Two columns of the airports at both ends.
      let column = source.pick(["place.location.latitude", "place.location.altitude", "place.timeZone"])
      let comparator = source.pick([Comparator.less, .greater, .equal, .notEqual])
      let compared = Predicate.compare(.keyPath("origin.\(column)"), comparator, .keyPath("destination.\(column)"))
      return asked(.twoJoins, entry, source.chance(50) ? compared : .and([compared, try ownComparison(entry)]))
    default:
      // Aircraft any of whose flights: from a flight to its aircraft and on to all flights of that.
      let own = try ownComparison(entry)
      guard case .comparison(var comparison) = own, case .keyPath(let path) = comparison.left else {
        return asked(.twoJoins, entry, .and([try through(links[0]), try through(links[1])]))
      }
      comparison.left = .keyPath("aircraft.logEntries.\(path)")
      comparison.modifier = .any
      return asked(.twoJoins, entry, .and([.comparison(comparison), try ownComparison(entry)]))
    }
  }

  // MARK: Orders

  private mutating func ordered(_ kind: TimedQuestion.Kind) throws -> TimedQuestion {
    let table = try table()
    var question = asked(kind, table, nil)
    if case .count = question.form { question.form = .columns }
    if source.chance(60) {
      question.predicate = try source.chance(50) ? comparisons(table) : condition(.mixture, table)
    }
    let isUnordered = kind == .page && source.chance(25)
    if !isUnordered {
      for _ in 0..<(source.chance(40) ? 2 : 1) {
        let path = try source.path(table) { $0 != .boolean }.text
        if question.sort.contains(where: { $0.keyPath == path }) { continue }
        question.sort.append(EngineSort(path, ascending: source.chance(60)))
      }
    }
    switch kind {
    case .orderLimit: question.limit = source.pick([1, 10, 50, 50, 100, 1_000])
    case .page:
      question.limit = source.pick([10, 50, 100, 1_000])
      question.offset = source.pick([10, 100, 1_000, 10_000, 100_000])
    default: break
    }
    return question
  }

  // MARK: Values

  private mutating func distinct() throws -> TimedQuestion {
    let table = try table()
    var paths = [try source.path(table).text]
    if source.chance(45) {
      let other = try source.path(table).text
      if !paths.contains(other) { paths.append(other) }
    }
    var question = TimedQuestion(kind: .distinct, table: table, form: .distinct(paths))
    if source.chance(40) { question.predicate = try comparisons(table) }
    if source.chance(35) {
      question.sort = paths.map { EngineSort($0, ascending: source.chance(60)) }
      if source.chance(50) { question.limit = source.pick([10, 50, 100]) }
    }
    return question
  }

  private mutating func groups() throws -> TimedQuestion {
    var query = try source.groupQuery(tables)
    // A condition on a count, which needs no answer to be made of.
    if !query.keys.isEmpty, source.chance(25) {
      query.aggregates.append(("groupSize", .function("count", [.evaluatedObject])))
      query.having = .compare(
        .function("count", [.evaluatedObject]), .greater, .constant(.integer(Int64(source.pick([1, 10, 100, 1_000])))))
    }
    var question = TimedQuestion(
      kind: .group, table: query.table, form: .groups(query), predicate: query.predicate)
    if !query.keys.isEmpty, source.chance(35) {
      let name = source.chance(60) ? source.pick(query.aggregates).name : query.keys[0]
      question.sort = [EngineSort(name, ascending: source.chance(40))]
      if source.chance(70) { question.limit = source.pick([5, 10, 50]) }
    }
    return question
  }
}

// MARK: Predicates made over

extension QuestionGenerator {
  /// The same condition seen from a row that leads to the rows of `predicate`.
  fileprivate static func prefixed(_ predicate: Predicate, _ prefix: String) -> Predicate {
    func moved(_ expression: Expression) -> Expression {
      guard case .keyPath(let path) = expression else { return expression }
      return .keyPath("\(prefix).\(path)")
    }
    switch predicate {
    case .and(let parts): return .and(parts.map { prefixed($0, prefix) })
    case .or(let parts): return .or(parts.map { prefixed($0, prefix) })
    case .not(let inner): return .not(prefixed(inner, prefix))
    case .comparison(var comparison):
      comparison.left = moved(comparison.left)
      comparison.right = moved(comparison.right)
      return .comparison(comparison)
    default: return predicate
    }
  }

  /// The same condition without `[d]`, which SQLite does not have.
  fileprivate static func withoutDiacritics(_ predicate: Predicate) -> Predicate {
    switch predicate {
    case .and(let parts): return .and(parts.map(withoutDiacritics))
    case .or(let parts): return .or(parts.map(withoutDiacritics))
    case .not(let inner): return .not(withoutDiacritics(inner))
    case .comparison(var comparison):
      comparison.options.remove(.diacriticInsensitive)
      if case .aggregate(let operation, .subquery(let collection, let variable, let condition), let path) =
        comparison.left
      {
        comparison.left = .aggregate(
          operation,
          .subquery(collection: collection, variable: variable, condition: withoutDiacritics(condition)), path: path)
      }
      return .comparison(comparison)
    default: return predicate
    }
  }
}
