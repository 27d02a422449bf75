import CambiumKernel

/// Ranges of an index or of a uniqueness constraint's tree that a fetch is confined to; disjoint and ascending.
struct IndexRanges {
  /// What the part behind those that are compared for equality is confined by.
  enum Shape {
    case equality, list, range, prefix
    /// By nothing: the whole tree, or all that equals in the first parts.
    case open
  }

  let maker: KeyMaker
  var ranges: [KeyRange]
  var shape: Shape
  /// How many parts are compared for equality.
  var equalParts: Int
  /// The conditions, by place, that hold for what is in the ranges, and for nothing else.
  var covered: [Int]
  /// Whether there is one entry at most.
  var isSingle: Bool { maker.isUnique && shape == .equality && equalParts == maker.paths.count && ranges.count <= 1 }

  /// The ranges that the conditions confine a fetch to: equalities of the index's first parts, then one range. Nil if
  /// they confine it to nothing less than the whole tree.
  ///
  /// - Parameter first: The part to begin with. The ranges are those of what stands in keys from this part on.
  init?(_ maker: KeyMaker, _ conjuncts: [Conjunct], keyLimit: Int, from first: Int = 0) {
    self.maker = maker
    var prefix = KeyEncoder(limit: keyLimit)
    var covered: [Int] = []
    var equal = first
    while equal < maker.paths.count {
      guard let (place, value) = Self.equality(maker.paths[equal], conjuncts),
        Self.append(value, maker, equal, to: &prefix)
      else { break }
      // An index may name a path twice; that does not cover a second condition on it.
      let isTold = value.isNull || Self.tells(value, maker, equal)
      if isTold, !maker.paths[..<equal].contains(maker.paths[equal]) { covered.append(place) }
      equal += 1
    }
    // Keys that were cut, or from which parts were left out, are those of several values.
    if prefix.isInexact { covered = [] }
    equalParts = equal
    self.covered = covered
    if equal == maker.paths.count {
      shape = .equality
      ranges = [KeyRange(prefix: prefix.bytes)]
      return
    }
    shape = equal > first ? .equality : .open
    ranges = equal > first ? [KeyRange(prefix: prefix.bytes)] : [KeyRange(lower: [], upper: nil)]
    if !prefix.isInexact { confine(equal, conjuncts, prefix) }
    if shape == .open { return nil }
  }

  /// The whole tree.
  init(all maker: KeyMaker) {
    self.maker = maker
    ranges = [KeyRange(lower: [], upper: nil)]
    shape = .open
    equalParts = 0
    covered = []
  }

  private static func equality(_ path: String, _ conjuncts: [Conjunct]) -> (Int, Value)? {
    for (place, conjunct) in conjuncts.enumerated() where conjunct.isPlain {
      if let about = conjunct.about, about.comparator == .equal, about.path == path { return (place, about.value) }
    }
    return nil
  }

  private mutating func confine(_ part: Int, _ conjuncts: [Conjunct], _ prefix: borrowing KeyEncoder) {
    var bounds = Bounds()
    for (place, conjunct) in conjuncts.enumerated() where conjunct.isPlain {
      guard let about = conjunct.about, about.path == maker.paths[part] else { continue }
      switch (about.comparator, about.value) {
      case (.in, .list(let list)):
        if confine(part, to: list, place, prefix) { return }
      case (.beginsWith, .string(let text)) where isText(part):
        if confine(part, toPrefix: text, place, prefix) { return }
      case (.like, .string(let pattern)) where isText(part):
        if let (text, isAll) = Self.literalPrefix(pattern), confine(part, toPrefix: text, isAll ? place : nil, prefix) {
          return
        }
      case (.between, .list(let list)) where list.count == 2:
        if bounds.lower == nil, bounds.upper == nil {
          bounds.lower = (list[0], true, place)
          bounds.upper = (list[1], true, place)
        }
      case (.greater, _): if bounds.lower == nil { bounds.lower = (about.value, false, place) }
      case (.greaterOrEqual, _): if bounds.lower == nil { bounds.lower = (about.value, true, place) }
      case (.less, _): if bounds.upper == nil { bounds.upper = (about.value, false, place) }
      case (.lessOrEqual, _): if bounds.upper == nil { bounds.upper = (about.value, true, place) }
      case (.notEqual, .null): bounds.exceptNull = place
      default: break
      }
    }
    confine(part, to: bounds, prefix)
  }

  private func isText(_ part: Int) -> Bool { maker.types[part] == .string || maker.types[part] == .uri }

  /// What every text begins with that a pattern of `LIKE` describes, and whether it describes all that do; nil if they
  /// begin with nothing.
  private static func literalPrefix(_ pattern: String) -> (text: String, isAll: Bool)? {
    var text = ""
    var rest = 0
    for character in pattern.unicodeScalars {
      // What is escaped may be a mark, which joins with what is before it.
      if character == "\\" { return nil }
      if rest > 0 || character == "*" || character == "?" {
        rest += 1
        if character != "*" { return text.isEmpty ? nil : (text, false) }
      } else {
        text.unicodeScalars.append(character)
      }
    }
    return text.isEmpty ? nil : (text, rest > 0)
  }

