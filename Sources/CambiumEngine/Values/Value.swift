import CambiumKernel

/// A value of an attribute, a relationship or a predicate: the engine's own, so that it needs no Foundation.
///
/// `==` and `hash(into:)` are structural: equal cases with equal contents (`1` as an integer is not `1.0` as a double;
/// NaN equals NaN; the two zeros are equal; strings by canonical equivalence, as Swift's). What a *predicate* calls
/// equal or less is ``isEqual(to:)`` and ``compare(to:)``, which see numbers by their exact numeric value.
public enum Value: Sendable {
  /// No value. Core Data's `nil`.
  case null
  /// True or false.
  case boolean(Bool)
  /// Integers of 16, 32 and 64 bits.
  case integer(Int64)
  /// A decimal number.
  case decimal(DecimalValue)
  /// A floating-point number of 64 bits.
  case double(Double)
  /// A floating-point number of 32 bits.
  case float(Float)
  /// Text.
  case string(String)
  /// A moment, in seconds since 2001-01-01 00:00:00 UTC (as Foundation's reference date).
  case date(Double)
  /// Bytes.
  case binary([UInt8])
  /// A UUID.
  case uuid(UUIDBytes)
  /// A URI as text, compared as text.
  case uri(String)
  /// An object: the value of a to-one relationship, or an object ID.
  case reference(ObjectReference)
  /// Named values: the elements of a composite attribute.
  case composite(CompositeValue)
  /// Several values: what a to-many key path reads, and the right side of `IN` and `BETWEEN`.
  case list([Value])

  /// Whether this is ``null``.
  public var isNull: Bool {
    if case .null = self { return true }
    return false
  }

  /// Whether this is a boolean or a number, which all compare with each other.
  public var isNumeric: Bool {
    switch self {
    case .boolean, .integer, .decimal, .double, .float: return true
    default: return false
    }
  }

  /// ``kindName`` in a sentence.
  var kindWithArticle: String {
    let name = kindName
    let isVowel = name.utf8.first.map { $0 == 0x61 || $0 == 0x65 || $0 == 0x69 || $0 == 0x6F } ?? false
    return (isVowel ? "an " : "a ") + name
  }

  /// What to call the value's case in messages.
  public var kindName: String {
    switch self {
    case .null: return "null"
    case .boolean: return "boolean"
    case .integer: return "integer"
    case .decimal: return "decimal"
    case .double: return "double"
    case .float: return "float"
    case .string: return "string"
    case .date: return "date"
    case .binary: return "binary"
    case .uuid: return "UUID"
    case .uri: return "URI"
    case .reference: return "object"
    case .composite: return "composite"
    case .list: return "list"
    }
  }
}

extension Value: Hashable {
  /// Whether cases and contents are the same.
  public static func == (a: Value, b: Value) -> Bool {
    switch (a, b) {
    case (.null, .null): return true
    case (.boolean(let x), .boolean(let y)): return x == y
    case (.integer(let x), .integer(let y)): return x == y
    case (.decimal(let x), .decimal(let y)): return x == y
    case (.double(let x), .double(let y)), (.date(let x), .date(let y)): return x == y || (x.isNaN && y.isNaN)
    case (.float(let x), .float(let y)): return x == y || (x.isNaN && y.isNaN)
    case (.string(let x), .string(let y)), (.uri(let x), .uri(let y)): return x == y
    case (.binary(let x), .binary(let y)): return x == y
    case (.uuid(let x), .uuid(let y)): return x == y
    case (.reference(let x), .reference(let y)): return x == y
    case (.composite(let x), .composite(let y)): return x == y
    case (.list(let x), .list(let y)): return x == y
    default: return false
    }
  }

  /// Hashes what `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0 as UInt8)
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .double(let value), .date(let value):
      hasher.combine(value.isNaN ? Double.nan.bitPattern : (value + 0).bitPattern)
    case .float(let value): hasher.combine(value.isNaN ? Float.nan.bitPattern : (value + 0).bitPattern)
    case .string(let value), .uri(let value): hasher.combine(value)
    case .binary(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .reference(let value): hasher.combine(value)
    case .composite(let value): hasher.combine(value)
    case .list(let value): hasher.combine(value)
    }
  }
}

extension Value: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral
{
  /// Null.
  public init(nilLiteral: ()) { self = .null }
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A double.
  public init(floatLiteral value: Double) { self = .double(value) }
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A list.
  public init(arrayLiteral elements: Value...) { self = .list(elements) }
}
