import CambiumKernel
import CambiumTesting
import Testing

/// Keys of a range, told in one go: the same that a cursor meets, whether they lie in pages or over them.
@Suite struct ForEachKeyTests {
  static func key(_ random: inout SplitMix64) -> [UInt8] {
    // Long common beginnings, keys that are beginnings of others, and many of the same length.
    let stem: [UInt8] = Array("a common beginning ".utf8)
    switch random.below(4) {
    case 0: return stem + (0..<4).map { _ in UInt8(random.below(6)) }
    case 1: return stem + Array(repeating: 7, count: random.below(40))
    case 2: return (0..<(1 + random.below(12))).map { _ in UInt8(random.below(256)) }
    default: return stem + [9, UInt8(random.below(200)), UInt8(random.below(200))]
    }
  }

  static func keys(_ view: TreeView, _ tree: TreeID, _ range: KeyRange, limit: Int = .max) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    try view.forEachKey(tree, in: range) { (key) throws(StoreError) in
      found.append(Array(key))
      return found.count < limit
    }
    return found
  }

  /// With and without room for what a transaction changes: without, it writes pages of its own.
  @Test(arguments: [64 << 20, 8 << 10]) func rangesAreToldInOrder(deltaBytes: Int) throws {
    let seed = testSeed(4_242)
    var random = SplitMix64(seed: seed)
    print("ranges of keys: seed \(seed)")
    var options = StoreOptions()
    options.deltaBytes = deltaBytes
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2), options: options)
    var tree = TreeID(rawValue: 0)
    var model = Set<[UInt8]>()
    var unpaged = 0
    func change(_ count: Int) throws {
      unpaged = count
      let t = try store.beginWrite()
      if tree.rawValue == 0 { tree = try t.createTree(.bytes) }
      for _ in 0..<count {
        let key = Self.key(&random)
        if random.oneIn(4) {
          try t.delete(tree, key)
          model.remove(key)
        } else {
          try t.put(tree, key, random.oneIn(3) ? [1, 2, 3] : [])
          model.insert(key)
        }
      }
      try compare(t)
      try t.commit()
    }
    func compare(_ view: TreeView) throws {
      let sorted = model.sorted { $0.lexicographicallyPrecedes($1) }
      for _ in 0..<60 {
        let bounds = [Self.key(&random), Self.key(&random)].sorted { $0.lexicographicallyPrecedes($1) }
        let range = KeyRange(lower: random.oneIn(5) ? [] : bounds[0], upper: random.oneIn(5) ? nil : bounds[1])
        let expected = sorted.filter { key in
          !key.lexicographicallyPrecedes(range.lower)
            && (range.upper.map { key.lexicographicallyPrecedes($0) } ?? true)
        }
        #expect(try Self.keys(view, tree, range) == expected)
        #expect(try Self.keys(view, tree, range, limit: 3) == Array(expected.prefix(3)))
        #expect(try view.count(tree, in: range) == UInt64(expected.count))
        let estimate = Int(try view.estimatedCount(tree, in: range))
        // What was written since the last checkpoint may count twice, or not although it should.
        #expect(abs(estimate - expected.count) <= unpaged, "\(estimate) for \(expected.count)")
      }
      // Several ranges one after the other, ascending or not.
      for _ in 0..<20 {
        var ranges = (0..<random.below(6)).map { _ in
          let key = Self.key(&random)
          return random.oneIn(3)
            ? KeyRange(lower: key, upper: Self.key(&random)) : KeyRange(prefix: Array(key.dropLast(random.below(2))))
        }
        if random.oneIn(2) { ranges.sort { $0.lower.lexicographicallyPrecedes($1.lower) } }
        let expected = try ranges.flatMap { try Self.keys(view, tree, $0) }
        for limit in [Int.max, 1, 7] {
          var found: [[UInt8]] = []
          try view.forEachKey(tree, in: ranges) { (key) throws(StoreError) in
            found.append(Array(key))
            return found.count < limit
          }
          #expect(found == Array(expected.prefix(limit)))
        }
      }
    }
    for _ in 0..<3 {
      try change(1500)
      try compare(try store.snapshot())
      // Everything in pages.
      try store.checkpoint()
      unpaged = 0
      try compare(try store.snapshot())
    }
    #expect(model.count > 1000)
    let reversed = KeyRange(lower: [200], upper: [100])
    #expect(try Self.keys(try store.snapshot(), tree, reversed).isEmpty)
  }

  /// Ids of rows, of any number of bytes, come as the keys do, and it is told whether they ascend.
  @Test(arguments: [64 << 20, 8 << 10]) func idsOfRowsAreToldInOrder(deltaBytes: Int) throws {
    let seed = testSeed(4_343)
    var random = SplitMix64(seed: seed)
    print("ids of rows: seed \(seed)")
    var options = StoreOptions()
    options.deltaBytes = deltaBytes
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 3), options: options)
    var tree = TreeID(rawValue: 0)
    var model: [[UInt8]: UInt64] = [:]
    func compare(_ view: TreeView) throws {
      let sorted = model.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      for number in [-1, 0, 1, 5, 40, 41] {
        var encoder = KeyEncoder()
        encoder.append(Int64(number))
        for range in [
          KeyRange(prefix: encoder.bytes), KeyRange(lower: encoder.bytes, upper: nil),
          KeyRange(lower: [], upper: encoder.bytes),
        ] {
          let expected = sorted.filter { (key, _) in
            !key.lexicographicallyPrecedes(range.lower)
              && (range.upper.map { key.lexicographicallyPrecedes($0) } ?? true)
          }.map { $0.value }
          let found = try view.rowIDs(tree, in: range)
          #expect(found.ids == expected)
          #expect(found.isAscending == zip(expected, expected.dropFirst()).allSatisfy { $0 < $1 })
        }
      }
    }
    for _ in 0..<3 {
      let t = try store.beginWrite()
      if tree.rawValue == 0 { tree = try t.createTree(.bytes) }
      for _ in 0..<1500 {
        let row = random.next() >> UInt64(random.below(65))
        var encoder = KeyEncoder()
        encoder.append(Int64(random.below(42)))
        encoder.append(rowID: row)
        try t.put(tree, encoder.bytes, [])
        model[encoder.bytes] = row
      }
      try compare(t)
      try t.commit()
      try compare(try store.snapshot())
      try store.checkpoint()
      try compare(try store.snapshot())
    }
    // A key of another kind is damage, wherever it lies.
    let t = try store.beginWrite()
    try t.put(tree, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [])
    try t.commit()
    let everything = KeyRange(lower: [], upper: nil)
    #expect(throws: StoreError.self) { try store.snapshot().rowIDs(tree, in: everything) }
    try store.checkpoint()
    #expect(throws: StoreError.self) { try store.snapshot().rowIDs(tree, in: everything) }
  }

  /// Where a relationship's tree leads from some rows, whose ids have any number of bytes.
  @Test(arguments: [64 << 20, 8 << 10]) func idsThatLinksLeadToAreFoundForEachRow(deltaBytes: Int) throws {
    let seed = testSeed(4_344)
    var random = SplitMix64(seed: seed)
    print("ids of links: seed \(seed)")
    var options = StoreOptions()
    options.deltaBytes = deltaBytes
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 4), options: options)
    var tree = TreeID(rawValue: 0)
    var model: [UInt64: Set<UInt64>] = [:]
    let sources: [UInt64] = [0, 1, 2, 255, 256, 257, 65_535, 65_536, 1 << 40, 1 << 40 + 1, .max - 1, .max]
    func compare(_ view: TreeView) throws {
      var all = sources + [3, 254, 258, 1 << 63]
      for _ in 0..<4 {
        let expected = all.flatMap { model[$0, default: []].sorted() }
        let found = try view.rowIDs(tree, leadingFrom: all)
        #expect(found.ids == expected)
        #expect(found.isAscending == zip(expected, expected.dropFirst()).allSatisfy { $0 < $1 })
        all = Array(all.shuffled(using: &random).prefix(1 + random.below(all.count)))
      }
      #expect(try view.rowIDs(tree, leadingFrom: []).ids.isEmpty)
    }
    for _ in 0..<3 {
      let t = try store.beginWrite()
      if tree.rawValue == 0 { tree = try t.createTree(.bytes) }
      for _ in 0..<1500 {
        // The first row has most of the links.
        let source = random.oneIn(2) ? sources[0] : random.pick(sources)
        let destination = random.next() >> UInt64(random.below(65))
        var encoder = KeyEncoder()
        encoder.append(rowID: source)
        encoder.append(rowID: destination)
        if random.oneIn(5) {
          try t.delete(tree, encoder.bytes)
          model[source, default: []].remove(destination)
        } else {
          try t.put(tree, encoder.bytes, [])
          model[source, default: []].insert(destination)
        }
      }
      try compare(t)
      try t.commit()
      try compare(try store.snapshot())
      try store.checkpoint()
      try compare(try store.snapshot())
    }
    // A key that ends in no row id is damage.
    let t = try store.beginWrite()
    var encoder = KeyEncoder()
    encoder.append(rowID: 7)
    try t.put(tree, encoder.bytes + [1, 2, 3], [])
    try t.commit()
    #expect(throws: StoreError.self) { try store.snapshot().rowIDs(tree, leadingFrom: [7]) }
    try store.checkpoint()
    #expect(throws: StoreError.self) { try store.snapshot().rowIDs(tree, leadingFrom: [7]) }
  }

  @Test func wrongTreesAndErrorsArePassedOn() throws {
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2))
    let t = try store.beginWrite()
    let numbers = try t.createTree(.integer)
    let empty = try t.createTree(.bytes)
    try t.commit()
    let view = try store.snapshot()
    let all = KeyRange(lower: [], upper: nil)
    #expect(try Self.keys(view, empty, all).isEmpty)
    #expect(throws: StoreError.self) { try Self.keys(view, numbers, all) }
    #expect(throws: StoreError.self) { try Self.keys(view, TreeID(rawValue: 999), all) }
    #expect(throws: StoreError.self) { try view.rowIDs(numbers, in: all) }
    #expect(throws: StoreError.self) { try view.rowIDs(TreeID(rawValue: 999), in: all) }
    #expect(try view.rowIDs(empty, in: all) == ([], true))
    #expect(throws: StoreError.self) { try view.count(numbers, in: all) }
    #expect(throws: StoreError.self) { try view.estimatedCount(numbers, in: all) }
    #expect(try view.estimatedCount(empty, in: all) == 0)
  }
}
