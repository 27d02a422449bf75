import CambiumEngine

// The 22 questions that `FlightLog` asks, in its order (`Sources/FlightLog/Questions`). Cambium makes the fetches that
// the application makes, at the engine: it builds no objects, and reads some columns of each row in their place. Where
// the application asks many times, a programmer asks SQLite once.
extension FixedQuestions {
  /// Midnight UTC of a day of January 2013, in seconds since 2001.
  private func january(_ day: Int) -> Value { .date(Double(4_383 + day - 1) * 86_400) }

  /// All questions.
  func flightLog() throws -> [FixedQuestion] { try punctuality() + aircraft() + places() + summaries() }

  private func punctuality() throws -> [FixedQuestion] {
    let latest = [EngineSort("departure.delay", ascending: false)]
    var days: [TimedQuestion] = []
    for day in 1...31 {
      days.append(try count("LogEntry", "date == %@ AND departure.actual == nil", [january(day)]))
      days.append(try count("LogEntry", "date == %@", [january(day)]))
    }
    return [
      FixedQuestion(
        "JFK to LAX in January: latest departures",
        [
          try rows(
            "LogEntry",
            "origin.faaIdentifier == 'JFK' AND destination.faaIdentifier == 'LAX' AND date >= %@ AND date < %@",
            [january(1), january(32)], sort: latest)
        ]),
      FixedQuestion(
        "latest arrivals", [try rows("LogEntry", sort: [EngineSort("arrival.delay", ascending: false)], limit: 5)]),
      FixedQuestion(
        "left late, arrived in time",
        [
          try count("LogEntry", "departure.delay > 30 AND arrival.delay <= 0"),
          try rows("LogEntry", "departure.delay > 30 AND arrival.delay <= 0", sort: latest, limit: 3),
        ]),
      FixedQuestion(
        "punctuality of JetBlue",
        [
          try count("LogEntry", "airline.code == 'B6' AND arrival.delay != nil"),
          try count("LogEntry", "airline.code == 'B6' AND arrival.delay <= 15"),
          try count("LogEntry", "airline.code == 'B6' AND departure.actual == nil"),
        ],
        [
          """
          SELECT count(l."arrival.delay"), sum(l."arrival.delay" <= 15), sum(l."departure.actual" IS NULL)
          FROM LogEntry l JOIN Airline a ON a.id = l.airline WHERE a.code = 'B6'
          """
        ]),
      FixedQuestion(
        "cancelled flights of each day of January", days,
        [
          """
          SELECT date, sum("departure.actual" IS NULL), count(*) FROM LogEntry
          WHERE date >= \(try seconds(january(1))) AND date < \(try seconds(january(32))) GROUP BY date
          """
        ]),
      FixedQuestion(
        "LaGuardia on January 15 before 6:15",
        [
          try rows(
            "LogEntry",
            "date == %@ AND origin.faaIdentifier == 'LGA' AND departure.scheduled BETWEEN {0, 374}", [january(15)],
            sort: [EngineSort("departure.scheduled"), EngineSort("flightNumber")])
        ]),
    ]
  }

  private func seconds(_ date: Value) throws -> String {
    guard case .date(let seconds) = date else { throw OracleError("no date") }
    return "\(seconds)"
  }

  private func aircraft() throws -> [FixedQuestion] {
    return [
      FixedQuestion(
        "legs of each Boeing",
        [try rows("Aircraft", "manufacturer == 'BOEING'", form: .links("logEntries"))],
        [
          """
          SELECT a.id, a.tailNumber, a.seats, (SELECT count(*) FROM LogEntry l WHERE l.aircraft = a.id)
          FROM Aircraft a WHERE a.manufacturer = 'BOEING'
          """
        ]),
      FixedQuestion(
        "flights without a tail number",
        [
          try count("LogEntry", "aircraft == nil"),
          try count("LogEntry", "aircraft == nil AND departure.actual == nil"),
        ]),
      FixedQuestion(
        "aircraft that are not in the registry",
        [
          try count("Aircraft", "manufacturer == nil"),
          try count("LogEntry", "aircraft != nil AND aircraft.manufacturer == nil"),
        ]),
      FixedQuestion(
        "oldest aircraft that flew",
        [
          try rows(
            "Aircraft", "year < 1970 AND ANY logEntries.distance > 0",
            sort: [EngineSort("year"), EngineSort("tailNumber")], limit: 4)
        ]),
      FixedQuestion(
        "log of N14228",
        [
          try rows(
            "LogEntry", "aircraft.tailNumber == 'N14228'",
            sort: [EngineSort("date"), EngineSort("departure.scheduled")])
        ]),
    ]
  }

