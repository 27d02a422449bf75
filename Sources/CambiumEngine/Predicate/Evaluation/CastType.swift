import CambiumKernel

/// What `CAST(a, "type")` makes of the values of objects. Null, and what has no such value, becomes null.
enum CastType {
  /// Text becomes the number that is written so; a date the seconds since 2001.
  case number, integer, double, float, decimal
  /// Numbers, UUIDs, URIs, objects as they are written; a boolean as 1 or 0, a date as its seconds since 2001.
  case string
  /// Numbers are seconds since 2001.
  case date
  /// Numbers are true if they are not 0; YES, NO, TRUE, FALSE, 1 and 0 in any case.
  case boolean
  case uuid, uri

  /// The type of a name, in Core Data's words or in plain ones.
  init?(_ name: String) {
    switch name {
    case "NSNumber", "number": self = .number
    case "NSInteger", "integer", "int", "Int": self = .integer
    case "double", "Double": self = .double
    case "float", "Float": self = .float
    case "NSDecimalNumber", "decimal", "Decimal": self = .decimal
    case "NSString", "string", "String": self = .string
    case "NSDate", "date", "Date": self = .date
    case "BOOL", "bool", "boolean", "Bool": self = .boolean
    case "NSUUID", "UUID", "uuid": self = .uuid
    case "NSURL", "URL", "url": self = .uri
    default: return nil
    }
  }

  /// The type of the result; nil for numbers of any kind.
  var attributeType: AttributeType? {
    switch self {
    case .number: return nil
    case .integer: return .integer64
    case .double: return .double
    case .float: return .float
    case .decimal: return .decimal
    case .string: return .string
    case .date: return .date
    case .boolean: return .boolean
    case .uuid: return .uuid
    case .uri: return .uri
    }
  }

  func convert(_ value: Value) -> Value {
    switch self {
    case .number: return number(value)
    case .integer:
      switch number(value).rounded(.towardZero) {
      case .integer(let integer): return .integer(integer)
      case let whole: return whole.exactInteger.map { .integer($0) } ?? .null
      }
    case .double: return number(value).nearestDouble.map { .double($0) } ?? .null
    case .float: return number(value).nearestFloat.map { .float($0) } ?? .null
    case .decimal:
      if case .string(let text) = value { return DecimalValue(text).map { .decimal($0) } ?? .null }
      return number(value).shortestDecimal.map { .decimal($0) } ?? .null
    case .string: return text(value).map { .string($0) } ?? .null
    case .date:
      if case .date = value { return value }
      return value.isNumeric ? value.nearestDouble.map { .date($0) } ?? .null : .null
    case .boolean: return boolean(value)
    case .uuid:
      if case .string(let text) = value { return UUIDBytes(text).map { .uuid($0) } ?? .null }
      if case .uuid = value { return value }
      return .null
    case .uri:
      if case .string(let text) = value { return .uri(text) }
      if case .uri = value { return value }
      return .null
    }
  }

  private func number(_ value: Value) -> Value {
    switch value {
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    case .integer, .double, .float, .decimal: return value
    case .date(let seconds): return .double(seconds)
    case .string(let text):
      if let integer = Int64(text) { return .integer(integer) }
      guard let double = DecimalValue.nearestDouble(toText: text), double.isFinite else { return .null }
      return .double(double)
    default: return .null
    }
  }

  private func text(_ value: Value) -> String? {
    switch value {
    case .boolean(let flag): return flag ? "1" : "0"
    case .integer(let integer): return "\(integer)"
    case .double(let double), .date(let double): return double.description
    case .float(let float): return float.description
    case .decimal(let decimal): return decimal.description
    case .string(let text), .uri(let text): return text
    case .uuid(let uuid): return uuid.text
    case .reference(let reference): return reference.description
    case .null, .binary, .composite, .list: return nil
    }
  }

  private func boolean(_ value: Value) -> Value {
    if value.isNumeric { return .boolean(value.compare(to: .integer(0)) != .equal) }
    guard case .string(let text) = value else { return .null }
    switch asciiUppercase(text) {
    case "YES", "TRUE", "1": return .boolean(true)
    case "NO", "FALSE", "0": return .boolean(false)
    default: return .null
    }
  }
}
