import CambiumKernel

// What `+ - * / **` and the functions of their names give.
//
// Null in, null out; null as well for a division by zero, as SQL has it, and for operands that are no numbers.
//   booleans and integers   an integer; a decimal where 64 bits do not hold it. `/` truncates towards zero
//   with a decimal          a decimal; doubles are taken by their shortest text, so that `price * 1.1` means 1.1
//   with a double or float  a double
//   dates                   date - date is the seconds between; date ± seconds is a date
extension ArithmeticOperator {
  func apply(_ a: Value, _ b: Value) -> Value {
    switch (a, b) {
    case (.date, _), (_, .date): return applyDates(a, b)
    case (.decimal, _), (_, .decimal): return applyDecimals(a, b)
    case (.double, _), (_, .double), (.float, _), (_, .float):
      guard let x = a.nearestDouble, let y = b.nearestDouble else { return .null }
      return applyDoubles(x, y)
    default:
      guard let x = a.exactInteger, let y = b.exactInteger else { return .null }
      return applyIntegers(x, y)
    }
  }

  private func applyIntegers(_ a: Int64, _ b: Int64) -> Value {
    switch self {
    case .add: return Self.whole(Int128(a) + Int128(b))
    case .subtract: return Self.whole(Int128(a) - Int128(b))
    case .multiply: return Self.whole(Int128(a) * Int128(b))
    case .divide: return b == 0 ? .null : Self.whole(Int128(a) / Int128(b))
    case .power:
      guard b >= 0 else { return applyDoubles(Double(a), Double(b)) }
      // Below 10^38 no digit was lost.
      let limit = DecimalValue(isNegative: false, coefficient: 1, exponent: 38)
      guard let power = DecimalValue(a).raised(to: b), power < limit, limit.negated < power else {
        return applyDoubles(Double(a), Double(b))
      }
      return power.int64.map { .integer($0) } ?? .decimal(power)
    }
  }

  private static func whole(_ number: Int128) -> Value {
    if let integer = Int64(exactly: number) { return .integer(integer) }
    return .decimal(DecimalValue(isNegative: number < 0, coefficient: number.magnitude, exponent: 0))
  }

  private func applyDecimals(_ a: Value, _ b: Value) -> Value {
    guard let x = a.nearestDouble, let y = b.nearestDouble else { return .null }
    guard let p = a.shortestDecimal, let q = b.shortestDecimal, !p.isNaN, !q.isNaN else { return applyDoubles(x, y) }
    let result: DecimalValue?
    switch self {
    case .add: result = p.adding(q)
    case .subtract: result = p.adding(q.negated)
    case .multiply: result = p.multiplied(by: q)
    case .divide:
      if q.coefficient == 0 { return .null }
      result = p.divided(by: q)
    case .power: result = q.int64.flatMap { p.raised(to: $0) }
    }
    return result.map { .decimal($0) } ?? applyDoubles(x, y)
  }

  private func applyDoubles(_ a: Double, _ b: Double) -> Value {
    switch self {
    case .add: return .double(a + b)
    case .subtract: return .double(a - b)
    case .multiply: return .double(a * b)
    case .divide: return b == 0 ? .null : .double(a / b)
    case .power: return ElementaryFunctions.power(a, b).map { .double($0) } ?? .null
    }
  }

  private func applyDates(_ a: Value, _ b: Value) -> Value {
    switch (self, a, b) {
    case (.subtract, .date(let x), .date(let y)): return .double(x - y)
    case (.add, .date(let x), _): return b.nearestDouble.map { .date(x + $0) } ?? .null
    case (.add, _, .date(let y)): return a.nearestDouble.map { .date($0 + y) } ?? .null
    case (.subtract, .date(let x), _): return b.nearestDouble.map { .date(x - $0) } ?? .null
    default: return .null
    }
  }
}

extension Value {
  /// `-a`; null for what is no number.
  var arithmeticNegation: Value {
    switch self {
    case .boolean, .integer: return ArithmeticOperator.subtract.apply(.integer(0), self)
    case .decimal(let decimal): return .decimal(decimal.negated)
    case .double(let double): return .double(-double)
    case .float(let float): return .double(-Double(float))
    default: return .null
    }
  }

  /// The remainder of a division that truncates, with the sign of `self`: exact for integers and for doubles whose
  /// quotient is below 2^53. Null for a division by zero.
  func remainder(dividingBy other: Value) -> Value {
    if !isReal, !other.isReal, let a = exactInteger, let b = other.exactInteger {
      return b == 0 ? .null : .integer(b == -1 ? 0 : a % b)
    }
    guard isNumeric, other.isNumeric else { return .null }
    let quotient = ArithmeticOperator.divide.apply(self, other)
    guard !quotient.isNull else { return .null }
    return ArithmeticOperator.subtract.apply(
      self, ArithmeticOperator.multiply.apply(quotient.rounded(.towardZero), other))
  }

  private var isReal: Bool {
    switch self {
    case .double, .float: return true
    default: return false
    }
  }

  /// Which whole number is taken for one between two.
  enum Rounding { case down, up, towardZero }

  /// The whole number next to a number, of the same kind.
  func rounded(_ rule: Rounding) -> Value {
    switch self {
    case .boolean(let flag): return .integer(flag ? 1 : 0)
    case .integer: return self
    case .float(let float): return Value.double(Double(float)).rounded(rule)
    case .double(let double):
      guard double.magnitude < 0x1p52 else { return self }
      let whole = Double(Int64(double))
      switch rule {
      case .down: return .double(whole > double ? whole - 1 : whole)
      case .up: return .double(whole < double ? whole + 1 : whole)
      case .towardZero: return .double(whole)
      }
    case .decimal(let decimal):
      let whole = decimal.truncated
      let step: DecimalValue? =
        switch rule {
        case .down: whole > decimal ? DecimalValue(-1) : nil
        case .up: whole < decimal ? DecimalValue(1) : nil
        case .towardZero: nil
        }
      guard let step else { return .decimal(whole) }
      return whole.adding(step).map { .decimal($0) } ?? .null
    default: return .null
    }
  }

  /// The number without its sign.
  var absolute: Value {
    switch self {
    case .boolean, .integer:
      guard let integer = exactInteger else { return .null }
      return integer < 0 ? arithmeticNegation : .integer(integer)
    case .decimal(let decimal): return .decimal(decimal.isNegative ? decimal.negated : decimal)
    case .double(let double): return .double(double.magnitude)
    case .float(let float): return .double(Double(float.magnitude))
    default: return .null
    }
  }
}
