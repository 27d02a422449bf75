import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Looking rows up by a constraint or an index finds what a fetch with a predicate finds.
@Suite struct IndexLookupTests {
  @Test func uniqueKeys() throws {
    let (store, references) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let sub = try #require(store.schema.entity(named: "Sub"))
    let view = try store.view()
    let lookup = try view.lookup(base, by: ["large"])
    let own = try view.lookup(base, by: ["large"], includesSubentities: false)
    let ofSub = try view.lookup(sub, by: ["large"])
    let large = try store.field("large", of: base)
    for (i, reference) in references.enumerated() {
      #expect(try lookup.first(.integer(Int64(i))) == reference)
      #expect(try lookup.first([.double(Double(i))]) == reference)
      #expect(try own.first(.integer(Int64(i))) == (i % 3 == 0 ? nil : reference))
      #expect(try ofSub.first(.integer(Int64(i))) == (i % 3 == 0 ? reference : nil))
      #expect(try lookup.withFirst(.integer(Int64(i))) { (r) throws(EngineError) in try r.int64(large) } == Int64(i))
    }
    for absent in [Value.integer(-1), .integer(.max), .double(0.5), .string("1"), .null] {
      #expect(try lookup.first(absent) == nil)
    }
    #expect(throws: EngineError.self) { try lookup.first([.integer(1), .integer(2)]) }
    #expect(throws: EngineError.self) { try view.lookup(base, by: ["text"]) }
    #expect(throws: EngineError.self) { try view.lookup(base, by: ["nothing"]) }
  }

