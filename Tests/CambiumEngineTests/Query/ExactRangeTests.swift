import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Ranges of an index that decide a predicate by themselves have to be exactly its rows.
@Suite struct ExactRangeTests {
  static func store(_ indexes: [IndexSchema]) throws -> EntityStore {
    let thing = EntitySchema(
      "Thing",
      attributes: [AttributeSchema("s", .string), AttributeSchema("n", .integer64), AttributeSchema("u", .uuid)],
      relationships: [
        RelationshipSchema("to", to: "Thing", inverse: "from"),
        RelationshipSchema("from", toMany: "Thing", inverse: "to"),
      ], indexes: indexes)
    return try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
      schema: try Schema(SchemaDefinition([thing])))
  }

  static func rows(
    _ store: EntityStore, _ format: String, _ arguments: [Value] = [], sort: [EngineSort] = [], limit: Int? = nil
  ) throws -> [UInt64] {
    let thing = try #require(store.schema.entity(named: "Thing"))
    var fetch = EngineFetch(
      thing, predicate: try Predicate(format: format, arguments: arguments.map(PredicateArgument.value)))
    fetch.sort = sort
    fetch.limit = limit
    let view = try store.view()
    let found = try view.fetch(fetch).map(\.row)
    #expect(try view.count(fetch) == found.count)
    #expect(try view.fetchRows(fetch).map(\.reference.row) == found)
    return found
  }

  static func insert(_ store: EntityStore, _ values: [RowValues]) throws -> [ObjectReference] {
    let thing = try #require(store.schema.entity(named: "Thing"))
    var made: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for value in values {
        let reference = try t.reserveReference(thing)
        try t.insert(reference, value)
        made.append(reference)
      }
    }
    return made
  }

  /// Text so long that the part behind it is left out of the key.
  @Test(arguments: 985...1030) func partsLeftOutOfAKey(_ length: Int) throws {
    let store = try Self.store([
      IndexSchema("sn", [IndexElement("s"), IndexElement("n")]),
      IndexSchema("su", [IndexElement("s"), IndexElement("u")]),
    ])
    let text = Value.string(String(repeating: "x", count: length))
    let uuids = (0..<3).map { UUIDBytes(high: 7, low: UInt64($0)) }
    let made = try Self.insert(
      store,
      (0..<3).map { i in
        var values = RowValues()
        values.set("s", text)
        values.set("n", .integer(Int64(i)))
        values.set("u", .uuid(uuids[i]))
        return values
      })
    #expect(try Self.rows(store, "s == %@ AND n == 1", [text]) == [made[1].row])
    #expect(try Self.rows(store, "s == %@ AND u == %@", [text, .uuid(uuids[2])]) == [made[2].row])
    #expect(try Self.rows(store, "s == %@", [text]) == made.map(\.row))
  }

  @Test func aPathNamedTwiceCoversOneCondition() throws {
    let store = try Self.store([IndexSchema("nn", [IndexElement("n"), IndexElement("n", ascending: false)])])
    var values = RowValues()
    values.set("n", .integer(1))
    values.set("s", .string("x"))
    let made = try Self.insert(store, [values])
    #expect(try Self.rows(store, "n == 1") == made.map(\.row))
    #expect(try Self.rows(store, "n == 1 AND n == 2") == [])
    #expect(try Self.rows(store, "n == 1 AND s BEGINSWITH 'y'") == [])
  }

  @Test func identitiesThatDoNotFitAKeyFindNothing() throws {
    let store = try Self.store([IndexSchema("to", [IndexElement("to")])])
    let target = try Self.insert(store, [RowValues()])[0]
    var values = RowValues()
    values.set(toOne: "to", target)
    let made = try Self.insert(store, [values, values])
    #expect(try Self.rows(store, "to == %@", [.reference(target)]) == made.map(\.row))
    let temporary = ObjectReference(entity: target.entity, row: 1 << 63 | target.row)
    #expect(try Self.rows(store, "to == %@", [.reference(temporary)]) == [])
  }

  @Test func theLargestLimitIsNone() throws {
    let store = try Self.store([])
    let made = try Self.insert(store, [RowValues(), RowValues()])
    #expect(try Self.rows(store, "TRUEPREDICATE", sort: [EngineSort("n")], limit: .max) == made.map(\.row))
  }
}
