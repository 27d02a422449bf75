import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Which rows a uniqueness constraint compares, and when.
@Suite struct UniquenessTests {
  private static func store() throws -> EntityStore {
    let aircraft = EntitySchema(
      "Aircraft", attributes: [AttributeSchema("tail", .string), AttributeSchema("year", .integer32)],
      unique: [["tail", "year"]])
    return try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 8)),
      schema: try Schema(SchemaDefinition([aircraft])))
  }

  private static func values(_ tail: Value, _ year: Value) -> RowValues {
    var row = RowValues()
    row.set("tail", tail)
    row.set("year", year)
    return row
  }

  private static func insert(
    _ t: EntityTransaction, _ tail: Value, _ year: Value
  ) throws(EngineError) -> ObjectReference {
    guard let aircraft = t.store.schema.entity(named: "Aircraft") else { throw .misuse("no Aircraft") }
    let reference = try t.reserveReference(aircraft)
    try t.insert(reference, values(tail, year))
    return reference
  }

  /// Rows that one transaction inserts are compared with each other, and with the stored ones.
  @Test(arguments: [true, false]) func equalRowsAreRefused(_ inOneTransaction: Bool) throws {
    let store = try Self.store()
    if !inOneTransaction { _ = try store.write { (t) throws(EngineError) in try Self.insert(t, "N1", 1999) } }
    #expect(throws: EngineError.self) {
      try store.write { (t) throws(EngineError) in
        if inOneTransaction { _ = try Self.insert(t, "N1", 1999) }
        _ = try Self.insert(t, "N2", 1999)
        _ = try Self.insert(t, "N1", 1999)
      }
    }
    #expect(try store.check().isSound)
  }

  /// A null equals no other null, as Core Data has it.
  @Test func nullsAreNotCompared() throws {
    let store = try Self.store()
    for _ in 0..<2 {
      try store.write { (t) throws(EngineError) in
        for _ in 0..<2 { _ = try Self.insert(t, "N1", .null) }
        _ = try Self.insert(t, .null, .null)
      }
    }
    #expect(try store.check().isSound)
  }

  /// A row that had the value of another one, and changed before the commit, violates nothing.
  @Test func onlyTheLastValuesCount() throws {
    let store = try Self.store()
    _ = try store.write { (t) throws(EngineError) in try Self.insert(t, "N1", 1999) }
    let aircraft = try #require(store.schema.entity(named: "Aircraft"))
    try store.write { (t) throws(EngineError) in
      let reference = try Self.insert(t, "N1", 1999)
      // Looking an object up writes the index entries that were gathered.
      _ = try t.lookup(aircraft, by: ["tail", "year"]).first(["N1", 1999])
      try t.update(reference, Self.values("N2", 1999))
    }
    #expect(try store.check().isSound)
  }
}
