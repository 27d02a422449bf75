import CambiumTesting
import Testing

@testable import CambiumKernel

/// The order and equality of encoded keys are those of the values.
@Suite struct KeyOrderTests {
  private func key(_ write: (inout KeyEncoder) -> Void) -> [UInt8] {
    var encoder = KeyEncoder()
    write(&encoder)
    return encoder.bytes
  }

  private func compare(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a.withUnsafeBytes { x in b.withUnsafeBytes { compareKeys(x, $0) } }
  }

  private func check(_ order: Int, _ write: (inout KeyEncoder, _ first: Bool, _ descending: Bool) -> Void) {
    let rising = compare(key { write(&$0, true, false) }, key { write(&$0, false, false) })
    let falling = compare(key { write(&$0, true, true) }, key { write(&$0, false, true) })
    #expect(rising == order)
    #expect(falling == -order)
  }

  private func order<T: Comparable>(_ a: T, _ b: T) -> Int { a == b ? 0 : a < b ? -1 : 1 }

  @Test func numbers() {
    var random = SplitMix64(seed: 11)
    for _ in 0..<4_000 {
      let (a, b) = (random.integer(), random.integer())
      check(order(a, b)) { $0.append($1 ? a : b, descending: $2) }
      let (c, d) = (random.double(), random.double())
      let expected = c.isNaN || d.isNaN ? (c.isNaN ? (d.isNaN ? 0 : -1) : 1) : order(c, d)
      check(expected) { $0.append($1 ? c : d, descending: $2) }
      check(expected) { $0.append(date: $1 ? c : d, descending: $2) }
      let (e, f) = (random.next() >> UInt64(random.below(64)), random.next() >> UInt64(random.below(64)))
      check(order(e, f)) { $0.append(reference: $1 ? e : f, descending: $2) }
      let (g, h) = (UUIDBytes(high: e & 1, low: f), UUIDBytes(high: f & 1, low: e))
      check(order(g, h)) { $0.append($1 ? g : h, descending: $2) }
    }
    #expect(key { $0.append(Float(0.5)) } == key { $0.append(0.5) })
    #expect(key { $0.append(-0.0) } == key { $0.append(0.0) })
    check(-1) { $0.append(!$1, descending: $2) }
  }

  @Test func decimals() {
    var random = SplitMix64(seed: 12)
    var last = DecimalValue.zero
    for _ in 0..<3_000 {
      let next = random.oneIn(3) ? DecimalValue(random.integer()) : random.decimal()
      check(last.compare(to: next)) { $0.append($1 ? last : next, descending: $2) }
      check(0) { encoder, _, descending in encoder.append(next, descending: descending) }
      last = next
    }
    #expect(key { $0.append(DecimalValue("1.0") ?? .zero) } == key { $0.append(DecimalValue("1.00") ?? .notANumber) })
  }

  @Test func stringsOrderAsSwiftOrdersThem() {
    var random = SplitMix64(seed: 13)
    var equal = 0
    for _ in 0..<6_000 {
      let a = random.text(5)
      let b = random.oneIn(3) ? otherSpelling(a) : random.text(5)
      if a == b, Array(a.utf8) != Array(b.utf8) { equal += 1 }
      check(order(a, b)) { $0.append($1 ? a : b, descending: $2) }
    }
    #expect(equal > 500)
    #expect(key { $0.append("\u{e9}") } == key { $0.append("e\u{301}") })
    #expect(key { $0.append("abc") }.count == 5)
  }

