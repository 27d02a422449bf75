/// The type of an attribute, with Core Data's raw values.
public enum AttributeType: Int, CaseIterable, Sendable {
  /// No type; for transient attributes only.
  case undefined = 0
  case integer16 = 100
  case integer32 = 200
  case integer64 = 300
  case decimal = 400
  case double = 500
  case float = 600
  case string = 700
  case boolean = 800
  case date = 900
  case binary = 1000
  case uuid = 1100
  case uri = 1200
  /// Bytes that a value transformer makes of an object.
  case transformable = 1800
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
