import CSQLite
import Foundation

/// SQLite by its C interface: WAL, prepared statements, indexes made after the rows of a bulk load.
final class SQLitePeer: Peer {
  let name = "sqlite"
  let path: String
  private var durability = CommitDurability.synced
  private var connection: SQLiteConnection?
  private var statements: SQLiteStatements?
  /// Threads that write wait for one another here: SQLite's own waiting sleeps, and is many times slower.
  private let writers = NSLock()

  init(directory: String) { path = directory + "/sqlite.db" }

  private func opened() throws -> (SQLiteConnection, SQLiteStatements) {
    guard let connection else { throw NotSupported() }
    if let statements { return (connection, statements) }
    let made = try SQLiteStatements(connection)
    statements = made
    return (connection, made)
  }

  func create(_ durability: CommitDurability) throws {
    try close()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    try open(durability)
    try connection?.run(SQLiteStatements.tables)
  }

  func open(_ durability: CommitDurability) throws {
    self.durability = durability
    connection = try SQLiteConnection(path: path, durability)
  }

  func close() throws {
    statements = nil
    connection = nil
  }

  // MARK: Adding

  func load(_ rows: ArraySlice<Aircraft>) throws {
    let (c, s) = try opened()
    try c.run("BEGIN; DROP INDEX IF EXISTS aircraft_tail; DROP INDEX IF EXISTS aircraft_primary")
    for row in rows { try s.insert(row) }
    try c.run(SQLiteStatements.aircraftIndexes)
    try c.run("COMMIT")
  }

  func load(_ rows: ArraySlice<LogEntry>) throws {
    let (c, s) = try opened()
    try c.run("BEGIN; DROP INDEX IF EXISTS entry_aircraft; DROP INDEX IF EXISTS entry_date")
    for row in rows { try s.insert(row) }
    try c.run(SQLiteStatements.entryIndexes)
    try c.run("COMMIT")
  }

  func insert(_ row: Aircraft) throws { try opened().1.insert(row) }

  // MARK: Reading

  func hours(ids: [Int]) throws -> Answer {
    let (_, s) = try opened()
    var answer = Answer()
    try s.begin.run()
    for id in ids {
      s.hours.bind(1, id)
      if try s.hours.step() { answer.add(s.hours.double(0)) }
      s.hours.reset()
    }
    try s.commit.run()
    return answer
  }

  private func each(_ s: SQLiteStatement, _ body: (Aircraft) -> Void) throws {
    while try s.step() { body(SQLiteStatements.aircraft(s)) }
    s.reset()
  }

  func rows(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let (_, s) = try opened()
    try s.begin.run()
    for id in ids {
      s.row.bind(1, id)
      try each(s.row, body)
    }
    try s.commit.run()
  }

  func rowsOneByOne(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let (_, s) = try opened()
    for id in ids {
      s.row.bind(1, id)
      try each(s.row, body)
    }
  }

  func rows(tailNumbers: [String], _ body: (Aircraft) -> Void) throws {
    let (_, s) = try opened()
    try s.begin.run()
    for tailNumber in tailNumbers {
      s.rowByTail.bind(1, tailNumber)
      try each(s.rowByTail, body)
    }
    try s.commit.run()
  }

  func rows(primary: String, _ body: (Aircraft) -> Void) throws {
    let (_, s) = try opened()
    s.rowsByPrimary.bind(1, primary)
    try each(s.rowsByPrimary, body)
  }

  func ids(primary: String) throws -> Answer {
    let (_, s) = try opened()
    var answer = Answer()
    s.idsByPrimary.bind(1, primary)
    while try s.idsByPrimary.step() { answer.add(UInt64(s.idsByPrimary.int(0))) }
    s.idsByPrimary.reset()
    return answer
  }

  func entries(from: Double, before: Double, _ body: (LogEntry) -> Void) throws {
    let (_, s) = try opened()
    s.entriesByDate.bind(1, from)
    s.entriesByDate.bind(2, before)
    while try s.entriesByDate.step() { body(SQLiteStatements.entry(s.entriesByDate)) }
    s.entriesByDate.reset()
  }

  func count(secondary: String, hoursOver: Double) throws -> Int {
    let (_, s) = try opened()
    s.filtered.bind(1, secondary)
    s.filtered.bind(2, hoursOver)
    defer { s.filtered.reset() }
    return try s.filtered.step() ? s.filtered.int(0) : 0
  }

  func firstRows(_ count: Int, _ body: (Aircraft) -> Void) throws {
    let (_, s) = try opened()
    s.first.bind(1, count)
    try each(s.first, body)
  }

  func tailNumbers(entries: [Int]) throws -> Answer {
    let (_, s) = try opened()
    var answer = Answer()
    try s.begin.run()
    for id in entries {
      s.tailOfEntry.bind(1, id)
      if try s.tailOfEntry.step() { answer.add(UInt64(s.tailOfEntry.text(0).utf8.last ?? 0)) }
      s.tailOfEntry.reset()
    }
    try s.commit.run()
    return answer
  }

