import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Rows written property by property, and indexes that are brought in step later.
@Suite struct RowWriterTests {
  /// The fields of `Base`, by path.
  static func fields(_ store: EntityStore) throws -> [String: RowField] {
    let base = try #require(store.schema.entity(named: "Base"))
    var fields: [String: RowField] = [:]
    for path in RowReaderTests.paths + ["next"] { fields[path] = try store.field(path, of: base) }
    return fields
  }

  @Test func writersWriteWhatValuesWrite() throws {
    let store = try RowReaderTests.store()
    let base = try #require(store.schema.entity(named: "Base"))
    let f = try Self.fields(store)
    func field(_ path: String) throws(EngineError) -> RowField {
      guard let field = f[path] else { throw .misuse(path) }
      return field
    }
    var expected: [ObjectReference] = []
    var made: [ObjectReference] = []
    try store.write { (t) throws(EngineError) in
      let writer = try t.writer(base)
      for i in 0..<40 {
        let r = try t.reserveReference(base)
        var v = RowReaderTests.values(i)
        v.set("large", .integer(Int64(i)))
        if i > 0 { v.set(toOne: "next", expected[0]) }
        try t.insert(r, v)
        expected.append(r)
        writer.begin()
        try writer.set(try field("large"), Int64(i + 1000))
        if i > 0 { try writer.set(try field("next"), expected[0]) }
        if i % 5 != 4 {
          try writer.set(try field("small"), Int64(i % 7) - 3)
          try writer.set(try field("half"), Double(i) / 2)
          try writer.set(try field("single"), Double(i) / 4)
          try writer.set(try field("flag"), i % 2 == 0)
          try writer.set(try field("day"), date: Double(i) * 86400)
          try writer.set(
            try field("text"), ["", "kurz", "a text of more than fifteen bytes", "Z\u{FC}rich"][i % 4])
          try writer.set(try field("link"), "https://example.org/\(i)")
          try writer.set(try field("blob"), bytes: [1, 2, UInt8(i)])
          try writer.set(try field("key"), UUIDBytes(high: UInt64(i), low: 7))
          try writer.set(try field("price"), DecimalValue(Int64(i)))
          try writer.set(try field("nest.number"), Int64(i))
          try writer.set(try field("nest.middle.deep.word"), "w")
          try writer.set(try field("nest.middle.deep.n"), .integer(4))
        }
        made.append(try writer.save())
      }
    }
    let view = try store.view()
    for (a, b) in zip(expected, made) {
      let one = try #require(try view.row(a))
      let other = try #require(try view.row(b))
      for path in RowReaderTests.paths where path != "large" {
        #expect(try one.value(keyPath: path) == other.value(keyPath: path), "\(path) of \(a)")
      }
      let next = try #require(base.relationship(named: "next"))
      #expect(try one.reference(next) == other.reference(next))
    }
    #expect(try store.check().isSound)
  }

  @Test func changesKeepWhatIsNotSet() throws {
    let (store, references) = try RowReaderTests.filled()
    let f = try Self.fields(store)
    let word = try #require(f["nest.middle.deep.word"])
    let text = try #require(f["text"])
    let before = try store.view()
    try store.write { (t) throws(EngineError) in
      for reference in references {
        let writer = try t.writer(t.store.schema.entities[reference.entity == references[0].entity ? 1 : 0])
        try writer.begin(changing: reference)
        try writer.set(word, "changed")
        try writer.set(text, "changed text that is longer than it was")
        #expect(try writer.save() == reference)
      }
    }
    let view = try store.view()
    for reference in references {
      let was = try #require(try before.row(reference))
      let now = try #require(try view.row(reference))
      #expect(now.version == was.version + 1)
      for path in RowReaderTests.paths where !["nest", "text", "nest.middle.deep.word"].contains(path) {
        #expect(try now.value(keyPath: path) == was.value(keyPath: path), "\(path) of \(reference)")
      }
      #expect(try now.value(keyPath: "nest.middle.deep.word") == "changed")
      #expect(try now.value(keyPath: "text") == "changed text that is longer than it was")
    }
    #expect(try store.check().isSound)
  }

  @Test func nullElementsLeaveCompositesNull() throws {
    let store = try RowReaderTests.store()
    let base = try #require(store.schema.entity(named: "Base"))
    let f = try Self.fields(store)
    let number = try #require(f["nest.number"])
    let word = try #require(f["nest.middle.deep.word"])
    try store.write { (t) throws(EngineError) in
      let writer = try t.writer(base)
      writer.begin()
      try writer.setNull(word)
      try writer.set(number, nil as Int64?)
      let a = try writer.save()
      #expect(try t.row(a)?.value(keyPath: "nest") == .null)
      try writer.begin(changing: a)
      try writer.set(word, "x")
      try writer.set(word, nil as String?)
      try writer.save()
      #expect(try t.row(a)?.value(keyPath: "nest.middle.deep") == .composite(["word": .null, "n": .null]))
    }
  }

