import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Scans of leaves with many more rows than are compared at a time, some of them changed since the last checkpoint: the
/// rows that a number and a text let through, in order, up to any limit.
@Suite struct LongRunTests {
  @Test(arguments: [false, true]) func findsWhatLoopsFind(isInPages: Bool) throws {
    let entity = EntitySchema(
      "Small", attributes: [AttributeSchema("n", .integer32), AttributeSchema("word", .string)])
    let kernel = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(), options: StoreOptions())
    let store = try EntityStore.create(in: kernel, schema: Schema(SchemaDefinition([entity])))
    let small = try #require(store.schema.entity(named: "Small"))
    let (n, word) = (try store.field("n", of: small), try store.field("word", of: small))
    let words = ["a", "b", "\u{212A}", "K", "eight by", "nine byte"]
    var rows: [(n: Int64?, word: String?)] = (0..<1500).map { i in
      (i % 11 == 0 ? nil : Int64(i * 7919 % 100), i % 13 == 0 ? nil : words[i * 31 % words.count])
    }
    var references: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      let writer = try t.writer(small)
      for row in rows {
        writer.begin()
        try writer.set(n, row.n)
        try writer.set(word, row.word)
        references.append(try writer.save())
      }
    }
    if isInPages { try kernel.checkpoint() }
    try store.write { (t) throws(EngineError) in
      let writer = try t.writer(small)
      for i in stride(from: 5, to: rows.count, by: 400) {
        rows[i].n = 50
        try writer.begin(changing: references[i])
        try writer.set(n, rows[i].n)
        try writer.save()
      }
    }
    let view = try store.view()
    for least in [-1, 0, 50, 98, 99, 100] as [Int64] {
      for wanted in words + [nil] {
        var fetch = EngineFetch(small)
        let over = Predicate.compare(.keyPath("n"), .greaterOrEqual, .constant(.integer(least)))
        fetch.predicate =
          wanted.map { .and([over, .compare(.keyPath("word"), .equal, .constant(.string($0)))]) } ?? over
        let expected = rows.indices.filter { i in
          rows[i].n.map { $0 >= least } ?? false && (wanted == nil || rows[i].word == wanted)
        }.map { references[$0] }
        #expect(try view.fetch(fetch) == expected)
        for limit in [1, 127, 128, 129] {
          fetch.limit = limit
          #expect(try view.fetch(fetch) == Array(expected.prefix(limit)))
        }
      }
    }
  }

  /// Rows of a parent and its child in turn, asked for a text alone: what is asked of the rows of one entity is not
  /// asked of the other's, wherever in a leaf they lie.
  @Test(arguments: [1, 2, 3]) func entitiesInTurn(stride: Int) throws {
    let parent = EntitySchema("Parent", attributes: [AttributeSchema("word", .string)])
    let child = EntitySchema("Child", parent: "Parent", attributes: [AttributeSchema("more", .string)])
    let kernel = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(), options: StoreOptions())
    let store = try EntityStore.create(in: kernel, schema: Schema(SchemaDefinition([parent, child])))
    let entities = try ["Parent", "Child"].map { try #require(store.schema.entity(named: $0)) }
    var rows: [(entity: Int, word: String?, reference: ObjectReference)] = []
    try store.write { (t) throws(EngineError) in
      for i in 0..<3000 {
        let entity = i / stride % 2
        let word = [nil, "a", "b", "a", "nine byte"][i * 7 % 5]
        let writer = try t.writer(entities[entity])
        writer.begin()
        try writer.set(try store.field("word", of: entities[entity]), word)
        rows.append((entity, word, try writer.save()))
      }
    }
    try kernel.checkpoint()
    let view = try store.view()
    for word in ["a", "nine byte"] {
      for entity in 0..<2 {
        for includesSubentities in [true, false] {
          var fetch = EngineFetch(entities[entity])
          fetch.includesSubentities = includesSubentities
          fetch.predicate = .compare(.keyPath("word"), .equal, .constant(.string(word)))
          let expected = rows.filter {
            $0.word == word && ($0.entity == entity || (entity == 0 && includesSubentities))
          }.map(\.reference)
          #expect(try view.fetch(fetch) == expected, "\(word), \(entity), \(includesSubentities)")
          #expect(try view.count(fetch) == expected.count)
        }
      }
    }
  }

  /// Rows of an earlier layout and of the current one in turn, by one thread and by several.
  @Test(arguments: [1, 4], [1, 2, 127]) func layoutsInTurn(threads: Int, stride: Int) throws {
    let entity = EntitySchema(
      "Small", attributes: [AttributeSchema("n", .integer32), AttributeSchema("word", .string)])
    var options = StoreOptions()
    options.maximumThreads = threads
    let kernel = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(processors: 4), options: options)
    var store = try EntityStore.create(in: kernel, schema: Schema(SchemaDefinition([entity])))
    let words = ["a", "K", "\u{212A}", "nine byte", "e\u{301}", "\u{e9}", "", "\u{1F600}"]
    var rows: [(n: Int64?, word: String?, reference: ObjectReference)] = []
    func write(_ some: [Int], _ isNew: Bool) throws {
      let small = try #require(store.schema.entity(named: "Small"))
      let (n, word) = (try store.field("n", of: small), try store.field("word", of: small))
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(small)
        for i in some {
          let values = (i % 11 == 0 ? nil : Int64(i % 100), i % 13 == 0 ? nil : words[i * 31 % words.count])
          if isNew { writer.begin() } else { try writer.begin(changing: rows[i].reference) }
          try writer.set(n, values.0)
          try writer.set(word, values.1)
          let reference = try writer.save()
          if isNew { rows.append((values.0, values.1, reference)) }
        }
      }
    }
    let count = isFullLength ? 40_000 : 20_000
    try write(Array(0..<count), true)
    var definition = store.schema.definition
    var more = AttributeSchema("more", .string)
    more.defaultValue = .string("default")
    definition.entities[0].attributes.insert(more, at: 0)
    store = try store.migrate(to: definition)
    try write((0..<count).filter { $0 / stride % 2 == 0 }, false)
    try kernel.checkpoint()
    let view = try store.view()
    let small = try #require(store.schema.entity(named: "Small"))
    for wanted in words {
      for least in [nil, 40] as [Int64?] {
        var fetch = EngineFetch(small)
        let text = Predicate.compare(.keyPath("word"), .equal, .constant(.string(wanted)))
        fetch.predicate =
          least.map { .and([text, .compare(.keyPath("n"), .greaterOrEqual, .constant(.integer($0)))]) } ?? text
        let expected = rows.filter { row in
          row.word == wanted && (least.map { least in row.n.map { $0 >= least } ?? false } ?? true)
        }.map(\.reference)
        #expect(try view.fetch(fetch) == expected, "\(wanted), \(least ?? -1)")
        #expect(try view.count(fetch) == expected.count)
      }
    }
  }
}
