import CambiumEngine
import CambiumKernel
import CambiumTesting
import Testing

/// Texts have one order, in an index and without.
@Suite struct StringOrderTests {
  /// Marks of several combining classes, in any order, with letters between: what is put in order before it is
  /// compared.
  static func texts(_ count: Int, seed: UInt64) -> [String] {
    var random = SplitMix64(seed: seed)
    let scalars = Array("\u{36E}\u{32F}\u{301}\u{344}\u{31B}ez\u{E9}\u{1E9B}".unicodeScalars)
    return (0..<count).map { _ in
      var text = String.UnicodeScalarView()
      for _ in 0..<random.below(4) { text.append(random.pick(scalars)) }
      return String(text)
    }
  }

  @Test func theOrderIsOne() {
    let texts = Self.texts(60, seed: 7) + ["\u{36E}", "\u{36E}\u{32F}", "\u{32F}\u{36E}"]
    func order(_ a: String, _ b: String) -> ValueOrdering? { Value.string(a).compare(to: .string(b)) }
    var disagreements = 0
    for a in texts {
      for b in texts {
        #expect((order(a, b) == .equal) == (a == b))
        #expect(order(a, b) == order(b, a)?.reversed)
        let (x, y) = (KeyEncoder.text(a), KeyEncoder.text(b))
        #expect((order(a, b) == .less) == x.lexicographicallyPrecedes(y))
        if (order(a, b) == .less) != (a < b) { disagreements += 1 }
        for c in texts where order(a, b) == .less && order(b, c) == .less { #expect(order(a, c) == .less) }
      }
    }
    // Should the standard library's order be one some day, this can be simpler.
    #expect(disagreements > 0)
  }

  /// Fails where one of the two ways compares as the standard library does.
  @Test func fetchesAnswerAlikeWithAnIndexAndWithout() throws {
    let plain = try ExactRangeTests.store([])
    let indexed = try ExactRangeTests.store([IndexSchema("s", [IndexElement("s")])])
    let texts = Self.texts(200, seed: 8)
    for store in [plain, indexed] {
      _ = try ExactRangeTests.insert(
        store,
        texts.map { text in
          var values = RowValues()
          values.set("s", .string(text))
          return values
        })
    }
    for bound in ["\u{36E}", "\u{32F}\u{36E}", "\u{36E}\u{32F}", "e\u{301}"] {
      for format in ["s < %@", "s >= %@", "s == %@"] {
        let sorted = [EngineSort("s", ascending: true), EngineSort("n", ascending: true)]
        let found = try ExactRangeTests.rows(plain, format, [.string(bound)], sort: sorted)
        #expect(try ExactRangeTests.rows(indexed, format, [.string(bound)], sort: sorted) == found)
        #expect(!found.isEmpty)
      }
    }
  }
}

extension KeyEncoder {
  fileprivate static func text(_ text: String) -> [UInt8] {
    var encoder = KeyEncoder()
    encoder.append(text)
    return Array(encoder.bytes)
  }
}
