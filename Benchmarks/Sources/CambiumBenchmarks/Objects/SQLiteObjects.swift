import Foundation

/// SQLite by its C interface, rows as structs, statements prepared once.
final class SQLiteObjects: ObjectPeer {
  let name = "sqlite"
  private let path: String
  private var connection: SQLiteConnection?
  private var known: SQLiteStatements?

  init(directory: String) { path = directory + "/objects-sqlite.db" }

  func create() throws {
    known = nil
    connection = nil
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let made = try SQLiteConnection(path: path, .synced)
    try made.run(SQLiteStatements.tables)
    try made.run(SQLiteStatements.aircraftIndexes)
    try made.run(SQLiteStatements.entryIndexes)
    try made.run(Self.paintedTables)
    connection = made
    known = try SQLiteStatements(made)
  }

  private func opened() throws -> (SQLiteConnection, SQLiteStatements) {
    guard let connection, let known else { throw NotSupported() }
    return (connection, known)
  }

  func insert(_ rows: ArraySlice<Aircraft>) throws {
    let (_, s) = try opened()
    try s.beginWrite.run()
    for row in rows { try s.insert(row) }
    try s.commit.run()
  }

  func insert(_ rows: ArraySlice<LogEntry>) throws {
    let (_, s) = try opened()
    try s.beginWrite.run()
    for row in rows { try s.insert(row) }
    try s.commit.run()
  }

  private func all() throws -> [Aircraft] {
    let (c, _) = try opened()
    let s = try c.prepare("SELECT \(SQLiteStatements.columns) FROM aircraft")
    var rows: [Aircraft] = []
    while try s.step() { rows.append(SQLiteStatements.aircraft(s)) }
    return rows
  }

  func readAll() throws -> Answer {
    var answer = Answer()
    for row in try all() { answer.addProperties(row) }
    return answer
  }

  func fetchAll() throws -> Answer { Answer(count: try all().count) }

  func walkAll() throws -> Answer {
    let (c, _) = try opened()
    let s = try c.prepare("SELECT \(SQLiteStatements.columns) FROM aircraft")
    var answer = Answer()
    while try s.step() { withExtendedLifetime(SQLiteStatements.aircraft(s)) { answer.count += 1 } }
    return answer
  }

  func colours() throws -> Answer { try textLengths("SELECT csPrimary FROM aircraft") }

  func hours() throws -> Answer {
    let (c, _) = try opened()
    let s = try c.prepare("SELECT hours FROM aircraft")
    var answer = Answer()
    while try s.step() { answer.add(s.double(0)) }
    return answer
  }

  func change(_ count: Int, to hours: Double) throws {
    let (_, s) = try opened()
    try s.beginWrite.run()
    for id in 1...count {
      s.setHours.bind(1, hours)
      s.setHours.bind(2, id)
      try s.setHours.run()
    }
    try s.commit.run()
  }

  func tailNumbers(prefetched: Bool) throws -> Answer {
    let (c, _) = try opened()
    let s = try c.prepare("SELECT a.tailNumber FROM logEntry e JOIN aircraft a ON a.id = e.aircraft")
    var answer = Answer()
    while try s.step() { answer.add(UInt64(s.text(0).utf8.last ?? 0)) }
    return answer
  }

  func distances(_ count: Int) throws -> Answer {
    let (c, _) = try opened()
    let s = try c.prepare("SELECT distance FROM logEntry WHERE aircraft = ?")
    var answer = Answer()
    for id in 1...count {
      s.bind(1, id)
      while try s.step() { answer.add(UInt64(s.int(0))) }
      s.reset()
    }
    return answer
  }

  func deleteAll() throws {
    let (c, s) = try opened()
    let entries = try c.prepare("DELETE FROM logEntry WHERE aircraft = ?")
    let ids = try c.prepare("SELECT id FROM aircraft")
    var all: [Int] = []
    while try ids.step() { all.append(ids.int(0)) }
    ids.reset()
    try s.beginWrite.run()
    for id in all {
      entries.bind(1, id)
      try entries.run()
      s.delete.bind(1, id)
      try s.delete.run()
    }
    try s.commit.run()
  }

  /// Aircraft whose colours lie in them, and the same colours in a table of their own, to which both ways lead by the
  /// row's number.
  static let paintedTables = """
    CREATE TABLE livery (id INTEGER PRIMARY KEY, "primary" TEXT, secondary TEXT, tertiary TEXT, aircraft INTEGER);
    CREATE TABLE painted (id INTEGER PRIMARY KEY, tailNumber TEXT NOT NULL, csPrimary TEXT, csSecondary TEXT,
      csTertiary TEXT, livery INTEGER);
    CREATE INDEX painted_livery ON painted (livery);
    CREATE INDEX livery_aircraft ON livery (aircraft);
    """
  static let insertPainted = "INSERT INTO painted VALUES (?,?,?,?,?,?)"
  static let insertLivery = "INSERT INTO livery VALUES (?,?,?,?,?)"
  static let embedded = "SELECT csPrimary FROM painted"
  static let ledTo = "SELECT l.\"primary\" FROM painted p JOIN livery l ON l.id = p.livery"

  func paint(_ rows: ArraySlice<Aircraft>) throws {
    let (c, known) = try opened()
    let painted = try c.prepare(Self.insertPainted)
    let livery = try c.prepare(Self.insertLivery)
    try known.beginWrite.run()
    for row in rows {
      painted.bind(1, row.id)
      painted.bind(2, row.tailNumber)
      painted.bind(3, row.primary)
      painted.bind(4, row.secondary)
      painted.bind(5, row.tertiary)
      painted.bind(6, row.id)
      try painted.run()
      livery.bind(1, row.id)
      livery.bind(2, row.primary)
      livery.bind(3, row.secondary)
      livery.bind(4, row.tertiary)
      livery.bind(5, row.id)
      try livery.run()
    }
    try known.commit.run()
  }

  func embeddedColours() throws -> Answer { try textLengths(Self.embedded) }

  func liveryColours(prefetched: Bool) throws -> Answer { try textLengths(Self.ledTo) }

  private func textLengths(_ sql: String) throws -> Answer {
    let (c, _) = try opened()
    let s = try c.prepare(sql)
    var answer = Answer()
    while try s.step() { answer.add(UInt64(s.text(0).utf8.count)) }
    return answer
  }

  func left() throws -> Answer {
    let (c, _) = try opened()
    let s = try c.prepare("SELECT (SELECT count(*) FROM aircraft), (SELECT count(*) FROM logEntry)")
    guard try s.step() else { throw NotSupported() }
    return Answer(count: s.int(0), sum: UInt64(s.int(1)))
  }

  func holding(_ body: () -> Void) throws {
    let rows = try all()
    withExtendedLifetime(rows) { body() }
  }
}
