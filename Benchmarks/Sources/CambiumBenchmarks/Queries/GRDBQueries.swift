import CambiumEngine
import GRDB

/// GRDB over the same tables: cached statements, cursors of rows, columns by their places, which is its fastest way.
final class GRDBQueries: QueryPeer {
  let name = "grdb"
  private let flights: DatabaseQueue
  private let aircraft: DatabaseQueue

  init(_ data: QueryData) throws {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.prepareDatabase { db in
      SQLiteNearest.register(db.sqliteConnection)
      try db.execute(
        sql: """
          PRAGMA cache_size=-\(Tuning.cacheBytes / 1024); PRAGMA mmap_size=\(Tuning.mapBytes); PRAGMA temp_store=MEMORY;
          """)
    }
    flights = try DatabaseQueue(path: data.flights.databasePath, configuration: configuration)
    aircraft = try DatabaseQueue(path: data.aircraft.databasePath, configuration: configuration)
  }

  func answer(_ query: TwinQuery, _ variant: Int) throws -> Answer {
    let arguments = StatementArguments(
      query.variants[variant % query.variants.count].parameters.map { value -> (any DatabaseValueConvertible)? in
        switch value {
        case .integer(let number): return number
        case .double(let number), .date(let number): return number
        case .boolean(let flag): return flag
        case .string(let text): return text
        default: return nil
        }
      })
    let queue = query.data == \QueryData.flights ? flights : aircraft
    return try queue.read { db in
      let cursor = try GRDB.Row.fetchCursor(db.cachedStatement(sql: query.sql), arguments: arguments)
      var answer = Answer()
      while let row = try cursor.next() {
        if case .count = query.form { return Answer(count: row[0]) }
        var digest = RowDigest()
        for (place, kind) in query.kinds.enumerated() {
          switch kind {
          case .integer, .boolean: digest.add(row[place] as Int64?)
          case .double, .date: digest.add(row[place] as Double?)
          case .text: digest.add(row[place] as String?)
          }
        }
        answer.add(digest.value)
      }
      return answer
    }
  }
}
