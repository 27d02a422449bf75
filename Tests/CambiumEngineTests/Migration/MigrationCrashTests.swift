import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// A migration that is cut short anywhere leaves the store as it was, or as it is to be: model and objects.
@Suite struct MigrationCrashTests {
  /// How many migrations, where the tests are optimized enough for every kind of change that random models know;
  /// `CAMBIUM_MIGRATION_CRASHES` sets another number.
  static var count: Int { testCount("CAMBIUM_MIGRATION_CRASHES", debug: 6, release: 800) }

  @Test func everyWriteMayBeTheLast() throws {
    let first = testSeed(20_261_122)
    print("migrations cut short, from seed \(first)")
    var images = 0
    var kinds: Set<String> = []
    var tries: UInt64 = 0
    var migrations = 0
    var deferred = 0
    var pending = 0
    while migrations < Self.count, tries < UInt64(20 * Self.count) {
      tries += 1
      var random = SplitMix64(seed: first &+ tries)
      var source = RandomModel(seed: random.next())
      let memory = MemoryDevice()
      guard let made = try? RandomMigrationTests.store(source.definition, &random, on: memory) else { continue }
      let next = source.changed()
      // As many kinds of changes as there can be, one of each first.
      if kinds.count < 38, Set(next.changes).isSubset(of: kinds) { continue }
      try made.close()
      var options = StoreOptions()
      // So small that what a migration writes does not stay in memory until the end.
      if random.oneIn(2) { options.deltaBytes = 4096 }
      options.durability = random.oneIn(2) ? .full : .strict
      let disk = SimulatedDisk(memory.contents())
      let store = try EntityStore.open(
        try Store.open(on: disk, environment: TestEnvironment(seed: random.next()), options: options))
      let before = try NaiveStore(store)
      let oldModel = store.schema
      let start = disk.operationCount
      guard case .success(let after) = RandomMigrationTests.migrate(store, next.definition, defers: !random.oneIn(4))
      else { continue }
      let acknowledged = disk.operationCount
      let expected = try NaiveStore(after)
      // What was put off is done in commits of its own, which may be cut short as well.
      if try !after.deferredTasks().isEmpty { deferred += 1 }
      while try after.runDeferredTask(maximumRows: 4) {}
      try after.kernel.checkpoint()
      try after.close()
      migrations += 1
      kinds.formUnion(next.changes)
      for point in start...disk.operationCount {
        for image in disk.crashImages(
          at: point, limit: 6, tearing: options.durability == .full ? .byteRange : .sector(bytes: 512),
          seed: random.next())
        {
          images += 1
          let text = "seed \(first &+ tries), \(next.changes), point \(point) of \(start)...\(disk.operationCount)"
          let opened = try EntityStore.open(
            try Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 1)))
          let isNew = opened.schema == after.schema
          #expect(isNew || opened.schema == oldModel, "\(text)")
          #expect(isNew || point < acknowledged, "\(text): an acknowledged migration is gone")
          let found = try NaiveStore(opened)
          let difference = (isNew ? expected : before).difference(from: found)
          #expect(difference == nil, "\(text): \(difference ?? "")")
          if difference != nil { return }
          // What is left goes on where it was.
          if isNew, try !opened.deferredTasks().isEmpty {
            pending += 1
            if pending % 8 == 1 {
              while try opened.runDeferredTask(maximumRows: 3) {}
              let difference = expected.difference(from: try NaiveStore(opened))
              #expect(difference == nil, "\(text), tasks done: \(difference ?? "")")
            }
          }
          if images % 16 == 0 || pending % 32 == 1 {
            let report = try opened.check()
            #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
          }
        }
      }
    }
    print(
      "\(migrations) migrations, \(deferred) with tasks, \(kinds.count) kinds of changes, \(images) images, "
        + "\(pending) of them with tasks left")
    #expect(deferred > Self.count / 8 && pending > Self.count)
    #expect(migrations == Self.count && kinds.count >= min(30, Self.count) && images >= 40 * Self.count)
    // All kinds that can be migrated, but for one that hardly ever comes alone.
    if Self.count >= 800 { #expect(kinds.count >= 42) }
  }
}
