import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Rows lent in place, and the fields they are read by.
@Suite struct RowReaderTests {
  static func schema() throws -> Schema {
    let deep = CompositeSchema("Deep", elements: [AttributeSchema("word", .string), AttributeSchema("n", .integer32)])
    let middle = CompositeSchema("Middle", elements: [AttributeSchema("deep", composite: "Deep")])
    let nest = CompositeSchema(
      "Nest", elements: [AttributeSchema("number", .integer16), AttributeSchema("middle", composite: "Middle")])
    var passing = AttributeSchema("passing", .string)
    passing.isTransient = true
    let base = EntitySchema(
      "Base",
      attributes: [
        AttributeSchema("small", .integer16), AttributeSchema("large", .integer64), AttributeSchema("half", .double),
        AttributeSchema("single", .float), AttributeSchema("flag", .boolean), AttributeSchema("day", .date),
        AttributeSchema("text", .string), AttributeSchema("link", .uri), AttributeSchema("blob", .binary),
        AttributeSchema("key", .uuid), AttributeSchema("price", .decimal), AttributeSchema("nest", composite: "Nest"),
        passing,
      ],
      relationships: [RelationshipSchema("next", to: "Base"), RelationshipSchema("others", toMany: "Base")],
      indexes: [IndexSchema("byTextSmall", [IndexElement("text"), IndexElement("small", ascending: false)])],
      unique: [["large"]])
    let sub = EntitySchema("Sub", parent: "Base", attributes: [AttributeSchema("extra", .string)])
    return try Schema(SchemaDefinition([base, sub], composites: [deep, middle, nest]))
  }

