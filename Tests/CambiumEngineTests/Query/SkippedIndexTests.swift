import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Conditions on the second part of an index are answered by one range for each value of its first part, and find the
/// rows that a scan finds: in either direction, with nulls, and with keys that were cut.
@Suite struct SkippedIndexTests {
  private static let long = String(repeating: "y", count: 3000)

  private static func store(_ random: inout SplitMix64, rows count: Int, mayBeLong: Bool) throws -> EntityStore {
    let seat = EntitySchema(
      "Aircraft",
      attributes: [
        AttributeSchema("seats", .integer16), AttributeSchema("year", .integer16), AttributeSchema("maker", .string),
        AttributeSchema("model", .string), AttributeSchema("engines", .integer16),
      ],
      indexes: [
        IndexSchema("bySeats", [IndexElement("seats"), IndexElement("year", ascending: false)]),
        IndexSchema("byMaker", [IndexElement("maker", ascending: false), IndexElement("model"), IndexElement("year")]),
      ])
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([seat])))
    let aircraft = try #require(store.schema.entity(named: "Aircraft"))
    var rows: [RowValues] = []
    for _ in 0..<count {
      var row = RowValues()
      if !random.oneIn(6) { row.set("seats", .integer(Int64(random.below(9)) - 4)) }
      if !random.oneIn(6) { row.set("year", .integer(Int64(1960 + random.below(40)))) }
      if !random.oneIn(6) { row.set("engines", .integer(Int64(random.below(4)))) }
      let isLong = mayBeLong && random.oneIn(30)
      if !random.oneIn(6) { row.set("maker", .string(isLong ? long + "z" : random.pick(["A", "B", "", "\u{E9}"]))) }
      if !random.oneIn(6) { row.set("model", .string(random.pick(["a", "ab", "b", "", long, long + "z"]))) }
      rows.append(row)
    }
    try store.write { (t) throws(EngineError) in
      for row in rows { try t.insert(try t.reserveReference(aircraft), row) }
    }
    return store
  }

  private static let formats = [
    "year < 1965", "year == 1970", "year == nil", "year != nil AND engines == 1", "year BETWEEN {1970, 1972}",
    "year >= 1990 AND engines > 1", "year == 1961 AND model == 'a'", "model == 'ab'", "model == 'ab' AND year > 1970",
    "model BEGINSWITH 'a'", "model == '\(long)'", "model == nil AND year == 1980", "model > 'b'",
    "year > 1995 OR model == 'b'", "year IN {1966}", "model LIKE 'a*' AND engines == 2",
  ]

  @Test func rowsAreThoseOfAScan() throws {
    var random = SplitMix64(seed: testSeed(20_261_201))
    var skipped = 0
    for round in 0..<6 {
      let store = try Self.store(&random, rows: [0, 5, 60, 400, 700, 700][round], mayBeLong: round % 2 == 0)
      if round == 4 { try store.kernel.checkpoint() }
      let aircraft = try #require(store.schema.entity(named: "Aircraft"))
      let view = try store.view()
      for format in Self.formats {
        var fetch = EngineFetch(aircraft, predicate: try Predicate(format: format))
        // A dear scan, so that all ways are tried.
        fetch.costs.siftedRow = 1000
        fetch.costs.scannedRow = 1000
        if random.oneIn(3) { fetch.sort = [EngineSort("year"), EngineSort("model")] }
        let plan = try view.explain(fetch)
        if plan.kinds.contains(.skipped) { skipped += 1 }
        let (found, count) = (try view.fetch(fetch), try view.count(fetch))
        fetch.usesIndexes = false
        #expect(try view.fetch(fetch) == found, "\(format): \(plan)")
        #expect(try view.count(fetch) == count, "\(format): \(plan)")
      }
    }
    #expect(skipped > 25)
  }

  /// Twelve thousand aircraft of 48 numbers of seats, of which sixty are old: an index on seats and year has them.
  @Test func fewValuesAreSkipped() throws {
    let aircraft = EntitySchema(
      "Aircraft", attributes: [AttributeSchema("seats", .integer16), AttributeSchema("year", .integer16)],
      indexes: [IndexSchema("bySeats", [IndexElement("seats"), IndexElement("year", ascending: false)])])
    for (values, isSkipped) in [(48, true), (100, false), (2_000, false)] {
      let store = try EntityStore.create(
        in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
        schema: try Schema(SchemaDefinition([aircraft])))
      let entity = try #require(store.schema.entity(named: "Aircraft"))
      try store.write { (t) throws(EngineError) in
        for i in 0..<12_000 {
          var row = RowValues()
          row.set("seats", .integer(Int64(i % values)))
          row.set("year", .integer(i % 200 == 0 ? 1965 : Int64(1975 + i % 40)))
          try t.insert(try t.reserveReference(entity), row)
        }
      }
      let view = try store.view()
      let fetch = EngineFetch(entity, predicate: try Predicate(format: "year < 1970"))
      let plan = try view.explain(fetch)
      #expect(plan.kinds.contains(.skipped) == isSkipped, "\(plan)")
      #expect(try view.count(fetch) == 60)
    }
  }
}
