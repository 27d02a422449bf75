/// What a field of a record holds, and with that how its bytes look (`Specs/02-records-and-keys.md`).
///
/// Fixed-width kinds lie at a constant offset of every record of a layout; the others in its variable part.
public enum FieldKind: Sendable {
  /// True or false, one bit.
  case boolean
  /// A signed integer of 2 bytes.
  case int16
  /// A signed integer of 4 bytes.
  case int32
  /// A signed integer of 8 bytes.
  case int64
  /// An IEEE 754 number of 4 bytes.
  case float
  /// An IEEE 754 number of 8 bytes.
  case double
  /// A point in time: seconds since 2001-01-01 00:00:00 UTC as an IEEE 754 number of 8 bytes.
  case date
  /// 16 bytes in the order in which a UUID is printed.
  case uuid
  /// The row id of the target of a to-one relationship, 8 bytes.
  case reference
  /// A ``DecimalValue``, 0 to 18 bytes.
  case decimal
  /// Text as UTF-8.
  case string
  /// Bytes.
  case bytes
  /// The row ids of an ordered to-many relationship.
  case references
  /// A composite: a record without layout id, entity id and row version inside this one.
  case nested(RecordLayout)

  @usableFromInline
  var tag: FieldTag {
    switch self {
    case .boolean: return .boolean
    case .int16: return .int16
    case .int32: return .int32
    case .int64: return .int64
    case .float: return .float
    case .double: return .double
    case .date: return .date
    case .uuid: return .uuid
    case .reference: return .reference
    case .decimal: return .decimal
    case .string: return .string
    case .bytes: return .bytes
    case .references: return .references
    case .nested: return .nested
    }
  }
}

/// The kind of a field without its nested layout, as small as it goes.
@usableFromInline
enum FieldTag: UInt8, Sendable {
  case boolean, int16, int32, int64, float, double, date, uuid, reference
  case decimal, string, bytes, references, nested

  /// The bytes that a fixed-width field takes; 0 for booleans (bits) and variable-width kinds.
  @usableFromInline
  var fixedWidth: Int {
    switch self {
    case .int16: return 2
    case .int32, .float: return 4
    case .int64, .double, .date, .reference: return 8
    case .uuid: return 16
    case .boolean, .decimal, .string, .bytes, .references, .nested: return 0
    }
  }

  @usableFromInline
  var isVariable: Bool { rawValue >= FieldTag.decimal.rawValue }

  /// Whether a value of this kind may lie outside its record, with only its name inside.
  @usableFromInline
  var mayBeExternal: Bool { self == .string || self == .bytes || self == .references }
}

/// A field of a ``RecordLayout``.
public struct RecordField: Sendable {
  /// The property's id: stable over renamings and never used again, so that a dropped property's bytes are never taken
  /// for those of another.
  public let property: UInt32
  /// What the field holds.
  public let kind: FieldKind

  /// Describes a field.
  public init(property: UInt32, kind: FieldKind) {
    self.property = property
    self.kind = kind
  }
}
