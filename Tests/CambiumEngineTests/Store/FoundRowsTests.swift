import CambiumKernel
import CambiumTesting
import Testing

@testable import CambiumEngine

/// Rows of all lengths and of several entities that are found together, and kept together or alone.
@Suite struct FoundRowsTests {
  @Test(arguments: 0..<8 as Range<UInt64>) func foundRowsAreThoseOfTheFetch(seed: UInt64) throws {
    var random = SplitMix64(seed: testSeed(20_261_125 + seed))
    let store = try RowReaderTests.store()
    let base = try #require(store.schema.entity(named: "Base"))
    let sub = try #require(store.schema.entity(named: "Sub"))
    // Of lengths around those that a block begins with, that it grows to, and that a row has a block for itself.
    let lengths = [0, 10, 200, 480, 500, 520, 990, 1_020, 1_030, 4_000, 4_100, 20_000]
    var expected: [(reference: ObjectReference, text: String)] = []
    try store.write { (t) throws(EngineError) in
      for i in 0..<Int.random(in: 1...300, using: &random) {
        let reference = try t.reserveReference(Bool.random(using: &random) ? sub : base)
        let length = random.oneIn(3) ? random.pick(lengths) : Int.random(in: 0...300, using: &random)
        let text = String(repeating: random.pick(["a", "\u{E9}", "z"]), count: length)
        var v = RowValues()
        v.set("large", .integer(Int64(i)))
        v.set("text", .string(text))
        try t.insert(reference, v)
        expected.append((reference, text))
      }
    }
    let view = try store.view()
    let found = try view.findRows(EngineFetch(base))
    #expect(found.count == expected.count && !found.isEmpty)
    var next = 0
    try found.forEach { (row, reference) throws(EngineError) in
      #expect(reference == expected[next].reference && row.row.reference == reference)
      let text = try row.row.value(keyPath: "text")
      #expect(text == .string(expected[next].text))
      next += 1
    }
    #expect(next == expected.count)
    #expect(found.array.map(\.reference) == expected.map(\.reference))
    let none = try view.findRows(
      EngineFetch(base, predicate: try Predicate(format: "large == -1", arguments: [])))
    #expect(none.isEmpty && none.array.isEmpty)
    // A row keeps its memory when all others are gone.
    var kept: [(row: Row, place: Int)] = []
    next = 0
    try view.findRows(EngineFetch(base)).forEach { row, _ in
      if random.oneIn(9) { kept.append((row.row, next)) }
      next += 1
    }
    for (row, place) in kept { #expect(try row.value(keyPath: "text") == .string(expected[place].text)) }
  }

  /// Short rows between long ones take no more memory than they need, or nearly.
  @Test func rowsOfAllLengthsShareMemory() throws {
    let store = try RowReaderTests.store()
    let base = try #require(store.schema.entity(named: "Base"))
    for (lengths, most) in [([1_100, 10], 2), ([10], 3), ([300, 20, 900], 2), ([5_000], 2)] {
      try store.write { (t) throws(EngineError) in
        for i in 0..<400 {
          var v = RowValues()
          v.set("large", .integer(Int64(i + lengths[0] * 1_000)))
          v.set("text", .string(String(repeating: "x", count: lengths[i % lengths.count])))
          try t.insert(try t.reserveReference(base), v)
        }
      }
      let view = try store.view()
      let first = lengths[0] * 1_000
      let wanted = try Predicate(format: "large BETWEEN {\(first), \(first + 399)}", arguments: [])
      let found = try view.findRows(EngineFetch(base, predicate: wanted))
      var needed = 0
      found.forEach { row, _ in needed += row.row.withBytes { $0.count } }
      #expect(needed > 0 && found.byteCount < needed * most, "\(lengths)")
    }
  }

  @Test func lentRowsAreRead() throws {
    let (store, references) = try RowReaderTests.filled()
    let base = try #require(store.schema.entity(named: "Base"))
    let key = try #require(zip(base.allAttributes, base.attributeKeys).first { $0.0.name == "text" }?.1)
    var texts = 0
    for reference in references {
      let row = try #require(try store.view().row(reference))
      let text = try row.withBorrowed { (row) throws(EngineError) in try row.string(key) }
      #expect(try text.map { $0.map { .string($0) } ?? .null } == row.value(keyPath: "text"))
      if case .some(.some) = text { texts += 1 }
    }
    #expect(texts > 50)
  }
}
