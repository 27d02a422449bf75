import CambiumTesting

@testable import CambiumKernel

extension WrongStore {
  /// Logs whose headers, records or pieces are not what they should be.
  static func logs() throws -> [WrongStore] {
    let whole = try StartUpCaseTests.image(closed: false)
    let right = StoreUse.read.verdict(whole)
    let outcome = try Forge(whole).outcome
    guard let last = outcome.records.last else { throw Forge.Missing() }
    // The newest record harmed: it was not proved, so the log ends before it.
    var torn = whole
    torn[Int(last.address) + 30] ^= 0xFF
    let shorter = StoreUse.read.verdict(torn)
    var list = [WrongStore("a right store with a log", .read, right, whole)]

    // The header of a log segment is not needed; what is none must not be believed.
    let start = last.segment.start
    func header(_ name: String, _ change: (UnsafeMutableRawPointer) -> Void) throws {
      var forge = try Forge(whole)
      forge.segmentHeader(start) { p in
        p.put(UInt64(1000), 32)
        change(p)
      }
      list.append(WrongStore("\(name), that names a newer publication", .read, right, forge.bytes))
    }
    try header("a log segment with another magic") { $0.put(UInt32(7), 0) }
    try header("a segment of pages as log") { $0.put(Segment.Kind.pages.rawValue, 52) }
    var rotten = whole
    rotten[Int(last.segment.address) + 36] ^= 1
    list.append(WrongStore("a log segment with rot in its header", .read, right, rotten))
    list.append(WrongStore("a log segment with rot in its header", .check, .refused(.log), rotten))
    list.append(WrongStore("an empty log without a header", .read, .refused(.log), try emptyLogWithoutHeader()))

    func record(_ name: String, _ change: (UnsafeMutableRawPointer) -> Void) throws {
      var forge = try Forge(whole)
      try forge.lastRecord(change)
      list.append(WrongStore(name, .read, shorter, forge.bytes))
    }
    try record("a record with another magic") { $0.put(UInt32(7), 0) }
    try record("a record shorter than its head") { $0.put(UInt32(32), 4) }
    try record("a record longer than its segment") { $0.put(UInt32(0xFFFF_FFF0), 4) }
    try record("a record of another session") { $0.put(UInt64(77), 32) }
    try record("a record with a sequence too high") { $0.put(last.header.sequence + 1, 24) }
    try record("a record that names another before it") { $0.put(UInt64(77), 16) }
    try record("a record of another session that proves too much") {
      $0.put(UInt64(77), 32)
      $0.put(UInt64(1000), 40)
    }
    try record("a record from before that proves too much") {
      $0.put(UInt64(5), 24)
      $0.put(UInt64(1000), 40)
    }

    // Two segments that name each other, behind the end.
    var forge = try Forge(whole)
    let next = outcome.next
    try forge.record(at: Int(next.firstRecord(strict: false))) {
      $0.put(UInt64(900), 24)
      $0.put(last.segment.start, 56)
      $0.put(UInt16(last.segment.units), 60)
    }
    list.append(WrongStore("segments that name each other", .read, right, forge.bytes))

    forge = try Forge(whole)
    forge.superblock { $0.durableSequence = 1000 }
    list.append(WrongStore("a record that was durable is lost", .read, .refused(.log), forge.bytes))
    forge = try Forge(whole)
    forge.superblock { $0.isClean = true }
    list.append(WrongStore("a closed log with records", .read, .refused(.log), forge.bytes))
    // The newest superblock lost; what is left of the older one's log names its publication.
    let lost = try lostSuperblock()
    list.append(WrongStore("the newest superblock is lost", .read, .refused(.superblock), lost))
    return try list + pieces()
  }

