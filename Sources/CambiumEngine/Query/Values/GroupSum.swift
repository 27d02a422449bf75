import CambiumKernel

/// A sum of numbers of all kinds: exact as long as they are integers and decimals.
struct GroupSum {
  /// Of 64-bit numbers; no store has so many that 128 bits would not do.
  private var integers: Int128 = 0
  private var decimals: Int128 = 0
  private var decimalExponent = 0
  private var doubles = 0.0
  private var hasDecimal = false
  private var hasDouble = false
  private var isNaN = false

  /// Adds a number; answers whether it is one.
  mutating func add(_ value: Value) -> Bool {
    switch value {
    case .boolean(let flag): integers += flag ? 1 : 0
    case .integer(let number): integers += Int128(number)
    case .double(let number): add(number)
    case .float(let number): add(Double(number))
    case .decimal(let number): add(number)
    default: return false
    }
    return true
  }

  private mutating func add(_ number: Double) {
    hasDouble = true
    doubles += number
  }

  private mutating func add(_ number: DecimalValue) {
    hasDecimal = true
    if number.isNaN {
      isNaN = true
      return
    }
    if !addExactly(number), let double = Value.decimal(number).nearestDouble { add(double) }
  }

  /// Brings both to the lower exponent; answers false if 128 bits do not hold the sum.
  private mutating func addExactly(_ number: DecimalValue) -> Bool {
    guard let magnitude = Int128(exactly: number.coefficient) else { return false }
    if magnitude == 0 { return true }
    let signed = number.isNegative ? -magnitude : magnitude
    let exponent = Int(number.exponent)
    let lower = decimals == 0 ? exponent : min(exponent, decimalExponent)
    guard let mine = scaled(decimals, by: decimals == 0 ? 0 : decimalExponent - lower),
      let other = scaled(signed, by: exponent - lower)
    else { return false }
    let (sum, overflow) = mine.addingReportingOverflow(other)
    // The least number there is has no magnitude of its own kind.
    if overflow || sum == Int128.min { return false }
    decimals = sum
    decimalExponent = lower
    return true
  }

  private func scaled(_ number: Int128, by power: Int) -> Int128? {
    var result = number
    // At most 39 steps, unless the number is zero: then it overflows.
    for _ in 0..<power {
      let (product, overflow) = result.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      if product == 0 { return 0 }
      result = product
    }
    return result
  }

  private static func decimal(_ number: Int128, exponent: Int) -> DecimalValue? {
    guard let exponent = Int8(exactly: exponent), let magnitude = UInt128(exactly: number < 0 ? -number : number) else {
      return nil
    }
    return DecimalValue(isNegative: number < 0, coefficient: magnitude, exponent: exponent)
  }

  /// The sum, as a number of the widest kind that came.
  var value: Value {
    if hasDouble { return double.map { .double($0) } ?? .null }
    if isNaN { return .decimal(.notANumber) }
    if !hasDecimal {
      if let small = Int64(exactly: integers) { return .integer(small) }
      return Self.decimal(integers, exponent: 0).map { .decimal($0) } ?? .null
    }
    var all = self
    if let whole = Self.decimal(integers, exponent: 0), all.addExactly(whole),
      let result = Self.decimal(all.decimals, exponent: all.decimalExponent)
    {
      return .decimal(result)
    }
    return double.map { .double($0) } ?? .null
  }

  /// The sum, rounded.
  var double: Double? {
    if isNaN { return .nan }
    var sum = doubles
    // In halves, since not every platform converts 128 bits.
    let magnitude = integers.magnitude
    let whole =
      Double(UInt64(truncatingIfNeeded: magnitude >> 64)) * 0x1p64 + Double(UInt64(truncatingIfNeeded: magnitude))
    sum += integers < 0 ? -whole : whole
    if decimals != 0 {
      guard let part = Self.decimal(decimals, exponent: decimalExponent).flatMap({ Value.decimal($0).nearestDouble })
      else { return nil }
      sum += part
    }
    return sum
  }
}
