import Testing

@testable import CambiumEngine

/// Lists whose values somebody has chosen so that their hashes meet.
@Suite struct MemberTableTests {
  /// Numbers that all belong into the first slot.
  private static func meeting(_ count: UInt64) -> [Value] {
    // The inverse of the hash's factor, by Newton's method.
    let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    var inverse = factor
    for _ in 0..<6 { inverse = inverse &* (2 &- factor &* inverse) }
    return (0..<count).map { number in
      let mixed = number &* inverse
      return .integer(Int64(bitPattern: mixed ^ (mixed >> 32)))
    }
  }

  @Test func listsMadeToMeetHaveNoTable() throws {
    #expect(MemberTable(Self.meeting(20_000), .integer64) == nil)
    let usual = (0..<20_000 as Range<Int64>).map { Value.integer($0 &* 1_000_003) }
    let table = try #require(MemberTable(usual, .integer64))
    defer { table.deallocate() }
    for value in usual {
      guard case .integer(let number) = value else { continue }
      #expect(table.contains(UInt64(bitPattern: number)))
    }
    #expect(!table.contains(UInt64(bitPattern: -1)))
    // Values that are equal are one.
    let same = try #require(MemberTable(Array(repeating: .integer(7), count: 5_000) + [.null], .integer64))
    defer { same.deallocate() }
    #expect(same.contains(7) && !same.contains(8) && same.includesNull)
  }
}
