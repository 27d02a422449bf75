import CambiumTesting

@testable import CambiumKernel
@testable import CambiumKernelTests

/// The input is records that are put behind the end of a log, each chained to the one before unless told otherwise:
///
///     seed (1) | flags (1) length (1) operations (length) | flags ...
///
/// A flag makes one thing of the record's head wrong; the byte behind the operations says how.
enum LogTarget {
  private struct Base {
    let bytes: [UInt8]
    let logSeed: UInt64
    let last: LogRecordHeader
    let place: Int
    let end: Int
  }

  private static let base: Base? = {
    guard let whole = try? DamageStore(isClosed: false) else { return nil }
    var options = DamageStore.options
    options.isReadOnly = true
    let device = MemoryDevice(copying: whole.bytes)
    guard let store = try? Store.open(on: device, environment: TestEnvironment(), options: options) else { return nil }
    let scanner = LogScanner(device: device, superblock: store.superblock)
    guard let outcome = try? ScannedLog(scanner), let last = outcome.records.last else { return nil }
    return Base(
      bytes: whole.bytes, logSeed: store.logSeed, last: last.header, place: Int(outcome.end),
      end: min(whole.bytes.count, Int(last.segment.end)))
  }()

  static func problem(_ input: FuzzInput) -> String? {
    var input = input
    guard let base else { return "the store could not be made" }
    var bytes = base.bytes
    let seed = UInt64(input.byte())
    var place = base.place
    var header = base.last
    while !input.isAtEnd {
      let flags = input.byte()
      let operations = input.take(Int(input.byte()) * (flags & 1 != 0 ? 8 : 1))
      let length = LogRecordHeader.size + operations.count
      if flags & 2 != 0 { place = roundUp(place, to: LogWriter.strictBlock) }
      guard place + length <= base.end else { break }
      header.sequence &+= flags & 4 != 0 ? UInt64(input.byte()) : 1
      if flags & 8 != 0 { header.durableSequence = header.sequence &- UInt64(input.byte()) }
      if flags & 16 != 0 { header.durablePublication = UInt64(input.byte()) }
      if flags & 32 != 0 { header.session ^= UInt64(input.byte()) }
      if flags & 64 != 0 { header.next = LogSegment(start: UInt32(input.byte()), units: 1) }
      let before = flags & 128 != 0 ? UInt64(input.byte()) : header.checksum
      bytes.withUnsafeMutableBytes { b in
        guard let start = b.baseAddress else { return }
        let p = start + place
        p.put(LogRecordHeader.magic, 0)
        p.put(UInt32(length), 4)
        p.put(before, 16)
        p.put(header.sequence, 24)
        p.put(header.session, 32)
        p.put(header.durableSequence, 40)
        p.put(header.durablePublication, 48)
        p.put(header.next.start, 56)
        p.put(UInt32(header.next.units), 60)
        for (i, byte) in operations.enumerated() { p.put(byte, LogRecordHeader.size + i) }
        header.checksum = LogRecordHeader.sum(
          UnsafeRawPointer(p), length: length, seed: base.logSeed, address: UInt64(place))
        p.put(header.checksum, 8)
      }
      place += roundUp(length, to: 16)
    }
    return StoreExercise(bytes: bytes, seed: seed).problem()
  }
}
