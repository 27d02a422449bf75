import Cambium
import Foundation
import Testing

@testable import FlightLog

/// What the questions that group and look through relationships answer, against plain loops over the CSV files.
@Suite struct QuestionTests {
  /// A flight, by what the file says.
  private struct Flight {
    var date: String
    var carrier: String
    var number: Int
    var tail: String?
    var origin: String
    var destination: String
    var airTime: Int?
    var distance: Int
    var departure: (actual: String?, delay: Int?)
    var arrival: (actual: String?, delay: Int?)
  }

  private struct Plane {
    var year: Int?
    var manufacturer: String?
    var model: String?
    var seats: Int?
  }

  private struct Files {
    var flights: [Flight] = []
    var planes: [String: Plane] = [:]
    var airlines: [String: String] = [:]

    init() throws {
      for row in try Self.rows("airlines.csv") { airlines[row("carrier")] = row("name") }
      for row in try Self.rows("planes.csv") {
        planes[row("tailnum")] = Plane(
          year: Int(row("year")), manufacturer: row.known("manufacturer"), model: row.known("model"),
          seats: Int(row("seats")))
      }
      for row in try Self.rows("flights.csv") {
        let day = [row("year"), row("month"), row("day")].map { $0.count < 2 ? "0\($0)" : $0 }.joined(separator: "-")
        flights.append(
          Flight(
            date: day, carrier: row("carrier"), number: Int(row("flight")) ?? 0, tail: row.known("tailnum"),
            origin: row("origin"), destination: row("dest"), airTime: Int(row("air_time")),
            distance: Int(row("distance")) ?? 0, departure: (row.known("dep_time"), Int(row("dep_delay"))),
            arrival: (row.known("arr_time"), Int(row("arr_delay")))))
      }
    }

    struct Row {
      var fields: [String: String]
      func callAsFunction(_ name: String) -> String { fields[name] ?? "" }
      func known(_ name: String) -> String? { fields[name].flatMap { $0 == "NA" || $0.isEmpty ? nil : $0 } }
    }

    private static func rows(_ name: String) throws -> [Row] {
      let text = try String(contentsOfFile: try DataFolder(path: nil).path + "/" + name, encoding: .utf8)
      let lines = text.split(whereSeparator: \.isNewline)
      let header = lines[0].split(separator: ",").map(String.init)
      // None of these files has a comma within a field; where one had, the numbers of fields would differ.
      return try lines.dropFirst().map { line in
        let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        try #require(fields.count == header.count)
        return Row(fields: Dictionary(uniqueKeysWithValues: zip(header, fields)))
      }
    }

    func plane(_ flight: Flight) -> Plane? { flight.tail.flatMap { planes[$0] } }
  }

