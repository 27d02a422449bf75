/// The type of an attribute, with Core Data's raw values.
public enum AttributeType: Int, CaseIterable, Sendable {
  /// No type; for transient attributes only.
  case undefined = 0
  /// A whole number from -32,768 to 32,767.
  case integer16 = 100
  /// A whole number of 32 bits with a sign.
  case integer32 = 200
  /// A whole number of 64 bits with a sign.
  case integer64 = 300
  /// A decimal number: see `DecimalValue`.
  case decimal = 400
  /// A binary floating-point number of 64 bits.
  case double = 500
  /// A binary floating-point number of 32 bits.
  case float = 600
  /// Text.
  case string = 700
  /// True or false.
  case boolean = 800
  /// A moment.
  case date = 900
  /// Bytes.
  case binary = 1000
  /// A UUID, 16 bytes.
  case uuid = 1100
  /// A URI, kept as its text.
  case uri = 1200
  /// Bytes that a value transformer makes of an object.
  case transformable = 1800
  /// The identifier of an object.
  case objectID = 2000
  /// Named elements, each an attribute: see ``AttributeSchema/elements``.
  case composite = 2100

  /// Whether values of the type are booleans or numbers, which all compare with each other.
  public var isNumeric: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: return true
    default: return false
    }
  }

  /// The integers that the type holds; `nil` if it is not an integer type.
  public var integerRange: ClosedRange<Int64>? {
    switch self {
    case .integer16: return Int64(Int16.min)...Int64(Int16.max)
    case .integer32: return Int64(Int32.min)...Int64(Int32.max)
    case .integer64: return Int64.min...Int64.max
    default: return nil
    }
  }

  /// What to call the type in messages.
  public var name: String {
    switch self {
    case .undefined: return "Undefined"
    case .integer16: return "Integer 16"
    case .integer32: return "Integer 32"
    case .integer64: return "Integer 64"
    case .decimal: return "Decimal"
    case .double: return "Double"
    case .float: return "Float"
    case .string: return "String"
    case .boolean: return "Boolean"
    case .date: return "Date"
    case .binary: return "Binary"
    case .uuid: return "UUID"
    case .uri: return "URI"
    case .transformable: return "Transformable"
    case .objectID: return "ObjectID"
    case .composite: return "Composite"
    }
  }
}