  /// Confines to texts that begin alike, which a condition, the one at `place`, may say and no more. A key that was cut
  /// tells how its text begins, unless what is asked for was cut as well.
  private mutating func confine(
    _ part: Int, toPrefix text: String, _ place: Int?, _ prefix: borrowing KeyEncoder
  ) -> Bool {
    if text.isEmpty { return false }
    let range = KeyRange(strings: text, after: prefix, descending: !maker.ascending[part])
    ranges = [range]
    shape = .prefix
    if let place, range.isExact { covered.append(place) }
    return true
  }

  private mutating func confine(_ part: Int, to list: [Value], _ place: Int, _ prefix: borrowing KeyEncoder) -> Bool {
    var keys: [[UInt8]] = []
    keys.reserveCapacity(list.count)
    // By their first bytes, which tell most of them apart.
    var order: [(head: UInt64, place: Int)] = []
    order.reserveCapacity(list.count)
    var isExact = true
    var isCut = false
    var key = KeyEncoder(limit: prefix.limit)
    for element in list {
      if maker.types[part].map({ $0.isInteger && element.isFraction }) ?? false { continue }
      key.removeAll()
      prefix.withBytes { key.append(encoded: $0) }
      guard Self.append(element, maker, part, to: &key) else { return false }
      if key.isInexact { isCut = true }
      if key.isInexact || !Self.tells(element, maker, part) { isExact = false }
      let bytes = key.bytes
      var head: UInt64 = 0
      for byte in bytes.dropFirst(prefix.count).prefix(8) { head = head &<< 8 | UInt64(byte) }
      let missing = max(0, 8 - (bytes.count - prefix.count))
      if missing < 8 { head &<<= UInt64(8 * missing) }
      order.append((head, keys.count))
      keys.append(bytes)
    }
    order.order { a, b in
      if a.head != b.head { return a.head < b.head }
      return keys[a.place].withUnsafeBytes { x in keys[b.place].withUnsafeBytes { compareKeys(x, $0) < 0 } }
    }
    var distinct: [KeyRange] = []
    distinct.reserveCapacity(keys.count)
    for (_, place) in order.dropLast(isPlanted(.lastOfListMissing) ? 1 : 0) {
      let key = keys[place]
      if let last = distinct.last {
        if key == last.lower { continue }
        // Cut keys may be prefixes of one another.
        if isCut, key.starts(with: last.lower) { return false }
      }
      distinct.append(KeyRange(prefix: key))
    }
    ranges = distinct
    shape = .list
    if isExact { covered.append(place) }
    return true
  }

  private struct Bounds {
    typealias Bound = (value: Value, isInclusive: Bool, place: Int)
    var lower: Bound?
    var upper: Bound?
    /// The condition that says that there is a value.
    var exceptNull: Int?
  }

  private mutating func confine(_ part: Int, to bounds: Bounds, _ prefix: borrowing KeyEncoder) {
    guard bounds.lower != nil || bounds.upper != nil || bounds.exceptNull != nil else { return }
    let ascending = maker.ascending[part]
    var range = KeyRange(prefix: prefix.bytes)
    // Null compares with nothing, and comes first, or last where the part is descending.
    var null = prefix.copy()
    null.appendNull(descending: !ascending)
    if null.isInexact { return }
    if ascending {
      range.lower = isPlanted(.nullWithinRange) ? null.bytes : KeyRange.upperBound(ofPrefix: null.bytes) ?? null.bytes
    } else {
      range.upper = null.bytes
    }
    var newlyCovered: [Int] = bounds.exceptNull.map { [$0] } ?? []
    // Of a condition with two bounds, both have to be exact.
    var inexact: [Int] = []
    for (bound, isFirst) in [
      (bounds.lower, ascending), (bounds.upper, !ascending && !isPlanted(.descendingBoundsSwapped)),
    ] {
      guard let bound else { continue }
      var key = prefix.copy()
      guard Self.append(bound.value, maker, part, to: &key) else { return }
      let isExact = !key.isInexact && !bound.value.isNull && Self.tells(bound.value, maker, part)
      (isExact ? { newlyCovered.append($0) } : { inexact.append($0) })(bound.place)
      // What may be equal to the bound is in, unless it is known not to be wanted.
      let isIn = bound.isInclusive || !isExact || isPlanted(.boundTakenIn)
      if isFirst {
        guard let start = isIn ? key.bytes : KeyRange.upperBound(ofPrefix: key.bytes) else { return }
        if range.lower.lexicographicallyPrecedes(start) { range.lower = start }
      } else {
        range.upper = isIn ? KeyRange.upperBound(ofPrefix: key.bytes) : key.bytes
      }
    }
    for place in newlyCovered where !inexact.contains(place) && !covered.contains(place) { covered.append(place) }
    ranges = [range]
    shape = .range
  }

  // MARK: Constants as parts of keys

  /// Whether rows have the part's key exactly if they equal the value, which is not null: not so for kinds of values
  /// whose conversion to the attribute's type might round.
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
      (.boolean, .boolean), (.date, .date), (.uuid, .uuid), (.double, .double), (.float, .float), (.decimal, .decimal):
      return true
    default: return false
    }
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

extension Value {
  /// Whether this is a finite number that no integer equals.
  var isFraction: Bool {
    switch self {
    case .double(let number): return number.isFinite && number.magnitude < 0x1p53 && Double(Int64(number)) != number
    case .float(let number): return Value.double(Double(number)).isFraction
    default: return false
    }
  }
}

extension AttributeType {
  /// Whether values are integers.
  var isInteger: Bool { self == .integer16 || self == .integer32 || self == .integer64 }
}
