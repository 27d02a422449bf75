import CambiumKernel
import CambiumTesting
import Testing

@Suite struct KeyRangeTests {
  private func contains(_ range: KeyRange, _ key: [UInt8]) -> Bool {
    guard !key.lexicographicallyPrecedes(range.lower) else { return false }
    guard let upper = range.upper else { return true }
    return key.lexicographicallyPrecedes(upper)
  }

  @Test func upperBounds() {
    #expect(KeyRange.upperBound(ofPrefix: [1, 2]) == [1, 3])
    #expect(KeyRange.upperBound(ofPrefix: [1, 0xFF, 0xFF]) == [2])
    #expect(KeyRange.upperBound(ofPrefix: [0xFF]) == nil)
    #expect(KeyRange.upperBound(ofPrefix: []) == nil)
  }

  @Test func rangesOfStringPrefixesHoldExactlyThoseStrings() {
    var random = SplitMix64(seed: 31)
    var inside = 0
    for _ in 0..<6_000 {
      let limit = random.oneIn(2) ? Int.max : 16 + random.below(20)
      let descending = random.oneIn(2)
      let prefix = random.text(3)
      let text = random.oneIn(3) ? random.text(5) : prefix + random.text(3)
      var leading = KeyEncoder(limit: limit)
      leading.append(Int64(random.below(2)))
      let range = KeyRange(strings: prefix, after: leading, descending: descending)
      var key = leading
      key.append(text, descending: descending)
      key.append(Int64(random.below(300)))
      key.append(rowID: random.next())
      let normalPrefix = normalForm(prefix)
      let matches = normalForm(text).starts(with: normalPrefix)
      if range.isExact {
        #expect(contains(range, key.bytes) == matches)
      } else if matches {
        #expect(contains(range, key.bytes))
      }
      if text.hasPrefix(prefix) { #expect(matches) }
      if matches { inside += 1 }
    }
    #expect(inside > 1_000)
  }

  @Test func rangesOfBytes() {
    let range = KeyRange(bytes: [0, 1, 2])
    var key = KeyEncoder()
    key.append(bytes: [0, 1, 2, 0xFF])
    #expect(contains(range, key.bytes))
    key.removeAll()
    key.append(bytes: [0, 1, 3])
    #expect(!contains(range, key.bytes))
  }

  private func normalForm(_ text: String) -> [UInt8] {
    Array(text.utf8).withUnsafeBytes { StringNormalization.normalForm(of: $0) }
  }
}
