import CambiumKernel
import CambiumTesting
import Synchronization
import Testing

@Suite struct SimulatedDiskTests {
  /// All images at a point, or those up to a limit.
  private func images(
    _ disk: SimulatedDisk, at point: Int? = nil, limit: Int = 200, _ tearing: Tearing = .none
  ) -> Set<[UInt8]> {
    let made = Array(disk.crashImages(at: point ?? disk.operationCount, limit: limit, tearing: tearing))
    let distinct = Set(made.map(\.bytes))
    #expect(distinct.count == made.count)
    #expect(Set(made.map(\.contentHash)).count == made.count)
    return distinct
  }

  @Test func keepsWhatASyncCovers() throws {
    let disk = SimulatedDisk([0, 0, 0, 0])
    try disk.write([1], at: 0)
    try disk.write([2], at: 1)
    #expect(images(disk, at: 0) == [[0, 0, 0, 0]])
    #expect(images(disk, at: 1) == [[0, 0, 0, 0], [1, 0, 0, 0]])
    #expect(images(disk, at: 2) == [[0, 0, 0, 0], [1, 0, 0, 0], [0, 2, 0, 0], [1, 2, 0, 0]])
    try disk.sync()
    #expect(images(disk) == [[1, 2, 0, 0]])
    #expect(disk.volatileOperationCount(at: 2) == 2)
    #expect(disk.volatileOperationCount(at: 3) == 0)
    try disk.write([3], at: 1)
    #expect(images(disk) == [[1, 2, 0, 0], [1, 3, 0, 0]])
    // Earlier points are still what they were.
    #expect(images(disk, at: 2).count == 4)
    #expect(disk.contents == [1, 3, 0, 0])
  }

  @Test func doesNotCoverWhatIsWrittenDuringASync() throws {
    let disk = SimulatedDisk([0, 0])
    try disk.write([1], at: 0)
    disk.duringSync { try? disk.write([2], at: 1) }
    try disk.sync()
    disk.duringSync(nil)
    #expect(disk.operationCount == 3)
    #expect(images(disk) == [[1, 0], [1, 2]])
    // Before it returns, a sync promises nothing.
    #expect(images(disk, at: 2).count == 4)
    try disk.sync()
    #expect(images(disk) == [[1, 2]])
  }

  @Test func mayLetAnEarlierWriteWin() throws {
    let disk = SimulatedDisk([0, 0])
    try disk.write([1, 1], at: 0)
    try disk.write([2], at: 0)
    #expect(images(disk) == [[0, 0], [1, 1], [2, 0], [2, 1]])
    // But not over one that is durable.
    try disk.sync()
    #expect(images(disk) == [[2, 1]])
  }

  @Test func mayLoseLengthOrContent() throws {
    let disk = SimulatedDisk([9])
    try disk.write([1, 1], at: 1)
    #expect(images(disk) == [[9], [9, 0, 0], [9, 1, 1]])

    let resized = SimulatedDisk([9])
    try resized.resize(to: 3)
    try resized.write([1], at: 1)
    // A write that is there has its length.
    #expect(images(resized) == [[9], [9, 0, 0], [9, 1], [9, 1, 0]])
    try resized.sync()
    #expect(images(resized) == [[9, 1, 0]])

    let shrunk = SimulatedDisk([1, 2, 3])
    try shrunk.resize(to: 1)
    try shrunk.resize(to: 3)
    #expect(images(shrunk) == [[1, 2, 3], [1], [1, 0, 0]])
  }

