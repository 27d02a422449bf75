import CambiumKernel

/// A sum of numbers of all kinds, as `+` would give it one by one, but for integers: these are exact to the end.
struct GroupSum {
  /// Of 64-bit numbers; no store has so many that 128 bits would not do.
  private var integers: Int128 = 0
  private var decimals: DecimalValue?
  private var doubles: Double?

  init() {}

  /// The sum of integers.
  init(_ integers: Int128) { self.integers = integers }

  /// The sum of doubles.
  init(_ doubles: Double) { self.doubles = doubles }

  /// Adds a number; answers whether it is one.
  mutating func add(_ value: Value) -> Bool {
    switch value {
    case .boolean(let flag): integers += flag ? 1 : 0
    case .integer(let number): integers += Int128(number)
    case .double(let number): doubles = (doubles ?? 0) + number
    case .float(let number): doubles = (doubles ?? 0) + Double(number)
    case .decimal(let number): add(number)
    default: return false
    }
    return true
  }

  private mutating func add(_ number: DecimalValue) {
    if let sum = (decimals ?? .zero).adding(number) {
      decimals = sum
    } else {
      // Too large for a decimal: from here on with doubles.
      doubles = (doubles ?? 0) + (Value.decimal(number).nearestDouble ?? 0)
    }
  }

  /// Whether decimals were added.
  var isDecimal: Bool { decimals != nil }

  /// The sum.
  var value: Value {
    let whole =
      Int64(exactly: integers).map { Value.integer($0) }
      ?? .decimal(DecimalValue(isNegative: integers < 0, coefficient: integers.magnitude, exponent: 0))
    if let decimals {
      if decimals.isNaN { return .decimal(decimals) }
      let sum = ArithmeticOperator.add.apply(.decimal(decimals), whole)
      return doubles.map { ArithmeticOperator.add.apply(sum, .double($0)) } ?? sum
    }
    return doubles.map { ArithmeticOperator.add.apply(.double($0), whole.nearestDouble.map { .double($0) } ?? whole) }
      ?? whole
  }
}
