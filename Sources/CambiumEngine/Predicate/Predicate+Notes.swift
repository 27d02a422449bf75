extension Predicate {
  /// Returns notes on comparisons that are allowed, but do not ask what their author probably meant: `LIKE` with SQL's
  /// wildcard `%`, which stands for itself here. O(size of the predicate).
  ///
  /// - Throws: an error of kind `tooDeep` for trees deeper than ``depthLimit``.
  public func notes() throws(PredicateError) -> [String] {
    var result: [String] = []
    try collectNotes(into: &result, depth: 0)
    return result
  }

  fileprivate func collectNotes(into notes: inout [String], depth: Int) throws(PredicateError) {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    switch self {
    case .true, .false: break
    case .not(let inner): try inner.collectNotes(into: &notes, depth: depth + 1)
    case .and(let parts), .or(let parts):
      for part in parts { try part.collectNotes(into: &notes, depth: depth + 1) }
    case .comparison(let comparison):
      if let note = comparison.note { notes.append(note) }
      try comparison.left.collectNotes(into: &notes, depth: depth + 1)
      try comparison.right.collectNotes(into: &notes, depth: depth + 1)
    }
  }
}

extension Expression {
  fileprivate func collectNotes(into notes: inout [String], depth: Int) throws(PredicateError) {
    guard depth <= Predicate.depthLimit else { throw .tooDeep }
    try forEachPart { (part) throws(PredicateError) in
      try part.collectNotes(into: &notes, depth: depth + 1)
    } _: { (condition) throws(PredicateError) in
      try condition.collectNotes(into: &notes, depth: depth + 1)
    }
  }
}

extension Comparison {
  fileprivate var note: String? {
    guard comparator == .like, case .constant(.string(let pattern)) = right, pattern.utf8.contains(UInt8(ascii: "%")),
      !pattern.utf8.contains(UInt8(ascii: "*"))
    else { return nil }
    let starred = String(decoding: pattern.utf8.map { $0 == UInt8(ascii: "%") ? UInt8(ascii: "*") : $0 }, as: UTF8.self)
    return "in LIKE \(quoted(pattern)) the % stands for itself; * is the wildcard: LIKE \(quoted(starred))"
  }
}