  /// A store that was not closed, right behind a checkpoint, whose log segment has lost its header.
  private static func emptyLogWithoutHeader() throws -> [UInt8] {
    let device = MemoryDevice(copying: try StartUpCaseTests.image(closed: false))
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 23))
    try store.checkpoint()
    var bytes = device.contents()
    for i in 0..<SegmentHeader.size { bytes[Int(store.log.present.address) + i] = 0 }
    return bytes
  }

  /// Both copies of the newest superblock lost, while the older one's log is all there, and a record says more.
  private static func lostSuperblock() throws -> [UInt8] {
    var forge = try Forge(try StartUpCaseTests.image(closed: false))
    var older = forge.superblock
    older.publication -= 1
    let newest = forge.superblock.slot
    let publication = forge.superblock.publication
    forge.write(older, slot: older.slot)
    try forge.lastRecord { $0.put(publication, 48) }
    var bytes = forge.bytes
    for copy in 0..<2 { bytes[Int(Superblock.offset(slot: newest, copy: copy)) + 9] ^= 1 }
    return bytes
  }

  private static func pieces() throws -> [WrongStore] {
    let closed = try StartUpCaseTests.image(closed: true)
    let two = try twoPieces()
    var list = [WrongStore("a right store with two pieces of log", .read, StoreUse.read.verdict(two), two)]
    func change(
      _ name: String, _ whole: [UInt8], _ place: StorePlace, _ change: (inout Superblock) -> Void
    ) throws {
      var forge = try Forge(whole)
      forge.superblock(change)
      list.append(WrongStore(name, .open, .refused(place), forge.bytes))
    }
    try change("a piece that does not follow by sequence", two, .superblock) { $0.pieces[1].firstSequence += 1 }
    try change("a piece that does not follow by checksum", two, .superblock) { $0.pieces[1].checksumBefore ^= 1 }
    try change("a piece that does not reach its end", two, .log) { $0.pieces[0].end += 16 }
    try change("a piece at half a place", closed, .superblock) { $0.pieces[0].start += 8 }
    try change("a piece behind its segment", closed, .superblock) { $0.pieces[0].start += 1 << 30 }
    try change("a piece in the header of its segment", closed, .superblock) {
      $0.pieces[0].start = $0.pieces[0].segment.address + 16
    }
    try change("a piece whose segment has no units", closed, .superblock) { $0.pieces[0].segment.units = 0 }
    try change("a piece whose segment has too many units", closed, .superblock) { $0.pieces[0].segment.units = 65 }
    try change("a piece whose next segment covers the superblock", closed, .superblock) {
      $0.pieces[0].next = LogSegment(start: 0, units: 1)
    }
    try change("a piece whose next segment ends behind the last unit", closed, .superblock) {
      $0.pieces[0].next = LogSegment(start: .max, units: 2)
    }
    try change("a piece whose segment reaches into others", closed, .log) { $0.pieces[0].segment.units = 64 }
    try change("a log that does not follow the directory", closed, .log) { $0.pieces[0].firstSequence += 1 }
    return list
  }

  /// What is left of a store that was killed, recovered, and killed again.
  private static func twoPieces() throws -> [UInt8] {
    let device = MemoryDevice(copying: try StartUpCaseTests.image(closed: false))
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 21))
    guard store.superblock.pieces.count == 2 else { throw Forge.Missing() }
    for key in UInt64(50)..<53 {
      let t = try store.beginWrite()
      try t.put(StartUpCaseTests.tree, key, [1, 2, 3])
      try t.commit()
    }
    return device.contents()
  }

  /// Records whose operations are not what they should be.
  static func operations() throws -> [WrongStore] {
    let damage = try DamageStore(isClosed: false)
    let forge = try Forge(damage.bytes)
    var list: [WrongStore] = []
    func operation(_ name: String, _ bytes: [UInt8], length: Int? = nil) throws {
      var forge = forge
      try forge.lastRecord(operations: bytes) { p in
        if let length { p.put(UInt32(LogRecordHeader.size + length), 4) }
      }
      list.append(WrongStore(name, .open, .refused(.log), forge.bytes))
    }
    func varint(_ value: UInt64) -> [UInt8] {
      var w = ByteWriter()
      w.varint(value)
      return w.bytes
    }
    func segment(_ name: String, _ start: UInt32, _ units: UInt32, _ used: UInt32, _ added: UInt32) throws {
      try operation(
        "a segment of values that \(name)",
        [0x07] + [start, units, used, added].flatMap { varint(UInt64($0)) })
    }
    try operation("a number of more than 64 bits", [1, 16] + [UInt8](repeating: 0xFF, count: 9) + [0x7F, 1, 7])
    try operation("a key that shares too much", [1, 17, 9, 1, 65, 1, 7])
    try operation(
      "a key that is too long", [1, 17, 0] + varint(2000) + [UInt8](repeating: 65, count: 2000) + [1, 7])
    try operation("a short reference to a large value", [3, 16, 5, 3, 1, 2, 3])
    try operation("a tree that is made again", [4, 16, 2])
    try operation("the kernel's own tree dropped", [5, 1])
    try operation("the last identifier of values", [8] + varint(UInt64.max))
    try operation("a value that is cut off", [1, 16, 5, 60, 7])
    try operation("an operation that is cut off", [2, 16, 5, 0, 0, 0], length: 2)
    let segments = forge.directory.segments
    guard let values = segments.first(where: { $0.kind == .values && $0.live > 0 }),
      let pages = segments.first(where: { $0.kind == .pages })
    else { throw Forge.Missing() }
    try segment("is one of pages", pages.start, pages.units, pages.used, 0)
    try segment("shrinks", values.start, values.units, values.used - 16, 0)
    try segment("is used beyond its end", values.start, values.units, UInt32(values.length) + 16, 0)
    try segment("holds too much", values.start, values.units, values.used, .max)
    try segment("has no units", 5000, 0, 0, 0)
    try segment("has too many units", 5000, 65, 64, 0)
    try segment("begins at the superblock", 0, 1, 64, 0)
    try segment("is new, and used beyond its end", 5000, 1, 16400, 0)
    try segment("holds more than is used", 5000, 1, 64, 65)
    try segment("ends behind the last unit", .max, 2, 64, 0)
    try operation(
      "a segment of values that reaches into another",
      [0x07] + varint(5000) + [4, 64, 0, 0x07] + varint(5001) + [1, 64, 0])
    return list
  }
}
