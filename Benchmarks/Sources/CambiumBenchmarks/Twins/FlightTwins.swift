import CambiumEngine
import Foundation

/// The flight data twice.
enum FlightTwins {
  /// The month of flights in the repository.
  static var repositoryData: String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../../Sources/FlightLog/Data").standardizedFileURL.path
  }

  /// Loads the CSV files of a folder.
  static func load(data: String, directory: String, name: String) throws -> TwinTables {
    let twins = try TwinTables(try model(), directory: directory, name: name)
    var loader = FlightLoader(twins, folder: data)
    try loader.load()
    try twins.finish()
    return twins
  }

  /// With indexes of every kind, so that each way of finding rows is taken.
  private static func model() throws -> TwinModel {
    let tables =
      [
        TwinTable(
          "Airline", [.init("code", .text), .init("name", .text)],
          toMany: [(name: "logEntries", table: "LogEntry", column: "airline")], indexed: ["code"]),
        TwinTable(
          "Airport",
          [
            .init("faaIdentifier", .text), .init("name", .text), .init("place.timeZone", .text),
            .init("place.location.latitude", .double), .init("place.location.longitude", .double),
            .init("place.location.altitude", .integer),
          ],
          toMany: [
            (name: "departures", table: "LogEntry", column: "origin"),
            (name: "arrivals", table: "LogEntry", column: "destination"),
          ], indexed: ["faaIdentifier", "place.location.latitude", "place.timeZone"]),
        TwinTable(
          "Aircraft",
          [
            .init("tailNumber", .text), .init("year", .integer), .init("aircraftType", .text),
            .init("manufacturer", .text), .init("aircraftModel", .text), .init("engines", .integer),
            .init("seats", .integer), .init("engineType", .text),
          ], toMany: [(name: "logEntries", table: "LogEntry", column: "aircraft")],
          indexed: ["tailNumber", "manufacturer", "seats", "aircraftModel"]),
        TwinTable(
          "LogEntry",
          [
            .init("date", .date), .init("flightNumber", .integer), .init("departure.scheduled", .integer),
            .init("departure.actual", .integer), .init("departure.delay", .integer),
            .init("arrival.scheduled", .integer), .init("arrival.actual", .integer), .init("arrival.delay", .integer),
            .init("airTime", .integer), .init("distance", .integer), .init("speed", .double),
            .init("isCancelled", .boolean),
          ],
          toOne: [
            (name: "airline", table: "Airline"), (name: "origin", table: "Airport"),
            (name: "destination", table: "Airport"), (name: "aircraft", table: "Aircraft"),
          ], indexed: ["date", "departure.delay", "distance", "arrival.delay", "flightNumber"]),
      ]
    let composites = [
      CompositeSchema(
        "Location",
        elements: [
          AttributeSchema("latitude", .double), AttributeSchema("longitude", .double),
          AttributeSchema("altitude", .integer32),
        ]),
      CompositeSchema(
        "Place", elements: [AttributeSchema("timeZone", .string), AttributeSchema("location", composite: "Location")]),
      CompositeSchema(
        "Times",
        elements: ["scheduled", "actual", "delay"].map { AttributeSchema($0, .integer16) }),
    ]
    let indexes: [String: [IndexSchema]] = [
      "Airport": [
        IndexSchema("byLatitude", [IndexElement("place.location.latitude")]),
        IndexSchema("byZone", [IndexElement("place.timeZone")]),
        IndexSchema(
          "byPlace",
          ["place.location.latitude", "place.location.longitude"].map { IndexElement($0, kind: .rTree) }),
      ],
      "Aircraft": [
        IndexSchema("byManufacturer", [IndexElement("manufacturer")]),
        IndexSchema("bySeats", [IndexElement("seats"), IndexElement("year", ascending: false)]),
        IndexSchema("byModel", [IndexElement("aircraftModel", ascending: false)]),
      ],
      "LogEntry": [
        IndexSchema("byDate", [IndexElement("date")]),
        IndexSchema("byDepartureDelay", [IndexElement("departure.delay")]),
        IndexSchema("byDistance", [IndexElement("distance"), IndexElement("airTime")]),
        IndexSchema(
          "byLateArrival", [IndexElement("arrival.delay")], partialPredicate: "arrival.delay > 120"),
        IndexSchema("byFlight", [IndexElement("flightNumber", ascending: false), IndexElement("date")]),
        // A relationship's own tree has no entries for the rows that lead nowhere.
        IndexSchema("withoutAircraft", [IndexElement("date")], partialPredicate: "aircraft == nil"),
      ],
    ]
    return TwinModel(
      tables: tables, composites: composites,
      compositeOf: ["place": "Place", "departure": "Times", "arrival": "Times"], indexes: indexes,
      unique: ["Airline": "code", "Airport": "faaIdentifier", "Aircraft": "tailNumber"])
  }
}

