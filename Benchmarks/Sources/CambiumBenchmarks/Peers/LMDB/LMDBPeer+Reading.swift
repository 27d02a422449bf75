import CLMDB

extension LMDBPeer {
  // MARK: Calls

  @inline(__always)
  static func put(_ t: OpaquePointer, _ tree: MDB_dbi, _ key: UInt64, _ value: UnsafeRawBufferPointer, _ flags: UInt32)
    throws
  {
    try withWord(key) { k in
      var v = MDB_val(value)
      try lmdb(mdb_put(t, tree, &k, &v, flags))
    }
  }

  @inline(__always)
  static func put(_ t: OpaquePointer, _ tree: MDB_dbi, _ key: String, _ id: Int, _ flags: UInt32) throws {
    try withText(key) { k in try withWord(UInt64(id)) { v in try lmdb(mdb_put(t, tree, &k, &v, flags)) } }
  }

  func put(_ t: OpaquePointer, _ tree: MDB_dbi, _ key: UInt64, _ value: UnsafeRawBufferPointer, _ flags: UInt32) throws
  {
    try Self.put(t, tree, key, value, flags)
  }

  func put(_ t: OpaquePointer, _ tree: MDB_dbi, _ key: String, _ id: Int, _ flags: UInt32) throws {
    try Self.put(t, tree, key, id, flags)
  }

  func put(_ t: OpaquePointer, _ tree: MDB_dbi, _ key: UInt64, _ id: Int, _ flags: UInt32) throws {
    try withWord(key) { k in try withWord(UInt64(id)) { v in try lmdb(mdb_put(t, tree, &k, &v, flags)) } }
  }

  static func delete(_ t: OpaquePointer, _ tree: MDB_dbi, _ key: String, _ id: Int?) throws {
    try withText(key) { k in
      guard let id else { return try lmdb(mdb_del(t, tree, &k, nil)) }
      try withWord(UInt64(id)) { v in try lmdb(mdb_del(t, tree, &k, &v)) }
    }
  }

  @inline(__always)
  static func value<R>(_ t: OpaquePointer, _ tree: MDB_dbi, _ key: UInt64, _ body: (UnsafeRawBufferPointer) -> R) throws
    -> R?
  {
    try withWord(key) { k in
      var v = MDB_val()
      let code = mdb_get(t, tree, &k, &v)
      if code == MDB_NOTFOUND { return nil }
      try lmdb(code)
      return body(v.bytes)
    }
  }

  /// The ids under a key that has several.
  private func ids(_ t: OpaquePointer, _ tree: MDB_dbi, _ key: inout MDB_val, _ body: (UInt64) throws -> Void) throws {
    var cursor: OpaquePointer?
    try lmdb(mdb_cursor_open(t, tree, &cursor))
    defer { mdb_cursor_close(cursor) }
    var v = MDB_val()
    var code = mdb_cursor_get(cursor, &key, &v, MDB_SET)
    if code == 0 { code = mdb_cursor_get(cursor, &key, &v, MDB_GET_MULTIPLE) }
    while code == 0 {
      for i in 0..<(v.mv_size / 8) { try body(v.bytes.loadUnaligned(fromByteOffset: i * 8, as: UInt64.self)) }
      code = mdb_cursor_get(cursor, &key, &v, MDB_NEXT_MULTIPLE)
    }
    if code != MDB_NOTFOUND { try lmdb(code) }
  }

  // MARK: Workloads

  func hours(ids: [Int]) throws -> Answer {
    let (env, trees) = try opened()
    var answer = Answer()
    try env.read { t in
      for id in ids {
        if let hours = try Self.value(t, trees.aircraft, UInt64(id), { LMDBRows.hours($0) }) { answer.add(hours) }
      }
    }
    return answer
  }

  func rows(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let (env, trees) = try opened()
    try env.read { t in
      for id in ids {
        if let row = try Self.value(t, trees.aircraft, UInt64(id), { LMDBRows.aircraft(id, $0) }) { body(row) }
      }
    }
  }

  func rowsOneByOne(ids: [Int], _ body: (Aircraft) -> Void) throws {
    let (env, trees) = try opened()
    let t = try env.begin(readOnly: true)
    defer { mdb_txn_abort(t) }
    for id in ids {
      mdb_txn_reset(t)
      try lmdb(mdb_txn_renew(t))
      if let row = try Self.value(t, trees.aircraft, UInt64(id), { LMDBRows.aircraft(id, $0) }) { body(row) }
    }
  }

  private func id(_ t: OpaquePointer, _ tree: MDB_dbi, _ text: String) throws -> UInt64? {
    try withText(text) { k in
      var v = MDB_val()
      let code = mdb_get(t, tree, &k, &v)
      if code == MDB_NOTFOUND { return nil }
      try lmdb(code)
      return v.word
    }
  }

  func rows(tailNumbers: [String], _ body: (Aircraft) -> Void) throws {
    let (env, trees) = try opened()
    try env.read { t in
      for tailNumber in tailNumbers {
        guard let id = try id(t, trees.tail, tailNumber) else { continue }
        if let row = try Self.value(t, trees.aircraft, id, { LMDBRows.aircraft(Int(id), $0) }) { body(row) }
      }
    }
  }

