import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Conditions that the planner sees through before it looks at rows, and values that an index tells with a condition
/// beside it. A fetch without indexes finds the same.
@Suite struct ConditionShapeTests {
  private static func store(rows: Int) throws -> (EntityStore, EntitySchema) {
    let item = EntitySchema(
      "Item",
      attributes: [
        AttributeSchema("number", .integer64), AttributeSchema("half", .double), AttributeSchema("name", .string),
        AttributeSchema("kind", .integer16),
      ],
      indexes: [
        IndexSchema("byNumber", [IndexElement("number")]), IndexSchema("byName", [IndexElement("name")]),
        IndexSchema("byHalf", [IndexElement("half", ascending: false)]),
        IndexSchema("byKindName", [IndexElement("kind"), IndexElement("name")]),
      ])
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([item])))
    let entity = try #require(store.schema.entity(named: "Item"))
    var random = SplitMix64(seed: testSeed(20_261_215))
    try store.write { (t) throws(EngineError) in
      for n in 0..<rows {
        var row = RowValues()
        if !random.oneIn(9) { row.set("number", .integer(Int64(random.below(40)))) }
        if !random.oneIn(9) { row.set("half", .double([0.0, -0.0, 0.5, 7, 7.5][random.below(5)])) }
        if !random.oneIn(9) { row.set("name", .string(random.pick(["a", "b", "e\u{301}", "\u{E9}", "long name"]))) }
        row.set("kind", .integer(Int64(n % 3)))
        try t.insert(try t.reserveReference(entity), row)
      }
    }
    try store.kernel.checkpoint()
    return (store, entity)
  }

  @Test func conditionsAreSeenThrough() throws {
    let (store, item) = try Self.store(rows: 600)
    let view = try store.view()
    func expect(_ format: String, isNothing: Bool) throws {
      var fetch = EngineFetch(item, predicate: try Predicate(format: format))
      #expect(try view.explain(fetch).kinds.contains(.nothing) == isNothing, "\(format)")
      let found = try view.fetch(fetch)
      #expect(try view.count(fetch) == found.count, "\(format)")
      fetch.usesIndexes = false
      #expect(try view.fetch(fetch) == found, "\(format)")
      #expect(try view.count(fetch) == found.count, "\(format)")
      if isNothing { #expect(found.isEmpty) }
    }
    try expect("number == 7.5", isNothing: true)
    try expect("number == 7.0", isNothing: false)
    try expect("half == 7.5", isNothing: false)
    try expect("number IN {7.5, 3, 4.25, 9.0}", isNothing: false)
    try expect("number == 3 AND number == 4", isNothing: true)
    try expect("number == 3 AND name == 'a' AND name == 'b'", isNothing: true)
    try expect("name == '\u{E9}' AND name == 'e\u{301}'", isNothing: false)
    try expect("half == 0.0 AND half == -0.0", isNothing: false)
    try expect("1 + 2 > 4", isNothing: true)
    try expect("number > 5 AND 'a' == 'b'", isNothing: true)
    try expect("number > 5 AND 'a' != 'b'", isNothing: false)
    try expect("NOT (number == 3 OR number != 3)", isNothing: false)
    try expect("number != 1 AND NOT number == 2 AND NOT (name == 'a' OR kind == 1)", isNothing: false)
  }

  @Test func pagesWithoutAnOrderPassRowsOver() throws {
    let (store, item) = try Self.store(rows: 900)
    // Half of the rows lie in the delta over the pages then.
    try store.write { (t) throws(EngineError) in
      for n in 0..<100 {
        var row = RowValues()
        row.set("kind", .integer(Int64(n % 3)))
        try t.insert(try t.reserveReference(item), row)
      }
    }
    let view = try store.view()
    let all = try view.fetch(EngineFetch(item))
    for offset in [0, 1, 79, 80, 500, 899, 900, 950, 999, 1000, 5000] {
      for limit in [nil, 1, 30, 2000] {
        var fetch = EngineFetch(item)
        (fetch.offset, fetch.limit) = (offset, limit)
        let expected = Array(all.dropFirst(offset).prefix(limit ?? .max))
        #expect(try view.fetch(fetch) == expected, "\(offset), \(limit ?? -1)")
        #expect(try view.fetchRows(fetch).map(\.reference) == expected, "\(offset), \(limit ?? -1)")
      }
    }
  }

  @Test func distinctValuesComeFromAnIndexWithACondition() throws {
    let (store, item) = try Self.store(rows: 5_000)
    let view = try store.view()
    var byIndex = 0
    for format in ["kind == 1", "kind > 0", "number > 3", "number > 38", "half < 7", "name == nil"] {
      for paths in [["number"], ["half"], ["name"], ["kind", "name"], ["name", "kind"], ["number", "half"]] {
        for sort in [nil, EngineSort(paths[0], ascending: false)] {
          var request = EngineValuesFetch(
            EngineFetch(item, predicate: try Predicate(format: format)),
            columns: paths.map { EngineColumn($0, .keyPath($0)) })
          request.isDistinct = true
          if let sort {
            request.fetch.sort = [sort]
            request.fetch.limit = 5
          }
          if try view.explain(request).kinds.contains(.orderedIndex) { byIndex += 1 }
          var found = try view.fetchValues(request)
          request.fetch.usesIndexes = false
          var expected = try view.fetchValues(request)
          if sort == nil {
            // In any order.
            found.sort { "\($0)" < "\($1)" }
            expected.sort { "\($0)" < "\($1)" }
          }
          #expect(found == expected, "\(paths) where \(format)")
        }
      }
    }
    #expect(byIndex > 8)
  }
}
