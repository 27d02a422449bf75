import CambiumKernel

extension AttributeSchema {
  /// Brings a value into the form that the attribute stores; `nil` if it cannot be, or would lose something.
  ///
  /// Null stays null. Booleans and numbers become the attribute's numeric type if it holds the number: an integer in
  /// range, a double or float where the number is whole enough to come back, a decimal by the shortest text of the
  /// double. Text becomes a URI or, if it is one, a UUID. Composites are brought into declared order, element by
  /// element; an unknown element cannot be.
  public func coerce(_ value: Value) -> Value? { Self.coerce(value, type, elements) }

  /// The same for an attribute of a type, which has `elements` if that is a composite.
  static func coerce(_ value: Value, _ type: AttributeType, _ elements: [AttributeSchema]) -> Value? {
    guard type == .composite else { return type.coerce(value) }
    switch value {
    case .null: return .null
    case .composite(let composite):
      if isInForm(composite, elements) { return value }
      var result: [Value] = []
      for element in elements {
        guard let coerced = element.coerce(composite[element.name] ?? .null) else { return nil }
        result.append(coerced)
      }
      for name in composite.names where !elements.contains(where: { $0.name == name }) { return nil }
      return .composite(CompositeValue(names: elements.map { $0.name }, values: result))
    default: return nil
    }
  }
}

extension EntitySchema {
  /// Brings a value into the form that the attribute at a place of ``allAttributes`` stores, as ``AttributeSchema/coerce(_:)`` does,
  /// without the attribute being copied for it.
  public func coerce(_ value: Value, at place: Int) -> Value? {
    allAttributes.withUnsafeBufferPointer { all in
      all.indices.contains(place) ? AttributeSchema.coerce(value, all[place].type, all[place].elements) : nil
    }
  }
}

extension AttributeSchema {
  /// Whether a composite has the declared elements in their order, with values of their types: there is nothing to bring into
  /// form then.
  private static func isInForm(_ composite: CompositeValue, _ elements: [AttributeSchema]) -> Bool {
    guard composite.count == elements.count else { return false }
    // In place, since elements would be copied for what is asked of them.
    return elements.withUnsafeBufferPointer { elements in
      for i in elements.indices {
        guard composite.names[i] == elements[i].name else { return false }
        if case .composite(let inner) = composite.values[i], elements[i].type == .composite {
          if !isInForm(inner, elements[i].elements) { return false }
        } else if !elements[i].type.holds(composite.values[i]) {
          return false
        }
      }
      return true
    }
  }
}

extension AttributeType {
  /// Whether a value is null or in the form of the type already, so that it need not be brought into it; of composites, null alone is said
  /// to be.
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
    case .decimal(let decimal): return decimal.isNaN ? .nan : Double(decimal.description)
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
    case .decimal(let decimal): return decimal.isNaN ? .nan : Float(decimal.description)
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
