import Foundation
import GRDB

/// GRDB's pool, which has a queue for writing and connections for reading.
final class GRDBServer: ServerPeer, @unchecked Sendable {
  // Unchecked: `pool` is set before there are requests.
  let name = "grdb"
  private let path: String
  private var pool: DatabasePool?

  init(directory: String) { path = directory + "/server-grdb.db" }

  func create(_ rows: ArraySlice<Aircraft>) throws {
    try pool?.close()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let made = try GRDBPeer.pool(path, .synced)
    try made.write { db in
      try db.execute(sql: SQLiteStatements.tables)
      for row in rows { try GRDBPeer.insert(db, row, manual: false) }
      try db.execute(sql: SQLiteStatements.aircraftIndexes)
    }
    pool = made
  }

  private func opened() throws -> DatabasePool {
    guard let pool else { throw NotSupported() }
    return pool
  }

  func save(_ row: Aircraft) async throws {
    try await opened().write { db in try GRDBPeer.insert(db, row, manual: false) }
  }

  func count(hoursAbove hours: Double) async throws -> Int {
    try await opened().read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM aircraft WHERE hours > ?", arguments: [hours]) ?? 0
    }
  }

  func count() throws -> Answer {
    try opened().read { db in Answer(count: try Int.fetchOne(db, sql: "SELECT count(*) FROM aircraft") ?? 0) }
  }
}
