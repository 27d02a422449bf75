import Cambium

extension Question {
  /// When flights left and arrived.
  static let punctuality: [Question] = [
    Question(title: "JFK to LAX in January: which departures were latest?") { context in
      let route = try FetchPredicate(
        format: "origin.faaIdentifier == %@ AND destination.faaIdentifier == %@ AND date >= %@ AND date < %@", "JFK",
        "LAX", day(2013, 1, 1), day(2013, 2, 1))
      let flights: [LogEntry] = try context.find(
        "LogEntry", route, by: [FetchSortDescriptor(key: "departure.delay", ascending: false)])
      let delays = flights.compactMap { $0.departure?.delay }
      let mean = delays.isEmpty ? 0 : Double(delays.reduce(0, +)) / Double(delays.count)
      return ["\(flights.count) flights, \(fixed(mean, 1)) minutes late on average"]
        + flights.prefix(3).map { $0.line }
    },
    Question(title: "Which flights arrived latest?") { context in
      let flights: [LogEntry] = try context.find(
        "LogEntry", by: [FetchSortDescriptor(key: "arrival.delay", ascending: false)], limit: 5)
      return flights.map { $0.line }
    },
    Question(title: "Who left more than half an hour late and was in time all the same?") { context in
      let made = try FetchPredicate(format: "departure.delay > 30 AND arrival.delay <= 0")
      let flights: [LogEntry] = try context.find(
        "LogEntry", made, by: [FetchSortDescriptor(key: "departure.delay", ascending: false)], limit: 3)
      return ["\(grouped(try context.count("LogEntry", "departure.delay > 30 AND arrival.delay <= 0"))) flights"]
        + flights.map { $0.line }
    },
    Question(title: "How punctual is JetBlue (within 15 minutes at the destination)?") { context in
      let flown = try context.count("LogEntry", "airline.code == %@ AND arrival.delay != nil", "B6")
      let punctual = try context.count("LogEntry", "airline.code == %@ AND arrival.delay <= 15", "B6")
      let cancelled = try context.count("LogEntry", "airline.code == %@ AND departure.actual == nil", "B6")
      return [
        "\(grouped(punctual)) of \(grouped(flown)) flights, \(percent(punctual, of: flown)); "
          + "\(grouped(cancelled)) never left"
      ]
    },
    Question(title: "On which days of January were most flights cancelled?") { context in
      var days: [(day: Int, cancelled: Int, planned: Int)] = []
      for number in 1...31 {
        let date = day(2013, 1, number)
        let cancelled = try context.count("LogEntry", "date == %@ AND departure.actual == nil", date)
        days.append((number, cancelled, try context.count("LogEntry", "date == %@", date)))
      }
      return days.sorted { ($1.cancelled, $0.day) < ($0.cancelled, $1.day) }.prefix(3).map {
        "\(dayText(day(2013, 1, $0.day)))  \($0.cancelled) of \($0.planned) (\(percent($0.cancelled, of: $0.planned)))"
      }
    },
    Question(title: "What leaves LaGuardia on January 15 before 6:15?") { context in
      let predicate = try FetchPredicate(
        format: "date == %@ AND origin.faaIdentifier == %@ AND departure.scheduled BETWEEN {%@, %@}", day(2013, 1, 15),
        "LGA", 0, 6 * 60 + 14)
      let flights: [LogEntry] = try context.find(
        "LogEntry", predicate,
        by: [FetchSortDescriptor(key: "departure.scheduled"), FetchSortDescriptor(key: "flightNumber")])
      return ["\(flights.count) flights"] + flights.prefix(5).map { clock($0.departure?.scheduled) + "  " + $0.line }
    },
  ]
}