  @Test func tearsAtAnyByteWithinTheRange() throws {
    let disk = SimulatedDisk([UInt8](repeating: 0, count: 8))
    try disk.write([1, 2, 3, 4], at: 2)
    let found = images(disk, limit: 1000, .byteRange)
    for image in found {
      #expect(image.count == 8)
      for (index, byte) in image.enumerated() {
        #expect(byte == 0 || (2..<6).contains(index) && byte == UInt8(index - 1), "\(image)")
      }
    }
    for cut in 0...4 {
      let prefix = (0..<4).map { $0 < cut ? UInt8($0 + 1) : 0 }
      let suffix = (0..<4).map { $0 < cut ? 0 : UInt8($0 + 1) }
      #expect(found.contains([0, 0] + prefix + [0, 0]))
      #expect(found.contains([0, 0] + suffix + [0, 0]))
    }
  }

  @Test func tearsWholeSectors() throws {
    let disk = SimulatedDisk([UInt8](repeating: 7, count: 2048))
    try disk.write([UInt8](repeating: 1, count: 600), at: 500)
    let found = images(disk, limit: 60, .sector(bytes: 512))
    var kinds: Set<[String]> = []
    for image in found {
      // Sector 0 holds 12 bytes of the write, sector 1 is covered, sector 2 holds 76.
      let parts: [(Range<Int>, Range<Int>)] = [
        (0..<512, 500..<512), (512..<1024, 512..<1024), (1024..<1536, 1024..<1100),
      ]
      kinds.insert(
        parts.map { sector, part in
          let old = sector.allSatisfy { image[$0] == 7 }
          let new = sector.allSatisfy { image[$0] == (part.contains($0) ? 1 : 7) }
          return old ? "old" : new ? "new" : "garbage"
        })
      #expect(image.suffix(512).allSatisfy { $0 == 7 })
    }
    #expect(Set(kinds.joined()) == ["old", "new", "garbage"])
    #expect(kinds.count > 8)
  }

  @Test func forgetsWritesThatAFailedSyncCovered() throws {
    let disk = SimulatedDisk([0, 0])
    try disk.write([1], at: 0)
    disk.failSyncs()
    #expect(thrown { () throws(StoreError) in try disk.sync() } == .device(operation: .sync, offset: 0, code: 5))
    // It reads back, and the next sync succeeds without it.
    #expect(disk.contents == [1, 0])
    try disk.write([2], at: 1)
    try disk.sync()
    #expect(images(disk) == [[0, 2], [1, 2]])
    // Written again, it is covered again; the write before does not win.
    try disk.write([3], at: 0)
    try disk.sync()
    #expect(images(disk) == [[3, 2]])
  }

  @Test func survivesAKillButRemembersWhatIsNotDurable() throws {
    let disk = SimulatedDisk([0, 0, 0])
    try disk.write([1], at: 0)
    try disk.sync()
    try disk.write([2], at: 1)
    try disk.write([3, 3], at: 1)
    let killed = disk.killed()
    #expect(killed.contents == [1, 3, 3])
    #expect(images(killed) == images(disk))
    try killed.write([4], at: 0)
    #expect(images(killed).contains([4, 0, 0]))
    #expect(images(killed).contains([1, 3, 3]))
    try killed.sync()
    #expect(images(killed) == [[4, 3, 3]])
    // The disk it came from is as it was.
    #expect(disk.contents == [1, 3, 3])

    let torn = disk.killed(at: 3, partialBytes: 1)
    #expect(torn.contents == [1, 3, 0])
    // Before the sync, nothing was durable, however it was later.
    let early = disk.killed(at: 1)
    #expect(images(early) == [[0, 0, 0], [1, 0, 0]])
    try early.sync()
    #expect(images(early) == [[1, 0, 0]])
  }

  @Test func remembersAFailedSyncThroughAKill() throws {
    let disk = SimulatedDisk([0])
    try disk.write([1], at: 0)
    disk.failSyncs()
    #expect(thrown { () throws(StoreError) in try disk.sync() } != nil)
    let killed = disk.killed()
    try killed.sync()
    #expect(killed.contents == [1])
    #expect(images(killed) == [[0], [1]])
    // Killed before the sync failed, the write is dirty still.
    let before = disk.killed(at: 1)
    try before.sync()
    #expect(images(before) == [[1]])
  }

