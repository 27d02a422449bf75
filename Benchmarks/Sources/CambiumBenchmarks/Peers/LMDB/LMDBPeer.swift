import CLMDB
import Foundation

/// LMDB: rows laid out by hand, indexes as sorted duplicates, sorted and appended after the rows of a bulk load.
final class LMDBPeer: Peer {
  let name = "lmdb"
  let path: String
  private var environment: LMDBEnvironment?
  private var trees: LMDBTrees?
  let codec = LMDBRows()

  init(directory: String) { path = directory + "/lmdb" }

  deinit { codec.free() }

  func opened() throws -> (LMDBEnvironment, LMDBTrees) {
    guard let environment, let trees else { throw NotSupported() }
    return (environment, trees)
  }

  func create(_ durability: CommitDurability) throws {
    try close()
    try? FileManager.default.removeItem(atPath: path)
    try open(durability)
  }

  func open(_ durability: CommitDurability) throws {
    let made = try LMDBEnvironment(path: path, durability)
    environment = made
    trees = try LMDBTrees(made)
  }

  func close() throws {
    environment = nil
    trees = nil
  }

  // MARK: Adding

  func load(_ rows: ArraySlice<Aircraft>) throws {
    let (env, trees) = try opened()
    try env.write { t in
      for row in rows { try put(t, trees.aircraft, UInt64(row.id), codec.encode(row), UInt32(MDB_APPEND)) }
      for (text, id) in rows.map({ ($0.tailNumber, $0.id) }).sorted(by: { $0.0 < $1.0 }) {
        try put(t, trees.tail, text, id, UInt32(MDB_APPEND))
      }
      for (text, id) in rows.map({ ($0.primary, $0.id) }).sorted(by: { $0 < $1 }) {
        try put(t, trees.primary, text, id, UInt32(MDB_APPENDDUP))
      }
    }
  }

  func load(_ rows: ArraySlice<LogEntry>) throws {
    let (env, trees) = try opened()
    try env.write { t in
      for row in rows { try put(t, trees.entry, UInt64(row.id), codec.encode(row), UInt32(MDB_APPEND)) }
      for (aircraft, id) in rows.map({ ($0.aircraft, $0.id) }).sorted(by: { $0 < $1 }) {
        try put(t, trees.entryAircraft, UInt64(aircraft), id, UInt32(MDB_APPENDDUP))
      }
      for (date, id) in rows.map({ ($0.date.bitPattern, $0.id) }).sorted(by: { $0 < $1 }) {
        try put(t, trees.entryDate, date, id, UInt32(MDB_APPENDDUP))
      }
    }
  }

  func insert(_ row: Aircraft) throws {
    let (env, trees) = try opened()
    try env.write { t in try LMDBPeer.insert(row, t, trees, codec) }
  }

  static func insert(_ row: Aircraft, _ t: OpaquePointer, _ trees: LMDBTrees, _ codec: LMDBRows) throws {
    try put(t, trees.aircraft, UInt64(row.id), codec.encode(row), 0)
    try put(t, trees.tail, row.tailNumber, row.id, UInt32(MDB_NOOVERWRITE))
    try put(t, trees.primary, row.primary, row.id, 0)
  }

  // MARK: Changing

  private func each(_ ids: [Int], oneByOne: Bool, _ body: (OpaquePointer, LMDBTrees, Int) throws -> Void) throws {
    let (env, trees) = try opened()
    if oneByOne {
      for id in ids { try env.write { t in try body(t, trees, id) } }
    } else {
      try env.write { t in
        for id in ids { try body(t, trees, id) }
      }
    }
  }

  func setHours(ids: [Int], _ hours: Double, oneByOne: Bool) throws {
    var copy = [UInt8](repeating: 0, count: 1024)
    try each(ids, oneByOne: oneByOne) { t, trees, id in
      let count = try LMDBPeer.value(t, trees.aircraft, UInt64(id)) { old -> Int in
        copy.withUnsafeMutableBytes { b in
          b.copyMemory(from: old)
          b.storeBytes(of: hours.bitPattern, toByteOffset: 0, as: UInt64.self)
        }
        return old.count
      }
      guard let count else { return }
      try copy.withUnsafeBytes { b in
        try LMDBPeer.put(t, trees.aircraft, UInt64(id), UnsafeRawBufferPointer(rebasing: b[..<count]), 0)
      }
    }
  }

  func setPrimary(ids: [Int], _ colour: String) throws {
    try each(ids, oneByOne: false) { t, trees, id in
      let row = try LMDBPeer.value(t, trees.aircraft, UInt64(id)) { LMDBRows.aircraft(id, $0) }
      guard var row else { return }
      try LMDBPeer.delete(t, trees.primary, row.primary, id)
      row.primary = colour
      try LMDBPeer.put(t, trees.aircraft, UInt64(id), codec.encode(row), 0)
      try LMDBPeer.put(t, trees.primary, colour, id, 0)
    }
  }

  func delete(ids: [Int], oneByOne: Bool) throws {
    try each(ids, oneByOne: oneByOne) { t, trees, id in
      let keys = try LMDBPeer.value(t, trees.aircraft, UInt64(id)) { b in
        (
          String(decoding: LMDBRows.text(b, 0), as: UTF8.self), String(decoding: LMDBRows.text(b, 4), as: UTF8.self)
        )
      }
      guard let (tail, primary) = keys else { return }
      try LMDBPeer.delete(t, trees.tail, tail, nil)
      try LMDBPeer.delete(t, trees.primary, primary, id)
      try withWord(UInt64(id)) { key in try lmdb(mdb_del(t, trees.aircraft, &key, nil)) }
    }
  }

  // MARK: Files

  func compact() throws {
    let (env, _) = try opened()
    let copy = path + "-compact"
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    try lmdb(mdb_env_copy2(env.handle, copy, UInt32(MDB_CP_COMPACT)))
    try close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: copy, toPath: path)
    try open(.synced)
  }

  func fileBytes() throws -> UInt64 { fileSize(path + "/data.mdb") }

  func session() throws -> any PeerSession {
    let (env, trees) = try opened()
    return try LMDBSession(env, trees)
  }
}

/// The databases within an environment.
struct LMDBTrees: Sendable {
  let aircraft, tail, primary, entry, entryAircraft, entryDate: MDB_dbi

  init(_ environment: LMDBEnvironment) throws {
    var made: [MDB_dbi] = []
    let integer = UInt32(MDB_INTEGERKEY)
    let several = UInt32(MDB_DUPSORT | MDB_DUPFIXED | MDB_INTEGERDUP)
    try environment.write { t in
      for (name, flags) in [
        ("aircraft", integer), ("tail", 0), ("primary", several), ("entry", integer),
        ("entryAircraft", integer | several), ("entryDate", integer | several),
      ] {
        var dbi = MDB_dbi()
        try lmdb(mdb_dbi_open(t, name, flags | UInt32(MDB_CREATE), &dbi))
        made.append(dbi)
      }
    }
    aircraft = made[0]
    tail = made[1]
    primary = made[2]
    entry = made[3]
    entryAircraft = made[4]
    entryDate = made[5]
  }
}
