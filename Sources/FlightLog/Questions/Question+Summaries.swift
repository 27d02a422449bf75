import Cambium

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Question {
  /// What many flights come to: the store groups them, and no flight becomes an object.
  static let summaries: [Question] = [
    Question(title: "Which airlines arrive latest on average (of those with 100 flights)?") { context in
      let rows = try context.groups(
        of: "LogEntry", by: ["airline.name"],
        [
          ("flights", "count(SELF)"), ("late", "average(arrival.delay)"), ("worst", "max(arrival.delay)"),
        ], having: "flights >= 100", order: [("late", false)], limit: 5)
      return rows.map { row in
        "\(column(row.text("airline.name"), 25)) \(padded(grouped(row.integer("flights")), 6)) flights, "
          + "\(fixed(row.double("late"), 1)) minutes late on average, \(grouped(row.integer("worst"))) at worst"
      }
    },
    Question(title: "Which are the busiest routes?") { context in
      let rows = try context.groups(
        of: "LogEntry", by: ["origin.faaIdentifier", "destination.faaIdentifier", "distance"],
        [("flights", "count(SELF)"), ("minutes", "average(airTime)"), ("flown", "count(airTime)")],
        having: "flown > 0",
        order: [("flights", false), ("origin.faaIdentifier", true), ("destination.faaIdentifier", true)], limit: 5)
      return rows.map { row in
        let miles = row.integer("distance")
        let speed = Double(miles) * 60 / max(row.double("minutes"), 1)
        return "\(row.text("origin.faaIdentifier"))-\(row.text("destination.faaIdentifier"))  "
          + "\(padded(grouped(row.integer("flights")), 5)) flights, \(padded(grouped(miles), 5)) miles at "
          + "\(fixed(speed, 0)) miles an hour"
      }
    },
    Question(title: "Whose aircraft fly most?") { context in
      let rows = try context.groups(
        of: "LogEntry", where: "aircraft.manufacturer != nil", by: ["aircraft.manufacturer"],
        [("minutes", "sum(airTime)"), ("flights", "count(SELF)"), ("oldest", "min(aircraft.year)")],
        having: "flights > 50 AND minutes > 0", order: [("minutes", false)], limit: 4)
      return rows.map { row in
        "\(column(row.text("aircraft.manufacturer"), 20)) \(padded(grouped(row.integer("minutes") / 60), 7)) hours on "
          + "\(padded(grouped(row.integer("flights")), 7)) flights, the oldest aircraft of \(row.integer("oldest"))"
      }
    },
    Question(title: "Which aircraft left more than two hours late most often?") { context in
      // A condition on each of an aircraft's flights, and how many it holds for.
      let often = try FetchPredicate(
        format: "SUBQUERY(logEntries, $leg, $leg.departure.delay > 120 AND $leg.arrival.delay > 120).@count >= 3")
      let request = FetchRequest<Aircraft>(entityName: "Aircraft")
      request.predicate = often
      let rows = try context.groups(
        of: "LogEntry", where: "departure.delay > 120 AND arrival.delay > 120 AND aircraft != nil",
        by: ["aircraft.tailNumber", "aircraft.aircraftModel"], [("late", "count(SELF)")],
        having: "late >= 3", order: [("late", false), ("aircraft.tailNumber", true)], limit: 4)
      return ["\(grouped(try context.count(for: request))) aircraft three times or more"]
        + rows.map { row in
          "\(column(row.text("aircraft.tailNumber"), 6)) \(padded("\(row.integer("late"))", 3)) times  "
            + (row["aircraft.aircraftModel"] as? String ?? "?")
        }
    },
    Question(title: "Which airlines fly aircraft built before 1975, and which never left two hours late?") { context in
      let order = [FetchSortDescriptor(key: "code")]
      let old: [Airline] = try context.find(
        "Airline", try FetchPredicate(format: "ANY logEntries.aircraft.year < 1975"), by: order)
      let prompt: [Airline] = try context.find(
        "Airline", try FetchPredicate(format: "ANY logEntries.distance > 0 AND NONE logEntries.departure.delay >= 120"),
        by: order)
      func names(_ airlines: [Airline]) -> String {
        airlines.isEmpty ? "none" : airlines.map(\.name).joined(separator: ", ")
      }
      return ["before 1975: \(names(old))", "never two hours late: \(names(prompt))"]
    },
    Question(title: "Which flights of aircraft with fewer than ten seats left more than an hour late?") { context in
      // Written in Swift, answered by the store.
      let late = #Predicate<LogEntry> { flight in
        (flight.aircraft?.seats ?? 1000) < 10 && (flight.departure?.delay ?? 0) > 60
      }
      let flights: [LogEntry] = try context.find(
        "LogEntry", try FetchPredicate(late),
        by: [
          FetchSortDescriptor(key: "departure.delay", ascending: false), FetchSortDescriptor(key: "date"),
          FetchSortDescriptor(key: "flightNumber"),
        ])
      return ["\(grouped(flights.count)) flights"]
        + flights.prefix(3).map { "\($0.line), \($0.aircraft?.seats ?? 0) seats" }
    },
  ]
}

extension ManagedObjectContext {
  /// A dictionary for each group of the objects that have the same values of some key paths, with these and what
  /// `columns` make of the group.
  func groups(
    of entity: String, where condition: String? = nil, by keyPaths: [String],
    _ columns: [(name: String, expression: String)], having: String, order: [(key: String, ascending: Bool)], limit: Int
  ) throws -> [[String: Any]] {
    let request = FetchRequest<[String: Any]>(entityName: entity)
    request.predicate = try condition.map { try FetchPredicate(format: $0) }
    request.propertiesToGroupBy = keyPaths
    request.propertiesToFetch =
      try keyPaths.map { .keyPath($0) }
      + columns.map { .expression($0.name, try FetchExpression(format: $0.expression)) }
    request.havingPredicate = try FetchPredicate(format: having)
    request.sortDescriptors = order.map { FetchSortDescriptor(key: $0.key, ascending: $0.ascending) }
    request.fetchLimit = limit
    return try fetch(request)
  }
}

extension [String: Any] {
  /// A text among the values; what is absent is not known.
  fileprivate func text(_ name: String) -> String { self[name] as? String ?? "unknown" }
  fileprivate func integer(_ name: String) -> Int { self[name] as? Int ?? 0 }
  fileprivate func double(_ name: String) -> Double { self[name] as? Double ?? 0 }
}
