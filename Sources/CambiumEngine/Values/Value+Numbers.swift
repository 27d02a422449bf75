import CambiumKernel

// Exact comparison of numbers of different kinds. Nothing is rounded: where neither type holds the other's values, both
// sides are scaled to integers of as many bits as it takes (about 1,800 at most).

/// Orders two booleans or numbers; `nil` if either is something else.
func orderNumbers(_ a: Value, _ b: Value) -> ValueOrdering? {
  guard let x = ExactNumber(a), let y = ExactNumber(b) else { return nil }
  switch (x, y) {
  case (.integer(let i), .integer(let j)): return ValueOrdering(i, j)
  case (.double(let i), .double(let j)): return orderDoubles(i, j)
  case (.decimal(let i), .decimal(let j)): return ValueOrdering(i, j)
  case (.integer(let i), .double(let j)): return orderIntegerDouble(i, j)
  case (.double(let i), .integer(let j)): return orderIntegerDouble(j, i).reversed
  case (.integer(let i), .decimal(let j)): return ValueOrdering(DecimalValue(i), j)
  case (.decimal(let i), .integer(let j)): return ValueOrdering(i, DecimalValue(j))
  case (.decimal(let i), .double(let j)): return orderDecimalDouble(i, j)
  case (.double(let i), .decimal(let j)): return orderDecimalDouble(j, i).reversed
  }
}

private enum ExactNumber {
  case integer(Int64)
  case double(Double)
  case decimal(DecimalValue)

  init?(_ value: Value) {
    switch value {
    case .boolean(let flag): self = .integer(flag ? 1 : 0)
    case .integer(let integer): self = .integer(integer)
    case .double(let double): self = .double(double)
    case .float(let float): self = .double(Double(float))
    case .decimal(let decimal): self = .decimal(decimal)
    default: return nil
    }
  }
}

/// Orders doubles with not-a-number equal to itself and before all others; the zeros are equal.
func orderDoubles(_ a: Double, _ b: Double) -> ValueOrdering {
  if a.isNaN || b.isNaN { return a.isNaN ? (b.isNaN ? .equal : .less) : .greater }
  return ValueOrdering(a, b)
}

/// The integer that a double is; `nil` if it has a fraction or is out of range. (`Int64(exactly:)` and `rounded()` would
/// need a mathematics library, which the engine does not import.)
func exactInt64(_ double: Double) -> Int64? {
  guard double >= -0x1p63, double < 0x1p63 else { return nil }
  let truncated = Int64(double)
  return Double(truncated) == double ? truncated : nil
}

/// Orders an integer and a double by their exact values.
func orderIntegerDouble(_ integer: Int64, _ double: Double) -> ValueOrdering {
  if double.isNaN { return .greater }
  if double >= 0x1p63 { return .less }
  if double < -0x1p63 { return .greater }
  let truncated = Int64(double)
  if integer != truncated { return ValueOrdering(integer, truncated) }
  // Exact, since a double with a fraction is below 2^53.
  return ValueOrdering(Double(truncated), double)
}

private func orderDecimalDouble(_ decimal: DecimalValue, _ double: Double) -> ValueOrdering {
  if decimal.isNaN || double.isNaN { return decimal.isNaN ? (double.isNaN ? .equal : .less) : .greater }
  let sign = decimal.coefficient == 0 ? 0 : decimal.isNegative ? -1 : 1
  let otherSign = double == 0 ? 0 : double < 0 ? -1 : 1
  if sign != otherSign || sign == 0 { return ValueOrdering(sign, otherSign) }
  if double.isInfinite { return sign > 0 ? .less : .greater }
  // |double| = significand × 2^power with an integral significand.
  let magnitude = double.magnitude
  let power = Int(magnitude.isNormal ? magnitude.exponent : -1022) - 52
  let significand = magnitude.significandBitPattern | (magnitude.isNormal ? 1 << 52 : 0)
  var left = WideInteger(decimal.coefficient)
  var right = WideInteger(UInt128(significand))
  let ten = Int(decimal.exponent)
  for _ in 0..<abs(ten) {
    if ten > 0 { left.multiply(by: 10) } else { right.multiply(by: 10) }
  }
  if power > 0 { right.shiftLeft(by: power) } else { left.shiftLeft(by: -power) }
  let order = WideInteger.order(left, right)
  return sign > 0 ? order : order.reversed
}
