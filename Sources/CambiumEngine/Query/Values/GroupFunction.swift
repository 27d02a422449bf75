/// What is computed of the values of a group.
enum GroupFunction: UInt8, Equatable {
  case count, sum, average, minimum, maximum, median, mode, standardDeviation

  /// The aggregate of a function's name; nil if it is none.
  init?(_ name: String) {
    switch PredicateFunction(name) {
    case .count: self = .count
    case .sum: self = .sum
    case .average: self = .average
    case .minimum: self = .minimum
    case .maximum: self = .maximum
    case .median: self = .median
    case .mode: self = .mode
    case .standardDeviation: self = .standardDeviation
    default: return nil
    }
  }

  /// Whether the values have to be numbers.
  var takesNumbers: Bool { self != .count && self != .minimum && self != .maximum }
}

/// What is known so far of a group's values.
struct GroupAggregate {
  private let function: GroupFunction
  private var count: Int64 = 0
  private var sum = GroupSum()
  private var extreme = Value.null
  /// All of them, for what cannot be said before the last one is known.
  private var values: [Value] = []

  init(_ function: GroupFunction) { self.function = function }

  /// What was gathered elsewhere.
  init(_ function: GroupFunction, count: Int64, sum: GroupSum, extreme: Value) {
    self.function = function
    self.count = count
    self.sum = sum
    self.extreme = extreme
  }

  /// Takes a value in; a list, value by value.
  mutating func add(_ value: Value) {
    switch value {
    case .null: return
    case .list(let values):
      // What is read from relationships is flat: no list has lists in it.
      for value in values where !value.isNull { addOne(value) }
    default: addOne(value)
    }
  }

  private mutating func addOne(_ value: Value) {
    switch function {
    case .count: count += 1
    case .sum, .average: if sum.add(value) { count += 1 }
    case .minimum: if extreme.isNull || value.compare(to: extreme) == .less { extreme = value }
    case .maximum: if extreme.isNull || value.compare(to: extreme) == .greater { extreme = value }
    case .median, .mode, .standardDeviation: values.append(value)
    }
  }

  /// The aggregate of what was taken in.
  var value: Value {
    switch function {
    case .count: return .integer(count)
    case .sum: return count == 0 ? .null : sum.value
    case .average:
      if count == 0 { return .null }
      if sum.isDecimal { return ArithmeticOperator.divide.apply(sum.value, .integer(count)) }
      return sum.value.nearestDouble.map { .double($0 / Double(count)) } ?? .null
    case .minimum, .maximum: return extreme
    case .median: return Aggregates.median(values)
    case .mode: return Aggregates.mode(values)
    case .standardDeviation: return Aggregates.standardDeviation(values)
    }
  }
}
