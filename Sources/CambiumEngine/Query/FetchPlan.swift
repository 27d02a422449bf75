import CambiumKernel

/// How the candidates of a fetch are found: by ranges of an index, or by looking at every row. The whole predicate is
/// asked of every candidate, so a plan decides only how many there are, never what is found; unless the ranges are exact:
/// then every entry in them is of a row that matches.
enum FetchPlan {
  case scan
  /// Exactly these rows (from an object identity).
  case rows([UInt64])
  /// Ranges of an index or a uniqueness constraint's tree; disjoint. Exact if the predicate holds for what is in them, and
  /// for nothing else.
  case ranges(tree: TreeID, name: String, [KeyRange], isExact: Bool)

  /// Chooses for a checked predicate. The indexes whose trees are `unfinished` lack rows.
  init(_ predicate: Predicate?, _ plan: EntityPlan, keyLimit: Int, unfinished: Set<TreeID>) {
    self = .scan
    guard let predicate else { return }
    var conjuncts: [Comparison] = []
    let isAll = Self.gather(predicate, into: &conjuncts)
    var best = Int.max
    for comparison in conjuncts {
      if let rows = Self.identity(comparison) {
        self = .rows(rows)
        return
      }
    }
    for maker in plan.constraints + plan.indexes {
      // A partial index lacks rows that its predicate leaves out; finding out whether the fetch implies that predicate is
      // for the planner to come.
      if maker.partial != nil || unfinished.contains(maker.tree) { continue }
      guard let (cost, ranges, covered) = Self.ranges(maker, conjuncts, keyLimit: keyLimit), cost < best else {
        continue
      }
      best = cost
      self = .ranges(tree: maker.tree, name: maker.name, ranges, isExact: isAll && covered == conjuncts.count)
    }
  }

  /// Gathers comparisons that all have to hold; answers whether the predicate is nothing else.
  private static func gather(_ predicate: Predicate, into conjuncts: inout [Comparison]) -> Bool {
    switch predicate {
    case .true: return true
    case .and(let parts):
      var isAll = true
      for part in parts where !gather(part, into: &conjuncts) { isAll = false }
      return isAll
    case .comparison(let comparison):
      guard comparison.modifier == .direct else { return false }
      conjuncts.append(comparison)
      return true
    default: return false
    }
  }

  private static func identity(_ c: Comparison) -> [UInt64]? {
    let isSelf: Bool
    switch c.left {
    case .evaluatedObject: isSelf = true
    case .keyPath(let path): isSelf = path == "self" || path == "SELF" || path == "objectID"
    default: isSelf = false
    }
    guard isSelf, case .constant(let value) = c.right else { return nil }
    switch (c.comparator, value) {
    case (.equal, .reference(let r)): return [r.row]
    case (.in, .list(let list)):
      var rows = Set<UInt64>()
      for case .reference(let r) in list { rows.insert(r.row) }
      return rows.sorted()
    default: return nil
    }
  }

  /// The ranges of an index that the conjuncts confine the fetch to: equalities of its first parts, then one range. With
  /// them, how many of the conjuncts hold for just what is in the ranges.
  private static func ranges(
    _ maker: KeyMaker, _ conjuncts: [Comparison], keyLimit: Int
  ) -> (cost: Int, ranges: [KeyRange], covered: Int)? {
    var prefix = KeyEncoder(limit: keyLimit)
    var equal = 0
    var covered = 0
    while equal < maker.paths.count {
      guard let value = equality(maker.paths[equal], conjuncts), append(value, maker, equal, to: &prefix) else { break }
      // An index may name a path twice; that does not cover a second condition on it.
      if tells(value, maker, equal), !maker.paths[..<equal].contains(maker.paths[equal]) { covered += 1 }
      equal += 1
    }
    // Keys that were cut, or from which parts were left out, are those of several values.
    if prefix.isInexact { covered = -1 }
    if equal == maker.paths.count {
      return (maker.isUnique ? 0 : 10, [KeyRange(prefix: prefix.bytes)], covered)
    }
    if let (ranges, cost) = range(maker, equal, conjuncts, prefix) { return (cost - equal * 5, ranges, -1) }
    return equal > 0 ? (30 - equal * 5, [KeyRange(prefix: prefix.bytes)], covered) : nil
  }

  /// Whether rows have the part's key exactly if they equal the value: not so for null, which some indexes leave out, nor
  /// for kinds of values whose conversion to the attribute's type might round.
  static func tells(_ value: Value, _ maker: KeyMaker, _ part: Int) -> Bool {
    guard let type = maker.types[part] else {
      // A row number or entity too large for a key, as a temporary identity has, is cut there.
      if case .reference(let reference) = value {
        return PackedReference.unpack(PackedReference.pack(reference)) == reference
      }
      return false
    }
    switch (type, value) {
    case (.integer16, .integer), (.integer32, .integer), (.integer64, .integer), (.string, .string), (.uri, .uri),
      (.boolean, .boolean), (.date, .date), (.uuid, .uuid):
      return true
    default: return false
    }
  }

