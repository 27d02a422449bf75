import Foundation
import Testing

@testable import CambiumEngine

/// The deepest predicates that are accepted, and all that is done with them, on a thread as small as Apple's are.
/// (Without optimisation a frame is several times as large.)
@Suite struct PredicateStackTests {
  #if DEBUG
    static let stackSize = 8 << 20
  #else
    static let stackSize = 512 << 10
  #endif

  static func texts() -> [String] {
    func nested(_ open: String, _ middle: String, _ close: String, _ end: String = "") -> [String] {
      // The deepest that is read, and one that is refused.
      [60, 95, 99, 180, 195, 1000].map {
        String(repeating: open, count: $0) + middle + String(repeating: close, count: $0) + end
      }
    }
    return nested("(", "a == 1", ")") + nested("NOT ", "a == 1", "") + nested("(a == 2 OR ", "a == 1", ")")
      + nested("a == (b + ", "1", ")") + nested("(1 + ", "a", ")", " == 1") + nested("-", "(a)", "", " == 1")
      + nested("{", "a", "}", " == 1") + nested("abs(", "a", ")", " == 1")
      + nested("TERNARY(a == ", "1", ", 1, 2)", " == 1")
      + nested("TERNARY(", "a == 1", ", 1, 2) == 1", "") + nested("1 ** ", "a", "", " == 1")
      + nested("l[", "0", "]", " == 1")
      + nested("SUBQUERY(", "l", ", $x, $x == 1)", "[SIZE] == 1")
      + nested("SUBQUERY(l, $x, ", "a == 1", ").@count == 1", "") + nested("CAST(", "a", ", 'number')", " == 1")
  }

  static func tryAll(_ schema: Schema, _ entity: UInt32) -> Int {
    var read = 0
    for text in texts() {
      guard let predicate = try? Predicate(format: text) else { continue }
      read += 1
      _ = try? Predicate(format: predicate.description)
      _ = try? predicate.variableNames()
      _ = try? predicate.substituting(["x": 1])
      _ = try? predicate.reads()
      _ = try? predicate.evaluate { _, path in path == "l" ? [1] : 1 }
      _ = try? predicate.check(against: schema, entity: entity)
    }
    return read
  }

  @Test func theDeepestPredicatesFitASmallStack() async throws {
    let thing = EntitySchema(
      "Thing", attributes: [AttributeSchema("a", .integer16)],
      relationships: [RelationshipSchema("l", toMany: "Thing", ordered: true)])
    let schema = try Schema(SchemaDefinition([thing]))
    let entity = try #require(schema.entity(named: "Thing")).id
    let read = await withCheckedContinuation { continuation in
      let thread = Thread { continuation.resume(returning: Self.tryAll(schema, entity)) }
      thread.stackSize = Self.stackSize
      thread.start()
    }
    #expect(read > 40)
  }
}
