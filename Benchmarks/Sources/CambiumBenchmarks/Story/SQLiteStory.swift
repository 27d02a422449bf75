import CSQLite
import Foundation

/// The same steps in SQLite as Core Data takes them: a new table, `INSERT ... SELECT`, the old one dropped, the new one
/// renamed, its indexes made; in one transaction each.
final class SQLiteStory: StoryPeer {
  let name = "sqlite"
  private let path: String
  private var connection: SQLiteConnection?

  init(directory: String) { path = directory + "/story.db" }

  private func opened() throws -> SQLiteConnection {
    if let connection { return connection }
    let made = try SQLiteConnection(path: path, .synced)
    connection = made
    return made
  }

  private static var numberList: String { StoryData.numbers.joined(separator: ", ") }
  private static let codes = ["carrier", "tail", "origin", "destination"]
  private static let links = ["airline", "aircraft", "originAirport", "destinationAirport"]

  func prepare(_ data: StoryData) throws {
    try close()
    for file in [path, path + "-wal", path + "-shm"] { try? FileManager.default.removeItem(atPath: file) }
    let c = try opened()
    let numbers = StoryData.numbers.map { $0 + " INTEGER" }.joined(separator: ", ")
    try c.run(
      "CREATE TABLE logEntry (id INTEGER PRIMARY KEY, date REAL, \(numbers), "
        + Self.codes.map { $0 + " TEXT" }.joined(separator: ", ") + ")")
    try c.run("BEGIN IMMEDIATE")
    let marks = Array(repeating: "?", count: 2 + StoryData.numbers.count + Self.codes.count).joined(separator: ",")
    let insert = try c.prepare("INSERT INTO logEntry VALUES (\(marks))")
    for (number, flight) in data.flights.enumerated() {
      insert.bind(1, number + 1)
      insert.bind(2, Optional(flight.date))
      for (place, value) in flight.numbers.enumerated() {
        insert.bind(Int32(3 + place), value.map { Int32(truncatingIfNeeded: $0) })
      }
      for (place, code) in [flight.carrier, flight.tail, flight.origin, flight.destination].enumerated() {
        insert.bind(Int32(3 + StoryData.numbers.count + place), code)
      }
      try insert.run()
    }
    try c.run("CREATE INDEX byDate ON logEntry (date)")
    try c.run("COMMIT")
    try close()
    _ = try opened()
  }

  private func indexes(_ c: SQLiteConnection) throws {
    try c.run("CREATE INDEX byDate ON logEntry (date)")
    // Core Data makes one for every to-one relationship.
    for link in Self.links { try c.run("CREATE INDEX by_\(link) ON logEntry (\(link))") }
  }

  func toObjects() throws {
    let c = try opened()
    try c.run("BEGIN IMMEDIATE")
    let numbers = StoryData.numbers.map { $0 + " INTEGER" }.joined(separator: ", ")
    for table in ["airline", "aircraft", "airport"] {
      try c.run("CREATE TABLE \(table) (id INTEGER PRIMARY KEY, code TEXT)")
    }
    try c.run(
      "CREATE TABLE new (id INTEGER PRIMARY KEY, date REAL, \(numbers), "
        + Self.codes.map { $0 + "Code TEXT" }.joined(separator: ", ") + ", "
        + Self.links.map { $0 + " INTEGER" }.joined(separator: ", ") + ")")
    let codes = Self.codes.joined(separator: ", ")
    let newCodes = Self.codes.map { $0 + "Code" }.joined(separator: ", ")
    try c.run(
      "INSERT INTO new (id, date, \(Self.numberList), \(newCodes)) SELECT id, date, \(Self.numberList), \(codes) FROM logEntry"
    )
    try c.run("DROP TABLE logEntry")
    try c.run("ALTER TABLE new RENAME TO logEntry")
    try indexes(c)
    try c.run("COMMIT")
  }

  func link() throws {
    let c = try opened()
    var entries: [(id: Int, codes: [String?])] = []
    let select = try c.prepare(
      "SELECT id, " + Self.codes.map { $0 + "Code" }.joined(separator: ", ") + " FROM logEntry ORDER BY id")
    while try select.step() { entries.append((select.int(0), (1...4).map { select.textOrNil(Int32($0)) })) }
    select.reset()
    let inserts = try ["airline", "aircraft", "airport"].map {
      try c.prepare("INSERT INTO \($0) (id, code) VALUES (?, ?)")
    }
    let update = try c.prepare(
      "UPDATE logEntry SET " + Self.links.map { $0 + " = ?" }.joined(separator: ", ") + " WHERE id = ?")
    let kindOf = [0, 1, 2, 2]
    var known = [[String: Int]](repeating: [:], count: 3)
    for start in stride(from: 0, to: entries.count, by: 10_000) {
      try c.run("BEGIN IMMEDIATE")
      for (id, codes) in entries[start..<min(start + 10_000, entries.count)] {
        for (place, text) in codes.enumerated() {
          var target: Int32?
          if let text {
            let kind = kindOf[place]
            if let found = known[kind][text] {
              target = Int32(found)
            } else {
              let number = known[kind].count + 1
              inserts[kind].bind(1, number)
              inserts[kind].bind(2, Optional(text))
              try inserts[kind].run()
              known[kind][text] = number
              target = Int32(number)
            }
          }
          update.bind(Int32(place + 1), target)
        }
        update.bind(5, id)
        try update.run()
      }
      try c.run("COMMIT")
    }
  }

  func toComposites() throws {
    let c = try opened()
    try c.run("BEGIN IMMEDIATE")
    let columns = "date, \(Self.numberList), " + Self.links.joined(separator: ", ")
    let numbers = StoryData.numbers.map { $0 + " INTEGER" }.joined(separator: ", ")
    try c.run(
      "CREATE TABLE new (id INTEGER PRIMARY KEY, date REAL, \(numbers), "
        + Self.links.map { $0 + " INTEGER" }.joined(separator: ", ") + ")")
    try c.run("INSERT INTO new (id, \(columns)) SELECT id, \(columns) FROM logEntry")
    try c.run("DROP TABLE logEntry")
    try c.run("ALTER TABLE new RENAME TO logEntry")
    try indexes(c)
    try c.run("COMMIT")
  }

  func finish() throws {}

  /// The last connection writes what is in its log into the file.
  func close() throws { connection = nil }

  func answer() throws -> Answer {
    let c = try opened()
    let select = try c.prepare(
      "SELECT e.date, " + StoryData.numbers.map { "e." + $0 }.joined(separator: ", ")
        + ", l.code, a.code, o.code, d.code FROM logEntry e LEFT JOIN airline l ON l.id = e.airline "
        + "LEFT JOIN aircraft a ON a.id = e.aircraft LEFT JOIN airport o ON o.id = e.originAirport "
        + "LEFT JOIN airport d ON d.id = e.destinationAirport")
    var answer = Answer()
    let count = Int32(StoryData.numbers.count)
    while try select.step() {
      var hash = Hash()
      hash.add(select.double(0).bitPattern)
      for place in 1...count {
        hash.add(select.isNull(place) ? .max : UInt64(bitPattern: Int64(select.int(place))))
      }
      for place in 1...4 { hash.add(select.textOrNil(count + Int32(place))) }
      answer.add(hash.value)
    }
    select.reset()
    return answer
  }
}
