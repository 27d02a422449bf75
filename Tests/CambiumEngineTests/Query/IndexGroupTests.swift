import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Groups and distinct values by stretches of an index, of more rows than are looked at for the first ones of groups.
@Suite struct IndexGroupTests {
  private static func store() throws -> EntityStore {
    let thing = EntitySchema(
      "Thing",
      attributes: [
        AttributeSchema("kind", .string), AttributeSchema("n", .integer64), AttributeSchema("half", .double),
      ],
      indexes: [
        IndexSchema("byKind", [IndexElement("kind"), IndexElement("n", ascending: false)]),
        IndexSchema("byHalf", [IndexElement("half", ascending: false)]),
      ])
    let kernel = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5))
    let store = try EntityStore.create(in: kernel, schema: try Schema(SchemaDefinition([thing])))
    let made = try #require(store.schema.entity(named: "Thing"))
    try store.write { (t) throws(EngineError) in
      for n in 0..<6000 {
        var row = RowValues()
        // Two that are rare: one from the middle on, one at the end, written in two ways.
        switch n {
        case 4500, 4501, 5990: row.set("kind", .string("rare"))
        case 5998: row.set("kind", .string("e\u{301}"))
        case 5999: row.set("kind", .string("\u{E9}"))
        case _ where n % 7 == 0: break
        default: row.set("kind", .string(["a", "b", "c"][n % 3]))
        }
        if n % 11 != 0 { row.set("n", .integer(Int64(n * 7919 % 6000))) }
        row.set("half", .double(n % 5 == 0 ? -0.0 : Double(n % 4)))
        try t.insert(try t.reserveReference(made), row)
      }
    }
    try kernel.checkpoint()
    return store
  }

  @Test func stretchesGiveWhatRowsDo() throws {
    let store = try Self.store()
    let thing = try #require(store.schema.entity(named: "Thing"))
    let view = try store.view()
    func compare(
      _ format: String?, by paths: [String], _ functions: [(String, String?)], covers: Bool = true,
      distinct: Bool = false
    ) throws {
      var fetch = EngineFetch(thing)
      fetch.predicate = try format.map { try Predicate(format: $0) }
      var columns = paths.map { EngineColumn($0, .keyPath($0)) }
      for (n, (function, path)) in functions.enumerated() {
        columns.append(EngineColumn("c\(n)", .function(function, [path.map { .keyPath($0) } ?? .evaluatedObject])))
      }
      var request = EngineValuesFetch(fetch, columns: columns)
      request.isDistinct = distinct
      if !distinct { request.groupBy = paths }
      for (offset, limit, sort) in [(0, nil, false), (1, 2, false), (0, nil, true), (1, 1, true)] as [(Int, Int?, Bool)]
      {
        (request.fetch.offset, request.fetch.limit) = (offset, limit)
        request.fetch.sort = sort ? [EngineSort(columns[0].name, ascending: false)] : []
        request.fetch.usesIndexes = true
        // The first few of distinct values are found among the rows.
        let isByRows = distinct && limit != nil && !sort
        #expect(
          try view.explain(request).kinds.contains(.coveringIndex) == (covers && !isByRows),
          "\(paths), \(format ?? "all")")
        var found = try view.fetchValues(request)
        #expect(!found.isEmpty || offset > 0)
        request.fetch.usesIndexes = false
        var expected = try view.fetchValues(request)
        if distinct, !sort, limit == nil, offset == 0 {
          // In any order.
          found.sort { "\($0)" < "\($1)" }
          expected.sort { "\($0)" < "\($1)" }
        }
        #expect("\(found)" == "\(expected)", "\(paths), \(functions), \(format ?? "all")")
      }
    }
    try compare(nil, by: ["kind"], [], distinct: true)
    try compare(nil, by: ["kind"], [("count", nil), ("count", "n"), ("min", "n"), ("max", "n")])
    try compare(nil, by: ["half"], [("count", nil)])
    try compare(nil, by: ["half"], [], distinct: true)
    try compare(nil, by: [], [("count", "kind"), ("min", "kind"), ("max", "kind"), ("count", nil)])
    try compare(nil, by: [], [("min", "half"), ("max", "half")])
    try compare("kind == 'rare'", by: [], [("count", nil), ("min", "n"), ("max", "n")])
    try compare("kind == 'rare' AND n > 10", by: ["kind"], [("count", nil), ("min", "n")])
    try compare("kind == '\u{E9}'", by: ["kind"], [("count", nil)])
    try compare("kind == nil", by: [], [("count", nil), ("max", "n")])
    try compare("kind > 'a' AND kind < 'z'", by: ["kind"], [("count", nil), ("max", "n")])
    try compare("kind BEGINSWITH 'r'", by: ["kind"], [("count", nil), ("count", "n")])
    try compare("kind == 'none'", by: [], [("count", nil), ("min", "n")])
    // What an index does not tell.
    try compare("n > 3000", by: ["kind"], [("count", nil)], covers: false)
    try compare(nil, by: ["n"], [("count", nil)], covers: false)
    try compare(nil, by: ["kind"], [("sum", "n")], covers: false)
    try compare(nil, by: ["kind"], [("min", "half")], covers: false)
    // So many groups that going through the rows is better; it gives the same.
    try compare(nil, by: ["kind", "n"], [("count", nil)], covers: false)
  }

  @Test func orderedIdentifiersNeedNoRows() throws {
    let store = try Self.store()
    let thing = try #require(store.schema.entity(named: "Thing"))
    let view = try store.view()
    for sort in [
      [EngineSort("kind"), EngineSort("n", ascending: false)], [EngineSort("kind", ascending: false), EngineSort("n")],
      [EngineSort("kind")], [EngineSort("kind", ascending: false)], [EngineSort("half")],
    ] {
      for (offset, limit) in [(0, nil), (0, 5), (2000, 900), (5990, 100)] as [(Int, Int?)] {
        var fetch = EngineFetch(thing)
        fetch.sort = sort
        (fetch.offset, fetch.limit) = (offset, limit)
        fetch.usesIndexes = false
        let expected = try view.fetch(fetch)
        fetch.usesIndexes = true
        #expect(try view.fetch(fetch) == expected)
        #expect(try view.fetchRows(fetch).map(\.reference) == expected)
      }
    }
    var fetch = EngineFetch(thing)
    fetch.sort = [EngineSort("half", ascending: false)]
    fetch.limit = 5
    #expect(try view.explain(fetch).kinds.contains(.orderedIndex))
  }
}