  @Test func repeatsItselfForASeed() throws {
    let disk = SimulatedDisk([UInt8](repeating: 0, count: 5000))
    for index in 0..<12 { try disk.write([UInt8](repeating: UInt8(index + 1), count: 700), at: UInt64(index * 350)) }
    let first = disk.crashImages(at: 12, limit: 40, seed: 3).map(\.bytes)
    #expect(first.count == 40)
    #expect(disk.crashImages(at: 12, limit: 40, seed: 3).map(\.bytes) == first)
    #expect(disk.crashImages(at: 12, limit: 40, seed: 4).map(\.bytes) != first)
    #expect(first[0] == [UInt8](repeating: 0, count: 5000))
    #expect(first[1] == disk.contents)
  }

  /// Every byte of every image must be what the latest durable write left there, or what a later volatile one put
  /// there; zero, where a volatile write made the disk longer.
  @Test(arguments: UInt64(1)...12) func agreesWithAModelPerByte(seed: UInt64) throws {
    var random = SeededNumbers(seed: seed)
    let initial = (0..<300).map { _ in UInt8.random(in: 1...255, using: &random) }
    let disk = SimulatedDisk(initial)
    // Per operation: the range written, or nil for a sync; and whether that failed.
    var log: [(range: Range<Int>?, value: UInt8, failed: Bool)] = []
    for index in 0..<30 {
      if Int.random(in: 0..<5, using: &random) == 0 {
        let failed = Int.random(in: 0..<4, using: &random) == 0
        if failed { disk.failSyncs() }
        let error = thrown { () throws(StoreError) in try disk.sync() }
        #expect((error != nil) == failed)
        log.append((nil, 0, failed))
      } else {
        let start = Int.random(in: 0..<400, using: &random)
        let count = Int.random(in: 1..<150, using: &random)
        try disk.write([UInt8](repeating: UInt8(index + 1), count: count), at: UInt64(start))
        log.append((start..<start + count, UInt8(index + 1), false))
      }
    }
    for point in 0...log.count {
      var durable = [Bool](repeating: false, count: point)
      var dirty: [Int] = []
      for (index, entry) in log.prefix(point).enumerated() {
        if entry.range != nil {
          dirty.append(index)
        } else {
          if !entry.failed { for covered in dirty { durable[covered] = true } }
          dirty = []
        }
      }
      var allowed = [Set<UInt8>](repeating: [0], count: 600)
      for (index, byte) in initial.enumerated() { allowed[index] = [byte] }
      for (index, entry) in log.prefix(point).enumerated() {
        for position in entry.range ?? 0..<0 {
          if durable[index] { allowed[position] = [entry.value] } else { allowed[position].insert(entry.value) }
        }
      }
      for image in disk.crashImages(at: point, limit: 25, seed: seed) {
        let wrong = image.bytes.indices.first { !allowed[$0].contains(image.bytes[$0]) }
        #expect(wrong == nil, "seed \(seed): \(image)\n\(disk.story.joined(separator: "\n"))")
      }
    }
  }

  @Test func countsPointsOfALargerRun() throws {
    let disk = SimulatedDisk([UInt8](repeating: 0, count: 100_000))
    for index in 0..<60 {
      try disk.write([UInt8](repeating: UInt8(index + 1), count: 500), at: UInt64(index * 1500))
      if index % 3 == 2 { try disk.sync() }
    }
    var hashes: Set<UInt64> = []
    var contents: Set<[UInt8]> = []
    for point in 0...disk.operationCount {
      for image in disk.crashImages(at: point, limit: 6) {
        hashes.insert(image.contentHash)
        contents.insert(image.bytes)
      }
    }
    // Hashes tell the same images apart as contents do, from whichever point they were reached.
    #expect(hashes.count == contents.count)
    #expect(hashes.count > 200)
  }
}
