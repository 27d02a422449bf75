import CambiumTesting
import Testing

@testable import CambiumKernel

/// Damage to a log of many segments is reported, or harmless: no record that another one proves is lost without an
/// error.
///
/// `CAMBIUM_LOG_ATTACKS` sets the number of cases, `CAMBIUM_SEED` where chance begins.
@Suite struct LogAttackTests {
  static let seed = testSeed(41)

  /// Through the scanner alone, on one image in memory that is changed and changed back.
  @Test func noProvedRecordIsLostUnseen() throws {
    let log = try AttackedLog(segments: 32)
    let singles = log.segments.indices.filter { log.count(in: $0) == 1 }.count
    #expect(singles >= 5 && log.segments.count >= 31)
    let device = MemoryDevice(copying: log.bytes)
    var random = SplitMix64(seed: Self.seed)
    var (reported, harmless, lastLost, undetectable) = (0, 0, 0, 0)
    let cases = testCount("CAMBIUM_LOG_ATTACKS", short: 1500, full: 100_000)
    // All bits of the headers come first; where there is no time for all cases, some of those.
    let headerBits = log.segments.count * SegmentHeader.size * 8
    let step = cases < 2 * headerBits ? 23 : 1
    for n in 0..<cases {
      let damage = log.damage(n < cases / 2 && step > 1 ? n * step % headerBits : n * step, &random)
      let old = Array(log.bytes[damage.offset..<damage.offset + damage.new.count])
      try damage.new.withUnsafeBytes { try device.write($0, at: UInt64(damage.offset)) }
      do {
        let last = try ScannedLog(LogScanner(device: device, superblock: log.superblock)).lastSequence
        if last == log.lastSequence {
          harmless += 1
        } else if damage.isUndetectable {
          undetectable += 1
        } else if log.isEnd(damage, behind: last) {
          lastLost += 1
        } else {
          Issue.record("\(damage.name): \(last) of \(log.lastSequence) commits are left, without a word")
        }
      } catch StoreError.corrupt(let place, let offset, _) {
        reported += 1
        let isPlaced = log.bytes.indices.contains(Int(offset)) && (place == .log || place == .superblock)
        if !isPlaced { Issue.record("\(damage.name): reported at \(place), \(offset)") }
      }
      try old.withUnsafeBytes { try device.write($0, at: UInt64(damage.offset)) }
    }
    print(
      "log attack, seed \(Self.seed): \(cases) cases: \(reported) reported, \(harmless) harmless, \(lastLost) took the last record,",
      "\(undetectable) a header with its only record")
    #expect(reported > cases / 8 && harmless > cases / 8 && lastLost < cases / 20 && undetectable < cases / 20)
  }

  /// Through opening, reading and `check()`.
  @Test(arguments: [Durability.full, .strict]) func openingLosesNothingUnseen(_ durability: Durability) throws {
    let log = try AttackedLog(segments: 32, durability: durability)
    var random = SplitMix64(seed: Self.seed &+ 1)
    var (reported, byCheck) = (0, 0)
    for n in 0..<testCount("CAMBIUM_LOG_ATTACKS_OPENED", short: 60, full: 1000) {
      let bits = log.segments.count * SegmentHeader.size * 8
      let damage = log.damage(n % 2 == 0 ? random.below(bits) : bits, &random)
      var image = log.bytes
      image.replaceSubrange(damage.offset..<damage.offset + damage.new.count, with: damage.new)
      var options = AttackedLog.options(durability)
      options.isReadOnly = n % 3 == 0
      do {
        let store = try Store.open(
          on: MemoryDevice(copying: image), environment: TestEnvironment(seed: 33), options: options)
        let view = try store.snapshot()
        let isWhole = view.sequence == log.lastSequence
        let isAllowed = isWhole || damage.isUndetectable || log.isEnd(damage, behind: view.sequence)
        #expect(isAllowed, "\(damage.name): opened with \(view.sequence) of \(log.lastSequence) commits")
        #expect(try view.count(AttackedLog.tree) == view.sequence - log.records[0].sequence + 1)
        let problems = try store.check().problems
        // A header that lies in front of records is what `check()` is there for.
        #expect(problems.allSatisfy { $0.place == .log && log.segments.contains(Int($0.offset)) }, "\(problems)")
        byCheck += problems.isEmpty ? 0 : 1
      } catch StoreError.corrupt { reported += 1 }
    }
    #expect(reported > 5 && byCheck > 5)
  }

  /// A closed store needs nothing of the log that it had: damage to the room where it lay is harmless or reported.
  @Test func damageToTheLogOfAClosedStoreIsHarmlessOrReported() throws {
    let log = try AttackedLog(segments: 32)
    let device = MemoryDevice(copying: log.bytes)
    let options = AttackedLog.options(.full)
    try Store.open(on: device, environment: TestEnvironment(seed: 34), options: options).close()
    let closed = device.contents()
    let rows = UInt64(log.records.count)
    var random = SplitMix64(seed: Self.seed &+ 2)
    var whole = 0
    for n in 0..<(isFullLength ? 400 : 40) {
      var image = closed
      let start = n % 2 == 0 ? random.pick(log.segments) : random.below(image.count - 512)
      guard start + 512 <= image.count else { continue }
      image.replaceSubrange(start..<start + 512, with: random.bytes(512))
      do {
        let store = try Store.open(
          on: MemoryDevice(copying: image), environment: TestEnvironment(seed: 35), options: options)
        let view = try store.snapshot()
        #expect(try view.count(AttackedLog.tree) == rows)
        for key in 0..<rows where try view.value(AttackedLog.tree, key)?.first != UInt8(truncatingIfNeeded: key) {
          Issue.record("row \(key) is another one after damage at \(start)")
        }
        whole += 1
      } catch StoreError.corrupt {}
    }
    #expect(whole > 5)
  }

  /// The place of a report is where the chain broke, in this segment or the next.
  @Test func aReportNamesTheRecordThatIsDamaged() throws {
    let log = try AttackedLog(segments: 32)
    for record in log.records.dropLast() {
      var image = log.bytes
      image[record.address + 30] ^= 0x20
      var place: Int?
      do {
        _ = try ScannedLog(LogScanner(device: MemoryDevice(copying: image), superblock: log.superblock))
      } catch StoreError.corrupt(_, let offset, _) { place = Int(offset) }
      #expect(place == record.address)
    }
  }

  /// Damage behind the end, and several places at once, do not hide what is proved.
  @Test func theSearchGoesOnBehindDamagedSegments() throws {
    let log = try AttackedLog(segments: 32)
    for first in stride(from: 1, to: log.segments.count - 3, by: 3) {
      // The first record of a segment, and every record of the next one, whose header is whole.
      var image = log.bytes
      guard let broken = log.records.first(where: { $0.segment == first }) else { continue }
      image[broken.address + 40] ^= 1
      for record in log.records where record.segment == first + 1 { image[record.address + 40] ^= 1 }
      #expect(throws: StoreError.self, "segment \(first)") {
        try ScannedLog(LogScanner(device: MemoryDevice(copying: image), superblock: log.superblock))
      }
    }
  }
}
