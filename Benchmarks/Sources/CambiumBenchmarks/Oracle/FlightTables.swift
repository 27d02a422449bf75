import CSQLite
import CambiumEngine
import CambiumKernel
import CambiumSystem
import Foundation

/// The flight data twice: as entities of a store and as tables of SQLite, from the same values.
final class FlightTables {
  let tables: [OracleTable]
  let store: EntityStore
  let connection: SQLiteConnection
  private let byName: [String: OracleTable]

  func table(_ name: String) throws -> OracleTable {
    guard let table = byName[name] else { throw OracleError("there is no table \(name)") }
    return table
  }

  func entity(_ table: OracleTable) throws -> EntitySchema {
    guard let entity = store.schema.entity(named: table.name) else { throw OracleError("no entity \(table.name)") }
    return entity
  }

  // MARK: Model

  private static func makeTables() -> [OracleTable] {
    [
      OracleTable(
        "Airline", [.init("code", .text), .init("name", .text)],
        toMany: [(name: "logEntries", table: "LogEntry", column: "airline")], indexed: ["code"]),
      OracleTable(
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
      OracleTable(
        "Aircraft",
        [
          .init("tailNumber", .text), .init("year", .integer), .init("aircraftType", .text),
          .init("manufacturer", .text), .init("aircraftModel", .text), .init("engines", .integer),
          .init("seats", .integer), .init("engineType", .text),
        ], toMany: [(name: "logEntries", table: "LogEntry", column: "aircraft")],
        indexed: ["tailNumber", "manufacturer", "seats", "aircraftModel"]),
      OracleTable(
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
  }

  /// With indexes of every kind, so that each way of finding rows is taken.
  private static func makeSchema(_ tables: [OracleTable]) throws -> Schema {
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
      ],
    ]
    let unique = ["Airline": "code", "Airport": "faaIdentifier", "Aircraft": "tailNumber"]
    var entities: [EntitySchema] = []
    for table in tables {
      var attributes: [AttributeSchema] = []
      for column in table.columns {
        let parts = column.path.split(separator: ".")
        let name = String(parts[0])
        if parts.count == 1 {
          attributes.append(AttributeSchema(name, column.kind.type))
        } else if !attributes.contains(where: { $0.name == name }) {
          attributes.append(AttributeSchema(name, composite: name == "place" ? "Place" : "Times"))
        }
      }
      var relationships: [RelationshipSchema] = []
      for (name, other) in table.toOne {
        let inverse = tables.first { $0.name == other }?.toMany.first { $0.column == name }
        relationships.append(RelationshipSchema(name, to: other, inverse: inverse?.name))
      }
      for (name, other, column) in table.toMany {
        relationships.append(RelationshipSchema(name, toMany: other, inverse: column))
      }
      entities.append(
        EntitySchema(
          table.name, attributes: attributes, relationships: relationships, indexes: indexes[table.name] ?? [],
          unique: unique[table.name].map { [[$0]] } ?? []))
    }
    return try Schema(SchemaDefinition(entities, composites: composites))
  }

  // MARK: Loading

  /// Makes both in a folder, from the CSV files in another.
  init(data: String, directory: String) throws {
    tables = Self.makeTables()
    byName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/oracle.store"
    for name in [path, directory + "/oracle.db", directory + "/oracle.db-wal", directory + "/oracle.db-shm"] {
      try? FileManager.default.removeItem(atPath: name)
    }
    let environment = SystemEnvironment()
    var options = StoreOptions()
    options.cacheBytes = Tuning.cacheBytes
    options.durability = .normal
    let formatOptions = options
    let device = try FileDevice.create(at: path) { (device) throws(StoreError) in
      try Store.format(device, environment: environment, options: formatOptions)
    }
    device.close()
    store = try EntityStore.create(
      in: Store.open(on: FileDevice(path: path), environment: environment, options: options),
      schema: Self.makeSchema(tables))
    connection = try SQLiteConnection(path: directory + "/oracle.db", .unsynced)
    for table in tables { try connection.run(table.creation) }
    var loader = try FlightLoader(self, folder: data)
    try loader.load()
    for column in ["airline", "origin", "destination", "aircraft", "date", "departure.delay", "distance"] {
      try connection.run("CREATE INDEX \"entry by \(column)\" ON LogEntry (\"\(column)\")")
    }
    try connection.run("ANALYZE")
  }

  func close() throws { try store.close() }
}

/// Why the comparison cannot be made.
struct OracleError: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Reads the CSV files of the flight data.
private struct FlightLoader {
  private let target: FlightTables
  private let folder: String
  private var inserts: [String: SQLiteStatement] = [:]
  /// Rows that can be led to, by table and name.
  private var known: [String: [String: Int]] = [:]
  private var pending: [(table: OracleTable, values: [Value], links: [Int?])] = []

