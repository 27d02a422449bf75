extension TypeScope {
  /// The blanks before a type.
  func indentation(in source: SourceText) -> String {
    source.indentation(at: source.tokens[head.start].range.lowerBound)
  }

  /// Whole lines for the end of a type, and where they go; `nil` if the source has no brace that closes the type.
  func end(_ lines: String, in source: SourceText) -> (text: String, offset: Int)? {
    guard let brace = source[close] else { return nil }
    let start = source.startOfLine(at: brace.range.lowerBound)
    let isAlone = source.text(start..<brace.range.lowerBound).allSatisfy { $0 == " " || $0 == "\t" }
    if isAlone { return (lines, start) }
    return (source.lineEnd + lines + indentation(in: source), brace.range.lowerBound)
  }
}

extension SourceText {
  /// One step of indentation: the blanks that an inner line has more than an outer one, or two.
  static func step(from outer: String, to inner: String) -> String {
    guard inner.hasPrefix(outer), inner.count > outer.count else { return "  " }
    return String(inner.dropFirst(outer.count))
  }
}
