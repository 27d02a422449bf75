import CambiumKernel
import CambiumTesting
import Testing

/// Entries told by runs, and those of given keys told in one go: what a dictionary holds, wherever the entries lie: in
/// pages, in changes that are committed, waiting for a checkpoint or the transaction's own, inside pages or as large
/// values.
@Suite struct ForEachRunTests {
  private struct Entry: Equatable {
    var key: UInt64
    var value: [UInt8]
  }

  private static func runs(_ view: TreeView, _ tree: TreeID, limit: Int = .max) throws -> [Entry] {
    var found: [Entry] = []
    try view.forEachRun(tree) { (run) throws(StoreError) in
      #expect(!run.indices.isEmpty)
      for i in run.indices {
        found.append(Entry(key: run.key(i), value: Array(run.value(i))))
        if found.count == limit { return false }
      }
      return true
    }
    return found
  }

  private static func entries(
    _ view: TreeView, _ tree: TreeID, _ keys: [UInt64], limit: Int = .max
  ) throws -> [Entry] {
    var found: [Entry] = []
    try view.forEach(tree, of: keys[...]) { (key, value) throws(StoreError) in
      found.append(Entry(key: key, value: Array(value)))
      return found.count < limit
    }
    return found
  }

  private static func value(_ random: inout SplitMix64) -> [UInt8] {
    let byte = UInt8(truncatingIfNeeded: random.next())
    switch random.below(40) {
    case 0: return [UInt8](repeating: byte, count: 3_000 + random.below(6_000))
    case 1...4: return []
    default: return [UInt8](repeating: byte, count: random.below(60))
    }
  }

  @Test(arguments: [17_000, 1 << 20])
  func agreesWithADictionary(cacheBytes: Int) throws {
    let seed = testSeed(5_151)
    var random = SplitMix64(seed: seed)
    print("runs of entries: seed \(seed)")
    var options = StoreOptions()
    options.cacheBytes = cacheBytes
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2), options: options)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    try t.commit()
    var model: [UInt64: [UInt8]] = [:]
    func compare(_ view: TreeView, _ model: [UInt64: [UInt8]]) throws {
      let sorted = model.sorted { $0.key < $1.key }.map { Entry(key: $0.key, value: $0.value) }
      #expect(try Self.runs(view, tree) == sorted)
      let limit = 1 + random.below(max(1, sorted.count))
      #expect(try Self.runs(view, tree, limit: limit) == Array(sorted.prefix(limit)))
      var told: [Entry] = []
      try view.forEach(tree) { (key, value) throws(StoreError) in
        told.append(Entry(key: key, value: Array(value)))
        return true
      }
      #expect(told == sorted)
      // Ascending, in any order, with keys that there are not, and twice the same.
      for round in 0..<6 {
        var keys = (0..<random.below(200)).map { _ in UInt64(random.below(40_000)) }
        if round % 2 == 0 { keys.sort() }
        if round == 5 { keys = [0, .max, 0] + keys + keys }
        let expected = keys.compactMap { key in model[key].map { Entry(key: key, value: $0) } }
        #expect(try Self.entries(view, tree, keys) == expected)
        #expect(try Self.entries(view, tree, keys, limit: 5) == Array(expected.prefix(5)))
      }
    }
    var old: (view: TreeView, model: [UInt64: [UInt8]])?
    for round in 0..<8 {
      t = try store.beginWrite()
      for _ in 0..<(round == 0 ? 6_000 : 300) {
        let key = UInt64(random.below(40_000))
        if random.oneIn(4) {
          try t.delete(tree, key)
          model[key] = nil
        } else {
          let value = Self.value(&random)
          try t.put(tree, key, value)
          model[key] = value
        }
      }
      try compare(t, model)
      try t.commit()
      try compare(try store.snapshot(), model)
      if let old { try compare(old.view, old.model) }
      if round % 3 == 1 {
        old = (try store.snapshot(), model)
        try store.checkpoint()
        try compare(try store.snapshot(), model)
      }
    }
    #expect(model.count > 3_000)
    t = try store.beginWrite()
    for key in model.keys { try t.delete(tree, key) }
    try compare(t, [:])
    t.rollBack()
  }

  @Test func wrongTreesAndErrorsArePassedOn() throws {
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2))
    let t = try store.beginWrite()
    let bytes = try t.createTree(.bytes)
    let numbers = try t.createTree(.integer)
    for n in 0..<UInt64(100) { try t.put(numbers, n, [1]) }
    try t.commit()
    let view = try store.snapshot()
    #expect(throws: StoreError.wrongTreeKind(bytes)) { try Self.runs(view, bytes) }
    #expect(throws: StoreError.wrongTreeKind(bytes)) { try Self.entries(view, bytes, [1]) }
    #expect(throws: StoreError.noSuchTree(TreeID(rawValue: 999))) { try Self.runs(view, TreeID(rawValue: 999)) }
    var told = 0
    #expect(throws: StoreError.wrongTreeKind(numbers)) {
      try view.forEach(numbers, of: [1, 2, 3]) { (_, _) throws(StoreError) in
        told += 1
        throw .wrongTreeKind(numbers)
      }
    }
    #expect(told == 1)
    // What was thrown into left no read under way: pages can be used again.
    try store.checkpoint()
    #expect(try Self.runs(try store.snapshot(), numbers).count == 100)
  }

  /// Whoever ends the transaction while its entries are told is told no more of them: what they lie in serves the next
  /// one.
  @Test func endingTheTransactionMeanwhileIsAnError() throws {
    let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 2))
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for n in 0..<UInt64(40) { try t.put(tree, n * 2, [1]) }
    try t.commit()
    try store.checkpoint()
    for looksUp in [false, true] {
      t = try store.beginWrite()
      for n in 0..<UInt64(40) { try t.put(tree, n * 2 + 1, [UInt8](repeating: 2, count: 500)) }
      var told = 0
      func isTold(_: UInt64, _: UnsafeRawBufferPointer) -> Bool {
        told += 1
        if told == 5 { t.rollBack() }
        return true
      }
      #expect(throws: StoreError.self) {
        if looksUp { try t.forEach(tree, of: Array(0..<80)[...], isTold) } else { try t.forEach(tree, isTold) }
      }
      // No more than what lies together.
      #expect(told == 5)
    }
    #expect(try Self.runs(try store.snapshot(), tree).count == 40)
  }
}
