import CambiumTesting
import Testing

@testable import CambiumKernel

/// Values that a large transaction puts behind the end of a tree: what is gathered is seen by everything that looks,
/// told once to whoever is told, and the tree's in the end.
@Suite struct TailTests {
  private static func options(threads: Int = 0) -> StoreOptions {
    var options = StoreOptions()
    options.deltaBytes = 1 << 20
    options.logBytes = 64 << 10
    options.cacheBytes = 256 << 10
    options.logValueLimit = 4000
    options.maximumThreads = threads
    return options
  }

  /// Keeps what it is told.
  private final class Listener: TailObserver {
    private let told = Locked<[UInt64: [UInt8]]>([:])
    private let twice = Locked(0)
    private(set) var parts = 0
    private(set) var tellings = 0
    private var isTelling = false

    var values: [UInt64: [UInt8]] { told.withLock { $0 } }
    var isSound: Bool { twice.withLock { $0 == 0 } && !isTelling }

    func willTake(from tree: TreeID, parts: Int) {
      if isTelling { twice.withLock { $0 += 1 } }
      isTelling = true
      self.parts = max(self.parts, parts)
    }

    func take(_ values: TailValues, part: Int) {
      var mine: [UInt64: [UInt8]] = [:]
      values.forEach { (key, value) in
        if mine.updateValue(Array(value), forKey: key) != nil { twice.withLock { $0 += 1 } }
        return true
      }
      let isNew = told.withLock { (all) in
        let before = all.count
        all.merge(mine) { $1 }
        return all.count == before + mine.count
      }
      if !isNew { twice.withLock { $0 += 1 } }
    }

    func didTake() {
      isTelling = false
      tellings += 1
    }
  }

  /// Puts rows behind the end; answers those of which the listener will be told.
  private static func append(
    _ count: Int, _ t: WriteTransaction, _ tree: TreeID, _ model: inout [UInt64: [UInt8]], _ random: inout SplitMix64,
    large: Bool = false
  ) throws -> Set<UInt64> {
    var gathered = Set<UInt64>()
    var key = model.keys.max() ?? 0
    for _ in 0..<count {
      key += 1 + UInt64(random.below(3))
      let value = random.bytes(large && random.oneIn(500) ? 2_000 + random.below(6_000) : 60 + random.below(80))
      if try value.withUnsafeBytesTyped({ (v) throws(StoreError) in try t.put(tree, behind: key, v) }) {
        gathered.insert(key)
      }
      model[key] = value
    }
    return gathered
  }

  private static func content(_ view: TreeView, _ tree: TreeID) throws -> [UInt64: [UInt8]] {
    try ValueConversionTests.rows(view, tree)
  }

  enum Step: CaseIterable {
    case append, appendLarge, get, count, cursor, parts, older, change, delete, other, batch, savepoint, rollBack
  }

