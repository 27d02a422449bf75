import CambiumEngine
import CambiumKernel
import CambiumTesting
import Synchronization
import Testing

/// Where several threads could go wrong: trees that are written in between, large rows, hosts whose processors come and
/// go, errors of rows that nobody came to.
@Suite struct ConcurrentLimitsTests {
  private static let count = 80_000

  private static func definition(
    weight: AttributeType = .double, hasTrucks: Bool = true, indexes: [IndexSchema] = [], isInverse: Bool = false
  ) -> SchemaDefinition {
    var relationships = [RelationshipSchema("owner", to: "Vehicle", inverse: isInverse ? "owned" : nil)]
    if isInverse { relationships.append(RelationshipSchema("owned", toMany: "Vehicle", inverse: "owner")) }
    let vehicle = EntitySchema(
      "Vehicle",
      attributes: [
        AttributeSchema("number", .integer64), AttributeSchema("name", .string), AttributeSchema("weight", weight),
        AttributeSchema("text", .string),
      ], relationships: relationships, indexes: indexes)
    var truck = EntitySchema("Truck", attributes: [AttributeSchema("axles", .integer32)])
    truck.parent = "Vehicle"
    return SchemaDefinition(hasTrucks ? [vehicle, truck] : [vehicle])
  }

  private static func filled(
    _ count: Int, text: @escaping (Int) -> String? = { _ in nil },
    name: @escaping (Int) -> String = { "name \($0 &* 7919 % 100_003)" }
  ) throws -> [UInt8] {
    let device = MemoryDevice()
    let store = try EntityStore.create(
      in: Store.create(on: device, environment: TestEnvironment(seed: 3)), schema: Schema(definition()))
    var last: ObjectReference?
    try store.write { (t) throws(EngineError) in
      guard let vehicle = store.schema.entity(named: "Vehicle"), let truck = store.schema.entity(named: "Truck") else {
        return
      }
      for n in 0..<count {
        var values = RowValues()
        values.set("number", .integer(Int64(n)))
        values.set("name", .string(name(n)))
        values.set("weight", .double(Double(n % 1000)))
        if let text = text(n) { values.set("text", .string(text)) }
        if n % 4 == 3, let last { values.set(toOne: "owner", last) }
        let reference = try t.reserveReference(n % 60 == 7 ? truck : vehicle)
        try t.insert(reference, values)
        if n % 60 != 7 { last = reference }
      }
    }
    try store.kernel.checkpoint()
    try store.close()
    return device.contents()
  }

  private static let many = Result { try filled(count) }

  private static func open(
    _ bytes: [UInt8], threads: Int = 4, deltaBytes: Int = 64 << 20,
    _ environment: any StoreEnvironment = TestEnvironment(seed: 4, processors: 4)
  ) throws -> EntityStore {
    var options = StoreOptions()
    options.maximumThreads = threads
    options.deltaBytes = deltaBytes
    return try EntityStore.open(
      Store.open(on: MemoryDevice(copying: bytes, lock: ThreadLock()), environment: environment, options: options))
  }

  /// Rows that go or are written anew in the transaction that then builds an index and ways back, in several rounds,
  /// between which what it has of the rows moves into pages.
  @Test(arguments: [1_400_000, 1 << 19], [AttributeType.double, .integer64])
  func indexesAreBuiltInSeveralRounds(deltaBytes: Int, weight: AttributeType) throws {
    let store = try Self.open(Self.many.get(), deltaBytes: deltaBytes)
    let after = try store.migrate(
      to: Self.definition(
        weight: weight, hasTrucks: false, indexes: [IndexSchema("byName", [IndexElement("name")])], isInverse: true))
    let report = try after.check()
    #expect(report.problems.isEmpty && report.kernel.problems.isEmpty, "\(report.problems.prefix(2))")
    let vehicle = try #require(after.schema.entity(named: "Vehicle"))
    let trucks = (0..<Self.count).count { $0 % 60 == 7 }
    #expect(try after.view().count(EngineFetch(vehicle)) == Self.count - trucks)
    try after.close()
  }

