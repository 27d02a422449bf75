import CambiumTesting
import Testing

@testable import CambiumKernel

/// The table of start-up cases in Specs, row by row: what an opening finds, and what it makes of it.
@Suite struct StartUpCaseTests {
  static let tree = TreeID(rawValue: 16)

  /// A store of 30 commits, one row each, the last 20 of them in the log; closed or not.
  static func image(closed: Bool, durability: Durability = .full) throws -> [UInt8] {
    let device = MemoryDevice()
    var options = StoreOptions()
    options.durability = durability
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 11), options: options)
    var t = try store.beginWrite()
    _ = try t.createTree(.integer)
    try t.commit()
    for i in 1..<30 {
      t = try store.beginWrite()
      try t.put(tree, UInt64(i), Array(repeating: UInt8(i), count: 100))
      try t.commit()
      if i == 9 { try store.checkpoint() }
    }
    if closed { try store.close() }
    return device.contents()
  }

  /// How many rows the store of an image has; every one is looked at.
  static func rows(_ image: [UInt8], readOnly: Bool = false) throws -> Int {
    var options = StoreOptions()
    options.isReadOnly = readOnly
    let store = try Store.open(
      on: MemoryDevice(copying: image), environment: TestEnvironment(seed: 12), options: options)
    let view = try store.snapshot()
    let n = Int(try view.count(tree))
    for i in 1...n { #expect(try view.value(tree, UInt64(i)) == Array(repeating: UInt8(i), count: 100)) }
    #expect(try store.check().problems.isEmpty)
    return n
  }

  static func place(_ image: [UInt8]) -> StorePlace? {
    do {
      _ = try rows(image)
      return nil
    } catch StoreError.corrupt(let place, _, _) {
      return place
    } catch {
      Issue.record("\(error)")
      return nil
    }
  }

  /// The newest superblock of an image, and the records of its log, whose bytes are not to be looked at.
  static func log(_ image: [UInt8]) throws -> (superblock: Superblock, outcome: ScannedLog) {
    var options = StoreOptions()
    options.isReadOnly = true
    let device = MemoryDevice(copying: image)
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 13), options: options)
    return (store.superblock, try ScannedLog(LogScanner(device: device, superblock: store.superblock)))
  }

  static func flip(_ image: inout [UInt8], _ offset: UInt64) { image[Int(offset)] ^= 0x5A }

  @Test func withoutTheMagicItIsNoStore() throws {
    for image in [[], [1, 2, 3], [UInt8](repeating: 0, count: 70_000), Array("# Not a store".utf8)] {
      #expect(throws: StoreError.notAStore) { try Self.rows(image) }
    }
  }

  @Test func withoutAWholeCopyTheSuperblockIsDamaged() throws {
    var image = try Self.image(closed: true)
    for copy in Superblock.offsets { Self.flip(&image, copy + 100) }
    #expect(Self.place(image) == .superblock)
  }

  @Test func unknownFeaturesAreRefused() throws {
    let original = try Self.image(closed: true)
    var superblock = try Self.log(original).superblock
    superblock.featuresIncompatible = 1 << 40
    var image = original
    for copy in 0..<2 {
      let offset = Superblock.offset(slot: superblock.slot, copy: copy)
      image.replaceSubrange(Int(offset)..<Int(offset) + Superblock.copySize, with: superblock.encoded(at: offset))
    }
    #expect(throws: StoreError.unsupportedFormat(version: Superblock.formatVersion, features: 1 << 40)) {
      try Self.rows(image)
    }
    // One that only a writer has to know.
    superblock.featuresIncompatible = 0
    superblock.featuresReadOnly = 4
    for copy in 0..<2 {
      let offset = Superblock.offset(slot: superblock.slot, copy: copy)
      image.replaceSubrange(Int(offset)..<Int(offset) + Superblock.copySize, with: superblock.encoded(at: offset))
    }
    #expect(throws: StoreError.unsupportedFormat(version: Superblock.formatVersion, features: 4)) {
      try Self.rows(image)
    }
    #expect(try Self.rows(image, readOnly: true) == 29)
  }

  @Test(arguments: [true, false], [0, 1]) func oneWholeCopyIsEnough(_ closed: Bool, _ copy: Int) throws {
    var image = try Self.image(closed: closed)
    let slot = try Self.log(image).superblock.slot
    Self.flip(&image, Superblock.offset(slot: slot, copy: copy) + 200)
    #expect(try Self.rows(image) == 29)
  }

  @Test func aTornSlotLeavesTheOlderOne() throws {
    // The clean mark is torn: what it marks is still there, and so is the publication before it.
    var image = try Self.image(closed: true)
    let slot = try Self.log(image).superblock.slot
    for copy in 0..<2 { Self.flip(&image, Superblock.offset(slot: slot, copy: copy) + 300) }
    #expect(try Self.rows(image) == 29)
  }

  @Test func theOlderSlotDoesNotMatter() throws {
    var image = try Self.image(closed: false)
    let slot = try Self.log(image).superblock.slot ^ 1
    for copy in 0..<2 { Self.flip(&image, Superblock.offset(slot: slot, copy: copy) + 300) }
    #expect(try Self.rows(image) == 29)
  }

  @Test func aLostNewestSuperblockIsNotReplacedByAnOlderOne() throws {
    // Records behind the checkpoint say that its publication was durable.
    var image = try Self.image(closed: false)
    let slot = try Self.log(image).superblock.slot
    for copy in 0..<2 { Self.flip(&image, Superblock.offset(slot: slot, copy: copy) + 300) }
    let place = Self.place(image)
    #expect(place == .superblock || place == .log)
  }

  @Test func aSessionWhoseSuperblocksAreLostIsFoundBehindAClosedLog() throws {
    // Its first record lies at the end of the log that was closed; a damaged one there does not hide the next.
    for damaged in 0..<2 {
      let device = MemoryDevice(copying: try Self.image(closed: true))
      let store = try Store.open(on: device, environment: TestEnvironment(seed: 14))
      for i in 30..<33 {
        let t = try store.beginWrite()
        try t.put(Self.tree, UInt64(i), Array(repeating: UInt8(i), count: 100))
        try t.commit()
      }
      var image = device.contents()
      let (superblock, outcome) = try Self.log(image)
      #expect(!superblock.isClean && outcome.records.count == 3)
      for copy in 0..<2 { Self.flip(&image, Superblock.offset(slot: superblock.slot, copy: copy) + 300) }
      for record in outcome.records.prefix(damaged) { Self.flip(&image, record.address + 20) }
      #expect(Self.place(image) == .superblock)
    }
  }

  /// Nobody misses the header of an empty log as long as the store is closed. Where a session begins and a crash ends
  /// it before its first record, the header counts, because without it room may be used for something else.
  @Test func aSessionBeginsBehindARottenHeader() throws {
    var image = try Self.image(closed: true)
    Self.flip(&image, try Self.log(image).outcome.endSegment.address + 20)
    let disk = SimulatedDisk(image)
    let store = try Store.open(on: disk, environment: TestEnvironment(seed: 15))
    let opened = disk.operationCount
    let t = try store.beginWrite()
    try t.put(Self.tree, 30, Array(repeating: 30, count: 100))
    try t.commit()
    var withoutRecord = 0
    for point in opened...disk.operationCount {
      for image in disk.crashImages(at: point, limit: 40, seed: 3) {
        let found = try Self.log(image.bytes)
        if found.superblock.isClean { continue }
        if found.outcome.records.isEmpty { withoutRecord += 1 }
        let rows = try Self.rows(image.bytes)
        #expect(rows == 29 || rows == 30, "\(image)")
      }
    }
    #expect(withoutRecord > 0)
  }

  /// A closed store of many commits, whose log ends in the middle of a segment, and how many rows it has.
  static func closedInASegment() throws -> (device: MemoryDevice, rows: UInt64) {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 16))
    var t = try store.beginWrite()
    _ = try t.createTree(.integer)
    try t.commit()
    var count: UInt64 = 0
    while count < 1_000
      || store.log.position - store.log.present.address < 150_000
      || store.log.present.end - store.log.position < 100_000
    {
      count += 1
      t = try store.beginWrite()
      try t.put(tree, count, Array(repeating: 7, count: 100))
      try t.commit()
    }
    try store.close()
    return (device, count)
  }

  @Test func aLongDamagedRecordDoesNotHideTheNext() throws {
    let (device, rows) = try Self.closedInASegment()
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 14))
    // Longer than what is looked through behind the end of a closed log, and then a short one.
    for size in [120, 1] {
      let t = try store.beginWrite()
      for i in 1...UInt64(size) { try t.put(Self.tree, rows + i, Array(repeating: UInt8(size), count: 150)) }
      try t.commit()
    }
    var image = device.contents()
    let (superblock, outcome) = try Self.log(image)
    let first = try #require(outcome.records.first)
    #expect(outcome.records.count == 2 && first.header.length > SegmentTable.unitSize)
    for copy in 0..<2 { Self.flip(&image, Superblock.offset(slot: superblock.slot, copy: copy) + 300) }
    Self.flip(&image, first.address + 20)
    var place: StorePlace?
    do {
      _ = try Store.open(on: MemoryDevice(copying: image), environment: TestEnvironment(seed: 15))
    } catch StoreError.corrupt(let found, _, _) { place = found }
    #expect(place == .superblock)
  }

  @Test func aClosedLogIsReadOnlyWhereItGoesOn() throws {
    let (device, rows) = try Self.closedInASegment()
    let (superblock, outcome) = try Self.log(device.contents())
    let piece = try #require(superblock.pieces.first)
    let segment = piece.segment
    #expect(superblock.isClean && piece.start == outcome.end)
    // Much of the segment lies before the place, and much behind it.
    let (before, behind) = (piece.start - segment.address, segment.end - piece.start)
    #expect(before > 100_000 && behind > 50_000, "\(before) and \(behind)")
    let counting = CountingDevice(MemoryDevice(copying: device.contents()))
    let opened = try Store.open(on: counting, environment: TestEnvironment(seed: 17))
    #expect(counting.counts.readBytes < 100_000)
    #expect(try opened.snapshot().count(Self.tree) == rows)
  }

  @Test func aTornLastRecordIsDropped() throws {
    let whole = try Self.image(closed: false)
    let last = try #require(try Self.log(whole).outcome.records.last)
    for offset in stride(from: UInt64(0), to: UInt64(last.header.length), by: 7) {
      var image = whole
      Self.flip(&image, last.address + offset)
      #expect(try Self.rows(image) == 28)
    }
  }

  @Test func aDamagedRecordThatWasDurableIsReported() throws {
    let whole = try Self.image(closed: false)
    let records = try Self.log(whole).outcome.records
    #expect(records.count == 20)
    for record in records.dropLast() {
      var image = whole
      Self.flip(&image, record.address + 20)
      #expect(Self.place(image) == .log)
    }
  }

  @Test(arguments: [true, false]) func aDamagedLogSegmentHeaderIsReportedByCheckAlone(_ closed: Bool) throws {
    var image = try Self.image(closed: closed)
    let piece = try #require(try Self.log(image).superblock.pieces.first)
    Self.flip(&image, piece.segment.address + 20)
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(
      on: MemoryDevice(copying: image), environment: TestEnvironment(seed: 12), options: options)
    #expect(try store.snapshot().count(Self.tree) == 29)
    #expect(try store.check().problems.map { $0.offset } == [piece.segment.address])
  }

  @Test func anEmptyLogWithoutItsHeaderIsReported() throws {
    let device = MemoryDevice(copying: try Self.image(closed: false))
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 14))
    try store.checkpoint()
    var image = device.contents()
    #expect(try Self.rows(image) == 29)
    Self.flip(&image, store.log.present.address + 20)
    #expect(Self.place(image) == .log)
  }

  /// The header of the segment behind the log is written anew with its first record.
  @Test func aPreparedSegmentNeedsNoHeader() throws {
    var image = try Self.image(closed: true)
    let next = try #require(try Self.log(image).superblock.pieces.first?.next)
    let start = Int(next.address)
    image.replaceSubrange(start..<start + 4096, with: [UInt8](repeating: 0x77, count: 4096))
    let device = MemoryDevice(copying: image)
    let store = try Store.open(on: device, environment: TestEnvironment(seed: 14))
    #expect(try store.check().problems.isEmpty)
    var key: UInt64 = 30
    while key < 250, store.log.present != next {
      let t = try store.beginWrite()
      try t.put(Self.tree, key, Array(repeating: UInt8(key), count: 100))
      try t.commit()
      key += 1
    }
    #expect(store.log.present == next)
    #expect(try store.check().problems.isEmpty)
    #expect(try Self.rows(device.contents()) == Int(key) - 1)
  }

  @Test func theFormerFormatIsRefusedByItsNumber() throws {
    for name in ["closed-1", "log-1"] {
      let file = try GoldenStoreTests.bytes(name)
      #expect(throws: StoreError.unsupportedFormat(version: 1, features: 0)) { try Self.rows(file) }
      // One of the four copies is enough to say so. Without any, the file is damaged.
      var damaged = file
      for copy in 0..<3 { Self.flip(&damaged, UInt64(copy) * 4096 + 100) }
      #expect(throws: StoreError.unsupportedFormat(version: 1, features: 0)) { try Self.rows(damaged) }
      Self.flip(&damaged, 3 * 4096 + 100)
      #expect(Self.place(damaged) == .superblock)
    }
  }

  @Test func aDamagedDirectoryIsReported() throws {
    var image = try Self.image(closed: true)
    let superblock = try Self.log(image).superblock
    Self.flip(&image, superblock.directory.address + 40)
    #expect(Self.place(image) == .directory)
  }

  @Test func aFileCutShortIsReported() throws {
    let image = try Self.image(closed: true)
    let superblock = try Self.log(image).superblock
    let place = Self.place(Array(image[..<Int(superblock.directory.address)]))
    #expect(place == .directory || place == .segment)
  }

  @Test func malformedOperationsAreReported() throws {
    // A record that is whole, chained and sealed, but whose first operation is none.
    let whole = try Self.image(closed: false)
    let (superblock, outcome) = try Self.log(whole)
    let last = try #require(outcome.records.last)
    var image = whole
    let start = Int(last.address)
    image[start + LogRecordHeader.size] = 0x0F
    let sum = image.withUnsafeBytes { b in
      LogRecordHeader.sum(
        b.start + start, length: last.header.length, seed: superblock.logSeed, address: last.address)
    }
    for i in 0..<8 { image[start + 8 + i] = UInt8(truncatingIfNeeded: sum >> UInt64(8 * i)) }
    #expect(Self.place(image) == .log)
  }

  @Test func identifiersThatTheLogHasTakenAreNotGivenAgain() throws {
    let device = MemoryDevice(copying: try Self.image(closed: true))
    let first = try Store.open(on: device, environment: TestEnvironment(seed: 14))
    var t = try first.beginWrite()
    let made = try t.createTree(.bytes)
    try t.commit()
    let second = try Store.open(
      on: MemoryDevice(copying: device.contents()), environment: TestEnvironment(seed: 15))
    t = try second.beginWrite()
    #expect(try t.createTree(.bytes).rawValue > made.rawValue)
    try t.commit()
  }

  /// A recovery copies the records that nothing proves, and frees the log that held them.
  @Test func aRecoveryFreesTheLogThatItHasCopied() throws {
    var options = StoreOptions()
    options.durability = .normal
    let device = MemoryDevice(copying: try Self.image(closed: true))
    let first = try Store.open(on: device, environment: TestEnvironment(seed: 14), options: options)
    for key in UInt64(30)..<200 {
      let t = try first.beginWrite()
      try t.put(Self.tree, key, Array(repeating: UInt8(key), count: 100))
      try t.commit()
    }
    let second = try Store.open(
      on: MemoryDevice(copying: device.contents()), environment: TestEnvironment(seed: 15), options: options)
    #expect(try second.snapshot().count(Self.tree) == 199)
    let logs = second.space.table.segments.filter { $0.kind == .log }.map { $0.start }
    #expect(Set(logs) == Set(second.log.segments))
    // Room that held the old log may be used again, but for that of its records.
    #expect(Set(logs).isDisjoint(with: first.log.segments.dropLast()))
  }

  @Test(arguments: [true, false]) func readingOnlyWritesNothing(_ closed: Bool) throws {
    let counting = CountingDevice(MemoryDevice(copying: try Self.image(closed: closed)))
    var options = StoreOptions()
    options.isReadOnly = true
    let store = try Store.open(on: counting, environment: TestEnvironment(seed: 15), options: options)
    #expect(try store.snapshot().count(Self.tree) == 29)
    #expect(throws: StoreError.readOnly) { try store.beginWrite() }
    try store.close()
    #expect(counting.counts.writes == 0 && counting.counts.syncs == 0 && counting.counts.resizes == 0)
  }
}
