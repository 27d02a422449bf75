import CambiumEngine
import CambiumKernel
import CambiumTesting
import Synchronization
import Testing

/// What several threads do with a large table comes to what one does: fetches in all their forms, indexes that are
/// built, rows that are written anew, and errors.
@Suite struct ConcurrentWorkTests {
  private static let count = 34_000

  private static func definition(
    _ version: Int = 1, indexes: [IndexSchema] = [], unique: [[String]] = []
  ) -> SchemaDefinition {
    var weight = AttributeSchema("weight", version == 1 ? .double : .integer64)
    if version == 3 { weight = AttributeSchema("weight", .integer16) }
    var vehicle = EntitySchema(
      "Vehicle",
      attributes: [
        AttributeSchema("number", .integer64), AttributeSchema("name", .string), weight,
        AttributeSchema("colour", elements: [AttributeSchema("primary", .string), AttributeSchema("share", .double)]),
      ],
      relationships: [
        RelationshipSchema("owner", to: "Vehicle", inverse: "owned"),
        RelationshipSchema("owned", toMany: "Vehicle", inverse: "owner"),
      ], indexes: indexes)
    vehicle.uniquenessConstraints = unique.map { UniquenessConstraint($0) }
    var truck = EntitySchema("Truck", attributes: [AttributeSchema("axles", .integer32)])
    truck.parent = "Vehicle"
    return SchemaDefinition([vehicle, truck])
  }

  /// A store as ``fill(_:seed:heavy:)`` leaves it, made once.
  private static let content = Result { try filled(seed: testSeed(515), heavy: false) }
  private static let heavyContent = Result { try filled(seed: 13, heavy: true) }

  private static func filled(seed: UInt64, heavy: Bool) throws -> [UInt8] {
    print("work of several threads: seed \(seed)")
    let device = MemoryDevice()
    try fill(device, seed: seed, heavy: heavy)
    return device.contents()
  }

  private static func device(heavy: Bool = false) throws -> MemoryDevice {
    MemoryDevice(copying: try (heavy ? heavyContent : content).get(), lock: ThreadLock())
  }

  /// Some rows with earlier layouts, some in the log still, of two entities in one tree.
  private static func fill(_ device: MemoryDevice, seed: UInt64, heavy: Bool) throws {
    var random = SplitMix64(seed: seed)
    var store = try EntityStore.create(
      in: Store.create(on: device, environment: TestEnvironment(seed: 3)), schema: Schema(definition()))
    var references: [ObjectReference] = []
    for part in 0..<4 {
      try store.write { (t) throws(EngineError) in
        guard let vehicle = store.schema.entity(named: "Vehicle"), let truck = store.schema.entity(named: "Truck")
        else {
          return
        }
        for n in part * count / 4..<(part + 1) * count / 4 {
          let isTruck = random.oneIn(3)
          var values = RowValues()
          values.set("number", .integer(Int64(n)))
          if !random.oneIn(5) { values.set("name", .string("name \(random.below(500))")) }
          if !random.oneIn(7) {
            values.set("weight", .double(Double(random.below(30_000)) + (random.oneIn(2) ? 0.5 : 0)))
          }
          if heavy, n % 8_000 == 7_999 { values.set("weight", .double(70_000)) }
          if !random.oneIn(4) {
            let colour = random.oneIn(3) ? Value.null : .string(["red", "green", "blue"][random.below(3)])
            values.set(
              "colour",
              .composite(CompositeValue(names: ["primary", "share"], values: [colour, .double(Double(n % 10))])))
          }
          if isTruck { values.set("axles", .integer(Int64(random.below(6)))) }
          if !references.isEmpty, random.oneIn(3) {
            values.set(toOne: "owner", references[random.below(references.count)])
          }
          let reference = try t.reserveReference(isTruck ? truck : vehicle)
          try t.insert(reference, values)
          if random.oneIn(10) { references.append(reference) }
        }
      }
      if part == 1 {
        var changed = definition()
        changed.entities[0].attributes.append(AttributeSchema("remark", .string, default: .string("none")))
        store = try store.migrate(to: changed)
        store = try store.migrate(to: definition(), defers: true)
      }
      if part == 2 { try store.kernel.checkpoint() }
    }
    try store.close()
  }