  @Test func misuseIsRefused() throws {
    let (store, references) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let sub = try #require(store.schema.entity(named: "Sub"))
    let f = try Self.fields(store)
    let small = try #require(f["small"])
    let text = try #require(f["text"])
    let next = try #require(f["next"])
    let extra = try store.field("extra", of: sub)
    func fails(_ body: (EntityTransaction, RowWriter) throws(EngineError) -> Void) throws -> EngineError? {
      var result: EngineError?
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(base)
        do throws(EngineError) { try body(t, writer) } catch { result = error }
      }
      return result
    }
    func isMisuse(_ error: EngineError?) -> Bool {
      if case .misuse = error { return true }
      return false
    }
    func isMismatch(_ error: EngineError?) -> Bool {
      if case .typeMismatch = error { return true }
      return false
    }
    #expect(isMisuse(try fails { (_, w) throws(EngineError) in try w.set(small, 1 as Int64) }))
    #expect(isMisuse(try fails { (_, w) throws(EngineError) in try w.save() }))
    #expect(isMisuse(try fails { (_, w) throws(EngineError) in try w.begin(changing: references[0]) }))
    #expect(isMisuse(try fails { (_, w) throws(EngineError) in try w.delete(references[0]) }))
    #expect(
      isMisuse(
        try fails { (t, w) throws(EngineError) in
          w.begin(try t.reserveReference(sub))
          try w.save()
        }))
    func setting(_ body: (RowWriter) throws(EngineError) -> Void) throws -> EngineError? {
      try fails { (_, w) throws(EngineError) in
        w.begin()
        try body(w)
      }
    }
    #expect(isMismatch(try setting { (w) throws(EngineError) in try w.set(small, 40_000 as Int64) }))
    #expect(isMismatch(try setting { (w) throws(EngineError) in try w.set(small, "1") }))
    #expect(isMismatch(try setting { (w) throws(EngineError) in try w.set(text, 1.5) }))
    #expect(isMismatch(try setting { (w) throws(EngineError) in try w.set(text, .integer(1)) }))
    #expect(isMismatch(try setting { (w) throws(EngineError) in try w.set(next, ObjectReference(entity: 99, row: 1)) }))
    #expect(isMisuse(try setting { (w) throws(EngineError) in try w.set(extra, "x") }))
    let gone = try fails { (_, w) throws(EngineError) in
      try w.begin(changing: ObjectReference(entity: base.id, row: 4711))
    }
    if case .noSuchObject = gone {} else { Issue.record("\(String(describing: gone))") }
  }

  /// Random changes in several transactions with hardly any memory, so that gathered changes of indexes are made at any
  /// time; some fail and are rolled back.
  @Test func indexesFollowRandomChanges() throws {
    let seed = testSeed(77_001)
    var random = SplitMix64(seed: seed)
    print("random changes: seed \(seed)")
    var options = StoreOptions()
    options.deltaBytes = 1 << 12
    let store = try EntityStore.create(
      in: try Store.create(on: MemoryDevice(), environment: TestEnvironment(seed: 3), options: options),
      schema: try RowReaderTests.schema())
    let base = try #require(store.schema.entity(named: "Base"))
    let sub = try #require(store.schema.entity(named: "Sub"))
    let f = try Self.fields(store)
    let large = try #require(f["large"])
    let small = try #require(f["small"])
    let text = try #require(f["text"])
    struct Model: Equatable {
      var large: Int64?
      var small: Int64?
      var text: String?
    }
    var rows: [ObjectReference: Model] = [:]
    var violations = 0
    for _ in 0..<60 {
      var next = rows
      var failure: EngineError?
      do throws(EngineError) {
        try store.write { (t) throws(EngineError) in
          let writers = [base.id: try t.writer(base), sub.id: try t.writer(sub)]
          let lookup = try t.lookup(base, by: ["large"])
          for _ in 0..<(1 + random.below(30)) {
            let known = next.keys.sorted()
            let isNew = known.isEmpty || random.oneIn(3)
            let reference = isNew ? nil : random.pick(known)
            let entity = reference?.entity ?? (random.oneIn(2) ? base.id : sub.id)
            guard let writer = writers[entity] else { continue }
            if let reference, random.oneIn(4) {
              try writer.delete(reference)
              next[reference] = nil
              continue
            }
            var model = Model()
            if let reference {
              try writer.begin(changing: reference)
              model = next[reference] ?? Model()
            } else {
              writer.begin()
            }
            if isNew || random.oneIn(2) {
              model.large = random.oneIn(5) ? nil : Int64(random.below(400))
              try writer.set(large, model.large)
            }
            if isNew || random.oneIn(2) {
              model.small = random.oneIn(4) ? nil : Int64(random.below(3))
              try writer.set(small, model.small)
            }
            if isNew || random.oneIn(2) {
              model.text = random.oneIn(4) ? nil : random.pick(FetchRandomTests.texts)
              try writer.set(text, model.text)
            }
            next[try writer.save()] = model
            if random.oneIn(10) {
              let wanted = Int64(random.below(400))
              let found = try lookup.first(.integer(wanted))
              #expect((found == nil) == !next.values.contains { $0.large == wanted })
            }
          }
        }
      } catch { failure = error }
      let all = next.values.compactMap(\.large)
      let isUnique = Set(all).count == all.count
      if isUnique {
        #expect(failure == nil)
        rows = next
      } else {
        violations += 1
        if case .uniqueViolation(_, _, let existing, let offending) = failure {
          #expect(existing != offending && next[existing]?.large == next[offending]?.large)
        } else {
          Issue.record("no violation: \(failure?.description ?? "none")")
        }
      }
      #expect(try store.check().problems == [])
    }
    #expect(violations > 5 && violations < 50)
    let view = try store.view()
    #expect(try Set(view.fetch(EngineFetch(base))) == Set(rows.keys))
    for (reference, model) in rows {
      try view.withRow(reference) { (row) throws(EngineError) in
        #expect(try row.int64(large) == model.large)
        #expect(try row.int64(small) == model.small)
        #expect(try row.string(text) == model.text)
      }
    }
  }

  @Test func valuesMayBeSwappedWithinATransaction() throws {
    let (store, references) = try RowReaderTests.filled()
    let f = try Self.fields(store)
    let large = try #require(f["large"])
    try store.write { (t) throws(EngineError) in
      let base = t.store.schema.entities[0]
      let writer = try t.writer(base)
      for (reference, value) in [(references[1], 2 as Int64), (references[2], 1)] {
        try writer.begin(changing: reference)
        try writer.set(large, value)
        try writer.save()
      }
    }
    #expect(throws: EngineError.self) {
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(t.store.schema.entities[0])
        try writer.begin(changing: references[1])
        try writer.set(large, 4 as Int64)
        try writer.save()
      }
    }
    #expect(try store.check().isSound)
  }

  /// Rows whose index entries could not be written must not be committed, even if the caller looks past the error.
  @Test func nothingIsCommittedAfterAnIndexFailed() throws {
    let memory = MemoryDevice()
    let environment = TestEnvironment(seed: 4)
    let filled = try EntityStore.create(
      in: try Store.create(on: memory, environment: environment), schema: try RowReaderTests.schema())
    try filled.write { (t) throws(EngineError) in
      let base = t.store.schema.entities[0]
      let large = try t.store.field("large", of: base)
      let writer = try t.writer(base)
      for i in 0..<2000 {
        writer.begin()
        try writer.set(large, Int64(i))
        try writer.save()
      }
    }
    try filled.close()
    let device = FaultDevice(memory)
    let store = try EntityStore.open(try Store.open(on: device, environment: environment))
    let base = store.schema.entities[0]
    let large = try store.field("large", of: base)
    var wasRefused = false
    #expect(throws: EngineError.self) {
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(base)
        try writer.begin(changing: ObjectReference(entity: base.id, row: 7))
        try writer.set(large, 5000 as Int64)
        try writer.save()
        device.reset()
        device.plan(FaultDevice.Fault(.read, at: 0))
        do throws(EngineError) { _ = try t.lookup(base, by: ["large"]).first(.integer(5000)) } catch {
          wasRefused = true
        }
      }
    }
    #expect(wasRefused)
    #expect(try store.view().lookup(base, by: ["large"]).first(.integer(6))?.row == 7)
    #expect(try store.check().isSound)
  }

  /// A row is noted before room is made for more: when that fails, the row is there without its index entries.
  @Test(arguments: [false, true]) func nothingIsCommittedAfterARowFailed(withLinks: Bool) throws {
    let device = FillingDevice(MemoryDevice())
    var options = StoreOptions()
    options.deltaBytes = 1 << 14
    let store = try EntityStore.create(
      in: try Store.create(on: device, environment: TestEnvironment(seed: 4), options: options),
      schema: try RowReaderTests.schema())
    let base = try #require(store.schema.entity(named: "Base"))
    let text = try #require(try Self.fields(store)["text"])
    var refused = 0
    var first: Int?
    #expect(throws: EngineError.self) {
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(base)
        for i in 0..<2000 {
          if i == 200 { device.fillUp() }
          do throws(EngineError) {
            if withLinks {
              var v = RowValues()
              v.set(toMany: "others", (1...40).map { ObjectReference(entity: base.id, row: $0) })
              try t.insert(try t.reserveReference(base), v)
            } else {
              writer.begin()
              try writer.set(text, "row \(i)")
              try writer.save()
            }
          } catch {
            refused += 1
            first = first ?? i
            device.makeRoom()
          }
        }
      }
    }
    // So is every row after it, although there is room again.
    #expect(refused > 0 && refused == 2000 - (first ?? 0))
    #expect(try store.view().count(EngineFetch(base)) == 0)
    #expect(try store.check().problems == [])
  }

  /// A writer knows the row as it was when it was begun. What changed it since would leave index entries behind.
  @Test func rowsThatChangedSinceTheyWereBegunAreRefused() throws {
    let store = try RowReaderTests.store()
    let base = try #require(store.schema.entity(named: "Base"))
    let large = try #require(try Self.fields(store)["large"])
    let (reference, neighbour) = try store.write { (t) throws(EngineError) in
      let references = (try t.reserveReference(base), try t.reserveReference(base))
      try t.insert(references.0, RowReaderTests.values(0))
      try t.insert(references.1, RowReaderTests.values(1))
      return references
    }
    func refused(_ between: (EntityTransaction) throws(EngineError) -> Void) throws -> Bool {
      var isRefused = false
      try store.write { (t) throws(EngineError) in
        let writer = try t.writer(base)
        try writer.begin(changing: reference)
        try writer.set(large, 5000 as Int64)
        try between(t)
        do throws(EngineError) { try writer.save() } catch {
          if case .misuse = error { isRefused = true } else { throw error }
        }
      }
      #expect(try store.check().problems == [])
      return isRefused
    }
    #expect(
      try !refused { (t) throws(EngineError) in
        let other = try t.writer(base)
        other.begin()
        try other.save()
        var v = RowValues()
        v.set("large", .integer(6000))
        try t.update(neighbour, v)
      })
    #expect(
      try refused { (t) throws(EngineError) in
        var v = RowValues()
        v.set("large", .integer(7000))
        try t.update(reference, v)
      })
    #expect(
      try refused { (t) throws(EngineError) in
        let other = try t.writer(base)
        try other.begin(changing: reference)
        try other.set(large, 8000 as Int64)
        try other.save()
      })
    let lookup = try store.view().lookup(base, by: ["large"])
    #expect(try lookup.first(.integer(8000)) == reference && lookup.first(.integer(7000)) == nil)
    #expect(try refused { (t) throws(EngineError) in try t.delete(reference) })
    #expect(try store.view().row(reference) == nil)
  }

  @Test func rowsThatAreThereAreNotNew() throws {
    let (store, references) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    func isRefused(_ t: EntityTransaction, _ reference: ObjectReference) throws(EngineError) -> Bool {
      do throws(EngineError) {
        try t.insert(reference, RowValues())
        return false
      } catch {
        if case .misuse = error { return true }
        throw error
      }
    }
    var answers: [Bool] = []
    try store.write { (t) throws(EngineError) in
      answers.append(try isRefused(t, references[1]))
      let writer = try t.writer(base)
      let first = try t.reserveReference(base)
      let second = try t.reserveReference(base)
      writer.begin()
      answers.append(try isRefused(t, try writer.save()))
      answers.append(try isRefused(t, second))
      answers.append(try isRefused(t, first))
      answers.append(try isRefused(t, second))
      answers.append(try isRefused(t, first))
      try t.delete(first)
      answers.append(try isRefused(t, first))
    }
    #expect(answers == [true, true, false, false, true, true, false])
    #expect(try store.check().problems == [])
  }

  @Test func referencesAreNeverGivenTwice() throws {
    let store = try RowReaderTests.store()
    let base = try #require(store.schema.entity(named: "Base"))
    var last: UInt64 = 0
    for round in 0..<3 {
      try? store.write { (t) throws(EngineError) in
        let writer = try t.writer(base)
        for _ in 0..<5 {
          writer.begin()
          let a = try writer.save()
          let b = try t.reserveReference(base)
          #expect(a.row > last && b.row == a.row + 1)
          last = b.row
        }
        if round == 1 {
          last -= 10
          throw .misuse("rolled back")
        }
      }
    }
    #expect(last == 20)
  }
}
