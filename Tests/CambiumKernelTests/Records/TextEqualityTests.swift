import CambiumTesting
import Testing

@testable import CambiumKernel

/// What is told of a text from a row's bytes alone agrees with what its field says.
@Suite struct TextEqualityTests {
  /// A text of a layout's rows: the field of the composite, if it is an element of one, and its own.
  private struct Field {
    var outer: Int?
    var index: Int
  }

  private func texts(_ layout: RecordLayout) -> [Field] {
    var found: [Field] = []
    for (index, field) in layout.fields.enumerated() {
      if field.kind.tag == .string { found.append(Field(outer: nil, index: index)) }
      guard case .nested(let inner) = field.kind else { continue }
      for (i, field) in inner.fields.enumerated() where field.kind.tag == .string {
        found.append(Field(outer: index, index: i))
      }
    }
    return found
  }

  /// Nil where it is null, or outside the record.
  private func text(_ record: RecordView, _ field: Field) throws -> (isNull: Bool, text: String?) {
    guard let parent = try field.outer.map({ (i) in try record.nested(at: i) }) ?? record else { return (true, nil) }
    if try parent.external(at: field.index) != nil { return (false, nil) }
    let text = try parent.string(at: field.index)
    return (text == nil, text)
  }

  private let plain = [
    "", "a", "b", "ab", "a\0", "red", "K", ";", "of eight", "of eight.", "of eight\0",
    "a longer text, of more than eight characters",
  ]
  private let others = ["\u{212A}", "\u{37E}", "e\u{301}", "of eight\u{301}", "of eigh\u{F1}", "of eight \u{212A}"]

  @Test func excludesOnlyOtherTexts() throws {
    let seed = testSeed(8_283)
    var random = SplitMix64(seed: seed)
    print("text equality: seed \(seed)")
    var (excluded, equal, nulls, unsure, equivalent, runs) = (0, 0, 0, 0, 0, 0)
    // Of long texts that begin with other ASCII characters.
    var (heads, missed) = (0, 0)
    let store = try Store.create(
      on: MemoryDevice(lock: ThreadLock()), environment: TestEnvironment(seed: seed), options: StoreOptions())
    for _ in 0..<1200 {
      let layout = try random.layout(depth: 2)
      let builder = RecordBuilder(layout)
      for field in texts(layout) {
        let t = try store.beginWrite()
        let tree = try t.createTree(.integer)
        for row in 0..<UInt64(8) {
          var values = layout.fields.map { random.value(of: $0.kind) }
          if random.oneIn(2) {
            let value = TestValue.string(Array(random.pick(plain + others).utf8))
            if let outer = field.outer {
              if case .nested(var inner) = values[outer] {
                inner[field.index] = value
                values[outer] = .nested(inner)
              }
            } else {
              values[field.index] = value
            }
          }
          try builder.fill(values, order: &random)
          let bytes = try builder.bytes()
          try t.put(tree, row, bytes)
          try t.put(tree, row + 8, [UInt8](bytes.prefix(random.below(bytes.count + 1))))
          let wanted = Array(random.pick(plain).utf8)
          try wanted.withUnsafeBytes { w in
            let test = try #require(TextEquality(BorrowedLayout(layout), outer: field.outer, field.index, w))
            try bytes.withUnsafeBytes { b in
              let (isNull, found) = try text(try RecordView(b, layout: layout), field)
              let told = test.excludes(b)
              if isNull {
                nulls += told ? 1 : 0
              } else if let found, found == String(decoding: wanted, as: UTF8.self) {
                #expect(!told)
                equal += 1
                equivalent += Array(found.utf8) == wanted ? 0 : 1
              } else {
                if found == nil { #expect(!told) }
                if let found, found.utf8.count > 8, found.utf8.prefix(8).allSatisfy({ $0 < 128 }),
                  !found.utf8.prefix(8).elementsEqual(wanted.prefix(8))
                {
                  if told { heads += 1 } else { missed += 1 }
                }
                excluded += told ? 1 : 0
                unsure += told ? 0 : 1
              }
              var other = Array(b)
              other[0] ^= 1
              #expect(!other.withUnsafeBytes { test.excludes($0) })
            }
            // Rows cut short or damaged are within their bytes, whatever is said of them.
            RowTestChecks.eachDamaged(bytes, &random) { _ = test.excludes($0) }
          }
        }
        try t.commit()
        // Those in pages follow one another; others are told one by one.
        if !random.oneIn(8) { try store.checkpoint() }
        // Many at once: the same.
        let wanted = Array(random.pick(plain).utf8)
        try wanted.withUnsafeBytes { w in
          let test = try #require(TextEquality(BorrowedLayout(layout), outer: field.outer, field.index, w))
          runs += try RowTestChecks.comparePassing(store, tree, test.excludes, test.passing)
        }
      }
    }
    #expect(runs > 500)
    #expect(heads > 200 && missed < heads / 4, "\(heads) told, \(missed) not")
    #expect(excluded > 500 && equal > 100 && nulls > 100 && unsure > 100 && equivalent > 5)
  }

  @Test func isMadeOfTextsOnly() throws {
    let inner = try RecordLayout(nested: [
      RecordField(property: 3, kind: .string), RecordField(property: 4, kind: .int64),
    ])
    let layout = try RecordLayout(
      row: 7,
      fields: [
        RecordField(property: 1, kind: .bytes), RecordField(property: 2, kind: .nested(inner)),
        RecordField(property: 5, kind: .string),
      ])
    let borrowed = BorrowedLayout(layout)
    func make(_ outer: Int?, _ index: Int, _ text: String) -> Bool {
      Array(text.utf8).withUnsafeBytes { TextEquality(borrowed, outer: outer, index, $0) != nil }
    }
    #expect(make(nil, 2, "a") && make(1, 0, "a"))
    #expect(!make(nil, 2, "\u{e9}"))
    #expect(!make(nil, 0, "a") && !make(nil, 1, "a") && !make(1, 1, "a") && !make(0, 0, "a") && !make(2, 0, "a"))
    #expect(!make(nil, 3, "a") && !make(nil, -1, "a") && !make(1, 2, "a") && !make(9, 0, "a"))
    #expect(!Array("a".utf8).withUnsafeBytes { TextEquality(BorrowedLayout(inner), outer: nil, 0, $0) != nil })
  }
}