  private static func open(_ device: MemoryDevice, threads: Int, deltaBytes: Int = 64 << 20) throws -> EntityStore {
    var options = StoreOptions()
    options.maximumThreads = threads
    options.deltaBytes = deltaBytes
    return try EntityStore.open(
      Store.open(on: device, environment: TestEnvironment(seed: 4, processors: 4), options: options))
  }

  // MARK: Fetches

  /// The rows of a fetch, in all the forms that it can be made in.
  private struct Answer: Equatable {
    var count = 0
    var references: [ObjectReference] = []
    var rows: [[Value]] = []
    var told: [[Value]] = []

    init(_ fetch: EngineFetch, _ view: EntityView) throws {
      count = try view.count(fetch)
      references = try view.fetch(fetch)
      for row in try view.fetchRows(fetch) { rows.append(try Answer.values(row)) }
      var told: [[Value]] = []
      try view.forEach(fetch) { (row) throws(EngineError) in
        told.append(try Answer.values(row.copy()))
        return true
      }
      self.told = told
    }

    static func values(_ row: Row) throws(EngineError) -> [Value] {
      var values: [Value] = []
      for attribute in row.entity.allAttributes { values.append(try row.value(attribute)) }
      return values
    }
  }

  private static func fetches(_ store: EntityStore) throws -> [EngineFetch] {
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    let truck = try #require(store.schema.entity(named: "Truck"))
    let predicates: [Predicate?] = [
      nil, .compare(.keyPath("weight"), .greater, .constant(.double(29_000))),
      .compare(.keyPath("colour.primary"), .equal, .constant(.string("red"))),
      .and([
        .compare(.keyPath("weight"), .less, .constant(.double(10_000))),
        .compare(.keyPath("colour.share"), .equal, .constant(.double(3))),
      ]),
      .compare(.keyPath("name"), .like, .constant(.string("*1?"))),
      .compare(.keyPath("owner.name"), .equal, .constant(.string("name 7"))),
      .compare(.keyPath("number"), .less, .constant(.integer(0))),
      .not(.compare(.keyPath("name"), .equal, .constant(.null))),
    ]
    var fetches: [EngineFetch] = []
    for predicate in predicates {
      fetches.append(EngineFetch(vehicle, predicate: predicate))
      var fetch = EngineFetch(predicate == nil ? truck : vehicle, predicate: predicate)
      fetch.includesSubentities = false
      fetches.append(fetch)
      var few = EngineFetch(vehicle, predicate: predicate)
      few.offset = 3
      few.limit = 5
      fetches.append(few)
    }
    return fetches
  }