  func entries(tailNumbers: [String]) throws -> Answer {
    let (_, s) = try opened()
    var answer = Answer()
    try s.begin.run()
    for tailNumber in tailNumbers {
      s.entriesOfTail.bind(1, tailNumber)
      while try s.entriesOfTail.step() { answer.add(UInt64(s.entriesOfTail.int(0))) }
      s.entriesOfTail.reset()
    }
    try s.commit.run()
    return answer
  }

  // MARK: Migration

  func change(_ change: SchemaChange) throws {
    // Statements look at the table as it was.
    statements = nil
    guard let connection else { throw NotSupported() }
    switch change {
    case .addAttribute: try connection.run("ALTER TABLE aircraft ADD COLUMN note TEXT")
    case .renameAttribute: try connection.run("ALTER TABLE aircraft RENAME COLUMN note TO remark")
    case .dropNoteDeferred: try connection.run("ALTER TABLE aircraft DROP COLUMN note")
    case .dropAttribute: try connection.run("ALTER TABLE aircraft DROP COLUMN kind")
    case .dropAttributeDeferred: try connection.run("ALTER TABLE aircraft DROP COLUMN type")
    case .createIndex: try connection.run("CREATE INDEX aircraft_hours ON aircraft (hours)")
    case .createIndexDeferred: try connection.run("CREATE INDEX aircraft_year ON aircraft (year)")
    case .copyEntity:
      // As SQLite's documentation says how to change a column's type; indexes last.
      try connection.run(
        """
        BEGIN;
        CREATE TABLE changed (id INTEGER PRIMARY KEY, tailNumber TEXT NOT NULL, category TEXT, csPrimary TEXT,
          csSecondary TEXT, csTertiary TEXT, year INTEGER, hours INTEGER, photo BLOB, remark TEXT);
        INSERT INTO changed SELECT id, tailNumber, category, csPrimary, csSecondary, csTertiary, year,
          CAST(hours AS INTEGER), photo, remark FROM aircraft;
        DROP TABLE aircraft;
        ALTER TABLE changed RENAME TO aircraft;
        CREATE UNIQUE INDEX aircraft_tail ON aircraft (tailNumber);
        CREATE INDEX aircraft_primary ON aircraft (csPrimary);
        CREATE INDEX aircraft_hours ON aircraft (hours);
        COMMIT
        """)
    }
  }

  // MARK: Changing

  private func each(_ ids: [Int], oneByOne: Bool, _ body: (Int) throws -> Void) throws {
    let (_, s) = try opened()
    if !oneByOne { try s.beginWrite.run() }
    for id in ids { try body(id) }
    if !oneByOne { try s.commit.run() }
  }

  func setHours(ids: [Int], _ hours: Double, oneByOne: Bool) throws {
    let s = try opened().1.setHours
    try each(ids, oneByOne: oneByOne) { id in
      s.bind(1, hours)
      s.bind(2, id)
      try s.run()
    }
  }

  func setPrimary(ids: [Int], _ colour: String) throws {
    let s = try opened().1.setPrimary
    try each(ids, oneByOne: false) { id in
      s.bind(1, colour)
      s.bind(2, id)
      try s.run()
    }
  }

  func delete(ids: [Int], oneByOne: Bool) throws {
    let s = try opened().1.delete
    try each(ids, oneByOne: oneByOne) { id in
      s.bind(1, id)
      try s.run()
    }
  }

  // MARK: Files

  func compact() throws {
    let (c, _) = try opened()
    try c.run("VACUUM")
    try c.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func fileBytes() throws -> UInt64 {
    try opened().0.run("PRAGMA wal_checkpoint(TRUNCATE)")
    return ["", "-wal"].reduce(0) { $0 + fileSize(path + $1) }
  }

  func logBytes() throws -> UInt64 { fileSize(path + "-wal") }

  func openAndRead(_ durability: CommitDurability, id: Int) throws -> Double {
    try open(durability)
    // One statement: the others are prepared when a workload asks for them.
    guard let statement = try connection?.prepare("SELECT hours FROM aircraft WHERE id = ?") else { return 0 }
    statement.bind(1, id)
    return try statement.step() ? statement.double(0) : 0
  }

  func session() throws -> any PeerSession { try SQLiteSession(path: path, durability, writers) }
}

/// A connection of a thread's own.
final class SQLiteSession: PeerSession, @unchecked Sendable {
  private var statements: SQLiteStatements?
  private let writers: NSLock

  init(path: String, _ durability: CommitDurability, _ writers: NSLock) throws {
    self.writers = writers
    statements = try SQLiteStatements(SQLiteConnection(path: path, durability))
  }

  func insert(_ row: Aircraft) throws {
    guard let statements else { return }
    try writers.withLock { try statements.insert(row) }
  }

  func hours(id: Int) throws -> Double {
    guard let s = statements?.hours else { return 0 }
    defer { s.reset() }
    s.bind(1, id)
    return try s.step() ? s.double(0) : 0
  }

  func close() { statements = nil }
}
