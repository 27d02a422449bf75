import CambiumTesting
import Testing

@testable import CambiumKernel

/// Going through places over stretches that are not wanted: the same entries that looking at all of them gives, whether
/// they lie in pages or over them.
@Suite struct PlaceCursorTests {
  private static func key(_ place: KeyPlace, _ row: UInt64) -> [UInt8] {
    var encoder = KeyEncoder(limit: 128)
    encoder.append(place)
    encoder.append(rowID: row)
    return encoder.bytes
  }

  private static func place(_ random: inout SplitMix64) -> KeyPlace {
    switch random.below(4) {
    case 0: return KeyPlace(x: Double(random.below(3)), y: Double(random.below(3)))
    case 1: return KeyPlace(x: Double(bitPattern: random.next()), y: .random(in: -1...1, using: &random))
    default: return KeyPlace(x: .random(in: 40...50, using: &random), y: .random(in: -120 ... -60, using: &random))
    }
  }

  @Test(arguments: [false, true]) func stretchesAreToldInOrder(inPages: Bool) throws {
    let seed = testSeed(4_243)
    print("stretches of places: seed \(seed)")
    var random = SplitMix64(seed: seed)
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2))
    var all: [(place: KeyPlace, row: UInt64)] = []
    var tree = TreeID(rawValue: 0)
    for round in 0..<4 {
      let t = try store.beginWrite()
      if tree.rawValue == 0 { tree = try t.createTree(.bytes) }
      for _ in 0..<(round == 0 ? 3 : 2500) {
        let entry = (Self.place(&random), UInt64(random.below(1 << 40)))
        all.append(entry)
        try t.put(tree, Self.key(entry.0, entry.1), [])
      }
      try compare(t, tree, all, &random)
      try t.commit()
      if inPages { try store.checkpoint() }
      try compare(try store.snapshot(), tree, all, &random)
    }
  }

  private func compare(
    _ view: TreeView, _ tree: TreeID, _ all: [(place: KeyPlace, row: UInt64)], _ random: inout SplitMix64
  ) throws {
    let sorted = all.sorted {
      Self.key($0.place, $0.row).lexicographicallyPrecedes(Self.key($1.place, $1.row))
    }
    // One cursor for all: it is sought with from wherever it stands.
    var cursor = try view.places(tree)
    for _ in 0..<40 {
      // How far is passed over each time; 0 for none of it.
      let leap: UInt64 = random.oneIn(4) ? 0 : 1 << UInt64(random.below(62))
      let start = random.oneIn(5) ? 0 : sorted[random.below(sorted.count)].place.code &+ UInt64(random.below(2))
      let most = 1 + random.below(200)
      func next(_ code: UInt64) -> UInt64 {
        leap == 0 ? code / 2 : code.addingReportingOverflow(leap).overflow ? .max : code + leap
      }
      var expected: [UInt64] = []
      var wanted = start
      for entry in sorted where entry.place.code >= wanted && expected.count < most {
        expected.append(entry.row)
        wanted = max(wanted, next(entry.place.code))
      }
      var found: [UInt64] = []
      try cursor.forEach(from: start) { (place, row) throws(StoreError) in
        found.append(row)
        return found.count < most ? next(place.code) : nil
      }
      #expect(found == expected, "from \(start) by \(leap)")
    }
  }

  /// Keys that are no places of rows are reported, not read beyond their end.
  @Test(arguments: [false, true]) func otherKeysAreReported(inPages: Bool) throws {
    let good = Self.key(KeyPlace(x: 1, y: 2), 3)
    let bad: [[UInt8]] = [
      Array(good.dropLast()), good + Array(repeating: 0x50, count: 60),
      [0x2C] + Array(repeating: 0xFF, count: 300),
      [0x2D, 1, 2],
    ]
    for key in bad {
      let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2))
      let t = try store.beginWrite()
      let tree = try t.createTree(.bytes)
      try t.put(tree, key, [])
      try t.commit()
      if inPages { try store.checkpoint() }
      var cursor = try store.snapshot().places(tree)
      #expect(throws: StoreError.self, "\(key)") {
        try cursor.forEach(from: 0) { (_, _) throws(StoreError) in 0 }
      }
    }
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2))
    let t = try store.beginWrite()
    let integers = try t.createTree(.integer)
    #expect(throws: StoreError.self) { _ = try t.places(integers) }
    #expect(throws: StoreError.self) { _ = try t.places(TreeID(rawValue: 9_999)) }
    t.rollBack()
  }
}
