import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

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
}
