import Foundation
import GRDB

/// GRDB over the same SQLite, tuned alike: `grdb` with Codable records and query interface, `grdb-manual` with prepared
/// statements and rows decoded by hand.
final class GRDBPeer: Peer {
  let name: String
  let path: String
  private let isManual: Bool
  private var pool: DatabasePool?

  init(directory: String, manual: Bool) {
    isManual = manual
    name = manual ? "grdb-manual" : "grdb"
    path = directory + "/\(name).db"
  }

  private func opened() throws -> DatabasePool {
    guard let pool else { throw NotSupported() }
    return pool
  }

  func create(_ durability: CommitDurability) throws {
    try close()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    try open(durability)
    try opened().write { db in try db.execute(sql: SQLiteStatements.tables) }
  }

  func open(_ durability: CommitDurability) throws { pool = try Self.pool(path, durability) }

  /// A pool, tuned as the others are.
  static func pool(_ path: String, _ durability: CommitDurability) throws -> DatabasePool {
    var configuration = Configuration()
    configuration.busyMode = .timeout(60)
    configuration.prepareDatabase { db in
      try db.execute(
        sql: """
          PRAGMA cache_size=-\(Tuning.cacheBytes / 1024); PRAGMA mmap_size=\(Tuning.mapBytes); PRAGMA secure_delete=0;
          PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=\(Tuning.logBytes / 4096); PRAGMA threads=\(Tuning.threads);
          """)
    }
    let made = try DatabasePool(path: path, configuration: configuration)
    // Afterwards: the pool sets NORMAL itself.
    try made.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA synchronous=\(durability == .synced ? "FULL" : "NORMAL")")
    }
    return made
  }

  func close() throws {
    try pool?.close()
    pool = nil
  }

  // MARK: Adding

  func load(_ rows: ArraySlice<Aircraft>) throws {
    try opened().write { db in
      for row in rows { try GRDBPeer.insert(db, row, manual: isManual) }
      try db.execute(sql: SQLiteStatements.aircraftIndexes)
    }
  }

  func load(_ rows: ArraySlice<LogEntry>) throws {
    try opened().write { db in
      for row in rows { try GRDBPeer.insert(db, row, manual: isManual) }
      try db.execute(sql: SQLiteStatements.entryIndexes)
    }
  }

  static func insert(_ db: Database, _ e: LogEntry, manual: Bool) throws {
    if !manual { return try CodableEntry(e).insert(db) }
    let statement = try db.cachedStatement(sql: "INSERT INTO logEntry VALUES (?,?,?,?,?,?,?)")
    try statement.execute(arguments: [e.id, e.aircraft, e.date, e.flight, e.distance, e.delay, e.remark])
  }

  static func insert(_ db: Database, _ a: Aircraft, manual: Bool) throws {
    if !manual { return try CodableAircraft(a).insert(db) }
    let statement = try db.cachedStatement(sql: "INSERT INTO aircraft VALUES (?,?,?,?,?,?,?,?,?,?,?)")
    try statement.execute(arguments: [
      a.id, a.tailNumber, a.category, a.kind, a.type, a.primary, a.secondary, a.tertiary, a.year, a.hours,
      Data(a.photo),
    ])
  }

  func insert(_ row: Aircraft) throws {
    let isManual = isManual
    try opened().write { db in try GRDBPeer.insert(db, row, manual: isManual) }
  }

  // MARK: Reading

  private func one<R: BenchmarkRecord>(
    _ db: Database, _ type: R.Type, _ column: String, _ value: some DatabaseValueConvertible & StatementBinding
  ) throws -> R? {
    let sql = "SELECT \(SQLiteStatements.columns) FROM aircraft WHERE \(column) = ?"
    return try R.fetchOne(db.cachedStatement(sql: sql), arguments: [value])
  }

  private func aircraft(_ db: Database, id: Int) throws -> Aircraft? {
    if isManual { return try one(db, ManualAircraft.self, "id", id)?.target }
    return try CodableAircraft.fetchOne(db, key: id)?.target
  }

  func hours(ids: [Int]) throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      for id in ids {
        if isManual {
          let statement = try db.cachedStatement(sql: "SELECT hours FROM aircraft WHERE id = ?")
          if let hours = try Double.fetchOne(statement, arguments: [id]) { answer.add(hours) }
        } else {
          let request = CodableAircraft.filter(key: id).select(Column("hours"), as: Double.self)
          if let hours = try request.fetchOne(db) { answer.add(hours) }
        }
      }
      return answer
    }
  }

  func rows(ids: [Int], _ body: (Aircraft) -> Void) throws {
    try opened().read { db in
      for id in ids { if let row = try aircraft(db, id: id) { body(row) } }
    }
  }

  func rowsOneByOne(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let pool = try opened()
    for id in ids { if let row = try pool.read({ db in try aircraft(db, id: id) }) { body(row) } }
  }

  func rows(tailNumbers: [String], _ body: (Aircraft) -> Void) throws {
    try opened().read { db in
      for tailNumber in tailNumbers {
        let row =
          isManual
          ? try one(db, ManualAircraft.self, "tailNumber", tailNumber)?.target
          : try CodableAircraft.filter(Column("tailNumber") == tailNumber).fetchOne(db)?.target
        if let row { body(row) }
      }
    }
  }

  private func each<R: BenchmarkRecord>(_ cursor: RecordCursor<R>, _ body: (R.Target) -> Void) throws {
    while let record = try cursor.next() { body(record.target) }
  }

  func rows(primary: String, _ body: (Aircraft) -> Void) throws {
    try opened().read { db in
      if isManual {
        let sql = "SELECT \(SQLiteStatements.columns) FROM aircraft WHERE csPrimary = ?"
        try each(ManualAircraft.fetchCursor(db.cachedStatement(sql: sql), arguments: [primary]), body)
      } else {
        try each(CodableAircraft.filter(Column("csPrimary") == primary).fetchCursor(db), body)
      }
    }
  }

  func ids(primary: String) throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      let request = CodableAircraft.filter(Column("csPrimary") == primary).select(Column("id"), as: Int.self)
      let cursor = try request.fetchCursor(db)
      while let id = try cursor.next() { answer.add(UInt64(id)) }
      return answer
    }
  }

  func entries(from: Double, before: Double, _ body: (LogEntry) -> Void) throws {
    try opened().read { db in
      if isManual {
        let sql = """
          SELECT id, aircraft, date, flight, distance, delay, remark FROM logEntry WHERE date >= ? AND date < ?
          """
        try each(ManualEntry.fetchCursor(db.cachedStatement(sql: sql), arguments: [from, before]), body)
      } else {
        let date = Column("date")
        try each(CodableEntry.filter(date >= from && date < before).fetchCursor(db), body)
      }
    }
  }

  func count(secondary: String, hoursOver: Double) throws -> Int {
    try opened().read { db in
      try CodableAircraft.filter(Column("csSecondary") == secondary && Column("hours") > hoursOver).fetchCount(db)
    }
  }

  func firstRows(_ count: Int, _ body: (Aircraft) -> Void) throws {
    try opened().read { db in
      if isManual {
        let sql = "SELECT \(SQLiteStatements.columns) FROM aircraft ORDER BY id LIMIT ?"
        try each(ManualAircraft.fetchCursor(db.cachedStatement(sql: sql), arguments: [count]), body)
      } else {
        try each(CodableAircraft.order(Column("id")).limit(count).fetchCursor(db), body)
      }
    }
  }

  // MARK: Changing

  private func each(_ ids: [Int], oneByOne: Bool, _ body: (Database, Int) throws -> Void) throws {
    let pool = try opened()
    if oneByOne {
      for id in ids { try pool.write { db in try body(db, id) } }
    } else {
      try pool.write { db in for id in ids { try body(db, id) } }
    }
  }

  private func set(_ column: String, _ value: any DatabaseValueConvertible & Sendable, _ ids: [Int], oneByOne: Bool)
    throws
  {
    try each(ids, oneByOne: oneByOne) { db, id in
      if isManual {
        let statement = try db.cachedStatement(sql: "UPDATE aircraft SET \(column) = ? WHERE id = ?")
        try statement.execute(arguments: [value, id])
      } else if var record = try CodableAircraft.fetchOne(db, key: id) {
        try record.updateChanges(db) { record in
          if let hours = value as? Double { record.hours = hours }
          if let colour = value as? String { record.csPrimary = colour }
        }
      }
    }
  }

  func setHours(ids: [Int], _ hours: Double, oneByOne: Bool) throws { try set("hours", hours, ids, oneByOne: oneByOne) }

  func setPrimary(ids: [Int], _ colour: String) throws { try set("csPrimary", colour, ids, oneByOne: false) }

  func delete(ids: [Int], oneByOne: Bool) throws {
    try each(ids, oneByOne: oneByOne) { db, id in
      if isManual {
        try db.cachedStatement(sql: "DELETE FROM aircraft WHERE id = ?").execute(arguments: [id])
      } else {
        _ = try CodableAircraft.deleteOne(db, key: id)
      }
    }
  }

  // MARK: Files

  func compact() throws {
    let pool = try opened()
    try pool.vacuum()
    try pool.writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
  }

  func fileBytes() throws -> UInt64 {
    try opened().writeWithoutTransaction { db in _ = try db.checkpoint(.truncate) }
    return ["", "-wal"].reduce(0) { $0 + fileSize(path + $1) }
  }

  func session() throws -> any PeerSession { GRDBSession(pool: try opened(), manual: isManual) }
}

/// The pool is made for threads.
final class GRDBSession: PeerSession {
  private let pool: DatabasePool
  private let isManual: Bool

  init(pool: DatabasePool, manual: Bool) {
    self.pool = pool
    isManual = manual
  }

  func insert(_ row: Aircraft) throws {
    try pool.write { db in try GRDBPeer.insert(db, row, manual: isManual) }
  }

  func hours(id: Int) throws -> Double {
    try pool.read { db in
      if !isManual {
        return try CodableAircraft.filter(key: id).select(Column("hours"), as: Double.self).fetchOne(db) ?? 0
      }
      let statement = try db.cachedStatement(sql: "SELECT hours FROM aircraft WHERE id = ?")
      return try Double.fetchOne(statement, arguments: [id]) ?? 0
    }
  }

  func close() {}
}
