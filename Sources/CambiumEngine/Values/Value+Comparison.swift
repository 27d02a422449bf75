import CambiumKernel

/// The outcome of comparing two values of comparable kinds.
public enum ValueOrdering: Int8, Sendable {
  /// The left side is less.
  case less = -1
  /// Neither side is less.
  case equal = 0
  /// The left side is greater.
  case greater = 1

  /// The outcome with the sides exchanged.
  public var reversed: ValueOrdering {
    switch self {
    case .less: return .greater
    case .equal: return .equal
    case .greater: return .less
    }
  }

  init<T: Comparable>(_ a: T, _ b: T) { self = a < b ? .less : a == b ? .equal : .greater }
}

extension Value {
  /// Orders two values as predicates do; `nil` if either is null or the two kinds don't compare.
  ///
  /// - Booleans and numbers of all kinds compare by their exact numeric value, false being 0: no side is rounded to the
  ///   other's type, so 9007199254740993 is greater than 9007199254740992.0, and the double 0.1 is not the decimal 0.1.
  ///   Not-a-number equals itself and is less than every number.
  /// - Dates compare with dates alone, UUIDs, URIs and binaries likewise; binaries and UUIDs as unsigned bytes.
  /// - Strings and URIs compare by Unicode canonical equivalence, in the order of the normalised scalars, in no
  ///   language: the order of indexes, and that of Swift's `==` and `<` where those are an order.
  /// - Objects are ordered by entity, then row. Composites and lists have no order: they are equal, or `nil` is
  ///   answered.
  public func compare(to other: Value) -> ValueOrdering? {
    switch (self, other) {
    case (.null, _), (_, .null): return nil
    case (.integer(let a), .integer(let b)): return ValueOrdering(a, b)
    case (.string(let a), .string(let b)), (.uri(let a), .uri(let b)): return orderTexts(a, b)
    case (.date(let a), .date(let b)): return orderDoubles(a, b)
    case (.binary(let a), .binary(let b)): return orderBytes(a, b)
    case (.uuid(let a), .uuid(let b)): return ValueOrdering(a, b)
    case (.reference(let a), .reference(let b)): return ValueOrdering(a, b)
    case (.composite, .composite), (.list, .list): return isEqual(to: other) ? .equal : nil
    default: return orderNumbers(self, other)
    }
  }

  /// Whether two values are equal as predicates see it: null equals null and nothing else; numbers by exact value;
  /// values whose kinds don't compare are unequal. Composites are equal when every element is, an absent one counting
  /// as null; lists when they have equal elements in the same order.
  public func isEqual(to other: Value) -> Bool {
    switch (self, other) {
    case (.null, .null): return true
    case (.null, _), (_, .null): return false
    case (.composite(let a), .composite(let b)):
      for index in a.names.indices where !a.values[index].isEqual(to: b[a.names[index]] ?? .null) { return false }
      for index in b.names.indices where a[b.names[index]] == nil && !b.values[index].isNull { return false }
      return true
    case (.list(let a), .list(let b)):
      guard a.count == b.count else { return false }
      for index in a.indices where !a[index].isEqual(to: b[index]) { return false }
      return true
    default: return compare(to: other) == .equal
    }
  }

  /// A total order for sorting: null first, then as ``compare(to:)``; kinds that don't compare are ordered by kind, and
  /// composites and lists element by element.
  public static func sortOrder(_ a: Value, _ b: Value) -> ValueOrdering {
    if let order = a.compare(to: b) { return order }
    switch (a, b) {
    case (.list(let x), .list(let y)): return sortOrder(x, y)
    case (.composite(let x), .composite(let y)): return sortOrder(x.values, y.values)
    default: return ValueOrdering(a.kindRank, b.kindRank)
    }
  }

  private static func sortOrder(_ a: [Value], _ b: [Value]) -> ValueOrdering {
    for index in 0..<min(a.count, b.count) {
      let order = sortOrder(a[index], b[index])
      if order != .equal { return order }
    }
    return ValueOrdering(a.count, b.count)
  }

  private var kindRank: UInt8 {
    switch self {
    case .null: return 0
    case .boolean, .integer, .decimal, .double, .float: return 1
    case .string: return 2
    case .date: return 3
    case .binary: return 4
    case .uuid: return 5
    case .uri: return 6
    case .reference: return 7
    case .composite: return 8
    case .list: return 9
    }
  }
}

private func orderTexts(_ a: String, _ b: String) -> ValueOrdering {
  var (a, b) = (a, b)
  let order = a.withUTF8 { x in
    b.withUTF8 { StringNormalization.compare(UnsafeRawBufferPointer(x), UnsafeRawBufferPointer($0)) }
  }
  return ValueOrdering(order, 0)
}

/// As unsigned bytes, a prefix first.
func orderBytes(_ a: [UInt8], _ b: [UInt8]) -> ValueOrdering {
  ValueOrdering(a.withUnsafeBytes { x in b.withUnsafeBytes { compareKeys(x, $0) } }, 0)
}
