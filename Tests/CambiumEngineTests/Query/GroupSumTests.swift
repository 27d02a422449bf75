import CambiumKernel
import Testing

@testable import CambiumEngine

/// Sums of numbers of all kinds.
@Suite struct GroupSumTests {
  private func sum(_ values: [Value]) -> Value {
    var aggregate = GroupAggregate(.sum)
    for value in values { aggregate.add(value) }
    return aggregate.value
  }

  private func decimal(_ text: String) throws -> Value { .decimal(try #require(DecimalValue(text))) }

  @Test func integersAreExact() throws {
    #expect(sum([]) == .null)
    #expect(sum([.null, .null]) == .null)
    #expect(sum([1, 2, .null, 3]) == 6)
    #expect(sum([true, true, false]) == 2)
    #expect(sum([.integer(.max), .integer(.min)]) == -1)
    #expect(sum([.integer(.max), .integer(.max)]) == (try decimal("18446744073709551614")))
    #expect(sum([.integer(.min), .integer(.min)]) == (try decimal("-18446744073709551616")))
  }

  @Test func decimalsAreExactUpTo38Digits() throws {
    #expect(sum([try decimal("0.1"), try decimal("0.2"), 1]) == (try decimal("1.3")))
    #expect(sum([try decimal("1e-100"), try decimal("-1e-100")]) == (try decimal("0")))
    #expect(sum([.decimal(.notANumber), 1]) == .decimal(.notANumber))
    #expect(sum([try decimal("1e100"), try decimal("1e-100")]) == (try decimal("1e100")))
    let large = try decimal("9e127")
    #expect(sum(Array(repeating: large, count: 1000)) == (try decimal("9e130")))
    #expect(sum([try decimal("0"), try decimal("1e100")]) == (try decimal("1e100")))
  }

  @Test func aDoubleMakesDoubles() throws {
    #expect(sum([0.5, 1, try decimal("0.25")]) == (try decimal("1.75")))
    #expect(sum([0.5, 1]) == 1.5)
    #expect(sum([.float(0.5), .integer(.max)]) == .double(0x1p63))
    #expect(sum([.double(.infinity), .double(-.infinity)]) == .double(.nan))
    #expect(sum([.integer(-3), 0.5]) == -2.5)
  }

  @Test func otherAggregates() throws {
    func of(_ function: GroupFunction, _ values: [Value]) -> Value {
      var aggregate = GroupAggregate(function)
      for value in values { aggregate.add(value) }
      return aggregate.value
    }
    #expect(of(.count, [1, .null, .list([2, .null, 3])]) == 3)
    #expect(of(.average, [1, .null, 2]) == 1.5)
    #expect(of(.average, []) == .null)
    #expect(of(.average, [.integer(.max), .integer(.max)]) == .double(0x1p63))
    #expect(of(.average, [try decimal("0.1"), try decimal("0.2")]) == (try decimal("0.15")))
    #expect(of(.standardDeviation, [1, 3, .null]) == 1.0)
    #expect(of(.median, [5, 1, 2]) == 2)
    #expect(of(.mode, [5, 1, 5, 2]) == 5)
    #expect(of(.minimum, ["b", .null, "a", "c"]) == "a")
    #expect(of(.maximum, [.date(1), .date(3), .null]) == .date(3))
    #expect(of(.maximum, [.null]) == .null)
  }
}
