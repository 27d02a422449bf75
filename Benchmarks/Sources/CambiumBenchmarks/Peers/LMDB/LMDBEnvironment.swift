import CLMDB
import Foundation

/// A failed call of LMDB.
struct LMDBError: Error, CustomStringConvertible {
  let code: Int32
  var description: String { String(cString: mdb_strerror(code)) }
}

@inline(__always)
func lmdb(_ code: Int32) throws {
  if code != 0 { throw LMDBError(code: code) }
}

/// An environment in a folder of its own.
final class LMDBEnvironment: @unchecked Sendable {
  // `@unchecked`: the handle does not change, and LMDB's environments are made for threads.
  let handle: OpaquePointer

  init(path: String, _ durability: CommitDurability) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    var made: OpaquePointer?
    try lmdb(mdb_env_create(&made))
    guard let made else { throw LMDBError(code: ENOMEM) }
    handle = made
    try lmdb(mdb_env_set_mapsize(made, Tuning.mapBytes))
    try lmdb(mdb_env_set_maxdbs(made, 16))
    try lmdb(mdb_env_set_maxreaders(made, 256))
    var flags = UInt32(MDB_NOTLS)
    // Not quite what the others give: a power cut may damage the file.
    if durability == .unsynced { flags |= UInt32(MDB_NOSYNC) }
    try lmdb(mdb_env_open(made, path, flags, 0o644))
  }

  deinit { mdb_env_close(handle) }

  func begin(readOnly: Bool) throws -> OpaquePointer {
    var made: OpaquePointer?
    try lmdb(mdb_txn_begin(handle, nil, readOnly ? UInt32(MDB_RDONLY) : 0, &made))
    guard let made else { throw LMDBError(code: ENOMEM) }
    return made
  }

  /// Runs `body` in a transaction that reads.
  func read<R>(_ body: (OpaquePointer) throws -> R) throws -> R {
    let t = try begin(readOnly: true)
    defer { mdb_txn_abort(t) }
    return try body(t)
  }

  /// Runs `body` in a transaction that writes, and commits it.
  func write(_ body: (OpaquePointer) throws -> Void) throws {
    let t = try begin(readOnly: false)
    do { try body(t) } catch {
      mdb_txn_abort(t)
      throw error
    }
    try lmdb(mdb_txn_commit(t))
  }
}

extension MDB_val {
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }

  @inline(__always)
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: mv_data, count: mv_size) }

  @inline(__always)
  var word: UInt64 { mv_size >= 8 ? bytes.loadUnaligned(as: UInt64.self) : 0 }
}

/// Calls `body` with a word as a key or value.
@inline(__always)
func withWord<R>(_ word: UInt64, _ body: (inout MDB_val) throws -> R) rethrows -> R {
  var word = word
  return try withUnsafeMutableBytes(of: &word) { b in
    var value = MDB_val(UnsafeRawBufferPointer(b))
    return try body(&value)
  }
}

/// Calls `body` with a text as a key.
@inline(__always)
func withText<R>(_ text: String, _ body: (inout MDB_val) throws -> R) rethrows -> R {
  var text = text
  return try text.withUTF8 { b in
    var value = MDB_val(UnsafeRawBufferPointer(b))
    return try body(&value)
  }
}