  @Test func fetchesAreTheSame() throws {
    let device = try Self.device()
    var answers: [[Answer]] = []
    for threads in [1, 4] {
      let store = try Self.open(device, threads: threads)
      #expect(store.kernel.threadCount == threads)
      let view = try store.view()
      answers.append(try Self.fetches(store).map { try Answer($0, view) })
      try store.close()
    }
    #expect(answers[0].contains { $0.count == Self.count } && answers[0].contains { (1..<2_500).contains($0.count) })
    for (place, answer) in answers[0].enumerated() {
      #expect(answer.count == answer.references.count && answer.rows == answer.told)
      for others in answers.dropFirst() { #expect(others[place] == answer, "fetch \(place)") }
    }
  }

  /// A transaction sees its own changes, whatever threads there are.
  @Test func transactionsSeeTheirChanges() throws {
    let device = try Self.device()
    let store = try Self.open(device, threads: 4)
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    let fetch = EngineFetch(vehicle, predicate: .compare(.keyPath("number"), .less, .constant(.integer(1_000))))
    try store.write { (t) throws(EngineError) in
      let before = try t.count(fetch)
      if before != 1_000 { throw .misuse("\(before)") }
      let first = try t.fetch(fetch)
      try t.delete(first[0])
      var values = RowValues()
      values.set("number", .integer(5_000_000))
      try t.update(first[1], values)
      let left = try t.fetch(fetch)
      if left != Array(first.dropFirst(2)) { throw .misuse("changes are not seen") }
    }
    #expect(try store.view().count(fetch) == 998)
  }

  @Test func whoHasEnoughIsToldNoMore() throws {
    let device = try Self.device()
    let store = try Self.open(device, threads: 4)
    let view = try store.view()
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    for limit in [1, 7, 3_000] {
      for least in [0, 33_000, -1] {
        let fetch = EngineFetch(
          vehicle, predicate: .compare(.keyPath("number"), .greaterOrEqual, .constant(.integer(Int64(least)))))
        var told: [ObjectReference] = []
        try view.forEach(fetch) { (row) throws(EngineError) in
          told.append(row.reference)
          return told.count < limit
        }
        #expect(told == Array(try view.fetch(fetch).prefix(limit)))
      }
    }
    let fetch = EngineFetch(vehicle, predicate: .compare(.keyPath("number"), .greater, .constant(.integer(20))))
    var told = 0
    do throws(EngineError) {
      try view.forEach(fetch) { (_) throws(EngineError) in
        told += 1
        if told == 3 { throw .misuse("enough") }
        return true
      }
      Issue.record("no error came through")
    } catch {
      guard case .misuse("enough") = error else { throw error }
    }
    #expect(told == 3)
  }

  /// Rows that the predicate holds for may lie together: threads look ahead where they are few, and again behind them.
  @Test func manyRowsAmongFew() throws {
    let device = MemoryDevice(lock: ThreadLock())
    let count = 80_000
    let made = try EntityStore.create(
      in: Store.create(on: device, environment: TestEnvironment(seed: 3)),
      schema: Schema(SchemaDefinition([EntitySchema("Item", attributes: [AttributeSchema("number", .integer64)])])))
    try made.write { (t) throws(EngineError) in
      guard let item = made.schema.entity(named: "Item") else { return }
      for n in 0..<count {
        var values = RowValues()
        values.set("number", .integer(Int64(n)))
        try t.insert(t.reserveReference(item), values)
      }
    }
    try made.close()
    let environment = CountingEnvironment(processors: 4)
    var options = StoreOptions()
    options.maximumThreads = 2
    let store = try EntityStore.open(Store.open(on: device, environment: environment, options: options))
    let view = try store.view()
    let item = try #require(store.schema.entity(named: "Item"))
    func below(_ n: Int) -> Predicate { .compare(.keyPath("number"), .less, .constant(.integer(Int64(n)))) }
    let predicate = Predicate.or([below(20_000), .and([.not(below(63_500)), below(79_000)]), .not(below(79_990))])
    let expected = (0..<count).filter { $0 < 20_000 || (63_500..<79_000).contains($0) || $0 >= 79_990 }
      .map { Value.integer(Int64($0)) }
    for limit in [19_999, 20_001, 30_000, 35_501, count] {
      var told: [Value] = []
      try view.forEach(EngineFetch(item, predicate: predicate)) { (row) throws(EngineError) in
        told.append(try row.copy().value(keyPath: "number"))
        return told.count < limit
      }
      // Nobody wants to read them all.
      let isExpected = told == Array(expected.prefix(limit))
      #expect(isExpected, "the first \(limit)")
    }
    // All of them: ahead, alone for two dense parts, and ahead again.
    let before = environment.calls
    try view.forEach(EngineFetch(item, predicate: predicate)) { (_) in true }
    #expect(environment.calls - before >= 2)
    // Told on the calling thread, which may ask further questions meanwhile, and cancelled from there.
    var told = 0
    let isOver = Atomic(false)
    var fetch = EngineFetch(item, predicate: below(500))
    fetch.isCancelled = { isOver.load(ordering: .relaxed) }
    do throws(EngineError) {
      try view.forEach(fetch) { (_) throws(EngineError) in
        told += 1
        if told == 100 {
          if try view.count(EngineFetch(item, predicate: below(20_000))) != 20_000 { throw .misuse("a nested count") }
          isOver.store(true, ordering: .relaxed)
        }
        return true
      }
      Issue.record("it was not cancelled")
    } catch {
      guard case .cancelled = error else { throw error }
    }
    #expect((100..<200).contains(told))
    try store.close()
  }

  /// Where a page is damaged, the rows before it are told first, and then the error; who has enough before is not told
  /// of it.
  @Test func rowsBeforeDamageAreTold() throws {
    let bytes = try Self.content.get()
    var ends = 0
    for place in stride(from: bytes.count / 3, to: bytes.count, by: bytes.count / 24) {
      var told: [[ObjectReference]] = []
      var failures = 0
      for threads in [1, 4] {
        var damaged = bytes
        damaged[place] ^= 0x5A
        guard let store = try? Self.open(MemoryDevice(copying: damaged, lock: ThreadLock()), threads: threads) else {
          continue
        }
        let view = try store.view()
        let vehicle = try #require(store.schema.entity(named: "Vehicle"))
        let fetch = EngineFetch(
          vehicle, predicate: .compare(.keyPath("colour.primary"), .equal, .constant(.string("red"))))
        var found: [ObjectReference] = []
        do throws(EngineError) {
          try view.forEach(fetch) { (row) throws(EngineError) in
            found.append(row.reference)
            return true
          }
        } catch {
          failures += 1
          let most = found.count
          var again = 0
          if most > 0 {
            try view.forEach(fetch) { (_) throws(EngineError) in
              again += 1
              return again < most
            }
            #expect(again == most)
          }
        }
        told.append(found)
        try? store.close()
      }
      #expect(Set(told).count <= 1 && (failures == 0 || failures == 2), "byte \(place)")
      if failures == 2, let found = told.first, found.count > 100 { ends += 1 }
    }
    #expect(ends > 0)
  }

  @Test func cancelledScansEnd() throws {
    let device = try Self.device()
    let store = try Self.open(device, threads: 4)
    let view = try store.view()
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    var fetch = EngineFetch(vehicle, predicate: .compare(.keyPath("number"), .less, .constant(.integer(-5))))
    let asked = Atomic<Int>(0)
    let limit = 40
    fetch.isCancelled = { asked.wrappingAdd(1, ordering: .relaxed).newValue > limit }
    func expectCancelled(_ body: () throws(EngineError) -> Void) throws {
      do throws(EngineError) {
        try body()
        Issue.record("it went on")
      } catch {
        guard case .cancelled = error else { throw error }
      }
    }
    try expectCancelled { () throws(EngineError) in _ = try view.count(fetch) }
    try expectCancelled { () throws(EngineError) in _ = try view.fetch(fetch) }
    try expectCancelled { () throws(EngineError) in _ = try view.fetchRows(fetch) }
    try expectCancelled { () throws(EngineError) in try view.forEach(fetch) { (_) in true } }
    // No thread went on for long.
    #expect(asked.load(ordering: .relaxed) < limit + 30)
  }

  // MARK: Migrations

  private static func rows(_ store: EntityStore) throws -> [[Value]] { try rows(store, try store.view()) }

  private static func rows(_ store: EntityStore, _ view: EntityView) throws -> [[Value]] {
    var rows: [[Value]] = []
    try view.rows(entity: try #require(store.schema.entity(named: "Vehicle"))) { (row) throws(EngineError) in
      rows.append([.integer(Int64(row.reference.row))] + (try Answer.values(row)))
      return true
    }
    return rows
  }

  /// With little memory, what is gathered is made several times over.
  @Test(arguments: [1 << 18, 64 << 20]) func indexesAreBuiltAndRowsWrittenAnew(deltaBytes: Int) throws {
    var contents: [[[Value]]] = []
    var found: [[ObjectReference]] = []
    for threads in [1, 4] {
      let device = try Self.device()
      var store = try Self.open(device, threads: threads, deltaBytes: deltaBytes)
      let indexes = [
        IndexSchema("byWeight", [IndexElement("weight")]),
        IndexSchema("byColour", [IndexElement("colour.primary"), IndexElement("number", ascending: false)]),
      ]
      store = try store.migrate(to: Self.definition(1, indexes: indexes, unique: [["number"]]))
      var report = try store.check()
      #expect(report.problems.isEmpty && report.kernel.problems.isEmpty, "\(report.problems.prefix(3))")
      store = try store.migrate(to: Self.definition(2, indexes: indexes, unique: [["number"]]))
      report = try store.check()
      #expect(report.problems.isEmpty && report.kernel.problems.isEmpty, "\(report.problems.prefix(3))")
      contents.append(try Self.rows(store))
      let vehicle = try #require(store.schema.entity(named: "Vehicle"))
      let some = Predicate.and([
        .compare(.keyPath("weight"), .greaterOrEqual, .constant(.integer(1_000))),
        .compare(.keyPath("weight"), .less, .constant(.integer(1_100))),
      ])
      found.append(try store.view().fetch(EngineFetch(vehicle, predicate: some)))
      try store.close()
      // It is there after reopening as well.
      store = try Self.open(device, threads: 1)
      #expect(try Self.rows(store) == contents.last)
      try store.close()
    }
    #expect(contents[0].count == Self.count && contents[0] == contents[1])
    #expect(!found[0].isEmpty && found[0] == found[1])
  }

  /// Who reads the state before a migration while it is made reads the same all the time, although its pages leave the
  /// cache.
  @Test(arguments: [1 << 18, 64 << 20]) func theStateBeforeIsReadMeanwhile(deltaBytes: Int) throws {
    let store = try Self.open(try Self.device(), threads: 4, deltaBytes: deltaBytes)
    let view = try store.view()
    let wanted = try Self.rows(store, view)
    let isDone = Atomic<Bool>(false)
    let failures = Locked<[String]>([])
    let reads = Locked(0)
    let migrated = Locked<EntityStore?>(nil)
    // Views of snapshots may be used by any number of threads.
    nonisolated(unsafe) let unchecked = view
    TestEnvironment().runConcurrently(2) { thread in
      do {
        if thread == 0 {
          defer { isDone.store(true, ordering: .releasing) }
          let found = try store.migrate(to: Self.definition(2))
          migrated.withLock { $0 = found }
        } else {
          repeat {
            let found = try Self.rows(store, unchecked)
            if found != wanted { failures.withLock { $0.append("\(found.count) rows, other ones") } }
            reads.withLock { $0 += 1 }
          } while !isDone.load(ordering: .acquiring)
        }
      } catch {
        failures.withLock { $0.append("\(error)") }
      }
    }
    #expect(failures.withLock { $0 } == [])
    #expect(reads.withLock { $0 } >= 1)
    #expect(try Self.rows(store, view) == wanted)
    let after = try #require(migrated.withLock { $0 })
    #expect(try Self.rows(after).count == wanted.count)
    let report = try after.check()
    #expect(report.problems.isEmpty && report.kernel.problems.isEmpty)
    try after.close()
  }

  /// What stands in the way is told as it is by one thread, and the store stays as it was.
  @Test func blocksAreTheSame() throws {
    var overflows: [[MigrationBlock]] = []
    var duplicates: [[MigrationBlock]] = []
    for threads in [1, 4] {
      let device = try Self.device(heavy: true)
      let store = try Self.open(device, threads: threads)
      let before = try Self.rows(store)
      for (definition, keep) in [(Self.definition(3), true), (Self.definition(1, unique: [["name"]]), false)] {
        do throws(EngineError) {
          _ = try store.migrate(to: definition)
          Issue.record("it was migrated")
        } catch {
          guard case .migrationBlocked(let blocks) = error else { throw error }
          if keep { overflows.append(blocks) } else { duplicates.append(blocks) }
        }
      }
      #expect(try Self.rows(store) == before)
      #expect(try store.check().problems.isEmpty)
      try store.close()
    }
    #expect(overflows[0] == overflows[1] && duplicates[0] == duplicates[1])
    #expect(overflows[0].allSatisfy { $0.property == "weight" && $0.objects.count == $0.count })
    #expect(overflows[0].reduce(0) { $0 + $1.count } == 4)
    // Counted here by the names that the rows have.
    let store = try Self.open(try Self.device(heavy: true), threads: 1)
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    var rows: [String: Int] = [:]
    for values in try store.view().fetchValues(
      EngineValuesFetch(EngineFetch(vehicle), columns: [EngineColumn("name", .keyPath("name"))]))
    {
      if case .string(let name) = values[0] { rows[name, default: 0] += 1 }
    }
    #expect(duplicates[0].map { $0.count } == [rows.values.reduce(0) { $0 + ($1 > 1 ? $1 : 0) }])
    #expect(duplicates[0].first?.objects.count == MigrationBlock.sampleLimit)
  }
}
