import Foundation
import GRDB

/// GRDB's records: Codable, or decoded by hand by the places of the columns.
final class GRDBObjects: ObjectPeer {
  let name: String
  private let path: String
  private let isManual: Bool
  private var pool: DatabasePool?

  init(directory: String, manual: Bool) {
    isManual = manual
    name = manual ? "grdb-manual" : "grdb"
    path = directory + "/objects-\(name).db"
  }

  func create() throws {
    try pool?.close()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let made = try GRDBPeer.pool(path, .synced)
    try made.write { db in
      try db.execute(sql: SQLiteStatements.tables)
      try db.execute(sql: SQLiteStatements.aircraftIndexes)
      try db.execute(sql: SQLiteStatements.entryIndexes)
      try db.execute(sql: SQLiteObjects.paintedTables)
    }
    pool = made
  }

  private func opened() throws -> DatabasePool {
    guard let pool else { throw NotSupported() }
    return pool
  }

  func insert(_ rows: ArraySlice<Aircraft>) throws {
    try opened().write { db in
      for row in rows { try GRDBPeer.insert(db, row, manual: isManual) }
    }
  }

  func insert(_ rows: ArraySlice<LogEntry>) throws {
    try opened().write { db in
      for row in rows { try GRDBPeer.insert(db, row, manual: isManual) }
    }
  }

  private func all(_ db: Database) throws -> [Aircraft] {
    let sql = "SELECT \(SQLiteStatements.columns) FROM aircraft"
    if isManual { return try ManualAircraft.fetchAll(db.cachedStatement(sql: sql)).map { $0.target } }
    return try CodableAircraft.fetchAll(db).map { $0.target }
  }

