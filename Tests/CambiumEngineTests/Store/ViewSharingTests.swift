import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Views of the newest commit, which may be one.
@Suite struct ViewSharingTests {
  @Test func aStoreThatIsNotClosedIsGivenUp() throws {
    weak var kernel: Store?
    do {
      let (store, references) = try RowReaderTests.filled()
      kernel = store.kernel
      let view = try store.view()
      #expect(try view.contains(references[0]))
      #expect(try store.view().contains(references[1]))
    }
    #expect(kernel == nil)
  }

  @Test func viewsSeeWhatWasCommittedBefore() throws {
    let (store, references) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let half = try store.field("half", of: base)
    var last = try store.view()
    for i in 0..<50 {
      try store.write { (t) throws(EngineError) in
        let rows = try t.writer(base)
        try rows.begin(changing: references[1])
        try rows.set(half, Double(i) + 0.25)
        try rows.save()
      }
      let view = try store.view()
      let now = try view.withRow(references[1]) { (row) throws(EngineError) in try row.double(half) }
      #expect(now == Double(i) + 0.25)
      let before = try last.withRow(references[1]) { (row) throws(EngineError) in try row.double(half) }
      #expect(i == 0 || before == Double(i) - 0.75)
      last = view
    }
    try store.close()
    let error = #expect(throws: EngineError.self) { try store.view() }
    if case .store(.closed)? = error { return }
    Issue.record("the store is closed, and not only because \(String(describing: error))")
  }

  /// What reads a row may throw, and read others; what was lent is given back whatever happens.
  @Test func rowsAreGivenBack() throws {
    let (store, references) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let blob = try store.field("blob", of: base)
    let large = try store.field("large", of: base)
    try store.write { (t) throws(EngineError) in
      let rows = try t.writer(base)
      try rows.begin(changing: references[1])
      try rows.set(blob, bytes: [UInt8](repeating: 3, count: 100_000))
      try rows.save()
    }
    let view = try store.view()
    /// Reads another row while one is lent, and throws its number.
    func throwing(_ reference: ObjectReference) throws(EngineError) -> Int64? {
      try view.withRow(reference) { (row) throws(EngineError) in
        let number = try row.int64(large) ?? -1
        let inner = try view.withRow(references[2]) { (row) throws(EngineError) in try row.int64(large) }
        if inner == 2 { throw .misuse("\(number)") }
        return number
      }
    }
    for (i, reference) in references.prefix(6).enumerated() {
      for _ in 0..<100 {
        let error = #expect(throws: EngineError.self) { try throwing(reference) }
        if case .misuse(let text)? = error { #expect(text == "\(i)") } else { Issue.record("another error") }
      }
    }
    #expect(try throwing(ObjectReference(entity: base.id, row: 1 << 40)) == nil)
    let length = try view.withRow(references[1]) { (row) throws(EngineError) in try row.bytes(blob)?.count }
    #expect(length == 100_000)
    // Nothing is left that would hold a commit back, however many rows were looked at.
    try store.write { (t) throws(EngineError) in try t.delete(references[5]) }
    #expect(try store.view().contains(references[5]) == false)
    try store.close()
  }
}
