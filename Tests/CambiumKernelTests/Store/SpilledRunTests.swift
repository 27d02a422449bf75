import CambiumTesting
import Testing

@testable import CambiumKernel

/// Transactions that put random keys into trees larger than their memory: what goes to runs is seen by everything that
/// looks, and becomes the tree's in the end.
@Suite struct SpilledRunTests {
  private static let keys = 4000

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.deltaBytes = 8 << 10
    options.logBytes = 64 << 10
    options.cacheBytes = 256 << 10
    options.logValueLimit = 4000
    return options
  }

  /// A key of text, whose order is not that of the numbers.
  private static func key(_ n: Int) -> [UInt8] {
    withUnsafeBytes(of: (UInt64(n) &* 0x9E37_79B9_7F4A_7C15).bigEndian) { Array($0) } + [UInt8(n & 7)]
  }

  private static func content(_ view: TreeView, _ tree: TreeID) throws -> [[UInt8]: [UInt8]] {
    var found: [[UInt8]: [UInt8]] = [:]
    let cursor = try view.cursor(tree)
    var more = try cursor.seekFirst()
    while more {
      found[Array(cursor.key)] = try cursor.value() ?? []
      more = try cursor.next()
    }
    return found
  }

  /// A store with a tree of every second key.
  private static func store(
    _ random: inout SplitMix64
  ) throws -> (store: Store, device: MemoryDevice, tree: TreeID, model: [[UInt8]: [UInt8]]) {
    let device = MemoryDevice()
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 3), options: options())
    let t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    var model: [[UInt8]: [UInt8]] = [:]
    for n in stride(from: 0, to: keys, by: 2) {
      model[key(n)] = random.bytes(20)
      try t.put(tree, key(n), model[key(n)] ?? [])
    }
    try t.commit()
    return (store, device, tree, model)
  }

  private static func put(
    _ count: Int, _ t: WriteTransaction, _ tree: TreeID, _ model: inout [[UInt8]: [UInt8]], _ random: inout SplitMix64
  ) throws {
    for _ in 0..<count {
      let key = key(random.below(keys))
      // Some go to extents at once, some when they come to pages.
      let length = random.oneIn(40) ? random.pick([5000, 1500]) + random.below(2000) : random.below(60)
      model[key] = random.bytes(length)
      try t.put(tree, key, model[key] ?? [])
    }
  }

  enum Look: CaseIterable {
    case get, absent, cursor, count, other, delete, batch, drop, nothing, rollBack, savepoint
  }

  @Test(arguments: Look.allCases) func everyLookSeesWhatWentToRuns(_ look: Look) throws {
    var random = SplitMix64(seed: 77)
    var (store, device, tree, model) = try Self.store(&random)
    let before = model
    let t = try store.beginWrite()
    try Self.put(300, t, tree, &model, &random)
    #expect(t.runs[tree]?.count ?? 0 >= 3)
    // Such a tree stays as it is while others are written to.
    let other = try t.createTree(.integer)
    try t.put(other, 1, [1])
    try t.addToCounter(tree, 1, 1)
    #expect(try t.counter(tree, 1) == 1 && t.runs[tree] != nil)
    switch look {
    case .get:
      for n in 0..<Self.keys { #expect(try t.value(tree, Self.key(n)) == model[Self.key(n)]) }
    case .absent: #expect(try t.value(tree, [1, 2, 3]) == nil)
    // What is lent of one tree stays good while another one is read.
    case .other:
      let isRight = try t.withValue(other, 1) { (bytes) throws(StoreError) in
        let count = try t.count(tree)
        return count == UInt64(model.count) && bytes.elementsEqual([1])
      }
      #expect(isRight == true)
    case .cursor: #expect(try Self.content(t, tree) == model)
    case .count: #expect(try t.count(tree) == UInt64(model.count))
    case .delete:
      for n in 0..<50 { #expect(try t.delete(tree, Self.key(n)) == (model.removeValue(forKey: Self.key(n)) != nil)) }
    case .batch:
      let batch = ChangeBatch()
      for n in 0..<2000 {
        _ = batch.add(Self.key(n), isPut: n & 3 != 0)
        model[Self.key(n)] = n & 3 != 0 ? [] : nil
      }
      try t.apply(batch, to: tree)
    case .drop:
      try t.dropTree(tree)
      #expect(t.kind(of: tree) == nil)
    case .nothing, .rollBack, .savepoint: break
    }
    if ![.nothing, .rollBack, .savepoint, .delete].contains(look) { #expect(t.runs.isEmpty) }
    if look == .savepoint {
      // Back to where there were runs, from where they were taken in, and others made.
      let then = model
      let saved = t.savepoint()
      #expect(try t.count(tree) == UInt64(model.count) && t.runs.isEmpty)
      try Self.put(300, t, tree, &model, &random)
      #expect(!t.runs.isEmpty)
      try t.rollBack(to: saved)
      model = then
      #expect(!t.runs.isEmpty)
      try Self.put(100, t, tree, &model, &random)
    }
    if look == .rollBack {
      t.rollBack()
      model = before
    } else if look == .drop {
      try t.commit()
      #expect(try !store.snapshot().trees().contains(tree))
    } else {
      try Self.put(50, t, tree, &model, &random)
      try t.commit()
    }
    for isReopened in [false, true] {
      if isReopened {
        try store.close()
        store = try Store.open(on: device, environment: TestEnvironment(seed: 4), options: Self.options())
      }
      if look != .drop {
        let view = try store.snapshot()
        #expect(try Self.content(view, tree) == model, "reopened: \(isReopened)")
        #expect(try view.count(tree) == UInt64(model.count))
      }
      let report = try store.check()
      #expect(report.problems.isEmpty, "reopened: \(isReopened)")
    }
  }

  /// Random operations, in any order, beside savepoints, against a dictionary.
  @Test func agreesWithAModel() throws {
    let first = testSeed(20_261_125)
    print("spilled runs from seed \(first)")
    var withRuns = 0
    for n in 0..<UInt64(isFullLength ? 60 : 6) {
      var random = SplitMix64(seed: first &+ n)
      var (store, _, tree, model) = try Self.store(&random)
      for _ in 0..<4 {
        let before = model
        let t = try store.beginWrite()
        var saved: [(point: Savepoint, model: [[UInt8]: [UInt8]])] = []
        for _ in 0..<(4 + random.below(8)) {
          switch random.below(8) {
          case 0: saved.append((t.savepoint(), model))
          case 1:
            guard !saved.isEmpty else { continue }
            saved.removeLast(random.below(saved.count))
            guard let last = saved.last else { continue }
            try t.rollBack(to: last.point)
            model = last.model
          case 2:
            let key = Self.key(random.below(Self.keys))
            #expect(try t.delete(tree, key) == (model.removeValue(forKey: key) != nil))
          case 3: #expect(try t.count(tree) == UInt64(model.count), "seed \(first &+ n)")
          default: try Self.put(random.below(250), t, tree, &model, &random)
          }
          if !t.runs.isEmpty { withRuns += 1 }
        }
        if random.oneIn(4) {
          t.rollBack()
          model = before
        } else {
          try t.commit()
        }
        #expect(try Self.content(store.snapshot(), tree) == model, "seed \(first &+ n)")
      }
      let report = try store.check()
      #expect(report.problems.isEmpty, "seed \(first &+ n)")
    }
    #expect(withRuns >= 30)
  }

  /// The same of a tree whose keys are integers.
  @Test func runsOfIntegers() throws {
    var random = SplitMix64(seed: 82)
    let (store, _, _, _) = try Self.store(&random)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    var model: [UInt64: [UInt8]] = [:]
    for n in 0..<UInt64(3000) {
      model[n * 7] = random.bytes(30)
      try t.put(tree, n * 7, model[n * 7] ?? [])
    }
    try t.commit()
    t = try store.beginWrite()
    for _ in 0..<600 {
      let key = UInt64(random.below(21_000))
      model[key] = random.bytes(random.oneIn(50) ? 2000 : 30)
      try t.put(tree, key, model[key] ?? [])
    }
    #expect(t.runs[tree]?.count ?? 0 >= 3)
    #expect(try t.count(tree) == UInt64(model.count))
    try t.commit()
    let view = try store.snapshot()
    #expect(try view.count(tree) == UInt64(model.count))
    for (key, value) in model { #expect(try view.value(tree, key) == value) }
    let report = try store.check()
    #expect(report.problems.isEmpty)
  }

  /// Puts in order, and puts close together, are taken in at once: a run would only have them written twice.
  @Test func whatTouchesLittleOfTheTreeMakesNoRuns() throws {
    var random = SplitMix64(seed: 78)
    let (store, _, _, _) = try Self.store(&random)
    var t = try store.beginWrite()
    let tree = try t.createTree(.integer)
    for n in 0..<3000 { try t.put(tree, UInt64(n), random.bytes(40)) }
    #expect(t.spilled[tree] != nil && t.runs.isEmpty)
    try t.commit()
    t = try store.beginWrite()
    for n in 1000..<2000 { try t.put(tree, UInt64(n), random.bytes(40)) }
    #expect(t.spilled[tree] != nil && t.runs.isEmpty)
    try t.commit()
    #expect(try store.snapshot().count(tree) == 3000)
  }

  /// A read or write that fails while runs are made or taken in ends the transaction, and leaves nothing of it.
  @Test func whereTheDeviceFailsNothingIsLeft() throws {
    var failures: [FaultDevice.Kind: Int] = [:]
    for operation in [FaultDevice.Kind.read, .write] {
      var n = 0
      while true {
        var random = SplitMix64(seed: 81)
        let (made, memory, tree, before) = try Self.store(&random)
        try made.close()
        let device = FaultDevice(memory)
        var options = Self.options()
        // So small that pages are read again.
        options.cacheBytes = 64 << 10
        let store = try Store.open(on: device, environment: TestEnvironment(seed: 5), options: options)
        var model = before
        let t = try store.beginWrite()
        let error = StoreError.device(operation: .write, offset: 0, code: 5)
        device.plan(.init(operation, at: device.operationCount(of: operation) + n, error: error))
        do {
          try Self.put(400, t, tree, &model, &random)
          #expect(try t.count(tree) == UInt64(model.count))
          t.rollBack()
          break
        } catch {
          failures[operation, default: 0] += 1
          // Whatever comes next is refused as well, but for what had not come to pages.
          t.rollBack()
        }
        device.reset()
        #expect(try Self.content(store.snapshot(), tree) == before, "\(operation) \(n), rolled back")
        // A write that a checkpoint lacks may make the store refuse everything: then it has to be opened again.
        try? store.close()
        let opened = try Store.open(on: memory, environment: TestEnvironment(seed: 6), options: options)
        #expect(try Self.content(opened.snapshot(), tree) == before, "\(operation) \(n)")
        let report = try opened.check()
        #expect(report.problems.isEmpty, "\(operation) \(n): \(report.problems)")
        try opened.close()
        n += 1 + n / 8
      }
    }
    #expect(failures[.read] ?? 0 >= 5 && failures[.write] ?? 0 >= 5, "\(failures)")
  }

  /// Where every put is followed by a look, runs are only work: after some there are no more.
  @Test func aTreeThatIsLookedAtGetsNoMoreRuns() throws {
    var random = SplitMix64(seed: 80)
    var (store, _, tree, model) = try Self.store(&random)
    let t = try store.beginWrite()
    var looks = 0
    for _ in 0..<40 {
      try Self.put(150, t, tree, &model, &random)
      if !t.runs.isEmpty { looks += 1 }
      #expect(try t.count(tree) == UInt64(model.count))
    }
    #expect(looks == WriteTransaction.mostLooks)
    try t.commit()
    #expect(try Self.content(store.snapshot(), tree) == model)
  }

  /// The file grows by what is put, its runs, and the tree that they become; not by a tree for each time that memory
  /// was full.
  @Test func roomIsThatOfTheDataAFewTimes() throws {
    var random = SplitMix64(seed: 79)
    let device = MemoryDevice()
    var options = Self.options()
    options.deltaBytes = 64 << 10
    let store = try Store.create(on: device, environment: TestEnvironment(seed: 3), options: options)
    let t = try store.beginWrite()
    let tree = try t.createTree(.bytes)
    var bytes = 0
    for n in 0..<20_000 {
      try t.put(tree, Self.key(n), random.bytes(40))
      bytes += 49
    }
    #expect(t.runs[tree]?.count ?? 0 > 15)
    try t.commit()
    print("\(bytes) bytes put, a file of \(try device.size())")
    #expect(try device.size() < 5 * UInt64(bytes))
    #expect(try store.snapshot().count(tree) == 20_000)
    let report = try store.check()
    #expect(report.problems.isEmpty)
  }
}
