import CambiumKernel

/// How values become values of another numeric type when an attribute changes its type.
enum NumericConversion {
  /// Whether rows need not be rewritten for it: every value is kept, and read as the wider type.
  static func isWidening(_ from: AttributeType, _ to: AttributeType) -> Bool {
    switch (from, to) {
    case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64), (.float, .double): return true
    default: return from == to
    }
  }

  /// The number as one of the type: fractions are cut off towards zero, decimals become the nearest double or float,
  /// everything but zero is true. Null stays null. `nil` if the type does not hold the number.
  static func convert(_ value: Value, to type: AttributeType) -> Value? {
    if value.isNull { return .null }
    switch type {
    case .integer16, .integer32, .integer64:
      guard let integer = truncated(value),
        type.integerRange?.contains(isPlanted(.conversionTakesTooLarge) ? integer - 1 : integer) == true
      else { return nil }
      return .integer(integer)
    case .boolean:
      guard let double = value.nearestDouble else { return nil }
      return .boolean(double != 0)
    case .double:
      guard let double = value.nearestDouble, double.isFinite || !isFinite(value) else { return nil }
      return .double(double)
    case .float:
      guard let float = value.nearestFloat, float.isFinite || !isFinite(value) else { return nil }
      return .float(float)
    case .decimal: return value.shortestDecimal.map { .decimal($0) }
    default: return nil
    }
  }

  private static func isFinite(_ value: Value) -> Bool {
    switch value {
    case .double(let double): return double.isFinite
    case .float(let float): return float.isFinite
    case .decimal(let decimal): return !decimal.isNaN
    default: return true
    }
  }

  private static func truncated(_ value: Value) -> Int64? {
    switch value {
    case .double(let double): return truncated(double)
    case .float(let float): return truncated(Double(float))
    case .decimal(let decimal): return truncated(decimal)
    default: return value.exactInteger
    }
  }

  private static func truncated(_ double: Double) -> Int64? {
    // The bounds leave out not-a-number as well.
    guard double >= -0x1p63, double < 0x1p63 else { return nil }
    return Int64(double)
  }

  private static func truncated(_ decimal: DecimalValue) -> Int64? {
    if decimal.isNaN { return nil }
    var coefficient = decimal.coefficient
    var exponent = Int(decimal.exponent)
    while exponent < 0, coefficient != 0 {
      coefficient /= 10
      exponent += 1
    }
    while exponent > 0, coefficient != 0 {
      let (product, overflow) = coefficient.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      coefficient = product
      exponent -= 1
    }
    guard let magnitude = UInt64(exactly: coefficient) else { return nil }
    if decimal.isNegative { return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil }
    return Int64(exactly: magnitude)
  }
}
