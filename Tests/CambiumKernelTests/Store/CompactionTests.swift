import CambiumTesting
import Testing

@testable import CambiumKernel

/// Compaction among all that holds room back: open views, retained commits, reopening, and commits in between.
@Suite struct CompactionTests {
  /// What must still be read as it was.
  private struct Held {
    var view: Snapshot
    var hash: UInt64
  }

  private final class Run {
    let device = MemoryDevice()
    var store: Store
    var random: SplitMix64
    var integer = TreeID(rawValue: 0)
    var names = TreeID(rawValue: 0)
    var views: [Held] = []
    var kept: [(id: UInt64, hash: UInt64)] = []
    /// Segments that a step left shorter than they were.
    var cuts = 0

    init(_ seed: UInt64, _ durability: Durability) throws {
      random = SplitMix64(seed: seed)
      store = try Store.create(
        on: device, environment: TestEnvironment(seed: seed), options: Self.options(durability))
      let t = try store.beginWrite()
      integer = try t.createTree(.integer)
      names = try t.createTree(.bytes)
      try t.commit()
    }

    static func options(_ durability: Durability) -> StoreOptions {
      var options = StoreOptions()
      options.durability = durability
      options.logBytes = 96 << 10
      options.deltaBytes = 256 << 10
      options.cacheBytes = 256 << 10
      options.logValueLimit = 3000
      return options
    }

    func change() throws {
      let t = try store.beginWrite()
      let deletes = random.oneIn(3)
      for _ in 0..<(20 + random.below(150)) {
        let key = UInt64(random.below(1500))
        let name = Array("a prefix that all of them share/\(key)".utf8)
        if deletes {
          try t.delete(integer, key)
          try t.delete(names, name)
        } else {
          try t.put(integer, key, random.bytes(random.oneIn(12) ? random.below(40_000) : random.below(500)))
          try t.put(names, name, modelKey(key))
        }
      }
      try t.commit()
    }

    func step() throws {
      let before = store.space.table.segments
      _ = try store.compactStep(bytes: 1 << (14 + random.below(7)))
      for s in before where s.kind != .log && s.dead == 0 {
        if let i = store.space.table.index(start: s.start), store.space.table[i].units < s.units { cuts += 1 }
      }
    }

    func reopen() throws {
      views = []
      let hash = try StoreContent.hash(of: store.snapshot())
      if random.oneIn(2) { try store.close() }
      store = try Store.open(on: device, environment: TestEnvironment(seed: random.next()), options: store.options)
      #expect(try StoreContent.hash(of: store.snapshot()) == hash)
    }

    func verify() throws {
      for held in views { #expect(try StoreContent.hash(of: held.view) == held.hash) }
      for (id, hash) in kept { #expect(try StoreContent.hash(of: store.snapshot(retained: id)) == hash) }
      let found = try store.check().problems
      #expect(found.isEmpty, "\(found)")
    }
  }

  @Test(arguments: [Durability.full, .strict, .normal])
  func everythingHeldStaysWhatItWas(_ durability: Durability) throws {
    var cuts = 0
    for n in 0..<(CrashTests.isOptimized ? 40 : 3) as Range<UInt64> {
      let run = try Run(CrashTests.seed &+ n, durability)
      for _ in 0..<60 {
        switch run.random.below(12) {
        case 0..<4: try run.change()
        case 4..<8: try run.step()
        case 8:
          let view = try run.store.snapshot()
          run.views.append(Held(view: view, hash: try StoreContent.hash(of: view)))
        case 9:
          let id = try run.store.retain(reason: "r").id
          run.kept.append((id, try StoreContent.hash(of: run.store.snapshot())))
        case 10:
          if run.random.oneIn(2), !run.views.isEmpty { run.views.removeFirst() }
          if run.random.oneIn(2), !run.kept.isEmpty { try run.store.release(retained: run.kept.removeFirst().id) }
        default: try run.reopen()
        }
        if run.random.oneIn(6) { try run.verify() }
      }
      try run.verify()
      run.views = []
      for (id, _) in run.kept { try run.store.release(retained: id) }
      run.kept = []
      let hash = try StoreContent.hash(of: run.store.snapshot())
      try run.store.checkpoint()
      let before = try run.store.statistics().fileBytes
      try run.store.compact()
      #expect(try run.store.statistics().fileBytes <= before, "seed \(CrashTests.seed &+ n)")
      #expect(try StoreContent.hash(of: run.store.snapshot()) == hash)
      try run.verify()
      let s = try run.store.statistics()
      // Neither reached, nor log, nor superblocks. A file of less than 1 MiB has fewer than 64 units, and not all holes of
      // one or two can be filled with values that are longer.
      let dead = Int(s.fileBytes) - Int(s.liveBytes) - Int(s.logSegmentBytes) - SegmentTable.unitSize
      let isSmall = s.fileBytes < 1 << 20 && dead <= 4 * SegmentTable.unitSize
      #expect(dead * 20 < Int(s.fileBytes) || isSmall, "seed \(CrashTests.seed &+ n): \(s)")
      cuts += run.cuts
    }
    #expect(cuts > 0)
  }
}
