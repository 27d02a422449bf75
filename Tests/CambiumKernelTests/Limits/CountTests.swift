import CambiumTesting
import Testing

@testable import CambiumKernel

/// How much the kernel writes and reads: the figures that the design promises.
@Suite struct CountTests {
  @Test(arguments: [(Durability.full, UInt64(512)), (Durability.strict, UInt64(4096))])
  func aSmallCommitIsOneWriteAndOneSync(_ durability: Durability, _ most: UInt64) throws {
    let device = CountingDevice(MemoryDevice())
    var options = StoreOptions()
    options.durability = durability
    let store = try Store.create(on: device, environment: TestEnvironment(), options: options)
    var t = try store.beginWrite()
    let (table, first, second) = (try t.createTree(.integer), try t.createTree(.bytes), try t.createTree(.bytes))
    try t.commit()
    let row = [UInt8](repeating: 7, count: 150)
    var prepared = 0
    for key in UInt64(0)..<200 {
      device.reset()
      t = try store.beginWrite()
      try t.put(table, key, row)
      try t.put(first, Array("name of the row \(key)".utf8) + modelKey(key), [])
      try t.put(second, modelKey(key &* 977) + modelKey(key), [])
      try t.commit()
      let counts = device.counts
      // Now and then a log segment is prepared ahead: here one of a few units, as long as the store is small.
      if counts.writes == 2 || counts.writes == 3, counts.syncs == 1, counts.writtenBytes < 136 << 10 {
        prepared += 1
        continue
      }
      #expect(counts.writes == 1 && counts.syncs == 1, "commit \(key): \(counts)")
      let stored = durability == .strict ? (counts.writtenBytes + 4095) / 4096 * 4096 : counts.writtenBytes
      #expect(stored <= most, "commit \(key): \(counts)")
    }
    #expect(prepared <= (durability == .strict ? 70 : 6))
    try store.close()
  }

  @Test(arguments: [Durability.full, .strict, .normal])
  func anEmptyStoreIsSmall(_ durability: Durability) throws {
    let device = MemoryDevice()
    var options = StoreOptions()
    options.durability = durability
    let store = try Store.create(on: device, environment: TestEnvironment(), options: options)
    #expect(try device.size() <= 64 << 10)
    try store.close()
    #expect(try device.size() <= 64 << 10)
    let again = try Store.open(on: device, environment: TestEnvironment(seed: 2), options: options)
    try again.close()
    #expect(try device.size() <= 64 << 10)
  }