  init(_ target: FlightTables, folder: String) throws {
    self.target = target
    self.folder = folder
    for table in target.tables {
      let marks = Array(repeating: "?", count: 1 + table.columns.count + table.toOne.count)
      inserts[table.name] = try target.connection.prepare(
        "INSERT INTO \(table.name) VALUES (\(marks.joined(separator: ",")))")
    }
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
    pending.append((table, [.string(key)] + values + empty, []))
    let id = table.rows.count + pending.count { $0.table === table }
    known[name, default: [:]][key] = id
    // Others lead to it by its row, which it has not yet.
    try flush(only: name)
    return id
  }

  private mutating func flush(only name: String? = nil) throws {
    let chosen = pending.filter { name == nil || $0.table.name == name }
    pending.removeAll { name == nil || $0.table.name == name }
    if chosen.isEmpty { return }
    let target = target
    var added: [(OracleTable, UInt64, [Value])] = []
    try target.store.write { (t) throws(EngineError) in
      for (table, values, links) in chosen {
        guard let entity = target.store.schema.entity(named: table.name) else { continue }
        var row = RowValues()
        for (name, value) in Self.attributes(table, values) { row.set(name, value) }
        for (link, id) in zip(table.toOne, links) {
          guard let id, let other = target.tables.first(where: { $0.name == link.table }),
            let destination = target.store.schema.entity(named: link.table)
          else { continue }
          row.set(toOne: link.name, ObjectReference(entity: destination.id, row: other.rows[id - 1]))
        }
        let reference = try t.reserveReference(entity)
        try t.insert(reference, row)
        added.append((table, reference.row, values))
      }
    }
    try target.connection.run("BEGIN")
    for ((table, row, values), (_, _, links)) in zip(added, chosen) {
      let id = table.add(row, values)
      guard let statement = inserts[table.name] else { continue }
      statement.bind(1, id)
      var place: Int32 = 2
      for value in values + links.map({ $0.map { .integer(Int64($0)) } ?? .null }) {
        statement.bindValue(place, value)
        place += 1
      }
      try statement.run()
    }
    try target.connection.run("COMMIT")
  }

  /// Columns as attributes: those of composites are gathered.
  private static func attributes(_ table: OracleTable, _ values: [Value]) -> [String: Value] {
    var result: [String: Value] = [:]
    func insert(_ path: ArraySlice<Substring>, _ value: Value, into composite: CompositeValue) -> CompositeValue {
      var composite = composite
      let name = String(path.first ?? "")
      if path.count == 1 {
        composite[name] = value
      } else {
        var inner = CompositeValue(names: [])
        if case .composite(let known)? = composite[name] { inner = known }
        composite[name] = .composite(insert(path.dropFirst(), value, into: inner))
      }
      return composite
    }
    for (column, value) in zip(table.columns, values) {
      let path = column.path.split(separator: ".")
      let name = String(path[0])
      if path.count == 1 {
        result[name] = value
      } else {
        var composite = CompositeValue(names: [])
        if case .composite(let known)? = result[name] { composite = known }
        result[name] = .composite(insert(path.dropFirst(), value, into: composite))
      }
    }
    return result
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

extension SQLiteStatement {
  /// Binds a value of the engine's; of texts SQLite makes a copy.
  func bindValue(_ place: Int32, _ value: Value) {
    switch value {
    case .boolean(let flag): sqlite3_bind_int64(handle, place, flag ? 1 : 0)
    case .integer(let number): sqlite3_bind_int64(handle, place, number)
    case .double(let number), .date(let number): sqlite3_bind_double(handle, place, number)
    case .string(let text):
      sqlite3_bind_text(
        handle, place, text, Int32(text.utf8.count), unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    default: sqlite3_bind_null(handle, place)
    }
  }

  /// A column's value as one of the engine's.
  func value(_ column: Int32) -> Value {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: return .double(double(column))
    case SQLITE_TEXT: return .string(text(column))
    default: return .null
    }
  }
}
