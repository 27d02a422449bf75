import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Orders are those that sorting the values of the keys gives: by a scan, by an index that has the order or its first
/// keys only, with and without a limit, of rows that are lent and of identifiers.
@Suite struct RowOrderTests {
  private static let paths = [
    "small", "large", "half", "flag", "day", "text", "key", "part.number", "to.text", "to.small", "to.part.number",
    "to",
    "amount",
  ]
  private static let texts = [
    "", "a", "A", "B10", "B9", "e\u{301}", "\u{E9}", "ab", ";", String(repeating: "x", count: 300),
    String(repeating: "x", count: 299) + "y",
  ]

  private static func schema() throws -> Schema {
    let part = CompositeSchema("Part", elements: [AttributeSchema("number", .integer32)])
    let item = EntitySchema(
      "Item",
      attributes: [
        AttributeSchema("small", .integer16), AttributeSchema("large", .integer64), AttributeSchema("half", .double),
        AttributeSchema("flag", .boolean), AttributeSchema("day", .date), AttributeSchema("text", .string),
        AttributeSchema("key", .uuid), AttributeSchema("amount", .decimal), AttributeSchema("part", composite: "Part"),
      ],
      relationships: [
        RelationshipSchema("to", to: "Item", inverse: "from"),
        RelationshipSchema("from", toMany: "Item", inverse: "to"),
      ],
      indexes: [
        IndexSchema("bySmallText", [IndexElement("small"), IndexElement("text", ascending: false)]),
        IndexSchema("byHalf", [IndexElement("half")]), IndexSchema("byText", [IndexElement("text")]),
        IndexSchema("byDay", [IndexElement("day", ascending: false)]),
      ])
    // Its rows lie among those of items, in another layout.
    let special = EntitySchema("Special", parent: "Item", attributes: [AttributeSchema("extra", .integer64)])
    return try Schema(SchemaDefinition([item, special], composites: [part]))
  }

  private static func value(_ name: String, _ random: inout SplitMix64) -> Value {
    if random.oneIn(6) { return .null }
    let n = Int64(random.below(9)) - 4
    switch name {
    case "small": return .integer(n)
    case "large": return .integer([.min, .max, .max - 1, n, Int64(random.below(1 << 30))][random.below(5)])
    case "half": return .double([Double(n) / 2, -0.0, .nan, -.infinity][min(3, random.below(9))])
    case "flag": return .boolean(random.oneIn(2))
    case "day": return .date([Double(n), -0.0][min(1, random.below(8))])
    case "key": return .uuid(UUIDBytes(high: UInt64(random.below(3)) << 62, low: UInt64(random.below(9))))
    case "amount": return .decimal(DecimalValue(n))
    default: return .string(random.pick(texts))
    }
  }

