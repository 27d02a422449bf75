import CambiumKernel
import CambiumTesting

@testable import CambiumKernelTests

/// The input is a list of changes to one of some small valid stores; the checksums are made right after each.
///
///     store (1) | seed (1) | place (1) offset (2) kind (1) ... | place ...
///
/// A place is a page, a record of the log, or a copy of the superblock.
enum MendedTarget {
  private static let menders: [Mender] =
    [true, false].compactMap { isClosed in
      (try? DamageStore(isClosed: isClosed)).flatMap { try? Mender($0.bytes) }
    } + [(try? retainingStore()).flatMap { try? Mender($0) }].compactMap { $0 }

  /// A store with commits that are retained, trees of three levels, dead segments, and a log.
  private static func retainingStore() throws -> [UInt8] {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 15), options: DamageStore.options)
    var t = try store.beginWrite()
    let rows = try t.createTree(.integer)
    let names = try t.createTree(.bytes)
    for key in UInt64(0)..<400 {
      try t.put(rows, key * key, [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 30))
      try t.put(names, Array("\(key % 7)".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: 700), [])
    }
    try t.commit()
    _ = try store.retain(reason: "first")
    t = try store.beginWrite()
    for key in UInt64(0)..<400 where key % 3 != 0 { try t.delete(rows, key * key) }
    try t.put(rows, 5, [UInt8](repeating: 5, count: 5000))
    try t.commit()
    _ = try store.retain(reason: "second")
    t = try store.beginWrite()
    try t.put(rows, 6, [6])
    try t.commit()
    return device.contents()
  }

  static func problem(_ input: FuzzInput) -> String? {
    var input = input
    guard !menders.isEmpty else { return "the stores could not be made" }
    var mutant = menders[input.below(menders.count)]
    let seed = UInt64(input.byte())
    let places = mutant.places
    var edits = 0
    while !input.isAtEnd, edits < 8 {
      edits += 1
      let place = places[Int(input.word()) % places.count]
      let offset = place.lowerBound + Int(input.word()) % place.count
      let old = mutant.bytes[offset]
      let kind = input.byte()
      let new: [UInt8]
      switch kind {
      case 0..<32: new = [old &+ kind &+ 1]
      case 32..<64: new = [old &- (kind - 31)]
      case 64..<80: new = [UInt8](repeating: 0, count: Int(kind - 63))
      case 80..<96: new = [UInt8](repeating: 0xFF, count: Int(kind - 79))
      default: new = input.take(Int(kind % 24) + 1)
      }
      mutant.mutate(at: offset, Array(new.prefix(place.upperBound - offset)))
    }
    return StoreExercise(bytes: mutant.bytes, seed: seed).problem()
  }
}