  /// A change of the file's size costs the sync behind it an entry in the file system's journal: that of a checkpoint,
  /// not that of a commit.
  @Test func theFirstCommitBehindACheckpointLeavesTheFileAsLongAsItIs() throws {
    for rows: UInt64 in [1000, 5000, 20_000, 40_000] {
      let device = MemoryDevice()
      let store = try Store.create(on: device, environment: TestEnvironment())
      var t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      for key in 0..<rows { try t.put(tree, key, [UInt8](repeating: 3, count: 200)) }
      try t.commit()
      try store.checkpoint()
      let before = try device.size()
      // And it is no longer than that takes: what is in it, what commits have to leave, which is little, and what they
      // change.
      let s = try store.statistics()
      let change: UInt64 = 9 << 14
      #expect(
        before <= s.segmentBytes + s.logSegmentBytes + s.reserveBytes + change, "\(rows) rows: \(before) bytes, \(s)")
      #expect(s.reserveBytes <= s.segmentBytes / 8 + 128 << 10, "\(rows) rows: \(s)")
      t = try store.beginWrite()
      try t.put(tree, rows, [UInt8](repeating: 4, count: 1000))
      try t.commit()
      #expect(try device.size() == before, "\(rows) rows")
      try store.close()
    }
  }

  @Test func overwritingEverythingAgainAndAgainStaysBounded() throws {
    let rows: UInt64 = isFullLength ? 20_000 : 4000
    let device = MemoryDevice(lock: ThreadLock())
    var options = StoreOptions()
    options.logBytes = 1 << 20
    options.deltaBytes = 4 << 20
    options.cacheBytes = 4 << 20
    let store = try Store.create(on: device, environment: TestEnvironment(), options: options)
    var random = SplitMix64(seed: CrashTests.seed)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for key in 0..<rows { try t.put(tree, key, random.bytes(200)) }
    try t.commit()
    var held: Snapshot? = try store.snapshot()
    var highest = 0.0
    var commits = 0
    for _ in 0..<10 {
      var keys = Array(0..<rows)
      keys.shuffle(using: &random)
      for start in stride(from: 0, to: keys.count, by: 10) {
        t = try store.beginWrite()
        for key in keys[start..<min(start + 10, keys.count)] { try t.put(tree, key, random.bytes(200)) }
        try t.commit()
        commits += 1
        if commits % 400 == 0 { held = try store.snapshot() }
        if commits % 50 == 0 {
          let s = try store.statistics()
          let bound = 2 * s.liveBytes + s.logSegmentBytes + s.reserveBytes + 16 << 20
          highest = max(highest, Double(s.fileBytes) / Double(2 * s.liveBytes + s.logSegmentBytes + s.reserveBytes))
          #expect(s.fileBytes <= bound, "after \(commits) commits: \(s)")
        }
      }
    }
    print(
      "overwriting \(rows) rows ten times: the file was at most \(highest) of twice the live bytes, log and reserve")
    #expect(try held?.count(tree) == rows)
    #expect(try store.check().problems.isEmpty)
    // Among the pages of many checkpoints lie directories, which are longer than pages.
    held = nil
    try store.compact()
    let s = try store.statistics()
    let dead = Double(s.fileBytes - s.liveBytes - s.logSegmentBytes) / Double(s.fileBytes)
    print("compacted, it has \(s.fileBytes) bytes, \(s.liveBytes) live, \(dead * 100) % dead")
    #expect(dead < 0.05)
    #expect(try store.snapshot().count(tree) == rows)
  }

  @Test func compactionLeavesLittleDead() throws {
    let rows: UInt64 = isFullLength ? 60_000 : 45_000
    let device = MemoryDevice()
    var options = StoreOptions()
    options.cacheBytes = 4 << 20
    let store = try Store.create(on: device, environment: TestEnvironment(), options: options)
    var random = SplitMix64(seed: CrashTests.seed)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    let names = try t.createTree(.bytes)
    for key in 0..<rows {
      try t.put(tree, key, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 300))
      try t.put(names, Array("row \(key &* 7919 % rows)".utf8), [])
    }
    for key in 0..<UInt64(10) { try t.put(tree, rows + key, random.bytes(200_000)) }
    try t.commit()
    t = try store.beginWrite()
    for key in 0..<rows where random.oneIn(3) { try t.delete(tree, key) }
    for key in 0..<UInt64(5) { try t.delete(tree, rows + key * 2) }
    try t.commit()
    try store.checkpoint()
    var size = try store.statistics().fileBytes
    var grew: [UInt64] = []
    try store.compact { progress in
      if progress.fileBytes > size { grew.append(progress.fileBytes) }
      size = progress.fileBytes
      return true
    }
    #expect(grew.isEmpty)
    let s = try store.statistics()
    #expect(try device.size() == s.fileBytes)
    #expect(s.liveBytes >= 8 << 20)
    let dead = Double(s.fileBytes - s.liveBytes - s.logSegmentBytes) / Double(s.fileBytes)
    print("compaction left \(s.fileBytes) bytes, \(s.liveBytes) live, \(dead * 100) % dead")
    #expect(dead < 0.05, "\(s)")
    #expect(try store.check().problems.isEmpty)
  }

  /// With many trees the directory is longer than a page, and parts of it lie among the pages of each checkpoint.
  @Test func segmentsThatHoldDirectoriesAreEmptied() throws {
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment())
    var random = SplitMix64(seed: CrashTests.seed)
    var t = try store.beginWrite()
    let trees = try (0..<150).map { _ in try t.createTree(.integer) }
    try t.commit()
    for _ in 0..<30 {
      t = try store.beginWrite()
      for tree in trees {
        for _ in 0..<4 { try t.put(tree, UInt64(random.below(50)), random.bytes(200)) }
      }
      try t.commit()
      try store.checkpoint()
    }
    try store.compact()
    let s = try store.statistics()
    let dead = Double(s.fileBytes - s.liveBytes - s.logSegmentBytes) / Double(s.fileBytes)
    print("150 trees, compacted: \(s.fileBytes) bytes, \(s.liveBytes) live, \(dead * 100) % dead")
    #expect(dead < 0.05)
    #expect(try store.check().problems.isEmpty)
  }

  /// A third of what lies in segments is dead, here and there; and either nothing is free but what is kept for the next
  /// checkpoint, so that there is hardly room to move anything into, or some is, after many checkpoints. For the former
  /// the device is full whenever a checkpoint would make room for the commits to come.
  @Test(arguments: [false, true]) func aFileOfPartlyDeadSegmentsIsCompacted(isFull: Bool) throws {
    let device = FillingDevice(MemoryDevice())
    let store = try Store.create(on: device, environment: TestEnvironment())
    let rows: UInt64 = 20_000
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for key in 0..<rows { try t.put(tree, key, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 200)) }
    try t.commit()
    try store.checkpoint()
    // Single leaves here and there, so that each segment loses some.
    t = try store.beginWrite()
    for key in 0..<rows where key % 80 < 20 { try t.delete(tree, key) }
    try t.commit()
    try store.checkpoint()
    while try store.statistics().fileBytes <= 12 << 20 {
      let s = try store.statistics()
      if isFull, s.freeBytes <= s.reserveBytes { break }
      // What is free becomes part of the store.
      t = try store.beginWrite()
      try t.put(tree, rows + UInt64(try t.count(tree)), [UInt8](repeating: 9, count: 6000))
      try t.commit()
      if isFull { device.fillUp() }
      try store.checkpoint()
      device.makeRoom()
    }
    let before = try store.statistics()
    #expect((before.freeBytes <= before.reserveBytes) == isFull, "\(before)")
    #expect(before.liveBytes * 10 < before.segmentBytes * 7, "\(before)")
    try store.compact()
    let s = try store.statistics()
    #expect(s.fileBytes <= before.fileBytes)
    let dead = Double(s.fileBytes - s.liveBytes - s.logSegmentBytes) / Double(s.fileBytes)
    print(
      "a \(isFull ? "full" : "grown") file: \(before.fileBytes) bytes, \(before.freeBytes) free, \(before.liveBytes) live;",
      terminator: " ")
    print("compacted \(s.fileBytes), \(s.liveBytes) live, \(dead * 100) % dead")
    #expect(dead < 0.05, "\(s)")
    #expect(try store.check().problems.isEmpty)
  }

  @Test func openingReadsTheLogAndLittleElse() throws {
    let rows: UInt64 = isFullLength ? 250_000 : 30_000
    let memory = MemoryDevice()
    var options = StoreOptions()
    options.logBytes = 1 << 20
    options.deltaBytes = 8 << 20
    options.cacheBytes = 4 << 20
    let store = try Store.create(on: memory, environment: TestEnvironment(), options: options)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    let row = [UInt8](repeating: 5, count: 280)
    for key in 0..<rows { try t.put(tree, key, row) }
    try t.commit()
    for key in UInt64(0)..<3000 {
      t = try store.beginWrite()
      try t.put(tree, key &* 7919 % rows, row)
      try t.commit()
    }
    let s = try store.statistics()
    // Left without closing.
    let device = CountingDevice(memory)
    let again = try Store.open(on: device, environment: TestEnvironment(seed: 3), options: options)
    let most = s.logSegmentBytes + 128 << 10 + UInt64(s.segments) * 48
    print("opening a store of \(s.fileBytes) bytes read \(device.counts.readBytes), log \(s.logSegmentBytes)")
    #expect(device.counts.readBytes <= most, "\(device.counts) of \(most)")
    #expect(try again.snapshot().count(tree) == rows)
    try again.close()
    device.reset()
    _ = try Store.open(on: device, environment: TestEnvironment(seed: 4), options: options)
    #expect(device.counts.readBytes <= 128 << 10 + UInt64(s.segments) * 48 + s.logSegmentBytes, "\(device.counts)")
  }
}
