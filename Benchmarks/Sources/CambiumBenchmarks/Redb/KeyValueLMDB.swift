import CLMDB
import Foundation

/// One database of LMDB.
final class KeyValueLMDB: KeyValuePeer {
  let name = "lmdb"
  private let path: String
  private var open: (environment: LMDBEnvironment, tree: MDB_dbi)?

  init(directory: String) { path = directory + "/lmdb" }

  private func opened() throws -> (environment: LMDBEnvironment, tree: MDB_dbi) {
    guard let open else { throw NotSupported() }
    return open
  }

  func create() throws {
    try close()
    try? FileManager.default.removeItem(atPath: path)
    try openStore()
  }

  private func openStore() throws {
    let environment = try LMDBEnvironment(path: path, .synced)
    var tree = MDB_dbi()
    try environment.write { t in try lmdb(mdb_dbi_open(t, "pairs", UInt32(MDB_CREATE), &tree)) }
    open = (environment, tree)
  }

  func close() throws { open = nil }

  func put(_ pairs: Range<Int>) throws {
    let (environment, tree) = try opened()
    let pair = Pair()
    defer { pair.free() }
    try environment.write { t in
      for i in pairs {
        var key = MDB_val(pair.key(i))
        var value = MDB_val(pair.value(i))
        try lmdb(mdb_put(t, tree, &key, &value, 0))
      }
    }
  }

  func remove(_ pairs: Range<Int>) throws {
    let (environment, tree) = try opened()
    let pair = Pair()
    defer { pair.free() }
    try environment.write { t in
      for i in pairs {
        var key = MDB_val(pair.key(i))
        try lmdb(mdb_del(t, tree, &key, nil))
      }
    }
  }

  func get(_ pairs: [Int]) throws -> Answer {
    let reader = try reader()
    defer { reader.close() }
    return try reader.get(pairs)
  }

  func ranges(_ pairs: [Int], count: Int) throws -> Answer {
    let (environment, tree) = try opened()
    let pair = Pair()
    defer { pair.free() }
    var answer = Answer()
    try environment.read { t in
      var cursor: OpaquePointer?
      try lmdb(mdb_cursor_open(t, tree, &cursor))
      defer { mdb_cursor_close(cursor) }
      for i in pairs {
        var key = MDB_val(pair.key(i))
        var value = MDB_val()
        var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
        var left = count
        while code == 0 {
          answer.add(value: value.bytes)
          left -= 1
          if left == 0 { break }
          code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
        }
      }
    }
    return answer
  }

  func count() throws -> Int {
    let (environment, tree) = try opened()
    return try environment.read { t in
      var figures = MDB_stat()
      try lmdb(mdb_stat(t, tree, &figures))
      return figures.ms_entries
    }
  }

  func compact() throws {
    let copy = path + "-compact"
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    try lmdb(mdb_env_copy2(opened().environment.handle, copy, UInt32(MDB_CP_COMPACT)))
    try close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: copy, toPath: path)
    try openStore()
  }

  func fileBytes() throws -> UInt64 { fileSize(path + "/data.mdb") }

  func reader() throws -> any KeyValueReader {
    let (environment, tree) = try opened()
    return Reader(environment, tree, try environment.begin(readOnly: true))
  }

  private final class Reader: KeyValueReader, @unchecked Sendable {
    private let environment: LMDBEnvironment
    private let tree: MDB_dbi
    private var transaction: OpaquePointer?

    init(_ environment: LMDBEnvironment, _ tree: MDB_dbi, _ transaction: OpaquePointer) {
      self.environment = environment
      self.tree = tree
      self.transaction = transaction
    }

    func get(_ pairs: [Int]) throws -> Answer {
      let pair = Pair()
      defer { pair.free() }
      var answer = Answer()
      for i in pairs {
        var key = MDB_val(pair.key(i))
        var value = MDB_val()
        let code = mdb_get(transaction, tree, &key, &value)
        if code == MDB_NOTFOUND { continue }
        try lmdb(code)
        answer.add(value: value.bytes)
      }
      return answer
    }

    func close() {
      if let transaction { mdb_txn_abort(transaction) }
      transaction = nil
    }
  }
}
