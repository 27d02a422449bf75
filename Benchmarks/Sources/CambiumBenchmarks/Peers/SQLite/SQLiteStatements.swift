/// The statements of the workloads, prepared once per connection.
final class SQLiteStatements {
  static let columns =
    "id, tailNumber, category, kind, type, csPrimary, csSecondary, csTertiary, year, hours, photo"
  static let tables = """
    CREATE TABLE aircraft (id INTEGER PRIMARY KEY, tailNumber TEXT NOT NULL, category TEXT, kind TEXT, type TEXT,
      csPrimary TEXT, csSecondary TEXT, csTertiary TEXT, year INTEGER, hours REAL, photo BLOB);
    CREATE TABLE logEntry (id INTEGER PRIMARY KEY, aircraft INTEGER, date REAL, flight INTEGER, distance INTEGER,
      delay REAL, remark TEXT);
    """
  static let aircraftIndexes = """
    CREATE UNIQUE INDEX aircraft_tail ON aircraft (tailNumber);
    CREATE INDEX aircraft_primary ON aircraft (csPrimary);
    """
  static let entryIndexes = """
    CREATE INDEX entry_aircraft ON logEntry (aircraft);
    CREATE INDEX entry_date ON logEntry (date);
    """

  let insertAircraft, insertEntry, begin, beginWrite, commit: SQLiteStatement
  let hours, row, rowByTail, rowsByPrimary, idsByPrimary, entriesByDate, filtered, first: SQLiteStatement
  let tailOfEntry, entriesOfTail: SQLiteStatement
  let setHours, setPrimary, delete: SQLiteStatement

  init(_ c: SQLiteConnection) throws {
    let columns = Self.columns
    insertAircraft = try c.prepare("INSERT INTO aircraft VALUES (?,?,?,?,?,?,?,?,?,?,?)")
    insertEntry = try c.prepare("INSERT INTO logEntry VALUES (?,?,?,?,?,?,?)")
    begin = try c.prepare("BEGIN")
    beginWrite = try c.prepare("BEGIN IMMEDIATE")
    commit = try c.prepare("COMMIT")
    hours = try c.prepare("SELECT hours FROM aircraft WHERE id = ?")
    row = try c.prepare("SELECT \(columns) FROM aircraft WHERE id = ?")
    rowByTail = try c.prepare("SELECT \(columns) FROM aircraft WHERE tailNumber = ?")
    rowsByPrimary = try c.prepare("SELECT \(columns) FROM aircraft WHERE csPrimary = ?")
    idsByPrimary = try c.prepare("SELECT id FROM aircraft WHERE csPrimary = ?")
    entriesByDate = try c.prepare(
      "SELECT id, aircraft, date, flight, distance, delay, remark FROM logEntry WHERE date >= ? AND date < ?")
    filtered = try c.prepare("SELECT count(*) FROM aircraft WHERE csSecondary = ? AND hours > ?")
    first = try c.prepare("SELECT \(columns) FROM aircraft ORDER BY id LIMIT ?")
    tailOfEntry = try c.prepare(
      "SELECT a.tailNumber FROM logEntry e JOIN aircraft a ON a.id = e.aircraft WHERE e.id = ?")
    entriesOfTail = try c.prepare(
      "SELECT e.distance FROM aircraft a JOIN logEntry e ON e.aircraft = a.id WHERE a.tailNumber = ?")
    setHours = try c.prepare("UPDATE aircraft SET hours = ? WHERE id = ?")
    setPrimary = try c.prepare("UPDATE aircraft SET csPrimary = ? WHERE id = ?")
    delete = try c.prepare("DELETE FROM aircraft WHERE id = ?")
  }

  func insert(_ a: Aircraft) throws {
    let s = insertAircraft
    s.bind(1, a.id)
    s.bind(2, a.tailNumber)
    s.bind(3, a.category)
    s.bind(4, a.kind)
    s.bind(5, a.type)
    s.bind(6, a.primary)
    s.bind(7, a.secondary)
    s.bind(8, a.tertiary)
    s.bind(9, a.year)
    s.bind(10, a.hours)
    s.bind(11, a.photo)
    try s.run()
  }

  func insert(_ e: LogEntry) throws {
    let s = insertEntry
    s.bind(1, e.id)
    s.bind(2, e.aircraft)
    s.bind(3, e.date)
    s.bind(4, e.flight)
    s.bind(5, e.distance)
    s.bind(6, e.delay)
    s.bind(7, e.remark)
    try s.run()
  }

  @inline(__always)
  static func aircraft(_ s: SQLiteStatement) -> Aircraft {
    Aircraft(
      id: s.int(0), tailNumber: s.text(1), category: s.text(2), kind: s.text(3), type: s.text(4), primary: s.text(5),
      secondary: s.text(6), tertiary: s.textOrNil(7), year: s.isNull(8) ? nil : Int32(s.int(8)), hours: s.double(9),
      photo: s.bytes(10))
  }

  @inline(__always)
  static func entry(_ s: SQLiteStatement) -> LogEntry {
    LogEntry(
      id: s.int(0), aircraft: s.int(1), date: s.double(2), flight: Int32(s.int(3)),
      distance: s.isNull(4) ? nil : Int32(s.int(4)), delay: s.isNull(5) ? nil : s.double(5), remark: s.textOrNil(6))
  }
}
