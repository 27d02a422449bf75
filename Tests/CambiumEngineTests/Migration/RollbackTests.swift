import CambiumEngine
import CambiumKernel
import CambiumTesting
import Foundation
import Testing

/// Going back behind a migration: from any part of what it put off, and after commits of the application, the store
/// must be what it was before, value by value and index by index.
@Suite struct RollbackTests {
  /// How many stores; `CAMBIUM_ROLLBACKS` sets another number.
  static var count: Int { testCount("CAMBIUM_ROLLBACKS", short: 120, full: 120) }

  // MARK: Random migrations

  @Test func anyChainOfMigrationsIsUndoneStepByStep() throws {
    let first = testSeed(20_261_123)
    print("rollbacks from seed \(first)")
    var undone = 0
    var discarding = 0
    var afterTasks = 0
    for n in 0..<UInt64(Self.count) {
      let seed = first &+ n
      var random = SplitMix64(seed: seed)
      var source = RandomModel(seed: random.next())
      guard let kernel = try? RandomMigrationTests.store(source.definition, &random) else { continue }
      var store = try EntityStore.open(kernel)
      // What each migration has to be undone to, the newest last.
      var states: [(schema: Schema, objects: NaiveStore, sequence: UInt64)] = []
      for _ in 0..<3 {
        let text = "seed \(seed)"
        let before = try NaiveStore(store)
        let next = source.changed()
        guard (try? Schema(next.definition, basedOn: store.schema)) != nil else { continue }
        let sequence = try kernel.snapshot().sequence
        let keeps = random.oneIn(2)
        let schema = store.schema
        do throws(EngineError) {
          store = try store.migrate(to: next.definition, defers: random.oneIn(2), keepsPriorState: keeps)
        } catch { continue }
        source = next
        if try store.priorState()?.commit.sequence == sequence {
          states.append((schema, before, sequence))
          #expect(try store.priorState()?.schema == schema, "\(text)")
        } else {
          // Nothing was put off, and nobody asked for it. What is known of earlier ones may be given up with it.
          #expect(!keeps)
          states = []
          try store.confirmMigration()
        }
        for _ in 0..<random.below(4) { try RandomMigrationTests.changeSomething(store, &random) }
        let parts = random.below(5)
        for _ in 0..<parts { _ = try store.runDeferredTask(maximumRows: 3) }
        if parts > 0 { afterTasks += 1 }
        for _ in 0..<random.below(2) { try RandomMigrationTests.changeSomething(store, &random) }
        if random.oneIn(4) { try kernel.checkpoint() }
      }
      // Some were kept only until the work is done, which may be so by now.
      while let prior = try store.priorState() {
        guard let state = states.last(where: { $0.sequence == prior.commit.sequence }) else {
          Issue.record("seed \(seed): an unknown state is kept")
          return
        }
        let old = store
        let now = try NaiveStore(store)
        if prior.commitsSince > 0 {
          discarding += 1
          do throws(EngineError) {
            _ = try store.rollBackMigration()
            Issue.record("seed \(seed): commits were discarded without a word")
          } catch {
            guard case .commitsSinceMigration(prior.commitsSince) = error else {
              Issue.record("seed \(seed): \(error.description)")
              return
            }
          }
          #expect(try NaiveStore(store) == now)
        }
        store = try store.rollBackMigration(discardsCommits: prior.commitsSince > 0)
        undone += 1
        #expect(store.schema == state.schema, "seed \(seed)")
        let difference = state.objects.difference(from: try NaiveStore(store))
        #expect(difference == nil, "seed \(seed): \(difference ?? "")")
        let report = try store.check()
        #expect(report.isSound, "seed \(seed): \(report.problems) \(report.kernel.problems)")
        if difference != nil || !report.isSound { return }
        #expect(throws: EngineError.self, "seed \(seed): the store of the other model must refuse") { try old.view() }
        if random.oneIn(3) {
          try kernel.checkpoint()
          store = try EntityStore.open(kernel)
        }
      }
      #expect(throws: EngineError.self) { try store.rollBackMigration() }
      // Nothing is retained that nobody can go back to.
      #expect(try store.retainedCommits().isEmpty, "seed \(seed)")
      try RandomMigrationTests.changeSomething(store, &random)
      #expect(try store.check().isSound, "seed \(seed)")
    }
    print("\(undone) migrations undone, \(discarding) with commits discarded, \(afterTasks) after parts of tasks")
    #expect(undone >= Self.count / 2 && discarding >= Self.count / 10 && afterTasks >= Self.count / 4)
  }

