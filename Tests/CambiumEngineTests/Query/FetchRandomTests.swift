import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Random predicates over rows of every type of attribute: whatever plan and filter a fetch uses, it finds what the
/// evaluator says, and counts as many.
@Suite struct FetchRandomTests {
  static let texts = ["", "a", "B", "K", "\u{212A}", "e\u{301}", "\u{E9}", "ab", "a\u{300}b", ";", "\u{37E}"]
  static let names = ["small", "large", "half", "single", "flag", "day", "text", "nest.number", "nest.word"]

  static func schema() throws -> Schema {
    let nest = CompositeSchema(
      "Nest", elements: [AttributeSchema("number", .integer32), AttributeSchema("word", .string)])
    let thing = EntitySchema(
      "Thing",
      attributes: [
        AttributeSchema("small", .integer16), AttributeSchema("large", .integer64), AttributeSchema("half", .double),
        AttributeSchema("single", .float), AttributeSchema("flag", .boolean), AttributeSchema("day", .date),
        AttributeSchema("text", .string), AttributeSchema("nest", composite: "Nest"),
      ],
      indexes: [
        IndexSchema("bySmallText", [IndexElement("small"), IndexElement("text", ascending: false)]),
        IndexSchema("byWord", [IndexElement("nest.word")]), IndexSchema("byHalf", [IndexElement("half")]),
        IndexSchema("byDay", [IndexElement("day", ascending: false)]),
      ])
    return try Schema(SchemaDefinition([thing], composites: [nest]))
  }

  /// A value that the attribute may have, or one of another kind.
  static func value(_ name: String, _ random: inout SplitMix64, isForRow: Bool) -> Value {
    if random.oneIn(6) { return .null }
    if !isForRow, random.oneIn(12) { return random.oneIn(2) ? .integer(.max) : .string("K") }
    let n = Int64(random.below(7)) - 3
    switch name {
    case "small", "nest.number": return !isForRow && random.oneIn(5) ? .double(Double(n) + 0.5) : .integer(n)
    case "large": return .integer([.min, .max, n][random.below(3)])
    case "half": return .double([Double(n) / 2, -0.0, .nan, .infinity][min(3, random.below(12))])
    case "single":
      return !isForRow && random.oneIn(3) ? .double(0.1) : .float([Float(n) / 4, 0.1, -0.0][min(2, random.below(6))])
    case "flag": return .boolean(random.oneIn(2))
    case "day": return .date([Double(n), -0.0][min(1, random.below(8))])
    default: return .string(random.pick(texts))
    }
  }

  static func predicate(_ random: inout SplitMix64, depth: Int) -> Predicate {
    switch random.below(depth == 0 ? 4 : 8) {
    case 4: return .not(predicate(&random, depth: depth - 1))
    case 5: return .or((0..<random.below(4)).map { _ in predicate(&random, depth: depth - 1) })
    case 6, 7: return .and((0..<random.below(4)).map { _ in predicate(&random, depth: depth - 1) })
    default:
      let name = random.pick(names)
      let isList = random.oneIn(5)
      let comparator: Comparator =
        isList
        ? random.pick([.in, .between])
        : random.pick([.equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual])
      if random.oneIn(4), name == "text" || name == "nest.word" {
        return .compare(.keyPath(name), .beginsWith, .constant(.string(random.pick(texts))))
      }
      let count = isList ? (comparator == .between ? 2 : random.below(random.oneIn(4) ? 40 : 4)) : 1
      let values = (0..<count).map { _ in value(name, &random, isForRow: false) }
      let constant = Expression.constant(isList ? .list(values) : values[0])
      return !isList && random.oneIn(5)
        ? .compare(constant, comparator, .keyPath(name)) : .compare(.keyPath(name), comparator, constant)
    }
  }

  /// What a fetch finds; nil if its predicate is refused, by the count as well.
  static func found(_ fetch: EngineFetch, _ view: EntityView) throws -> [ObjectReference]? {
    let found = Result { try view.fetch(fetch) }
    if case .failure(let error) = found, case .predicate = error as? EngineError {
      #expect(throws: EngineError.self) { try view.count(fetch) }
      return nil
    }
    return try found.get()
  }

  static func matches(_ predicate: Predicate, _ row: Row) throws -> Bool {
    try predicate.evaluate { (_: ObjectReference?, path: String) throws(EngineError) in try row.value(keyPath: path) }
  }

