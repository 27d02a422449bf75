import CambiumTesting

@testable import CambiumKernel

/// A store that was not closed, with a log of many short segments, some of which hold a single record.
///
/// Every commit waited for its sync, so each record proves those before it: no damage may take any record but the last
/// one without an error.
struct AttackedLog {
  static let tree = TreeID(rawValue: 16)

  let bytes: [UInt8]
  let superblock: Superblock
  let records: [Record]
  /// Where log segments begin, in the order of the log; the last one is prepared, and holds nothing.
  let segments: [Int]

  struct Record {
    var address: Int
    var length: Int
    var sequence: UInt64
    /// Which of the segments it lies in.
    var segment: Int
  }

  var lastSequence: UInt64 { records.last?.sequence ?? 0 }

  struct Unfit: Error {}

  static func options(_ durability: Durability) -> StoreOptions {
    var options = StoreOptions()
    options.durability = durability
    options.bufferBytes = 1024
    options.logBytes = 64 << 20
    options.deltaBytes = 64 << 20
    return options
  }

  init(segments count: Int, durability: Durability = .full) throws {
    let device = MemoryDevice()
    let store = try Store.create(
      on: device, environment: TestEnvironment(seed: 31), options: Self.options(durability))
    var t = try store.beginWrite()
    _ = try t.createTree(.integer)
    try t.commit()
    try store.checkpoint()
    // Log segments of one unit each, however long the file is.
    let end = UInt32(count) + 20
    try store.space.extend(to: end)
    var random = SplitMix64(seed: 32)
    var key: UInt64 = 0
    while store.log.segments.count <= count {
      guard let free = store.space.table.findFree(wanted: 1, least: 1) else { throw Unfit() }
      store.space.bounds = SegmentBounds(free.start..<free.start + 1)
      // Now and then records that leave no room for another one in their segment.
      let length = random.oneIn(3) ? 8500 + random.below(2000) : 100 + random.below(1500)
      t = try store.beginWrite()
      try t.put(Self.tree, key, Self.value(key, length))
      try t.commit()
      key += 1
    }
    bytes = device.contents()
    superblock = store.superblock
    let scanner = LogScanner(device: device, superblock: superblock, bufferBytes: 1024)
    let outcome = try ScannedLog(scanner)
    let starts = store.log.segments.map { Int($0) * SegmentTable.unitSize }
    segments = starts
    records = try outcome.records.map { found in
      guard let n = starts.firstIndex(of: Int(found.segment.address)), found.segment.units == 1 else { throw Unfit() }
      return Record(
        address: Int(found.address), length: found.header.length, sequence: found.header.sequence, segment: n)
    }
    guard starts.count > count, lastSequence == store.appendedSequence else { throw Unfit() }
  }

  static func value(_ key: UInt64, _ length: Int) -> [UInt8] {
    (0..<length).map { UInt8(truncatingIfNeeded: UInt64($0 &* 7) &+ key) }
  }

  /// Whether damage falls into every record behind a commit, so that nothing is left to prove one of them.
  func isEnd(_ damage: Damage, behind sequence: UInt64) -> Bool {
    let range = damage.offset..<damage.offset + damage.new.count
    return records.drop { $0.sequence <= sequence }.allSatisfy { range.overlaps($0.address..<$0.address + $0.length) }
  }

  /// How many records a segment holds.
  func count(in segment: Int) -> Int { records.reduce(0) { $0 + ($1.segment == segment ? 1 : 0) } }

  /// A change of the file: bytes that take the place of those at `offset`.
  struct Damage {
    var offset: Int
    var new: [UInt8]
    var name: String
    /// Whether it takes the header of a segment together with the only record in it: nothing names the next segment
    /// then. Specs/03, section 10.1, says that this loss cannot be told.
    var isUndetectable = false
  }

  /// Damage number `n`: first every bit of every header, then chance.
  func damage(_ n: Int, _ random: inout SplitMix64) -> Damage {
    let bitsPerHeader = SegmentHeader.size * 8
    if n < segments.count * bitsPerHeader {
      return flip(segments[n / bitsPerHeader] + n % bitsPerHeader / 8, UInt8(1) << UInt8(n % 8))
    }
    let record = random.pick(records)
    switch random.below(4) {
    case 0:
      return flip(random.pick(segments) + random.below(SegmentHeader.size), UInt8(1 + random.below(255)))
    case 1:
      return flip(record.address + random.below(record.length), UInt8(1 + random.below(255)))
    case 2:
      // In a record's head, where everything is that the chain needs.
      return flip(record.address + random.below(LogRecordHeader.size), UInt8(1) << UInt8(random.below(8)))
    default:
      let first = random.oneIn(2) ? random.pick(segments) : record.address / 512 * 512
      let sector = first + (random.oneIn(2) ? 0 : random.below(SegmentTable.unitSize / 512) * 512)
      let at = min(sector, bytes.count - 512)
      let new = random.oneIn(3) ? [UInt8](repeating: 0, count: 512) : random.bytes(512)
      var damage = Damage(offset: at, new: new, name: "sector at \(at)")
      if let n = segments.firstIndex(of: at) { damage.isUndetectable = count(in: n) == 1 }
      return damage
    }
  }

  private func flip(_ offset: Int, _ bits: UInt8) -> Damage {
    Damage(offset: offset, new: [bytes[offset] ^ bits], name: "byte \(offset) ^ \(bits)")
  }
}
