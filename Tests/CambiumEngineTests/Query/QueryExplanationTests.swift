import Testing

@testable import CambiumEngine

/// The figures of an explained fetch.
@Suite struct QueryExplanationTests {
  /// A planner's estimate may be any double, so no double may trap. On 32-bit targets `Int` ends at 2^31 - 1.
  @Test(arguments: [Int.max, Int(Int32.max)]) func anyEstimateHasACount(limit: Int) {
    let end = Double(limit)
    #expect(QueryExplanation.count(end, limit: limit) == limit)
    for estimate in [end * 2, 1e300, .infinity, .greatestFiniteMagnitude] {
      #expect(QueryExplanation.count(estimate, limit: limit) == limit)
    }
    for estimate in [-Double.infinity, -1e300, -1, -0.0, 0, 0.4, .nan, .signalingNaN, .leastNonzeroMagnitude] {
      #expect(QueryExplanation.count(estimate, limit: limit) == 0)
    }
    let below = end.nextDown
    #expect(QueryExplanation.count(below, limit: limit) <= limit)
    #expect(Double(QueryExplanation.count(below, limit: limit)) >= below.rounded(.down))
  }

  @Test func estimatesAreRoundedToTheNearestCount() {
    let expected: [(Double, Int)] = [(0.5, 1), (1.4, 1), (1.5, 2), (41.6, 42), (2_147_483_646.4, 2_147_483_646)]
    for (estimate, count) in expected {
      #expect(QueryExplanation.count(estimate) == count)
      #expect(QueryExplanation.count(estimate, limit: Int(Int32.max)) == count)
    }
    #expect(QueryExplanation.count(1e15) == 1_000_000_000_000_000)
    #expect(QueryExplanation.count(1e15, limit: Int(Int32.max)) == Int(Int32.max))
  }
}