  private static func comparisons(_ path: String, _ conjuncts: [Comparison]) -> [(Comparator, Value, Comparison)] {
    var result: [(Comparator, Value, Comparison)] = []
    for c in conjuncts {
      if case .keyPath(path) = c.left, case .constant(let value) = c.right {
        result.append((c.comparator, value, c))
      } else if case .keyPath(path) = c.right, case .constant(let value) = c.left {
        let mirrored: Comparator
        switch c.comparator {
        case .equal: mirrored = .equal
        case .less: mirrored = .greater
        case .lessOrEqual: mirrored = .greaterOrEqual
        case .greater: mirrored = .less
        case .greaterOrEqual: mirrored = .lessOrEqual
        default: continue
        }
        result.append((mirrored, value, c))
      }
    }
    return result
  }

  private static func equality(_ path: String, _ conjuncts: [Comparison]) -> Value? {
    for (comparator, value, c) in comparisons(path, conjuncts) where comparator == .equal && c.options.isEmpty {
      return value
    }
    return nil
  }

  private static func range(
    _ maker: KeyMaker, _ part: Int, _ conjuncts: [Comparison], _ prefix: KeyEncoder
  ) -> (ranges: [KeyRange], cost: Int)? {
    let ascending = maker.ascending[part]
    var lower: (value: Value, inclusive: Bool)?
    var upper: (value: Value, inclusive: Bool)?
    for (comparator, value, c) in comparisons(maker.paths[part], conjuncts) where c.options.isEmpty {
      switch (comparator, value) {
      case (.in, .list(let list)):
        var ranges: [KeyRange] = []
        var seen = Set<[UInt8]>()
        for element in list {
          var key = prefix
          guard append(element, maker, part, to: &key) else { return nil }
          if seen.insert(key.bytes).inserted { ranges.append(KeyRange(prefix: key.bytes)) }
        }
        // Cut keys may be prefixes of one another.
        ranges.sort { $0.lower.lexicographicallyPrecedes($1.lower) }
        for i in ranges.indices.dropFirst() where ranges[i].lower.starts(with: ranges[i - 1].lower) { return nil }
        return (ranges, 15)
      case (.between, .list(let list)) where list.count == 2:
        lower = (list[0], true)
        upper = (list[1], true)
      case (.beginsWith, .string(let text)):
        return ([KeyRange(strings: text, after: prefix, descending: !ascending)], 20)
      case (.greater, _): lower = (value, false)
      case (.greaterOrEqual, _): lower = (value, true)
      case (.less, _): upper = (value, false)
      case (.lessOrEqual, _): upper = (value, true)
      default: break
      }
    }
    if lower == nil, upper == nil { return nil }
    // The bounds are taken as inclusive; the predicate is asked anyway, and cut keys cannot be told apart.
    let whole = KeyRange(prefix: prefix.bytes)
    var range = whole
    if let bound = ascending ? lower : upper {
      var key = prefix
      guard append(bound.value, maker, part, to: &key) else { return nil }
      range.lower = key.bytes
    }
    if let bound = ascending ? upper : lower {
      var key = prefix
      guard append(bound.value, maker, part, to: &key) else { return nil }
      range.upper = KeyRange.upperBound(ofPrefix: key.bytes)
    }
    return ([range], 25)
  }

  /// Appends a constant as a part of the key; false if the part cannot hold it, so that the index is of no use.
  static func append(_ value: Value, _ maker: KeyMaker, _ part: Int, to encoder: inout KeyEncoder) -> Bool {
    let descending = !maker.ascending[part]
    guard let type = maker.types[part] else {
      // A to-one relationship.
      guard case .reference(let r) = value else {
        if value.isNull {
          encoder.appendNull(descending: descending)
          return true
        }
        return false
      }
      encoder.append(reference: PackedReference.pack(r), descending: descending)
      return true
    }
    guard let coerced = type.coerce(value) else { return false }
    switch coerced {
    case .null: encoder.appendNull(descending: descending)
    case .boolean(let v): encoder.append(v, descending: descending)
    case .integer(let v): encoder.append(v, descending: descending)
    case .decimal(let v): encoder.append(v, descending: descending)
    case .double(let v): encoder.append(v, descending: descending)
    case .float(let v): encoder.append(Double(v), descending: descending)
    case .string(let v), .uri(let v): encoder.append(v, descending: descending)
    case .date(let v): encoder.append(date: v, descending: descending)
    case .binary(let v): encoder.append(bytes: v, descending: descending)
    case .uuid(let v): encoder.append(v, descending: descending)
    case .reference(let v): encoder.append(reference: PackedReference.pack(v), descending: descending)
    case .composite, .list: return false
    }
    return true
  }
}