  /// Half of the rows lie in pages, the rest in the delta over them; or all in pages.
  @Test(arguments: [false, true]) func fetchesAgreeWithTheEvaluator(allInPages: Bool) throws {
    let seed = testSeed(allInPages ? 20_261_122 : 20_261_121)
    var random = SplitMix64(seed: seed)
    print("random fetches: seed \(seed)")
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)), schema: try Self.schema())
    let thing = try #require(store.schema.entity(named: "Thing"))
    for part in 0..<2 {
      try store.write { (t) throws(EngineError) in
        for _ in 0..<150 {
          var values = RowValues()
          for name in ["small", "large", "half", "single", "flag", "day", "text"] {
            values.set(name, Self.value(name, &random, isForRow: true))
          }
          if !random.oneIn(6) {
            values.set(
              "nest",
              .composite([
                "number": Self.value("nest.number", &random, isForRow: true),
                "word": Self.value("nest.word", &random, isForRow: true),
              ]))
          }
          try t.insert(try t.reserveReference(thing), values)
        }
      }
      if part == 0 || allInPages { try store.kernel.checkpoint() }
    }
    let view = try store.view()
    var rows: [Row] = []
    try view.rows(entity: thing) { (row) throws(EngineError) in
      rows.append(row)
      return true
    }
    #expect(rows.count == 300)
    var checked = 0
    var byIndex = 0
    for _ in 0..<(allInPages ? 500 : 1000) {
      let predicate = Self.predicate(&random, depth: 3)
      var fetch = EngineFetch.preferringIndexes(thing, predicate)
      // Kinds that cannot be compared are refused before any row is looked at.
      guard let found = try Self.found(fetch, view) else { continue }
      checked += 1
      if try !view.explain(fetch).kinds.contains(.scan) { byIndex += 1 }
      // Constants take the type of the attribute that they are compared with: 0.1 that of a float.
      let checkedPredicate = try predicate.check(against: store.schema, entity: thing.id)
      let expected = try rows.filter { try Self.matches(checkedPredicate, $0) }
      #expect(found == expected.map(\.reference), "\(predicate)")
      #expect(try view.count(fetch) == expected.count, "\(predicate)")
      fetch.offset = random.below(5)
      fetch.limit = random.below(20)
      let page = expected.dropFirst(fetch.offset).prefix(fetch.limit ?? 0)
      #expect(try view.fetch(fetch) == page.map(\.reference), "\(predicate)")
      #expect(try view.fetchRows(fetch).map(\.reference) == page.map(\.reference), "\(predicate)")
    }
    #expect(checked > (allInPages ? 150 : 300) && byIndex > (allInPages ? 25 : 50))
  }
}

/// Fetches that are told to end.
@Suite struct CancelledFetchTests {
  private final class Calls: @unchecked Sendable {
    // One thread uses it.
    var count = 0
  }

  /// Without an order; put in order; in the order of an index.
  @Test(
    arguments: ["", "small == 1", "SELF != nil AND small < 3", "large > 9000"], [[], ["half", "small"], ["half"]])
  func fetchesEndWhenTold(_ format: String, sort: [String]) throws {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try FetchRandomTests.schema())
    let thing = try #require(store.schema.entity(named: "Thing"))
    try store.write { (t) throws(EngineError) in
      for n in 0..<4000 {
        var values = RowValues()
        values.set("small", .integer(Int64(n % 4)))
        values.set("large", .integer(Int64(n)))
        try t.insert(try t.reserveReference(thing), values)
      }
    }
    try store.kernel.checkpoint()
    var fetch = EngineFetch(thing, predicate: format.isEmpty ? nil : try Predicate(format: format))
    fetch.sort = sort.map { EngineSort($0) }
    if sort.count == 1 { fetch.costs.sortedRow = 10_000 }
    let calls = Calls()
    fetch.isCancelled = {
      calls.count += 1
      return calls.count == 3
    }
    var found = 0
    let error = #expect(throws: EngineError.self) {
      try store.view().forEach(fetch) { (_) throws(EngineError) in
        found += 1
        return true
      }
    }
    guard case .cancelled = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(calls.count == 3 && found < 1000)
    fetch.isCancelled = { false }
    #expect(try store.view().fetch(fetch).count == (format.isEmpty ? 4000 : try store.view().count(fetch)))
  }
}
