import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Fetches of values, against what the same comes to row by row.
@Suite struct ValuesFetchTests {
  private static let names = ["a", "b", "é", "e\u{301}", ""]

  private func store(_ random: inout SplitMix64, rows: Int) throws -> EntityStore {
    let store = try ExactRangeTests.store([IndexSchema("byN", [IndexElement("n")])])
    var values: [RowValues] = []
    for _ in 0..<rows {
      var row = RowValues()
      if random.next() % 4 != 0 { row.set("s", .string(Self.names[Int(random.next() % 5)])) }
      if random.next() % 5 != 0 { row.set("n", .integer(Int64(random.next() % 7))) }
      values.append(row)
    }
    let made = try ExactRangeTests.insert(store, values)
    let thing = try #require(store.schema.entity(named: "Thing"))
    let link = try #require(thing.relationship(named: "to"))
    try store.write { (t) throws(EngineError) in
      for reference in made where random.next() % 2 == 0 {
        var row = RowValues()
        row.set(toOne: link.name, made[Int(random.next() % UInt64(made.count))])
        try t.update(reference, row)
      }
    }
    return store
  }

  @Test(arguments: 1...20) func groupsAreThoseOfTheRows(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = try store(&random, rows: 60)
    let thing = try #require(store.schema.entity(named: "Thing"))
    let view = try store.view()
    var fetch = EngineFetch(thing, predicate: seed % 2 == 0 ? try Predicate(format: "n > 1") : nil)
    let path = seed % 3 == 0 ? "to.s" : "s"
    fetch.sort = [EngineSort("total", ascending: false), EngineSort(path)]
    var request = EngineValuesFetch(
      fetch,
      columns: [
        EngineColumn(path, .keyPath(path)), EngineColumn("count", .function("count", [.evaluatedObject])),
        EngineColumn("total", .function("sum", [.keyPath("n")])),
        EngineColumn("least", .function("min:", [.keyPath("n")])),
      ])
    request.groupBy = [path]
    let found = try view.fetchValues(request)

    var naive: [Value: [Value]] = [:]
    var rows = fetch
    rows.sort = []
    for row in try view.fetchRows(rows) {
      let n = try row.value(keyPath: "n")
      var key = try row.value(keyPath: "s")
      if path == "to.s" {
        let to = try row.reference(#require(thing.relationship(named: "to")))
        key = try to.flatMap { try view.row($0) }?.value(keyPath: "s") ?? .null
      }
      naive[key, default: []].append(n)
    }
    #expect(found.count == naive.count)
    for result in found {
      let values = try #require(naive[result[0]])
      let numbers = values.compactMap { $0.exactInteger }
      #expect(result[1] == .integer(Int64(values.count)))
      #expect(result[2] == (numbers.isEmpty ? .null : .integer(numbers.reduce(0, +))))
      #expect(result[3] == (numbers.min().map { .integer($0) } ?? .null))
    }
    let totals = found.map { $0[2] }
    #expect(totals == totals.sorted { Value.sortOrder($0, $1) == .greater })

    // Offset and limit apply to groups.
    for (offset, limit) in [(0, 1), (1, 2), (3, 100), (100, 1), (0, 0), (0, Int.max)] {
      request.fetch.offset = offset
      request.fetch.limit = limit
      #expect(try view.fetchValues(request) == Array(found.dropFirst(offset).prefix(limit)))
    }
  }

  @Test(arguments: 1...10) func valuesAreThoseOfTheRows(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = try store(&random, rows: 200)
    let thing = try #require(store.schema.entity(named: "Thing"))
    let view = try store.view()
    var fetch = EngineFetch(thing)
    fetch.sort = [EngineSort("n", ascending: seed % 2 == 0), EngineSort("s")]
    var expected: [[Value]] = []
    for row in try view.fetchRows(fetch) {
      expected.append([try row.value(keyPath: "s"), try row.value(keyPath: "n"), "x"])
    }
    var request = EngineValuesFetch(
      fetch,
      columns: [
        EngineColumn("s", .keyPath("s")), EngineColumn("number", .keyPath("n")), EngineColumn("x", .constant("x")),
      ])
    #expect(try view.fetchValues(request) == expected)
    for limit in [1, 3, 40, 199, 200, 1000] {
      request.fetch.limit = limit
      request.fetch.offset = Int(seed)
      #expect(try view.fetchValues(request) == Array(expected.dropFirst(Int(seed)).prefix(limit)))
    }
    request.fetch.offset = 0
    request.fetch.limit = nil
    request.isDistinct = true
    var seen: Set<[Value]> = []
    #expect(try view.fetchValues(request) == expected.filter { seen.insert($0).inserted })
    request.fetch.sort = [EngineSort("number", ascending: false)]
    let numbers = try view.fetchValues(request).map { $0[1] }
    #expect(numbers == numbers.sorted { Value.sortOrder($0, $1) == .greater })
    request.fetch.sort = []
    request.fetch.limit = 2
    #expect(try view.fetchValues(request).count == 2)
  }

  @Test func valuesOfRelationshipsAreFlat() throws {
    var random = SplitMix64(seed: 3)
    let store = try store(&random, rows: 40)
    let thing = try #require(store.schema.entity(named: "Thing"))
    let view = try store.view()
    let request = EngineValuesFetch(
      EngineFetch(thing),
      columns: [
        EngineColumn("links", .function("count", [.keyPath("from")])),
        EngineColumn("sum", .function("sum", [.keyPath("from.n")])),
      ])
    var linked: [Int64] = []
    var links = 0
    for row in try view.fetchRows(EngineFetch(thing))
    where try row.reference(#require(thing.relationship(named: "to"))) != nil {
      links += 1
      if let n = try row.value(keyPath: "n").exactInteger { linked.append(n) }
    }
    #expect(try view.fetchValues(request) == [[.integer(Int64(links)), .integer(linked.reduce(0, +))]])
  }

  /// Without an order, results are handed over as they are found, and no more rows are read than are asked for.
  @Test func resultsAreHandedOverOneByOne() throws {
    var random = SplitMix64(seed: 5)
    let store = try store(&random, rows: 40)
    let thing = try #require(store.schema.entity(named: "Thing"))
    let view = try store.view()
    var request = EngineValuesFetch(
      EngineFetch(thing), columns: [EngineColumn("n", .keyPath("n")), EngineColumn("s", .keyPath("s"))])
    for (offset, limit, isDistinct) in [(0, nil, false), (3, 5, false), (2, 4, true), (50, nil, false), (0, 0, true)] {
      request.fetch.offset = offset
      request.fetch.limit = limit
      request.isDistinct = isDistinct
      var found: [[Value]] = []
      for row in try view.fetchRows(EngineFetch(thing)) {
        let values = [try row.value(keyPath: "n"), try row.value(keyPath: "s")]
        if !isDistinct || !found.contains(values) { found.append(values) }
      }
      found = Array(found.dropFirst(offset).prefix(limit ?? .max))
      #expect(try view.fetchValues(request) == found)
      var first: [[Value]] = []
      try view.forEachValues(request) { (values) throws(EngineError) in
        first.append(values)
        return first.count < 2
      }
      #expect(first == Array(found.prefix(2)))
    }
  }

  /// An order of key paths is that of the objects, whether by an index or not, with offset and limit.
  @Test(arguments: 1...30) func ordersAreThoseOfTheObjects(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let store = try store(&random, rows: 90)
    let thing = try #require(store.schema.entity(named: "Thing"))
    let view = try store.view()
    let sorts: [[EngineSort]] = [
      [EngineSort("n")], [EngineSort("n", ascending: false)], [EngineSort("s", textOrder: .caseInsensitive)],
      [EngineSort("to.s"), EngineSort("n", ascending: false)], [EngineSort("to"), EngineSort("s")],
    ]
    var fetch = EngineFetch(thing, predicate: seed % 2 == 0 ? try Predicate(format: "n > 1") : nil)
    fetch.sort = sorts[Int(random.next() % 5)]
    fetch.offset = Int(random.next() % 4) * 7
    fetch.limit = [nil, 1, 10, 200][Int(random.next() % 4)]
    // A column may have another name than what it reads, and that of something else.
    let request = EngineValuesFetch(
      fetch, columns: [EngineColumn("self", .evaluatedObject), EngineColumn("number", .keyPath("n"))])
    var expected: [[Value]] = []
    for row in try view.fetchRows(fetch) { expected.append([.reference(row.reference), try row.value(keyPath: "n")]) }
    #expect(try view.fetchValues(request) == expected)
    let explanation = try view.explain(request, running: true)
    #expect(explanation.actualRows == expected.count)
    #expect(explanation.kinds == (try view.explain(fetch).kinds))

    var named = request
    named.fetch.sort = [EngineSort("number", ascending: false)]
    var byNumber = fetch
    byNumber.sort = [EngineSort("n", ascending: false)]
    var references: [[Value]] = []
    for reference in try view.fetch(byNumber) { references.append([.reference(reference)]) }
    #expect(try view.fetchValues(named).map { [$0[0]] } == references)
  }

  @Test func explains() throws {
    var random = SplitMix64(seed: 3)
    let store = try store(&random, rows: 50)
    let thing = try #require(store.schema.entity(named: "Thing"))
    let view = try store.view()
    var fetch = EngineFetch(thing)
    fetch.sort = [EngineSort("total")]
    fetch.limit = 3
    var request = EngineValuesFetch(
      fetch, columns: [EngineColumn("s", .keyPath("s")), EngineColumn("total", .function("sum", [.keyPath("n")]))])
    request.groupBy = ["s"]
    request.having = try Predicate(format: "total > 2")
    let explanation = try view.explain(request, running: true)
    #expect(
      explanation.steps.map { $0.text } == [
        "scan of Thing", "grouped by s", "of the groups, those for which total > 2", "put in order, the first 3 kept",
      ])
    #expect(explanation.kinds == [.scan, .boundedSort])
    #expect(explanation.actualRows == 3)
    #expect(
      try view.explain(EngineValuesFetch(EngineFetch(thing), columns: request.columns.suffix(1))).steps.count == 2)
    #expect(throws: EngineError.self) { try view.explain(EngineValuesFetch(EngineFetch(thing), columns: [])) }
  }
}