  static func store() throws -> EntityStore {
    try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 9)), schema: try schema())
  }

  static func values(_ i: Int) -> RowValues {
    var v = RowValues()
    for (name, value) in pairs(i) { v.set(name, value) }
    return v
  }

  static func pairs(_ i: Int) -> [(String, Value)] {
    if i % 5 == 4 { return [("large", .integer(Int64(i)))] }
    return [
      ("large", .integer(Int64(i))),
      ("small", .integer(Int64(i % 7) - 3)),
      ("half", .double(Double(i) / 2)),
      ("single", .float(Float(i) / 4)),
      ("flag", .boolean(i % 2 == 0)),
      ("day", .date(Double(i) * 86400)),
      ("text", .string(["", "kurz", "a text of more than fifteen bytes", "Z\u{FC}rich"][i % 4])),
      ("link", .uri("https://example.org/\(i)")),
      ("blob", .binary([1, 2, UInt8(i & 0xFF)])),
      ("key", .uuid(UUIDBytes(high: UInt64(i), low: 7))),
      ("price", .decimal(DecimalValue(Int64(i)))),
      (
        "nest",
        .composite([
          "number": .integer(Int64(i % 100)), "middle": .composite(["deep": .composite(["word": "w", "n": 4])]),
        ])
      ),
    ]
  }

  static func filled() throws -> (EntityStore, [ObjectReference]) {
    let store = try store()
    let base = try #require(store.schema.entity(named: "Base"))
    let sub = try #require(store.schema.entity(named: "Sub"))
    var references: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      for i in 0..<100 {
        let r = try t.reserveReference(i % 3 == 0 ? sub : base)
        references.append(r)
        var v = values(i)
        if i % 3 == 0 { v.set("extra", .string("x\(i)")) }
        if i > 0 { v.set(toOne: "next", references[i - 1]) }
        v.set(toMany: "others", [references[i / 2], references[i]])
        try t.insert(r, v)
      }
    }
    return (store, references)
  }

  static let paths = [
    "small", "large", "half", "single", "flag", "day", "text", "link", "blob", "key", "price", "nest", "nest.number",
    "nest.middle.deep.word", "nest.middle.deep.n",
  ]

  @Test func fieldsReadWhatRowsHold() throws {
    let (store, references) = try Self.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let view = try store.view()
    let next = try #require(base.relationship(named: "next"))
    let nextField = try store.field("next", of: base)
    for path in Self.paths {
      let field = try store.field(path, of: base)
      for reference in references {
        let row = try #require(try view.row(reference))
        let expected = try row.value(keyPath: path)
        let found = try view.withRow(ObjectReference(entity: base.id, row: reference.row)) {
          (r) throws(EngineError) -> Bool in
          #expect(r.reference == reference && r.version == 1 && r.entity == row.entity)
          #expect(try r.reference(nextField) == row.reference(next))
          #expect(try r.isNull(field) == expected.isNull)
          let value: Value
          switch field.type {
          case .integer16, .integer32, .integer64: value = try r.int64(field).map(Value.integer) ?? .null
          case .double: value = try r.double(field).map(Value.double) ?? .null
          case .float: value = try r.double(field).map { .float(Float($0)) } ?? .null
          case .boolean: value = try r.boolean(field).map(Value.boolean) ?? .null
          case .date: value = try r.date(field).map(Value.date) ?? .null
          case .string: value = try r.string(field).map(Value.string) ?? .null
          case .uri: value = try r.string(field).map(Value.uri) ?? .null
          case .binary: value = try r.bytes(field).map(Value.binary) ?? .null
          case .uuid: value = try r.uuid(field).map(Value.uuid) ?? .null
          case .decimal: value = try r.decimal(field).map(Value.decimal) ?? .null
          default: value = try r.value(field)
          }
          #expect(value == expected)
          #expect(try r.value(field) == expected)
          if case .string(let text) = expected {
            try r.withUTF8(field) { (utf8) throws(EngineError) in #expect(Array(text.utf8) == utf8.map { Array($0) }) }
          }
          #expect(try r.copy().value(keyPath: path) == expected)
          return true
        }
        #expect(found == true)
        #expect(try row.withReader { (r) throws(EngineError) in try r.value(field) } == expected)
      }
    }
    #expect(try view.withRow(ObjectReference(entity: base.id, row: 9999)) { (_) throws(EngineError) in 1 } == nil)
  }

  @Test func fieldsThatAreNotInRowsAreRefused() throws {
    let store = try Self.store()
    let base = try #require(store.schema.entity(named: "Base"))
    for path in ["others", "next.text", "passing", "self", "nothing", "nest.nothing", "objectID"] {
      #expect(throws: EngineError.self) { try store.field(path, of: base) }
    }
  }

  @Test func readingAnotherTypeOrEntityIsAnError() throws {
    let (store, references) = try Self.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let sub = try #require(store.schema.entity(named: "Sub"))
    let text = try store.field("text", of: base)
    let extra = try store.field("extra", of: sub)
    let view = try store.view()
    try view.withRow(references[1]) { (r) throws(EngineError) in
      func fails<T>(_ body: () throws(EngineError) -> T) -> Bool {
        do throws(EngineError) { _ = try body() } catch { return true }
        return false
      }
      var failures: [Bool] = []
      failures.append(fails { () throws(EngineError) in try r.int64(text) })
      failures.append(fails { () throws(EngineError) in try r.double(text) })
      failures.append(fails { () throws(EngineError) in try r.string(extra) })
      #expect(failures == [true, true, true])
    }
    #expect(try view.withRow(references[3]) { (r) throws(EngineError) in try r.string(extra) } == "x3")
  }

  @Test func fetchesLendRowsInTheirOrder() throws {
    let (store, _) = try Self.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let view = try store.view()
    for format in ["TRUEPREDICATE", "text == 'kurz'", "small > 0", "half > 10 AND text != nil", "next.half > 20"] {
      var fetch = EngineFetch(base, predicate: try Predicate(format: format, arguments: []))
      for sorted in [false, true] {
        fetch.sort = sorted ? [EngineSort("half", ascending: false)] : []
        for limit in [nil, 0, 3] as [Int?] {
          fetch.limit = limit
          fetch.offset = limit == nil ? 0 : 2
          var lent: [ObjectReference] = []
          try view.forEach(fetch) { (row) throws(EngineError) in
            lent.append(row.reference)
            return true
          }
          #expect(try lent == view.fetch(fetch))
          var first: [ObjectReference] = []
          try view.forEach(fetch) { (row) throws(EngineError) in
            first.append(row.reference)
            return false
          }
          #expect(first == Array(lent.prefix(1)))
        }
      }
    }
    #expect(throws: EngineError.self) {
      try view.forEach(EngineFetch(base)) { (_) throws(EngineError) in throw .misuse("enough") }
    }
  }

  @Test func relationshipsAreFollowedAsBefore() throws {
    let (store, references) = try Self.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let view = try store.view()
    for name in ["next", "others"] {
      let relationship = try #require(base.relationship(named: name))
      let reader = try view.destinations(of: relationship)
      for (i, reference) in references.enumerated() {
        let expected =
          name == "next"
          ? (i > 0 ? [references[i - 1]] : []) : i == 0 ? [references[0]] : [references[i / 2], reference]
        #expect(try view.related(reference, relationship) == expected)
        #expect(try reader.count(from: reference) == expected.count)
        var rows: [ObjectReference] = []
        try reader.forEachRow(from: reference) { (row) throws(EngineError) in
          rows.append(row.reference)
          return true
        }
        #expect(rows == expected)
        var first: [ObjectReference] = []
        try reader.forEach(from: reference) { (found) throws(EngineError) in
          first.append(found)
          return false
        }
        #expect(first == Array(expected.prefix(1)))
      }
    }
  }
}
