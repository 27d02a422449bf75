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

/// The integer that a double is; `nil` if it has a fraction or is out of range. (`Int64(exactly:)` and `rounded()`
/// would need a mathematics library, which the engine does not import.)
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
  ValueOrdering(decimal.compare(to: double), 0)
}
