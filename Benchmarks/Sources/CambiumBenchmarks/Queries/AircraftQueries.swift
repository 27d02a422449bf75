import CambiumEngine

/// Questions about as many aircraft and log entries as the run has.
func aircraftQueries(_ rows: Int) -> [TwinQuery] {
  let path = \QueryData.aircraft
  let columns = ["tailNumber", "year", "hours"]
  let kinds: [TwinKind] = [.text, .integer, .double]
  let sql = "SELECT a.tailNumber, a.year, a.hours FROM Aircraft a"
  let entryColumns = ["date", "flight", "distance"]
  let entryKinds: [TwinKind] = [.date, .integer, .integer]
  let entrySQL = "SELECT e.date, e.flight, e.distance FROM LogEntry e"
  typealias Variant = TwinQuery.Variant
  let colours: [Value] = (0..<4).map { .string(Aircraft.colour(UInt64(11 + $0))) }
  var random = SplitMix64(seed: 12)
  let tails: [[Value]] = (0..<4).map { _ in
    var ids: Set<Int> = []
    while ids.count < min(1_000, rows / 2) { ids.insert(1 + Int(random.next() % UInt64(rows))) }
    return ids.sorted().map { .string(Aircraft.tailNumber($0)) }
  }
  let marks = Array(repeating: "?", count: tails[0].count).joined(separator: ", ")
  // Hours are spread evenly from 0 to 20,000.
  let ranges: [(Double, Double)] = [(1_000, 1_200), (9_000, 9_200), (17_000, 17_200)]

  func hours(_ low: Double, _ high: Double) -> Variant {
    Variant(condition("hours", .between, [.double(low), .double(high)]), [.double(low), .double(high)])
  }
  func compound(_ category: String, _ year: Int64) -> Variant {
    let years: [Value] = [.integer(year), .integer(year + 3)]
    let parts = [condition("category", .equal, .string(category)), condition("year", .between, .list(years))]
    return Variant(.and(parts), [.string(category)] + years)
  }
  func longEntries(_ colour: Value) -> Variant {
    let parts = [condition("aircraft.colorScheme.primary", .equal, colour), condition("distance", .greater, 3000)]
    return Variant(.and(parts), [colour])
  }
  func withLongEntries(_ colour: Value) -> Variant {
    let parts = [
      condition("colorScheme.primary", .equal, colour),
      condition("logEntries.distance", .greater, 3000, modifier: .any),
    ]
    return Variant(.and(parts), [colour])
  }
  func twoColours(_ colour: Value) -> Variant {
    let parts = [condition("colorScheme.secondary", .equal, colour), condition("colorScheme.tertiary", .equal, .null)]
    return Variant(.and(parts), [colour])
  }

  return [
    TwinQuery(
      name: "aircraft-equal", title: "indexed equality: 1% of the aircraft", data: path, table: "Aircraft",
      form: .rows(columns), kinds: kinds, sql: sql + " WHERE a.\"colorScheme.primary\" = ?",
      variants: colours.map { Variant("colorScheme.primary", .equal, $0) }, repeats: 4),
    TwinQuery(
      name: "aircraft-range", title: "range: 1% of the aircraft by hours", data: path, table: "Aircraft",
      form: .rows(columns), kinds: kinds, sql: sql + " WHERE a.hours BETWEEN ? AND ?",
      variants: ranges.map(hours), repeats: 4),
    TwinQuery(
      name: "aircraft-prefix", title: "prefix: aircraft by the start of the tail number", data: path, table: "Aircraft",
      form: .rows(columns), kinds: kinds, sql: sql + " WHERE a.tailNumber >= ? AND a.tailNumber < ?",
      variants: ["N1Z", "NA0", "NK", "N77"].map(prefix), repeats: 4),
    TwinQuery(
      name: "aircraft-in", title: "IN of 1,000: aircraft by tail number", data: path, table: "Aircraft",
      form: .rows(columns), kinds: kinds, sql: sql + " WHERE a.tailNumber IN (\(marks))",
      variants: tails.map { Variant(condition("tailNumber", .in, .list($0)), $0) }, repeats: 8),
    TwinQuery(
      name: "aircraft-compound", title: "compound: aircraft of a category, by range of years", data: path,
      table: "Aircraft", form: .rows(columns), kinds: kinds,
      sql: sql + " WHERE a.category = ? AND a.year BETWEEN ? AND ?",
      variants: zip(Aircraft.categories, [1955, 1970, 1985, 2000]).map(compound), repeats: 4),
    TwinQuery(
      name: "aircraft-order", title: "order by with limit: the 100 with most hours, by index", data: path,
      table: "Aircraft", form: .rows(columns), kinds: kinds, sql: sql + " ORDER BY a.hours DESC, a.id LIMIT 100",
      variants: [Variant(nil)], sort: [EngineSort("hours", ascending: false)], limit: 100),
    TwinQuery(
      name: "aircraft-order-scan", title: "the same of log entries by distance, without an index", data: path,
      table: "LogEntry", form: .rows(entryColumns), kinds: entryKinds,
      sql: entrySQL + " ORDER BY e.distance DESC, e.id LIMIT 100", variants: [Variant(nil)],
      sort: [EngineSort("distance", ascending: false)], limit: 100, repeats: 1),
    TwinQuery(
      name: "aircraft-to-one", title: "to-one join: long log entries of aircraft of a colour", data: path,
      table: "LogEntry", form: .rows(entryColumns), kinds: entryKinds,
      sql: entrySQL + " JOIN Aircraft a ON a.id = e.aircraft WHERE a.\"colorScheme.primary\" = ? AND e.distance > 3000",
      variants: colours.map(longEntries), repeats: 2),
    TwinQuery(
      name: "aircraft-to-many", title: "1:n: aircraft of a colour with a long log entry", data: path, table: "Aircraft",
      form: .rows(columns), kinds: kinds,
      sql: sql + """
         WHERE a."colorScheme.primary" = ?
        AND EXISTS (SELECT 1 FROM LogEntry e WHERE e.aircraft = a.id AND e.distance > 3000)
        """,
      variants: colours.map(withLongEntries), repeats: 2),
    TwinQuery(
      name: "aircraft-group", title: "group by category with three aggregates", data: path, table: "Aircraft",
      form: .groups(
        by: ["category"],
        [
          EngineColumn("category", .keyPath("category")), EngineColumn("n", .function("count", [.evaluatedObject])),
          EngineColumn("year", .function("average", [.keyPath("year")])),
          EngineColumn("hours", .function("max", [.keyPath("hours")])),
        ]), kinds: [.text, .integer, .double, .double],
      sql: "SELECT a.category, count(*), avg(a.year), max(a.hours) FROM Aircraft a GROUP BY a.category",
      variants: [Variant(nil)], repeats: 1),
    TwinQuery(
      name: "aircraft-distinct", title: "distinct values: the categories, by an index on category and year", data: path,
      table: "Aircraft", form: .distinct([EngineColumn("category", .keyPath("category"))]), kinds: [.text],
      sql: "SELECT DISTINCT a.category FROM Aircraft a", variants: [Variant(nil)], repeats: 200),
    TwinQuery(
      name: "aircraft-scan", title: "scan with a predicate on elements of a composite", data: path, table: "Aircraft",
      form: .rows(columns), kinds: kinds,
      sql: sql + " WHERE a.\"colorScheme.secondary\" = ? AND a.\"colorScheme.tertiary\" IS NULL",
      variants: colours.map(twoColours), repeats: 1),
    TwinQuery(
      name: "aircraft-count", title: "count: aircraft of a colour", data: path, table: "Aircraft", form: .count,
      kinds: [.integer], sql: "SELECT count(*) FROM Aircraft a WHERE a.\"colorScheme.primary\" = ?",
      variants: colours.map { Variant("colorScheme.primary", .equal, $0) }),
  ]
}