  private static func store(_ random: inout SplitMix64, rows count: Int) throws -> EntityStore {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)), schema: try schema())
    let item = try #require(store.schema.entity(named: "Item"))
    let special = try #require(store.schema.entity(named: "Special"))
    var rows: [ObjectReference] = []
    for part in 0..<2 {
      try store.write { (t) throws(EngineError) in
        for _ in 0..<(count / 2) {
          var values = RowValues()
          for name in ["small", "large", "half", "flag", "day", "text", "key", "amount"] {
            values.set(name, value(name, &random))
          }
          if !random.oneIn(5) { values.set("part", .composite(["number": .integer(Int64(random.below(5)))])) }
          if !random.oneIn(4), !rows.isEmpty { values.set(toOne: "to", random.pick(rows)) }
          let reference = try t.reserveReference(random.oneIn(5) ? special : item)
          try t.insert(reference, values)
          rows.append(reference)
        }
      }
      if part == 0 { try store.kernel.checkpoint() }
    }
    return store
  }

  private static func key(_ path: String, _ random: inout SplitMix64) -> EngineSort {
    EngineSort(
      path, ascending: random.oneIn(2),
      textOrder: random.pick([
        .scalars, .scalars, .scalars, .caseInsensitive, .natural,
        .custom({ a, b in a.unicodeScalars.count - b.unicodeScalars.count }),
      ]))
  }

  @Test(arguments: ["Item", "Special"]) func ordersAreThoseOfTheValues(name: String) throws {
    var random = SplitMix64(seed: testSeed(20_261_211))
    let store = try Self.store(&random, rows: 700)
    let entity = try #require(store.schema.entity(named: name))
    let view = try store.view()
    var byIndex = 0
    for _ in 0..<testCount("CAMBIUM_ORDERS", short: 400, full: 6_000) {
      var fetch = EngineFetch(entity)
      fetch.usesIndexes = !random.oneIn(4)
      fetch.includesSubentities = !random.oneIn(4)
      if random.oneIn(2) { fetch.costs.sortedRow = 10_000 }
      if random.oneIn(3) {
        fetch.predicate = try Predicate(
          format: random.pick([
            "small > 0", "flag == YES", "small == 1", "part.number == 3 AND flag == NO", "amount == 77",
          ]))
      }
      let paths = random.oneIn(2) ? Self.paths : ["small", "text", "half", "day"]
      var columns: [EngineColumn] = [EngineColumn("self", .evaluatedObject)]
      for path in paths.shuffled(using: &random).prefix(1 + random.below(3)) {
        columns.append(EngineColumn(path, .keyPath(path)))
        fetch.sort.append(Self.key(path, &random))
      }
      // The reference: values of rows in the order of a scan, sorted one key by one.
      var unsorted = EngineValuesFetch(fetch, columns: columns)
      unsorted.fetch.sort = []
      unsorted.fetch.usesIndexes = false
      let rows = try view.fetchValues(unsorted)
      let sort = fetch.sort
      let expected = rows.indices.sorted { a, b in
        for (i, key) in sort.enumerated() {
          let order = key.order(key.key(rows[a][i + 1]), key.key(rows[b][i + 1]))
          if order != 0 { return key.isAscending ? order < 0 : order > 0 }
        }
        return a < b
      }.map { rows[$0][0] }
      if random.oneIn(2) {
        fetch.offset = random.pick([0, 3, 40, 500])
        fetch.limit = random.pick([0, 1, 5, 40, 200, 650])
      }
      let part = expected.dropFirst(fetch.offset).prefix(fetch.limit ?? .max)
      let about = "\(fetch.sort) of \(fetch.predicate?.description ?? "all"), \(fetch.offset), \(fetch.limit ?? -1)"
      #expect(try view.fetch(fetch).map { .reference($0) } == Array(part), "\(about)")
      #expect(try view.fetchRows(fetch).map { .reference($0.reference) } == Array(part), "\(about)")
      if try view.explain(fetch).kinds.contains(.orderedIndex) { byIndex += 1 }
    }
    #expect(byIndex > 40)
  }

  /// With a limit, the values of rows that come behind are not kept, however many different ones there are.
  @Test(arguments: [true, false]) func fewValuesAreKept(ascending: Bool) throws {
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)), schema: try Self.schema())
    let item = try #require(store.schema.entity(named: "Item"))
    let count = 12_000
    try store.write { (t) throws(EngineError) in
      for n in 0..<count {
        var values = RowValues()
        values.set("text", .string("text \(10_000_000 + n * 7919 % count)"))
        try t.insert(try t.reserveReference(item), values)
      }
    }
    let view = try store.view()
    let plan = try store.plan(item.id)
    let sort = [EngineSort("text", ascending: ascending)]
    let sorter = RowSorter(view, sort, plan.layout, wanted: 20, copiesRows: false)
    var most = 0
    try view.forEach(EngineFetch(item)) { (row) throws(EngineError) in
      _ = try sorter.take(row)
      most = max(most, sorter.valueCount)
      return true
    }
    #expect(most < 4_300)
    var fetch = EngineFetch(item)
    fetch.sort = sort
    fetch.usesIndexes = false
    let all = try view.fetch(fetch)
    fetch.limit = 20
    #expect(try view.fetch(fetch) == Array(all.prefix(20)))
    #expect(sorter.finish().references.prefix(20).map { PackedReference.unpack($0) } == Array(all.prefix(20)))
  }

  /// Rows for which the conditions hold at the other end of an index's order alone: the walk ends before it has cost
  /// more than the plan that sorts, which finds the rest.
  @Test func aWalkThatFindsTooFewLeavesTheRestToSorting() throws {
    var random = SplitMix64(seed: 9)
    let store = try Self.store(&random, rows: 0)
    let item = try #require(store.schema.entity(named: "Item"))
    try store.write { (t) throws(EngineError) in
      for n in 0..<6_000 {
        var values = RowValues()
        values.set("half", .double(Double(n * 7919 % 6_000)))
        values.set("large", .integer(n * 7919 % 6_000 > 5_900 ? 1 : 0))
        // Few at the beginning, which are shown before the walk ends.
        values.set("small", .integer(n * 7919 % 6_000 > 5_000 || n * 7919 % 6_000 < 3 ? 1 : Int64(n % 2) * 2))
        try t.insert(try t.reserveReference(item), values)
      }
    }
    try store.kernel.checkpoint()
    let view = try store.view()
    for format in ["small == 1", "small == 1 AND large == 1", "large == 1", "small == 1 AND large == 7"] {
      for (limit, offset) in [(1, 0), (10, 0), (10, 2), (5, 20), (200, 0), (5, 5_000)] {
        for ascending in [true, false] {
          var fetch = EngineFetch(item, predicate: try Predicate(format: format))
          fetch.sort = [EngineSort("half", ascending: ascending)]
          (fetch.limit, fetch.offset) = (limit, offset)
          let found = try view.fetch(fetch)
          #expect(try view.fetchRows(fetch).map(\.reference) == found)
          fetch.usesIndexes = false
          #expect(try view.fetch(fetch) == found, "\(format), \(limit), \(offset)")
        }
      }
    }
    var fetch = EngineFetch(item, predicate: try Predicate(format: "large == 1"))
    fetch.sort = [EngineSort("half")]
    fetch.limit = 10
    #expect(try view.explain(fetch).kinds.contains(.orderedIndex))
  }

  /// What cannot be sorted by is refused, also if nothing is wanted.
  @Test func whatHasNoOrderIsRefused() throws {
    var random = SplitMix64(seed: 3)
    let store = try Self.store(&random, rows: 10)
    var fetch = EngineFetch(try #require(store.schema.entity(named: "Item")))
    for path in ["from.text", "part", "small.from"] {
      for limit in [nil, 0, 5] {
        fetch.sort = [EngineSort("small"), EngineSort(path)]
        fetch.limit = limit
        #expect(throws: EngineError.self) { try store.view().fetch(fetch) }
        #expect(throws: EngineError.self) { try store.view().fetchRows(fetch) }
      }
    }
  }

  /// Words of eight and of eleven bits a pass, and few of them; equal ones stay where they are.
  @Test(arguments: [0, 1, 2, 24, 25, 300, 5_000]) func wordsAreSorted(count: Int) {
    var random = SplitMix64(seed: testSeed(20_261_212))
    for mask: UInt64 in [0, 7, 0xFFFF, 1 << 63 | 3, .max] {
      let words = (0..<count).map { _ in random.next() & mask }
      for ascending in [true, false] {
        var indices = (0..<UInt32(count)).shuffled(using: &random)
        let expected = indices.enumerated().sorted {
          let (a, b) = (words[Int($0.element)], words[Int($1.element)])
          return a == b ? $0.offset < $1.offset : ascending ? a < b : a > b
        }.map(\.element)
        RadixSort.sort(&indices, by: words, ascending: ascending)
        #expect(indices == expected)
      }
    }
  }
}
