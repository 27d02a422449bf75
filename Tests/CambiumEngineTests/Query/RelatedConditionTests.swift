import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Conditions on the objects of to-many relationships, asked of rows that another condition's index gives: of many at
/// once, whether they lead to few objects or to more than are read together.
@Suite struct RelatedConditionTests {
  private struct Entry {
    var owner: Int
    var value: Int64
    var kind: Int64
  }

  private static func schema() throws -> Schema {
    let owner = EntitySchema(
      "Owner", attributes: [AttributeSchema("kind", .integer64), AttributeSchema("number", .integer64)],
      relationships: [
        RelationshipSchema("entries", toMany: "Entry", inverse: "owner"),
        RelationshipSchema("tags", toMany: "Tag", inverse: "owners"),
        RelationshipSchema("steps", toMany: "Step", inverse: "owner", ordered: true),
      ], indexes: [IndexSchema("byKind", [IndexElement("kind")])])
    let entry = EntitySchema(
      "Entry", attributes: [AttributeSchema("value", .integer64), AttributeSchema("kind", .integer64)],
      relationships: [RelationshipSchema("owner", to: "Owner", inverse: "entries")])
    let tag = EntitySchema(
      "Tag", attributes: [AttributeSchema("name", .string)],
      relationships: [RelationshipSchema("owners", toMany: "Owner", inverse: "tags")])
    let step = EntitySchema(
      "Step", attributes: [AttributeSchema("value", .integer64)],
      relationships: [RelationshipSchema("owner", to: "Owner", inverse: "steps")])
    return try Schema(SchemaDefinition([owner, entry, tag, step]))
  }

  @Test(arguments: [false, true]) func rowsOfAnIndexAreAskedTogether(inPages: Bool) throws {
    var random = SplitMix64(seed: testSeed(20_261_201))
    let kernel = try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5))
    let store = try EntityStore.create(in: kernel, schema: try Self.schema())
    let owner = try #require(store.schema.entity(named: "Owner"))
    let (entry, tag, step) = (
      try #require(store.schema.entity(named: "Entry")), try #require(store.schema.entity(named: "Tag")),
      try #require(store.schema.entity(named: "Step"))
    )
    let count = 600
    let kinds = (0..<count).map { _ in Int64(random.below(2)) }
    // Most have few entries, some many, some none.
    var entries: [Entry] = []
    for n in 0..<count {
      for _ in 0..<(n % 50 == 0 ? 40 : random.below(4)) {
        entries.append(Entry(owner: n, value: Int64(random.below(100)), kind: Int64(random.below(3))))
      }
    }
    entries.shuffle(using: &random)
    let tagged = (0..<count).map { _ in [random.oneIn(3), random.oneIn(10)] }
    let steps = (0..<count).map { _ in (0..<random.below(3)).map { _ in Int64(random.below(10)) } }
    var owners: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for n in 0..<count {
        var row = RowValues()
        row.set("kind", .integer(kinds[n]))
        row.set("number", .integer(Int64(n)))
        owners.append(try t.reserveReference(owner))
        try t.insert(owners[n], row)
      }
      for made in entries {
        var row = RowValues()
        row.set("value", .integer(made.value))
        row.set("kind", .integer(made.kind))
        row.set(toOne: "owner", owners[made.owner])
        try t.insert(try t.reserveReference(entry), row)
      }
      // Each end of such a relationship is kept by itself.
      var tags: [ObjectReference] = []
      for (place, name) in ["common", "rare"].enumerated() {
        var row = RowValues()
        row.set("name", .string(name))
        row.set(toMany: "owners", owners.indices.filter { tagged[$0][place] }.map { owners[$0] })
        tags.append(try t.reserveReference(tag))
        try t.insert(tags[place], row)
      }
      for n in 0..<count {
        var found: [ObjectReference] = []
        for value in steps[n] {
          var row = RowValues()
          row.set("value", .integer(value))
          found.append(try t.reserveReference(step))
          try t.insert(found[found.count - 1], row)
        }
        var row = RowValues()
        row.set(toMany: "steps", found)
        row.set(toMany: "tags", tags.indices.filter { tagged[n][$0] }.map { tags[$0] })
        try t.update(owners[n], row)
      }
    }
    if inPages { try kernel.checkpoint() }
    let view = try store.view()
    func expect(_ format: String, _ holds: (Int) -> Bool) throws {
      let expected = (0..<count).filter { kinds[$0] == 1 && holds($0) }.map { owners[$0] }
      #expect(!expected.isEmpty)
      for (offset, limit) in [(0, nil), (0, 1), (7, 40)] as [(Int, Int?)] {
        var fetch = EngineFetch.preferringIndexes(owner, try Predicate(format: "kind == 1 AND " + format))
        // The index of owners is to be taken, not the way from the other end.
        fetch.costs.related = 100_000
        (fetch.offset, fetch.limit) = (offset, limit)
        #expect(try view.explain(fetch).kinds.contains(.equality), "\(format)")
        let page = Array(expected.dropFirst(offset).prefix(limit ?? .max))
        #expect(try view.fetch(fetch) == page, "\(format)")
        #expect(try view.count(fetch) == page.count, "\(format)")
        fetch.sort = [EngineSort("number", ascending: false)]
        #expect(
          try view.fetch(fetch) == Array(expected.reversed().dropFirst(offset).prefix(limit ?? .max)), "\(format)")
      }
    }
    func of(_ n: Int) -> [Entry] { byOwner[n] ?? [] }
    let byOwner = Dictionary(grouping: entries) { $0.owner }
    try expect("ANY entries.value > 95") { of($0).contains { $0.value > 95 } }
    try expect("ANY entries.value IN {1, 2, 3, 4, 5}") { of($0).contains { (1...5).contains($0.value) } }
    try expect("SUBQUERY(entries, $e, $e.value > 50 AND $e.kind == 2).@count > 0") {
      of($0).contains { $0.value > 50 && $0.kind == 2 }
    }
    try expect("ANY entries.value > 50 AND ANY entries.value < 3") {
      of($0).contains { $0.value > 50 } && of($0).contains { $0.value < 3 }
    }
    try expect("(ANY entries.value > 97 OR number < 100)") { n in of(n).contains { $0.value > 97 } || n < 100 }
    try expect("NOT ANY entries.value > 20") { !of($0).contains { $0.value > 20 } }
    try expect("ANY tags.name == 'rare'") { tagged[$0][1] }
    try expect("ANY tags.name BEGINSWITH 'com' AND number > 20") { tagged[$0][0] && $0 > 20 }
    try expect("ANY steps.value == 7") { steps[$0].contains(7) }
    try expect("ANY entries.owner.number < 300") { !of($0).isEmpty && $0 < 300 }
  }
}
