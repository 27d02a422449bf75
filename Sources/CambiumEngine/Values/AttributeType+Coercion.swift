import CambiumKernel

extension AttributeType {
  /// Whether a value is null or in the form of the type already, so that it need not be brought into it; of composites,
  /// null alone is said to be.
  public func holds(_ value: Value) -> Bool {
    switch (self, value) {
    case (_, .null), (.boolean, .boolean), (.double, .double), (.float, .float), (.decimal, .decimal),
      (.string, .string), (.date, .date), (.binary, .binary), (.transformable, .binary), (.uuid, .uuid), (.uri, .uri),
      (.objectID, .reference):
      return true
    case (.integer16, .integer(let v)), (.integer32, .integer(let v)), (.integer64, .integer(let v)):
      return integerRange?.contains(v) == true
    default: return false
    }
  }

  /// Brings a value into the form of the type; `nil` if it cannot be. See ``AttributeSchema/coerce(_:)``, which also
  /// knows the elements of composites.
  public func coerce(_ value: Value) -> Value? {
    if value.isNull { return .null }
    switch self {
    case .undefined: return value
    case .integer16, .integer32, .integer64:
      guard let integer = value.exactInteger, integerRange?.contains(integer) == true else { return nil }
      return .integer(integer)
    case .boolean:
      switch value.exactInteger {
      case 0: return .boolean(false)
      case 1: return .boolean(true)
      default: return nil
      }
    case .double: return value.nearestDouble.map { .double($0) }
    case .float: return value.nearestFloat.map { .float($0) }
    case .decimal: return value.shortestDecimal.map { .decimal($0) }
    case .string:
      if case .string = value { return value }
      return nil
    case .date:
      if case .date = value { return value }
      return nil
    case .binary, .transformable:
      if case .binary = value { return value }
      return nil
    case .uuid:
      if case .string(let text) = value { return UUIDBytes(text).map { .uuid($0) } }
      if case .uuid = value { return value }
      return nil
    case .uri:
      if case .string(let text) = value { return .uri(text) }
      if case .uri = value { return value }
      return nil
    case .objectID:
      if case .reference = value { return value }
      return nil
    case .composite:
      if case .composite = value { return value }
      return nil
    }
  }
}

extension Value {
  /// The integer that a boolean or whole number is; `nil` for all else.
  public var exactInteger: Int64? {
    switch self {
    case .boolean(let flag): return flag ? 1 : 0
    case .integer(let integer): return integer
    case .double(let double): return exactInt64(double)
    case .float(let float): return exactInt64(Double(float))
    case .decimal(let decimal): return decimal.int64
    default: return nil
    }
  }

  /// The double nearest to a boolean or number; `nil` for all else.
  public var nearestDouble: Double? {
    switch self {
    case .boolean(let flag): return flag ? 1 : 0
    case .integer(let integer): return Double(integer)
    case .double(let double): return double
    case .float(let float): return Double(float)
    case .decimal(let decimal): return decimal.nearestDouble
    default: return nil
    }
  }

  /// The float nearest to a boolean or number; `nil` for all else.
  public var nearestFloat: Float? {
    switch self {
    case .boolean(let flag): return flag ? 1 : 0
    case .integer(let integer): return Float(integer)
    case .double(let double): return Float(double)
    case .float(let float): return float
    case .decimal(let decimal): return decimal.nearestFloat
    default: return nil
    }
  }

  /// The decimal that a boolean or number is, by its shortest text if it is a double or float, so that 0.1 becomes the
  /// decimal 0.1; `nil` for all else, and for what decimals don't reach.
  public var shortestDecimal: DecimalValue? {
    switch self {
    case .boolean(let flag): return DecimalValue(flag ? 1 : 0)
    case .integer(let integer): return DecimalValue(integer)
    case .double(let double): return double.isNaN ? .notANumber : DecimalValue(double.description)
    case .float(let float): return float.isNaN ? .notANumber : DecimalValue(float.description)
    case .decimal(let decimal): return decimal
    default: return nil
    }
  }
}