  @Test func summariesAreThoseOfTheFiles() throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("cambium-\(UUID().uuidString).store").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let log = try FlightLog(path: path)
    let context = log.newContext()
    try context.performAndWait {
      var importer = try Importer(from: DataFolder(path: nil), into: context)
      _ = try importer.run()
    }
    let files = try Files()
    let expected = [
      airlinesByDelay(files), routes(files), manufacturers(files), late(files), airlines(files), small(files),
    ]
    #expect(expected.count == Question.summaries.count)
    for (question, lines) in zip(Question.summaries, expected) {
      let answer = try context.performAndWait { try question.answer(context) }
      #expect(answer == lines, "\(question.title)")
      // An answer that says nothing would hold whatever the store does.
      #expect(lines.count > 1)
    }
    #expect(context.recordedErrors.isEmpty)
    try log.close()
  }

  private func mean(_ values: [Int]) -> Double { Double(values.reduce(0, +)) / Double(values.count) }

  private func airlinesByDelay(_ files: Files) -> [String] {
    let groups = Dictionary(grouping: files.flights) { $0.carrier }.filter { $0.value.count >= 100 }
    let means = groups.map { carrier, flights in
      (carrier, flights.count, flights.compactMap { $0.arrival.delay })
    }.sorted { mean($0.2) > mean($1.2) }
    return means.prefix(5).map { carrier, count, delays in
      "\(column(files.airlines[carrier] ?? "", 25)) \(padded(grouped(count), 6)) flights, \(fixed(mean(delays), 1)) minutes late "
        + "on average, \(grouped(delays.max() ?? 0)) at worst"
    }
  }

  private func routes(_ files: Files) -> [String] {
    let groups = Dictionary(grouping: files.flights) { "\($0.origin)-\($0.destination)" }
      .filter { $0.value.contains { $0.airTime != nil } }
    let order = groups.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    return order.prefix(5).map { route, flights in
      let miles = flights[0].distance
      let speed = Double(miles) * 60 / mean(flights.compactMap { $0.airTime })
      return "\(route)  \(padded(grouped(flights.count), 5)) flights, \(padded(grouped(miles), 5)) miles at "
        + "\(fixed(speed, 0)) miles an hour"
    }
  }

  private func manufacturers(_ files: Files) -> [String] {
    var groups: [String: [Flight]] = [:]
    for flight in files.flights {
      if let name = files.plane(flight)?.manufacturer { groups[name, default: []].append(flight) }
    }
    func minutes(_ flights: [Flight]) -> Int { flights.compactMap { $0.airTime }.reduce(0, +) }
    let order = groups.filter { $0.value.count > 50 }.sorted { minutes($0.value) > minutes($1.value) }
    return order.prefix(4).map { name, flights in
      let oldest = flights.compactMap { files.plane($0)?.year }.min() ?? 0
      return
        "\(column(name, 20)) \(padded(grouped(minutes(flights) / 60), 7)) hours on \(padded(grouped(flights.count), 7)) "
        + "flights, the oldest aircraft of \(oldest)"
    }
  }

  private func late(_ files: Files) -> [String] {
    var times: [String: Int] = [:]
    for flight in files.flights {
      if let tail = flight.tail, flight.departure.delay ?? 0 > 120, flight.arrival.delay ?? 0 > 120 {
        times[tail, default: 0] += 1
      }
    }
    let often = times.filter { $0.value >= 3 }.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    return ["\(often.count) aircraft three times or more"]
      + often.prefix(4).map { tail, count in
        "\(column(tail, 6)) \(padded("\(count)", 3)) times  \(files.planes[tail]?.model ?? "?")"
      }
  }

  private func airlines(_ files: Files) -> [String] {
    var (old, prompt) = (Set<String>(), Set(files.flights.map { $0.carrier }))
    for flight in files.flights {
      if let year = files.plane(flight)?.year, year < 1975 { old.insert(flight.carrier) }
      if let delay = flight.departure.delay, delay >= 120 { prompt.remove(flight.carrier) }
    }
    func names(_ codes: Set<String>) -> String {
      codes.isEmpty ? "none" : codes.sorted().map { files.airlines[$0] ?? "" }.joined(separator: ", ")
    }
    return ["before 1975: \(names(old))", "never two hours late: \(names(prompt))"]
  }

  private func small(_ files: Files) -> [String] {
    func time(_ text: String?) -> String {
      guard let text, let number = Int(text) else { return "--:--" }
      let minutes = number % 100
      return padded("\(number / 100):\(minutes < 10 ? "0" : "")\(minutes)", 5)
    }
    let found = files.flights.filter { files.plane($0)?.seats ?? 1000 < 10 && $0.departure.delay ?? 0 > 60 }
      .sorted { ($1.departure.delay ?? 0, $0.date, $0.number) < ($0.departure.delay ?? 0, $1.date, $1.number) }
    return ["\(found.count) flights"]
      + found.prefix(3).map { flight in
        "\(flight.date)  \(column("\(flight.carrier) \(flight.number)", 7))  \(column(flight.tail ?? "", 6))  "
          + "\(flight.origin)-\(flight.destination)  departed \(time(flight.departure.actual)) "
          + "(\(signed(flight.departure.delay))), arrived \(time(flight.arrival.actual)) (\(signed(flight.arrival.delay))), "
          + "\(files.plane(flight)?.seats ?? 0) seats"
      }
  }
}
