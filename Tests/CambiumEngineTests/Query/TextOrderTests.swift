import CambiumEngine
import Testing

/// Orders of texts.
@Suite struct TextOrderTests {
  private func isOrdered(_ order: EngineTextOrder, _ texts: [String]) -> Bool {
    let sort = EngineSort("x", textOrder: order)
    let keys = texts.map { sort.key(.string($0)) }
    for i in keys.indices.dropLast() {
      guard sort.order(keys[i], keys[i + 1]) < 0, sort.order(keys[i + 1], keys[i]) > 0 else { return false }
    }
    return true
  }

  @Test func naturalOrder() {
    #expect(
      isOrdered(.natural, ["", "0", "1", "02", "9", "10", "99", "100", "a", "a1", "a1b", "a2", "A10", "a10a", "b"]))
    #expect(isOrdered(.natural, ["1.2", "1.10", "2.1", "12345678901234567890123", "123456789012345678901234", ":"]))
    #expect(isOrdered(.natural, ["a ", "a!1", "a0", "a1", "a:", "ab"]))
    let sort = EngineSort("x", textOrder: .natural)
    #expect(sort.key("a01") == sort.key("A1"))
    #expect(sort.key("e\u{301}") == sort.key("\u{c9}"))
    #expect(sort.key(.null) == .null)
    #expect(sort.key(5) == 5)
    #expect(sort.order(sort.key(.null), sort.key("")) < 0)
  }

  @Test func caseInsensitiveOrder() {
    #expect(isOrdered(.scalars, ["B", "a", "a10", "a2"]))
    #expect(isOrdered(.caseInsensitive, ["a", "B", "c10", "C2"]))
  }

  @Test func customOrder() {
    let reversed = EngineTextOrder.custom { $0 < $1 ? 1 : $0 > $1 ? -1 : 0 }
    #expect(isOrdered(reversed, ["c", "b", "a"]))
    #expect(EngineSort("x", textOrder: reversed).order(.null, "a") < 0)
  }
}