/// Reads the CSV files of the flight data.
private struct FlightLoader {
  private let target: TwinTables
  private let folder: String
  /// Rows that can be led to, by table and name.
  private var known: [String: [String: Int]] = [:]
  private var pending: [TwinTables.NewRow] = []

  init(_ target: TwinTables, folder: String) {
    self.target = target
    self.folder = folder
  }

  mutating func load() throws {
    try rows("airlines.csv") { loader, row in
      _ = try loader.find("Airline", row["carrier"], [row.text("name")])
    }
    try rows("airports.csv") { loader, row in
      _ = try loader.find(
        "Airport", row["faa"],
        [row.text("name"), row.text("tzone"), row.double("lat"), row.double("lon"), row.integer("alt")])
    }
    try rows("planes.csv") { loader, row in
      _ = try loader.find(
        "Aircraft", row["tailnum"],
        [
          row.integer("year"), row.text("type"), row.text("manufacturer"), row.text("model"), row.integer("engines"),
          row.integer("seats"), row.text("engine"),
        ])
    }
    let entry = try target.table("LogEntry")
    try rows("flights.csv") { loader, row in
      let links = [
        try loader.find("Airline", row["carrier"]), try loader.find("Airport", row["origin"]),
        try loader.find("Airport", row["dest"]),
        row["tailnum"] == "NA" || row["tailnum"].isEmpty ? nil : try loader.find("Aircraft", row["tailnum"]),
      ]
      let day = try row.day()
      var speed = Value.null
      if case .integer(let miles) = row.integer("distance"), case .integer(let minutes) = row.integer("air_time"),
        minutes > 0
      {
        speed = .double(Double(miles) * 60 / Double(minutes))
      }
      let values: [Value] = [
        .date(day), row.integer("flight"), row.minutes("sched_dep_time"), row.minutes("dep_time"),
        row.integer("dep_delay"), row.minutes("sched_arr_time"), row.minutes("arr_time"), row.integer("arr_delay"),
        row.integer("air_time"), row.integer("distance"), speed, .boolean(row.integer("dep_time").isNull),
      ]
      loader.pending.append((entry, values, links))
      if loader.pending.count >= 20_000 { try loader.flush() }
    }
    try flush()
  }

  /// The id of the row with a name, which is its first column's value; added with the values given if there is none.
  private mutating func find(_ name: String, _ key: String, _ values: [Value] = []) throws -> Int {
    if let id = known[name]?[key] { return id }
    let table = try target.table(name)
    let empty = Array(repeating: Value.null, count: table.columns.count - 1 - values.count)
    // At once, since others lead to it by its row.
    try target.insert([(table, [.string(key)] + values + empty, [])])
    known[name, default: [:]][key] = table.rows.count
    return table.rows.count
  }

  private mutating func flush() throws {
    try target.insert(pending)
    pending = []
  }

  // MARK: Files

  private struct CSVRow {
    let fields: [Substring]
    let places: [String: Int]

    subscript(name: String) -> String { places[name].map { String(fields[$0]) } ?? "" }

    func text(_ name: String) -> Value {
      let text = self[name]
      return text == "NA" || text.isEmpty ? .null : .string(text)
    }

    func integer(_ name: String) -> Value {
      guard let number = Int64(self[name], radix: 10) else { return .null }
      return .integer(number)
    }

    func double(_ name: String) -> Value {
      let text: String = self[name]
      guard let number = Double(text) else { return .null }
      return .double(number)
    }

    /// `hhmm` as minutes after midnight.
    func minutes(_ name: String) -> Value {
      guard case .integer(let time) = integer(name) else { return .null }
      return .integer(time / 100 * 60 + time % 100)
    }

    /// The day as seconds since 2001.
    func day() throws -> Double {
      guard let year = Int(self["year"], radix: 10), let month = Int(self["month"], radix: 10),
        let day = Int(self["day"], radix: 10)
      else {
        throw OracleError("a flight has no date")
      }
      var components = DateComponents()
      (components.year, components.month, components.day) = (year, month, day)
      components.timeZone = TimeZone(secondsFromGMT: 0)
      guard let date = Calendar(identifier: .gregorian).date(from: components) else {
        throw OracleError("\(year)-\(month)-\(day) is no day")
      }
      return date.timeIntervalSinceReferenceDate
    }
  }

  private mutating func rows(_ name: String, _ body: (inout FlightLoader, CSVRow) throws -> Void) throws {
    let text = try String(contentsOfFile: folder + "/" + name, encoding: .utf8)
    if text.contains("\"") { throw OracleError("\(name) has quoted fields, which are not read here") }
    var places: [String: Int]?
    for line in text.split(whereSeparator: { $0.isNewline }) {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      guard let known = places else {
        places = Dictionary(uniqueKeysWithValues: fields.enumerated().map { (String($0.element), $0.offset) })
        continue
      }
      guard fields.count == known.count else { throw OracleError("\(name): a line has \(fields.count) fields") }
      try body(&self, CSVRow(fields: fields, places: known))
    }
  }
}