  private func places() throws -> [FixedQuestion] {
    var nearest = try rows("Airport", "faaIdentifier != 'ASE'", limit: 5)
    nearest.sort = [
      EngineSort(distanceOf: "place.location", from: EnginePlace(latitude: 39.2232, longitude: -106.8688))
    ]
    let name = try tables.store.field("faaIdentifier", of: tables.entity(tables.table("Airport")))
    var codes: [String] = []
    try tables.store.view().forEach(nearest.fetch(tables)) { (row) throws(EngineError) in
      codes.append(try row.string(name) ?? "")
      return true
    }
    var aspen = FixedQuestion(
      "airports nearest to Aspen, with their flights",
      try [nearest] + codes.map { try count("LogEntry", "destination.faaIdentifier == %@", [.string($0)]) },
      [
        """
        SELECT a.id, a.faaIdentifier, a.name, (SELECT count(*) FROM LogEntry l WHERE l.destination = a.id)
        FROM "Airport byPlace" p CROSS JOIN Airport a ON a.id = p.id
        WHERE p.id MATCH nearest(39.2232, -106.8688) AND a.faaIdentifier <> 'ASE' LIMIT 5
        """
      ])
    aspen.isComparable = false
    return [
      FixedQuestion("time zones of the destinations", [try rows("Airport", "ANY arrivals.distance > 0")]),
      FixedQuestion(
        "airports between 40 and 41 degrees above 6,000 feet",
        [
          try rows(
            "Airport", "place.location.latitude BETWEEN {40, 41} AND place.location.altitude > 6000",
            sort: [EngineSort("place.location.altitude", ascending: false)])
        ]),
      aspen,
      FixedQuestion(
        "highest airports",
        [try rows("Airport", sort: [EngineSort("place.location.altitude", ascending: false)], limit: 3)]),
      FixedQuestion(
        "flights to airports above 5,000 feet",
        [
          try count("LogEntry", "destination.place.location.altitude > 5000"),
          try rows("Airport", "place.location.altitude > 5000 AND ANY arrivals.distance > 0"),
        ]),
    ]
  }

  private func summaries() throws -> [FixedQuestion] {
    let size = Self.groupSize
    func above(_ expression: Expression, _ comparator: Comparator, _ number: Int64) -> Predicate {
      .compare(expression, comparator, .constant(.integer(number)))
    }
    return [
      FixedQuestion(
        "airlines that arrive latest on average",
        [
          try groups(
            by: ["airline.name"],
            [
              ("flights", size), ("late", Self.aggregate("average", "arrival.delay")),
              ("worst", Self.aggregate("max", "arrival.delay")),
            ], having: above(size, .greaterOrEqual, 100), order: [("late", false)], limit: 5)
        ]),
      FixedQuestion(
        "busiest routes",
        [
          try groups(
            by: ["origin.faaIdentifier", "destination.faaIdentifier", "distance"],
            [
              ("flights", size), ("minutes", Self.aggregate("average", "airTime")),
              ("flown", Self.aggregate("count", "airTime")),
            ], having: above(Self.aggregate("count", "airTime"), .greater, 0),
            order: [("flights", false), ("origin.faaIdentifier", true), ("destination.faaIdentifier", true)], limit: 5)
        ]),
      FixedQuestion(
        "manufacturers whose aircraft fly most",
        [
          try groups(
            by: ["aircraft.manufacturer"],
            [
              ("minutes", Self.aggregate("sum", "airTime")), ("flights", size),
              ("oldest", Self.aggregate("min", "aircraft.year")),
            ], where: "aircraft.manufacturer != nil",
            having: .and([above(size, .greater, 50), above(Self.aggregate("sum", "airTime"), .greater, 0)]),
            order: [("minutes", false)], limit: 4)
        ]),
      FixedQuestion(
        "aircraft two hours late three times, and the four that were most often",
        [
          try count(
            "Aircraft",
            "SUBQUERY(logEntries, $leg, $leg.departure.delay > 120 AND $leg.arrival.delay > 120).@count >= 3"),
          try groups(
            by: ["aircraft.tailNumber", "aircraft.aircraftModel"], [("late", size)],
            where: "departure.delay > 120 AND arrival.delay > 120 AND aircraft != nil",
            having: above(size, .greaterOrEqual, 3), order: [("late", false)], limit: 4),
        ]),
      FixedQuestion(
        "airlines with old aircraft, and those never two hours late",
        [
          try rows("Airline", "ANY logEntries.aircraft.year < 1975", sort: [EngineSort("code")]),
          try rows(
            "Airline", "ANY logEntries.distance > 0 AND NONE logEntries.departure.delay >= 120",
            sort: [EngineSort("code")]),
        ]),
      FixedQuestion(
        "late flights of small aircraft",
        [
          // `(seats ?? 1000) < 10` of a Swift predicate becomes `seats < 10`.
          try rows(
            "LogEntry", "aircraft.seats < 10 AND departure.delay > 60",
            sort: [
              EngineSort("departure.delay", ascending: false), EngineSort("date"), EngineSort("flightNumber"),
            ])
        ]),
    ]
  }
}
