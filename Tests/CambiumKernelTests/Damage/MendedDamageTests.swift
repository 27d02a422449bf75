import CambiumTesting
import Foundation
import Testing

@testable import CambiumKernel

/// Stores that are wrong although all their checksums are right: opening, reading, checking and writing end with an
/// error or without, but never with a trap or a loop without end. `CAMBIUM_MENDED` sets how many.
@Suite struct MendedDamageTests {
  static let count =
    testCount("CAMBIUM_MENDED", short: 300, full: 40_000)
  static let isVerbose = ProcessInfo.processInfo.environment["CAMBIUM_VERBOSE"] != nil

  @Test(arguments: [true, false]) func nothingTraps(_ isClosed: Bool) throws {
    let whole = try DamageStore(isClosed: isClosed)
    let mender = try Mender(whole.bytes)
    let places = mender.places
    var random = SplitMix64(seed: CrashTests.seed)
    var opened = 0
    for n in 0..<Self.count {
      var mutant = mender
      var text = ""
      for _ in 0..<(random.oneIn(3) ? 2 : 1) {
        let place = random.pick(places)
        // The heads of pages, and of all else, are where it hurts.
        let within = random.oneIn(2) ? min(place.count, 64) : place.count
        let offset = place.lowerBound + random.below(within)
        let new = Self.mutation(&random)
        text += " \(offset): \(new)"
        mutant.mutate(at: offset, new)
      }
      if Self.isVerbose { FileHandle.standardError.write(Data("mutant \(n)\(text)\n".utf8)) }
      if Self.use(mutant.bytes, &random) { opened += 1 }
    }
    print("mended damage: \(Self.count) stores, \(opened) opened")
    #expect(opened > Self.count / 50)
  }

  /// Separators that are out of order once led a cursor round in a ring.
  @Test(arguments: [true, false]) func separatorsOutOfOrderEnd(_ isClosed: Bool) throws {
    let whole = try DamageStore(isClosed: isClosed)
    let mender = try Mender(whole.bytes)
    var refused = 0
    for page in mender.innerPages {
      // Behind the checksum, which is made right again.
      for offset in stride(from: page.lowerBound + 8, to: page.upperBound, by: isFullLength ? 4 : 96) {
        for byte in [UInt8(0), 0xFF] {
          var mutant = mender
          mutant.mutate(at: offset, [UInt8](repeating: byte, count: 8))
          var options = DamageStore.options
          options.isReadOnly = true
          let device = MemoryDevice(copying: mutant.bytes)
          guard let store = try? Store.open(on: device, environment: TestEnvironment(), options: options) else {
            continue
          }
          let snapshot = try store.snapshot()
          for id in snapshot.trees() {
            for isForward in [true, false] {
              var steps = 0
              do {
                let cursor = try snapshot.cursor(id)
                var more = isForward ? try cursor.seekFirst() : try cursor.seekLast()
                while more, steps < 50_000 {
                  steps += 1
                  more = isForward ? try cursor.next() : try cursor.previous()
                }
              } catch { refused += 1 }
              #expect(steps < 50_000, "byte \(offset) as \(byte), tree \(id)")
            }
          }
        }
      }
    }
    #expect(refused > (isFullLength ? 100 : 3))
  }

  private static func mutation(_ random: inout SplitMix64) -> [UInt8] {
    let count = [1, 1, 2, 4, 8][random.below(5)]
    switch random.below(4) {
    case 0: return [UInt8](repeating: 0xFF, count: count)
    case 1: return [UInt8](repeating: 0, count: count)
    case 2: return [UInt8(random.below(8))] + [UInt8](repeating: 0, count: count - 1)
    default: return random.bytes(count)
    }
  }

  /// Does everything with a store; answers whether it could be opened.
  private static func use(_ bytes: [UInt8], _ random: inout SplitMix64) -> Bool {
    let device = MemoryDevice(copying: bytes, capacityBytes: 8 << 20)
    guard let store = try? Store.open(on: device, environment: TestEnvironment(), options: DamageStore.options) else {
      return false
    }
    if let snapshot = try? store.snapshot() {
      _ = try? StoreContent.hash(of: snapshot)
      for id in snapshot.trees() {
        guard let cursor = try? snapshot.cursor(id), (try? cursor.seekLast()) == true else { continue }
        var steps = 0
        while steps < 2000, (try? cursor.previous()) == true { steps += 1 }
        for key in 0..<5 {
          _ = try? snapshot.value(id, UInt64(key * 301))
          _ = try? snapshot.value(id, Array("name \(key) of \(key)".utf8))
        }
      }
    }
    _ = try? store.check()
    if let t = try? store.beginWrite() {
      for id in t.trees() {
        for key in 0..<8 {
          try? t.put(id, UInt64(key * 211), [1, 2, 3])
          try? t.put(id, Array("name \(key)".utf8), [4])
          _ = try? t.delete(id, UInt64(key * 33))
        }
      }
      _ = try? t.createTree(.bytes)
      if random.oneIn(4), let id = t.trees().first { try? t.dropTree(id) }
      _ = try? t.commit()
    }
    try? store.checkpoint()
    if random.oneIn(3) { try? store.compact() }
    _ = try? store.check()
    try? store.close()
    return true
  }
}