  // MARK: Rules

  private static let note = EntitySchema(
    "Note",
    attributes: [
      AttributeSchema("text", .string), AttributeSchema("size", .integer64), AttributeSchema("old", .string),
    ])
  private static let shortNote = EntitySchema(
    "Note", attributes: [AttributeSchema("text", .string), AttributeSchema("size", .integer64)])

  /// A store of notes, with rows enough for several parts of a task.
  private static func notes(_ count: Int, on device: any StorageDevice = MemoryDevice()) throws -> EntityStore {
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: TestEnvironment(seed: 7)),
      schema: try Schema(SchemaDefinition([note])))
    try store.write { (t) throws(EngineError) in
      for i in 0..<count { try add(t, i) }
    }
    return store
  }

  @discardableResult
  private static func add(_ t: EntityTransaction, _ i: Int) throws(EngineError) -> ObjectReference {
    guard let entity = t.store.schema.entity(named: "Note") else { throw .misuse("no notes") }
    var row = RowValues()
    row.set("text", .string("note \(i)"))
    row.set("size", .integer(Int64(i)))
    if entity.attribute(named: "old") != nil { row.set("old", .string("old \(i)")) }
    let reference = try t.reserveReference(entity)
    try t.insert(reference, row)
    return reference
  }

  private static func deferred(_ store: EntityStore, keeps: Bool = false) throws -> EntityStore {
    try store.migrate(to: SchemaDefinition([shortNote]), defers: true, keepsPriorState: keeps)
  }

  @Test func everyPrefixOfATaskCanBeUndone() throws {
    for parts in 0...6 {
      let store = try Self.notes(60)
      let before = try NaiveStore(store)
      let after = try Self.deferred(store)
      for _ in 0..<parts { _ = try after.runDeferredTask(maximumRows: 11) }
      if parts == 6 {
        // The last one gave the state before up.
        #expect(try after.deferredTasks().isEmpty && after.retainedCommits().isEmpty)
        #expect(throws: EngineError.self) { try after.rollBackMigration() }
        continue
      }
      #expect(try after.priorState()?.commitsSince == 0)
      let back = try after.rollBackMigration()
      #expect(try NaiveStore(back) == before)
      #expect(try back.check().isSound && back.deferredTasks().isEmpty && back.retainedCommits().isEmpty)
      // And forth again.
      let again = try Self.deferred(back)
      while try again.runDeferredTask(maximumRows: 7) {}
      #expect(try again.check().isSound)
    }
  }

  @Test func commitsOfTheApplicationAreCountedAndDiscardedOnDemandOnly() throws {
    let store = try Self.notes(30)
    let before = try NaiveStore(store)
    let after = try Self.deferred(store)
    _ = try after.runDeferredTask(maximumRows: 5)
    var made: [ObjectReference] = []
    for i in 0..<3 {
      made.append(try after.write { (t) throws(EngineError) in try Self.add(t, i) })
      _ = try after.runDeferredTask(maximumRows: 5)
    }
    #expect(try after.priorState()?.commitsSince == 3)
    do throws(EngineError) {
      _ = try after.rollBackMigration()
      Issue.record("it must refuse")
    } catch {
      guard case .commitsSinceMigration(3) = error else {
        Issue.record("\(error.description)")
        return
      }
      #expect(error.description.hasPrefix("3 commits were made since"))
    }
    let back = try after.rollBackMigration(discardsCommits: true)
    #expect(try NaiveStore(back) == before)
    // No number is used twice.
    let newer = try back.write { (t) throws(EngineError) in try Self.add(t, 100) }
    #expect(made.allSatisfy { $0.row < newer.row })
    #expect(throws: EngineError.self) { try after.write { (t) throws(EngineError) in try Self.add(t, 1) } }
    #expect(throws: EngineError.self) { try store.view() }
  }

  @Test func aStateIsKeptUntilItIsConfirmed() throws {
    let store = try Self.notes(30)
    let before = try NaiveStore(store)
    var after = try Self.deferred(store, keeps: true)
    while try after.runDeferredTask(maximumRows: 50) {}
    #expect(try after.priorState()?.isKeptUntilConfirmed == true)
    after = try after.rollBackMigration()
    #expect(try NaiveStore(after) == before)
    after = try Self.deferred(after, keeps: true)
    try after.confirmMigration()
    #expect(try after.priorState() == nil && after.retainedCommits().isEmpty)
    #expect(try after.deferredTasks().count == 1)
    #expect(throws: EngineError.self) { try after.rollBackMigration() }
    try after.confirmMigration()
  }

  /// A state that the application keeps until it confirms the migration stays.
  @Test(arguments: [false, true]) func ofUnfinishedMigrationsTheNewestKeepsItsState(keeps: Bool) throws {
    var store = try Self.deferred(try Self.notes(30), keeps: keeps)
    let first = try #require(try store.priorState()).commit
    let shortest = EntitySchema("Note", attributes: [AttributeSchema("text", .string)])
    let before = try NaiveStore(store)
    store = try store.migrate(to: SchemaDefinition([shortest]), defers: true)
    let second = try #require(try store.priorState()).commit
    #expect(second.sequence > first.sequence)
    #expect(try store.deferredTasks().count > 0)
    #expect(try store.retainedCommits().map { $0.sequence } == (keeps ? [first.sequence] : []) + [second.sequence])
    store = try store.rollBackMigration()
    #expect(try NaiveStore(store) == before)
    #expect(try store.priorState()?.commit.sequence == (keeps ? first.sequence : nil))
    while try store.runDeferredTask(maximumRows: 50) {}
    #expect(try store.check().isSound)
  }

  @Test func whatWasReleasedCannotBeGoneBackTo() throws {
    let store = try Self.notes(30)
    let after = try Self.deferred(store)
    let prior = try #require(try after.priorState())
    try after.release(retained: prior.commit.id)
    #expect(try after.priorState() == nil)
    // Another commit of the same identifier is not taken for it.
    try after.kernel.checkpoint()
    let reopened = try EntityStore.open(after.kernel)
    _ = try reopened.retain(reason: "a backup")
    #expect(throws: EngineError.self) { try reopened.rollBackMigration() }
    #expect(try reopened.retainedCommits().map { $0.reason } == ["a backup"])
    #expect(throws: EngineError.self) { try reopened.retain(reason: "Cambium: mine") }
  }

  @Test func aViewOfTheNewModelReadsOn() throws {
    let store = try Self.notes(30)
    let after = try Self.deferred(store)
    let view = try after.view()
    let entity = try #require(after.schema.entity(named: "Note"))
    let back = try after.rollBackMigration()
    try back.write { (t) throws(EngineError) in
      for i in 0..<200 { try Self.add(t, i) }
    }
    try back.kernel.compact()
    var count = 0
    try view.rows(entity: entity, includesSubentities: false) { (row) throws(EngineError) in
      guard let text = entity.attribute(named: "text") else { return false }
      if case .string("note \(count)") = try row.value(text) { count += 1 }
      return true
    }
    #expect(count == 30)
  }

  // MARK: Cost

  /// Neither more nor longer writes for fifty times the rows.
  @Test func itsCostDoesNotDependOnTheData() throws {
    func cost(_ count: Int) throws -> CountingDevice.Counts {
      let device = CountingDevice(MemoryDevice())
      let store = try Self.notes(count, on: device)
      let after = try Self.deferred(store)
      _ = try after.runDeferredTask(maximumRows: count / 2)
      device.reset()
      _ = try after.rollBackMigration()
      return device.counts
    }
    let small = try cost(200)
    let large = try cost(10_000)
    #expect(large.writes <= small.writes + 2 && large.syncs == small.syncs)
    #expect(large.writtenBytes < small.writtenBytes + 8192, "\(large), \(small)")
    #expect(large.reads < small.reads + 8 && large.readBytes < small.readBytes + 32768, "\(large), \(small)")
  }

  // MARK: Earlier states

  @Test func earlierStatesAreReadWithTheirModel() throws {
    let store = try Self.notes(20)
    let before = try NaiveStore(store)
    let commit = try store.retain(reason: "to be looked at")
    let after = try store.migrate(to: SchemaDefinition([Self.shortNote]))
    _ = try after.write { (t) throws(EngineError) in try Self.add(t, 99) }
    let then = try EntityStore.state(retained: commit.id, in: after.kernel)
    #expect(then.schema == store.schema)
    #expect(try NaiveStore(then) == before)
    do throws(EngineError) {
      try then.write { (t) throws(EngineError) in _ = try Self.add(t, 1) }
      Issue.record("an earlier state was written to")
    } catch {
      guard case .store(.readOnly) = error else {
        Issue.record("\(error.description)")
        return
      }
    }
    #expect(throws: EngineError.self) { try then.rollBackMigration() }
    #expect(throws: EngineError.self) { try then.migrate(to: SchemaDefinition([Self.shortNote])) }
    try after.release(retained: commit.id)
    // What is held stays.
    try after.kernel.compact()
    #expect(try NaiveStore(then) == before)
    do throws(EngineError) {
      _ = try EntityStore.state(retained: commit.id, in: after.kernel)
      Issue.record("a released commit was opened")
    } catch {
      guard case .store(.snapshotExpired) = error else {
        Issue.record("\(error.description)")
        return
      }
    }
  }

  // MARK: Crashes and faults

  @Test func everyWriteOfARollbackMayBeTheLast() throws {
    var images = 0
    for (round, durability) in [Durability.full, .strict].enumerated() {
      let disk = SimulatedDisk()
      let store = try Self.notes(80, on: disk)
      let before = try NaiveStore(store)
      let after = try Self.deferred(store)
      _ = try after.runDeferredTask(maximumRows: 30)
      _ = try after.write { (t) throws(EngineError) in try Self.add(t, 7) }
      let migrated = try NaiveStore(after)
      try after.close()
      var options = StoreOptions()
      options.durability = durability
      let again = SimulatedDisk(disk.contents)
      let opened = try EntityStore.open(
        try Store.open(on: again, environment: TestEnvironment(seed: 3), options: options))
      let start = again.operationCount
      let back = try opened.rollBackMigration(discardsCommits: true)
      let acknowledged = again.operationCount
      _ = try back.write { (t) throws(EngineError) in try Self.add(t, 8) }
      let changed = try NaiveStore(back)
      try back.close()
      for point in start...again.operationCount {
        for image in again.crashImages(
          at: point, limit: 8, tearing: durability == .full ? .byteRange : .sector(bytes: 512), seed: UInt64(round))
        {
          images += 1
          let found = try EntityStore.open(
            try Store.open(on: SimulatedDisk(image: image), environment: TestEnvironment(seed: 1), options: options))
          let objects = try NaiveStore(found)
          let isBack = found.schema == back.schema
          #expect(isBack || point < acknowledged, "point \(point): an acknowledged rollback is gone")
          #expect(isBack ? objects == before || objects == changed : objects == migrated, "point \(point)")
          let report = try found.check()
          #expect(report.isSound, "point \(point): \(report.problems) \(report.kernel.problems)")
          // Whichever it is, it can be gone on with.
          if !isBack {
            #expect(try NaiveStore(found.rollBackMigration(discardsCommits: true)) == before, "point \(point)")
          } else {
            #expect(try found.priorState() == nil)
          }
        }
      }
    }
    print("\(images) images of rollbacks")
    #expect(images > 60)
  }

  @Test func everyOperationOfARollbackMayFail() throws {
    let template = MemoryDevice()
    let made = try Self.notes(80, on: template)
    let before = try NaiveStore(made)
    let after = try Self.deferred(made)
    _ = try after.runDeferredTask(maximumRows: 30)
    let migrated = try NaiveStore(after)
    try after.close()
    var met = 0
    for kind in FaultDevice.Kind.allCases {
      for number in 0..<40 {
        let device = FaultDevice(MemoryDevice(copying: template.contents()))
        let store = try EntityStore.open(try Store.open(on: device, environment: TestEnvironment(seed: 5)))
        device.plan(.init(kind, at: device.operationCount(of: kind) + number))
        let text = "\(kind) \(number)"
        var isDone = true
        do throws(EngineError) { _ = try store.rollBackMigration() } catch { isDone = false }
        if device.failureCount == 0 { break }
        met += 1
        let reopened = try EntityStore.open(
          try Store.open(
            on: MemoryDevice(copying: (device.base as? MemoryDevice)?.contents() ?? []),
            environment: TestEnvironment(seed: 6)))
        let objects = try NaiveStore(reopened)
        #expect(isDone ? objects == before : objects == before || objects == migrated, "\(text)")
        #expect(try reopened.check().isSound, "\(text)")
        // A handle that is not poisoned goes on.
        guard !isDone, let now = try? NaiveStore(store), now == migrated else { continue }
        if let back = try? store.rollBackMigration() {
          #expect(try NaiveStore(back) == before, "\(text)")
          #expect(try back.check().isSound, "\(text)")
        }
      }
    }
    print("\(met) faults in rollbacks")
    #expect(met > 10)
  }
}