  func readAll() throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      for row in try all(db) { answer.addProperties(row) }
      return answer
    }
  }

  func fetchAll() throws -> Answer {
    try opened().read { db in
      if isManual { return Answer(count: try all(db).count) }
      return Answer(count: try CodableAircraft.fetchAll(db).count)
    }
  }

  func walkAll() throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      if isManual {
        let sql = "SELECT \(SQLiteStatements.columns) FROM aircraft"
        let cursor = try ManualAircraft.fetchCursor(db.cachedStatement(sql: sql))
        while try cursor.next() != nil { answer.count += 1 }
      } else {
        let cursor = try CodableAircraft.fetchCursor(db)
        while try cursor.next() != nil { answer.count += 1 }
      }
      return answer
    }
  }

  func colours() throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      if isManual {
        for text in try String.fetchAll(db, sql: "SELECT csPrimary FROM aircraft") {
          answer.add(UInt64(text.utf8.count))
        }
      } else {
        for record in try CodableAircraft.fetchAll(db) { answer.add(UInt64(record.csPrimary.utf8.count)) }
      }
      return answer
    }
  }

  func hours() throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      for hours in try Double.fetchAll(db, sql: "SELECT hours FROM aircraft") { answer.add(hours) }
      return answer
    }
  }

  func change(_ count: Int, to hours: Double) throws {
    try opened().write { db in
      if isManual {
        let statement = try db.cachedStatement(sql: "UPDATE aircraft SET hours = ? WHERE id = ?")
        for id in 1...count { try statement.execute(arguments: [hours, id]) }
      } else {
        for var record in try CodableAircraft.limit(count).fetchAll(db) {
          try record.updateChanges(db) { $0.hours = hours }
        }
      }
    }
  }

  func tailNumbers(prefetched: Bool) throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      if isManual {
        let rows = try Row.fetchCursor(
          db, sql: "SELECT a.tailNumber FROM logEntry e JOIN aircraft a ON a.id = e.aircraft")
        while let row = try rows.next() { answer.add(UInt64((row[0] as String).utf8.last ?? 0)) }
      } else {
        let request = CodableEntry.including(required: CodableEntry.aircraftOfEntry)
          .asRequest(of: CodableEntryWithAircraft.self)
        for found in try request.fetchAll(db) { answer.add(UInt64(found.theAircraft.tailNumber.utf8.last ?? 0)) }
      }
      return answer
    }
  }

  func distances(_ count: Int) throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      for id in 1...count {
        if isManual {
          let statement = try db.cachedStatement(sql: "SELECT distance FROM logEntry WHERE aircraft = ?")
          for distance in try Int?.fetchAll(statement, arguments: [id]) { answer.add(UInt64(distance ?? 0)) }
        } else {
          for entry in try CodableEntry.filter(Column("aircraft") == id).fetchAll(db) {
            answer.add(UInt64(entry.distance ?? 0))
          }
        }
      }
      return answer
    }
  }

  func deleteAll() throws {
    try opened().write { db in
      if isManual {
        let entries = try db.cachedStatement(sql: "DELETE FROM logEntry WHERE aircraft = ?")
        let aircraft = try db.cachedStatement(sql: "DELETE FROM aircraft WHERE id = ?")
        for id in try Int.fetchAll(db, sql: "SELECT id FROM aircraft") {
          try entries.execute(arguments: [id])
          try aircraft.execute(arguments: [id])
        }
      } else {
        for record in try CodableAircraft.fetchAll(db) {
          try CodableEntry.filter(Column("aircraft") == record.id).deleteAll(db)
          try record.delete(db)
        }
      }
    }
  }

  func paint(_ rows: ArraySlice<Aircraft>) throws {
    try opened().write { db in
      if isManual {
        let painted = try db.cachedStatement(sql: SQLiteObjects.insertPainted)
        let livery = try db.cachedStatement(sql: SQLiteObjects.insertLivery)
        for a in rows {
          try painted.execute(arguments: [a.id, a.tailNumber, a.primary, a.secondary, a.tertiary, a.id])
          try livery.execute(arguments: [a.id, a.primary, a.secondary, a.tertiary, a.id])
        }
      } else {
        for row in rows {
          try CodablePainted(row).insert(db)
          try CodableLivery(row).insert(db)
        }
      }
    }
  }

  func embeddedColours() throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      if isManual {
        for text in try String.fetchAll(db, sql: SQLiteObjects.embedded) { answer.add(UInt64(text.utf8.count)) }
      } else {
        for record in try CodablePainted.fetchAll(db) { answer.add(UInt64(record.csPrimary.utf8.count)) }
      }
      return answer
    }
  }

  func liveryColours(prefetched: Bool) throws -> Answer {
    try opened().read { db in
      var answer = Answer()
      if isManual {
        for text in try String.fetchAll(db, sql: SQLiteObjects.ledTo) { answer.add(UInt64(text.utf8.count)) }
      } else {
        let request = CodablePainted.including(required: CodablePainted.liveryOfPainted)
          .asRequest(of: CodablePaintedWithLivery.self)
        for found in try request.fetchAll(db) { answer.add(UInt64(found.theLivery.primary.utf8.count)) }
      }
      return answer
    }
  }

  func left() throws -> Answer {
    try opened().read { db in
      Answer(count: try CodableAircraft.fetchCount(db), sum: UInt64(try CodableEntry.fetchCount(db)))
    }
  }

  func holding(_ body: () -> Void) throws {
    let records = try opened().read { db in try CodableAircraft.fetchAll(db) }
    withExtendedLifetime(records) { body() }
  }
}

extension CodableEntry {
  static let aircraftOfEntry = belongsTo(
    CodableAircraft.self, key: "theAircraft", using: ForeignKey(["aircraft"], to: ["id"]))
}

/// An entry with the aircraft that it leads to.
private struct CodableEntryWithAircraft: Decodable, FetchableRecord {
  var theAircraft: CodableAircraft
}

private struct CodablePainted: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "painted"
  static let liveryOfPainted = belongsTo(
    CodableLivery.self, key: "theLivery", using: ForeignKey(["livery"], to: ["id"]))

  var id: Int
  var tailNumber: String
  var csPrimary: String
  var csSecondary: String
  var csTertiary: String?
  var livery: Int

  init(_ a: Aircraft) {
    id = a.id
    tailNumber = a.tailNumber
    csPrimary = a.primary
    csSecondary = a.secondary
    csTertiary = a.tertiary
    livery = a.id
  }
}

private struct CodableLivery: Codable, FetchableRecord, PersistableRecord {
  static let databaseTableName = "livery"

  var id: Int
  var primary: String
  var secondary: String
  var tertiary: String?
  var aircraft: Int

  init(_ a: Aircraft) {
    id = a.id
    primary = a.primary
    secondary = a.secondary
    tertiary = a.tertiary
    aircraft = a.id
  }
}

/// An aircraft with the colours that it leads to.
private struct CodablePaintedWithLivery: Decodable, FetchableRecord {
  var theLivery: CodableLivery
}
