import CambiumTesting
import Testing

@testable import CambiumEngine

/// ``NameMap`` and ``NameIndex`` beside dictionaries.
@Suite struct NameLookupTests {
  /// Names of all lengths around those that are held differently, some equal under normalization.
  private static let names: [String] = {
    var names = ["", "a", "b", "é", "e\u{301}", "caf\u{e9}", "cafe\u{301}", "\u{1F600}"]
    for length in [7, 8, 9, 15, 16, 17, 23, 24, 40] {
      names.append(String(repeating: "x", count: length))
      names.append(String(repeating: "x", count: length - 1) + "y")
      names.append("y" + String(repeating: "x", count: length - 1))
    }
    return names + (0..<60).map { "property\($0)" }
  }()

  @Test func mapsAreDictionaries() {
    var random = SplitMix64(seed: testSeed(20_261_122))
    for _ in 0..<200 {
      var map: NameMap<Int> = [:]
      var dictionary: [String: Int] = [:]
      // Few names and many, so that both ways of looking up are taken, and each is left for the other.
      let names = Self.names.shuffled(using: &random).prefix(Int.random(in: 1...40, using: &random))
      for step in 0..<120 {
        guard let name = names.randomElement(using: &random) else { continue }
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1: (map[name], dictionary[name]) = (step, step)
        case 2: (map[name], dictionary[name]) = (nil, nil)
        case 3:
          map[name, default: -1] += 1
          dictionary[name, default: -1] += 1
        default:
          map = map.filter { $1 % 3 != 0 }
          dictionary = dictionary.filter { $1 % 3 != 0 }
        }
        #expect(map.count == dictionary.count && map.isEmpty == dictionary.isEmpty)
        for name in Self.names { #expect(map[name] == dictionary[name]) }
      }
      #expect(Set(map.keys) == Set(dictionary.keys))
      #expect(map.values.sorted() == dictionary.values.sorted())
      for (name, value) in map { #expect(dictionary[name] == value) }
    }
  }

  @Test func indexesFindWhatTheyWereMadeOf() {
    var random = SplitMix64(seed: testSeed(20_261_122))
    for _ in 0..<200 {
      let names = Self.names.shuffled(using: &random).prefix(Int.random(in: 0...Self.names.count, using: &random))
      let pairs = names.enumerated().map { (name: $1, number: $0 * 7) }
      let index = NameIndex(pairs)
      let dictionary = Dictionary(pairs.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
      for name in Self.names { #expect(index[name] == dictionary[name]) }
    }
    #expect(NameIndex()["a"] == nil)
  }

  /// Names of eight bytes whose words differ in the upper half only hash alike as far as the table is concerned, or do
  /// not: whatever they do, they are found.
  @Test func manyNames() {
    let pairs = (0..<5_000).map { (name: "n" + String($0, radix: 36), number: $0) }
    let index = NameIndex(pairs)
    for pair in pairs { #expect(index[pair.name] == pair.number) }
    #expect(index["n zz"] == nil)
  }
}
