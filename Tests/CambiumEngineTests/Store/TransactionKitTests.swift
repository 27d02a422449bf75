import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// What a transaction writes with serves the next one, and must bring nothing of the one before along.
@Suite struct TransactionKitTests {
  private static func schema() throws -> Schema {
    let item = EntitySchema(
      "Item", attributes: [AttributeSchema("name", .string), AttributeSchema("size", .integer64)],
      indexes: [IndexSchema("bySize", [IndexElement("size")])], unique: [["name"]])
    return try Schema(SchemaDefinition([item]))
  }

  private struct Given {
    let store: EntityStore
    let item: EntitySchema
    let name: RowField
    let size: RowField

    init() throws {
      store = try EntityStore.create(
        in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 5)),
        schema: TransactionKitTests.schema())
      item = try #require(store.schema.entity(named: "Item"))
      name = try store.field("name", of: item)
      size = try store.field("size", of: item)
    }

    func names(ofSize size: Int64) throws -> [String] {
      var fetch = EngineFetch(item)
      fetch.predicate = .compare(.keyPath("size"), .equal, .constant(.integer(size)))
      var found: [String] = []
      try store.view().forEach(fetch) { (row) throws(EngineError) in
        found.append(try row.string(name) ?? "-")
        return true
      }
      return found.sorted()
    }
  }

  private struct Refused: Error {}

  /// Entries of rows that are new are not looked for. One that goes and comes back within a transaction, whose entries
  /// are in the trees, or wait to be taken out of them, is counted once all the same.
  @Test(arguments: [false, true], [false, true]) func rowsThatGoAndComeBackAreCountedOnce(
    _ isSettled: Bool, isElsewhere: Bool
  ) throws {
    let g = try Given()
    func put(_ rows: RowWriter, _ reference: ObjectReference, _ name: String, _ size: Int64) throws(EngineError) {
      rows.begin(reference)
      try rows.set(g.name, name)
      try rows.set(g.size, size)
      try rows.save()
    }
    var references: [ObjectReference] = []
    try g.store.write { (t) throws(EngineError) in
      let rows = try t.writer(g.item)
      for n in 0..<300 {
        references.append(try t.reserveReference(entity: g.item.id))
        try put(rows, references[n], "\(n)", Int64(n % 3))
      }
    }
    for round in 0..<3 {
      try g.store.write { (t) throws(EngineError) in
        let rows = try t.writer(g.item)
        for (n, reference) in references.enumerated() where n % 7 == round {
          try rows.delete(reference)
          var fetch = EngineFetch(g.item)
          fetch.predicate = .compare(.keyPath("size"), .equal, .constant(.integer(1)))
          if isSettled { _ = try t.count(fetch) }
          try put(rows, reference, "\(n)", Int64(isElsewhere ? n % 3 + round : n % 3))
          if isSettled { _ = try t.count(fetch) }
          if n % 2 == 0 {
            try rows.delete(reference)
            try put(rows, reference, "\(n) again \(round)", Int64(n % 3))
          }
        }
      }
      let report = try g.store.check()
      #expect(report.isSound, "\(report.problems) \(report.kernel.problems)")
      #expect(report.rows == 300 && report.entries == 600)
    }
  }

  /// A reference that was not given out would be given out later: to another object, whose row would take its place.
  @Test func referencesThatWereNotReservedAreRefused() throws {
    let g = try Given()
    try g.store.write { (t) throws(EngineError) in
      let given = try t.reserveReference(entity: g.item.id)
      let rows = try t.writer(g.item)
      rows.begin(ObjectReference(entity: g.item.id, row: given.row + 1))
      try rows.set(g.name, "a")
      #expect(throws: EngineError.self) { try rows.save() }
      rows.begin(given)
      try rows.set(g.name, "a")
      try rows.save()
    }
    // Nor in a transaction that has reserved none.
    #expect(throws: EngineError.self) {
      try g.store.write { (t) throws(EngineError) in
        try t.insert(ObjectReference(entity: g.item.id, row: 9), RowValues())
      }
    }
    #expect(try g.store.check().isSound)
  }

  @Test func aTransactionThatFailedLeavesNothingToTheNext() throws {
    let g = try Given()
    func add(_ t: EntityTransaction, _ name: String, _ size: Int64) throws(EngineError) {
      let rows = try t.writer(g.item)
      rows.begin()
      try rows.set(g.name, name)
      try rows.set(g.size, size)
      try rows.save()
    }
    try g.store.write { (t) throws(EngineError) in try add(t, "a", 1) }
    for round in 0..<3 {
      // Given up with changes of indexes that were gathered and not made.
      #expect(throws: EngineError.self) {
        try g.store.write { (t) throws(EngineError) in
          try add(t, "lost\(round)", 1)
          throw .misuse("given up")
        }
      }
      // Refused by a constraint, after they were made.
      #expect(throws: EngineError.self) {
        try g.store.write { (t) throws(EngineError) in
          try add(t, "a", 1)
        }
      }
      try g.store.write { (t) throws(EngineError) in try add(t, "b\(round)", 1) }
      #expect(try g.names(ofSize: 1) == ["a"] + (0...round).map { "b\($0)" })
    }
    #expect(try g.store.check().problems == [])
  }

  @Test func aWriterThatIsKeptSharesNothingWithLaterOnes() throws {
    let g = try Given()
    var kept: RowWriter?
    try g.store.write { (t) throws(EngineError) in
      let rows = try t.writer(g.item)
      rows.begin()
      try rows.set(g.name, "first")
      try rows.save()
      kept = rows
    }
    let old = try #require(kept)
    try g.store.write { (t) throws(EngineError) in
      let rows = try t.writer(g.item)
      rows.begin()
      try rows.set(g.name, "second")
      // The other one goes on as if nothing had happened, but for saving.
      old.begin()
      try old.set(g.name, "third")
      try old.set(g.size, 3)
      #expect(throws: EngineError.self) { try old.save() }
      try rows.save()
      // Two of one transaction are two.
      let other = try t.writer(g.item)
      rows.begin()
      try rows.set(g.name, "x")
      other.begin()
      try other.set(g.name, "y")
      try other.save()
      try rows.save()
    }
    var all: [String] = []
    try g.store.view().forEach(EngineFetch(g.item)) { (row) throws(EngineError) in
      all.append(try row.string(g.name) ?? "-")
      return true
    }
    #expect(all.sorted() == ["first", "second", "x", "y"])
    #expect(try g.names(ofSize: 3).isEmpty)
    #expect(try g.store.check().problems == [])
  }

  @Test func aTransactionThatHasEndedReadsAndWritesNothing() throws {
    let g = try Given()
    var ended: EntityTransaction?
    try g.store.write { (t) throws(EngineError) in
      ended = t
      let rows = try t.writer(g.item)
      rows.begin()
      try rows.set(g.name, "a")
      try rows.save()
    }
    let old = try #require(ended)
    try g.store.write { (t) throws(EngineError) in
      let rows = try t.writer(g.item)
      rows.begin()
      try rows.set(g.name, "b")
      try rows.set(g.size, 1)
      try rows.save()
      #expect(throws: EngineError.self) { try old.writer(g.item) }
      #expect(throws: EngineError.self) { try old.fetch(EngineFetch(g.item)) }
      #expect(throws: EngineError.self) {
        let r = try t.reserveReference(g.item)
        try old.insert(r, RowValues())
      }
    }
    #expect(try g.names(ofSize: 1) == ["b"])
    #expect(try g.store.check().problems == [])
  }
}