  /// Rows that lie outside of their pages are read through the transaction by several threads.
  @Test func largeRowsAreIndexed() throws {
    let bytes = try Self.filled(34_000, text: { $0 % 100 == 5 ? String(repeating: "abcdefgh", count: 1_250) : nil })
    let store = try Self.open(bytes)
    let indexes = [IndexSchema("byName", [IndexElement("name")]), IndexSchema("byText", [IndexElement("text")])]
    let after = try store.migrate(to: Self.definition(indexes: indexes))
    let report = try after.check()
    #expect(report.problems.isEmpty && report.kernel.problems.isEmpty, "\(report.problems.prefix(2))")
    try after.close()
  }

  /// Who ends early is not told an error of rows behind; who goes on is told those before it first.
  @Test(arguments: [1, 4]) func errorsComeWhereTheirRowsDo(threads: Int) throws {
    let bytes = try Self.filled(40_000, name: { $0 == 20_000 ? "(" : "name" })
    let store = try Self.open(bytes, threads: threads)
    let vehicle = try #require(store.schema.entity(named: "Vehicle"))
    let fetch = EngineFetch(vehicle, predicate: try Predicate(format: "'name' MATCHES name", arguments: []))
    var told = 0
    try store.view().forEach(fetch) { (_) throws(EngineError) in
      told += 1
      return told < 3
    }
    #expect(told == 3)
    told = 0
    do throws(EngineError) {
      try store.view().forEach(fetch) { (_) throws(EngineError) in
        told += 1
        return true
      }
      Issue.record("there was no error")
    } catch {
      guard case .predicate = error else { throw error }
    }
    #expect(told == 20_000)
  }

  /// All that stands in the way is told, whether it is found before rows are written or while they are.
  @Test func allBlocksAreTold() throws {
    func definition(_ isLater: Bool) -> SchemaDefinition {
      let a = EntitySchema("A", attributes: [AttributeSchema("name", .string, optional: !isLater)])
      let b = EntitySchema("B", attributes: [AttributeSchema("weight", isLater ? .integer16 : .double)])
      return SchemaDefinition([a, b])
    }
    let store = try EntityStore.create(
      in: Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 3)), schema: Schema(definition(false)))
    try store.write { (t) throws(EngineError) in
      guard let a = store.schema.entity(named: "A"), let b = store.schema.entity(named: "B") else { return }
      try t.insert(t.reserveReference(a), RowValues())
      var values = RowValues()
      values.set("weight", .double(70_000))
      try t.insert(t.reserveReference(b), values)
    }
    do throws(EngineError) {
      _ = try store.migrate(to: definition(true))
      Issue.record("it was migrated")
    } catch {
      guard case .migrationBlocked(let blocks) = error else { throw error }
      #expect(Set(blocks.map { $0.entity }) == ["A", "B"])
    }
  }

  /// Two processors at first; then all eight are awake.
  private final class ChangingEnvironment: StoreEnvironment {
    private let inner = TestEnvironment(seed: 5, processors: 8)
    private let calls = Atomic<Int>(0)

    func processorCount() -> Int { calls.wrappingAdd(1, ordering: .relaxed).newValue <= 1 ? 2 : 8 }
    func runConcurrently(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
      inner.runConcurrently(count, work)
    }
    func makeLock() -> any StoreLock { ThreadLock() }
    func randomBits() -> UInt64 { inner.randomBits() }
    func nowMilliseconds() -> Int64 { inner.nowMilliseconds() }
  }

  @Test func processorsMayComeAndGo() throws {
    let store = try Self.open(Self.many.get(), threads: 0, ChangingEnvironment())
    #expect(store.kernel.threadCount == 2)
    let after = try store.migrate(to: Self.definition(indexes: [IndexSchema("byName", [IndexElement("name")])]))
    #expect(try after.check().problems.isEmpty && after.kernel.threadCount == 2)
    try after.close()
  }
}
