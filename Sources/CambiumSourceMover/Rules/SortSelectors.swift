/// Replaces the selector of `NSSortDescriptor(key:ascending:selector:)` with a comparator.
enum SortSelectors {
  private struct Order {
    /// The tokens from `selector` to the closing bracket of `#selector`.
    var tokens: ClosedRange<Int>
    /// The name of the method, without parameters.
    var method: String
  }

  static func run(_ move: inout FileMove) {
    let source = move.source
    for order in orders(in: source) {
      switch order.method {
      case "compare":
        // The usual order. The comma before it goes as well.
        guard let comma = source[order.tokens.lowerBound - 1], comma.isMark(",") else { continue }
        move.replace((order.tokens.lowerBound - 1)...order.tokens.upperBound, with: "", as: "selector: compare -> none")
      case "caseInsensitiveCompare": move.replace(order.tokens, with: "comparator: .caseInsensitive")
      default:
        move.replace(
          order.tokens, with: "comparator: FetchSortComparator(name: \"\(order.method)\") { $0.\(order.method)($1) }")
      }
    }
  }

  /// Whether a `#selector` becomes a comparator.
  static func isReplaced(_ index: Int, _ source: SourceText) -> Bool {
    source[index - 1]?.isMark(":") == true && source[index - 2]?.isWord("selector") == true
      && orders(in: source).contains { $0.tokens.contains(index) }
  }

  private static func orders(in source: SourceText) -> [Order] {
    source.tokens.indices.compactMap { index in
      guard source.tokens[index].isWord("NSSortDescriptor"), source[index + 1]?.isOpen("(") == true,
        let arguments = source.arguments(in: index + 1),
        arguments.map({ $0.label }) == ["key", "ascending", "selector"]
      else { return nil }
      let value = arguments[2].value
      guard source[value.lowerBound]?.text == "#selector", let open = source[value.lowerBound + 1], open.isOpen("("),
        open.partner == value.upperBound, source[value.lowerBound + 2]?.kind == .word,
        source[value.lowerBound + 3]?.isMark(".") == true, let method = source[value.lowerBound + 4],
        method.kind == .word
      else { return nil }
      return Order(tokens: (value.lowerBound - 2)...value.upperBound, method: method.text)
    }
  }
}