  @Test(arguments: [0, 1]) func whatIsGatheredIsSeenAndToldOnce(threads: Int) throws {
    let seed = testSeed(20_261_124)
    var tailed = 0
    for round in 0..<(isFullLength ? 40 : 6) {
      var random = SplitMix64(seed: seed &+ UInt64(round))
      let device = MemoryDevice(lock: ThreadLock())
      let environment = TestEnvironment(seed: 3, processors: 3)
      let store = try Store.create(on: device, environment: environment, options: Self.options(threads: threads))
      let t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      let other = try t.createTree(.integer)
      var model: [UInt64: [UInt8]] = [:]
      let listener = Listener()
      if round % 3 != 0 { t.observer = listener }
      defer { t.observer = nil }
      var gathered = Set<UInt64>()
      // So much that a tail may begin.
      gathered.formUnion(try Self.append(4_000, t, tree, &model, &random))
      var saved: (point: Savepoint, model: [UInt64: [UInt8]], gathered: Set<UInt64>)?
      for _ in 0..<14 {
        tailed += t.tail == nil ? 0 : 1
        switch random.pick(Step.allCases) {
        case .append: gathered.formUnion(try Self.append(2_500, t, tree, &model, &random))
        case .appendLarge: gathered.formUnion(try Self.append(2_500, t, tree, &model, &random, large: true))
        case .get:
          for _ in 0..<20 {
            let key = UInt64(random.below(20_000))
            #expect(try t.value(tree, key) == model[key])
          }
        case .count: #expect(try t.count(tree) == UInt64(model.count))
        case .cursor:
          let isSame = try Self.content(t, tree) == model
          #expect(isSame)
        case .parts:
          var n = 0
          let parts = try t.parts(of: tree, entries: 1_000)
          for part in 0..<parts.count {
            try t.forEachRun(parts, part) { (run) throws(StoreError) in
              n += run.indices.count
              return true
            }
          }
          #expect(n == model.count)
        case .older:
          let key = UInt64(random.below(Int(model.keys.max() ?? 1)))
          model[key] = [7]
          try t.put(tree, key, [7])
        case .change:
          if let key = model.keys.max() {
            model[key] = [9, 9]
            try t.put(tree, key, [9, 9])
          }
        case .delete:
          for _ in 0..<3 {
            guard let key = random.oneIn(2) ? model.keys.max() : model.keys.randomElement(using: &random) else { break }
            model[key] = nil
            #expect(try t.delete(tree, key))
            #expect(try !t.delete(tree, key))
          }
        case .other: for n in 0..<200 as Range<UInt64> { try t.put(other, UInt64(random.below(1_000)), [UInt8(n)]) }
        case .batch:
          let batch = RowBatch()
          var key = model.keys.max() ?? 0
          for _ in 0..<random.below(400) {
            key += 1
            model[key] = [1, 2, 3]
            try [1, 2, 3].withUnsafeBytesTyped { (v) throws(StoreError) in try batch.add(key, v) }
          }
          try t.apply(batch, to: tree)
        case .savepoint:
          let point = t.savepoint()
          #expect(t.tail == nil)
          saved = (point, model, gathered)
        case .rollBack:
          if let back = saved {
            try t.rollBack(to: back.point)
            model = back.model
            // Keys of which the listener was told may come again.
            saved = nil
            t.observer = nil
          }
        }
      }
      try t.takeTail()
      #expect(listener.isSound)
      if t.observer != nil { #expect(Set(listener.values.keys) == gathered) }
      if random.oneIn(5) {
        t.rollBack()
        #expect(try store.snapshot().kind(of: tree) == nil)
        #expect(try store.check().problems.isEmpty)
        continue
      }
      try t.commit()
      for _ in 0..<2 {
        let view = try store.snapshot()
        let isSame = try Self.content(view, tree) == model && view.count(tree) == UInt64(model.count)
        #expect(isSame, "seed \(seed), round \(round)")
        try store.checkpoint()
      }
      #expect(try store.check().problems.isEmpty)
    }
    #expect(tailed > 10, "tails were hardly ever there")
  }

  /// Small transactions, little memory, keys that do not rise, and who looks again and again are left as they were.
  @Test func nothingIsGatheredWhereThatIsNotWorthIt() throws {
    let value = [UInt8](repeating: 1, count: 100)
    func tails(
      _ options: StoreOptions, _ count: Int, key: (Int) -> UInt64, each: (WriteTransaction, TreeID) throws -> Void
    )
      throws -> Int
    {
      let store = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 3), options: options)
      let t = try store.beginWrite()
      let tree = try t.createTree(.integer)
      var tails = 0
      for n in 0..<count {
        try t.put(tree, key(n), value)
        tails += t.tail == nil ? 0 : 1
        try each(t, tree)
      }
      try t.commit()
      #expect(try store.snapshot().count(tree) == UInt64(count))
      return tails
    }
    var little = Self.options()
    little.deltaBytes = 512 << 10
    #expect(try tails(Self.options(), 20_000, key: { UInt64($0) + 1 }, each: { _, _ in }) > 15_000)
    #expect(try tails(Self.options(), 1_000, key: { UInt64($0) + 1 }, each: { _, _ in }) == 0)
    #expect(try tails(little, 20_000, key: { UInt64($0) + 1 }, each: { _, _ in }) == 0)
    #expect(try tails(Self.options(), 20_000, key: { UInt64($0 ^ 1) + 1 }, each: { _, _ in }) == 0)
    let looking = try tails(Self.options(), 20_000, key: { UInt64($0) + 1 }, each: { _ = try $0.count($1) })
    #expect(looking <= RowTail.mostEnded)
  }

  /// Each write of a transaction that gathers fails once: nothing of it is there then, and the store goes on.
  @Test(arguments: [true, false]) func everyWriteFailsOnce(hasThreads: Bool) throws {
    var failed = 0
    var n = 0
    while true {
      let disk = SimulatedDisk()
      let faults = FaultDevice(disk)
      let environment = TestEnvironment(seed: 9, processors: 2, hasThreads: hasThreads)
      let store = try Store.create(on: ConcurrentDevice(faults), environment: environment, options: Self.options())
      var random = SplitMix64(seed: 5)
      var model: [UInt64: [UInt8]] = [:]
      let first = try store.beginWrite()
      let tree = try first.createTree(.integer)
      _ = try Self.append(100, first, tree, &model, &random)
      try first.commit()
      let before = model
      faults.reset()
      faults.plan(FaultDevice.Fault(.write, at: n))
      var isDone = false
      let t = try store.beginWrite()
      let listener = Listener()
      t.observer = listener
      do {
        _ = try Self.append(14_000, t, tree, &model, &random, large: true)
        #expect(t.context != nil)
        try t.commit()
        isDone = true
      } catch {
        failed += 1
        t.rollBack()
      }
      t.observer = nil
      let wasMet = faults.failureCount > 0
      faults.reset()
      #expect(isDone || wasMet)
      // A failed superblock leaves open which state it is until the store is opened again.
      if !isDone, let view = try? store.snapshot() {
        let isRight = try Self.content(view, tree) == before
        #expect(isRight, "write \(n)")
      }
      try? store.close()
      let again = try Store.open(on: disk, environment: TestEnvironment(seed: 10), options: Self.options())
      let found = try Self.content(try again.snapshot(), tree)
      let isRight = isDone ? found == model : found == before || found == model
      #expect(isRight, "write \(n)")
      #expect(try again.check().problems.isEmpty)
      if !wasMet { break }
      n += isFullLength ? 1 : 3
    }
    #expect(failed > 5)
  }
}
