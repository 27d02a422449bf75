import CambiumEngine

/// Makes the fixed questions.
struct FixedQuestions {
  let tables: TwinTables

  // MARK: Parts

  /// A fetch of rows.
  func rows(
    _ table: String, _ format: String? = nil, _ arguments: [Value] = [], sort: [EngineSort] = [], limit: Int? = nil,
    form: TimedQuestion.Form = .columns
  ) throws -> TimedQuestion {
    var question = TimedQuestion(kind: .mixture, table: try tables.table(table), form: form)
    question.predicate = try format.map {
      try Predicate(format: $0, arguments: arguments.map { PredicateArgument.value($0) })
    }
    question.sort = sort
    question.limit = limit
    return question
  }

  /// A count of rows.
  func count(_ table: String, _ format: String, _ arguments: [Value] = []) throws -> TimedQuestion {
    try rows(table, format, arguments, form: .count)
  }

  /// Groups of flights.
  func groups(
    by keys: [String], _ aggregates: [(name: String, expression: Expression)], where format: String? = nil,
    having: Predicate? = nil, order: [(name: String, ascending: Bool)] = [], limit: Int? = nil
  ) throws -> TimedQuestion {
    var query = GroupQuery(table: try tables.table("LogEntry"), keys: keys, aggregates: aggregates)
    query.predicate = try format.map { try Predicate(format: $0) }
    query.having = having
    var question = TimedQuestion(
      kind: .group, table: query.table, form: .groups(query), predicate: query.predicate)
    question.sort = order.map { EngineSort($0.name, ascending: $0.ascending) }
    question.limit = limit
    return question
  }

  static let groupSize = Expression.function("count", [.evaluatedObject])

  static func aggregate(_ name: String, _ path: String) -> Expression { .function(name, [.keyPath(path)]) }

  // MARK: The table of the issue

  /// The questions of the table. Each wants the identifiers of the rows.
  func table() throws -> [FixedQuestion] {
    func identifiers(
      _ table: String, _ format: String?, sort: [EngineSort] = [], limit: Int? = nil
    ) throws -> [TimedQuestion] {
      [try rows(table, format, sort: sort, limit: limit, form: .identifiers)]
    }
    return [
      FixedQuestion(
        "destination.name CONTAINS 'San'", try identifiers("LogEntry", "destination.name CONTAINS 'San'")),
      FixedQuestion(
        // The data are ASCII, so that SQLite needs no more than LIKE.
        "destination.name CONTAINS[cd] 'San'", try identifiers("LogEntry", "destination.name CONTAINS[cd] 'San'")),
      FixedQuestion(
        "arrival.delay - departure.delay > 20", try identifiers("LogEntry", "arrival.delay - departure.delay > 20")),
      FixedQuestion(
        "aircraft.manufacturer == 'BOEING' OR distance > 2500",
        try identifiers("LogEntry", "aircraft.manufacturer == 'BOEING' OR distance > 2500")),
      FixedQuestion(
        "NOT (aircraft.year == 2001 AND distance < 500)",
        try identifiers("LogEntry", "NOT (aircraft.year == 2001 AND distance < 500)")),
      FixedQuestion(
        "order by aircraft.tailNumber, -distance, limit 50",
        try identifiers(
          "LogEntry", nil, sort: [EngineSort("aircraft.tailNumber"), EngineSort("distance", ascending: false)],
          limit: 50)),
      FixedQuestion(
        "group by aircraft.manufacturer, sum(airTime), min(aircraft.year)",
        [
          try groups(
            by: ["aircraft.manufacturer"],
            [("minutes", Self.aggregate("sum", "airTime")), ("oldest", Self.aggregate("min", "aircraft.year"))])
        ]),
      FixedQuestion(
        "aircraft with logEntries.@count > 200", try identifiers("Aircraft", "logEntries.@count > 200")),
      FixedQuestion(
        "for comparison: aircraft.seats > 200 AND departure.delay > 30",
        try identifiers("LogEntry", "aircraft.seats > 200 AND departure.delay > 30")),
    ]
  }
}
