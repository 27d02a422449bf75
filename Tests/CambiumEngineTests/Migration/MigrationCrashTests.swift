import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// A migration that is cut short anywhere leaves the store as it was, or as it is to be: model and objects.
@Suite struct MigrationCrashTests {
  /// How many migrations, at full length enough for every kind of change that random models know;
  /// `CAMBIUM_MIGRATION_CRASHES` sets another number.
  static var count: Int { testCount("CAMBIUM_MIGRATION_CRASHES", short: 6, full: 800) }

  /// Kinds of changes that no object may stand in the way of, which is why hardly any of them is made where every
  /// entity has objects; or that cannot be inferred.
  private static let seldomMade: Set<String> = [
    "type changed", "to-many made to-one", "destination changed", "entity made abstract", "required attribute added",
    "required relationship added",
  ]

  /// What migrations cut short came to.
  private struct Tally {
    var images = 0
    var migrations = 0
    /// How often each kind of change was made, at once and with what can be put off.
    var eager: [String: Int] = [:]
    var deferring: [String: Int] = [:]
    /// Migrations that did put something off, and images with some of it left.
    var deferred = 0
    var pending = 0

    mutating func note(_ changes: [String], defers: Bool) {
      for change in changes {
        if defers { deferring[change, default: 0] += 1 } else { eager[change, default: 0] += 1 }
      }
    }
  }

  @Test func everyWriteMayBeTheLast() throws {
    let first = testSeed(20_261_122)
    print("migrations cut short, from seed \(first)")
    var tally = Tally()
    var tries: UInt64 = 0
    while tally.migrations < Self.count, tries < UInt64(40 * Self.count) {
      tries += 1
      if try !Self.round(first &+ tries, &tally) { return }
    }
    print(
      "\(tally.migrations) migrations of \(tries), \(tally.deferred) with tasks, \(tally.images) images, "
        + "\(tally.pending) of them with tasks left")
    for operation in RandomModel.operations {
      let (eager, deferring) = (tally.eager[operation.name] ?? 0, tally.deferring[operation.name] ?? 0)
      if eager + deferring > 0 { print("  \(operation.name): \(eager) at once, \(deferring) deferring") }
    }
    #expect(tally.deferred > Self.count / 8 && tally.pending > Self.count)
    #expect(tally.migrations == Self.count && tally.images >= 40 * Self.count)
    #expect(tally.eager.count >= min(20, Self.count / 3) && tally.deferring.count >= min(20, Self.count / 3))
    guard Self.count >= 800 else { return }
    // All kinds that can be migrated: what is done at once covers them without the help of what puts something off.
    for operation in RandomModel.operations where !Self.seldomMade.contains(operation.name) {
      #expect(tally.eager[operation.name] ?? 0 >= Self.count / 100, "\(operation.name) was hardly done at once")
      #expect(
        tally.deferring[operation.name] ?? 0 >= Self.count / 100,
        "\(operation.name) was hardly done with what can be put off")
    }
  }

  /// One model, and one change of it, cut short everywhere. Answers whether there is any use in going on.
  private static func round(_ seed: UInt64, _ tally: inout Tally) throws -> Bool {
    var random = SplitMix64(seed: seed)
    var source = RandomModel(seed: random.next())
    source.vary()
    let defers = random.oneIn(2)
    let memory = MemoryDevice()
    guard (try? Schema(source.definition)) != nil else { return true }
    let next = source.changed()
    // As many kinds of changes as there can be: none is made again before each was made often enough.
    let known = defers ? tally.deferring : tally.eager
    let isNeeded = { (change: String) in
      known[change] ?? 0 < max(1, Self.count / 80) && !Self.seldomMade.contains(change)
    }
    if RandomModel.operations.contains(where: { isNeeded($0.name) }), !next.changes.contains(where: isNeeded) {
      return true
    }
    // Every entity has objects, so that whatever is changed is changed for some.
    let made = try RandomMigrationTests.store(source.definition, &random, on: memory, each: true)
    try made.close()
    var options = StoreOptions()
    // So small that what a migration writes does not stay in memory until the end.
    if random.oneIn(2) { options.deltaBytes = 4096 }
    options.durability = random.oneIn(2) ? .full : .strict
    let disk = SimulatedDisk(memory.contents())
    let store = try EntityStore.open(
      try Store.open(on: disk, environment: TestEnvironment(seed: random.next()), options: options))
    let before = try NaiveStore(store)
    #expect(
      store.schema.entities.allSatisfy { entity in
        entity.isAbstract || before.objects.values.contains { $0.entity == entity.name }
      })
    let oldModel = store.schema
    let start = disk.operationCount
    guard case .success(let after) = RandomMigrationTests.migrate(store, next.definition, defers: defers) else {
      return true
    }
    let acknowledged = disk.operationCount
    let text = "seed \(seed), \(next.changes), \(defers ? "deferring" : "at once")"
    guard case .migrated(let expected) = NaiveMigration(source.definition, next.definition).migrate(before) else {
      Issue.record("\(text): made, although something is in the way")
      return false
    }
    let difference = expected.difference(from: try NaiveStore(after))
    #expect(difference == nil, "\(text): \(difference ?? "")")
    if difference != nil { return false }
    // What was put off is done in commits of its own, which may be cut short as well.
    if try !after.deferredTasks().isEmpty { tally.deferred += 1 }
    while try after.runDeferredTask(maximumRows: 4) {}
    try after.kernel.checkpoint()
    try after.close()
    tally.migrations += 1
    tally.note(next.changes, defers: defers)
    for point in start...disk.operationCount {
      for image in disk.crashImages(
        at: point, limit: 6, tearing: options.durability == .full ? .byteRange : .sector(bytes: 512),
        seed: random.next())
      {
        let isNew = try open(
          image, old: (oldModel, before), new: (after.schema, expected),
          "\(text), point \(point) of \(start)...\(disk.operationCount)", &tally)
        guard let isNew else { return false }
        #expect(isNew || point < acknowledged, "\(text), point \(point): an acknowledged migration is gone")
      }
    }
    return true
  }

  /// Opens what a crash left: the old store or the new one, whole. Answers whether it is the new one; nil if it is
  /// neither.
  private static func open(
    _ image: CrashImage, old: (schema: Schema, objects: NaiveStore), new: (schema: Schema, objects: NaiveStore),
    _ text: String, _ tally: inout Tally
  ) throws -> Bool? {
    tally.images += 1
    let opened = try EntityStore.open(
      try Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 1)))
    let isNew = opened.schema == new.schema
    #expect(isNew || opened.schema == old.schema, "\(text)")
    let difference = (isNew ? new.objects : old.objects).difference(from: try NaiveStore(opened))
    #expect(difference == nil, "\(text): \(difference ?? "")")
    if difference != nil { return nil }
    // What is left goes on where it was.
    if isNew, try !opened.deferredTasks().isEmpty {
      tally.pending += 1
      if tally.pending % 8 == 1 {
        while try opened.runDeferredTask(maximumRows: 3) {}
        let difference = new.objects.difference(from: try NaiveStore(opened))
        #expect(difference == nil, "\(text), tasks done: \(difference ?? "")")
      }
    }
    if tally.images % 16 == 0 || tally.pending % 32 == 1 {
      let report = try opened.check()
      #expect(report.isSound, "\(text): \(report.problems) \(report.kernel.problems)")
    }
    return isNew
  }
}
