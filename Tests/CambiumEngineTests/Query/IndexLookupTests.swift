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
