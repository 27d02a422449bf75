import CambiumEngine

/// Questions about the flight data.
func flightQueries(_ flights: TwinTables) throws -> [TwinQuery] {
  let aircraft = try flights.table("Aircraft")
  var random = SplitMix64(seed: 11)
  /// Values of a column that occur, no two alike.
  func values(_ table: TwinTable, _ column: String, _ count: Int) -> [Value] {
    var known: Set<Value> = []
    let all = (table.samples[column] ?? []).filter { !$0.isNull && known.insert($0).inserted }
    return Array(all.shuffled(using: &random).prefix(count))
  }
  let entry = try flights.table("LogEntry")
  let entryColumns = ["flightNumber", "distance", "departure.delay"]
  let entryKinds: [TwinKind] = [.integer, .integer, .integer]
  let entrySQL = "SELECT e.flightNumber, e.distance, e.\"departure.delay\" FROM LogEntry e"
  let planeColumns = ["tailNumber", "seats"]
  let planeSQL = "SELECT a.tailNumber, a.seats FROM Aircraft a"
  let path = \QueryData.flights
  typealias Variant = TwinQuery.Variant
  let lateness: [Value] = [300, 500, 700]

  let tails = (0..<4).map { _ in values(aircraft, "tailNumber", 1_000) }
  let tailCount = tails.map { $0.count }.min() ?? 0
  let marks = Array(repeating: "?", count: tailCount).joined(separator: ", ")
  let dates = values(entry, "date", 8)
  let distances: [Value] = values(entry, "distance", 8)
  let makers: [Value] = ["CESSNA", "MCDONNELL DOUGLAS", "CANADAIR", "GULFSTREAM AEROSPACE"]

  func delays(_ low: Int64, _ high: Int64) -> Variant {
    Variant(condition("departure.delay", .between, [.integer(low), .integer(high)]), [.integer(low), .integer(high)])
  }
  func among(_ list: [Value]) -> Variant {
    let list = Array(list.prefix(tailCount))
    return Variant(condition("tailNumber", .in, .list(list)), list)
  }
  func compound(_ distance: Value) -> Variant {
    let parts = [condition("distance", .equal, distance), condition("airTime", .between, [100, 140])]
    return Variant(.and(parts), [distance])
  }
  func early(_ minute: Int64) -> Variant {
    let parts = [condition("departure.scheduled", .less, .integer(minute)), condition("arrival.delay", .greater, 30)]
    return Variant(.and(parts), [.integer(minute)])
  }

  func nearest(_ latitude: Double, _ longitude: Double) -> Variant {
    let origin = EnginePlace(latitude: latitude, longitude: longitude)
    return Variant(
      nil, [.double(latitude), .double(longitude)], sort: [EngineSort(distanceOf: "place.location", from: origin)])
  }

  return [
    TwinQuery(
      name: "flights-equal", title: "indexed equality: the flights of a day", data: path, table: "LogEntry",
      form: .rows(entryColumns), kinds: entryKinds, sql: entrySQL + " WHERE e.date = ?",
      variants: dates.map { Variant("date", .equal, $0) }),
    TwinQuery(
      name: "flights-range", title: "range: flights that left 100 to 120 minutes late", data: path, table: "LogEntry",
      form: .rows(entryColumns), kinds: entryKinds, sql: entrySQL + " WHERE e.\"departure.delay\" BETWEEN ? AND ?",
      variants: [(100, 120), (120, 150), (60, 70)].map(delays)),
    TwinQuery(
      name: "flights-prefix", title: "prefix: aircraft by the start of the tail number", data: path, table: "Aircraft",
      form: .rows(planeColumns), kinds: [.text, .integer],
      sql: planeSQL + " WHERE a.tailNumber >= ? AND a.tailNumber < ?",
      variants: ["N5", "N7", "N1", "N30"].map(prefix)),
    TwinQuery(
      name: "flights-in", title: "IN of 1,000: aircraft by tail number", data: path, table: "Aircraft",
      form: .rows(planeColumns), kinds: [.text, .integer], sql: planeSQL + " WHERE a.tailNumber IN (\(marks))",
      variants: tails.map(among)),
    TwinQuery(
      name: "flights-compound", title: "compound: flights of a distance, by range of time in the air", data: path,
      table: "LogEntry", form: .rows(entryColumns), kinds: entryKinds,
      sql: entrySQL + " WHERE e.distance = ? AND e.airTime BETWEEN 100 AND 140",
      variants: distances.map(compound)),
    TwinQuery(
      name: "flights-order", title: "order by with limit: the 100 latest departures, by index", data: path,
      table: "LogEntry", form: .rows(entryColumns), kinds: entryKinds,
      sql: entrySQL + " ORDER BY e.\"departure.delay\" DESC, e.id LIMIT 100", variants: [Variant(nil)],
      sort: [EngineSort("departure.delay", ascending: false)], limit: 100),
    TwinQuery(
      name: "flights-order-scan", title: "the same by time in the air, without an index", data: path, table: "LogEntry",
      form: .rows(entryColumns), kinds: entryKinds, sql: entrySQL + " ORDER BY e.airTime DESC, e.id LIMIT 100",
      variants: [Variant(nil)], sort: [EngineSort("airTime", ascending: false)], limit: 100, repeats: 2),
    TwinQuery(
      name: "flights-to-one", title: "to-one join: flights by their aircraft's manufacturer", data: path,
      table: "LogEntry", form: .rows(entryColumns), kinds: entryKinds,
      sql: entrySQL + " JOIN Aircraft a ON a.id = e.aircraft WHERE a.manufacturer = ?",
      variants: makers.map { Variant("aircraft.manufacturer", .equal, $0) }, repeats: 8),
    TwinQuery(
      name: "flights-to-many", title: "1:n: aircraft any of whose flights left so late", data: path, table: "Aircraft",
      form: .rows(planeColumns), kinds: [.text, .integer],
      sql: planeSQL
        + " WHERE EXISTS (SELECT 1 FROM LogEntry e WHERE e.aircraft = a.id AND e.\"departure.delay\" > ?)",
      variants: lateness.map { Variant("logEntries.departure.delay", .greater, $0, modifier: .any) }, repeats: 3),
    TwinQuery(
      name: "flights-group", title: "group by airline with three aggregates", data: path, table: "LogEntry",
      form: .groups(
        by: ["airline.code"],
        [
          EngineColumn("code", .keyPath("airline.code")),
          EngineColumn("flights", .function("count", [.evaluatedObject])),
          EngineColumn("late", .function("average", [.keyPath("arrival.delay")])),
          EngineColumn("worst", .function("max", [.keyPath("departure.delay")])),
        ]), kinds: [.text, .integer, .double, .integer],
      sql: """
        SELECT a.code, count(*), avg(e."arrival.delay"), max(e."departure.delay")
        FROM LogEntry e JOIN Airline a ON a.id = e.airline GROUP BY e.airline
        """, variants: [Variant(nil)], repeats: 1),
    TwinQuery(
      name: "flights-scan", title: "scan with a predicate on elements of composites", data: path, table: "LogEntry",
      form: .rows(entryColumns), kinds: entryKinds,
      sql: entrySQL + " WHERE e.\"departure.scheduled\" < ? AND e.\"arrival.delay\" > 30",
      variants: [360, 370].map(early), repeats: 2),
    TwinQuery(
      name: "flights-count", title: "count: flights that left more than an hour late", data: path, table: "LogEntry",
      form: .count, kinds: [.integer], sql: "SELECT count(*) FROM LogEntry e WHERE e.\"departure.delay\" > ?",
      variants: [60, 90, 120].map { Variant("departure.delay", .greater, $0) }, repeats: 200),
    TwinQuery(
      name: "flights-nearest", title: "nearest 10 airports, by R-trees", data: path, table: "Airport",
      form: .rows(["faaIdentifier", "place.location.altitude"]), kinds: [.text, .integer],
      sql: """
        SELECT a.faaIdentifier, a."place.location.altitude" FROM "Airport byPlace" p CROSS JOIN Airport a ON a.id = p.id
        WHERE p.id MATCH nearest(?, ?) LIMIT 10
        """,
      variants: [nearest(40.64, -73.78), nearest(37.6, -122.4), nearest(61.2, -149.9), nearest(30, -90)], limit: 10,
      repeats: 200),
  ]
}

/// Tail numbers that begin so; for SQLite as a range, which is what its own `GLOB` makes of a pattern that is a
/// literal.
func prefix(_ text: String) -> TwinQuery.Variant {
  TwinQuery.Variant(condition("tailNumber", .beginsWith, .string(text)), [.string(text), .string(text + "\u{10FFFF}")])
}
