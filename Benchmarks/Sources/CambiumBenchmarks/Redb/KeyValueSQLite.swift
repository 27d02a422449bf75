import CSQLite
import Foundation

/// One table of SQLite without row ids, the rows in the tree of the keys.
final class KeyValueSQLite: KeyValuePeer {
  let name = "sqlite"
  private let path: String
  private var open: (connection: SQLiteConnection, put: SQLiteStatement, remove: SQLiteStatement)?

  init(directory: String) { path = directory + "/sqlite.db" }

  private func opened() throws -> (connection: SQLiteConnection, put: SQLiteStatement, remove: SQLiteStatement) {
    guard let open else { throw NotSupported() }
    return open
  }

  func create() throws {
    try close()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let connection = try connect()
    try connection.run("CREATE TABLE pairs (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
    open = (
      connection, try connection.prepare("INSERT INTO pairs VALUES (?, ?)"),
      try connection.prepare("DELETE FROM pairs WHERE key = ?")
    )
  }

  private func connect() throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, .synced)
    try connection.run("PRAGMA cache_size=-\(Pair.cacheBytes / 1024)")
    return connection
  }

  func close() throws { open = nil }

  func put(_ pairs: Range<Int>) throws {
    let (connection, put, _) = try opened()
    let pair = Pair()
    defer { pair.free() }
    try connection.run("BEGIN IMMEDIATE")
    for i in pairs {
      put.bind(1, raw: pair.key(i))
      put.bind(2, raw: pair.value(i))
      try put.run()
    }
    try connection.run("COMMIT")
  }

  func remove(_ pairs: Range<Int>) throws {
    let (connection, _, remove) = try opened()
    let pair = Pair()
    defer { pair.free() }
    try connection.run("BEGIN IMMEDIATE")
    for i in pairs {
      remove.bind(1, raw: pair.key(i))
      try remove.run()
    }
    try connection.run("COMMIT")
  }

  func get(_ pairs: [Int]) throws -> Answer { try Reader(opened().connection).get(pairs) }

  func ranges(_ pairs: [Int], count: Int) throws -> Answer {
    let connection = try opened().connection
    let statement = try connection.prepare("SELECT value FROM pairs WHERE key >= ? ORDER BY key LIMIT ?")
    let pair = Pair()
    defer { pair.free() }
    var answer = Answer()
    try connection.run("BEGIN")
    for i in pairs {
      statement.bind(1, raw: pair.key(i))
      statement.bind(2, count)
      while try statement.step() { answer.add(value: statement.raw(0)) }
      statement.reset()
    }
    try connection.run("COMMIT")
    return answer
  }

  func count() throws -> Int {
    let statement = try opened().connection.prepare("SELECT count(*) FROM pairs")
    return try statement.step() ? statement.int(0) : 0
  }

  func compact() throws {
    let connection = try opened().connection
    try connection.run("VACUUM")
    try connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  func fileBytes() throws -> UInt64 {
    try opened().connection.run("PRAGMA wal_checkpoint(TRUNCATE)")
    return ["", "-wal"].reduce(0) { $0 + fileSize(path + $1) }
  }

  func reader() throws -> any KeyValueReader { try Reader(connect()) }

  private final class Reader: KeyValueReader, @unchecked Sendable {
    private var statement: SQLiteStatement?

    init(_ connection: SQLiteConnection) throws {
      statement = try connection.prepare("SELECT value FROM pairs WHERE key = ?")
    }

    func get(_ pairs: [Int]) throws -> Answer {
      guard let statement else { throw NotSupported() }
      let pair = Pair()
      defer { pair.free() }
      var answer = Answer()
      try statement.connection.run("BEGIN")
      for i in pairs {
        statement.bind(1, raw: pair.key(i))
        if try statement.step() { answer.add(value: statement.raw(0)) }
        statement.reset()
      }
      try statement.connection.run("COMMIT")
      return answer
    }

    func close() { statement = nil }
  }
}

extension SQLiteStatement {
  /// Binds bytes that stay where they are until the statement was run.
  @inline(__always)
  func bind(_ i: Int32, raw bytes: UnsafeRawBufferPointer) {
    sqlite3_bind_blob(handle, i, bytes.baseAddress, Int32(bytes.count), nil)
  }

  /// A column's bytes, good until the next step.
  @inline(__always)
  func raw(_ i: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: sqlite3_column_blob(handle, i), count: Int(sqlite3_column_bytes(handle, i)))
  }
}
