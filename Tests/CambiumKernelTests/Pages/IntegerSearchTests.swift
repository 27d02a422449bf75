import CambiumTesting
import Testing

@testable import CambiumKernel

@Suite struct IntegerSearchTests {
  /// Numbers as pages hold them: evenly spread, crowded at either end, far apart, up to the widest.
  private func columns(_ random: inout SplitMix64, width: Int) -> [[UInt64]] {
    let limit: UInt64 = width == 8 ? .max : (1 << UInt64(width * 8)) - 1
    var columns: [[UInt64]] = [[], [0], [limit], [0, limit], [limit - 1, limit], Array(0...min(200, limit))]
    columns.append((0..<100).map { limit - 99 + $0 })
    columns.append(Array(0...12) + [limit])
    columns.append([0] + (0..<20).map { limit - 19 + $0 })
    for _ in 0..<40 {
      let count = Int.random(in: 1...200, using: &random)
      columns.append(Set((0..<count).map { _ in UInt64.random(in: 0...limit, using: &random) }).sorted())
    }
    return columns
  }

  @Test func findsTheFirstGreaterNumber() {
    var random = SplitMix64(seed: 31)
    for width in [1, 2, 4, 8] {
      for column in columns(&random, width: width) {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(1, column.count * width), alignment: 8)
        defer { bytes.deallocate() }
        for (i, n) in column.enumerated() { storeWidth(bytes, width, i, n) }
        var targets: [UInt64] = [0, 1, .max, .max - 1]
        for n in column.prefix(30) + column.suffix(30) { targets += [n, n &+ 1, n &- 1] }
        for _ in 0..<20 { targets.append(random.next()) }
        for target in targets {
          let expected = column.firstIndex { $0 > target } ?? column.count
          #expect(firstGreater(bytes, width, column.count, target) == expected)
        }
      }
    }
  }

  /// Numbers that do not ascend come from a damaged file only; whatever is answered then, it lies in the page.
  @Test func staysWithinNumbersOutOfOrder() {
    var random = SplitMix64(seed: 32)
    for width in [1, 2, 4, 8] {
      for _ in 0..<200 {
        let count = Int.random(in: 1...60, using: &random)
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: count * width, alignment: 8)
        defer { bytes.deallocate() }
        for i in 0..<count { storeWidth(bytes, width, i, random.next()) }
        for _ in 0..<20 {
          let place = firstGreater(bytes, width, count, random.next() >> (random.next() & 63))
          #expect((0...count).contains(place))
        }
      }
    }
  }
}
