import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Distinct values that an index begins with are those that going through the rows gives, however they are written,
/// with conditions on the values, on the part behind them, and on other columns.
@Suite struct DistinctIndexTests {
  private static let long = String(repeating: "y", count: 3000)

  private static func store(_ random: inout SplitMix64, rows count: Int) throws -> EntityStore {
    let thing = EntitySchema(
      "Thing",
      attributes: [
        AttributeSchema("kind", .string), AttributeSchema("n", .integer32), AttributeSchema("half", .double),
        AttributeSchema("short", .float), AttributeSchema("day", .date), AttributeSchema("flag", .boolean),
        AttributeSchema("amount", .decimal), AttributeSchema("key", .uuid),
      ],
      relationships: [
        RelationshipSchema("to", to: "Thing", inverse: "from"),
        RelationshipSchema("from", toMany: "Thing", inverse: "to"),
      ],
      indexes: [
        IndexSchema("byKind", [IndexElement("kind"), IndexElement("n", ascending: false)]),
        IndexSchema("byN", [IndexElement("n", ascending: false), IndexElement("kind"), IndexElement("flag")]),
        IndexSchema("byHalf", [IndexElement("half"), IndexElement("day", ascending: false)]),
        IndexSchema("byShort", [IndexElement("short")]), IndexSchema("byAmount", [IndexElement("amount")]),
        IndexSchema("byKey", [IndexElement("key"), IndexElement("flag")]),
        IndexSchema("byTo", [IndexElement("to"), IndexElement("n")]),
        IndexSchema("byDay", [IndexElement("day")], partialPredicate: "n > 0"),
      ])
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([thing])))
    try store.write { (t) throws(EngineError) in try insert(&random, count, t) }
    return store
  }

  private static func insert(
    _ random: inout SplitMix64, _ count: Int, _ t: EntityTransaction
  ) throws(EngineError) {
    guard let thing = t.store.schema.entity(named: "Thing") else { throw .misuse("no Thing") }
    var made: [ObjectReference] = []
    for _ in 0..<count {
      let reference = try t.reserveReference(thing)
      var row = RowValues()
      let n = Int64(random.below(7)) - 3
      if !random.oneIn(5) {
        row.set("kind", .string(random.pick(["a", "b", "", "e\u{301}", "\u{E9}", random.oneIn(40) ? long : "c"])))
      }
      if !random.oneIn(5) { row.set("n", .integer(n)) }
      if !random.oneIn(5) { row.set("half", .double(random.pick([Double(n) / 2, -0.0, 0.0, .nan]))) }
      if !random.oneIn(5) { row.set("short", .float(random.pick([Float(n) / 2, -0.0, 0.0]))) }
      if !random.oneIn(5) { row.set("day", .date(random.pick([Double(n), -0.0]))) }
      if !random.oneIn(5) { row.set("flag", .boolean(random.oneIn(2))) }
      if !random.oneIn(5) { row.set("amount", .decimal(DecimalValue(n))) }
      if !random.oneIn(5) { row.set("key", .uuid(UUIDBytes(high: UInt64(random.below(3)), low: 0))) }
      if !random.oneIn(3), !made.isEmpty { row.set(toOne: "to", made[random.below(min(5, made.count))]) }
      try t.insert(reference, row)
      made.append(reference)
    }
  }

  private static let paths = [
    ["kind"], ["kind", "n"], ["n", "kind"], ["n"], ["half"], ["day", "half"], ["short"], ["amount"], ["key"], ["day"],
    ["flag", "kind", "n"], ["to"],
  ]
  private static let formats = [
    nil, nil, "n > 0", "n == 2", "n == nil", "n IN {1, 2, -3, 9}", "n BETWEEN {-1, 1}", "kind == 'a'", "kind != nil",
    "kind >= 'b'", "kind == '\u{E9}'", "kind BEGINSWITH 'e'", "day > CAST(0, \"NSDate\") AND n > 0",
    "day == CAST(1, \"NSDate\")", "day == nil", "flag == YES",
    "n > -2 AND flag == YES", "kind == 'a' AND n < 2", "half >= 0 AND day < CAST(2, \"NSDate\")", "half == 0",
    "key != nil AND n == 1",
    "n > 100", "to != nil AND n == 2", "short > 0", "kind == 'a' OR n == 1", "amount == 1 AND n > 0",
  ]

  private static func ask(
    _ view: EntityView, _ thing: EntitySchema, _ random: inout SplitMix64, _ kinds: inout [QueryExplanation.Kind: Int],
    _ tails: inout Int
  ) throws {
    let paths = random.pick(paths)
    let format = random.pick(formats)
    var request = EngineValuesFetch(
      EngineFetch(thing, predicate: try format.map { try Predicate(format: $0) }),
      columns: paths.map { EngineColumn($0, .keyPath($0)) })
    request.isDistinct = true
    // A dear scan, so that the walk is not given up.
    request.fetch.costs.scannedRow = random.pick([1, 1_000_000])
    if paths != ["to"] {
      request.fetch.sort = Array(paths.shuffled(using: &random).prefix(random.below(paths.count + 1))).map { path in
        EngineSort(path, ascending: random.oneIn(2))
      }
    }
    if random.oneIn(3) { (request.fetch.limit, request.fetch.offset) = (random.below(4), random.below(3)) }
    let plan = try view.explain(request)
    for kind in plan.kinds { kinds[kind, default: 0] += 1 }
    if plan.description.contains("behind each") { tails += 1 }
    var found = try view.fetchValues(request)
    request.fetch.usesIndexes = false
    var expected = try view.fetchValues(request)
    let text = "\(paths), \(format ?? "all"), \(request.fetch.sort), \(plan)"
    if let key = request.fetch.sort.first, let column = paths.firstIndex(of: key.keyPath) {
      #expect(found.map { $0[column] } == expected.map { $0[column] }, "\(text)")
    }
    if request.fetch.limit == nil, request.fetch.sort.count < paths.count {
      // In any order.
      found.sort { "\($0)" < "\($1)" }
      expected.sort { "\($0)" < "\($1)" }
    }
    #expect("\(found)" == "\(expected)", "\(text)")
  }

  @Test func valuesAreThoseOfTheRows() throws {
    var random = SplitMix64(seed: testSeed(20_261_130))
    var kinds: [QueryExplanation.Kind: Int] = [:]
    var tails = 0
    for round in 0..<5 {
      let store = try Self.store(&random, rows: [0, 3, 40, 300, 500][round])
      let thing = try #require(store.schema.entity(named: "Thing"))
      for isCheckpointed in [false, true] {
        if isCheckpointed { try store.kernel.checkpoint() }
        let view = try store.view()
        for _ in 0..<40 { try Self.ask(view, thing, &random, &kinds, &tails) }
      }
      // What a transaction has written lies above the pages.
      var failure: (any Error)?
      try store.write { (t) throws(EngineError) in
        try Self.insert(&random, 30, t)
        do { for _ in 0..<20 { try Self.ask(t, thing, &random, &kinds, &tails) } } catch { failure = error }
      }
      if let failure { throw failure }
    }
    #expect(kinds[.coveringIndex, default: 0] > 50)
    #expect(kinds[.orderedIndex, default: 0] > 50)
    #expect(tails > 15)
  }

  @Test func aWalkStopsWhereEnoughIsFound() throws {
    var random = SplitMix64(seed: testSeed(20_261_130))
    let store = try Self.store(&random, rows: 400)
    let thing = try #require(store.schema.entity(named: "Thing"))
    var request = EngineValuesFetch(EngineFetch(thing), columns: [EngineColumn("n", .keyPath("n"))])
    request.isDistinct = true
    request.fetch.sort = [EngineSort("n", ascending: false)]
    request.fetch.limit = 2
    #expect(try store.view().fetchValues(request) == [[.integer(3)], [.integer(2)]])
    request.fetch.sort = [EngineSort("n")]
    #expect(try store.view().fetchValues(request) == [[.null], [.integer(-3)]])
    request.fetch.offset = 6
    #expect(try store.view().fetchValues(request) == [[.integer(2)], [.integer(3)]])
  }
}
