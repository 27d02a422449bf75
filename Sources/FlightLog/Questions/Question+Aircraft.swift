import Cambium

extension Question {
  /// What flew.
  static let aircraft: [Question] = [
    Question(title: "Which Boeing aircraft flew most legs?") { context in
      let boeings: [Aircraft] = try context.find("Aircraft", try FetchPredicate(format: "manufacturer == %@", "BOEING"))
      var legs: [(aircraft: Aircraft, count: Int)] = []
      for aircraft in boeings { legs.append((aircraft, try aircraft.count(ofRelationship: "logEntries"))) }
      legs.sort { ($1.count, $0.aircraft.tailNumber) < ($0.count, $1.aircraft.tailNumber) }
      return ["\(grouped(boeings.count)) Boeings"]
        + legs.prefix(5).map { leg in
          let year = leg.aircraft.year.map { "\($0)" } ?? "year unknown"
          return "\(column(leg.aircraft.tailNumber, 6))  \(padded(grouped(leg.count), 5)) legs  "
            + "\(leg.aircraft.aircraftModel ?? "?"), \(year), \(leg.aircraft.seats.map { "\($0)" } ?? "?") seats"
        }
    },
    Question(title: "Which flights have no tail number?") { context in
      let without = try context.count("LogEntry", "aircraft == nil")
      let cancelled = try context.count("LogEntry", "aircraft == nil AND departure.actual == nil")
      return ["\(grouped(without)) flights, of which \(grouped(cancelled)) never left"]
    },
    Question(title: "Which aircraft are not in the registry?") { context in
      let unknown = try context.count("Aircraft", "manufacturer == nil")
      let flown = try context.count("LogEntry", "aircraft != nil AND aircraft.manufacturer == nil")
      return ["\(grouped(unknown)) tail numbers on \(grouped(flown)) flights"]
    },
    Question(title: "What are the oldest aircraft that flew?") { context in
      let predicate = try FetchPredicate(format: "year < 1970 AND ANY logEntries.distance > 0")
      let aircraft: [Aircraft] = try context.find(
        "Aircraft", predicate, by: [FetchSortDescriptor(key: "year"), FetchSortDescriptor(key: "tailNumber")], limit: 4)
      return aircraft.map {
        "\(column($0.tailNumber, 6))  \($0.year ?? 0)  \($0.manufacturer ?? "?") \($0.aircraftModel ?? "?")"
      }
    },
    Question(title: "What is in the log of N14228 (its first flights)?") { context in
      let predicate = try FetchPredicate(format: "aircraft.tailNumber == %@", "N14228")
      let flights: [LogEntry] = try context.find(
        "LogEntry", predicate,
        by: [FetchSortDescriptor(key: "date"), FetchSortDescriptor(key: "departure.scheduled")])
      let minutes = flights.compactMap { $0.airTime }.reduce(0, +)
      let miles = flights.map { $0.distance }.reduce(0, +)
      return [
        "\(flights.count) legs, \(grouped(minutes / 60)) hours in the air, \(grouped(miles)) miles"
      ] + flights.prefix(4).map { $0.line }
    },
  ]
}