  /// A search has its key in memory that the next one writes to.
  @Test func whatIsLentARowMayNotSearchAgain() throws {
    let (store, references) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let lookup = try store.view().lookup(base, by: ["large"])
    var refused = 0
    try lookup.forEach(.integer(1)) { (row) throws(EngineError) in
      do throws(EngineError) { _ = try lookup.first(.integer(2)) } catch {
        if case .misuse = error { refused += 1 }
      }
      return true
    }
    #expect(refused == 1)
    // Afterwards it may, also after an error of who was lent the row.
    #expect(throws: EngineError.self) {
      try lookup.forEach(.integer(1)) { (_) throws(EngineError) in throw .misuse("a test's own") }
    }
    #expect(try lookup.first(.integer(2)) == references[2])
  }

  @Test func indexesOfSeveralPartsAgreeWithFetches() throws {
    let (store, _) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let view = try store.view()
    let lookup = try view.lookup(base, by: ["text", "small"])
    var found = 0
    for text in [
      Value.null, .string(""), .string("a text of more than fifteen bytes"), .string("kurz"), .string("Zu\u{308}rich"),
      .string("none"),
    ] {
      for small in [Value.null] + (-4...4).map(Value.integer) {
        let fetch = EngineFetch(
          base,
          predicate: .and([
            .compare(.keyPath("text"), .equal, .constant(text)), .compare(.keyPath("small"), .equal, .constant(small)),
          ]))
        var rows: [ObjectReference] = []
        try lookup.forEach([text, small]) { (row) throws(EngineError) in
          rows.append(row.reference)
          return true
        }
        #expect(try rows == view.fetch(fetch))
        #expect(try lookup.first([text, small]) == rows.first)
        found += rows.count
      }
    }
    #expect(found == 100)
  }

  /// Texts of every short length with beginnings in common, with zeros and letters of several scalars.
  @Test func textsThatBeginAlike() throws {
    let thing = EntitySchema(
      "Thing", attributes: [AttributeSchema("text", .string)], indexes: [IndexSchema("byText", [IndexElement("text")])])
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 9)),
      schema: try Schema(SchemaDefinition([thing])))
    let entity = try #require(store.schema.entity(named: "Thing"))
    var texts: [String] = []
    for piece in ["a", "\u{0}", "e\u{301}", "\u{10FFFF}", "\u{1}"] {
      for count in 0...18 {
        let one = String(repeating: piece, count: count)
        texts += [one, one + "\u{0}", one + "z", "z" + one]
      }
    }
    try store.write { (t) throws(EngineError) in
      for text in texts {
        var v = RowValues()
        v.set("text", .string(text))
        try t.insert(try t.reserveReference(entity), v)
      }
    }
    let lookup = try store.view().lookup(entity, by: ["text"])
    for text in texts {
      var rows: [Int] = []
      try lookup.forEach(.string(text)) { (row) throws(EngineError) in
        rows.append(Int(row.reference.row) - 1)
        return true
      }
      // Strings are equal by their normal forms, as those of a predicate are.
      #expect(rows == texts.indices.filter { texts[$0] == text }, "\(text.unicodeScalars.map(\.value))")
    }
  }

  /// Values get the form of the attribute, as constants of predicates do.
  @Test func valuesOfOtherKindsAreConverted() throws {
    let id = UUIDBytes(high: 0x0123_4567_89AB_CDEF, low: 0x0123_4567_89AB_CDEF)
    let held: [(name: String, type: AttributeType, value: Value)] = [
      ("key", .uuid, .uuid(id)), ("link", .uri, .uri("https://example.org/")),
      ("price", .decimal, .decimal(DecimalValue("0.1") ?? DecimalValue(0))), ("single", .float, .float(0.1)),
      ("half", .double, .double(0.1)), ("large", .integer64, .integer(9_007_199_254_740_992)),
      ("flag", .boolean, .boolean(true)),
    ]
    let thing = EntitySchema(
      "Thing", attributes: held.map { AttributeSchema($0.name, $0.type) },
      indexes: held.map { IndexSchema("by" + $0.name, [IndexElement($0.name)]) })
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 9)),
      schema: try Schema(SchemaDefinition([thing])))
    let entity = try #require(store.schema.entity(named: "Thing"))
    try store.write { (t) throws(EngineError) in
      var v = RowValues()
      for (name, _, value) in held { v.set(name, value) }
      try t.insert(try t.reserveReference(entity), v)
      try t.insert(try t.reserveReference(entity), RowValues())
    }
    let view = try store.view()
    let asked: [Value] = [
      .string("01234567-89ab-CDEF-0123-456789ABCDEF"), .string("https://example.org/"), .double(0.1), .float(0.1),
      .integer(1), .boolean(true),
      .double(9_007_199_254_740_992), .integer(9_007_199_254_740_993), .decimal(DecimalValue("0.1") ?? DecimalValue(1)),
      .decimal(DecimalValue(1)), .string("0.1"), .double(.nan), .null,
    ]
    var found = 0
    for (name, _, _) in held {
      let lookup = try view.lookup(entity, by: [name])
      for value in asked {
        let fetch = EngineFetch(entity, predicate: .compare(.keyPath(name), .equal, .constant(value)))
        // What a predicate refuses to compare finds nothing.
        let expected = (try? view.fetch(fetch)) ?? []
        #expect(try lookup.first(value) == expected.first, "\(name) == \(value)")
        if !value.isNull { found += expected.count }
      }
    }
    #expect(found >= 12)
  }

  @Test func longTextIsComparedWhole() throws {
    let store = try RowReaderTests.store()
    let base = try #require(store.schema.entity(named: "Base"))
    let long = String(repeating: "long ", count: 1000)
    try store.write { (t) throws(EngineError) in
      for i in 0..<6 {
        var v = RowValues()
        v.set("text", .string(long + (i % 2 == 0 ? "a" : "b")))
        v.set("small", .integer(1))
        v.set("large", .integer(Int64(i)))
        try t.insert(try t.reserveReference(base), v)
      }
    }
    let lookup = try store.view().lookup(base, by: ["text", "small"])
    var rows: [UInt64] = []
    try lookup.forEach([.string(long + "b"), .integer(1)]) { (row) throws(EngineError) in
      rows.append(row.reference.row)
      return true
    }
    #expect(rows == [2, 4, 6])
    #expect(try lookup.first([.string(long + "a"), .integer(1)])?.row == 1)
    #expect(try lookup.first([.string(long + "a"), .integer(2)]) == nil)
  }

  @Test func transactionsSeeWhatTheyWrote() throws {
    let (store, references) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let others = try #require(base.relationship(named: "others"))
    try store.write { (t) throws(EngineError) in
      let lookup = try t.lookup(base, by: ["large"])
      let reader = try t.destinations(of: others)
      var found: [ObjectReference?] = [try lookup.first(.integer(1000))]
      let made = try t.reserveReference(base)
      var v = RowValues()
      v.set("large", .integer(1000))
      v.set(toMany: "others", [references[5]])
      try t.insert(made, v)
      found.append(try lookup.first(.integer(1000)))
      var linked: [ObjectReference] = []
      try reader.forEach(from: made) { (r) in
        linked.append(r)
        return true
      }
      v.set("large", .integer(1001))
      try t.update(made, v)
      found.append(try lookup.first(.integer(1000)))
      found.append(try lookup.first(.integer(1001)))
      try t.delete(made)
      found.append(try lookup.first(.integer(1001)))
      #expect(found == [nil, made, nil, made, nil])
      #expect(linked == [references[5]])
      #expect(try reader.count(from: made) == 0)
    }
  }
}
