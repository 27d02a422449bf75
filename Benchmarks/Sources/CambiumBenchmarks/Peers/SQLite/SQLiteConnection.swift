import CSQLite

/// A failed call of SQLite.
struct SQLiteError: Error, CustomStringConvertible {
  let description: String
}

/// A connection, tuned: WAL, a large cache, memory-mapped reads.
final class SQLiteConnection {
  let handle: OpaquePointer

  init(path: String, _ durability: CommitDurability) throws {
    var made: OpaquePointer?
    // One thread uses a connection, so that its mutexes are not needed.
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &made, flags, nil) == SQLITE_OK, let made else {
      throw SQLiteError(description: "cannot open \(path)")
    }
    handle = made
    try run("PRAGMA journal_mode=WAL")
    try run("PRAGMA synchronous=\(durability == .synced ? "FULL" : "NORMAL")")
    try run("PRAGMA cache_size=-\(Tuning.cacheBytes / 1024)")
    try run("PRAGMA mmap_size=\(Tuning.mapBytes)")
    try run("PRAGMA wal_autocheckpoint=\(Tuning.logBytes / 4096)")
    try run("PRAGMA secure_delete=0")
    try run("PRAGMA temp_store=MEMORY")
    // Sorts of large indexes may use as many threads as Cambium does.
    try run("PRAGMA threads=\(Tuning.threads)")
    try run("PRAGMA foreign_keys=0")
    sqlite3_busy_timeout(handle, 60_000)
  }

  deinit { sqlite3_close_v2(handle) }

  func run(_ sql: String) throws {
    if sqlite3_exec(handle, sql, nil, nil, nil) != SQLITE_OK { throw failure() }
  }

  func failure() -> SQLiteError {
    SQLiteError(description: sqlite3_errmsg(handle).map { String(cString: $0) } ?? "unknown")
  }

  func prepare(_ sql: String) throws -> SQLiteStatement { try SQLiteStatement(self, sql) }
}

/// A prepared statement. Text and bytes are bound without a copy of SQLite's own: they lie in a buffer of the
/// statement's.
final class SQLiteStatement {
  let connection: SQLiteConnection
  let handle: OpaquePointer
  private let buffer = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 16)
  private var used = 0

  init(_ connection: SQLiteConnection, _ sql: String) throws {
    var made: OpaquePointer?
    let flags = UInt32(SQLITE_PREPARE_PERSISTENT)
    guard sqlite3_prepare_v3(connection.handle, sql, -1, flags, &made, nil) == SQLITE_OK, let made else {
      throw connection.failure()
    }
    self.connection = connection
    handle = made
  }

  deinit {
    sqlite3_finalize(handle)
    buffer.deallocate()
  }

  /// Steps; true if there is a row.
  @inline(__always)
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let error = connection.failure()
      sqlite3_reset(handle)
      throw error
    }
  }

  @inline(__always)
  func reset() {
    sqlite3_reset(handle)
    used = 0
  }

  /// Runs to the end.
  @inline(__always)
  func run() throws {
    while try step() {}
    reset()
  }

  // MARK: Binding, from 1

  @inline(__always)
  func bind(_ i: Int32, _ value: Int) { sqlite3_bind_int64(handle, i, Int64(value)) }

  @inline(__always)
  func bind(_ i: Int32, _ value: Int32?) {
    if let value { sqlite3_bind_int(handle, i, value) } else { sqlite3_bind_null(handle, i) }
  }

  @inline(__always)
  func bind(_ i: Int32, _ value: Double?) {
    if let value { sqlite3_bind_double(handle, i, value) } else { sqlite3_bind_null(handle, i) }
  }

  @inline(__always)
  func bind(_ i: Int32, _ value: String?) {
    guard var value else {
      sqlite3_bind_null(handle, i)
      return
    }
    value.withUTF8 { utf8 in
      let place = buffer + used
      if let base = utf8.baseAddress { place.copyMemory(from: base, byteCount: utf8.count) }
      sqlite3_bind_text(handle, i, place.assumingMemoryBound(to: CChar.self), Int32(utf8.count), nil)
      used += utf8.count
    }
  }

  @inline(__always)
  func bind(_ i: Int32, _ value: [UInt8]) {
    value.withUnsafeBytes { bytes in
      let place = buffer + used
      if let base = bytes.baseAddress { place.copyMemory(from: base, byteCount: bytes.count) }
      sqlite3_bind_blob(handle, i, place, Int32(bytes.count), nil)
      used += bytes.count
    }
  }

  // MARK: Columns, from 0

  @inline(__always)
  func int(_ i: Int32) -> Int { Int(sqlite3_column_int64(handle, i)) }

  @inline(__always)
  func double(_ i: Int32) -> Double { sqlite3_column_double(handle, i) }

  @inline(__always)
  func isNull(_ i: Int32) -> Bool { sqlite3_column_type(handle, i) == SQLITE_NULL }

  @inline(__always)
  func text(_ i: Int32) -> String {
    guard let bytes = sqlite3_column_text(handle, i) else { return "" }
    return String(
      decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, i))), as: UTF8.self)
  }

  @inline(__always)
  func textOrNil(_ i: Int32) -> String? { isNull(i) ? nil : text(i) }

  @inline(__always)
  func bytes(_ i: Int32) -> [UInt8] {
    guard let bytes = sqlite3_column_blob(handle, i) else { return [] }
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(handle, i))))
  }
}
