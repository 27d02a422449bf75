import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Uniqueness constraints of values that are too long for a key: what is cut off still counts.
@Suite struct CutKeyTests {
  static func store() throws -> EntityStore {
    let owner = EntitySchema(
      "Owner", attributes: [AttributeSchema("name", .string)],
      relationships: [RelationshipSchema("books", toMany: "Book", inverse: "owner")])
    let book = EntitySchema(
      "Book",
      attributes: [
        AttributeSchema("title", .string), AttributeSchema("volume", .integer32), AttributeSchema("text", .string),
      ],
      relationships: [RelationshipSchema("owner", to: "Owner", inverse: "books")],
      unique: [["text"], ["title", "volume"], ["owner", "title"]])
    return try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 8)),
      schema: try Schema(SchemaDefinition([owner, book])))
  }

  static let long = String(repeating: "x", count: 3000)

  static func insert(
    _ t: EntityTransaction, _ values: [String: Value], owner: ObjectReference? = nil
  ) throws(EngineError) -> ObjectReference {
    guard let book = t.store.schema.entity(named: "Book") else { throw .misuse("no Book") }
    let reference = try t.reserveReference(book)
    var row = RowValues()
    for (name, value) in values { row.set(name, value) }
    if let owner { row.set(toOne: "owner", owner) }
    try t.insert(reference, row)
    return reference
  }

  static func update(_ store: EntityStore, _ reference: ObjectReference, _ name: String, _ value: Value) -> EngineError?
  {
    do throws(EngineError) {
      try store.write { (t) throws(EngineError) in
        var row = RowValues()
        row.set(name, value)
        try t.update(reference, row)
      }
      return nil
    } catch { return error }
  }

  static func isViolation(_ error: EngineError?, existing: ObjectReference, offending: ObjectReference) -> Bool {
    if case .uniqueViolation(_, _, existing, offending) = error { return true }
    return false
  }

  @Test(arguments: [false, true]) func aChangeBehindTheCutIsChecked(inPages: Bool) throws {
    let store = try Self.store()
    let (a, b) = try store.write { (t) throws(EngineError) in
      (try Self.insert(t, ["text": .string(Self.long + "a")]), try Self.insert(t, ["text": .string(Self.long + "b")]))
    }
    if inPages { try store.kernel.checkpoint() }
    let same = Self.update(store, b, "text", .string(Self.long + "a"))
    #expect(Self.isViolation(same, existing: a, offending: b), "\(String(describing: same))")
    #expect(Self.update(store, b, "text", .string(Self.long + "c")) == nil)
    // A row does not stand in its own way.
    #expect(Self.update(store, b, "text", .string(Self.long + "c")) == nil)
    #expect(try store.view().row(b)?.value(keyPath: "text") == .string(Self.long + "c"))
    #expect(try store.check().problems == [])
  }

  @Test func aChangeOfAPartThatWasLeftOutIsChecked() throws {
    let store = try Self.store()
    let (a, b) = try store.write { (t) throws(EngineError) in
      (
        try Self.insert(t, ["title": .string(Self.long), "volume": 1]),
        try Self.insert(t, ["title": .string(Self.long), "volume": 2])
      )
    }
    let same = Self.update(store, b, "volume", 1)
    #expect(Self.isViolation(same, existing: a, offending: b), "\(String(describing: same))")
    #expect(Self.update(store, b, "volume", 3) == nil)
    #expect(Self.update(store, b, "volume", .null) == nil)
    #expect(try store.check().problems == [])
  }

  /// The order of two changes in one transaction is of no consequence: only what is there at the end.
  @Test func valuesBehindTheCutMayBeSwapped() throws {
    let store = try Self.store()
    let (a, b) = try store.write { (t) throws(EngineError) in
      (try Self.insert(t, ["text": .string(Self.long + "a")]), try Self.insert(t, ["text": .string(Self.long + "b")]))
    }
    try store.write { (t) throws(EngineError) in
      for (reference, text) in [(a, "b"), (b, "a")] {
        var row = RowValues()
        row.set("text", .string(Self.long + text))
        try t.update(reference, row)
      }
    }
    #expect(try store.view().row(a)?.value(keyPath: "text") == .string(Self.long + "b"))
    #expect(try store.check().problems == [])
  }

  @Test func relationshipsMayBePartsOfConstraintsWithCutKeys() throws {
    let store = try Self.store()
    let owner = try #require(store.schema.entity(named: "Owner"))
    let (ann, bob) = try store.write { (t) throws(EngineError) in
      let references = (try t.reserveReference(owner), try t.reserveReference(owner))
      try t.insert(references.0, RowValues())
      try t.insert(references.1, RowValues())
      return references
    }
    let first = try store.write { (t) throws(EngineError) in
      _ = try Self.insert(t, ["title": .string(Self.long + "1")], owner: bob)
      _ = try Self.insert(t, ["title": .string(Self.long + "2")], owner: ann)
      return try Self.insert(t, ["title": .string(Self.long + "1")], owner: ann)
    }
    var failure: EngineError?
    do throws(EngineError) {
      try store.write { (t) throws(EngineError) in
        _ = try Self.insert(t, ["title": .string(Self.long + "1")], owner: ann)
      }
    } catch { failure = error }
    if case .uniqueViolation(_, _, first, _) = failure {} else { Issue.record("\(String(describing: failure))") }
    #expect(try store.check().problems == [])
  }
}