  /// The same text in other scalars.
  private func otherSpelling(_ text: String) -> String {
    let spellings: [Unicode.Scalar: String] = [
      "\u{e9}": "e\u{301}", "\u{1e69}": "s\u{307}\u{323}", "\u{212b}": "A\u{30a}", "\u{c5}": "\u{212b}",
      "\u{ac01}": "\u{1100}\u{1161}\u{11a8}", "\u{2f800}": "\u{4e3d}", "\u{340}": "\u{300}", "\u{37e}": ";",
      "\u{fb2c}": "\u{5e9}\u{5c1}\u{5bc}", "\u{958}": "\u{915}\u{93c}",
    ]
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      result.append(contentsOf: (spellings[scalar] ?? String(scalar)).unicodeScalars)
    }
    return String(result)
  }

  @Test func bytesOrderAsUnsignedBytes() {
    var random = SplitMix64(seed: 14)
    for _ in 0..<3_000 {
      let a = random.bytes(random.below(4)).map { $0 & 3 }
      let b = random.bytes(random.below(4)).map { $0 & 3 }
      let expected = a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
      check(expected) { $0.append(bytes: $1 ? a : b, descending: $2) }
    }
  }

  @Test func nullSortsFirst() {
    var random = SplitMix64(seed: 15)
    for _ in 0..<100 {
      let (number, text, decimal) = (random.integer(), random.text(), random.decimal())
      check(-1) { $1 ? $0.appendNull(descending: $2) : $0.append(number, descending: $2) }
      check(-1) { $1 ? $0.appendNull(descending: $2) : $0.append(text, descending: $2) }
      check(-1) { $1 ? $0.appendNull(descending: $2) : $0.append(decimal, descending: $2) }
    }
  }

  private struct Compound {
    var name: String?
    var number: Int64?
    var blob: [UInt8]
    var decimal: DecimalValue
    var id: UInt64
    init(_ random: inout SplitMix64) {
      name = random.oneIn(5) ? nil : random.text(2)
      number = random.oneIn(5) ? nil : random.integer() & 3
      blob = random.bytes(random.below(3)).map { $0 & 1 }
      decimal = DecimalValue(random.integer() & 1)
      id = random.next() & 0x1FF
    }
    func write(_ encoder: inout KeyEncoder, _ down: [Bool]) {
      if let name { encoder.append(name, descending: down[0]) } else { encoder.appendNull(descending: down[0]) }
      if let number { encoder.append(number, descending: down[1]) } else { encoder.appendNull(descending: down[1]) }
      encoder.append(bytes: blob, descending: down[2])
      encoder.append(decimal, descending: down[3])
      encoder.append(rowID: id)
    }
  }

  @Test func compoundKeysCompareFromTheLeft() {
    func optional<T: Comparable>(_ a: T?, _ b: T?) -> Int {
      guard let a, let b else { return a == nil ? (b == nil ? 0 : -1) : 1 }
      return order(a, b)
    }
    var random = SplitMix64(seed: 16)
    for _ in 0..<5_000 {
      let (a, b) = (Compound(&random), Compound(&random))
      let down = (0..<4).map { _ in random.oneIn(2) }
      let blobs = a.blob == b.blob ? 0 : a.blob.lexicographicallyPrecedes(b.blob) ? -1 : 1
      let parts = [optional(a.name, b.name), optional(a.number, b.number), blobs, order(a.decimal, b.decimal)]
      var expected = 0
      for (part, falling) in zip(parts, down) where expected == 0 { expected = falling ? -part : part }
      if expected == 0 { expected = order(a.id, b.id) }
      #expect(compare(key { a.write(&$0, down) }, key { b.write(&$0, down) }) == expected)
    }
  }

  /// Null takes a byte where a number may no longer be begun: the row id at the end sorts behind it, as it has to.
  @Test func nullsAndCutKeysKeepTheOrderWithTheirRows() {
    for (length, isDescending) in [(0, false), (1, false), (2, true), (3, true), (4, false), (5, true)] {
      let keys = [nil, Int64(5)].map { number in
        var encoder = KeyEncoder(limit: 20)
        encoder.append(String(repeating: "a", count: length))
        if let number {
          encoder.append(number, descending: isDescending)
        } else {
          encoder.appendNull(descending: isDescending)
        }
        encoder.append(rowID: 9)
        return encoder.bytes
      }
      #expect(compare(keys[0], keys[1]) == (isDescending ? 1 : -1))
    }
  }

  /// With a limit, order holds weakly, and an exact key never equals another's.
  @Test func cutKeysKeepTheOrder() {
    var random = SplitMix64(seed: 17)
    var cut = 0
    for round in 0..<8_000 {
      let limit = 16 + random.below(12)
      let texts = (0..<2).map { _ in
        random.oneIn(2)
          ? String(repeating: random.pick(["a", "\0", "\u{1}"]), count: random.below(12)) : random.text(4)
      }
      let suffixes = [random.text(2), random.text(2)]
      let common = random.oneIn(2) ? random.text(6) : ""
      let numbers = [random.integer() & 0x1FF, random.integer() & 0x1FF]
      let down = [random.oneIn(2), random.oneIn(2), random.oneIn(2)]
      let values = [0, 1].map { (common + texts[$0] + suffixes[$0], numbers[$0]) }
      let keys = values.map { value in
        var encoder = KeyEncoder(limit: limit)
        if round % 2 == 0 { encoder.append(value.1 & 1, descending: down[2]) }
        encoder.append(value.0, descending: down[0])
        encoder.append(value.1, descending: down[1])
        var whole = encoder.copy()
        whole.append(rowID: .max)
        return (bytes: encoder.bytes, isInexact: encoder.isInexact, whole: whole.bytes)
      }
      var parts = [(order(values[0].0, values[1].0), down[0]), (order(values[0].1, values[1].1), down[1])]
      if round % 2 == 0 { parts.insert((order(values[0].1 & 1, values[1].1 & 1), down[2]), at: 0) }
      var expected = 0
      for (part, falling) in parts where expected == 0 { expected = falling ? -part : part }
      let found = compare(keys[0].bytes, keys[1].bytes)
      if keys[0].isInexact || keys[1].isInexact {
        cut += 1
        #expect(found == expected || (found == 0 && keys[0].isInexact && keys[1].isInexact))
      } else {
        #expect(found == expected)
      }
      for key in keys {
        #expect(key.whole.count <= limit)
        #expect(key.whole.starts(with: key.bytes))
      }
    }
    #expect(cut > 1_000)
  }
}