  func rows(primary: String, _ body: (Aircraft) -> Void) throws {
    let (env, trees) = try opened()
    try env.read { t in
      try withText(primary) { key in
        try ids(t, trees.primary, &key) { id in
          if let row = try Self.value(t, trees.aircraft, id, { LMDBRows.aircraft(Int(id), $0) }) { body(row) }
        }
      }
    }
  }

  func ids(primary: String) throws -> Answer {
    let (env, trees) = try opened()
    var answer = Answer()
    try env.read { t in
      try withText(primary) { key in try ids(t, trees.primary, &key) { answer.add($0) } }
    }
    return answer
  }

  func entries(from: Double, before: Double, _ body: (LogEntry) -> Void) throws {
    let (env, trees) = try opened()
    try env.read { t in
      var cursor: OpaquePointer?
      try lmdb(mdb_cursor_open(t, trees.entryDate, &cursor))
      defer { mdb_cursor_close(cursor) }
      try withWord(from.bitPattern) { key in
        var v = MDB_val()
        var code = mdb_cursor_get(cursor, &key, &v, MDB_SET_RANGE)
        while code == 0, key.word < before.bitPattern {
          let id = v.word
          if let row = try Self.value(t, trees.entry, id, { LMDBRows.entry(Int(id), $0) }) { body(row) }
          code = mdb_cursor_get(cursor, &key, &v, MDB_NEXT)
        }
      }
    }
  }

  /// Tells `body` every row in the order of ids, until it answers false.
  private func scan(_ body: (UInt64, UnsafeRawBufferPointer) -> Bool) throws {
    let (env, trees) = try opened()
    try env.read { t in
      var cursor: OpaquePointer?
      try lmdb(mdb_cursor_open(t, trees.aircraft, &cursor))
      defer { mdb_cursor_close(cursor) }
      var key = MDB_val()
      var v = MDB_val()
      while mdb_cursor_get(cursor, &key, &v, MDB_NEXT) == 0, body(key.word, v.bytes) {}
    }
  }

  func count(secondary: String, hoursOver: Double) throws -> Int {
    var n = 0
    try withText(secondary) { wanted in
      let wanted = wanted.bytes
      try scan { _, b in
        let text = LMDBRows.text(b, 5)
        if LMDBRows.hours(b) > hoursOver, text.count == wanted.count, text.elementsEqual(wanted) { n += 1 }
        return true
      }
    }
    return n
  }

  func firstRows(_ count: Int, _ body: (Aircraft) -> Void) throws {
    var left = count
    try scan { id, b in
      body(LMDBRows.aircraft(Int(id), b))
      left -= 1
      return left > 0
    }
  }

  func tailNumbers(entries: [Int]) throws -> Answer {
    let (env, trees) = try opened()
    var answer = Answer()
    try env.read { t in
      for id in entries {
        let aircraft = try Self.value(t, trees.entry, UInt64(id)) { $0.loadUnaligned(as: UInt64.self) }
        guard let aircraft else { continue }
        let text = try Self.value(t, trees.aircraft, aircraft) { String(decoding: LMDBRows.text($0, 0), as: UTF8.self) }
        if let text { answer.add(UInt64(text.utf8.last ?? 0)) }
      }
    }
    return answer
  }

  func entries(tailNumbers: [String]) throws -> Answer {
    let (env, trees) = try opened()
    var answer = Answer()
    try env.read { t in
      for tailNumber in tailNumbers {
        guard let aircraft = try id(t, trees.tail, tailNumber) else { continue }
        try withWord(aircraft) { key in
          try ids(t, trees.entryAircraft, &key) { id in
            let entry = try Self.value(t, trees.entry, id) { LMDBRows.entry(Int(id), $0) }
            if let entry { answer.add(UInt64(entry.distance ?? 0)) }
          }
        }
      }
    }
    return answer
  }
}

/// A reading transaction that is renewed, and a buffer of a thread's own.
final class LMDBSession: PeerSession, @unchecked Sendable {
  private let environment: LMDBEnvironment
  private let trees: LMDBTrees
  private let codec = LMDBRows()
  private var reader: OpaquePointer?

  init(_ environment: LMDBEnvironment, _ trees: LMDBTrees) throws {
    self.environment = environment
    self.trees = trees
    reader = try environment.begin(readOnly: true)
    mdb_txn_reset(reader)
  }

  func insert(_ row: Aircraft) throws {
    try environment.write { t in try LMDBPeer.insert(row, t, trees, codec) }
  }

  func hours(id: Int) throws -> Double {
    guard let reader else { return 0 }
    try lmdb(mdb_txn_renew(reader))
    defer { mdb_txn_reset(reader) }
    return try LMDBPeer.value(reader, trees.aircraft, UInt64(id)) { LMDBRows.hours($0) } ?? 0
  }

  func close() {
    if let reader { mdb_txn_abort(reader) }
    reader = nil
    codec.free()
  }
}
