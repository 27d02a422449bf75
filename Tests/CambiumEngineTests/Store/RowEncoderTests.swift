import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Rows that are encoded by other threads than the one that writes them are as those that are written at once.
@Suite struct RowEncoderTests {
  private static let rowsPerRun = 50

  private static func store(_ environment: some StoreEnvironment) throws -> EntityStore {
    let device = MemoryDevice(copying: [], lock: ThreadLock())
    return try EntityStore.create(
      in: try Store.create(on: device, environment: environment), schema: try RowReaderTests.schema())
  }

  /// What ``RowReaderTests/values(_:)`` has of an object, by keys.
  private static func set(_ encoder: RowEncoder, _ entity: EntitySchema, _ i: Int) throws(EngineError) {
    for (name, value) in RowReaderTests.pairs(i) {
      guard let place = entity.allAttributes.firstIndex(where: { $0.name == name }) else { throw .misuse(name) }
      // What is not in the form of the attribute is brought into it.
      let isOther = i % 3 == 0 && name == "half"
      try encoder.set(attribute: entity.attributeKeys[place], isOther ? .float(Float(i) / 2) : value)
    }
  }

  private static func key(_ relationship: String, of entity: EntitySchema) throws(EngineError) -> PropertyKey {
    guard let place = entity.allRelationships.firstIndex(where: { $0.name == relationship }) else {
      throw .misuse(relationship)
    }
    return entity.relationshipKeys[place]
  }

  /// Writes rows, encoded ahead; answers their references.
  static func insert(_ count: Int, into store: EntityStore) throws -> [ObjectReference] {
    let base = try #require(store.schema.entity(named: "Base"))
    let next = try key("next", of: base)
    return try store.write { (t) throws(EngineError) in
      var references: [ObjectReference] = []
      for _ in 0..<count { references.append(try t.reserveReference(base)) }
      let writer = try t.writer(base)
      let made = references
      nonisolated(unsafe) let transaction = t
      var written = 0
      try t.encodeAhead(
        (count + rowsPerRun - 1) / rowsPerRun,
        encode: { (number, spare: RowEncoder?) throws(EngineError) in
          let encoder = if let spare { spare } else { try transaction.encoder(base) }
          encoder.removeAll()
          for i in number * rowsPerRun..<min(count, (number + 1) * rowsPerRun) {
            encoder.begin()
            try set(encoder, base, i)
            if i > 0 { try encoder.set(toOne: next, made[i / 2]) }
            try encoder.end()
          }
          return encoder
        },
        write: { (encoder) throws(EngineError) in
          for number in 0..<encoder.count {
            try writer.save(encoder, number, as: made[written])
            written += 1
          }
        })
      return references
    }
  }

  @Test(arguments: [1, 2, 4]) func encodedRowsAreWhatIsWritten(threads: Int) throws {
    let environment = CountingEnvironment(processors: threads)
    let store = try Self.store(environment)
    let count = 1_230
    let before = environment.calls
    let references = try Self.insert(count, into: store)
    #expect((environment.calls > before) == (threads > 1))
    let base = try #require(store.schema.entity(named: "Base"))
    let other = try Self.store(TestEnvironment(seed: 8))
    let entity = try #require(other.schema.entity(named: "Base"))
    var expected: [ObjectReference] = []
    try other.write { (t) throws(EngineError) in
      for i in 0..<count {
        var values = RowReaderTests.values(i)
        expected.append(try t.reserveReference(entity))
        if i > 0 { values.set(toOne: "next", expected[i / 2]) }
        try t.insert(expected[i], values)
      }
    }
    #expect(references == expected)
    let (view, otherView) = (try store.view(), try other.view())
    for reference in references {
      let (a, b) = (try #require(try view.row(reference)), try #require(try otherView.row(reference)))
      for (place, attribute) in base.allAttributes.enumerated() where !attribute.isTransient {
        #expect(try a.value(base.attributeKeys[place]) == b.value(entity.attributeKeys[place]), "\(attribute.name)")
      }
      let (to, otherTo) = try (a, b).0.withBorrowed { a in
        try b.withBorrowed { b in
          (try a.reference(Self.key("next", of: base)), try b.reference(Self.key("next", of: entity)))
        }
      }
      #expect(to == otherTo)
    }
    // By the index and the constraint, too.
    let report = try store.check()
    #expect(report.isSound, "\(report.problems)")
  }

  /// Rows of many objects at once, some of which are named twice or are not there.
  @Test(arguments: [1, 4]) func rowsOfManyObjectsAreFound(threads: Int) throws {
    let environment = CountingEnvironment(processors: threads)
    let store = try Self.store(environment)
    let references = try Self.insert(3_000, into: store)
    let gone = references.enumerated().filter { $0.offset % 10 == 4 }.map { $0.element }
    try store.write { (t) throws(EngineError) in for reference in gone { try t.delete(reference) } }
    let view = try store.view()
    // At places of any kind: where one thread ends and another begins, too.
    let asked = Array((references + references.prefix(500) + references.prefix(333) + [references[0]]).reversed())
    let before = environment.calls
    let found = try view.findRows(of: asked)
    #expect((environment.calls > before) == (threads > 1))
    var told: [ObjectReference] = []
    found.forEach { _, reference in told.append(reference) }
    #expect(told.count == 2_700 && found.count == 2_700)
    #expect(Set(told) == Set(references).subtracting(gone))
    #expect(try view.missing(among: asked) == Set(gone))
    #expect(try view.findRows(of: []).isEmpty && view.missing(among: []).isEmpty)
  }

  @Test func aHostThatDoesNothingIsRefused() throws {
    let store = try Self.store(CountingEnvironment(processors: 2, callsWork: false))
    let error = #expect(throws: EngineError.self) { try Self.insert(500, into: store) }
    guard case .misuse = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // Nothing of it is there.
    let base = try #require(store.schema.entity(named: "Base"))
    #expect(try store.view().count(EngineFetch(base)) == 0)
  }

  @Test func whatDoesNotFitIsRefused() throws {
    let store = try Self.store(TestEnvironment(seed: 5))
    let base = try #require(store.schema.entity(named: "Base"))
    let sub = try #require(store.schema.entity(named: "Sub"))
    let place = try #require(base.allAttributes.firstIndex { $0.name == "small" })
    let error = #expect(throws: EngineError.self) {
      try store.write { (t) throws(EngineError) in
        let encoder = try t.encoder(base)
        encoder.begin()
        try encoder.set(attribute: base.attributeKeys[place], .integer(70_000))
      }
    }
    guard case .typeMismatch(_, "small", _, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try store.write { (t) throws(EngineError) in
      let encoder = try t.encoder(sub)
      encoder.begin()
      try encoder.end()
      let writer = try t.writer(base)
      let reference = try t.reserveReference(base)
      // Of another entity than the writer, and of no row at all.
      for (rows, number) in [(encoder, 0), (try t.encoder(base), 0)] {
        var isRefused = false
        do throws(EngineError) { try writer.save(rows, number, as: reference) } catch {
          if case .misuse = error { isRefused = true }
        }
        if !isRefused { throw .corrupt("it was written") }
      }
    }
  }
}
