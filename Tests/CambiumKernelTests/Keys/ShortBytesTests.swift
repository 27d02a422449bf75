import CambiumTesting
import Testing

@testable import CambiumKernel

/// What compares few bytes reads them from both ends: each answer is that of going through them one by one, and nothing
/// behind them counts.
@Suite struct ShortBytesTests {
  /// Strings that share much with each other, of up to `longest` bytes.
  private func strings(_ random: inout SplitMix64, longest: Int) -> [[UInt8]] {
    var all: [[UInt8]] = [[], [0], [0, 0], [0xFF], [0xFF, 0]]
    for count in 0...longest {
      let one = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.below(3) * 127) }
      all.append(one)
      for place in one.indices {
        var other = one
        other[place] &+= 1
        all.append(other)
        all.append(Array(one[..<place]))
      }
    }
    return all
  }

  /// The bytes with others around them, which change from call to call.
  private func lend<R>(
    _ bytes: [UInt8], _ random: inout SplitMix64, _ body: (UnsafeRawBufferPointer) -> R
  ) -> R {
    let noise = (0..<16).map { _ in UInt8(truncatingIfNeeded: random.below(256)) }
    return (noise + bytes + noise).withUnsafeBytes { all in
      body(UnsafeRawBufferPointer(rebasing: all[16..<(16 + bytes.count)]))
    }
  }

  @Test func comparisonsAreThoseOfEachByte() {
    var random = SplitMix64(seed: 9)
    var (shorter, equal) = (0, 0)
    let all = strings(&random, longest: 27)
    for a in all {
      for b in [a] + (0..<40).map({ _ in all[random.below(all.count)] }) {
        let order = a.lexicographicallyPrecedes(b) ? -1 : a == b ? 0 : 1
        let shared = zip(a, b).prefix { $0 == $1 }.count
        var other = SplitMix64(seed: random.next())
        lend(a, &random) { a in
          lend(b.map { $0 }, &other) { b in
            #expect(compareBytes(a.start, a.count, b.start, b.count).signum() == order)
            #expect(compareKeys(a, b) == order)
            #expect(sharedPrefix(a.start, a.count, b.start, b.count) == shared)
            #expect(hasPrefix(a, b) == (shared == b.count))
            if a.count == b.count { #expect(areEqual(a.start, b.start, a.count) == (order == 0)) }
          }
        }
        shorter += a.count < 8 ? 1 : 0
        equal += order == 0 ? 1 : 0
      }
    }
    #expect(shorter > 100 && equal >= all.count)
  }

  @Test func headsAreTheFirstEightBytes() {
    var random = SplitMix64(seed: 10)
    for bytes in strings(&random, longest: 12) {
      var expected: UInt64 = 0
      for i in 0..<8 { expected = expected << 8 | (i < bytes.count ? UInt64(bytes[i]) : 0) }
      #expect(lend(bytes, &random) { keyHead($0.start, $0.count) } == expected, "\(bytes)")
    }
  }

  @Test func keysOfRowsAreThoseOfEncoders() {
    var ids: [UInt64] = [0, 1, .max, .max - 1]
    for bits in 0..<64 { ids += [1 << bits, (1 << bits) - 1, (1 << bits) | 1, UInt64.max >> bits] }
    for id in ids {
      var encoder = KeyEncoder()
      encoder.append(rowID: id)
      #expect(RowIDKey(id).withBytes { [UInt8]($0) } == encoder.bytes, "\(id)")
    }
  }
}
